/* The order of a rank while it is written down. */
#ifndef RIDGE_SIMULATE_PIPELINE_WRITE_H
#define RIDGE_SIMULATE_PIPELINE_WRITE_H

#include "ridge/simulate.h"

/** The list of a rank. */
typedef struct ridge__rank_order {
    const ridge_pipeline *pipeline;
    int rank;
    ridge_action *actions; /* [cap] */
    int n;
} ridge__rank_order;

/** Append a pass. Microbatches that are not there are left out: an order of more of
 * them without the last ones is an order still, for what is left out waits for nothing
 * that stays. */
void ridge__rank_act(ridge__rank_order *order, ridge_pass pass, int chunk,
                     int microbatch);

/** Both ways at once. */
void ridge__rank_write_dual(ridge__rank_order *order);

#endif
