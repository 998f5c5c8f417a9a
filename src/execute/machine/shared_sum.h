/* Partitioned programs whose look-ups add to a gradient that is there already. */
#ifndef RIDGE_EXECUTE_SHARED_SUM_H
#define RIDGE_EXECUTE_SHARED_SUM_H

#include "ridge/shard.h"

/**
 * The same program where the gradient of a table that is also multiplied (a tied
 * embedding) is made in one array: the product writes it, the look-up adds its rows,
 * and the sum of two whole tables is left out.
 * @owner the ctx; @p partition must outlive it
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__shared_sum(ridge_ctx *cx,
                                               const ridge_partition *partition,
                                               const ridge_partition **out);

#endif
