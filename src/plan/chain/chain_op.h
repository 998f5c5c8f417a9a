/*
 * What sharding may do to one operation: its dims as letters that stand in several
 * arrays, and which of them may be cut. Layer-internal.
 */
#ifndef RIDGE_PLAN_CHAIN_OP_H
#define RIDGE_PLAN_CHAIN_OP_H

#include "ridge/plan_chain.h"

enum { CHAIN_LETTER_MAX = 24 };

/** Arrays are the inputs and, last, the output. */
typedef struct chain_op {
    int op;
    int n_inputs;
    int n_letters;
    int64_t sizes[CHAIN_LETTER_MAX]; /* the least over arrays: heads share a letter */
    bool can_cut[CHAIN_LETTER_MAX];  /* locally right when cut alike everywhere */
    bool must_divide[CHAIN_LETTER_MAX]; /* no padding: heads */
    bool is_linear;                     /* partial sums of one input go through */
    int letters[RIDGE_CHAIN_INPUT_MAX + 1][RIDGE_TENSOR_DIM_MAX];
} chain_op;

/** @errors E_ARG an operation that is not searched, with its name */
RIDGE_NODISCARD ridge_status chain_op_read(ridge_ctx *cx, const ridge_program *program,
                                           int op, chain_op *out);

/** The tensor of an array. */
int chain_op_tensor(const ridge_program *program, const chain_op *o, int array);

/** Time on a chip with these shardings of the inputs and of the output. */
double chain_op_price(const ridge_chain_request *request, const chain_op *o,
                      const ridge_sharding *arrays);

#endif
