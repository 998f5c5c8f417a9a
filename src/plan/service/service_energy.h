/* What a service draws. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_ENERGY_H
#define RIDGE_PLAN_SERVICE_ENERGY_H

#include "ridge/plan_service.h"

/** Power and energy of a deployment whose steps are priced. Cannot fail. */
ridge_service_energy service_energy_of(const ridge_service_request *request,
                                       const ridge_service_price *price);

#endif
