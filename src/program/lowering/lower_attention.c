/*
 * Attention over heads: MHA, GQA, MQA, windows, cross-attention.
 * Further dims: GW outputs of a gate of its own, NI HI heads and head dim of a sparse
 * indexer, J tokens that it chooses.
 */
#include "lower.h"

typedef struct heads {
    int n, k, h, hv; /* dims N, K, H, HV */
} heads;

static heads head_dims(ridge__lower *l)
{
    const ridge_mixer *m = &l->layer->mixer;
    const int64_t v_head_dim = m->v_head_dim > 0 ? m->v_head_dim : m->head_dim;
    heads d = {.n = ridge__lower_dim(l, "N", m->heads),
               .h = ridge__lower_dim(l, "H", m->head_dim)};
    d.k = ridge__lower_dim(l, "K", m->kv_heads > 0 ? m->kv_heads : m->heads);
    d.hv = v_head_dim == m->head_dim ? d.h : ridge__lower_dim(l, "HV", v_head_dim);
    return d;
}

/* ---- queries, keys, values ------------------------------------------------------- */

/* Norms of queries and keys: of each head dim, with biases, or over all heads. */
static void add_qk_norms(ridge__lower *l, const heads *d, int *q, int *k)
{
    const ridge_mixer *m = &l->layer->mixer;
    const int64_t width = m->qk_norm_width, h = m->head_dim;
    const bool is_each = width == (m->heads + m->kv_heads) * h;
    const bool is_head = width == 2 * h || width == 4 * h;
    if (width == 0)
        return;
    if (*k < 0 || (!is_each && !is_head)) {
        ridge__lower_unread(l, "qk_norm", width);
        return;
    }
    const int vectors = !is_each && width == 4 * h ? 2 : 1;
    const ridge__dims one = RIDGE__DIMS(d->h), of_q = RIDGE__DIMS(d->n, d->h),
                      of_k = RIDGE__DIMS(d->k, d->h);
    *q = ridge__lower_norm(l, "q_norm", *q, is_each ? of_q : one, vectors);
    *k = ridge__lower_norm(l, "k_norm", *k, is_each ? of_k : one, vectors);
}

/* Keys and values made from a source [B, S, D]; k before its norm. */
static ridge__keys make_keys(ridge__lower *l, const heads *d, int source)
{
    const ridge_mixer *m = &l->layer->mixer;
    const ridge__map wk = {.out = "k",
                           .weight = "wk",
                           .in = RIDGE__DIMS(l->dim_d),
                           .to = RIDGE__DIMS(d->k, d->h),
                           .has_bias = m->has_qkv_bias && !m->is_key_unbiased};
    const ridge__map wv = {.out = "v",
                           .weight = "wv",
                           .in = RIDGE__DIMS(l->dim_d),
                           .to = RIDGE__DIMS(d->k, d->hv),
                           .has_bias = m->has_qkv_bias};
    ridge__keys keys = {.k = ridge__lower_map(l, source, &wk)};
    keys.v = m->has_joint_kv ? keys.k : ridge__lower_map(l, source, &wv);
    return keys;
}

/* The source's keys and values in decode: made once, by the prefill. */
static ridge__keys kept_source_keys(ridge__lower *l, const heads *d)
{
    const int s = ridge__lower_dim(l, "S", l->how.context_tokens);
    return (ridge__keys){.k = ridge__lower_state(l, "k_cache", l->how.cache,
                                                 RIDGE__DIMS(l->dim_b, s, d->k, d->h)),
                         .v =
                             ridge__lower_state(l, "v_cache", l->how.cache,
                                                RIDGE__DIMS(l->dim_b, s, d->k, d->hv))};
}

static ridge__keys earlier_keys(ridge__lower *l)
{
    const ridge__keys keys = l->last_keys[l->layer->mixer.window > 0];
    if (keys.k < 0 && !ridge__builder_is_bad(&l->b)) {
        ridge__builder_fail(&l->b,
                            ridge_fail(l->b.cx, RIDGE_E_ARG,
                                       "a layer borrows keys and values, and no layer "
                                       "before it has any"));
    }
    return keys;
}

/* Queries and keys as attention meets them: norms, rotation, cache. */
static ridge__keys finish_keys(ridge__lower *l, const heads *d, bool is_cross, int *q,
                               ridge__keys keys)
{
    const ridge_mixer *m = &l->layer->mixer;
    const int raw = keys.k;
    add_qk_norms(l, d, q, &keys.k);
    if (!is_cross) {
        *q = ridge__lower_rotary(l, "q_rotary", *q);
        keys.k = ridge__lower_rotary(l, "k_rotary", keys.k);
    }
    if (keys.v == raw && keys.k != raw)
        keys.v = raw; /* joint keys and values part at the rotation */
    if (is_cross)
        return keys;
    keys.k = ridge__lower_cache(l, "k", keys.k, m->window);
    keys.v = ridge__lower_cache(l, "v", keys.v, m->window);
    l->last_keys[m->window > 0] = keys;
    return keys;
}

static ridge__keys read_keys(ridge__lower *l, const heads *d, int source, bool is_cross,
                             int *q)
{
    if (l->layer->mixer.has_shared_kv) {
        int none = -1;
        add_qk_norms(l, d, q, &none);
        *q = ridge__lower_rotary(l, "q_rotary", *q);
        return earlier_keys(l);
    }
    if (is_cross && l->how.phase == RIDGE_PHASE_DECODE) {
        int none = -1;
        add_qk_norms(l, d, q, &none);
        return kept_source_keys(l, d);
    }
    return finish_keys(l, d, is_cross, q, make_keys(l, d, source));
}

/* ---- gates, sinks, output -------------------------------------------------------- */

int ridge__lower_sinks(ridge__lower *l, ridge__dims over)
{
    return l->layer->mixer.has_sinks ? ridge__lower_weight(l, "sinks", over) : -1;
}

static int gate_times(ridge__lower *l, int gate, int o)
{
    const int share =
        ridge__lower_function(l, "o_gate", RIDGE_FUNCTION_SIGMOID, gate, -1);
    return ridge__lower_function(l, "o_gated", RIDGE_FUNCTION_MULTIPLY, o, share);
}

int ridge__lower_gate(ridge__lower *l, int h, int o)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (m->gate_width == 0 || ridge__builder_is_bad(&l->b))
        return o;
    const ridge_tensor *t = &l->b.p.tensors[o];
    const int n = t->dims[t->n_dims - 2], hv = t->dims[t->n_dims - 1];
    ridge__map wg = {.out = "o_gate_raw", .weight = "wg", .in = RIDGE__DIMS(l->dim_d)};
    if (m->gate_width == m->heads) {
        wg.to = RIDGE__DIMS(n);
    } else if (m->gate_width == m->heads * l->b.p.dims[hv].size) {
        wg.to = RIDGE__DIMS(n, hv);
    } else { /* of a width that is told nowhere: computed, but not applied */
        wg.to = RIDGE__DIMS(ridge__lower_dim(l, "GW", m->gate_width));
        ridge__lower_map(l, h, &wg);
        return o;
    }
    return gate_times(l, ridge__lower_map(l, h, &wg), o);
}

/* A gate that is half of the query projection. */
static int out_gate(ridge__lower *l, const heads *d, int h, int o)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (!m->has_out_gate)
        return o;
    const ridge__map wq = {.out = "q_gate",
                           .weight = "wq_gate",
                           .in = RIDGE__DIMS(l->dim_d),
                           .to = RIDGE__DIMS(d->n, d->h),
                           .has_bias = m->has_qkv_bias};
    const int gate = ridge__lower_map(l, h, &wq);
    return d->h == d->hv ? gate_times(l, gate, o) : o;
}

int ridge__lower_attention_out(ridge__lower *l, int o, int n, int hv)
{
    const ridge__map wo = {.out = "attention",
                           .weight = "wo",
                           .in = RIDGE__DIMS(n, hv),
                           .to = RIDGE__DIMS(l->dim_d),
                           .has_bias = l->layer->mixer.has_out_bias};
    return ridge__lower_map(l, o, &wo);
}

int ridge__lower_attention(ridge__lower *l, int h, int source, bool is_cross)
{
    const ridge_mixer *m = &l->layer->mixer;
    const heads d = head_dims(l);
    const ridge__map wq = {.out = "q",
                           .weight = "wq",
                           .in = RIDGE__DIMS(l->dim_d),
                           .to = RIDGE__DIMS(d.n, d.h),
                           .has_bias = m->has_qkv_bias};
    l->part = RIDGE_PART_ATTENTION;
    int q = ridge__lower_map(l, h, &wq);
    const ridge__keys keys = read_keys(l, &d, source, is_cross, &q);
    ridge__attend a = {.q = q,
                       .k = keys.k,
                       .v = keys.v,
                       .q_rope = -1,
                       .k_rope = -1,
                       .sinks = -1,
                       .far = -1,
                       .chosen = -1};
    if (!is_cross) {
        a.sinks = ridge__lower_sinks(l, RIDGE__DIMS(d.n));
        a.chosen = ridge__lower_index(l, h, h, -1);
        a.is_causal = ridge__lower_is_causal(l, m);
        a.window = m->window;
        a.context = ridge__lower_context(l, m);
    }
    int o = ridge__lower_attend(l, &a);
    o = out_gate(l, &d, h, o);
    o = ridge__lower_gate(l, h, o);
    return ridge__lower_attention_out(l, o, d.n, d.hv);
}

/* ---- the sparse indexer ---------------------------------------------------------- */

/* Keys of one head, and for plain attention a norm of both. */
static int index_keys(ridge__lower *l, int h, int dim_hi, int vectors)
{
    const ridge__map wk = {.out = "index_k",
                           .weight = "index_wk",
                           .in = RIDGE__DIMS(l->dim_d),
                           .to = RIDGE__DIMS(dim_hi)};
    int k = ridge__lower_map(l, h, &wk);
    k = ridge__lower_norm(l, "index_k_norm", k, RIDGE__DIMS(dim_hi), vectors);
    return ridge__lower_cache(l, "index_k", k, 0);
}

/* Indices of the chosen tokens among those of the keys. */
static int choose(ridge__lower *l, int q, int k, int weights)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (ridge__builder_is_bad(&l->b))
        return -1;
    const ridge_tensor *keys = &l->b.p.tensors[k];
    const int64_t all = l->b.p.dims[keys->dims[keys->n_dims - 2]].size;
    const int64_t most = m->index_topk > 0 && m->index_topk < all ? m->index_topk : all;
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_SCAN, NULL);
    op.part = RIDGE_PART_ATTENTION;
    op.scan = RIDGE_SCAN_SELECT;
    op.is_causal = ridge__lower_is_causal(l, m);
    op.scan_flops_per_token = ridge__lower_index_flops(l);
    op.n_inputs = weights < 0 ? 2 : 3;
    op.inputs[0] = q;
    op.inputs[1] = k;
    op.inputs[2] = weights < 0 ? 0 : weights;
    const int chosen = ridge__lower_dim(l, "J", most);
    return ridge__lower_op(l, &op, "chosen", RIDGE__DIMS(l->dim_b, l->dim_t, chosen));
}

int ridge__lower_index(ridge__lower *l, int h, int queries, int keys)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (m->index_heads == 0 || ridge__builder_is_bad(&l->b))
        return -1;
    const bool is_plain = m->kind == RIDGE_MIXER_ATTENTION;
    const int ni = ridge__lower_dim(l, "NI", m->index_heads);
    const int hi = ridge__lower_dim(l, "HI", m->index_head_dim);
    const ridge_tensor *source = &l->b.p.tensors[queries];
    const ridge__map wq = {.out = "index_q",
                           .weight = "index_wq",
                           .in = RIDGE__DIMS(source->dims[source->n_dims - 1]),
                           .to = RIDGE__DIMS(ni, hi)};
    const ridge__map weigh = {.out = "index_w",
                              .weight = "index_weights",
                              .in = RIDGE__DIMS(l->dim_d),
                              .to = RIDGE__DIMS(ni)};
    int q = ridge__lower_map(l, queries, &wq);
    if (is_plain)
        q = ridge__lower_norm(l, "index_q_norm", q, RIDGE__DIMS(hi), 1);
    const int weights = is_plain ? -1 : ridge__lower_map(l, h, &weigh);
    if (keys < 0)
        keys = index_keys(l, h, hi, is_plain ? 1 : 2);
    return choose(l, q, keys, weights);
}
