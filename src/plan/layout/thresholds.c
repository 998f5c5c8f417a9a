/*
 * The plain rooflines of training layouts: where communication begins to bind. A layer
 * is two matmuls [B, D] x [D, F] x [F, D]; alpha = C / W is the FLOPs that a chip can
 * do while one byte crosses one network axis.
 */
#include "ridge/plan.h"

#include <math.h>

/* @source scaling-book-2025, chapter 5, data parallelism: B / X > C / (W axes) */
double ridge_threshold_dp(double alpha, double axes)
{
    return alpha / axes;
}

/* @source scaling-book-2025, chapter 5, combining FSDP and tensor parallelism */
double ridge_threshold_mixed(double alpha, double m_x, double m_y, double d_ff)
{
    return 4 * alpha * alpha / (m_x * m_y * d_ff);
}

/* @source scaling-book-2025, chapter 5, tensor parallelism: Y < axes F W / C */
double ridge_threshold_tp(double alpha, double axes, double d_ff)
{
    return axes * d_ff / alpha;
}

/* @source scaling-book-2025, chapter 5: X = sqrt(B / F  M_X / M_Y  N) */
double ridge_fsdp_optimal(double batch_tokens, double d_ff, double m_x, double m_y,
                          double chips)
{
    return sqrt(batch_tokens / d_ff * m_x / m_y * chips);
}

double ridge_threshold_tp_nodes(double alpha_node, double node_chips, double d_ff)
{
    return node_chips + d_ff / alpha_node;
}

double ridge_threshold_dp_spanned(double alpha_node, double nodes)
{
    return alpha_node / fmax(nodes, 1);
}

double ridge_threshold_dp_experts(double alpha, double experts,
                                  double experts_per_token)
{
    return alpha * experts / experts_per_token;
}

/* @source scaling-book-2025, chapter 6 */
double ridge_train_seconds(double flops, double chips, double peak_flops_per_s,
                           double mfu)
{
    return flops / (chips * peak_flops_per_s * mfu);
}

/* Feed-forward width of the layers that hold most of the parameters; for a mixture the
 * width of an expert, of which k run for each token. */
static double main_width(const ridge_model *model, double *expert_factor)
{
    double width = 0;
    int64_t most = 0;
    *expert_factor = 1;
    for (int k = 0; k < model->n_layers; k++) {
        const ridge_ffn *f = &model->layers[k].ffn;
        if (f->kind == RIDGE_FFN_NONE || model->layers[k].count <= most)
            continue;
        most = model->layers[k].count;
        bool is_moe = f->kind == RIDGE_FFN_MOE;
        width = (double)(is_moe ? f->expert_d_ff * f->experts_per_token + f->shared_d_ff
                                : f->d_ff);
        *expert_factor = is_moe && f->experts_per_token > 0
                             ? (double)f->experts / (double)f->experts_per_token
                             : 1;
    }
    return width;
}

static int wrapped_axes(const ridge_slice *slice)
{
    int n = 0;
    for (int i = 0; i < slice->n_axes; i++)
        n += slice->axes[i].kind == RIDGE_AXIS_TORUS && slice->axes[i].size > 1;
    return n;
}

/* Bytes/s of one torus axis: both directions of a ring, one of a line. */
static double torus_axis_bytes_per_s(const ridge_slice *slice)
{
    for (int i = 0; i < slice->n_axes; i++) {
        const ridge_axis *a = &slice->axes[i];
        if (a->kind == RIDGE_AXIS_TORUS)
            return a->bytes_per_s * (a->has_wraparound ? 2 : 1);
    }
    return 0;
}

static void fill_torus(const ridge_slice *slice, double peak, double d_ff,
                       ridge_thresholds *t)
{
    const int64_t slice_chips = slice->chips / slice->slices;
    double chips = (double)slice_chips;
    t->n_axes = wrapped_axes(slice);
    t->alpha = peak / torus_axis_bytes_per_s(slice);
    double axes = (double)t->n_axes;
    t->dp_tokens_per_chip = ridge_threshold_dp(t->alpha, axes);
    t->tp_ways = ridge_threshold_tp(t->alpha, 1, d_ff);
    t->tp_ways_all_axes = ridge_threshold_tp(t->alpha, fmin(2, axes), d_ff);
    double batch = t->tokens_per_chip * chips; /* of one slice */
    t->max_chips_fsdp = batch / t->dp_tokens_per_chip;
    if (t->n_axes < 2)
        return;
    double m_x = axes - 1;
    t->mixed_tokens_per_chip = ridge_threshold_mixed(t->alpha, m_x, 1, d_ff);
    t->fsdp_optimal = ridge_fsdp_optimal(batch, d_ff, m_x, 1, chips);
    t->tp_optimal = chips / t->fsdp_optimal;
    t->max_chips_mixed = batch / t->mixed_tokens_per_chip;
}

/* On a switched network the chip's egress counts inside a node, its share of the NICs
 * beyond. @source scaling-book-2025, chapter 12 */
static void fill_switched(const ridge_slice *slice, double peak, double d_ff,
                          ridge_thresholds *t)
{
    const ridge_axis *inner = &slice->axes[0];
    t->n_axes = 1;
    t->alpha = peak / inner->bytes_per_s;
    t->dp_tokens_per_chip = t->alpha;
    t->tp_ways = ridge_threshold_tp(t->alpha, 1, d_ff);
    t->tp_ways_all_axes = t->tp_ways;
    double binding = t->alpha;
    if (slice->n_axes > 1) {
        /* A node's share is what its chips have together, each gathering its part. */
        double node = slice->axes[1].bytes_per_s * (double)inner->size;
        t->dp_outer_tokens_per_chip = peak / node;
        binding = fmax(binding, t->dp_outer_tokens_per_chip);
    }
    t->max_chips_fsdp = t->tokens_per_chip * (double)slice->chips / binding;
}

ridge_thresholds ridge_train_thresholds(const ridge_train_request *request)
{
    const ridge_slice *slice = request->slice;
    const ridge_policy *policy = ridge_precision_policy(request->knobs.precision);
    double peak = ridge_chip_peak(slice->chip, policy->compute, NULL);
    ridge_thresholds t = {0};
    t.tokens_per_chip = request->batch_tokens / (double)slice->chips;
    double d_ff = main_width(request->model, &t.expert_factor);
    if (slice->n_axes == 0 || d_ff <= 0)
        return t;
    if (slice->axes[0].kind == RIDGE_AXIS_TORUS) {
        fill_torus(slice, peak, d_ff, &t);
    } else if (slice->axes[0].kind != RIDGE_AXIS_DCN) {
        fill_switched(slice, peak, d_ff, &t);
    }
    /* Across slices each chip reduces its part over its own share of DCN: tokens a
     * slice must bring. @source scaling-book-2025, chapter 5, across pods */
    const ridge_axis *last = &slice->axes[slice->n_axes - 1];
    if (last->kind == RIDGE_AXIS_DCN)
        t.pod_tokens = peak / last->bytes_per_s;
    return t;
}
