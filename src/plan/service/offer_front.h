/* The front of several slices. Layer-internal. */
#ifndef RIDGE_PLAN_OFFER_FRONT_H
#define RIDGE_PLAN_OFFER_FRONT_H

#include "ridge/plan_service_offer.h"

/** Fill the front of a study whose offers are ranked. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status offer_front_find(ridge_ctx *cx,
                                              ridge_service_offer_study *study);

#endif
