/* What no layout of some terms takes less than: where placements, remat and offload are
 * not chosen yet. */
#ifndef RIDGE_PLAN_LEAST_PRICE_H
#define RIDGE_PLAN_LEAST_PRICE_H

#include "train_price.h"

/**
 * The passes of a step, and the passes with what comes once a step, of terms of which
 * each is no larger than a layout's own, with nothing computed again that it does not
 * compute again, and nothing on the host. No time of the layout is less. Chips that
 * overlap alone; 0: the terms say nothing of others.
 * @param terms  syncs are those of the whole step alone
 */
double least_price_passes_s(const train_case *tc, const train_terms *terms,
                            const ridge_layout *layout, double microbatches);
double least_price_step_s(const train_case *tc, const train_terms *terms,
                          const ridge_layout *layout, double microbatches,
                          double passes_s);

/** The smaller of each: of exchanges [kinds + 1], shards [kinds], syncs [stages]. */
void least_exchanges(const train_case *tc, const layer_exchange *x,
                     layer_exchange *least);
void least_shards(const train_case *tc, const shard_time *x, shard_time *least);
void least_syncs(const train_stages *stages, const step_sync *x, step_sync *least);

#endif
