/* What a service draws. Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_ENERGY_H
#define RIDGE_PLAN_SERVICE_ENERGY_H

#include "ridge/plan_service.h"

/** Power and energy of a deployment whose steps are priced. Cannot fail. */
ridge_service_energy service_energy_of(const ridge_service_request *request,
                                       const ridge_service_price *price);

/** Joules that a token takes at least at the meter, if chips drew no more than at rest:
 *  what a deployment of that rate cannot be below. */
double service_energy_floor(const ridge_service_request *request,
                            double tokens_per_s_per_chip);

/** Iterations that carry chunks for one that decodes, or for one of either kind where
 *  they decode as well; 0: none. */
double service_prefill_weight(const ridge_service_price *price);

#endif
