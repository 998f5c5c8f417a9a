/* An unrolling under way: what instruction.c, recompute.c and last_use.c share. */
#ifndef RIDGE_EXECUTE_UNROLL_WORK_H
#define RIDGE_EXECUTE_UNROLL_WORK_H

#include "instruction.h"

typedef struct unroll_work {
    ridge_ctx *cx;
    ridge__unrolling how;
    ridge__unrolled u;
    ridge__list_kind *list_of; /* [n_ops] */
    bool *is_update_block;     /* [n_blocks] */
    int *side_op;              /* [n_ops]; -1: none */
} unroll_work;

/** The operation whose side value (statistics of a softmax, order of experts' rows)
 * operation @p index makes or reads; -1: none. */
int ridge__side_op(const ridge_partition *partition, int index);
/** Append an instruction, or count it while lists are not there yet. */
void ridge__unroll_emit(unroll_work *w, ridge__list_kind kind, int op,
                        int64_t repetition, bool is_again);
/** What the backward repetition needs of its forward one that is not kept: emitted into
 * the list of inputs. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__unroll_again(unroll_work *w, int block,
                                                 int64_t repetition);
/** Where each value is last used. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__unroll_frees(unroll_work *w);

#endif
