/* Megatron's modules of recomputation as operations of a layer, and back. */
#ifndef RIDGE_PLAN_LAUNCH_MODULES_H
#define RIDGE_PLAN_LAUNCH_MODULES_H

#include "ridge/model.h"
#include "ridge/program_remat.h"

/** Operations of the model's layers. @errors E_ARG sizes that overflow; E_NOMEM */
RIDGE_NODISCARD ridge_status launch_model_ops(ridge_ctx *cx, const ridge_model *model,
                                              ridge_remat_ops *out);
/** Modules that are more than a set of operations, as bits of a set. */
enum {
    LAUNCH_MODULE_MOE,
    LAUNCH_MODULE_CORE_ATTN,
    LAUNCH_MODULE_LAYERNORM,
    LAUNCH_MODULE_MLP,
    LAUNCH_MODULE_MLA_UP
};

/** "layernorm moe_act" or "[layernorm, moe_act]" as a set of modules.
 *  @return a name that is no module, borrowed from the text; empty: all are known */
ridge_str launch_modules_parse(const char *modules, unsigned *out);
/** What the modules of a set compute again, of any model's operations. */
ridge_remat_ops launch_modules_ops(unsigned set);
/** The modules that these operations are, in the ctx's arena.
 *  @return NULL: they are no modules whole, or memory ran out */
const char *launch_modules_text(ridge_ctx *cx, ridge_remat_ops model,
                                ridge_remat_ops ops);

#endif
