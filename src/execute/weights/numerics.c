/*
 * Constants of a model's arithmetic out of config.json: norm epsilon, rotary base, how
 * frequencies are stretched. Keys that are not there have the values that the model
 * libraries take for granted.
 */
#include "numerics_scales.h"

#include "ridge/model_gguf.h"

#include <string.h>

static const char *const ROPE_TEXTS[] = {
#define ONE_TEXT(name, text) [RIDGE_ROPE_##name] = text,
    RIDGE_ROPE_LIST(ONE_TEXT)
#undef ONE_TEXT
};

ridge_numerics ridge_numerics_default(void)
{
    return (ridge_numerics){.norm_epsilon = 1e-6F,
                            .rope_theta = 10000.0,
                            .rope_fraction = 1.0,
                            .rope_factor = 1.0,
                            .low_freq_factor = 1.0,
                            .high_freq_factor = 4.0,
                            .original_positions = 2048.0,
                            .beta_fast = 32.0,
                            .beta_slow = 1.0,
                            .is_range_truncated = true,
                            .embedding_scale = 1.0,
                            .residual_scale = 1.0,
                            .logit_scale = 1.0};
}

/* ---- values ---------------------------------------------------------------------- */

typedef struct reader {
    ridge_ctx *cx;
    ridge_node config; /* of the language model */
    ridge_numerics n;
} reader;

/* A number if it is there. */
static ridge_status optional(const reader *r, const ridge_node *object, const char *key,
                             double low, double high, double *out)
{
    const ridge_node n = ridge_json_get(object, key);
    if (ridge_json_is_absent(n))
        return RIDGE_OK;
    return ridge_json_want_double(r->cx, n, low, high, out);
}

static ridge_status read_epsilon(reader *r)
{
    static const char *const KEYS[] = {"layer_norm_epsilon", "layer_norm_eps",
                                       "norm_epsilon", "norm_eps", "rms_norm_eps"};
    double epsilon = (double)r->n.norm_epsilon;
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++)
        RIDGE_TRY(optional(r, &r->config, KEYS[i], 0.0, 1.0, &epsilon));
    r->n.norm_epsilon = (float)epsilon;
    return RIDGE_OK;
}

/* A value that changes nothing, or a key that is not there. */
static bool is_neutral(ridge_node n, double neutral)
{
    double value;
    bool flag;
    const ridge_json_kind kind = ridge_json_kind_of(n);
    if (ridge_json_is_absent(n) || kind == RIDGE_JSON_NULL)
        return true;
    if (ridge_json_bool(n, &flag))
        return flag == (neutral > 0.0);
    return ridge_json_double(n, &value) && !(value < neutral) && !(value > neutral);
}

/* Factors and switches that no operation of a program has. */
static void read_lacks(reader *r)
{
    static const struct {
        const char *key;
        double neutral; /* flags: 1 true, 0 false; -1: no value is */
    } LACKS[] = {
        {"attn_logit_softcapping", -1.0},        {"routed_scaling_factor", 1.0},
        {"final_logit_softcapping", -1.0},       {"clip_qkv", -1.0},
        {"do_layer_norm_before", 1.0},           {"scale_attn_weights", 1.0},
        {"scale_attn_by_inverse_layer_idx", 0.0}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(LACKS) && r->n.lacks == NULL; i++) {
        if (!is_neutral(ridge_json_get(&r->config, LACKS[i].key), LACKS[i].neutral))
            r->n.lacks = LACKS[i].key;
    }
}

/* What model_type alone tells, by its beginning; the longer name stands first. */
typedef struct type_row {
    const char *type;
    float norm_epsilon;
    bool has_paired_rope, has_plus_one_norm;
    int position_offset;
    const char *lacks;
} type_row;

/* clang-format off */
static const type_row TYPES[] = {
    {"cohere", 1e-5F, true, false, 0, NULL},
    {"granite", 1e-6F, false, false, 0, NULL},
    {"glm4_moe", 1e-6F, false, false, 0, NULL},
    {"glm", 1e-6F, true, false, 0, NULL},
    {"llama4", 1e-6F, true, false, 0, NULL},
    {"ernie4_5", 1e-6F, true, false, 0, NULL},
    {"gptj", 1e-5F, true, false, 0, NULL},
    {"gemma", 1e-6F, false, true, 0, NULL},
    {"nemotron_h", 1e-5F, false, false, 0, NULL},
    {"qwen3_next", 1e-6F, false, true, 0, NULL},
    {"qwen3_5", 1e-6F, false, true, 0, NULL},
    {"lfm2", 1e-5F, false, false, 0, NULL},
    {"kimi_linear", 1e-5F, false, false, 0, "model_type kimi_linear"},
    {"kimi_k3", 1e-5F, false, false, 0, "model_type kimi_k3"},
    {"minimax_text", 1e-5F, false, false, 0, "model_type minimax_text_01"},
    {"nemotron", 1e-5F, false, true, 0, NULL},
    {"gpt2", 1e-5F, false, false, 0, NULL},
    {"gpt_neox", 1e-5F, false, false, 0, NULL},
    {"gpt_bigcode", 1e-5F, false, false, 0, NULL},
    {"opt", 1e-5F, false, false, 2, NULL},
    {"bloom", 1e-5F, false, false, 0, NULL},
    {"falcon", 1e-5F, false, false, 0, NULL},
    {"stablelm", 1e-5F, false, false, 0, NULL},
    {"starcoder2", 1e-5F, false, false, 0, NULL},
    {"olmo2", 1e-5F, false, false, 0, NULL},
    {"olmo", 1e-5F, false, false, 0, NULL},
    {"phimoe", 1e-5F, false, false, 0, "model_type phimoe"}, /* its own way to route */
    {"phi3", 1e-5F, false, false, 0, NULL},
    {"phi", 1e-5F, false, false, 0, NULL},
};
/* clang-format on */

static void take_type(const char *type, double width, ridge_numerics *n)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(TYPES); i++) {
        const type_row *t = &TYPES[i];
        if (strncmp(type, t->type, strlen(t->type)) != 0)
            continue;
        n->norm_epsilon = t->norm_epsilon;
        n->has_paired_rope = t->has_paired_rope;
        n->has_plus_one_norm = t->has_plus_one_norm;
        n->position_offset = t->position_offset;
        n->lacks = t->lacks;
        break;
    }
    ridge__numerics_take_type(type, width, n);
}

ridge_numerics ridge_numerics_usual(const ridge_model *model)
{
    ridge_numerics n = ridge_numerics_default();
    take_type(model->model_type ? model->model_type : "", (double)model->d_model, &n);
    return n;
}

static ridge_status read_type(reader *r)
{
    const char *type = "";
    double width = 0.0;
    ridge_json_text(ridge_json_get(&r->config, "model_type"), &type);
    RIDGE_TRY(optional(r, &r->config, "hidden_size", 1.0, 1e9, &width));
    take_type(type, width, &r->n);
    return RIDGE_OK;
}

/* ---- rotary scaling -------------------------------------------------------------- */

static ridge_status read_llama3(reader *r, const ridge_node *s)
{
    ridge_numerics *n = &r->n;
    RIDGE_TRY(optional(r, s, "low_freq_factor", 1e-6, 1e6, &n->low_freq_factor));
    RIDGE_TRY(optional(r, s, "high_freq_factor", 1e-6, 1e6, &n->high_freq_factor));
    if (n->high_freq_factor >= n->low_freq_factor) /* alike: no blend between them */
        return RIDGE_OK;
    return ridge_json_fail(r->cx, *s,
                           "high_freq_factor must not be below low_freq_factor");
}

static ridge_status read_yarn(reader *r, const ridge_node *s)
{
    ridge_numerics *n = &r->n;
    RIDGE_TRY(optional(r, s, "beta_fast", 1e-6, 1e6, &n->beta_fast));
    RIDGE_TRY(optional(r, s, "beta_slow", 1e-6, 1e6, &n->beta_slow));
    RIDGE_TRY(optional(r, s, "attention_factor", 0.0, 1e3, &n->attention_factor));
    RIDGE_TRY(optional(r, s, "mscale", 0.0, 1e3, &n->mscale));
    RIDGE_TRY(optional(r, s, "mscale_all_dim", 0.0, 1e3, &n->mscale_all_dim));
    ridge_json_bool(ridge_json_get(s, "truncate"), &n->is_range_truncated);
    return RIDGE_OK;
}

static ridge_status find_kind(reader *r, ridge_node place, const char *type)
{
    const ridge_str s = ridge_str_of(type);
    for (int i = 0; i < RIDGE_ROPE_COUNT; i++) {
        if (ridge_str_is(s, ROPE_TEXTS[i])) {
            r->n.rope = (ridge_rope_kind)i;
            return RIDGE_OK;
        }
    }
    if (ridge_str_is(s, "default"))
        return RIDGE_OK;
    if (ridge_str_is(s, "mrope")) /* of text all three places of a token are one */
        return RIDGE_OK;
    if (ridge_str_is(s, "dynamic")) {
        r->n.notes = "dynamic rotary scaling counts as none: right within the context "
                     "that the model was trained on";
        return RIDGE_OK;
    }
    return ridge_json_fail(
        r->cx, place,
        "rotary scaling \"%s\": Ridge has linear, llama3, yarn and longrope", type);
}

/* "rope_scaling", or "rope_parameters", which holds theta too. */
static ridge_status read_scaling(reader *r, const ridge_node *s)
{
    const char *type = "none";
    ridge_numerics *n = &r->n;
    if (ridge_json_is_absent(*s))
        return RIDGE_OK;
    RIDGE_TRY(optional(r, s, "rope_theta", 1.0, 1e12, &n->rope_theta));
    RIDGE_TRY(optional(r, s, "partial_rotary_factor", 0.0, 1.0, &n->rope_fraction));
    ridge_node place = ridge_json_get(s, "type");
    ridge_json_text(place, &type);
    if (!ridge_json_is_absent(ridge_json_get(s, "rope_type")))
        place = ridge_json_get(s, "rope_type");
    ridge_json_text(place, &type);
    RIDGE_TRY(find_kind(r, place, type));
    if (n->rope == RIDGE_ROPE_NONE)
        return RIDGE_OK;
    if (n->rope == RIDGE_ROPE_LONG)
        return ridge__numerics_read_long(r->cx, s, n);
    RIDGE_TRY(optional(r, s, "factor", 1.0, 1e6, &n->rope_factor));
    RIDGE_TRY(optional(r, s, "original_max_position_embeddings", 1.0, 1e12,
                       &n->original_positions));
    if (n->rope == RIDGE_ROPE_LLAMA3)
        return read_llama3(r, s);
    return n->rope == RIDGE_ROPE_YARN ? read_yarn(r, s) : RIDGE_OK;
}

static ridge_status read_rope(reader *r)
{
    const ridge_node scaling = ridge_json_get(&r->config, "rope_scaling");
    ridge_node parameters = ridge_json_get(&r->config, "rope_parameters");
    const ridge_node full = ridge_json_get(&parameters, "full_attention");
    const ridge_node holder = parameters;
    if (!ridge_json_is_absent(full)) /* by kind of layer */
        parameters = ridge_json_get(&holder, "full_attention");
    RIDGE_TRY(optional(r, &r->config, "rope_theta", 1.0, 1e12, &r->n.rope_theta));
    RIDGE_TRY(optional(r, &r->config, "partial_rotary_factor", 0.0, 1.0,
                       &r->n.rope_fraction));
    RIDGE_TRY(optional(r, &r->config, "max_position_embeddings", 1.0, 1e12,
                       &r->n.original_positions));
    r->n.longest_positions = r->n.original_positions;
    RIDGE_TRY(optional(r, &r->config, "original_max_position_embeddings", 1.0, 1e12,
                       &r->n.original_positions));
    RIDGE_TRY(read_scaling(r, &scaling));
    return read_scaling(r, &parameters);
}

/* ---- all ------------------------------------------------------------------------- */

ridge_status ridge_numerics_read(ridge_ctx *cx, ridge_node config, ridge_numerics *out)
{
    reader r = {.cx = cx, .n = ridge_numerics_default()};
    const ridge_node text = ridge_json_get(&config, "text_config");
    const bool is_nested = ridge_json_kind_of(text) == RIDGE_JSON_OBJECT;
    r.config = is_nested ? text : config;
    RIDGE_TRY(read_type(&r));
    RIDGE_TRY(read_epsilon(&r));
    read_lacks(&r);
    RIDGE_TRY(read_rope(&r));
    RIDGE_TRY(ridge__numerics_read_scales(cx, &r.config, &r.n));
    RIDGE_TRY(ridge__numerics_read_layers(cx, &r.config, &r.n));
    *out = r.n;
    return RIDGE_OK;
}
