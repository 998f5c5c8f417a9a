/*
 * Mixers with a state instead of a cache: gated delta net, linear attention with decay,
 * Mamba-2, gated short convolution. Each is maps, short convolutions, a scan, a gate
 * and a map back. Scans state the model layer's FLOPs. Further dims: A state per key
 * head, P channels of a value head, W taps, W1 taps kept, I channels of a convolution,
 * GR, DR ranks of gate and decay.
 * @source yang2024-deltanet, qin2024, dao2024-mamba2
 */
#include "lower.h"

#include <string.h>

/* Heads of keys and values. */
typedef struct scan_dims {
    int k, a, n, p; /* dims K, A, N, P */
} scan_dims;

static ridge__dims with_batch(const ridge__lower *l, ridge__dims tail)
{
    ridge__dims dims = {.n = 2, .d = {l->dim_b, l->dim_t}};
    for (int i = 0; i < tail.n; i++)
        dims.d[dims.n++] = tail.d[i];
    return dims;
}

/* A map of h; map.in is set here. */
static int map_from_d(ridge__lower *l, int h, ridge__map map)
{
    map.in = RIDGE__DIMS(l->dim_d);
    return ridge__lower_map(l, h, &map);
}

static int map_out(ridge__lower *l, int o, ridge__dims in, bool has_bias)
{
    const ridge__map map = {.out = "mixed",
                            .weight = "wo",
                            .in = in,
                            .to = RIDGE__DIMS(l->dim_d),
                            .has_bias = has_bias};
    return ridge__lower_map(l, o, &map);
}

/* ---- convolutions ---------------------------------------------------------------- */

/* The last inputs, kept for the next call. */
static int kept_taps(ridge__lower *l, const char *base, ridge__dims channels)
{
    const int64_t taps = l->layer->mixer.conv_kernel;
    const char *name = ridge_sprintf(l->b.arena, "%s_tail", base);
    if (name == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    if (taps < 2 || !ridge__lower_has_cache(l))
        return -1;
    ridge__dims dims = {.n = 1, .d = {l->dim_b}};
    for (int i = 0; i < channels.n; i++)
        dims.d[dims.n++] = channels.d[i];
    dims.d[dims.n++] = ridge__lower_dim(l, "WT", taps - 1);
    return ridge__lower_state(l, name, l->how.cache, dims);
}

int ridge__lower_taps(ridge__lower *l, const char *base, int x, ridge__dims channels,
                      bool has_bias)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    const char *weight = ridge_sprintf(l->b.arena, "conv_%s", base);
    const char *bias = ridge_sprintf(l->b.arena, "conv_%s_bias", base);
    const char *out = ridge_sprintf(l->b.arena, "%s_taps", base);
    if (weight == NULL || bias == NULL || out == NULL) {
        ridge__builder_fail_nomem(&l->b);
        return -1;
    }
    ridge__dims taps = channels;
    taps.d[taps.n++] = ridge__lower_dim(l, "W", l->layer->mixer.conv_kernel);
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_SCAN, NULL);
    op.part = l->part;
    op.scan = RIDGE_SCAN_CONVOLUTION;
    op.inputs[op.n_inputs++] = x;
    op.inputs[op.n_inputs++] = ridge__lower_weight(l, weight, taps);
    if (has_bias)
        op.inputs[op.n_inputs++] = ridge__lower_weight(l, bias, channels);
    const int tail = kept_taps(l, base, channels);
    const int y = ridge__lower_op(l, &op, out, with_batch(l, channels));
    if (tail >= 0 && !ridge__builder_is_bad(&l->b)) {
        ridge_operation *made = &l->b.p.ops[l->b.p.n_ops - 1];
        made->outputs[made->n_outputs++] = tail;
    }
    return y;
}

/* Taps and SiLU, where the mixer has taps. */
static int smoothed(ridge__lower *l, const char *base, const char *out, int x,
                    ridge__dims channels)
{
    const ridge_mixer *m = &l->layer->mixer;
    if (m->conv_kernel < 1)
        return x;
    const int y = ridge__lower_taps(l, base, x, channels, m->has_conv_bias);
    return ridge__lower_function(l, out, RIDGE_FUNCTION_SILU, y, -1);
}

/* ---- the scan -------------------------------------------------------------------- */

typedef struct scan_inputs {
    ridge_scan kind;
    int q, k, v, decay, step; /* tensors; -1: none */
} scan_inputs;

static int scan(ridge__lower *l, const scan_dims *d, scan_inputs in)
{
    if (ridge__builder_is_bad(&l->b))
        return -1;
    ridge_operation op = ridge__operation_new(RIDGE_OPCODE_SCAN, NULL);
    op.part = l->part;
    op.scan = in.kind;
    op.is_causal = true;
    op.scan_flops_per_token = ridge__lower_scan_flops(l);
    op.inputs[op.n_inputs++] = in.q;
    op.inputs[op.n_inputs++] = in.k;
    op.inputs[op.n_inputs++] = in.v;
    if (in.decay >= 0)
        op.inputs[op.n_inputs++] = in.decay;
    if (in.step >= 0)
        op.inputs[op.n_inputs++] = in.step;
    /* Engines hold states in fp32 whatever the cache's format. */
    const int state = ridge__lower_state(l, "state", RIDGE_DTYPE_FP32,
                                         RIDGE__DIMS(l->dim_b, d->n, d->a, d->p));
    const int o = ridge__lower_op(l, &op, "o", with_batch(l, RIDGE__DIMS(d->n, d->p)));
    if (state >= 0 && !ridge__builder_is_bad(&l->b)) {
        ridge_operation *made = &l->b.p.ops[l->b.p.n_ops - 1];
        made->outputs[made->n_outputs++] = state;
    }
    return o;
}

/* A decay from a map of h: softplus of it and a bias, times the rate of the head, of
 * which the logarithm is learned. @param step  out: the softplus alone */
static int scaled_decay(ridge__lower *l, int raw, ridge__dims bias, ridge__dims rate,
                        int *step)
{
    const int biased = ridge__lower_bias(l, "decay_biased", raw, "dt_bias", bias);
    const int a_log = ridge__lower_weight(l, "a_log", rate);
    const int a = ridge__lower_function(l, "decay_rate", RIDGE_FUNCTION_EXP, a_log, -1);
    *step = ridge__lower_function(l, "decay_step", RIDGE_FUNCTION_SOFTPLUS, biased, -1);
    return ridge__lower_function(l, "decay", RIDGE_FUNCTION_MULTIPLY, *step, a);
}

int ridge__lower_delta(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    l->part = RIDGE_PART_ATTENTION;
    const scan_dims d = {.k = ridge__lower_dim(l, "K", m->key_heads),
                         .a = ridge__lower_dim(l, "A", m->key_head_dim),
                         .n = ridge__lower_dim(l, "N", m->value_heads),
                         .p = ridge__lower_dim(l, "P", m->value_head_dim)};
    const ridge__dims keys = RIDGE__DIMS(d.k, d.a), values = RIDGE__DIMS(d.n, d.p);
    const ridge__dims heads = RIDGE__DIMS(d.n);
    int q = map_from_d(l, h, (ridge__map){.out = "q", .weight = "wq", .to = keys});
    int k = map_from_d(l, h, (ridge__map){.out = "k", .weight = "wk", .to = keys});
    int v = map_from_d(l, h, (ridge__map){.out = "v", .weight = "wv", .to = values});
    const int z =
        map_from_d(l, h, (ridge__map){.out = "z", .weight = "wz", .to = values});
    const int beta_raw =
        map_from_d(l, h, (ridge__map){.out = "beta_raw", .weight = "wb", .to = heads});
    const int decay_raw =
        map_from_d(l, h, (ridge__map){.out = "decay_raw", .weight = "wa", .to = heads});
    q = smoothed(l, "q", "q_smooth", q, keys);
    k = smoothed(l, "k", "k_smooth", k, keys);
    v = smoothed(l, "v", "v_smooth", v, values);
    const int beta =
        ridge__lower_function(l, "beta", RIDGE_FUNCTION_SIGMOID, beta_raw, -1);
    int time_step;
    const int decay = scaled_decay(l, decay_raw, heads, heads, &time_step);
    int o = scan(l, &d, (scan_inputs){RIDGE_SCAN_DELTA, q, k, v, decay, beta});
    o = ridge__lower_norm(l, "o_norm", o, RIDGE__DIMS(d.p), 1);
    o = ridge__lower_function(l, "o_gated", RIDGE_FUNCTION_SWIGLU, z, o);
    return map_out(l, o, values, false);
}

/* ---- linear attention with decay ------------------------------------------------- */

/* From D to a width, straight or through a rank. */
typedef struct rank_path {
    const char *low, *out;      /* names of what is made */
    const char *first, *second; /* of weights */
    const char *letter;         /* of the rank's dim */
    int64_t rank;               /* 0: straight, with the second weight alone */
    ridge__dims to;
} rank_path;

static int through_rank(ridge__lower *l, int h, const rank_path *p)
{
    ridge__map up = {.out = p->out, .weight = p->second, .to = p->to};
    if (p->rank == 0)
        return map_from_d(l, h, up);
    const int dim = ridge__lower_dim(l, p->letter, p->rank);
    const ridge__map down = {.out = p->low, .weight = p->first, .to = RIDGE__DIMS(dim)};
    up.in = RIDGE__DIMS(dim);
    return ridge__lower_map(l, map_from_d(l, h, down), &up);
}

/* A decay for each channel and a step for each head. */
static int channel_decay(ridge__lower *l, const scan_dims *d, int h, int *step)
{
    const ridge__dims keys = RIDGE__DIMS(d->k, d->a), heads = RIDGE__DIMS(d->k);
    const rank_path path = {.low = "decay_low",
                            .out = "decay_raw",
                            .first = "decay_a",
                            .second = "decay_b",
                            .letter = "DR",
                            .rank = l->layer->mixer.decay_rank,
                            .to = keys};
    const int raw = through_rank(l, h, &path);
    const int step_raw = map_from_d(
        l, h,
        (ridge__map){.out = "step_raw", .weight = "step", .to = RIDGE__DIMS(d->n)});
    int time_step;
    *step =
        ridge__lower_function(l, "step_share", RIDGE_FUNCTION_SIGMOID, step_raw, -1);
    return scaled_decay(l, raw, keys, heads, &time_step);
}

int ridge__lower_lightning(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    l->part = RIDGE_PART_ATTENTION;
    const scan_dims d = {.k = ridge__lower_dim(l, "K", m->key_heads),
                         .a = ridge__lower_dim(l, "A", m->key_head_dim),
                         .n = ridge__lower_dim(l, "N", m->value_heads),
                         .p = ridge__lower_dim(l, "P", m->value_head_dim)};
    const ridge__dims keys = RIDGE__DIMS(d.k, d.a), values = RIDGE__DIMS(d.n, d.p);
    int q = map_from_d(l, h, (ridge__map){.out = "q", .weight = "wq", .to = keys});
    int k = map_from_d(l, h, (ridge__map){.out = "k", .weight = "wk", .to = keys});
    int v = map_from_d(l, h, (ridge__map){.out = "v", .weight = "wv", .to = values});
    q = smoothed(l, "q", "q_smooth", q, keys);
    k = smoothed(l, "k", "k_smooth", k, keys);
    v = smoothed(l, "v", "v_smooth", v, values);
    const bool has_decay = m->decay_rank > 0;
    int step = -1;
    const int decay = has_decay ? channel_decay(l, &d, h, &step) : -1;
    const ridge_scan kind = has_decay ? RIDGE_SCAN_DELTA : RIDGE_SCAN_LINEAR;
    const rank_path path = {.low = "gate_low",
                            .out = "gate_raw",
                            .first = "gate_a",
                            .second = "gate_b",
                            .letter = "GR",
                            .rank = m->gate_rank,
                            .to = values};
    const int gate_raw = through_rank(l, h, &path);
    int o = scan(l, &d, (scan_inputs){kind, q, k, v, decay, step});
    o = ridge__lower_norm(l, "o_norm", o, has_decay ? RIDGE__DIMS(d.p) : values, 1);
    const int gate =
        ridge__lower_function(l, "gate_share", RIDGE_FUNCTION_SIGMOID, gate_raw, -1);
    o = ridge__lower_function(l, "o_gated", RIDGE_FUNCTION_MULTIPLY, o, gate);
    return map_out(l, o, values, false);
}

/* ---- state space ----------------------------------------------------------------- */

/* A product from D, with a bias where the mixer's products have one. */
static int map_biased(ridge__lower *l, int h, const char *out, const char *weight,
                      ridge__dims to)
{
    return map_from_d(l, h,
                      (ridge__map){.out = out,
                                   .weight = weight,
                                   .to = to,
                                   .has_bias = l->layer->mixer.has_proj_bias});
}

int ridge__lower_ssm(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    const bool has_bias = m->has_proj_bias;
    l->part = RIDGE_PART_ATTENTION;
    const scan_dims d = {.k = ridge__lower_dim(l, "K", m->state_groups),
                         .a = ridge__lower_dim(l, "A", m->state_size),
                         .n = ridge__lower_dim(l, "N", m->heads),
                         .p = ridge__lower_dim(l, "P", m->head_dim)};
    const ridge__dims keys = RIDGE__DIMS(d.k, d.a), values = RIDGE__DIMS(d.n, d.p);
    const ridge__dims heads = RIDGE__DIMS(d.n);
    const int z = map_biased(l, h, "z", "wz", values);
    int x = map_biased(l, h, "x_in", "wx", values);
    int b = map_biased(l, h, "b", "wb", keys);
    int c = map_biased(l, h, "c", "wc", keys);
    const int raw = map_biased(l, h, "decay_raw", "wdt", heads);
    x = smoothed(l, "x", "x_smooth", x, values);
    b = smoothed(l, "b", "b_smooth", b, keys);
    c = smoothed(l, "c", "c_smooth", c, keys);
    int step;
    const int decay = scaled_decay(l, raw, heads, heads, &step);
    const int state =
        scan(l, &d, (scan_inputs){RIDGE_SCAN_LINEAR, c, b, x, decay, step});
    const int skip = ridge__lower_weight(l, "skip", heads);
    const int past =
        ridge__lower_function(l, "x_skip", RIDGE_FUNCTION_MULTIPLY, x, skip);
    int o = ridge__lower_function(l, "o_sum", RIDGE_FUNCTION_ADD, state, past);
    o = ridge__lower_function(l, "o_gated", RIDGE_FUNCTION_SWIGLU, z, o);
    o = ridge__lower_norm(l, "o_norm", o, values, 1);
    if (!ridge__builder_is_bad(&l->b))
        l->b.p.ops[l->b.p.n_ops - 1].norm_groups = m->norm_groups;
    return map_out(l, o, values, has_bias);
}

/* ---- gated short convolution ----------------------------------------------------- */

int ridge__lower_convolution(ridge__lower *l, int h)
{
    const ridge_mixer *m = &l->layer->mixer;
    const bool has_bias = m->has_proj_bias;
    l->part = RIDGE_PART_ATTENTION;
    const ridge__dims inner = RIDGE__DIMS(ridge__lower_dim(l, "I", l->model->d_model));
    const int b = map_biased(l, h, "b", "wb", inner);
    const int c = map_biased(l, h, "c", "wc", inner);
    const int x = map_biased(l, h, "x_in", "wx", inner);
    int y = ridge__lower_function(l, "bx", RIDGE_FUNCTION_MULTIPLY, b, x);
    y = ridge__lower_taps(l, "bx", y, inner, m->has_conv_bias);
    y = ridge__lower_function(l, "cy", RIDGE_FUNCTION_MULTIPLY, c, y);
    return map_out(l, y, inner, has_bias);
}
