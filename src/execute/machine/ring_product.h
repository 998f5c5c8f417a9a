/* Partitioned programs whose products run beside their collectives. */
#ifndef RIDGE_EXECUTE_RING_PRODUCT_H
#define RIDGE_EXECUTE_RING_PRODUCT_H

#include "ridge/shard.h"

/**
 * The same program with collective matmuls: where an all-gather makes a factor of an
 * einsum of two, or its result alone goes into a reduce-scatter or an all-reduce, the
 * einsum takes that over (its n_axes, axes, collective, dim_from and dim_to say so) and
 * the collective is left without operands. Of several, the one that moves the most.
 * Left as they are: rows of experts; several axes that cut unevenly; a gather of a
 * summed dim whose result is replicated over the gather's axes, as each rank would add
 * up in another order.
 * @owner the ctx; @p partition must outlive it
 * @errors E_NOMEM
 * @source wang2023; scaling-book-2025 chapter 10
 */
RIDGE_NODISCARD ridge_status ridge__ring_products(ridge_ctx *cx,
                                                  const ridge_partition *partition,
                                                  const ridge_partition **out);

#endif
