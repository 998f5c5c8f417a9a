/* What one mesh axis does in an array, and where a dim of an expression stands in one.
 * Layer-internal. */
#ifndef RIDGE_SHARD_PRODUCT_H
#define RIDGE_SHARD_PRODUCT_H

#include "ridge/shard.h"

/** A position of the array that the axis cuts, or one of these. */
typedef int ridge_axis_state;
enum { RIDGE_AXIS_REPLICATED = -1, RIDGE_AXIS_PARTIAL = -2 };

ridge_axis_state ridge__axis_state(const ridge_sharding *s, int axis);
/** Position of a dim of the expression in an array; -1: it has none. */
int ridge__dim_place(const ridge_expr_tensor *t, int dim);

#endif
