/*
 * What one mesh axis may do while operands are multiplied. Layer-internal.
 */
#ifndef RIDGE_SHARD_AXIS_MODES_H
#define RIDGE_SHARD_AXIS_MODES_H

#include "product.h"

/** -1: nothing; d < n_dims: it cuts dim d of the expression in every operand that has
 * it; n_dims + i: it carries the partial sums of operand i. */
typedef int ridge_axis_mode;

enum { RIDGE_AXIS_MODE_MAX = 1 + RIDGE_PROGRAM_DIM_MAX + RIDGE_EXPR_INPUT_MAX };

/** What the axis does in an operand (n_inputs: in the product) under a mode. */
ridge_axis_state ridge__axis_mode_state(const ridge_expr *expr, ridge_axis_mode mode,
                                        int operand);

/**
 * The modes of an axis that need no more than they must: none whose steps hold all the
 * steps of another.
 * @param out  RIDGE_AXIS_MODE_MAX
 * @return how many; 0: partial sums are wanted that cannot arise
 */
int ridge__axis_modes_find(const ridge_expr *expr, int axis, ridge_axis_mode *out);

#endif
