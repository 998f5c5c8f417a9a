/* How long the host of a chip works on launches, where it is ahead of the chip. */
#ifndef RIDGE_PLAN_HOST_TIME_H
#define RIDGE_PLAN_HOST_TIME_H

#include "layer_time.h"
#include "train_case.h"

/** Seconds of a pass forward and of one back. */
typedef struct host_time {
    double fwd_s, bwd_s;
} host_time;

/** Count a case's forward_calls, once it has its weights and adapters. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status host_calls_count(train_case *tc);

/**
 * What the host needs for a layer of a kind and a microbatch: the stack's
 * experts_host_s for layers with experts, else calls of an eager framework, call_s
 * each; 0 without.
 * @param redo  passes forward that are done again
 * @source te-2053
 */
host_time host_layer_time(const train_case *tc, int kind, double redo);

/** Seconds that a layer of a kind waits for its host for one microbatch, at most: with
 *  nothing computed again and nothing exchanged. */
double host_wait_most_s(const train_case *tc, int kind, const layer_time *t);

#endif
