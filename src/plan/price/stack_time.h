/* What a software stack makes of the time of well-tuned kernels. */
#ifndef RIDGE_PLAN_STACK_TIME_H
#define RIDGE_PLAN_STACK_TIME_H

#include "layer_time.h"
#include "ridge/cost_program.h"
#include "train_case.h"

/**
 * The time of one operation of a partition on the case's stack.
 * @param tuned  what well-tuned software takes; returned as it is without a stack
 */
ridge_operation_time stack_operation_time(const train_case *tc,
                                          const ridge_partition *partition, int op,
                                          const ridge_operation_time *tuned);

/**
 * What selective remat does again: the attention (korthikanti2022), or, where a stack
 * says so, a share of the products and all elementwise work, and no attention.
 */
double stack_selective_s(const ridge_stack *stack, const layer_time *t);

/** Whether a policy does no more work again than the one that keeps less: a search may
 *  then stop at the first that fits. Others are taken only where they are asked for. */
bool stack_has_ordered_remat(const ridge_stack *stack, ridge_remat remat);

#endif
