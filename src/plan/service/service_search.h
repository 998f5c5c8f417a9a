/* The search with prices from any source. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_SEARCH_H
#define RIDGE_PLAN_SERVICE_SEARCH_H

#include "service_source.h"

RIDGE_NODISCARD ridge_status service_search_run(ridge_ctx *cx,
                                                const ridge_service_request *request,
                                                service_source_open *open,
                                                ridge_service_result *out);

#endif
