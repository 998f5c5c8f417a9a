/* The program of a layout, cut over its whole mesh, as it runs. */
#ifndef RIDGE_PLAN_LAYOUT_CUT_H
#define RIDGE_PLAN_LAYOUT_CUT_H

#include "ridge/plan.h"
#include "ridge/shard.h"

/** One microbatch of all replicas, of all layers: stages are not told apart.
 * @errors E_ARG degrees that no mesh has; E_NOMEM. @owner cx */
RIDGE_NODISCARD ridge_status train_layout_cut(ridge_ctx *cx,
                                              const ridge_train_request *request,
                                              const ridge_layout *layout,
                                              const ridge_partition **out);

#endif
