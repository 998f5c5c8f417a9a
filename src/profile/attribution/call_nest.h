/*
 * The host's calls nested in each other, so that each launch knows the operation,
 * module and source line that it was made for; and launches found by their numbers.
 * Layer-internal.
 */
#ifndef RIDGE_PROFILE_CALL_NEST_H
#define RIDGE_PROFILE_CALL_NEST_H

#include "trace_store.h"

/** Give every launch its context. Sorts calls and launches of each thread by time.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status call_nest_build(trace_store *store);
const trace_context *call_nest_context(const trace_store *store, uint32_t context);

/** The innermost call of a thread at a time, by call_nest_build's order; NULL: none. */
const trace_call *call_nest_at(const trace_store *store, uint32_t thread,
                               int64_t at_ns);

/** Launches by number. */
typedef struct launch_index {
    const trace_store *store;
    uint32_t *slots; /* launch + 1, of all threads one after another; 0: free */
    uint32_t mask;
    uint32_t *first; /* by thread: number of its first launch; one more at the end */
} launch_index;

/** @errors E_NOMEM */
RIDGE_NODISCARD ridge_status launch_index_build(trace_store *store, launch_index *out);
/** @param thread  out: who launched. @return NULL: it is not in the trace */
const trace_launch *launch_index_find(const launch_index *index, uint32_t link,
                                      uint32_t *thread);

#endif
