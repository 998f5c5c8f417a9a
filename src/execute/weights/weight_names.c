/*
 * The names of Hugging Face checkpoints: one table for LLaMA and those that took its
 * names (Mistral, Mixtral, Qwen 2 and 3, Gemma, StableLM, Nemotron, StarCoder 2, OPT,
 * Phi, LFM 2, Granite 4; names that mean something else in another model come later in
 * a row), one for GPT-2, one for Nemotron-H. Weights of latent attention and towers are
 * not among them.
 */
#include "weight_names.h"

#include <string.h>

#define ATTENTION "layers.{l}.self_attn."
#define MLP       "layers.{l}.mlp."
#define MIXTRAL   "layers.{l}.block_sparse_moe."
#define SHARED    "layers.{l}.mlp.shared_expert"

#define C_ATTN "h.{l}.attn.c_attn"

/* Mixers with a state: gated delta nets, Mamba-2 beside attention, short convolutions;
 * any mixer of Nemotron-H. */
#define DELTA       "layers.{l}.linear_attn."
#define MAMBA       "layers.{l}.mamba."
#define CONVOLUTION "layers.{l}.conv."
#define MIXER       "layers.{l}.mixer."
#define FEED        "layers.{l}.feed_forward."

/* clang-format off */
#define DELTA_HEADS(member) {DELTA "in_proj_qkvz.weight", RIDGE__PACK_DELTA_HEADS, member}
#define DELTA_STEPS(member) {DELTA "in_proj_ba.weight", RIDGE__PACK_DELTA_STEPS, member}
#define DELTA_MAPS(member)  {DELTA "in_proj_qkv.weight", RIDGE__PACK_DELTA_TAPS, member}
#define DELTA_TAPS(member)  {DELTA "conv1d.weight", RIDGE__PACK_DELTA_TAPS, member}
#define MAMBA_MAPS(member)  {MAMBA "in_proj.weight", RIDGE__PACK_STATE_SPACE, member}
#define MIXER_MAPS(member)  {MIXER "in_proj.weight", RIDGE__PACK_STATE_SPACE, member}
#define MAMBA_TAPS(name, member) {MAMBA "conv1d." name, RIDGE__PACK_STATE_TAPS, member}
#define MIXER_TAPS(name, member) {MIXER "conv1d." name, RIDGE__PACK_STATE_TAPS, member}
#define CONV_MAPS(member)   {CONVOLUTION "in_proj.weight", RIDGE__PACK_CONVOLUTION, member}
#define QUERY_GATE(member)  {ATTENTION "q_proj.weight", RIDGE__PACK_QUERY_GATE, member}
#define NONE                {{NULL, RIDGE__PACK_DELTA_HEADS, 0}}
/* clang-format on */

/* Queries, keys and values in one tensor, gate and up in another (Phi-3). */
#define QKV      ATTENTION "qkv_proj.weight"
#define QKV_BIAS ATTENTION "qkv_proj.bias"
#define GATE_UP  MLP "gate_up_proj.weight"

/* clang-format off */
static const ridge__weight_rule LLAMA[] = {
    {"embedding", RIDGE__WEIGHT_SAME, 0, false, {"embed_tokens.weight"}, {0}, NONE},
    {"unembedding", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.weight"}, {0}, NONE},
    {"unembedding_bias", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.bias"}, {0}, NONE},
    {"position_table", RIDGE__WEIGHT_SAME, 0, false, {"embed_positions.weight"}, {0}, NONE},
    {"final_norm_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"norm.weight", "final_layernorm.weight", "final_layer_norm.weight",
      "embedding_norm.weight"}, {0}, NONE},
    {"final_norm_bias", RIDGE__WEIGHT_SAME, 0, false,
     {"norm.bias", "final_layernorm.bias", "final_layer_norm.bias"}, {0}, NONE},
    {"h_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.input_layernorm.weight", "layers.{l}.self_attn_layer_norm.weight",
      "layers.{l}.operator_norm.weight"}, {0}, NONE},
    {"h_bias", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.input_layernorm.bias", "layers.{l}.self_attn_layer_norm.bias"}, {0}, NONE},
    {"h_after_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.post_attention_layernorm.weight"}, {0}, NONE},
    {"h_ffn_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.pre_feedforward_layernorm.weight",
      "layers.{l}.post_attention_layernorm.weight",
      "layers.{l}.final_layer_norm.weight", "layers.{l}.ffn_norm.weight",
      "layers.{l}.pre_ff_layernorm.weight"}, {0}, NONE},
    {"h_ffn_bias", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.post_attention_layernorm.bias", "layers.{l}.final_layer_norm.bias"}, {0}, NONE},
    {"h_ffn_after_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.post_feedforward_layernorm.weight"}, {0}, NONE},

    {"wq", RIDGE__WEIGHT_LINEAR, 1, true, {ATTENTION "q_proj.weight"}, {QKV, 0, true},
     {QUERY_GATE(0), DELTA_HEADS(0), DELTA_MAPS(0)}},
    {"wq_gate", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {QUERY_GATE(1)}},
    {"wk", RIDGE__WEIGHT_LINEAR, 1, true, {ATTENTION "k_proj.weight"}, {QKV, 1, false},
     {DELTA_HEADS(1), DELTA_MAPS(1)}},
    {"wv", RIDGE__WEIGHT_LINEAR, 1, false, {ATTENTION "v_proj.weight"}, {QKV, 0, false},
     {DELTA_HEADS(2), DELTA_MAPS(2)}},
    {"wo", RIDGE__WEIGHT_LINEAR, 2, false,
     {ATTENTION "o_proj.weight", ATTENTION "out_proj.weight", ATTENTION "dense.weight",
      DELTA "out_proj.weight", MAMBA "out_proj.weight", CONVOLUTION "out_proj.weight"},
     {0}, NONE},
    {"wq_bias", RIDGE__WEIGHT_SAME, 0, true, {ATTENTION "q_proj.bias"}, {QKV_BIAS, 0, true}, NONE},
    {"wk_bias", RIDGE__WEIGHT_SAME, 0, true, {ATTENTION "k_proj.bias"}, {QKV_BIAS, 1, false}, NONE},
    {"wv_bias", RIDGE__WEIGHT_SAME, 0, false, {ATTENTION "v_proj.bias"}, {QKV_BIAS, 0, false}, NONE},
    {"wo_bias", RIDGE__WEIGHT_SAME, 0, false,
     {ATTENTION "o_proj.bias", ATTENTION "out_proj.bias", ATTENTION "dense.bias"}, {0}, NONE},
    {"q_norm_weight", RIDGE__WEIGHT_SAME, 0, true,
     {ATTENTION "q_norm.weight", ATTENTION "q_layernorm.weight"}, {0}, NONE},
    {"k_norm_weight", RIDGE__WEIGHT_SAME, 0, true,
     {ATTENTION "k_norm.weight", ATTENTION "k_layernorm.weight"}, {0}, NONE},
    {"sinks", RIDGE__WEIGHT_SAME, 0, false, {ATTENTION "sinks"}, {0}, NONE},

    {"wz", RIDGE__WEIGHT_LINEAR, 1, false, {DELTA "in_proj_z.weight"}, {0},
     {DELTA_HEADS(3), MAMBA_MAPS(0)}},
    {"wb", RIDGE__WEIGHT_LINEAR, 1, false, {DELTA "in_proj_b.weight"}, {0},
     {DELTA_STEPS(0), MAMBA_MAPS(2), CONV_MAPS(0)}},
    {"wa", RIDGE__WEIGHT_LINEAR, 1, false, {DELTA "in_proj_a.weight"}, {0}, {DELTA_STEPS(1)}},
    {"wc", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MAMBA_MAPS(3), CONV_MAPS(1)}},
    {"wx", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MAMBA_MAPS(1), CONV_MAPS(2)}},
    {"wdt", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MAMBA_MAPS(4)}},
    {"conv_q", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {DELTA_TAPS(0)}},
    {"conv_k", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {DELTA_TAPS(1)}},
    {"conv_v", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {DELTA_TAPS(2)}},
    {"conv_x", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MAMBA_TAPS("weight", 0)}},
    {"conv_b", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MAMBA_TAPS("weight", 1)}},
    {"conv_c", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MAMBA_TAPS("weight", 2)}},
    {"conv_x_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MAMBA_TAPS("bias", 0)}},
    {"conv_b_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MAMBA_TAPS("bias", 1)}},
    {"conv_c_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MAMBA_TAPS("bias", 2)}},
    {"conv_bx", RIDGE__WEIGHT_SAME, 0, false, {CONVOLUTION "conv.weight"}, {0}, NONE},
    {"a_log", RIDGE__WEIGHT_SAME, 0, false, {DELTA "A_log", MAMBA "A_log"}, {0}, NONE},
    {"dt_bias", RIDGE__WEIGHT_SAME, 0, false, {DELTA "dt_bias", MAMBA "dt_bias"}, {0}, NONE},
    {"skip", RIDGE__WEIGHT_SAME, 0, false, {MAMBA "D"}, {0}, NONE},
    {"o_norm_weight", RIDGE__WEIGHT_SAME, 0, false,
     {DELTA "norm.weight", MAMBA "norm.weight"}, {0}, NONE},

    {"w_gate", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "gate_proj.weight", FEED "w1.weight", FEED "gate_proj.weight"}, {GATE_UP, 0, true}, NONE},
    {"w_up", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "up_proj.weight", MLP "c_fc.weight", MLP "fc1.weight", "layers.{l}.fc1.weight",
      FEED "w3.weight", FEED "up_proj.weight"},
     {GATE_UP, 0, false}, NONE},
    {"w_down", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "down_proj.weight", MLP "c_proj.weight", MLP "fc2.weight", "layers.{l}.fc2.weight",
      FEED "w2.weight", FEED "down_proj.weight"},
     {0}, NONE},
    {"w_gate_bias", RIDGE__WEIGHT_SAME, 0, false, {MLP "gate_proj.bias"}, {0}, NONE},
    {"w_up_bias", RIDGE__WEIGHT_SAME, 0, false,
     {MLP "up_proj.bias", MLP "c_fc.bias", MLP "fc1.bias", "layers.{l}.fc1.bias"}, {0}, NONE},
    {"w_down_bias", RIDGE__WEIGHT_SAME, 0, false,
     {MLP "down_proj.bias", MLP "c_proj.bias", MLP "fc2.bias", "layers.{l}.fc2.bias"}, {0}, NONE},

    {"router", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "gate.weight", MIXTRAL "gate.weight", MLP "router.weight"}, {0}, NONE},
    {"expert_gate", RIDGE__WEIGHT_EXPERTS, 1, false,
     {MLP "experts.{e}.gate_proj.weight", MIXTRAL "experts.{e}.w1.weight"}, {0}, NONE},
    {"expert_up", RIDGE__WEIGHT_EXPERTS, 1, false,
     {MLP "experts.{e}.up_proj.weight", MIXTRAL "experts.{e}.w3.weight"}, {0}, NONE},
    {"expert_down", RIDGE__WEIGHT_EXPERTS, 1, false,
     {MLP "experts.{e}.down_proj.weight", MIXTRAL "experts.{e}.w2.weight"}, {0}, NONE},
    {"shared_gate", RIDGE__WEIGHT_LINEAR, 1, false,
     {SHARED ".gate_proj.weight", SHARED "s.gate_proj.weight"}, {0}, NONE},
    {"shared_up", RIDGE__WEIGHT_LINEAR, 1, false,
     {SHARED ".up_proj.weight", SHARED "s.up_proj.weight"}, {0}, NONE},
    {"shared_down", RIDGE__WEIGHT_LINEAR, 1, false,
     {SHARED ".down_proj.weight", SHARED "s.down_proj.weight"}, {0}, NONE},
    {"shared_scale", RIDGE__WEIGHT_SAME, 0, false, {SHARED "_gate.weight"}, {0}, NONE}};

/* Each layer is one part behind one norm. */
static const ridge__weight_rule NEMOTRON_H[] = {
    {"embedding", RIDGE__WEIGHT_SAME, 0, false, {"embeddings.weight"}, {0}, NONE},
    {"unembedding", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.weight"}, {0}, NONE},
    {"final_norm_weight", RIDGE__WEIGHT_SAME, 0, false, {"norm_f.weight"}, {0}, NONE},
    {"h_weight", RIDGE__WEIGHT_SAME, 0, false, {"layers.{l}.norm.weight"}, {0}, NONE},
    {"h_ffn_weight", RIDGE__WEIGHT_SAME, 0, false, {"layers.{l}.norm.weight"}, {0}, NONE},
    {"wq", RIDGE__WEIGHT_LINEAR, 1, false, {MIXER "q_proj.weight"}, {0}, NONE},
    {"wk", RIDGE__WEIGHT_LINEAR, 1, false, {MIXER "k_proj.weight"}, {0}, NONE},
    {"wv", RIDGE__WEIGHT_LINEAR, 1, false, {MIXER "v_proj.weight"}, {0}, NONE},
    {"wo", RIDGE__WEIGHT_LINEAR, 2, false,
     {MIXER "o_proj.weight", MIXER "out_proj.weight"}, {0}, NONE},
    {"wz", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MIXER_MAPS(0)}},
    {"wx", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MIXER_MAPS(1)}},
    {"wb", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MIXER_MAPS(2)}},
    {"wc", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MIXER_MAPS(3)}},
    {"wdt", RIDGE__WEIGHT_LINEAR, 1, false, {0}, {0}, {MIXER_MAPS(4)}},
    {"conv_x", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MIXER_TAPS("weight", 0)}},
    {"conv_b", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MIXER_TAPS("weight", 1)}},
    {"conv_c", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MIXER_TAPS("weight", 2)}},
    {"conv_x_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MIXER_TAPS("bias", 0)}},
    {"conv_b_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MIXER_TAPS("bias", 1)}},
    {"conv_c_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {0}, {MIXER_TAPS("bias", 2)}},
    {"a_log", RIDGE__WEIGHT_SAME, 0, false, {MIXER "A_log"}, {0}, NONE},
    {"dt_bias", RIDGE__WEIGHT_SAME, 0, false, {MIXER "dt_bias"}, {0}, NONE},
    {"skip", RIDGE__WEIGHT_SAME, 0, false, {MIXER "D"}, {0}, NONE},
    {"o_norm_weight", RIDGE__WEIGHT_SAME, 0, false, {MIXER "norm.weight"}, {0}, NONE},
    {"w_up", RIDGE__WEIGHT_LINEAR, 1, false, {MIXER "up_proj.weight"}, {0}, NONE},
    {"w_down", RIDGE__WEIGHT_LINEAR, 1, false, {MIXER "down_proj.weight"}, {0}, NONE}};

/* Queries, keys and values are columns of one matrix; no bias or weight turns. */
static const ridge__weight_rule GPT2[] = {
    {"embedding", RIDGE__WEIGHT_SAME, 0, false, {"wte.weight"}, {0}, NONE},
    {"position_table", RIDGE__WEIGHT_SAME, 0, false, {"wpe.weight"}, {0}, NONE},
    {"unembedding", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.weight"}, {0}, NONE},
    {"final_norm_weight", RIDGE__WEIGHT_SAME, 0, false, {"ln_f.weight"}, {0}, NONE},
    {"final_norm_bias", RIDGE__WEIGHT_SAME, 0, false, {"ln_f.bias"}, {0}, NONE},
    {"h_weight", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_1.weight"}, {0}, NONE},
    {"h_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_1.bias"}, {0}, NONE},
    {"h_ffn_weight", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_2.weight"}, {0}, NONE},
    {"h_ffn_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_2.bias"}, {0}, NONE},
    {"wq", RIDGE__WEIGHT_MATRIX, 1, false, {0}, {C_ATTN ".weight", 0, true}, NONE},
    {"wk", RIDGE__WEIGHT_MATRIX, 1, false, {0}, {C_ATTN ".weight", 1, false}, NONE},
    {"wv", RIDGE__WEIGHT_MATRIX, 1, false, {0}, {C_ATTN ".weight", 0, false}, NONE},
    {"wo", RIDGE__WEIGHT_MATRIX, 2, false, {"h.{l}.attn.c_proj.weight"}, {0}, NONE},
    {"wq_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {C_ATTN ".bias", 0, true}, NONE},
    {"wk_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {C_ATTN ".bias", 1, false}, NONE},
    {"wv_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {C_ATTN ".bias", 0, false}, NONE},
    {"wo_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.attn.c_proj.bias"}, {0}, NONE},
    {"w_up", RIDGE__WEIGHT_MATRIX, 1, false, {"h.{l}.mlp.c_fc.weight"}, {0}, NONE},
    {"w_up_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.mlp.c_fc.bias"}, {0}, NONE},
    {"w_down", RIDGE__WEIGHT_MATRIX, 1, false, {"h.{l}.mlp.c_proj.weight"}, {0}, NONE},
    {"w_down_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.mlp.c_proj.bias"}, {0}, NONE}};
/* clang-format on */

static const ridge__weight_family FAMILIES[] = {
    {"embed_tokens.weight", "layers.", RIDGE_COUNT_OF(LLAMA), LLAMA},
    {"wte.weight", "h.", RIDGE_COUNT_OF(GPT2), GPT2},
    {"embeddings.weight", "layers.", RIDGE_COUNT_OF(NEMOTRON_H), NEMOTRON_H}};

const ridge__weight_family *ridge__weight_family_usual(void)
{
    return &FAMILIES[0];
}

const ridge__weight_family *ridge__weight_family_of(const char *name)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(FAMILIES); i++) {
        const size_t n = strlen(name), tail = strlen(FAMILIES[i].embedding);
        if (n >= tail && strcmp(name + n - tail, FAMILIES[i].embedding) == 0 &&
            (n == tail || name[n - tail - 1] == '.'))
            return &FAMILIES[i];
    }
    return NULL;
}

const ridge__weight_rule *ridge__weight_rule_find(const ridge__weight_family *family,
                                                  const char *base)
{
    for (size_t i = 0; i < family->n; i++) {
        if (ridge_str_is(ridge_str_of(base), family->rules[i].base))
            return &family->rules[i];
    }
    return NULL;
}
