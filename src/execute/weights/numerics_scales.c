/*
 * Factors that some models multiply by (Gemma, Granite, MiniCPM, Cohere), how gates of
 * experts are weighed, and layers whose rotary positions differ from the others'.
 */
#include "numerics_scales.h"

#include <math.h>
#include <string.h>

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

void ridge__numerics_take_type(const char *type, double width, ridge_numerics *n)
{
    static const char *const WHOLE[] = {"qwen2_moe", "qwen3_moe", "olmoe"};
    if (starts_with(type, "gemma") && width > 0.0)
        n->embedding_scale = sqrt(width);
    if (starts_with(type, "gemma3"))
        n->local_rope_theta = 10000.0;
    if (starts_with(type, "smollm3") || starts_with(type, "llama4"))
        n->no_rope_every = 4;
    n->is_rope_of_windows =
        starts_with(type, "cohere2") || starts_with(type, "exaone4");
    for (size_t i = 0; i < RIDGE_COUNT_OF(WHOLE); i++)
        n->is_gate_whole = n->is_gate_whole || strcmp(type, WHOLE[i]) == 0;
}

/* A number if it is there and not null. */
static ridge_status optional(ridge_ctx *cx, const ridge_node *object, const char *key,
                             double *out)
{
    const ridge_node n = ridge_json_get(object, key);
    if (ridge_json_is_absent(n) || ridge_json_kind_of(n) == RIDGE_JSON_NULL)
        return RIDGE_OK;
    return ridge_json_want_double(cx, n, 1e-12, 1e12, out);
}

/* ---- factors --------------------------------------------------------------------- */

/* Depth and width against those of a small model. @source hu2024-minicpm, section 4 */
static ridge_status read_minicpm(ridge_ctx *cx, const ridge_node *config,
                                 ridge_numerics *n)
{
    double depth = 0.0, base = 0.0, layers = 1.0, width = 1.0;
    RIDGE_TRY(optional(cx, config, "scale_depth", &depth));
    RIDGE_TRY(optional(cx, config, "dim_model_base", &base));
    RIDGE_TRY(optional(cx, config, "num_hidden_layers", &layers));
    RIDGE_TRY(optional(cx, config, "hidden_size", &width));
    if (depth > 0.0)
        n->residual_scale = depth / sqrt(layers);
    if (base > 0.0)
        n->logit_scale = base / width;
    return optional(cx, config, "scale_emb", &n->embedding_scale);
}

ridge_status ridge__numerics_read_scales(ridge_ctx *cx, const ridge_node *config,
                                         ridge_numerics *n)
{
    double divisor = 1.0, scalar = 0.0;
    bool is_normed;
    const char *scores = "softmax";
    RIDGE_TRY(read_minicpm(cx, config, n));
    RIDGE_TRY(optional(cx, config, "embedding_multiplier", &n->embedding_scale));
    RIDGE_TRY(optional(cx, config, "residual_multiplier", &n->residual_scale));
    RIDGE_TRY(optional(cx, config, "attention_multiplier", &n->attention_scale));
    RIDGE_TRY(optional(cx, config, "query_pre_attn_scalar", &scalar));
    RIDGE_TRY(optional(cx, config, "logit_scale", &n->logit_scale));
    RIDGE_TRY(optional(cx, config, "logits_scaling", &divisor));
    if (scalar > 0.0)
        n->attention_scale = 1.0 / sqrt(scalar);
    n->logit_scale /= divisor;
    if (ridge_json_bool(ridge_json_get(config, "norm_topk_prob"), &is_normed))
        n->is_gate_whole = !is_normed;
    ridge_json_text(ridge_json_get(config, "scoring_func"), &scores);
    if (n->lacks == NULL && strcmp(scores, "softmax") != 0)
        n->lacks = "scoring_func";
    return RIDGE_OK;
}

/* ---- layers ---------------------------------------------------------------------- */

static ridge_status read_list(ridge_ctx *cx, const ridge_node *config,
                              ridge_numerics *n)
{
    const ridge_node list = ridge_json_get(config, "no_rope_layers");
    if (ridge_json_kind_of(list) != RIDGE_JSON_ARRAY || ridge_json_size(list) == 0)
        return RIDGE_OK;
    const size_t count = ridge_json_size(list);
    bool *has_rope = ridge_new(ridge_ctx_arena(cx), bool, count);
    if (has_rope == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < count; i++) {
        int64_t one;
        RIDGE_TRY(ridge_json_want_i64(cx, ridge_json_at(&list, i), 0, 1, &one));
        has_rope[i] = one != 0;
    }
    n->layer_has_rope = has_rope;
    n->n_layer_has_rope = count;
    n->no_rope_every = 0;
    return RIDGE_OK;
}

ridge_status ridge__numerics_read_layers(ridge_ctx *cx, const ridge_node *config,
                                         ridge_numerics *n)
{
    const ridge_node every = ridge_json_get(config, "no_rope_layer_interval");
    const ridge_node kinds = ridge_json_get(config, "rope_parameters");
    const ridge_node local = ridge_json_get(&kinds, "sliding_attention");
    if (n->no_rope_every > 0 && ridge_json_kind_of(every) == RIDGE_JSON_NUMBER)
        RIDGE_TRY(ridge_json_want_i64(cx, every, 1, 1000000, &n->no_rope_every));
    RIDGE_TRY(read_list(cx, config, n));
    RIDGE_TRY(optional(cx, config, "rope_local_base_freq", &n->local_rope_theta));
    return optional(cx, &local, "rope_theta", &n->local_rope_theta);
}
