/* The table of architectures: what each model_type takes for granted. Sizes are those
 * of the published configuration classes; what the rows mean is in architecture.h. */
#include "architecture.h"

#include <string.h>

#define ALL_BIASES (RIDGE__A_QKV_BIAS | RIDGE__A_OUT_BIAS | RIDGE__A_MLP_BIAS)
#define PLAIN_FF   (RIDGE__A_NOT_GATED | RIDGE__A_WIDE_FF)
#define ATTENTION_BIAS                                                                 \
    .qkv_bias_key = "attention_bias", .out_bias_key = "attention_bias"
#define BERT_FLAGS                                                                     \
    (RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_ENCODER | RIDGE__A_LEARNED |     \
     RIDGE__A_EMBED_NORM | RIDGE__A_NO_FINAL_NORM | RIDGE__A_HEAD_BIAS)

/* clang-format off */
static const ridge__arch ARCHITECTURES[] = {
    {"|llama|llava|llava_llama|llava_next|minicpm|Yi|aquila|xverse|deepseek|solar|", .norms = 2,
     ATTENTION_BIAS, .mlp_bias_key = "mlp_bias", .dims = {4096, 32, 32, 0, 11008, 32000}},
    {"|mistral|mistral3|pixtral|ministral|ministral3|", .norms = 2, .window = 4096,
     .dims = {4096, 32, 32, 8, 14336, 32000}},
    {"|mixtral|", .norms = 2, .dims = {4096, 32, 32, 8, 14336, 32000}},

    {"|qwen|", RIDGE__A_QKV_BIAS | RIDGE__A_HALF_FF, .norms = 2},
    {"|qwen2|qwen2_vl|qwen2_vl_text|qwen2_5_vl|qwen2_5_vl_text|qwen2_5_omni_text|dream|",
     RIDGE__A_QKV_BIAS | RIDGE__A_WINDOW_SWITCH, .norms = 2, .window = 4096,
     .dims = {4096, 32, 32, 32, 22016, 151936}},
    {"|qwen2_moe|", RIDGE__A_QKV_BIAS | RIDGE__A_WINDOW_SWITCH | RIDGE__A_SHARED_GATE,
     .norms = 2, .qkv_bias_key = "qkv_bias", .window = 4096},
    {"|qwen3|qwen3_vl|qwen3_vl_text|", RIDGE__A_WINDOW_SWITCH, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD, ATTENTION_BIAS, .head_dim = 128, .window = 4096,
     .dims = {4096, 32, 32, 32, 22016, 151936}},
    {"|qwen3_moe|qwen3_vl_moe|qwen3_vl_moe_text|", RIDGE__A_WINDOW_SWITCH, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD, ATTENTION_BIAS, .window = 4096},
    {"|qwen3_next|qwen3_5|qwen3_5_text|qwen3_5_moe|qwen3_5_moe_text|",
     RIDGE__A_OUT_GATE | RIDGE__A_SHARED_GATE | RIDGE__A_WINDOW_SWITCH, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD, ATTENTION_BIAS, .head_dim = 256},
    {"|mimo|", RIDGE__A_QKV_BIAS | RIDGE__A_WINDOW_SWITCH, .norms = 2,
     .qkv_bias_key = "attention_bias"},

    {"|gemma|", RIDGE__A_TIED, .norms = 2, ATTENTION_BIAS, .head_dim = 256,
     .dims = {3072, 28, 16, 16, 24576, 256000}},
    {"|gemma2|", RIDGE__A_TIED, .norms = 4, ATTENTION_BIAS,
     .head_dim = 256, .window = 4096, .window_pattern = 2,
     .dims = {2304, 26, 8, 4, 9216, 256000}},
    {"|gemma3_text|gemma3|", RIDGE__A_TIED, .norms = 4, .qk_norm = RIDGE__QK_HEAD,
     ATTENTION_BIAS, .head_dim = 256, .window = 4096, .window_pattern = 6,
     .dims = {2304, 26, 8, 4, 9216, 262208}},
    {"|gemma4_text|gemma4|gemma4_unified|gemma4_unified_text|", RIDGE__A_TIED, .norms = 4, .qk_norm = RIDGE__QK_HEAD,
     ATTENTION_BIAS, .head_dim = 256, .global_head_dim = 512, .window = 512,
     .window_pattern = 6},

    {"|gpt2|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_LEARNED, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|gpt_bigcode|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_LEARNED |
     RIDGE__A_MULTI_QUERY, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|gpt_neo|", RIDGE__A_TIED | RIDGE__A_OUT_BIAS | RIDGE__A_MLP_BIAS | PLAIN_FF |
     RIDGE__A_LEARNED, .norm = RIDGE__NORM_LAYER, .norms = 2, .window = 256},
    {"|gptj|codegen|", RIDGE__A_MLP_BIAS | PLAIN_FF | RIDGE__A_HEAD_BIAS, .norm = RIDGE__NORM_LAYER, .norms = 1},
    {"|gpt_neox|", ALL_BIASES | PLAIN_FF, .norm = RIDGE__NORM_LAYER, .norms = 2, ATTENTION_BIAS},
    {"|opt|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_LEARNED | RIDGE__A_NARROW_EMBED,
     .norm = RIDGE__NORM_LAYER, .norms = 2, .position_offset = 2,
     .qkv_bias_key = "enable_bias", .out_bias_key = "enable_bias", .mlp_bias_key = "enable_bias"},
    {"|bloom|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_EMBED_NORM, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|falcon|", RIDGE__A_TIED | PLAIN_FF | RIDGE__A_MULTI_QUERY, .norm = RIDGE__NORM_LAYER, .norms = 1,
     .qkv_bias_key = "bias", .out_bias_key = "bias", .mlp_bias_key = "bias"},
    {"|RefinedWebModel|", RIDGE__A_TIED | PLAIN_FF, .norm = RIDGE__NORM_LAYER, .norms = 1,
     .qkv_bias_key = "bias", .out_bias_key = "bias", .mlp_bias_key = "bias"},
    {"|RefinedWeb|", RIDGE__A_TIED | PLAIN_FF, .norm = RIDGE__NORM_LAYER, .norms = 2,
     .qkv_bias_key = "bias", .out_bias_key = "bias", .mlp_bias_key = "bias"},
    {"|mpt|", RIDGE__A_TIED | PLAIN_FF | RIDGE__A_LEARNED, .norm = RIDGE__NORM_LAYER_NO_BIAS, .norms = 2,
     .qkv_bias_key = "!no_bias", .out_bias_key = "!no_bias", .mlp_bias_key = "!no_bias",
     .norm_bias_key = "!no_bias"},
    {"|phi|mixformer-sequential|phi-msft|", ALL_BIASES | PLAIN_FF | RIDGE__A_HEAD_BIAS,
     .norm = RIDGE__NORM_LAYER, .norms = 1, .qk_norm = RIDGE__QK_HEAD_BIAS, .qk_key = "qk_layernorm"},
    {"|phi3|phi3_v|phi4|phi4mm|", .norms = 2, .dims = {3072, 32, 32, 0, 8192, 32064}},
    {"|phi3small|", RIDGE__A_TIED | ALL_BIASES, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|phimoe|", 0, .norm = RIDGE__NORM_LAYER, .norms = 2, ATTENTION_BIAS, .head_bias_key = "lm_head_bias"},
    {"|stablelm|stablelm_epoch|stablelm_alpha|", 0, .norm = RIDGE__NORM_LAYER, .norms = 2, .qk_norm = RIDGE__QK_EACH,
     .qk_key = "qk_layernorm", .qkv_bias_key = "use_qkv_bias"},
    {"|starcoder2|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF, .norm = RIDGE__NORM_LAYER, .norms = 2,
     .qkv_bias_key = "use_bias", .out_bias_key = "use_bias", .mlp_bias_key = "use_bias"},
    {"|persimmon|", ALL_BIASES | PLAIN_FF | RIDGE__A_QK_ON, .norm = RIDGE__NORM_LAYER, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD_BIAS, .qk_key = "qk_layernorm"},
    {"|nemotron|", RIDGE__A_NOT_GATED, .norm = RIDGE__NORM_LAYER, .norms = 2, ATTENTION_BIAS,
     .mlp_bias_key = "mlp_bias"},

    {"|olmo|", 0, .norm = RIDGE__NORM_NONE, .norms = 2, ATTENTION_BIAS},
    {"|olmo2|olmoe|", .norms = 2, .qk_norm = RIDGE__QK_EACH, ATTENTION_BIAS},
    {"|olmo3|", .norms = 2, .qk_norm = RIDGE__QK_EACH, ATTENTION_BIAS, .window = 4096,
     .window_pattern = 4},
    {"|cohere|", RIDGE__A_TIED, .norm = RIDGE__NORM_LAYER_NO_BIAS, .norms = 1, .qk_norm = RIDGE__QK_EACH, .qk_key = "use_qk_norm",
     ATTENTION_BIAS},
    {"|cohere2|", RIDGE__A_TIED, .norm = RIDGE__NORM_LAYER_NO_BIAS, .norms = 1, ATTENTION_BIAS,
     .window = 4096, .window_pattern = 4},
    {"|dbrx|", 0, .norm = RIDGE__NORM_LAYER_NO_BIAS, .norms = 2},
    {"|granite|granitemoe|granitemoeshared|granitemoehybrid|", .norms = 2, ATTENTION_BIAS,
     .mlp_bias_key = "mlp_bias"},
    {"|internlm|", RIDGE__A_QKV_BIAS | RIDGE__A_OUT_BIAS, .norms = 2, .qkv_bias_key = "bias",
     .out_bias_key = "bias"},
    {"|internlm2|", .norms = 2, .qkv_bias_key = "bias", .out_bias_key = "bias"},
    {"|internlm3|", .norms = 2, .qkv_bias_key = "qkv_bias", .out_bias_key = "bias",
     .mlp_bias_key = "bias"},
    {"|exaone|", .norms = 2},
    {"|exaone4|", .norms = 2, .qk_norm = RIDGE__QK_HEAD, .window = 4096, .window_pattern = 4},
    {"|baichuan|", .norms = 2},
    {"|chatglm|", .norms = 2, .qkv_bias_key = "add_qkv_bias", .out_bias_key = "add_bias_linear",
     .mlp_bias_key = "add_bias_linear"},
    {"|glm|", .norms = 2, .qkv_bias_key = "attention_bias"},
    {"|glm4|", .norms = 4, .qkv_bias_key = "attention_bias"},
    {"|glm4_moe|glm4v_moe_text|", RIDGE__A_ROUTER_BIAS, .norms = 2, .qk_norm = RIDGE__QK_HEAD,
     .qk_key = "use_qk_norm", .qkv_bias_key = "attention_bias"},
    {"|dots1|", RIDGE__A_ROUTER_BIAS, .norms = 2, .qk_norm = RIDGE__QK_HEAD, ATTENTION_BIAS},
    {"|ernie4_5|ernie4_5_moe|", RIDGE__A_TIED, .norms = 2, .qkv_bias_key = "use_bias",
     .out_bias_key = "use_bias", .mlp_bias_key = "use_bias"},
    {"|hunyuan|hunyuan_v1_dense|hunyuan_v1_moe|", .norms = 2, .qk_norm = RIDGE__QK_HEAD,
     .qk_key = "use_qk_norm", ATTENTION_BIAS},
    {"|seed_oss|", RIDGE__A_QKV_BIAS, .norms = 2, .qkv_bias_key = "attention_bias",
     .out_bias_key = "attention_out_bias", .mlp_bias_key = "mlp_bias"},
    {"|arcee|", RIDGE__A_NOT_GATED, .norms = 2, ATTENTION_BIAS, .mlp_bias_key = "mlp_bias"},
    {"|apertus|", RIDGE__A_NOT_GATED, .norms = 2, .qk_norm = RIDGE__QK_HEAD, ATTENTION_BIAS,
     .mlp_bias_key = "mlp_bias"},
    {"|arctic|", .norms = 2},
    {"|smollm3|", RIDGE__A_TIED | RIDGE__A_WINDOW_SWITCH, .norms = 2, ATTENTION_BIAS,
     .mlp_bias_key = "mlp_bias"},
    {"|PanguEmbedded|pangu_embedded|", .norms = 2, .qkv_bias_key = "bias", .out_bias_key = "bias"},
    {"|molmo|", RIDGE__A_HALF_FF, .norms = 2, .qkv_bias_key = "qkv_bias", .extra_rows = 128},
    {"|yuan|", RIDGE__A_LOCAL_FILTER, .norms = 2},

    /* Models whose papers alone describe them. */
    {"|palm|", RIDGE__A_TIED, .norm = RIDGE__NORM_LAYER_NO_BIAS, .norms = 1},
    {"|gopher|", RIDGE__A_TIED | PLAIN_FF, .norms = 2},
    {"|grok-1|grok1|", RIDGE__A_TIED, .norms = 4},

    {"|deepseek_v2|deepseek_v3|deepseek_v32|kimi_k2|glm_moe_dsa|glm4_moe_lite|",
     .norms = 2, ATTENTION_BIAS},
    {"|minicpm3|", RIDGE__A_TIED, .norms = 2, ATTENTION_BIAS, .is_v_even = true},
    {"|deepseek_v4|deepseek_ref|", RIDGE__A_SINKS, .norms = 2, ATTENTION_BIAS},
    {"|kimi_linear|kimi_k3|", RIDGE__A_ROUTER_BIAS, .norms = 2},
    {"|gpt_oss|", RIDGE__A_QKV_BIAS | RIDGE__A_OUT_BIAS | RIDGE__A_MLP_BIAS | RIDGE__A_SINKS |
     RIDGE__A_ROUTER_BIAS, .norms = 2, ATTENTION_BIAS, .head_dim = 64,
     .window = 128, .window_pattern = 2},
    {"|llama4_text|llama4|", RIDGE__A_SHARED_ONE, .norms = 2, ATTENTION_BIAS, .head_dim = 128},
    {"|mllama_text_model|mllama|", 0, .norms = 2, .extra_rows = 8},
    {"|minimax|minimax_text_01|minimax_m1|", 0, .norms = 2},
    {"|minimax_m2|", 0, .norms = 2, .qk_norm = RIDGE__QK_EACH, .qk_key = "use_qk_norm"},
    {"|minimax_m3|", 0, .norms = 2, .qk_norm = RIDGE__QK_HEAD, .qk_key = "use_qk_norm"},
    {"|step3p5|step3p7|", RIDGE__A_HEAD_GATE | RIDGE__A_MTP_DENSE, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD},
    {"|laguna|", RIDGE__A_HEAD_GATE | RIDGE__A_ROUTER_BIAS, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD, ATTENTION_BIAS, .window = 512},
    {"|nemotron_h|", RIDGE__A_NOT_GATED | RIDGE__A_CONV_BIAS | RIDGE__A_ROUTER_BIAS |
     RIDGE__A_GROUP_NORM, .norms = 1,
     ATTENTION_BIAS, .mlp_bias_key = "mlp_bias"},
    {"|lfm2|lfm2_moe|", RIDGE__A_TIED | RIDGE__A_ROUTER_BIAS, .norms = 2,
     .qk_norm = RIDGE__QK_HEAD},

    {"|bert|", BERT_FLAGS | RIDGE__A_POOLER, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|roberta|xlm-roberta|camembert|", BERT_FLAGS | RIDGE__A_POOLER, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|distilbert|", BERT_FLAGS, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|albert|", BERT_FLAGS | RIDGE__A_POOLER | RIDGE__A_ONE_SET | RIDGE__A_NARROW_EMBED, .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|modernbert|", RIDGE__A_TIED | RIDGE__A_ENCODER | RIDGE__A_EMBED_NORM | RIDGE__A_HEAD_BIAS,
     .norm = RIDGE__NORM_LAYER_NO_BIAS, .norms = 2, ATTENTION_BIAS, .mlp_bias_key = "mlp_bias", .window = 128,
     .head_bias_key = "decoder_bias"},
    {"|git|", (BERT_FLAGS & ~(unsigned)(RIDGE__A_ENCODER | RIDGE__A_TIED)), .norm = RIDGE__NORM_LAYER, .norms = 2},
    {"|t5|mt5|umt5|longt5|", RIDGE__A_TIED | PLAIN_FF | RIDGE__A_ENCODER_DECODER,
     .norm = RIDGE__NORM_RMS, .norms = 2},
    {"|bart|mbart|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_ENCODER_DECODER |
     RIDGE__A_LEARNED | RIDGE__A_EMBED_NORM | RIDGE__A_NO_FINAL_NORM, .norm = RIDGE__NORM_LAYER, .norms = 2,
     .position_offset = 2},
    {"|whisper|", RIDGE__A_TIED | ALL_BIASES | PLAIN_FF | RIDGE__A_ENCODER_DECODER |
     RIDGE__A_LEARNED | RIDGE__A_KEY_UNBIASED, .norm = RIDGE__NORM_LAYER, .norms = 2},

    /* Parameter files that lie in a checkpoint, without a model_type. */
    {"|meta-params|", RIDGE__A_NATIVE, .norms = 2, .qk_norm = RIDGE__QK_HEAD,
     .qk_key = "use_qk_norm", .qkv_bias_key = "attention_qkv_bias"},
    {"|deepseek-params|", RIDGE__A_NATIVE, .norms = 2},
};

static const ridge__arch GENERIC = {"|llama-like|", .norms = 2, ATTENTION_BIAS,
                                    .mlp_bias_key = "mlp_bias"};
/* clang-format on */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_separator(char c)
{
    return c == '_' || c == '-' || c == '.';
}

/* Equal but for letter case and, if loose, separators. */
static bool names_equal(ridge_str a, ridge_str b, bool loose)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (loose && i < a.n && is_separator(a.p[i]))
            i++;
        while (loose && k < b.n && is_separator(b.p[k]))
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n;
        if (lower(a.p[i++]) != lower(b.p[k++]))
            return false;
    }
}

static const ridge__arch *find_name(ridge_str name, bool loose)
{
    if (name.n == 0)
        return NULL;
    for (size_t i = 0; i < RIDGE_COUNT_OF(ARCHITECTURES); i++) {
        ridge_str rest = ridge_str_of(ARCHITECTURES[i].names);
        while (rest.p != NULL) {
            ridge_str one = ridge_str_cut(&rest, '|');
            if (one.n > 0 && names_equal(one, name, loose))
                return &ARCHITECTURES[i];
        }
    }
    return NULL;
}

const ridge__arch *ridge__arch_find(const char *model_type)
{
    return find_name(ridge_str_of(model_type), false);
}

const ridge__arch *ridge__arch_find_class(const char *class_name)
{
    static const char *const TAILS[] = {"For", "LMHead", "Model"};
    ridge_str name = ridge_str_of(class_name);
    for (size_t i = 0; i < RIDGE_COUNT_OF(TAILS); i++) {
        const char *tail = strstr(class_name, TAILS[i]);
        if (tail != NULL && (size_t)(tail - class_name) < name.n)
            name.n = (size_t)(tail - class_name);
    }
    return find_name(name, true);
}

const ridge__arch *ridge__arch_generic(void)
{
    return &GENERIC;
}

const char *ridge__arch_name(ridge_arena *arena, const ridge__arch *arch)
{
    ridge_str rest = ridge_str_of(arch->names + 1);
    return ridge_str_dup(arena, ridge_str_cut(&rest, '|'));
}

const char *ridge__arch_suggestion(ridge_arena *arena, const char *model_type)
{
    enum { NAME_MAX_COUNT = 256 };
    const char *names[NAME_MAX_COUNT];
    size_t n = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(ARCHITECTURES); i++) {
        ridge_str rest = ridge_str_of(ARCHITECTURES[i].names);
        while (rest.p != NULL && n < NAME_MAX_COUNT) {
            ridge_str one = ridge_str_cut(&rest, '|');
            if (one.n > 0)
                names[n++] = ridge_str_dup(arena, one);
        }
    }
    const char *hint = ridge_suggestion(arena, model_type, names, n);
    return hint == NULL ? "" : hint;
}
