/* Operations of layers that are done again one by one: what that takes, what it frees.
 */
#ifndef RIDGE_PLAN_NAMED_REMAT_H
#define RIDGE_PLAN_NAMED_REMAT_H

#include "layer_time.h"

#include "ridge/cost_program.h"
#include "ridge/shard.h"

/** A cut program with the times of its operations, and the blocks of a kind of layer.
 */
typedef struct named_program {
    const ridge_partition *partition;
    const ridge_operation_time *times; /* [n_ops] */
    int forward, backward;             /* blocks; -1: none */
} named_program;

/** The blocks that stand for a kind of layer. */
named_program named_program_of(const ridge_partition *partition,
                               const ridge_operation_time *times, int kind);

/** What naming operations comes to in one layer. What others exchanged is kept.
 *  @param again  [n_ops] scratch
 *  @param tokens  of the partition on a chip */
named_time named_remat_time(const train_case *tc, const named_program *program,
                            ridge_remat_ops ops, double tokens, bool *again);

/**
 * Sets of operations from the cheapest to all, each with those before it: the next one
 * frees most bytes for the time that it adds, alone or with what made its operands.
 * @param out  room for NAMED_MOST
 * @return how many
 */
int named_remat_ladder(const train_case *tc, const ridge_partition *partition,
                       const ridge_operation_time *times, double tokens, bool *again,
                       ridge_remat_ops *out);

#endif
