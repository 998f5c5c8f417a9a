/* Sizes to a model and back. What is built is compared with what it was built from, so
 * that no model loses a part on its way through a launcher's options. */
#include "launch_dims.h"

#include <math.h>
#include <string.h>

static const int64_t SIZE_MOST = 100000000;
static const double PARAMS_MOST = 1e17;

typedef struct size_rule {
    const char *name;
    int64_t value;
    int64_t low;
} size_rule;

static ridge_status check_sizes(ridge_ctx *cx, const launch_dims *d)
{
    const size_rule rules[] = {{"layers", d->layers, 1},
                               {"model width", d->d_model, 1},
                               {"vocabulary", d->vocab, 1},
                               {"heads", d->heads, 1},
                               {"KV heads", d->kv_heads, 1},
                               {"head dim", d->head_dim, 1},
                               {"head dim of values", d->v_head_dim, 1},
                               {"feed-forward width", d->d_ff, 0},
                               {"experts", d->experts, 0},
                               {"experts a token", d->experts_per_token, 0},
                               {"expert width", d->expert_d_ff, 0},
                               {"shared expert width", d->shared_d_ff, 0},
                               {"window", d->window, 0},
                               {"q_lora_rank", d->q_lora_rank, 0},
                               {"kv_lora_rank", d->kv_lora_rank, 0},
                               {"rotary head dim", d->rope_head_dim, 0}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rules); i++) {
        if (rules[i].value < rules[i].low || rules[i].value > SIZE_MOST) {
            return ridge_fail(cx, RIDGE_E_ARG, "%s %lld: expected %lld to %lld",
                              rules[i].name, (long long)rules[i].value,
                              (long long)rules[i].low, (long long)SIZE_MOST);
        }
    }
    if (d->layers > LAUNCH_LAYERS_MOST) {
        return ridge_fail(cx, RIDGE_E_ARG, "%lld layers: expected at most %d",
                          (long long)d->layers, LAUNCH_LAYERS_MOST);
    }
    return RIDGE_OK;
}

static ridge_status check_relations(ridge_ctx *cx, const launch_dims *d)
{
    if (d->heads % d->kv_heads != 0) {
        return ridge_fail(cx, RIDGE_E_ARG, "%lld KV heads do not divide %lld heads",
                          (long long)d->kv_heads, (long long)d->heads);
    }
    if (d->is_mla && (d->kv_lora_rank < 1 || d->rope_head_dim >= d->head_dim)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "latent attention needs kv_lora_rank and a head dim beyond "
                          "its rotary part");
    }
    if (d->experts > 0 &&
        (d->experts_per_token < 1 || d->experts_per_token > d->experts)) {
        return ridge_fail(cx, RIDGE_E_ARG, "%lld of %lld experts a token",
                          (long long)d->experts_per_token, (long long)d->experts);
    }
    double attention = 4.0 * (double)d->heads * (double)(d->head_dim + d->v_head_dim);
    double mlp = 3.0 * ((double)d->d_ff + (double)d->shared_d_ff +
                        (double)d->experts * ((double)d->expert_d_ff + 1));
    double low = (double)(d->q_lora_rank + d->kv_lora_rank);
    double layer = (attention + mlp + low) * (double)d->d_model + attention * low;
    if ((double)d->layers * layer + 2.0 * (double)d->vocab * (double)d->d_model +
            (double)d->positions * (double)d->d_model >
        PARAMS_MOST)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "these sizes give more than 1e17 parameters");
    return RIDGE_OK;
}

static ridge_mixer mixer_of(const launch_dims *d)
{
    ridge_mixer m = {.kind = d->is_mla ? RIDGE_MIXER_MLA : RIDGE_MIXER_ATTENTION,
                     .heads = d->heads,
                     .kv_heads = d->kv_heads,
                     .head_dim = d->head_dim,
                     .v_head_dim = d->v_head_dim,
                     .window = d->window,
                     .is_causal = true,
                     .has_qkv_bias = d->has_qkv_bias,
                     .has_out_bias = d->has_out_bias,
                     .has_out_gate = d->has_out_gate};
    if (d->is_mla) {
        m.kv_heads = d->heads;
        m.q_lora_rank = d->q_lora_rank;
        m.kv_lora_rank = d->kv_lora_rank;
        m.rope_head_dim = d->rope_head_dim;
    } else if (d->has_qk_norm) {
        m.qk_norm_width = 2 * d->head_dim * (d->is_layer_norm ? 2 : 1);
    }
    return m;
}

static ridge_ffn ffn_of(const launch_dims *d, bool is_moe)
{
    ridge_ffn f = {.kind = is_moe ? RIDGE_FFN_MOE : RIDGE_FFN_DENSE,
                   .is_gated = d->is_gated,
                   .has_bias = d->has_mlp_bias};
    if (!is_moe) {
        f.d_ff = d->d_ff;
        return f;
    }
    f.experts = d->experts;
    f.experts_per_token = d->experts_per_token;
    f.expert_d_ff = d->expert_d_ff;
    f.shared_experts = d->shared_experts;
    f.shared_d_ff = d->shared_d_ff;
    const bool is_limited =
        d->groups_per_token > 0 && d->groups_per_token < d->expert_groups;
    f.expert_groups = is_limited ? d->expert_groups : 0;
    f.groups_per_token = is_limited ? d->groups_per_token : 0;
    f.has_shared_gate = d->has_shared_gate;
    f.has_router_bias = d->has_router_bias;
    return f;
}

static bool is_moe_layer(const launch_dims *d, int64_t i)
{
    return d->experts > 0 && (d->is_moe == NULL || d->is_moe[i]);
}

/* The kind of layer i, made when it is met first. */
static int kind_of(const launch_dims *d, ridge_model *m, int64_t i)
{
    const bool is_moe = is_moe_layer(d, i);
    for (int k = 0; k < m->n_layers; k++) {
        if ((m->layers[k].ffn.kind == RIDGE_FFN_MOE) == is_moe)
            return k;
    }
    m->layers[m->n_layers] =
        (ridge_layer){.mixer = mixer_of(d),
                      .ffn = ffn_of(d, is_moe),
                      .norm_params = 2 * d->d_model * (d->is_layer_norm ? 2 : 1)};
    return m->n_layers++;
}

static ridge_status add_layers(ridge_ctx *cx, const launch_dims *d, ridge_model *m)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    m->layers = ridge_new(arena, ridge_layer, 2);
    m->runs = ridge_new(arena, ridge_run, (size_t)d->layers);
    if (m->layers == NULL || m->runs == NULL)
        return ridge_fail_nomem(cx);
    for (int64_t i = 0; i < d->layers; i++) {
        const int kind = kind_of(d, m, i);
        const ridge_ffn *f = &m->layers[kind].ffn;
        if (f->d_ff + f->expert_d_ff < 1) {
            return ridge_fail(cx, RIDGE_E_ARG, "layer %lld has no feed-forward width",
                              (long long)i);
        }
        m->layers[kind].count++;
        m->layers[kind].weight_sets++;
        if (m->n_runs == 0 || m->runs[m->n_runs - 1].layer != kind)
            m->runs[m->n_runs++].layer = kind;
        m->runs[m->n_runs - 1].count++;
    }
    return RIDGE_OK;
}

ridge_status launch_dims_model(ridge_ctx *cx, const launch_dims *d, const char *name,
                               const ridge_model **out)
{
    RIDGE_TRY(check_sizes(cx, d));
    RIDGE_TRY(check_relations(cx, d));
    ridge_model *m = ridge_new(ridge_ctx_arena(cx), ridge_model, 1);
    if (m == NULL)
        return ridge_fail_nomem(cx);
    const int64_t table = d->vocab * d->d_model;
    *m = (ridge_model){.name = name,
                       /* the program rotates no queries of GPT-2's */
                       .model_type = d->has_learned_positions ? "gpt2" : "sizes",
                       .d_model = d->d_model,
                       .vocab = d->vocab,
                       .layer_count = d->layers,
                       .max_positions = d->positions,
                       .is_tied = d->is_tied,
                       .has_unembedding = true,
                       .embedding_params = table,
                       .unembedding_params = d->is_tied ? 0 : table,
                       .final_norm_params = d->d_model * (d->is_layer_norm ? 2 : 1),
                       .weight_dtype = RIDGE_DTYPE_BF16,
                       .rest_dtype = RIDGE_DTYPE_BF16};
    m->norm_kind = d->is_layer_norm ? RIDGE_NORM_LAYER : RIDGE_NORM_RMS;
    if (d->has_learned_positions)
        m->embedding_params += d->positions * d->d_model;
    RIDGE_TRY(add_layers(cx, d, m));
    m->mtp_kinds[m->n_mtp_kinds++] = m->runs[m->n_runs - 1].layer;
    *out = m;
    return RIDGE_OK;
}

/* ---- a model's sizes ------------------------------------------------------------- */

static void read_mixer(const ridge_mixer *m, launch_dims *d)
{
    d->is_mla = m->kind == RIDGE_MIXER_MLA;
    d->heads = m->heads;
    d->kv_heads = m->kv_heads;
    d->head_dim = m->head_dim;
    d->v_head_dim = m->v_head_dim;
    d->window = m->window;
    d->has_qkv_bias = m->has_qkv_bias;
    d->has_out_bias = m->has_out_bias;
    d->has_out_gate = m->has_out_gate;
    d->has_qk_norm = m->qk_norm_width > 0;
    d->q_lora_rank = m->q_lora_rank;
    d->kv_lora_rank = m->kv_lora_rank;
    d->rope_head_dim = m->rope_head_dim;
}

static void read_ffn(const ridge_ffn *f, launch_dims *d)
{
    d->is_gated = f->is_gated;
    d->has_mlp_bias = f->has_bias;
    if (f->kind != RIDGE_FFN_MOE) {
        d->d_ff = f->d_ff;
        return;
    }
    d->experts = f->experts;
    d->experts_per_token = f->experts_per_token;
    d->expert_d_ff = f->expert_d_ff;
    d->shared_experts = f->shared_experts;
    d->shared_d_ff = f->shared_d_ff;
    d->expert_groups = f->expert_groups;
    d->groups_per_token = f->groups_per_token;
    d->has_shared_gate = f->has_shared_gate;
    d->has_router_bias = f->has_router_bias;
}

static ridge_status read_pattern(ridge_ctx *cx, const ridge_model *model,
                                 launch_dims *d)
{
    int64_t at = 0;
    d->is_moe = ridge_new(ridge_ctx_arena(cx), bool, (size_t)model->layer_count);
    if (d->is_moe == NULL)
        return ridge_fail_nomem(cx);
    for (int r = 0; r < model->n_runs; r++) {
        const ridge_layer *layer = &model->layers[model->runs[r].layer];
        for (int64_t i = 0; i < model->runs[r].count && at < model->layer_count; i++)
            d->is_moe[at++] = layer->ffn.kind == RIDGE_FFN_MOE;
    }
    return RIDGE_OK;
}

static bool is_same_weight(const ridge_weight *a, const ridge_weight *b)
{
    return a->part == b->part && a->split == b->split && a->in == b->in &&
           a->out == b->out && a->copies == b->copies &&
           a->active_copies == b->active_copies &&
           a->vector_params == b->vector_params &&
           a->active_vector_params == b->active_vector_params;
}

static bool is_same_layer(const ridge_model *ma, const ridge_layer *a,
                          const ridge_model *mb, const ridge_layer *b)
{
    ridge_weight wa[RIDGE_WEIGHT_MAX];
    ridge_weight wb[RIDGE_WEIGHT_MAX];
    const int n = ridge_layer_weights(ma, a, wa);
    const double seq = 65536;
    if (n != ridge_layer_weights(mb, b, wb) || a->count != b->count ||
        a->mixer.kind != b->mixer.kind || a->mixer.window != b->mixer.window ||
        a->mixer.is_causal != b->mixer.is_causal || a->is_encoder || a->has_cross ||
        a->norm_params != b->norm_params || a->weight_sets != a->count ||
        ridge_layer_scores_flops(a, seq, true) !=
            ridge_layer_scores_flops(b, seq, true))
        return false;
    for (int i = 0; i < n; i++) {
        if (!is_same_weight(&wa[i], &wb[i]))
            return false;
    }
    return true;
}

/* Whether nothing got lost. */
static bool is_same_model(const ridge_model *a, const ridge_model *b)
{
    if (a->n_layers != b->n_layers || a->n_runs != b->n_runs ||
        a->is_tied != b->is_tied || a->has_unembedding != b->has_unembedding ||
        a->embedding_params != b->embedding_params ||
        a->unembedding_params != b->unembedding_params || a->head_params != 0 ||
        a->final_norm_params != b->final_norm_params)
        return false;
    for (int k = 0; k < a->n_layers; k++) {
        if (!is_same_layer(a, &a->layers[k], b, &b->layers[k]))
            return false;
    }
    return true;
}

ridge_status launch_dims_of(ridge_ctx *cx, const ridge_model *model, launch_dims *out)
{
    launch_dims d = {.layers = model->layer_count,
                     .d_model = model->d_model,
                     .vocab = model->vocab,
                     .positions = model->max_positions,
                     .is_tied = model->is_tied,
                     .is_layer_norm = model->final_norm_params == 2 * model->d_model};
    const int64_t table = model->vocab * model->d_model;
    const ridge_model *built = NULL;
    d.has_learned_positions = model->embedding_params > table;
    if (d.has_learned_positions)
        d.positions = (model->embedding_params - table) / model->d_model;
    for (int k = 0; k < model->n_layers; k++) {
        read_mixer(&model->layers[k].mixer, &d);
        read_ffn(&model->layers[k].ffn, &d);
    }
    RIDGE_TRY(read_pattern(cx, model, &d));
    ridge_status st = launch_dims_model(cx, &d, model->name, &built);
    if (st == RIDGE_E_NOMEM)
        return st;
    if (st != RIDGE_OK || !is_same_model(model, built)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s has parts that no list of sizes describes (%s): write "
                          "its model definition in the framework, and export to jax",
                          model->name, model->model_type);
    }
    *out = d;
    return RIDGE_OK;
}
