/* A fleet's plan played out as discrete events. */
#ifndef RIDGE_PLAN_FLEET_SIMULATION_H
#define RIDGE_PLAN_FLEET_SIMULATION_H

#include "ridge/plan_fleet.h"
#include "ridge/plan_simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is played by itself: a pool's replicas, or one pipeline over all pools. */
typedef struct ridge_fleet_played {
    int64_t batch_seqs;          /* a pool's share; 0: a pipeline */
    ridge_train_request request; /* of the pool; zeros: a pipeline */
    ridge_train_simulation simulation;
} ridge_fleet_played;

typedef struct ridge_fleet_simulation {
    bool is_replicas;
    double closed_s, played_s; /* the step as told, and as played without trouble */
    double mean_s, p90_s;      /* with trouble; without it as played_s */
    int n;                     /* replicas: pools; a pipeline: 1 */
    ridge_fleet_played pools[RIDGE_FLEET_POOL_MAX];
    const char *const *rank_pools; /* of a pipeline [stages]: the pool of each */
    bool has_failures;
    ridge_run_simulation run; /* of all pools, at the mean step */
} ridge_fleet_simulation;

/**
 * Play the step of a fleet's plan. A pipeline is played as one of unlike stages. Pools
 * that hold replicas draw by themselves (seed, seed + 1, ...) and meet once a step: it
 * ends with the last of them. With failures the whole run is played, which any pool's
 * failures stop.
 * @param asked  its money is [pools], as written
 * @param out  owned by the ctx
 * @errors E_ARG: a plan that is not legal, stragglers among replicas of several pools,
 * those of ridge_step_play and ridge_train_simulate; E_NOMEM; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_fleet_simulate(ridge_ctx *cx,
                                                  const ridge_train_request *request,
                                                  const ridge_fleet_plan *plan,
                                                  const ridge_simulation_request *asked,
                                                  ridge_fleet_simulation *out);

#ifdef __cplusplus
}
#endif

#endif
