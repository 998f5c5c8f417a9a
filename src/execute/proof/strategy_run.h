/*
 * What running a strategy is made of: the strategy as a partitioned program, the
 * numbers of its operands, and the product that they should give.
 */
#ifndef RIDGE_EXECUTE_STRATEGY_RUN_H
#define RIDGE_EXECUTE_STRATEGY_RUN_H

#include "ridge/execute_shard.h"

enum { RIDGE__STRATEGY_OP_MAX = RIDGE_RESHARD_MAX + 3 * RIDGE_EXPR_INPUT_MAX };

/** A strategy as a program of one block, and what of it is what. */
typedef struct ridge__strategy_program {
    const ridge_partition *partition;
    int inputs[RIDGE_EXPR_INPUT_MAX], output; /* tensors */
    int step_of[RIDGE__STRATEGY_OP_MAX]; /* of an operation; -1: the product's part */
} ridge__strategy_program;

/** @owner the ctx
 * @errors E_ARG a product of operands from left to right with too many dims; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__strategy_program_make(
    ridge_ctx *cx, const ridge_strategy_run *run, const ridge_strategy *strategy,
    ridge__strategy_program *out);

/** The numbers of an expression, and its product in double precision. */
typedef struct ridge__expr_truth {
    const ridge_strategy_run *run;
    int64_t most;     /* whole numbers are from -most to most */
    bool is_exact;    /* no sum of the product can round */
    double tolerance; /* of the largest number; 0 if exact */
    double *product;  /* of whole arrays, row-major */
    double largest;   /* of it, without sign; at least the smallest normal number */
} ridge__expr_truth;

/** The format of an operand, or of the output for n_inputs. */
ridge_dtype ridge__expr_format(const ridge_strategy_run *run, int operand);
/** The number at a place of a whole operand in one of the pieces that add up to it. */
double ridge__expr_value(const ridge__expr_truth *truth, int operand, int64_t place,
                         int64_t piece);
/** @owner the ctx @errors E_ARG too much to multiply; E_NOMEM; E_CANCELLED */
RIDGE_NODISCARD ridge_status ridge__expr_truth_make(ridge_ctx *cx,
                                                    const ridge_strategy_run *run,
                                                    ridge__expr_truth *out);

#endif
