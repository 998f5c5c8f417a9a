/* What an exchange of experts takes, by how tokens are dispatched. */
#ifndef RIDGE_PLAN_EXPERT_DISPATCH_H
#define RIDGE_PLAN_EXPERT_DISPATCH_H

#include "group_placement.h"
#include "train_case.h"

/** Copies of one token that travel, of the k that its experts ask for. */
typedef struct dispatch_copies {
    double nodes; /* over the network between nodes, its own node among them */
    double ranks; /* within nodes, to ranks that have any of its experts */
} dispatch_copies;

/** Of the kind of layers with most experts a token. Even routing; within the groups of
 *  experts that the model limits a token to.
 *  @source deepseek-v3-2024, sections 2.1.2 and 3.2.2; deepep-2025 */
dispatch_copies train_dispatch_copies(const train_case *tc, const train_groups *g);

/** One exchange over ep: of as many dispatches as combines, the mean.
 *  @param bytes  V as ridge_collective_price takes it, of k copies in 16 bits */
ridge_time train_dispatch_time(const train_case *tc, const train_groups *g,
                               ridge_collective kind, double bytes);

#endif
