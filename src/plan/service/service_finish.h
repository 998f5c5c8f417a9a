/* Deployments priced in full: steps by programs, bounds, parts, memory.
 * Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_FINISH_H
#define RIDGE_PLAN_SERVICE_FINISH_H

#include "service_source.h"

/** A deployment with priced steps. Batches that the rate does not make are kept.
 * @errors E_ARG, E_NOMEM */
RIDGE_NODISCARD ridge_status service_finish_price(ridge_ctx *cx,
                                                  const service_source *source,
                                                  const ridge_service_request *request,
                                                  const ridge_service_choice *choice,
                                                  ridge_service_price *out);

/** The same; where a goal that tables keep is missed by priced steps, the batch is
 *  made smaller until it is kept. */
RIDGE_NODISCARD ridge_status service_finish_kept(ridge_ctx *cx,
                                                 const service_source *source,
                                                 const ridge_service_request *request,
                                                 const ridge_service_choice *choice,
                                                 ridge_service_price *out);

#endif
