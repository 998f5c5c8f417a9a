/*
 * A partitioned program unrolled into lists of instructions on numbered values: each
 * operation of each repetition once, forward, backward for inputs, backward for
 * weights, reduction of gradients and update. What remat computes again stands in the
 * backward lists. Says when a value is last used. Knows nothing of devices or ranks.
 */
#ifndef RIDGE_EXECUTE_INSTRUCTION_H
#define RIDGE_EXECUTE_INSTRUCTION_H

#include "ridge/model.h"
#include "ridge/program_remat.h"
#include "ridge/shard.h"

/** Lists, in the order in which a microbatch goes through them; the last two run once a
 * step. */
typedef enum ridge__list_kind {
    RIDGE__LIST_FORWARD,
    RIDGE__LIST_INPUTS,  /* backward, what the gradient of the stream needs */
    RIDGE__LIST_WEIGHTS, /* backward, the rest: gradients of weights */
    RIDGE__LIST_REDUCE, /* collectives of gradients that wait for the last microbatch */
    RIDGE__LIST_UPDATE
} ridge__list_kind;

enum { RIDGE__LIST_COUNT = RIDGE__LIST_UPDATE + 1 };

/** Where a value lives. */
typedef enum ridge__value_kind {
    RIDGE__VALUE_FLIGHT,  /* of one microbatch, or of the step in the last two lists */
    RIDGE__VALUE_FIXED,   /* weights, states, caches: from step to step */
    RIDGE__VALUE_GRADIENT /* summed over the microbatches of a step */
} ridge__value_kind;

/** One operation of one repetition. Values are numbers into the unrolled value table.
 */
typedef struct ridge__instruction {
    int op;
    int repetition; /* of its block */
    int in[RIDGE_OP_INPUT_MAX], out[RIDGE_OP_OUTPUT_MAX];
    int side;               /* value of what it keeps beside tensors; -1: none */
    int first_free, n_free; /* values that nobody needs afterwards */
    bool is_again;          /* remat: computed a second time */
} ridge__instruction;

typedef struct ridge__list {
    int n;
    ridge__instruction *at;
    int *frees; /* value numbers; an instruction's are first_free .. + n_free */
} ridge__list;

/** What is built. */
typedef struct ridge__unrolling {
    ridge_remat remat;
    ridge_remat_ops
        named;            /* operations that are done again instead; 0: by the policy */
    int64_t again_layers; /* how many layers it holds for, the first ones of the
                             program; 0: all */
    bool is_reduced_once; /* gradients are reduced after the last microbatch, not after
                             each (ZeRO stages 0 and 1) */
    bool has_weight_list; /* weights' gradients apart (zero bubble) */
} ridge__unrolling;

/** Owned by a ctx. */
typedef struct ridge__unrolled {
    const ridge_partition *partition;
    int n_values;
    int *first_value; /* [n_tensors + n_ops]: of a tensor's repetitions; then of the
                         side values of operations */
    int *tensor_of;   /* [n_values]; -1 - op for side values */
    int *repetition_of;
    ridge__value_kind *kind; /* [n_values] */
    ridge__list lists[RIDGE__LIST_COUNT];
} ridge__unrolled;

/** @errors E_NOMEM; E_ARG too large to unroll */
RIDGE_NODISCARD ridge_status ridge__unroll(ridge_ctx *cx,
                                           const ridge_partition *partition,
                                           const ridge__unrolling *how,
                                           ridge__unrolled *out);

/** The block of an operation. */
int ridge__op_block_of(const ridge_program *program, int op);
/** The operation that makes a tensor; -1: it is declared. */
int ridge__tensor_maker(const ridge_program *program, int tensor);
/** The dispatch whose rows a tensor is; -1: it is no rows of experts. */
int ridge__tensor_dispatch(const ridge_program *program, int tensor);

/** How many repetitions of a block a tensor has values of. */
int64_t ridge__tensor_repeats(const ridge_program *program, int tensor);

/** The value that an operation of repetition @p repetition of @p block reads or writes
 * as @p tensor. */
int ridge__value_of(const ridge__unrolled *u, int block, int64_t repetition,
                    int tensor);
/** The same of what operation @p side keeps beside tensors. */
int ridge__side_value_of(const ridge__unrolled *u, int block, int64_t repetition,
                         int side);

#endif
