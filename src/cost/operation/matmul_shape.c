/* The share of the matrix units that a matmul's shape can use: padding to a systolic
 * array and its pipeline (TPU), or tiles and waves over the SMs (GPU). Computed from
 * the chip's facts, never fitted; a chip whose tiles are not known counts as perfect.
 */
#include "bound.h"

#include <math.h>

/* Rows that a systolic array takes in a pass, and its cycles.
 * @source scaling-book-2025 chapter 2 */
enum { PASS_ROWS = 8, PASS_CYCLES = 8 };

enum {
    K_STEP_BYTES = 128, /* a K step of a tile: one swizzled row of shared memory */
    TILE_LEAST = 16,    /* rows or columns of the smallest tile */
    SPLIT_K_LEAST_DEPTH = 256
};

/* Parts that K is cut into, where tiles are fewer than SPLIT_TILES_A_SM for each SM. */
static const int splits[] = {1, 2, 3, 4, 6, 8, 16};
enum { SPLIT_TILES_A_SM = 2 };

/* Starts of a block in a tile: launched, first operands in, the product out; of two
 * trips to DRAM each. Fitted on GEMMs of 16 bits on A100, H100, H200 and B200. */
static const double MATMUL_STARTS = 1.5;

/* Sides of the tiles that libraries choose among, of those of the chip's own. */
static const double shares_m[] = {1, 0.5, 0.25};
static const double shares_n[] = {1, 0.75, 0.5, 0.25};

static double pad_to(double x, double unit)
{
    return ceil(x / unit) * unit;
}

static const ridge_matmul_shape *shape_rate(ridge_matmul_shape *s, double wave)
{
    s->wave_efficiency = fmin(1, wave);
    s->efficiency = s->tile_efficiency * s->wave_efficiency;
    return s;
}

/* ---- systolic arrays ------------------------------------------------------------- */

/*
 * A pass multiplies [8, rows] by the [rows, cols] weights that an array holds, in 8
 * cycles; passes are dealt to the arrays, and each starts with a bubble: weights in,
 * activations across, results out.
 *
 *     cycles = fill + ceil(passes / arrays) 8,   fill = 2 rows + cols
 *
 * Later weights load behind the arithmetic.
 * @source scaling-book-2025 chapter 2
 */
static ridge_matmul_shape systolic_shape(const ridge_chip *chip, const ridge_matmul *op)
{
    const double rows = chip->matmul_rows;
    const double cols = chip->matmul_cols > 0 ? chip->matmul_cols : rows;
    const double sublanes = chip->sublane_count > 0 ? chip->sublane_count : PASS_ROWS;
    const double arrays = chip->matmul_units > 0 ? chip->matmul_units : 1;
    ridge_matmul_shape s = {
        .padded_m = pad_to(op->m, sublanes),
        .padded_k = pad_to(op->k, rows),
        .padded_n = pad_to(op->n, cols),
    };
    s.tile_efficiency =
        (op->m / s.padded_m) * (op->k / s.padded_k) * (op->n / s.padded_n);
    const double passes = op->batch * ceil(s.padded_m / PASS_ROWS) *
                          (s.padded_k / rows) * (s.padded_n / cols);
    const double cycles = 2 * rows + cols + ceil(passes / arrays) * PASS_CYCLES;
    return *shape_rate(&s, passes / arrays * PASS_CYCLES / cycles);
}

/* ---- tiles over SMs -------------------------------------------------------------- */

typedef struct tile_grid {
    const ridge_matmul *op;
    double sms;
    double sm_flops_per_s;
    double start_s;       /* first load and last store of a tile */
    double ideal_s;       /* of the product's arithmetic on all SMs */
    double element_bytes; /* of the arithmetic's format */
    double full_supply;   /* FLOPs an operand byte of the chip's own tile */
    double reduce_bytes_per_s;
    double weight_sm_bytes_per_s; /* what one SM takes in of weights; 0: no limit */
    bool has_block_scales;        /* whole tiles, K not split */
} tile_grid;

/*
 * How fast a tile can be fed: per step of K it loads (tm + tn) elements for 2 tm tn
 * FLOPs. Relative to the chip's own tile, whose rate the achievable efficiency already
 * holds, and to 16 bits: slow formats ask for less. Neighbours that multicast what they
 * share make up for half of the loss, in the logarithm.
 */
static double tile_supply(const tile_grid *g, double tile_m, double tile_n)
{
    const double intensity = 2 * tile_m * tile_n / (tile_m + tile_n);
    return intensity < g->full_supply ? sqrt(intensity / g->full_supply) : 1;
}

/* A way to lay a product over the SMs. */
typedef struct tiling {
    double tile_m, tile_n, supply;
    double parts; /* tiles, before K is split */
    int split_k;
} tiling;

static tiling tiling_of(const tile_grid *g, double tile_m, double tile_n)
{
    return (tiling){.tile_m = tile_m,
                    .tile_n = tile_n,
                    .supply = tile_supply(g, tile_m, tile_n),
                    .parts = g->op->batch * ceil(g->op->m / tile_m) *
                             ceil(g->op->n / tile_n),
                    .split_k = 1};
}

/* Steps of K that each part of a tile takes, and their depth together. */
static double depth_of(const tile_grid *g, const tiling *t)
{
    const double step = K_STEP_BYTES / g->element_bytes;
    return ceil(g->op->k / (t->split_k * step)) * step;
}

/* One part of one tile: arithmetic, or weights that arrive from HBM where no second
 * tile reads them again. */
static double part_s(const tile_grid *g, const tiling *t)
{
    const double depth = depth_of(g, t);
    const double compute_s =
        2 * t->tile_m * t->tile_n * depth / (g->sm_flops_per_s * t->supply);
    double weight_s = 0;
    if (g->weight_sm_bytes_per_s > 0 && g->op->m <= t->tile_m) {
        weight_s = depth * fmin(t->tile_n, g->op->n) *
                   ridge_dtype_bytes(g->op->weight) / g->weight_sm_bytes_per_s;
    }
    return (compute_s > weight_s ? compute_s : weight_s) + g->start_s;
}

static double tiling_time_s(const tile_grid *g, const tiling *t)
{
    const ridge_matmul *op = g->op;
    /* partial sums in fp32, written and read once more */
    const double reduce_s = t->split_k > 1 ? 2 * 4 * t->split_k * op->batch * op->m *
                                                 op->n / g->reduce_bytes_per_s
                                           : 0;
    return ceil(t->parts * t->split_k / g->sms) * part_s(g, t) + reduce_s;
}

static ridge_matmul_shape shape_of(const tile_grid *g, const tiling *t)
{
    const ridge_matmul *op = g->op;
    ridge_matmul_shape s = {
        .padded_m = pad_to(op->m, t->tile_m),
        .padded_k = depth_of(g, t) * t->split_k,
        .padded_n = pad_to(op->n, t->tile_n),
        .tile_m = t->tile_m,
        .tile_n = t->tile_n,
        .split_k = t->split_k,
        .tiles = t->parts * t->split_k,
    };
    s.waves = ceil(s.tiles / g->sms);
    s.tile_efficiency =
        t->supply * (op->m / s.padded_m) * (op->k / s.padded_k) * (op->n / s.padded_n);
    return s;
}

/* Operand bytes a second that arithmetic in a format asks for, relative to 16 bits: the
 * slower it is, the smaller the tiles that feed it. @return at most 1 */
static double relative_demand(const ridge_chip *chip, double peak, double element_bytes)
{
    ridge_dtype used = RIDGE_DTYPE_BF16;
    const double reference = ridge_chip_peak(chip, RIDGE_DTYPE_BF16, &used);
    const double demand = peak * element_bytes / (reference * ridge_dtype_bytes(used));
    return demand < 1 ? demand : 1;
}

static tile_grid tile_grid_make(const ridge_chip *chip, const ridge_matmul *op)
{
    ridge_dtype used = op->compute;
    const double peak = ridge_chip_peak(chip, op->compute, &used);
    const double share = ridge__share(chip->achievable.matmul[used]);
    const double own_m = chip->tile_m;
    const double own_n = chip->tile_n;
    const bool is_fp4 = used == RIDGE_DTYPE_FP4;
    tile_grid g = {
        .op = op,
        .sms = chip->cores > 0 ? chip->cores : 1,
        .element_bytes = ridge_dtype_bytes(used),
        .full_supply = 2 * own_m * own_n / (own_m + own_n),
        .reduce_bytes_per_s =
            chip->l2_bytes_per_s > 0 ? chip->l2_bytes_per_s : chip->hbm_bytes_per_s,
        .weight_sm_bytes_per_s =
            is_fp4 && op->batch <= 1 ? chip->achievable.fp4_sm_bytes_per_s : 0,
        .has_block_scales = is_fp4 || op->scaling == RIDGE_SCALING_BLOCK,
    };
    g.full_supply *= relative_demand(chip, peak, g.element_bytes);
    g.sm_flops_per_s = peak * share / g.sms;
    g.start_s = MATMUL_STARTS * ridge__block_start_s(chip);
    g.ideal_s = 2 * op->batch * op->m * op->k * op->n / (g.sm_flops_per_s * g.sms);
    return g;
}

/* The best so far. */
typedef struct tiling_choice {
    double time_s;
    tiling of;
} tiling_choice;

/* Bounds of tilings are kept by more than their rounding. */
static const double BOUND_NEAR = 1e-9;

/* Try a tile with every sensible split of K, unless arithmetic alone takes longer. */
static void tile_try(const tile_grid *g, double tile_m, double tile_n,
                     tiling_choice *best)
{
    tiling t = tiling_of(g, tile_m, tile_n);
    if (g->ideal_s > best->time_s * t.supply * (1 + BOUND_NEAR))
        return;
    for (size_t i = 0; i < RIDGE_COUNT_OF(splits); i++) {
        t.split_k = splits[i];
        if (t.split_k > 1 &&
            (g->has_block_scales || g->op->k / t.split_k < SPLIT_K_LEAST_DEPTH))
            return;
        const double time_s = tiling_time_s(g, &t);
        if (time_s < best->time_s)
            *best = (tiling_choice){time_s, t};
        if (t.parts >= SPLIT_TILES_A_SM * g->sms)
            return;
    }
}

static void tiles_try(const tile_grid *g, const ridge_chip *chip, tiling_choice *best)
{
    const bool is_fp4 = g->element_bytes < 1;
    for (size_t i = 0; i < RIDGE_COUNT_OF(shares_m); i++) {
        for (size_t j = 0; j < RIDGE_COUNT_OF(shares_n); j++) {
            /* fp4: scales lie in tiles of 128 rows, and so does the arithmetic */
            if (is_fp4 && (shares_m[i] < 1 || shares_n[j] < 0.5))
                continue;
            const double m = fmax(TILE_LEAST, chip->tile_m * shares_m[i]);
            const double n = fmax(TILE_LEAST, chip->tile_n * shares_n[j]);
            tile_try(g, m, n, best);
            if (m != n)
                tile_try(g, n, m, best);
        }
    }
}

/*
 * The libraries choose among a few tiles: the chip's own and parts of its sides, either
 * way up. The fastest is taken, with K split over idle SMs where tiles are few; kernels
 * for block scales do not split.
 *
 *     t = ceil(tiles / SMs) (2 tm tn K / (rate of an SM, supply) + start) + reduction
 *
 * Left out: stream-K, and the clock that rises when SMs idle.
 * @source nvidia-matmul-guide, sections on tile and wave quantisation
 */
static ridge_matmul_shape tiled_shape(const ridge_chip *chip, const ridge_matmul *op)
{
    const tile_grid g = tile_grid_make(chip, op);
    tiling_choice best = {.time_s = HUGE_VAL};
    tiles_try(&g, chip, &best);
    ridge_matmul_shape s = {.tile_efficiency = 1};
    if (best.time_s < HUGE_VAL)
        s = shape_of(&g, &best.of);
    return *shape_rate(&s, g.ideal_s / best.time_s / s.tile_efficiency);
}

/* ---- choice ---------------------------------------------------------------------- */

ridge_matmul_shape ridge_matmul_shape_find(const ridge_chip *chip,
                                           const ridge_matmul *op)
{
    if (chip->kind == RIDGE_CHIP_GPU && chip->tile_m > 0 && chip->tile_n > 0)
        return tiled_shape(chip, op);
    if (chip->kind != RIDGE_CHIP_GPU && chip->matmul_rows > 0)
        return systolic_shape(chip, op);
    return (ridge_matmul_shape){
        .padded_m = op->m,
        .padded_k = op->k,
        .padded_n = op->n,
        .tile_efficiency = 1,
        .wave_efficiency = 1,
        .efficiency = 1,
    };
}

double ridge_matmul_shape_efficiency(const ridge_chip *chip, const ridge_matmul *op,
                                     double *tile, double *wave)
{
    const ridge_matmul_shape shape = ridge_matmul_shape_find(chip, op);
    if (tile)
        *tile = shape.tile_efficiency;
    if (wave)
        *wave = shape.wave_efficiency;
    return shape.efficiency;
}
