/*
 * The threads of one CPU device: they wait for a function, all run it, and the caller,
 * which is the first of them, waits for the others. Knows nothing of arrays.
 */
#ifndef RIDGE_EXECUTE_TEAM_H
#define RIDGE_EXECUTE_TEAM_H

#include "ridge/base.h"

typedef struct ridge__team ridge__team;

enum { RIDGE__TEAM_THREAD_MAX = 1024 };

/**
 * Start workers - 1 threads; they sleep until there is work.
 *
 * @param workers  1 .. RIDGE__TEAM_THREAD_MAX
 * @errors E_ARG workers out of range; E_NOMEM no memory or no thread to be had
 * @owner close it before the ctx
 */
RIDGE_NODISCARD ridge_status ridge__team_open(ridge_ctx *cx, int workers,
                                              ridge__team **out);
/** Stop the threads and free the scratch. NULL: nothing. */
void ridge__team_close(ridge__team *team);

int ridge__team_workers(const ridge__team *team);

/** What each worker runs: worker is 0 .. workers - 1, 0 is the caller. */
typedef void ridge__team_fn(void *payload, int worker, int workers);

/**
 * Run fn on all workers and wait until all have returned. Allocates nothing, takes a
 * few microseconds. What the caller wrote before, all workers see; what they wrote, the
 * caller sees afterwards. fn must not call this of the same team.
 * @threads one thread at a time
 */
void ridge__team_run(ridge__team *team, ridge__team_fn *fn, void *payload);

/** Items first .. end of a worker; first = end: none. */
typedef struct ridge__part {
    int64_t first, end;
} ridge__part;

/** An even, contiguous share of items 0 .. n; cuts fall on multiples of grain >= 1. */
ridge__part ridge__part_of(int64_t n, int64_t grain, int worker, int workers);

/**
 * See to it that each worker has so many bytes of scratch. To be called before
 * ridge__team_run, not within; what a former call gave is lost.
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__team_reserve(ridge__team *team, ridge_ctx *cx,
                                                 size_t bytes);
/** The scratch of a worker, aligned to 64 bytes; as large as was last reserved. */
void *ridge__team_scratch(const ridge__team *team, int worker);

/** The same for one piece of memory that all workers share. */
RIDGE_NODISCARD ridge_status ridge__team_reserve_shared(ridge__team *team,
                                                        ridge_ctx *cx, size_t bytes);
void *ridge__team_shared(const ridge__team *team);

#endif
