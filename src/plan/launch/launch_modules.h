/* Megatron's modules of recomputation as operations of a layer, and back. */
#ifndef RIDGE_PLAN_LAUNCH_MODULES_H
#define RIDGE_PLAN_LAUNCH_MODULES_H

#include "ridge/model.h"
#include "ridge/program_remat.h"

/** Operations of the model's layers. @errors E_ARG sizes that overflow; E_NOMEM */
RIDGE_NODISCARD ridge_status launch_model_ops(ridge_ctx *cx, const ridge_model *model,
                                              ridge_remat_ops *out);
/** "layernorm moe_act" as those operations that the model has.
 *  @return false: a module among them is no set of operations, or unknown */
bool launch_modules_ops(const char *modules, ridge_remat_ops model,
                        ridge_remat_ops *out);
/** The modules that these operations are, in the ctx's arena.
 *  @return NULL: they are no modules whole, or memory ran out */
const char *launch_modules_text(ridge_ctx *cx, ridge_remat_ops model,
                                ridge_remat_ops ops);

#endif
