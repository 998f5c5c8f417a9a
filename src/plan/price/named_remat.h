/*
 * Which operations of layers are worth doing again one by one.
 */
#ifndef RIDGE_PLAN_NAMED_REMAT_H
#define RIDGE_PLAN_NAMED_REMAT_H

#include "named_graph.h"

/**
 * Sets of operations from the cheapest to all, each with those before it: the next one
 * frees most bytes for the time that it adds, alone or with what made its operands.
 * @param graphs  [tc->n_kinds]
 * @param out  room for NAMED_MOST
 * @param n  how many
 * @return false: memory ran out
 */
bool named_remat_ladder(ridge_arena *arena, const train_case *tc,
                        const ridge_program *program, const named_graph *graphs,
                        ridge_remat_ops *out, int *n);

/** FLOPs of products that are done again in all layers of a program whole; 0 where
 * memory runs out. */
double named_remat_flops(ridge_arena *scratch, const ridge_program *program,
                         ridge_remat_ops ops);

#endif
