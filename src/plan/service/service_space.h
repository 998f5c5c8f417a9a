/* The layouts of a search: every way to cut servers out of the slice. Layer-internal.
 */
#ifndef RIDGE_PLAN_SERVICE_SPACE_H
#define RIDGE_PLAN_SERVICE_SPACE_H

#include "ridge/plan_service.h"

/** A layout of one server, of any batch and budget. */
typedef struct service_layout {
    ridge_serving_layout layout;
    int format; /* index into the knobs' formats */
    bool is_for[RIDGE_SERVICE_ROLE_COUNT];
} service_layout;

typedef struct service_space {
    int n, cap;
    service_layout *layouts; /* in a fixed order */
} service_space;

/** All layouts; whether they are legal is for their prices to say.
 * @owner the ctx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status service_space_build(ridge_ctx *cx,
                                                 const ridge_service_request *request,
                                                 service_space *out);

enum { SERVICE_BUDGET_MAX = 12 };

/** Token budgets that are tried, ascending. @return how many */
int service_space_budgets(const ridge_service_request *request,
                          double out[SERVICE_BUDGET_MAX]);

enum { SERVICE_PARTS_OF_ONE = 3 };

/** Batches that are tried: 1 to 8, then eight to a doubling.
 * @return the batch at a place, from 0 on; from -SERVICE_PARTS_OF_ONE on parts of one
 */
double service_space_batch(int place);

/** Servers of so many chips that the slice has room for, and the knobs allow. 0: none
 */
int64_t service_space_servers(const ridge_service_request *request,
                              ridge_service_role role, int64_t chips);

#endif
