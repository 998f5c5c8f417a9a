/*
 * Latent attention. In training and prefill keys and values of heads are made from the
 * latent; in decode they are absorbed: queries go through the key map to the latent,
 * attention meets the cached latents alone, and its output goes through the value map.
 * The maps cost the same either way; scores cost 2 N (2 R + HR) a met token absorbed
 * instead of 2 N (H + HV).
 * Further dims: Q, R ranks of queries and of keys and values, HN, HR head dims without
 * and with rotation; G groups of M heads, RO their rank; RC tokens to a compressed
 * entry, O overlapping blocks, SC entries, SN new ones.
 * @source deepseek-v2-2024, section 2.1
 */
#include "lower.h"

#include <math.h>

static int low_rank_queries(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (m->q_lora_rank == 0)
        return h;
    const int rank = ridge__lower_dim(l, "Q", m->q_lora_rank);
    const ridge__map q_a = {.out = "q_low",
                            .weight = "q_a",
                            .in = RIDGE__DIMS(l->dim_d),
                            .to = RIDGE__DIMS(rank),
                            .has_bias = m->has_qkv_bias};
    const int low = ridge__lower_map(l, h, &q_a);
    return ridge__lower_norm(l, "q_a_norm", low, RIDGE__DIMS(rank), 1);
}

static int last_dim(const ridge__lower *l, int tensor)
{
    const ridge_tensor *t = &l->b.p.tensors[tensor];
    return t->dims[t->n_dims - 1];
}

/* ---- keys and values of heads (DeepSeek-V2, V3) ---------------------------------- */

typedef struct latent {
    int n, hn, hr, hv, r; /* dims */
    int low;              /* low-rank queries, or h */
    int q, q_rope;        /* [B, T, N, HN], [B, T, N, HR] */
    int c, k_rope;        /* [B, T, R], [B, T, HR]; in decode the caches */
} latent;

static ridge__map map_of(const char *out, const char *weight, int in, ridge__dims to)
{
    return (ridge__map){.out = out, .weight = weight, .in = RIDGE__DIMS(in), .to = to};
}

static void make_queries(ridge__lower *l, latent *a, int h)
{
    a->low = low_rank_queries(l, h);
    if (ridge__builder_is_bad(&l->b))
        return;
    const int in = last_dim(l, a->low);
    const ridge__map plain = map_of("q", "wq", in, RIDGE__DIMS(a->n, a->hn));
    a->q = ridge__lower_map(l, a->low, &plain);
    if (a->hr < 0)
        return;
    const ridge__map turned =
        map_of("q_rope_raw", "wq_rope", in, RIDGE__DIMS(a->n, a->hr));
    a->q_rope = ridge__lower_map(l, a->low, &turned);
    a->q_rope = ridge__lower_rotary(l, "q_rope", a->q_rope);
}

static void make_latent(ridge__lower *l, latent *a, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    ridge__map down = map_of("c_raw", "kv_a", l->dim_d, RIDGE__DIMS(a->r));
    down.has_bias = m->has_qkv_bias;
    a->c = ridge__lower_map(l, h, &down);
    a->c = ridge__lower_norm(l, "kv_a_norm", a->c, RIDGE__DIMS(a->r), 1);
    a->c = ridge__lower_cache(l, "c", a->c, m->window);
    if (a->hr < 0)
        return;
    ridge__map turned = map_of("k_rope_raw", "wk_rope", l->dim_d, RIDGE__DIMS(a->hr));
    turned.has_bias = m->has_qkv_bias;
    a->k_rope = ridge__lower_map(l, h, &turned);
    a->k_rope = ridge__lower_rotary(l, "k_rope", a->k_rope);
    a->k_rope = ridge__lower_cache(l, "k_rope", a->k_rope, m->window);
}

static ridge__attend start_attend(ridge__lower *l, const latent *a)
{
    const ridge_mixer *m = &l->layer->mixer;
    return (ridge__attend){.q = a->q,
                           .k = -1,
                           .v = -1,
                           .q_rope = a->q_rope,
                           .k_rope = a->k_rope,
                           .sinks = ridge__lower_sinks(l, RIDGE__DIMS(a->n)),
                           .far = -1,
                           .chosen = -1,
                           .is_causal = ridge__lower_is_causal(l, m),
                           .window = m->window,
                           .context = ridge__lower_context(l, m)};
}

/* Keys and values of every head. */
static int attend_to_heads(ridge__lower *l, const latent *a, int h)
{
    const ridge__map key = map_of("k", "wk_b", a->r, RIDGE__DIMS(a->n, a->hn));
    const ridge__map value = map_of("v", "wv_b", a->r, RIDGE__DIMS(a->n, a->hv));
    ridge__attend attend = start_attend(l, a);
    attend.k = ridge__lower_map(l, a->c, &key);
    attend.v = ridge__lower_map(l, a->c, &value);
    attend.chosen = ridge__lower_index(l, h, a->low, -1);
    return ridge__lower_attend(l, &attend);
}

/* The same sums in another order: q (W c) = (q W) c. */
static int attend_absorbed(ridge__lower *l, const latent *a, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    ridge__attend attend = start_attend(l, a);
    const int key = ridge__lower_weight(l, "wk_b", RIDGE__DIMS(a->r, a->n, a->hn));
    const int value = ridge__lower_weight(l, "wv_b", RIDGE__DIMS(a->r, a->n, a->hv));
    attend.q = ridge__lower_einsum(l, "q_latent", a->q, key,
                                   RIDGE__DIMS(l->dim_b, l->dim_t, a->n, a->r));
    attend.k = attend.v = a->c;
    attend.scale = 1 / sqrt((double)m->head_dim);
    attend.chosen = ridge__lower_index(l, h, a->low, -1);
    const int o = ridge__lower_attend(l, &attend);
    return ridge__lower_einsum(l, "o_heads", o, value,
                               RIDGE__DIMS(l->dim_b, l->dim_t, a->n, a->hv));
}

int ridge__lower_mla(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    const bool has_rope = m->rope_head_dim > 0;
    l->part = RIDGE_PART_ATTENTION;
    latent a = {.n = ridge__lower_dim(l, "N", m->heads),
                .hn = ridge__lower_dim(l, "HN", m->head_dim - m->rope_head_dim),
                .hr = has_rope ? ridge__lower_dim(l, "HR", m->rope_head_dim) : -1,
                .hv = ridge__lower_dim(l, "HV", m->v_head_dim),
                .r = ridge__lower_dim(l, "R", m->kv_lora_rank),
                .q_rope = -1,
                .k_rope = -1};
    make_queries(l, &a, h);
    make_latent(l, &a, h);
    int o = ridge__lower_reads_cache(l) ? attend_absorbed(l, &a, h)
                                        : attend_to_heads(l, &a, h);
    o = ridge__lower_gate(l, h, o);
    return ridge__lower_attention_out(l, o, a.n, a.hv);
}

/* ---- latents alone, and compressed entries (DeepSeek-V4) ------------------------- */

/* Entries of RC tokens each, made from h: softmax-weighted sums over overlapping
 * blocks. Names start with a stem: "compress", "index". */
typedef struct pooling {
    const char *values, *gates;                    /* names of what is pooled */
    const char *w_values, *w_gates, *table, *norm; /* of weights */
    const char *out;
    int width; /* dim of an entry */
    int64_t overlap;
} pooling;

/* Entries that the cache holds beyond the window, or all of this call's. */
static int64_t entries(const ridge__lower *l, int64_t tokens)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (ridge__lower_has_cache(l) && tokens > m->window)
        tokens -= m->window;
    return ridge_ceil_div(tokens, m->compress_ratio);
}

static int keep_entries(ridge__lower *l, const pooling *p, int pooled)
{
    if (!ridge__lower_has_cache(l) || ridge__builder_is_bad(&l->b))
        return pooled;
    const int sc = ridge__lower_dim(l, "SC", entries(l, l->how.context_tokens));
    const char *name = ridge_sprintf(l->b.arena, "%s_cache", p->out);
    if (name == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    const int cache =
        ridge__lower_state(l, name, l->how.cache, RIDGE__DIMS(l->dim_b, sc, p->width));
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_ELEMENTWISE, NULL);
    op.name = name;
    op.part = RIDGE_PART_ATTENTION;
    op.function = RIDGE_FUNCTION_APPEND;
    op.n_inputs = op.n_outputs = 1;
    op.inputs[0] = pooled;
    op.outputs[0] = cache;
    ridge__builder_op(&l->b, &op);
    return ridge__lower_reads_cache(l) ? cache : pooled;
}

static int pool(ridge__lower *l, const pooling *p, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    const int o = ridge__lower_dim(l, "O", p->overlap);
    const int rc = ridge__lower_dim(l, "RC", m->compress_ratio);
    const ridge__map values =
        map_of(p->values, p->w_values, l->dim_d, RIDGE__DIMS(o, p->width));
    const ridge__map gates =
        map_of(p->gates, p->w_gates, l->dim_d, RIDGE__DIMS(o, p->width));
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_SCAN, NULL);
    op.part = RIDGE_PART_ATTENTION;
    op.scan = RIDGE_SCAN_POOL;
    op.n_inputs = 3;
    op.inputs[0] = ridge__lower_map(l, h, &values);
    op.inputs[1] = ridge__lower_map(l, h, &gates);
    op.inputs[2] = ridge__lower_weight(l, p->table, RIDGE__DIMS(rc, o, p->width));
    const int64_t made = ridge_ceil_div(l->tokens, m->compress_ratio);
    const int sn = ridge__lower_dim(l, "SN", made);
    int y = ridge__lower_op(l, &op, p->out, RIDGE__DIMS(l->dim_b, sn, p->width));
    y = ridge__lower_norm(l, p->norm, y, RIDGE__DIMS(p->width), 1);
    return keep_entries(l, p, y);
}

/* Entries, and which of them are met. */
static void attend_far(ridge__lower *l, ridge__attend *a, int h, int low, int dim_h)
{
    enum { OVERLAPPING_RATIO = 4 };
    const ridge_mixer *m = &l->layer->mixer;
    if (m->compress_ratio == 0 && m->index_heads > 0 && !ridge__builder_is_bad(&l->b)) {
        ridge__builder_fail(&l->b, ridge_fail(l->b.cx, RIDGE_E_ARG,
                                              "an indexer of compressed entries, and "
                                              "no compress_ratios: give both or none"));
    }
    if (m->compress_ratio == 0)
        return;
    const int64_t overlap = m->compress_ratio == OVERLAPPING_RATIO ? 2 : 1;
    const pooling keys = {.values = "far_values",
                          .gates = "far_gates",
                          .w_values = "compress_values",
                          .w_gates = "compress_gates",
                          .table = "compress_table",
                          .norm = "compress_norm",
                          .out = "far",
                          .width = dim_h,
                          .overlap = overlap};
    a->far = pool(l, &keys, h);
    if (m->index_heads == 0)
        return;
    const pooling index = {.values = "index_far_values",
                           .gates = "index_far_gates",
                           .w_values = "index_values",
                           .w_gates = "index_gates",
                           .table = "index_table",
                           .norm = "index_norm",
                           .out = "index_far",
                           .width = ridge__lower_dim(l, "HI", m->index_head_dim),
                           .overlap = 2};
    a->chosen = ridge__lower_index(l, h, low, pool(l, &index, h));
}

/* Heads in groups, each with a rank of its own, then to D. */
static int grouped_out(ridge__lower *l, int o, ridge__dims heads, int dim_h)
{
    const ridge_mixer *m = &l->layer->mixer;
    const int g = heads.d[0], n = heads.d[1];
    const int ro = ridge__lower_dim(l, "RO", m->o_lora_rank);
    const int first = ridge__lower_weight(l, "o_a", RIDGE__DIMS(g, n, dim_h, ro));
    const int low = ridge__lower_einsum(l, "o_low", o, first,
                                        RIDGE__DIMS(l->dim_b, l->dim_t, g, ro));
    const ridge__map second = {.out = "attention",
                               .weight = "o_b",
                               .in = RIDGE__DIMS(g, ro),
                               .to = RIDGE__DIMS(l->dim_d)};
    return ridge__lower_map(l, low, &second);
}

int ridge__lower_latent(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    l->part = RIDGE_PART_ATTENTION;
    if (m->o_groups < 1 || m->heads % m->o_groups != 0) {
        ridge__builder_fail(&l->b,
                            ridge_fail(l->b.cx, RIDGE_E_ARG,
                                       "%lld heads in %lld groups: groups must "
                                       "divide the heads",
                                       (long long)m->heads, (long long)m->o_groups));
        return -1;
    }
    const int g = ridge__lower_dim(l, "G", m->o_groups);
    const int n = ridge__lower_dim(l, "M", m->heads / m->o_groups);
    const int dim_h = ridge__lower_dim(l, "H", m->head_dim);
    const int low = low_rank_queries(l, h);
    if (ridge__builder_is_bad(&l->b))
        return -1;
    const int in = last_dim(l, low);
    const int wq = ridge__lower_weight(l, "wq", RIDGE__DIMS(in, g, n, dim_h));
    int q = ridge__lower_einsum(l, "q", low, wq,
                                RIDGE__DIMS(l->dim_b, g, l->dim_t, n, dim_h));
    q = ridge__lower_rotary(l, "q_rotary", q);
    const ridge__map wkv = map_of("kv_raw", "wkv", l->dim_d, RIDGE__DIMS(dim_h));
    int kv = ridge__lower_map(l, h, &wkv);
    kv = ridge__lower_norm(l, "kv_norm", kv, RIDGE__DIMS(dim_h), 1);
    kv = ridge__lower_rotary(l, "kv", kv);
    kv = ridge__lower_cache(l, "kv", kv, m->window);
    ridge__attend a = {.q = q,
                       .k = kv,
                       .v = kv,
                       .q_rope = -1,
                       .k_rope = -1,
                       .sinks = ridge__lower_sinks(l, RIDGE__DIMS(g, n)),
                       .far = -1,
                       .chosen = -1,
                       .is_causal = ridge__lower_is_causal(l, m),
                       .window = m->window,
                       .context = ridge__lower_context(l, m)};
    attend_far(l, &a, h, low, dim_h);
    return grouped_out(l, ridge__lower_attend(l, &a), RIDGE__DIMS(g, n), dim_h);
}
