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

enum { RIDGE_FLEET_POOL_MAX = 4, RIDGE_FLEET_SHARES_TRIED = 32 };

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

/** A pool's share of the batch, where each pool holds whole replicas. */
typedef struct ridge_fleet_share {
    int pool; /* of the fleet as written */
    int64_t batch_seqs;
    ridge_train_price price; /* its own step, the reduction over all pools among it */
    double waiting; /* share of the fleet's step in which it waits for others */
} ridge_fleet_share;

/** Replicas in every pool, each laid out as suits its chips, the batch dealt so that
 *  none waits longer than it must. */
typedef struct ridge_fleet_replicas {
    /* Step (of the slowest pool), its bound and parts, rates a chip of all pools, MFU
     * of the sum of their peaks, days; memory is that of the pool with least left. */
    ridge_train_price price;
    int n;                                          /* pools; 0: no such layout */
    ridge_fleet_share shares[RIDGE_FLEET_POOL_MAX]; /* as written */
    int slowest;
} ridge_fleet_replicas;

typedef struct ridge_fleet_result {
    int64_t chips; /* of all pools */
    int64_t batch_seqs;
    double batch_tokens;
    int n_layouts; /* best first, one of each mesh and order; 0: nothing fits */
    const char *why_no_pipeline; /* or NULL: knobs that it cannot take */
    ridge_fleet_price *layouts;
    ridge_fleet_replicas replicas; /* the best of these */
    const char *why_no_replicas;   /* or NULL */
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
 * The best replicas in every pool. Shares are whole sequences; each pool is searched as
 * ridge_train_search does, its gradients reduced over all pools. Of up to
 * RIDGE_FLEET_SHARES_TRIED sequences every deal is tried; of more, shares move from the
 * slowest to the quickest pool in ever smaller steps.
 * @param out  n is 0 where nothing fits
 * @errors E_ARG as ridge_fleet_search, knobs that a pool cannot take; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_fleet_replicas_search(
    ridge_ctx *cx, const ridge_train_request *request, ridge_fleet_replicas *out);

/** Replicas given whole: shares with pool, batch_seqs and price.layout.
 * @errors E_ARG: not of this fleet's pools; E_NOMEM. One that does not fit is an answer
 * (out->price.fit) */
RIDGE_NODISCARD ridge_status ridge_fleet_replicas_price(
    ridge_ctx *cx, const ridge_train_request *request, const ridge_fleet_share *shares,
    int n, ridge_fleet_replicas *out);

/**
 * The sums of a run on all pools: prices, power and failures of each added up.
 * @param money  [n_pools], as written
 * @return without price, power or goodput where a pool has none. Cannot fail
 */
ridge_money ridge_fleet_money(const ridge_fleet_result *result,
                              const ridge_train_price *price,
                              const ridge_money_request *money);

/* ---- plan files -------------------------------------------------------------------
 */

/** A plan of a fleet: version 1 of "ridge-plan", "kind": "fleet". */
typedef struct ridge_fleet_plan {
    ridge_plan head;  /* all but its layout */
    bool is_replicas; /* in each pool; else one pipeline over all */
    ridge_fleet_layout pipeline;
    int n_shares;
    ridge_fleet_share shares[RIDGE_FLEET_POOL_MAX]; /* pool, batch_seqs, price.layout */
} ridge_fleet_plan;

/** The better of the two ways, of which one must fit, but for what was asked. */
ridge_fleet_plan ridge_fleet_plan_best(const ridge_fleet_result *result);

/** Whether a parsed plan is one of a fleet. */
bool ridge_plan_is_fleet(ridge_node root);

/** The better of the two ways, with its prediction; one of them must fit. */
ridge_json *ridge_fleet_plan_to_json(ridge_ctx *cx, const ridge_train_request *request,
                                     const char *model_name,
                                     const ridge_fleet_result *result);

/** A plan that is already parsed. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status ridge_fleet_plan_from_json(ridge_ctx *cx, ridge_node root,
                                                        ridge_fleet_plan *out);

/**
 * The derivation of a quantity of a fleet's plan: step_time, bound_step_time, mfu,
 * memory, or a part of the step. Of replicas it goes down to the facts of the slowest
 * pool's chip, of a pipeline to its stages.
 * @errors E_NOTFOUND with the nearest quantity; E_ARG: the layout is not legal on the
 * fleet; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_fleet_explain(ridge_ctx *cx,
                                                 const ridge_train_request *request,
                                                 const ridge_fleet_plan *plan,
                                                 const char *quantity,
                                                 ridge_explanation *out);

#ifdef __cplusplus
}
#endif

#endif
