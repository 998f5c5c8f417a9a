/* Rates that were measured on the chip itself, for the operations of this layer. */
#ifndef RIDGE_COST_MEASURED_RATE_H
#define RIDGE_COST_MEASURED_RATE_H

#include "operation_time.h"

/** Each returns a rate; 0: none was measured, and the model computes one. A chip that
 * was changed since (what-if, sensitivity) goes in proportion to the fact that bound
 * it. */

/** FLOP/s of one product of a batch. @param bytes  that the batch moves */
double ridge__measured_matmul(const ridge_chip *chip, const ridge_matmul *op,
                              ridge_dtype used, double bytes);
/** FLOP/s, of the forward pass's FLOPs. */
double ridge__measured_attention(const ridge__pricing *x, const ridge_operation *o,
                                 const ridge_attention_shape *shape);
/** Bytes/s of operations without a product; of a group of one. */
double ridge__measured_stream(const ridge__pricing *x, const ridge__fused *group,
                              double bytes);

#endif
