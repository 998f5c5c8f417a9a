/* Knobs that contradict each other, the model or the slice. Layer-internal. */
#ifndef RIDGE_SERVICE_CONFLICTS_H
#define RIDGE_SERVICE_CONFLICTS_H

#include "service_space.h"

/** What knobs say against each other or the model. @errors E_ARG */
RIDGE_NODISCARD ridge_status service_conflicts_check(ridge_ctx *cx,
                                                     const ridge_service_request *r);

/** Whether the space has servers for each pool that the mode needs, and room for them
 * side by side. @errors E_ARG with the knob that leaves none; E_NOMEM */
RIDGE_NODISCARD ridge_status service_conflicts_room(ridge_ctx *cx,
                                                    const ridge_service_request *r,
                                                    const service_space *space);

#endif
