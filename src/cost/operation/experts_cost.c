/* Time of a mixture of experts' feed-forward on one chip: which experts are hit, the
 * rows of each, the two grouped products, and the streams around them. */
#include "bound.h"
#include "expert_slots.h"

#include <math.h>

/* Experts of this chip that get a row, and rows of them all. */
typedef struct expert_load {
    double active; /* experts, >= a part of one */
    double rows;   /* token and expert pairs */
    double most;   /* rows of the chip that gets most, over the mean of chips */
} expert_load;

/* Experts that are hit under a power law. @param sum  out: of their weights */
static double skewed_hits(const ridge_experts *op, double *sum)
{
    enum { KEPT = 512 };
    double weights[KEPT];
    const int experts = (int)fmin(op->experts, 1 << 20);
    double hit = 0;
    *sum = 0;
    for (int i = 0; i < experts; i++) {
        const double weight = pow(i + 1, -op->skew);
        *sum += weight;
        if (i < KEPT)
            weights[i] = weight;
    }
    for (int i = 0; i < experts; i++) {
        const double weight = i < KEPT ? weights[i] : pow(i + 1, -op->skew);
        const double share = fmin(1, op->experts_per_token * weight / *sum);
        hit += 1 - pow(1 - share, op->tokens);
    }
    return hit;
}

/*
 * Loads that fall as rank^-skew over E experts in a random order: with equal shares k/E
 * each of t tokens misses an expert with (1 - k/E); with a power law the many at the
 * tail are missed more. The chips wait for the one that got most.
 *
 *     share_i = i^-s / sum_j j^-s,   hit_i = 1 - (1 - min(1, k share_i))^t
 *
 * The largest part of P equal parts of a power law, in the mean: the first expert, and
 * the mean of the others.
 */
static expert_load dealt_load(const ridge_experts *op)
{
    const double k = op->experts_per_token;
    const double local = op->experts / op->ways;
    double sum = op->experts;
    double hit = op->experts * (1 - pow(1 - fmin(1, k / sum), op->tokens));
    if (op->skew > 0)
        hit = skewed_hits(op, &sum);
    const double first = fmin(1 / k, 1 / sum);
    const double mean = (local - 1) * (1 - first) / fmax(1, op->experts - 1);
    return (expert_load){
        .active = fmax(hit / op->ways, fmin(1, op->tokens * k / op->ways)),
        .rows = op->tokens * k / op->ways,
        .most = op->skew > 0 ? fmax(1, (first + mean) * op->ways) : 1,
    };
}

/* Copies are read as well, each by the rows that are sent to it. */
static expert_load slots_load(const ridge_experts *op)
{
    const expert_slots slots = ridge__expert_slots_find(op);
    const double rows = op->tokens * op->experts_per_token / op->ways;
    return (expert_load){.active = fmax(slots.hit / op->ways, fmin(1, rows)),
                         .rows = rows,
                         .most = slots.most};
}

/* Slots of a chip. */
static double slots_held(const ridge_experts *op)
{
    return (op->experts + op->redundant) / op->ways;
}

/* Mean of the largest of n standard normal draws, n = 1, 2, 4, ... 512.
 * @source david2003, order statistics */
static const double largest_of[] = {0,    0.56, 1.03, 1.42, 1.77,
                                    2.07, 2.34, 2.59, 2.81, 3.03};

/* Experts that are hit on the fullest of the chips: hits are spread at random, about a
 * mean with the variance of draws without repeats. */
static double fullest(const ridge_experts *op, double active)
{
    const double local = slots_held(op);
    const double at = fmin(log2(op->ways), (double)RIDGE_COUNT_OF(largest_of) - 1);
    const double variance = active * (1 - fmin(1, active / local));
    const double more = largest_of[(int)(at + 0.5)] * sqrt(fmax(0, variance));
    return fmin(active + more, fmin(local, op->tokens * op->experts_per_token));
}

/* Experts' rows are no multiples of a tile: the last one of each is half full, and from
 * one full on as much again is lost to rows of an expert that vary: the level that
 * rates of experts' products were fitted at. No step: where a mean fills a tile some
 * experts are above it and some below. */
static double ragged_rows(double rows)
{
    enum { HALF_TILE = 64 };
    return rows + fmin(rows, HALF_TILE) + fmin(fmax(0, rows - HALF_TILE), HALF_TILE);
}

/* Rows of an expert vary from call to call and from expert to expert, so that the time
 * of all of them does not jump where their mean fills a tile: between whole tiles it is
 * as far on its way as the mean is. */
static ridge_op_cost smeared_cost(const ridge_chip *chip, const ridge_matmul *product)
{
    const double tile = chip->tile_m > 0 ? chip->tile_m : 1;
    const double below = floor(product->m / tile);
    const double part = product->m / tile - below;
    ridge_op_cost c = ridge_matmul_cost(chip, product, RIDGE_MEMORY_HBM);
    ridge_matmul less = *product;
    ridge_matmul more = *product;
    less.m = below * tile;
    more.m = (below + 1) * tile;
    if (below < 1 || part <= 0)
        return c;
    c.expected_s =
        (1 - part) * ridge_matmul_cost(chip, &less, RIDGE_MEMORY_HBM).expected_s +
        part * ridge_matmul_cost(chip, &more, RIDGE_MEMORY_HBM).expected_s;
    return c;
}

static ridge_op_cost grouped_cost(const ridge_chip *chip, const ridge_experts *op,
                                  const expert_load *load, double k, double n)
{
    const double active = fmax(1, load->active);
    const ridge_matmul product = {
        .batch = active,
        .m = fmax(1, ragged_rows(load->rows * load->most / active)),
        .k = fmax(1, k),
        .n = fmax(1, n),
        .activation = ridge_dtype_bytes(op->compute) < 2 ? op->compute : op->activation,
        .weight = op->weight,
        .output = op->activation,
        .compute = op->compute,
        .scaling = RIDGE_SCALING_BLOCK, /* grouped kernels do not split K either */
        .scale_bytes = op->scale_bytes,
        .comes_quantised = op->comes_quantised,
        .rate_share = op->rate_share,
    };
    return smeared_cost(chip, &product);
}

/* Kernels beside the products: sorting by expert (three), copying rows, the activation,
 * and the weighted sum. @source tensorrt-llm-kernels-2025 */
enum { SORT_KERNELS = 3, STREAM_KERNELS = 3 };

/* What cannot be saved: each expert's weights once that at least one row must hit, the
 * rows' input and output. Whatever the skew, k experts are hit. */
static double least_bytes(const ridge_experts *op, const expert_load *load,
                          double gates)
{
    const double hit =
        op->skew > 0 ? fmin(load->active, fmax(1, op->experts_per_token / op->ways))
                     : load->active;
    const double weights = hit * op->d_model * op->d_ff * (gates + 1);
    return weights * (ridge_dtype_bytes(op->weight) + op->scale_bytes) +
           2 * op->tokens / op->ways * op->d_model * ridge_dtype_bytes(op->activation);
}

/*
 *     FLOPs = 2 rows D F (2 + gated),  rows = t k / P
 *     bytes = hit experts' weights + rows of activations
 *
 * t tokens to k of E experts on P chips, D the model's width, F this chip's part of the
 * experts'. Left out: the router itself, and kernels tuned to each shape. Of copies the
 * bound has none: it is that of experts once.
 */
ridge_op_cost ridge_experts_cost(const ridge_chip *chip, const ridge_experts *op)
{
    const expert_load least = dealt_load(op);
    expert_load load = op->redundant > 0 ? slots_load(op) : least;
    if (op->waits_for_fullest && op->ways > 1)
        load.active = fmax(load.active, fullest(op, load.active));
    const double gates = op->is_gated ? 2 : 1;
    const ridge_op_cost up =
        grouped_cost(chip, op, &load, op->d_model, gates * op->d_ff);
    const ridge_op_cost down = grouped_cost(chip, op, &load, op->d_ff, op->d_model);
    const double element = ridge_dtype_bytes(op->activation);
    const double most = load.rows * load.most;
    const double stream_bytes =
        most * (3 * op->d_model + (gates + 1) * op->d_ff) * element +
        op->tokens / op->ways * op->d_model * element;
    const ridge_achievable *a = &chip->achievable;
    const double kernels = SORT_KERNELS + STREAM_KERNELS;
    const op_load sum = {
        .matmul_flops = 2 * load.rows * op->d_model * op->d_ff * (gates + 1),
        .bytes = least_bytes(op, &least, gates),
        .matmul_flops_per_s = ridge_chip_peak(chip, op->compute, NULL),
        .bytes_per_s = chip->hbm_bytes_per_s,
        .tile_efficiency = up.tile_efficiency,
        .wave_efficiency = up.wave_efficiency,
    };
    ridge_op_cost c = ridge__op_cost_make(&sum);
    const double expected_s = up.expected_s + down.expected_s +
                              kernels * (a->launch_s + ridge__block_start_s(chip)) +
                              ridge__beside_stream_s(chip, stream_bytes);
    c.expected_s = fmax(c.bound_s, expected_s);
    c.expected_bound_by = up.expected_bound_by;
    return c;
}
