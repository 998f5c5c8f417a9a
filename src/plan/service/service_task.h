/* One layout of a search: all its batches and budgets, in every role. Layer-internal.
 */
#ifndef RIDGE_PLAN_SERVICE_TASK_H
#define RIDGE_PLAN_SERVICE_TASK_H

#include "service_pair.h"
#include "service_source.h"
#include "service_space.h"

/** What a worker needs of its own. */
typedef struct service_desk {
    ridge_ctx *cx;
    const ridge_service_request *request;
    ridge_service_request whole; /* the same without a rate */
    service_source source;
    /* Of the layout under way; what of them stays is copied once it is done. */
    service_points speed_front, cost_front;
    service_options prefill, decode;
} service_desk;

/** The best of a layout that fits. */
typedef struct service_kept {
    bool has_best;
    ridge_service_price best; /* aggregated */
    service_nearest nearest;
} service_kept;

/** What a layout comes to. Arrays are of the worker that made them. */
typedef struct service_found {
    ridge_status status; /* E_NOMEM and the like; a layout that does not do is OK */
    service_kept *kept;  /* NULL: nothing, as of most layouts of a large search */
    service_points speed_front, cost_front;
    service_options prefill, decode;
    ridge_service_fit refused; /* where it does nothing: why */
    const char *fault;         /* of LAYOUT */
    double over_bytes;         /* of WEIGHTS: beyond what a chip has */
    int64_t covered, priced, tables;
} service_found;

/** Score a layout. found->status says whether memory ran out. */
void service_task_run(service_desk *desk, const service_layout *layout,
                      service_found *found);

#endif
