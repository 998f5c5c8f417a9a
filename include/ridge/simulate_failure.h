/*
 * A run over days: steps, checkpoints, failures, restarts. Knows times alone.
 */
#ifndef RIDGE_SIMULATE_FAILURE_H
#define RIDGE_SIMULATE_FAILURE_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A run that fails now and then; each time finite and > 0 unless said otherwise. */
typedef struct ridge_failure_script {
    double step_s;
    int64_t steps;            /* to do, >= 1 */
    double mtbf_s;            /* between failures of the whole machine, on average */
    int64_t checkpoint_steps; /* between checkpoints, >= 1; the last step needs none */
    double checkpoint_s;      /* for which a checkpoint stops the steps; >= 0 */
    double lag_s;     /* from then until it can be restored, >= 0: 0 when it is written
                       * while the steps wait */
    double restart_s; /* from a failure until steps go on; >= 0 */
    int runs;         /* to play, 1 to RIDGE_FAILURE_RUNS_MAX */
    uint64_t seed;
} ridge_failure_script;

enum { RIDGE_FAILURE_RUNS_MAX = 100000 };

/** Where the time goes; means over runs, which sum to wall_s. */
typedef struct ridge_failure_outcome {
    double wall_s;
    double useful_s;     /* steps that count: step_s x steps */
    double checkpoint_s; /* of checkpoints that could be restored */
    double lost_s;       /* since the last of these, when a failure came */
    double restart_s;
    double failures;               /* a run */
    double goodput;                /* useful of the wall */
    double wall_p10_s, wall_p90_s; /* over runs */
} ridge_failure_outcome;

/**
 * Play runs. Failures come at random, at the same rate at all times (also during
 * checkpoints and restarts, which then begin anew). What was done since the last
 * checkpoint that can be restored is done again.
 *
 * @errors E_ARG a number outside the contract, or a run that would not end: failures
 *         come so often that hardly any checkpoint is reached; E_NOMEM
 * @note  No wear, no bursts, no spare that runs out; checkpoints are not broken.
 * @source young1974; daly2006 (what is lost and when)
 */
RIDGE_NODISCARD ridge_status ridge_failure_play(ridge_ctx *cx,
                                                const ridge_failure_script *script,
                                                ridge_failure_outcome *out);

#ifdef __cplusplus
}
#endif

#endif
