/*
 * Search for the shardings of a program's intermediates, when its weights and inputs
 * are given: exact, for chains and small graphs of einsums, attention, norms and
 * elementwise operations.
 */
#ifndef RIDGE_PLAN_CHAIN_H
#define RIDGE_PLAN_CHAIN_H

#include "ridge/base.h"
#include "ridge/cost_program.h"
#include "ridge/program.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_CHAIN_INPUT_MAX = 4 };

typedef struct ridge_chain_request {
    const ridge_program *program; /* every block counts once */
    const ridge_mesh *mesh;
    /* Tensors that rules name lie so: weights, inputs, and what else is fixed. Others
     * that no operation makes are replicated. */
    ridge_rules rules;
    const ridge_laid_mesh *laid; /* NULL: by bytes that a chip sends */
    ridge_dtype compute;
} ridge_chain_request;

/** How one operation multiplies. */
typedef struct ridge_chain_op {
    int op; /* of the program */
    int n_inputs;
    ridge_sharding inputs[RIDGE_CHAIN_INPUT_MAX]; /* as taken */
    ridge_sharding output;                        /* as it comes out */
    double compute_s;                             /* 0 without a slice */
} ridge_chain_op;

/** What brings a tensor from one sharding to another. */
typedef struct ridge_chain_move {
    int tensor; /* of the program */
    int reader; /* operation of the program; -1: kept so, for all readers or the end */
    ridge_sharding from, to;
    int n_steps;
    ridge_reshard steps[RIDGE_RESHARD_MAX];
    double time_s, sent_bytes;
} ridge_chain_move;

/** The cheapest way. Lives as long as the ctx. */
typedef struct ridge_chain_plan {
    const ridge_program *program;
    ridge_mesh mesh;
    int n_ops;
    ridge_chain_op *ops; /* in program order */
    int n_moves;
    ridge_chain_move
        *moves;  /* those that do something; in order of what they wait for */
    double cost; /* what was minimised: seconds, or bytes */
    double compute_s, network_s, sent_bytes;
    double ways; /* combinations that the search covers */
} ridge_chain_plan;

/**
 * The cheapest shardings of all intermediates: the sum over operations and moves, one
 * after the other, is least. A tensor that several operations read is kept in one
 * sharding, from which each takes it. An operation cuts its dims in any way that leaves
 * right local results; partial sums go through einsums alone.
 * @owner cx
 * @errors E_ARG an operation of another kind, or a graph or mesh too large to search,
 *         with the reason; those of rules; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_chain_search(ridge_ctx *cx,
                                                const ridge_chain_request *request,
                                                ridge_chain_plan *out);

/** The cheapest way on the best placement. */
typedef struct ridge_chain_study {
    ridge_chain_plan plan;
    const ridge_slice *slice; /* NULL: bytes alone */
    ridge_laid_mesh laid;
    int placements; /* ways to lay the mesh that were searched */
} ridge_chain_study;

/**
 * ridge_chain_search on a slice, where the mesh lies in the way that is cheapest.
 * @param request  its laid is not heeded
 * @param slice    NULL: by bytes
 * @param place    as ridge_mesh_place_parse takes it; NULL: every way that differs
 * @errors those of ridge_chain_search and of ridge_mesh_place_parse
 */
RIDGE_NODISCARD ridge_status ridge_chain_study_find(ridge_ctx *cx,
                                                    const ridge_chain_request *request,
                                                    const ridge_slice *slice,
                                                    const char *place,
                                                    ridge_chain_study *out);

#ifdef __cplusplus
}
#endif

#endif
