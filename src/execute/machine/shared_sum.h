/* Partitioned programs whose look-ups add to a gradient that is there already. */
#ifndef RIDGE_EXECUTE_SHARED_SUM_H
#define RIDGE_EXECUTE_SHARED_SUM_H

#include "ridge/shard.h"

/**
 * The same program with sums of gradients made in place: that of a table which is also
 * multiplied (a tied embedding), where the product writes it and the look-up adds its
 * rows; and those of products of one block, where the first writes and the others add.
 * @owner the ctx; @p partition must outlive it
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__shared_sum(ridge_ctx *cx,
                                               const ridge_partition *partition,
                                               const ridge_partition **out);

#endif
