/*
 * Mixed fleets: pools of unlike chips in one pipeline. Each pool holds consecutive
 * stages, and layers are dealt to stages so that none waits longer than it must.
 */
#ifndef RIDGE_PLAN_FLEET_H
#define RIDGE_PLAN_FLEET_H

#include "ridge/plan_money.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_FLEET_POOL_MAX = 4 };

/** A pool's part of the pipeline. */
typedef struct ridge_fleet_part {
    int pool;       /* of the fleet as written, from 0 */
    int64_t stages; /* its chips over those of a stage */
    ridge_remat remat;
    int placement; /* on the pool's network, as ridge_layout.placement */
} ridge_fleet_part;

/** A layout of a fleet. Stages of all pools are cut alike: dp x fsdp x tp x cp chips
 *  each. Layers follow from it, see ridge_fleet_price_one. */
typedef struct ridge_fleet_layout {
    ridge_layout common; /* pp: stages of all pools; remat, placement: not read */
    int n_parts;
    ridge_fleet_part parts[RIDGE_FLEET_POOL_MAX]; /* in the order of the pipeline */
} ridge_fleet_layout;

/** What a pool does in a step. */
typedef struct ridge_fleet_pool {
    ridge_fleet_part part;
    const ridge_slice *slice;          /* the pool alone */
    int64_t layers;                    /* of all its stages */
    int64_t layers_least, layers_most; /* of any of them */
    double stage_s; /* a microbatch on its slowest stage: both passes with messages */
    double waiting; /* share of the step in which that stage has no microbatch */
    ridge_memory_parts memory; /* of its fullest stage */
    double peak_memory_bytes;
    int64_t fullest_stage; /* of the pipeline */
} ridge_fleet_pool;

typedef struct ridge_fleet_price {
    ridge_fleet_layout layout;
    /* Step, bound, parts (of the slowest stage), rates a chip of all pools, MFU of the
     * sum of their peaks, days; memory is that of the pool with least left. */
    ridge_train_price price;
    ridge_fleet_pool pools[RIDGE_FLEET_POOL_MAX]; /* in the order of the pipeline */
    int slowest;      /* of these, whose stage takes longest */
    double between_s; /* the longest message between two pools */
} ridge_fleet_price;

typedef struct ridge_fleet_result {
    int64_t chips; /* of all pools */
    int64_t batch_seqs;
    double batch_tokens;
    int n_layouts; /* best first, one of each mesh and order; 0: nothing fits */
    ridge_fleet_price *layouts;
    int n_pools;
    bool has_alone[RIDGE_FLEET_POOL_MAX];
    ridge_train_request requests[RIDGE_FLEET_POOL_MAX]; /* of each pool by itself */
    ridge_train_price alone[RIDGE_FLEET_POOL_MAX];      /* its best layout by itself */
    int64_t covered, priced;
    double seconds;
} ridge_fleet_result;

/**
 * The best layouts of the model over all pools of request->slice.
 *
 * Space: every tp, cp, ep, dp, fsdp whose product divides each pool, every order of the
 * pools, ZeRO stages, microbatches, and of each pool remat policy and placement; 1F1B
 * unless another schedule without virtual stages is asked for. Pools are joined as
 * slices are: a message goes over the slower of their outermost networks.
 * @owner the ctx
 * @errors E_ARG: fewer than two pools or more than RIDGE_FLEET_POOL_MAX, knobs that a
 * fleet cannot take, a pool without a network; those of ridge_train_search; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_fleet_search(ridge_ctx *cx,
                                                const ridge_train_request *request,
                                                ridge_fleet_result *out);

/**
 * Price one layout. Of all ways to deal out the layers in order, at least one a stage,
 * so that every stage fits its chip, one whose slowest stage takes least is taken; of
 * those the one that leaves most to later stages, which keep less.
 * @errors E_ARG: not a layout of this fleet's pools; E_NOMEM. One that is illegal or
 * does not fit is an answer (out->price.fit)
 */
RIDGE_NODISCARD ridge_status ridge_fleet_price_one(ridge_ctx *cx,
                                                   const ridge_train_request *request,
                                                   const ridge_fleet_layout *layout,
                                                   ridge_fleet_price *out);

/**
 * The sums of a run on all pools: prices, power and failures of each added up.
 * @param money  [n_pools], as written
 * @return without price, power or goodput where a pool has none. Cannot fail
 */
ridge_money ridge_fleet_money(const ridge_fleet_result *result,
                              const ridge_fleet_price *price,
                              const ridge_money_request *money);

#ifdef __cplusplus
}
#endif

#endif
