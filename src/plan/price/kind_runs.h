/* A model whose layers of a kind stand together. */
#ifndef RIDGE_PLAN_KIND_RUNS_H
#define RIDGE_PLAN_KIND_RUNS_H

#include "ridge/model.h"

/**
 * The model with one run for each kind of layer, in the order in which they first come.
 * What is read once a kind is the same of its program, which is as much shorter.
 * @return the model as it is where its layers hang together (shared weights or keys,
 * two stacks) or its runs are few; NULL: memory ran out. @owner the ctx, and the model
 */
const ridge_model *kind_runs_gather(ridge_ctx *cx, const ridge_model *model);

#endif
