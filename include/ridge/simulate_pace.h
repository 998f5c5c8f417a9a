/*
 * How long a step of a pipeline takes, found by play and quickly enough for a search:
 * schedules are made ready once, and long steps are played in their first microbatches.
 */
#ifndef RIDGE_SIMULATE_PACE_H
#define RIDGE_SIMULATE_PACE_H

#include "ridge/simulate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Schedules that are ready to be timed again and again; one thread's. */
typedef struct ridge_pacer ridge_pacer;

/** @return NULL: no memory. @owner the ctx: until it closes, or its arena is taken back
 * to where it was */
ridge_pacer *ridge_pacer_open(ridge_ctx *cx);

/** What a step is made of. */
typedef struct ridge_pace {
    ridge_pipeline pipeline;        /* of any number of microbatches */
    int64_t microbatches;           /* of the step, >= 1 */
    const ridge_stage_time *stages; /* [p v], with messages that a rank waits for */
    double send_s;                  /* a message while both ranks may compute */
    /* [p] what a rank does behind its passes, before its next step or the barrier */
    const double *close_s;
    /* Whether all ranks wait for all at the end of a step; else each goes on to its
     * next step by itself. */
    bool has_barrier;
} ridge_pace;

/**
 * Seconds from one step to the next.
 *
 *     with a barrier  max over ranks of  end of passes + close
 *     without         lim  (end of step k) / k: the largest mean of a circle of waits
 *
 * Neither is shorter where anything takes longer. Of many microbatches the first few
 * times p are played, and the others follow as the last of those do: within 0.1 % of
 * the whole play.
 *
 * @param stages, close_s  checked: finite, >= 0
 * @return INFINITY: memory ran out, see ridge_pacer_status; or no such pipeline
 * @source qi2023-zero-bubble section 4 (steps without a barrier)
 */
double ridge_pacer_step_s(ridge_pacer *pacer, const ridge_pace *pace);

/** E_NOMEM once memory ran out. */
ridge_status ridge_pacer_status(const ridge_pacer *pacer);

#ifdef __cplusplus
}
#endif

#endif
