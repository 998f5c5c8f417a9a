/*
 * Costs of strategies: what each right way to compute a sharded einsum takes on a
 * slice, on which its mesh is laid in the best way or as asked.
 */
#ifndef RIDGE_COST_STRATEGY_H
#define RIDGE_COST_STRATEGY_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/cost_program.h"
#include "ridge/cost_range.h"
#include "ridge/hardware.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a mesh on a slice ----------------------------------------------------------- */

/** Fails unless the mesh has as many ranks as the slice has chips. @errors E_ARG */
RIDGE_NODISCARD ridge_status ridge_mesh_place_check(ridge_ctx *cx,
                                                    const ridge_mesh *mesh,
                                                    const ridge_slice *slice);
/** "x=ici-x,y=ici-y+ici-z": mesh axes, innermost first, and the network axes that each
 *  fills. Mesh axes that are not named come after. @errors E_PARSE, E_ARG */
RIDGE_NODISCARD ridge_status ridge_mesh_place_parse(ridge_ctx *cx, const char *text,
                                                    const ridge_mesh *mesh,
                                                    const ridge_slice *slice,
                                                    ridge_laid_mesh *out);
/** How many ways to try: orders of mesh axes times orders of network axes. */
int64_t ridge_mesh_place_count(const ridge_mesh *mesh, const ridge_slice *slice);
/** Way number @p index; 0 lays the last mesh axis on the innermost network axis.
 * @return false: the sizes do not lie so */
bool ridge_mesh_place_try(const ridge_mesh *mesh, const ridge_slice *slice,
                          int64_t index, ridge_laid_mesh *out);

/* ---- strategies ------------------------------------------------------------------ */

/** What a strategy takes on a slice. */
typedef struct ridge_strategy_cost {
    ridge_time compute;                  /* the local product, with its padding */
    ridge_time steps[RIDGE_RESHARD_MAX]; /* of the strategy, in its order */
    double flops;                        /* matmul and vector, of one chip */
    double network_s;                    /* sum of the steps, expected */
    double time_s;                       /* nothing hidden: product, then steps */
    double overlapped_s;                 /* collective matmul where it can be */
    double exposed_s;                    /* of overlapped_s: the network not hidden */
    double bound_s; /* everything overlaps: the busiest of chip and network axes */
    ridge_bound bound_by;
} ridge_strategy_cost;

/**
 * The time of a strategy. The local product contracts its operands from left to right.
 *
 * Collective matmul: a gather that is the last step of an operand, or a scatter that is
 * the first of the product, of n ranks runs in n chunks beside the product; one chunk
 * is not hidden. Left out: that a product in chunks is a little slower.
 *
 * @param formats  of the first operand, of the others, of the product
 * @source scaling-book-2025 chapters 3 and 10; wang2023
 */
ridge_strategy_cost ridge_strategy_price(const ridge_expr *expr,
                                         const ridge_strategy *s,
                                         const ridge_laid_mesh *laid,
                                         const ridge_formats *formats);

/** The range of time_s, or of overlapped_s: as those of its parts weigh. */
ridge_range ridge_strategy_range(const ridge_strategy *s,
                                 const ridge_strategy_cost *cost, bool has_overlap);

/** A sharded einsum to be looked at. */
typedef struct ridge_shard_request {
    const ridge_expr *expr;
    const ridge_slice *slice; /* NULL: bytes alone */
    ridge_formats formats;
    const char *place; /* "x=ici-x,y=ici-y+ici-z", innermost first; NULL: the best */
    bool has_overlap;  /* best by overlapped_s */
} ridge_shard_request;

/** A strategy and what it takes; the cost is zero without a slice. */
typedef struct ridge_priced_strategy {
    ridge_strategy strategy;
    ridge_strategy_cost cost;
    double sent_bytes; /* of one chip */
    double held_bytes; /* of one chip: operands as multiplied, and the product */
} ridge_priced_strategy;

/** All strategies, best first. Lives as long as the ctx. */
typedef struct ridge_shard_study {
    ridge_expr expr; /* with the formats' bytes */
    const ridge_slice *slice;
    ridge_laid_mesh laid;
    ridge_formats formats;
    bool has_overlap;
    int n;
    ridge_priced_strategy *strategies;
    double output_bytes; /* of one chip */
    int64_t placements;  /* ways to lay the mesh that were tried */
} ridge_shard_study;

/**
 * @errors E_ARG a mesh that is not the slice's size or does not lie on it, a place that
 *         is not there; those of ridge_expr_strategies
 */
RIDGE_NODISCARD ridge_status ridge_shard_study_find(ridge_ctx *cx,
                                                    const ridge_shard_request *request,
                                                    ridge_shard_study *out);

#ifdef __cplusplus
}
#endif

#endif
