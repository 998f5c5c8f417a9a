/* Partitioned programs whose attention passes keys around a ring. */
#ifndef RIDGE_EXECUTE_RING_ATTENTION_H
#define RIDGE_EXECUTE_RING_ATTENTION_H

#include "ridge/shard.h"

/**
 * The same program without gathers of keys and values: attention reads what each rank
 * holds. Layouts that do not cut tokens stay as they are.
 * @owner the ctx; @p partition must outlive it
 * @errors E_NOMEM
 * @source liu2023-ring
 */
RIDGE_NODISCARD ridge_status ridge__ring_attention(ridge_ctx *cx,
                                                   const ridge_partition *partition,
                                                   const ridge_partition **out);

#endif
