/* Layers that are alike become one kind with a count, and runs say where they stand. */
#include "config.h"

#include <assert.h>
#include <string.h>

ridge_status ridge__config_norm_params(const ridge__config *c, int64_t *out)
{
    ridge__norm norm = c->arch->norm;
    bool has_bias;
    RIDGE_TRY(ridge__config_flag(c, c->arch->norm_bias_key, false, &has_bias));
    if (has_bias && norm == RIDGE__NORM_LAYER_NO_BIAS)
        norm = RIDGE__NORM_LAYER;
    switch (norm) {
    case RIDGE__NORM_RMS:
    case RIDGE__NORM_LAYER_NO_BIAS:
        *out = c->model->d_model;
        break;
    case RIDGE__NORM_LAYER:
        *out = 2 * c->model->d_model;
        break;
    case RIDGE__NORM_NONE:
        *out = 0;
        break;
    }
    return RIDGE_OK;
}

/* Switches that add norms to a layer, or take one away. */
typedef struct norm_switch {
    const char *key;
    int norms;
    bool when;        /* the value that counts */
    const char *type; /* the only model_type in which it does; NULL: any */
} norm_switch;

/* clang-format off */
static const norm_switch NORM_SWITCHES[] = {
    {"new_decoder_architecture", 1, true, "|falcon|"}, /* 40B: one each for two branches */
    {"parallel_attn", 1, false, "|falcon|"},      /* RW: branches one after the other */
    {"use_parallel_residual", -1, true, "|stablelm|"}, /* 12B: branches share a norm */
    {"post_attention_norm", 1, true, NULL},
    {"post_ffn_norm", 1, true, NULL},
    {"enable_moe_block", 3, true, NULL}, /* Gemma 4: around both branches */
    {"parallel_attn_mlp_res", 1, true, NULL}, /* Arctic: before the dense branch */
};
/* clang-format on */

/* Falcon 11B: the two branches of the new layer share one norm after all. */
static ridge_status shared_norms(const ridge__config *c, int64_t *out)
{
    ridge_node n = ridge__config_find(c, "num_ln_in_parallel_attn");
    int64_t stated = 2;
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_i64(c->cx, n, 1, 2, &stated));
    *out = 2 - stated;
    return RIDGE_OK;
}

static ridge_status count_norms(const ridge__config *c, const ridge__choice *choice,
                                int64_t *out)
{
    int64_t norms = c->arch->norms;
    for (size_t i = 0; i < RIDGE_COUNT_OF(NORM_SWITCHES); i++) {
        const norm_switch *s = &NORM_SWITCHES[i];
        bool value;
        if (s->type != NULL && strstr(c->arch->names, s->type) == NULL)
            continue;
        RIDGE_TRY(ridge__config_flag(c, s->key, !s->when, &value));
        if (value == s->when)
            norms += s->norms;
    }
    int64_t shared = 0;
    RIDGE_TRY(shared_norms(c, &shared));
    norms -= shared;
    if (choice->has_cross)
        norms++;
    if (choice->lacks_first_norm)
        norms--;
    *out = norms;
    return RIDGE_OK;
}

/* Kimi K3 normalises what its latent experts return; Gemma 4 scales the router's input
 * and each expert. */
static ridge_status add_expert_scales(const ridge__config *c, ridge_layer *layer)
{
    bool has_norm, has_scales;
    if (layer->ffn.kind != RIDGE_FFN_MOE)
        return RIDGE_OK;
    RIDGE_TRY(ridge__config_flag(c, "latent_moe_use_norm", false, &has_norm));
    RIDGE_TRY(ridge__config_flag(c, "enable_moe_block", false, &has_scales));
    if (has_norm)
        layer->norm_params += layer->ffn.latent_width;
    if (has_scales)
        layer->norm_params += c->model->d_model + layer->ffn.experts;
    return RIDGE_OK;
}

static ridge_status read_layer(ridge__config *c, const ridge__choice *choice,
                               ridge_layer *layer)
{
    int64_t norms = 0, norm_params = 0;
    RIDGE_TRY(ridge__config_mixer(c, choice, &layer->mixer));
    RIDGE_TRY(ridge__config_ffn(c, choice, &layer->ffn));
    RIDGE_TRY(
        ridge__config_get(c, RIDGE__F_PER_LAYER_WIDTH, 0, &layer->per_layer_width));
    RIDGE_TRY(count_norms(c, choice, &norms));
    RIDGE_TRY(ridge__config_norm_params(c, &norm_params));
    layer->norm_params = norms * norm_params;
    if (layer->per_layer_width > 0)
        layer->norm_params += c->model->d_model;
    /* Kimi K3 weighs earlier blocks: a vector and a norm before each part. */
    if (!ridge_json_is_absent(ridge__config_find(c, "attn_res_block_size")))
        layer->norm_params += 4 * c->model->d_model;
    RIDGE_TRY(add_expert_scales(c, layer));
    layer->is_encoder = choice->is_encoder;
    layer->has_cross = choice->has_cross;
    return RIDGE_OK;
}

static bool choices_equal(const ridge__choice *a, const ridge__choice *b)
{
    return a->mix == b->mix && a->feed == b->feed && a->is_encoder == b->is_encoder &&
           a->has_cross == b->has_cross && a->has_shared_kv == b->has_shared_kv &&
           a->has_index == b->has_index && a->has_hash_route == b->has_hash_route &&
           a->lacks_first_norm == b->lacks_first_norm &&
           a->compress_ratio == b->compress_ratio && a->heads == b->heads;
}

/* The kind of layer @p i, read when it is met first. */
static ridge_status kind_of(ridge__config *c, const ridge__choice **firsts, int64_t i,
                            int *out)
{
    ridge_model *model = c->model;
    const ridge__choice *choice = &c->choices[i];
    int k = 0;
    for (; k < model->n_layers; k++) {
        assert(firsts[k] != NULL); /* set when kind k was met */
        if (choices_equal(firsts[k], choice))
            break;
    }
    if (k == RIDGE_LAYER_KIND_MAX) {
        return ridge_json_fail(c->cx, c->text, "more than %d kinds of layers",
                               RIDGE_LAYER_KIND_MAX);
    }
    if (k == model->n_layers) {
        RIDGE_TRY(read_layer(c, choice, &model->layers[k]));
        firsts[k] = choice;
        model->n_layers++;
    }
    model->layers[k].count++;
    *out = k;
    return RIDGE_OK;
}

static int64_t count_runs(const ridge__config *c)
{
    int64_t runs = 1;
    for (int64_t i = 1; i < c->layer_count; i++)
        runs += choices_equal(&c->choices[i - 1], &c->choices[i]) ? 0 : 1;
    return runs;
}

/* Sets of weights: a layer each, but ALBERT's groups share theirs. */
static ridge_status count_sets(ridge__config *c)
{
    int64_t groups = 1;
    ridge_node n = ridge__config_find(c, "num_hidden_groups");
    if (!ridge_json_is_absent(n))
        RIDGE_TRY(ridge_json_want_i64(c->cx, n, 1, c->layer_count, &groups));
    for (int k = 0; k < c->model->n_layers; k++) {
        ridge_layer *layer = &c->model->layers[k];
        layer->weight_sets =
            ridge__arch_has(c, RIDGE__A_ONE_SET) ? groups : layer->count;
    }
    if (ridge__arch_has(c, RIDGE__A_ONE_SET)) {
        ridge__config_note(c, "%lld layers share %lld set of weights",
                           (long long)c->layer_count, (long long)groups);
    }
    return RIDGE_OK;
}

ridge_status ridge__config_layers(ridge__config *c)
{
    ridge_model *model = c->model;
    ridge_arena *arena = ridge_ctx_arena(c->cx);
    const ridge__choice *firsts[RIDGE_LAYER_KIND_MAX] = {NULL};
    model->layers = ridge_new(arena, ridge_layer, RIDGE_LAYER_KIND_MAX);
    model->runs = ridge_new(arena, ridge_run, (size_t)count_runs(c));
    if (model->layers == NULL || model->runs == NULL)
        return ridge_fail_nomem(c->cx);
    for (int64_t i = 0; i < c->layer_count; i++) {
        int kind = 0;
        RIDGE_TRY(kind_of(c, firsts, i, &kind));
        if (i == 0 || model->runs[model->n_runs - 1].layer != kind)
            model->runs[model->n_runs++].layer = kind;
        model->runs[model->n_runs - 1].count++;
    }
    model->layer_count = c->layer_count;
    return count_sets(c);
}
