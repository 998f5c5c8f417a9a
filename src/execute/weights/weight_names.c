/*
 * The names of Hugging Face checkpoints: one table for LLaMA and those that took its
 * names (Mistral, Mixtral, Qwen 2 and 3, Gemma, StableLM, Nemotron, StarCoder 2, OPT,
 * Phi; names that mean something else in another model come later in a row), one for
 * GPT-2. Weights of latent attention, scans and towers are not among them.
 */
#include "weight_names.h"

#include <string.h>

#define ATTENTION "layers.{l}.self_attn."
#define MLP       "layers.{l}.mlp."
#define MIXTRAL   "layers.{l}.block_sparse_moe."
#define SHARED    "layers.{l}.mlp.shared_expert"

#define C_ATTN "h.{l}.attn.c_attn"

/* Queries, keys and values in one tensor, gate and up in another (Phi-3). */
#define QKV      ATTENTION "qkv_proj.weight"
#define QKV_BIAS ATTENTION "qkv_proj.bias"
#define GATE_UP  MLP "gate_up_proj.weight"

/* clang-format off */
static const ridge__weight_rule LLAMA[] = {
    {"embedding", RIDGE__WEIGHT_SAME, 0, false, {"embed_tokens.weight"}, {0}},
    {"unembedding", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.weight"}, {0}},
    {"unembedding_bias", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.bias"}, {0}},
    {"position_table", RIDGE__WEIGHT_SAME, 0, false, {"embed_positions.weight"}, {0}},
    {"final_norm_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"norm.weight", "final_layernorm.weight", "final_layer_norm.weight"}, {0}},
    {"final_norm_bias", RIDGE__WEIGHT_SAME, 0, false,
     {"norm.bias", "final_layernorm.bias", "final_layer_norm.bias"}, {0}},
    {"h_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.input_layernorm.weight", "layers.{l}.self_attn_layer_norm.weight"}, {0}},
    {"h_bias", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.input_layernorm.bias", "layers.{l}.self_attn_layer_norm.bias"}, {0}},
    {"h_after_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.post_attention_layernorm.weight"}, {0}},
    {"h_ffn_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.pre_feedforward_layernorm.weight",
      "layers.{l}.post_attention_layernorm.weight",
      "layers.{l}.final_layer_norm.weight"}, {0}},
    {"h_ffn_bias", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.post_attention_layernorm.bias", "layers.{l}.final_layer_norm.bias"}, {0}},
    {"h_ffn_after_weight", RIDGE__WEIGHT_SAME, 0, false,
     {"layers.{l}.post_feedforward_layernorm.weight"}, {0}},

    {"wq", RIDGE__WEIGHT_LINEAR, 1, true, {ATTENTION "q_proj.weight"}, {QKV, 0, true}},
    {"wk", RIDGE__WEIGHT_LINEAR, 1, true, {ATTENTION "k_proj.weight"}, {QKV, 1, false}},
    {"wv", RIDGE__WEIGHT_LINEAR, 1, false, {ATTENTION "v_proj.weight"}, {QKV, 0, false}},
    {"wo", RIDGE__WEIGHT_LINEAR, 2, false,
     {ATTENTION "o_proj.weight", ATTENTION "out_proj.weight", ATTENTION "dense.weight"}, {0}},
    {"wq_bias", RIDGE__WEIGHT_SAME, 0, true, {ATTENTION "q_proj.bias"}, {QKV_BIAS, 0, true}},
    {"wk_bias", RIDGE__WEIGHT_SAME, 0, true, {ATTENTION "k_proj.bias"}, {QKV_BIAS, 1, false}},
    {"wv_bias", RIDGE__WEIGHT_SAME, 0, false, {ATTENTION "v_proj.bias"}, {QKV_BIAS, 0, false}},
    {"wo_bias", RIDGE__WEIGHT_SAME, 0, false,
     {ATTENTION "o_proj.bias", ATTENTION "out_proj.bias", ATTENTION "dense.bias"}, {0}},
    {"q_norm_weight", RIDGE__WEIGHT_SAME, 0, true, {ATTENTION "q_norm.weight"}, {0}},
    {"k_norm_weight", RIDGE__WEIGHT_SAME, 0, true, {ATTENTION "k_norm.weight"}, {0}},
    {"sinks", RIDGE__WEIGHT_SAME, 0, false, {ATTENTION "sinks"}, {0}},

    {"w_gate", RIDGE__WEIGHT_LINEAR, 1, false, {MLP "gate_proj.weight"}, {GATE_UP, 0, true}},
    {"w_up", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "up_proj.weight", MLP "c_fc.weight", MLP "fc1.weight", "layers.{l}.fc1.weight"},
     {GATE_UP, 0, false}},
    {"w_down", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "down_proj.weight", MLP "c_proj.weight", MLP "fc2.weight", "layers.{l}.fc2.weight"},
     {0}},
    {"w_gate_bias", RIDGE__WEIGHT_SAME, 0, false, {MLP "gate_proj.bias"}, {0}},
    {"w_up_bias", RIDGE__WEIGHT_SAME, 0, false,
     {MLP "up_proj.bias", MLP "c_fc.bias", MLP "fc1.bias", "layers.{l}.fc1.bias"}, {0}},
    {"w_down_bias", RIDGE__WEIGHT_SAME, 0, false,
     {MLP "down_proj.bias", MLP "c_proj.bias", MLP "fc2.bias", "layers.{l}.fc2.bias"}, {0}},

    {"router", RIDGE__WEIGHT_LINEAR, 1, false,
     {MLP "gate.weight", MIXTRAL "gate.weight", MLP "router.weight"}, {0}},
    {"expert_gate", RIDGE__WEIGHT_EXPERTS, 1, false,
     {MLP "experts.{e}.gate_proj.weight", MIXTRAL "experts.{e}.w1.weight"}, {0}},
    {"expert_up", RIDGE__WEIGHT_EXPERTS, 1, false,
     {MLP "experts.{e}.up_proj.weight", MIXTRAL "experts.{e}.w3.weight"}, {0}},
    {"expert_down", RIDGE__WEIGHT_EXPERTS, 1, false,
     {MLP "experts.{e}.down_proj.weight", MIXTRAL "experts.{e}.w2.weight"}, {0}},
    {"shared_gate", RIDGE__WEIGHT_LINEAR, 1, false,
     {SHARED ".gate_proj.weight", SHARED "s.gate_proj.weight"}, {0}},
    {"shared_up", RIDGE__WEIGHT_LINEAR, 1, false,
     {SHARED ".up_proj.weight", SHARED "s.up_proj.weight"}, {0}},
    {"shared_down", RIDGE__WEIGHT_LINEAR, 1, false,
     {SHARED ".down_proj.weight", SHARED "s.down_proj.weight"}, {0}},
    {"shared_scale", RIDGE__WEIGHT_SAME, 0, false, {SHARED "_gate.weight"}, {0}}};

/* Queries, keys and values are columns of one matrix; no bias or weight turns. */
static const ridge__weight_rule GPT2[] = {
    {"embedding", RIDGE__WEIGHT_SAME, 0, false, {"wte.weight"}, {0}},
    {"position_table", RIDGE__WEIGHT_SAME, 0, false, {"wpe.weight"}, {0}},
    {"unembedding", RIDGE__WEIGHT_SAME, 0, false, {"lm_head.weight"}, {0}},
    {"final_norm_weight", RIDGE__WEIGHT_SAME, 0, false, {"ln_f.weight"}, {0}},
    {"final_norm_bias", RIDGE__WEIGHT_SAME, 0, false, {"ln_f.bias"}, {0}},
    {"h_weight", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_1.weight"}, {0}},
    {"h_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_1.bias"}, {0}},
    {"h_ffn_weight", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_2.weight"}, {0}},
    {"h_ffn_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.ln_2.bias"}, {0}},
    {"wq", RIDGE__WEIGHT_MATRIX, 1, false, {0}, {C_ATTN ".weight", 0, true}},
    {"wk", RIDGE__WEIGHT_MATRIX, 1, false, {0}, {C_ATTN ".weight", 1, false}},
    {"wv", RIDGE__WEIGHT_MATRIX, 1, false, {0}, {C_ATTN ".weight", 0, false}},
    {"wo", RIDGE__WEIGHT_MATRIX, 2, false, {"h.{l}.attn.c_proj.weight"}, {0}},
    {"wq_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {C_ATTN ".bias", 0, true}},
    {"wk_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {C_ATTN ".bias", 1, false}},
    {"wv_bias", RIDGE__WEIGHT_SAME, 0, false, {0}, {C_ATTN ".bias", 0, false}},
    {"wo_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.attn.c_proj.bias"}, {0}},
    {"w_up", RIDGE__WEIGHT_MATRIX, 1, false, {"h.{l}.mlp.c_fc.weight"}, {0}},
    {"w_up_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.mlp.c_fc.bias"}, {0}},
    {"w_down", RIDGE__WEIGHT_MATRIX, 1, false, {"h.{l}.mlp.c_proj.weight"}, {0}},
    {"w_down_bias", RIDGE__WEIGHT_SAME, 0, false, {"h.{l}.mlp.c_proj.bias"}, {0}}};
/* clang-format on */

static const ridge__weight_family FAMILIES[] = {
    {"embed_tokens.weight", "layers.", RIDGE_COUNT_OF(LLAMA), LLAMA},
    {"wte.weight", "h.", RIDGE_COUNT_OF(GPT2), GPT2}};

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
