/*
 * What was measured on a machine itself: rates by size, in place of what the cost model
 * computes from a data sheet. Written by `ridge calibrate`, read from chip and system
 * files; a machine without it is priced by its facts.
 */
#ifndef RIDGE_HARDWARE_MEASURED_H
#define RIDGE_HARDWARE_MEASURED_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- grids ----------------------------------------------------------------------- */

enum { RIDGE_GRID_AXIS_MAX = 3, RIDGE_GRID_SIZE_MAX = 16 };

/** A rate measured at every combination of sizes. Borrowed pointers. */
typedef struct ridge_grid {
    int n_axes;
    int sizes[RIDGE_GRID_AXIS_MAX];
    const double *axes[RIDGE_GRID_AXIS_MAX]; /* [sizes[i]], > 0, ascending */
    const double *rates;                     /* row-major, > 0 */
} ridge_grid;

/**
 * The rate at a point: linear in the logarithms between measured ones. Beyond the
 * largest size of an axis the rate stays; below the smallest the time does, so the rate
 * falls with the work.
 * @param at  [n_axes], > 0
 * @return rate > 0. Cannot fail.
 */
double ridge_grid_rate(const ridge_grid *grid, const double *at);

/** A grid under a name. */
typedef struct ridge_named_grid {
    const char *name;
    ridge_grid grid;
} ridge_named_grid;

/** Grids under names; n 0: none. */
typedef struct ridge_grid_list {
    int n;
    const ridge_named_grid *items;
} ridge_grid_list;

/** @return NULL when none is called that */
const ridge_grid *ridge_grid_find(const ridge_grid_list *list, const char *name);

/* ---- chips ----------------------------------------------------------------------- */

/**
 * A chip as its own software drives it. Names hold a number format behind a '.':
 * "fp32", "norm.fp32". Rates count each operation's own work, launch included but for
 * products.
 */
typedef struct ridge_measured_chip {
    const char *source, *date;
    bool is_fused;      /* neighbours run as one kernel; weights' collectives as one */
    bool is_overlapped; /* collectives run beside compute */
    bool is_balanced;   /* ranks that share a causal sequence meet equal scores */
    double processor_share; /* of its processors, where ranks take turns on them while
                             * all work; those that wait leave theirs to others. 1 */
    /* FLOP/s by m, k, n; by format of the operands. "bf16" is the quicker of two ways:
     * "direct.bf16" as they are, "converted.bf16" made fp32 first */
    ridge_grid_list matmul;
    /* FLOP/s of the forward pass's scores by context tokens and head dim:
     * "forward.fp32", "backward.fp32" */
    ridge_grid_list attention;
    /* bytes/s by bytes, by opcode or function, with _backward: "norm_backward.fp32" */
    ridge_grid_list stream;
} ridge_measured_chip;

/* ---- networks -------------------------------------------------------------------- */

/** Bytes/s of each collective by ranks and bytes, which are V of ridge/cost.h. */
typedef struct ridge_measured_level {
    const char *source, *date;
    ridge_grid_list collective; /* "all-gather", ... */
    /* The level's facts then: on a changed one, times go in proportion. */
    double bytes_per_s, latency_s;
} ridge_measured_level;

#ifdef __cplusplus
}
#endif

#endif
