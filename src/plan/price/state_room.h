/* Whether there is room for the state of a model at all, before anything is searched.
 */
#ifndef RIDGE_PLAN_STATE_ROOM_H
#define RIDGE_PLAN_STATE_ROOM_H

#include "ridge/plan.h"

/** Whether the chips together hold parameters, gradients and optimizer state once. If
 *  not, no layout fits. Unknown, where offload is asked for, is true.
 *  @errors as ridge_train_check; E_NOMEM */
RIDGE_NODISCARD ridge_status train_state_holds(ridge_ctx *cx,
                                               const ridge_train_request *request,
                                               bool *out);

#endif
