/*
 * Deployments of services made ready to be played on streams of requests: the tables of
 * their layouts, the rules of their engine, their caches.
 */
#ifndef RIDGE_PLAN_REQUESTS_H
#define RIDGE_PLAN_REQUESTS_H

#include "ridge/plan_service.h"
#include "ridge/simulate_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A deployment with what it is played by. Not to be copied: its pools point into it.
 */
typedef struct ridge_service_deployment {
    ridge_serving_deployment play; /* router, queue, failures, ... are the caller's */
    ridge_serving_speed speeds[RIDGE_SERVING_POOLS_MAX];
    ridge_serving_memory memory[RIDGE_SERVING_POOLS_MAX];
    ridge_service_choice choice;
    const ridge_engine *engine;
    double longest_tokens; /* of a sequence */
} ridge_service_deployment;

/**
 * The deployment that knobs name, without a search: degrees that are not fixed are 1,
 * but tp takes what is left of the slice for each server; an engine's own limits of
 * sequences and tokens hold.
 * @errors E_ARG servers that need more chips than the slice has, a layout that is not
 *  legal; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_service_choice_of_knobs(
    ridge_ctx *cx, const ridge_service_request *request, ridge_service_choice *out);

/**
 * Price a deployment's layouts into tables.
 * @param request  model, slice, engine, skew and price are taken; not its work or goals
 * @param longest_tokens  of a sequence, prompt and output: max_model_len, >= 2
 * @owner cx, and the request's pointers
 * @errors E_ARG a layout that is not legal, or whose cache has no room for a sequence;
 *  E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_service_deploy(ridge_ctx *cx,
                                                  const ridge_service_request *request,
                                                  const ridge_service_choice *choice,
                                                  double longest_tokens,
                                                  ridge_service_deployment *out);

/** The most that a deployment takes while it keeps goals. */
typedef struct ridge_service_capacity {
    double asked_share;            /* of requests that are to keep the goals */
    double requests_per_s;         /* 0: not even one now and then */
    double share;                  /* that keeps them at it */
    double next_requests_per_s;    /* the lowest at which fewer do; 0: none was met */
    double next_share;             /* that does there */
    int plays;                     /* rates that were played */
    ridge_serving_summary summary; /* at it; of the lowest rate where it is 0 */
} ridge_service_capacity;

/** Which rate is sought, and how exactly. */
typedef struct ridge_capacity_aim {
    double share; /* 0 to 1: 0.99 asks that the p99 of each goal is kept, together */
    double precision; /* of the rate: 1e-4, to 0.01%; > 0 */
} ridge_capacity_aim;

/**
 * The highest rate of a drawn stream at which a share of its requests keeps all goals:
 * played at rates that double and are then halved between.
 * @param draws  an open process of arrivals; its rate is where the search begins
 * @errors E_ARG no goals, a closed loop; those of ridge_serving_play
 */
RIDGE_NODISCARD ridge_status ridge_service_capacity_find(
    ridge_ctx *cx, const ridge_serving_deployment *deployment,
    const ridge_request_draws *draws, const ridge_serving_goals *goals,
    const ridge_capacity_aim *aim, ridge_service_capacity *out);

#ifdef __cplusplus
}
#endif

#endif
