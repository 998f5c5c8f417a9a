/*
 * A training problem on a mixed fleet made ready: one case a pool, and what joins them.
 */
#ifndef RIDGE_PLAN_FLEET_CASE_H
#define RIDGE_PLAN_FLEET_CASE_H

#include "train_case.h"

#include "ridge/plan_fleet.h"

typedef struct fleet_case {
    ridge_ctx *cx;
    const ridge_train_request *request;
    int n; /* pools */
    int64_t chips;
    double peak_flops_per_s;                  /* of all chips, 16 bits */
    ridge_slice slices[RIDGE_FLEET_POOL_MAX]; /* each pool alone, as written */
    ridge_train_request requests[RIDGE_FLEET_POOL_MAX];
    train_case pools[RIDGE_FLEET_POOL_MAX];
    /* A chip of each of two pools, and the network between them. */
    ridge_slice between[RIDGE_FLEET_POOL_MAX][RIDGE_FLEET_POOL_MAX];
    /* A chip of each pool on the network that joins them all, as each pool has it. */
    ridge_slice together[RIDGE_FLEET_POOL_MAX];
    int n_layers;
    int *kinds;        /* [n_layers] kind of each layer in order */
    int *starts;       /* [n_layers] the first of the like ones up to each layer */
    double *one_layer; /* [kinds] scratch, zeros between its uses */
} fleet_case;

/** @errors as ridge_fleet_search. @owner cx; it points into itself: do not copy */
RIDGE_NODISCARD ridge_status fleet_case_open(ridge_ctx *cx,
                                             const ridge_train_request *request,
                                             fleet_case **out);

/** Knobs that one pipeline over all pools cannot take. @errors E_ARG */
RIDGE_NODISCARD ridge_status
fleet_case_check_pipeline(ridge_ctx *cx, const ridge_train_request *request);

/** Knobs that a fleet cannot take, and pools too few or too many. @errors E_ARG */
RIDGE_NODISCARD ridge_status fleet_case_check(ridge_ctx *cx,
                                              const ridge_train_request *request);

#endif
