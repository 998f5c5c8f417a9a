/* Where prices of serving layouts come from: priced programs, or the invented machines
 * of tests. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_SOURCE_H
#define RIDGE_PLAN_SERVICE_SOURCE_H

#include "ridge/plan_service.h"

/** One thread at a time. As the functions of plan_serving.h on a desk. */
typedef struct service_source {
    void *payload;
    const char *(*fault)(void *payload, const ridge_serving_layout *layout);
    ridge_status (*memory)(void *payload, const ridge_serving_layout *layout,
                           ridge_serving_memory *out);
    ridge_status (*step)(void *payload, const ridge_serving_layout *layout,
                         const ridge_serving_load *load, ridge_serving_step *out);
    ridge_status (*speed)(void *payload, const ridge_serving_layout *layout,
                          ridge_serving_speed *out);
} service_source;

/** Opens a source in a ctx, which owns it. */
typedef ridge_status service_source_open(ridge_ctx *cx,
                                         const ridge_service_request *request,
                                         service_source *out);

/** Priced programs. @errors those of ridge_serving_desk_open */
RIDGE_NODISCARD ridge_status service_source_desk(ridge_ctx *cx,
                                                 const ridge_service_request *request,
                                                 service_source *out);

/** Seconds of an iteration, by tables. */
double service_speed_iteration_s(const ridge_serving_speed *speed,
                                 const ridge_serving_load *load);

#endif
