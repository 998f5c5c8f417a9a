/* What the slices that are searched already say of the next one of their kind. */
#ifndef RIDGE_PLAN_OFFER_GUESS_H
#define RIDGE_PLAN_OFFER_GUESS_H

#include "ridge/plan_offer.h"

/** The least that the best layouts of the others take here, with more or fewer shards
 *  or replicas. @param step_s  out; 0: none of them fits
 *  @errors E_NOMEM */
RIDGE_NODISCARD ridge_status offer_guess_step(ridge_ctx *cx,
                                              const ridge_train_request *request,
                                              const ridge_offer *others, int n,
                                              double *step_s);

#endif
