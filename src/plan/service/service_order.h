/* The order in which layouts are searched: those whose prices have most in common come
 * together, and in tasks that one worker takes. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_ORDER_H
#define RIDGE_PLAN_SERVICE_ORDER_H

#include "service_space.h"

typedef struct service_order {
    int n_tasks;
    int *layouts; /* all of the space, as tasks take them */
    int *ends;    /* [n_tasks], behind the last layout of each */
} service_order;

/** @errors E_NOMEM */
RIDGE_NODISCARD ridge_status service_order_find(ridge_ctx *cx,
                                                const service_space *space, int workers,
                                                service_order *out);

#endif
