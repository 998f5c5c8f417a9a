/* Sharded einsums drawn from a seed, small enough to compute. */
#ifndef RIDGE_TEST_SEEDED_EXPR_H
#define RIDGE_TEST_SEEDED_EXPR_H

#include "seeded.h"

#include "ridge/shard.h"

/** What to draw from. */
typedef struct seeded_expr_limits {
    int axes_least, axes_most;
    int64_t axis_least, axis_most; /* sizes of mesh axes */
    int dims_least, dims_most;
    int64_t size_least, size_most;
    int inputs_least, inputs_most;
    int partial_in; /* one in so many states of an axis is partial sums; 0: none */
} seeded_expr_limits;

/** 1 to 3 axes of size 1 to 3, 2 to 4 dims of size 1 to 6, 1 to 3 inputs. */
extern const seeded_expr_limits seeded_expr_all;

/** Legal shardings of inputs and output, drawn apart: the output may ask for partial
 *  sums that cannot arise. Names are static. */
ridge_expr seeded_expr(seeded *at, const seeded_expr_limits *limits);

#endif
