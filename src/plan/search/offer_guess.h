/* What answers that there are already say of a search for another size. */
#ifndef RIDGE_PLAN_OFFER_GUESS_H
#define RIDGE_PLAN_OFFER_GUESS_H

#include "ridge/plan.h"

/** The best layout of a search before, on the chips of its slice. */
typedef struct known_layout {
    const ridge_slice *slice;
    ridge_layout layout;
} known_layout;

/**
 * ridge_train_search for the best layout alone. Where one of the others, with more or
 * fewer shards or replicas, fits as well, only faster ones are looked for.
 * @param request  top 1
 * @errors as ridge_train_search
 */
RIDGE_NODISCARD ridge_status offer_search_knowing(ridge_ctx *cx,
                                                  const ridge_train_request *request,
                                                  const known_layout *others, int n,
                                                  ridge_train_result *out);

#endif
