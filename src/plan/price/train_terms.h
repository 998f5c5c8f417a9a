/* Builds the terms of a price; each is shared by all layouts that agree on its key. */
#ifndef RIDGE_PLAN_TRAIN_TERMS_H
#define RIDGE_PLAN_TRAIN_TERMS_H

#include "train_price.h"

/** Layer times of every kind and the head, for one shape. @return NULL: out of memory
 */
const layer_time *train_layer_times(train_case *tc, const layer_shape *shape);

/** Exchanges of every kind and the head. @param out  [kinds + 1] */
void train_layer_exchanges(const train_case *tc, const train_groups *g,
                           const layer_time *layers, layer_exchange *out);

/** Gathers and scatters of every kind. @param out  [kinds] */
void train_shard_times(const train_case *tc, const train_groups *g,
                       const train_load *load, shard_time *out);

/** Reductions of every distinct stage. @param out  [stages->n] */
void train_step_syncs(const train_case *tc, const train_groups *g,
                      const train_load *load, const train_stages *stages,
                      const ridge_layout *layout, step_sync *out);

/** All terms of one layout that lies on the slice, given the times of its layers; they
 *  live in the case's ctx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status train_terms_of(train_case *tc, const layer_time *layers,
                                            const ridge_layout *layout,
                                            const train_groups *groups,
                                            train_terms *out);

#endif
