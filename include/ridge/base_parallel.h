/* A pool of threads over items that have work in common with their neighbours. */
#ifndef RIDGE_BASE_PARALLEL_H
#define RIDGE_BASE_PARALLEL_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As ridge_parallel(), where a worker that has done an item does its neighbour with
 * less work: each has a run of its own, and takes from the ends of others' runs once it
 * is through.
 * @errors as ridge_parallel()
 */
RIDGE_NODISCARD ridge_status
ridge_parallel_runs(ridge_ctx *cx, int workers, int64_t items,
                    void (*fn)(void *payload, int64_t item, int worker), void *payload);

#ifdef __cplusplus
}
#endif

#endif
