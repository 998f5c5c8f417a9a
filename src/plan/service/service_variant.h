/* Requests with something changed, searched side by side. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_VARIANT_H
#define RIDGE_PLAN_SERVICE_VARIANT_H

#include "ridge/plan_service.h"

typedef struct service_variant {
    ridge_service_request request;
    const char *name;
    const char *what;
    bool is_priced;              /* one choice at its batch instead of a search */
    bool has_choice;             /* the search has one choice before it begins */
    ridge_service_choice choice; /* is_priced, has_choice */
    ridge_status status;
    bool has_best;
    ridge_service_price best;
} service_variant;

/** All of them, on threads, each by itself. What contradicts itself has no best.
 * @errors E_NOMEM, E_CANCELLED */
RIDGE_NODISCARD ridge_status service_variants_run(ridge_ctx *cx,
                                                  service_variant *variants, int n);

/** Knobs that leave nothing of a choice free but its batch, unless that is asked. */
void service_variant_fix(ridge_service_request *request,
                         const ridge_service_choice *choice);

#endif
