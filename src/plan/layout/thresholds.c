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

double ridge_threshold_ep(double alpha_node, double node_chips, double d_ff,
                          double experts_per_token)
{
    const double few = node_chips + experts_per_token * d_ff / alpha_node;
    if (few < node_chips * experts_per_token)
        return few;
    const double share = d_ff / (node_chips * alpha_node);
    if (share >= 1)
        return HUGE_VAL;
    return fmax(node_chips * experts_per_token, node_chips / (1 - share));
}

const ridge_ffn *ridge_model_main_ffn(const ridge_model *model)
{
    const ridge_ffn *main = NULL;
    int64_t most = 0;
    for (int k = 0; k < model->n_layers; k++) {
        const ridge_layer *l = &model->layers[k];
        if (l->ffn.kind == RIDGE_FFN_NONE || l->count <= most)
            continue;
        most = l->count;
        main = &l->ffn;
    }
    return main;
}

double ridge_ffn_active_d_ff(const ridge_ffn *f)
{
    double width = (double)f->d_ff; /* with a mixture, of a branch beside it */
    if (f->kind == RIDGE_FFN_MOE)
        width += (double)(f->expert_d_ff * f->experts_per_token + f->shared_d_ff);
    return width;
}

/* Bytes/s of one torus axis: both directions of a ring, one of a line. */
static double torus_axis_bytes_per_s(const ridge_axis *a)
{
    return a->bytes_per_s * (a->has_wraparound ? 2 : 1);
}

ridge_torus_rates ridge_slice_torus_rates(const ridge_slice *slice)
{
    ridge_torus_rates t = {0};
    for (int i = 0; i < slice->n_axes; i++) {
        const ridge_axis *a = &slice->axes[i];
        if (a->kind != RIDGE_AXIS_TORUS || a->size < 2)
            continue;
        const double rate = torus_axis_bytes_per_s(a);
        t.second = fmax(t.second, fmin(rate, t.best));
        t.best = fmax(t.best, rate);
        t.sum += rate;
        t.n++;
    }
    for (int i = 0; i < slice->n_axes && t.n > 1; i++) {
        const ridge_axis *a = &slice->axes[i];
        const double rate = torus_axis_bytes_per_s(a);
        if (a->kind == RIDGE_AXIS_TORUS && a->size > 1 &&
            rate * (t.sum - rate) > t.mixed * (t.sum - t.mixed))
            t.mixed = rate;
    }
    return t;
}

static void fill_torus(const ridge_slice *slice, double peak, double d_ff,
                       ridge_thresholds *t)
{
    const int64_t slice_chips = slice->chips / slice->slices;
    const double chips = (double)slice_chips;
    const ridge_torus_rates axes = ridge_slice_torus_rates(slice);
    if (axes.n == 0)
        return;
    t->n_axes = axes.n;
    t->alpha = peak / axes.best;
    t->dp_tokens_per_chip = ridge_threshold_dp(t->alpha, axes.sum / axes.best);
    t->tp_ways = ridge_threshold_tp(t->alpha, 1, d_ff);
    t->tp_ways_all_axes =
        ridge_threshold_tp(t->alpha, 1 + axes.second / axes.best, d_ff);
    const double batch = t->tokens_per_chip * chips; /* of one slice */
    const double all = t->tokens_per_chip * (double)slice->chips;
    t->max_chips_fsdp = all / t->dp_tokens_per_chip;
    if (axes.n < 2)
        return;
    const double m_y = axes.mixed / axes.best;
    const double m_x = (axes.sum - axes.mixed) / axes.best;
    t->mixed_tokens_per_chip = ridge_threshold_mixed(t->alpha, m_x, m_y, d_ff);
    t->fsdp_optimal = ridge_fsdp_optimal(batch, d_ff, m_x, m_y, chips);
    t->tp_optimal = chips / t->fsdp_optimal;
    t->max_chips_mixed = all / t->mixed_tokens_per_chip;
}

/* On a switched network the chip's egress counts inside a node, its share of the NICs
 * beyond. @source scaling-book-2025, chapter 12 */
static void fill_switched(const ridge_slice *slice, double peak, const ridge_ffn *ffn,
                          ridge_thresholds *t)
{
    const ridge_axis *inner = &slice->axes[0];
    const double d_ff = ridge_ffn_active_d_ff(ffn);
    t->n_axes = 1;
    t->alpha = peak / inner->bytes_per_s;
    t->dp_tokens_per_chip = t->alpha;
    /* What a switch adds crosses a link once, not in two passes. */
    if (inner->can_reduce)
        t->dp_reduced_tokens_per_chip = t->alpha / 2;
    t->tp_ways = ridge_threshold_tp(t->alpha, 1, d_ff);
    t->tp_ways_all_axes = t->tp_ways;
    double binding = t->alpha;
    if (slice->n_axes > 1) {
        /* A node's share is what its chips have together, each gathering its part. */
        const double chips = (double)inner->size;
        const double outer = peak / (slice->axes[1].bytes_per_s * chips);
        const double nodes = (double)(slice->chips / inner->size);
        t->dp_outer_tokens_per_chip = outer;
        if (slice->axes[1].can_reduce)
            t->dp_outer_reduced_tokens_per_chip = outer / 2;
        t->dp_nodes_tokens_per_chip = outer * (nodes - 1) / nodes;
        t->tp_ways_across_nodes = ridge_threshold_tp(outer, 1, d_ff);
        if (t->tp_ways > chips) /* else the node binds before it is left */
            t->tp_ways_two_nodes = ridge_threshold_tp_nodes(outer, chips, d_ff);
        if (ffn->kind == RIDGE_FFN_MOE) {
            t->ep_ways = ridge_threshold_ep(outer, chips, (double)ffn->expert_d_ff,
                                            (double)ffn->experts_per_token);
        }
        binding = fmax(binding, outer);
    }
    t->max_chips_fsdp = t->tokens_per_chip * (double)slice->chips / binding;
}

/* Weights that move are those of all experts, FLOPs those of the ones that run. */
static void fill_experts(const ridge_ffn *ffn, ridge_thresholds *t)
{
    t->expert_factor = 1;
    if (ffn->kind != RIDGE_FFN_MOE || ffn->experts_per_token < 1)
        return;
    const double experts = (double)ffn->experts;
    const double active = (double)ffn->experts_per_token;
    t->expert_factor = experts / active;
    t->dp_experts_tokens_per_chip = ridge_threshold_dp_experts(
        fmax(t->dp_tokens_per_chip, t->dp_outer_tokens_per_chip), experts, active);
    t->mixed_experts_tokens_per_chip =
        ridge_threshold_dp_experts(t->mixed_tokens_per_chip, experts, active);
    t->pod_experts_tokens = ridge_threshold_dp_experts(t->pod_tokens, experts, active);
    t->max_chips_fsdp_experts = t->max_chips_fsdp / t->expert_factor;
    t->max_chips_mixed_experts = t->max_chips_mixed / t->expert_factor;
}

/* Chips that keep all the weights: 2 bytes each, and moments of 4 bytes twice.
 * @source scaling-book-2025, chapter 5, data parallelism */
static const double DP_BYTES_PER_PARAMETER = 10;

ridge_thresholds ridge_train_thresholds(const ridge_train_request *request)
{
    const ridge_slice *slice = request->slice;
    const ridge_policy *policy = ridge_precision_policy(request->knobs.precision);
    const ridge_ffn *ffn = ridge_model_main_ffn(request->model);
    double peak = ridge_chip_peak(slice->chip, policy->compute, NULL);
    ridge_thresholds t = {.expert_factor = 1};
    t.tokens_per_chip = request->batch_tokens / (double)slice->chips;
    t.dp_parameters_most = slice->chip->hbm_bytes / DP_BYTES_PER_PARAMETER;
    if (slice->n_axes == 0 || ffn == NULL || ridge_ffn_active_d_ff(ffn) <= 0)
        return t;
    if (slice->axes[0].kind == RIDGE_AXIS_TORUS) {
        fill_torus(slice, peak, ridge_ffn_active_d_ff(ffn), &t);
    } else if (slice->axes[0].kind != RIDGE_AXIS_DCN) {
        fill_switched(slice, peak, ffn, &t);
    }
    /* Across slices each chip reduces its part over its own share of DCN: tokens a
     * slice must bring. @source scaling-book-2025, chapter 5, across pods */
    const ridge_axis *last = &slice->axes[slice->n_axes - 1];
    if (last->kind == RIDGE_AXIS_DCN)
        t.pod_tokens = peak / last->bytes_per_s;
    fill_experts(ffn, &t);
    return t;
}
