/* The collectives of a layout: groups on the network, and times per layer and per step.
 */
#ifndef RIDGE_PLAN_NETWORK_TIME_H
#define RIDGE_PLAN_NETWORK_TIME_H

#include "group_placement.h"
#include "layer_time.h"
#include "train_case.h"

/** Whether two groups use links of the same network axis. */
bool train_groups_share(const ridge_group *a, const ridge_group *b);

/** One gather and one scatter of a layer's shards, and the copies around them. */
typedef struct shard_time {
    ridge_time gather, scatter;
    double copies_s;
} shard_time;

/** @param params  of one layer on a chip, before ZeRO */
shard_time train_shard_time(const train_case *tc, const train_groups *g,
                            const train_params *params);

/** The exchanges of one layer by class and pass. */
typedef struct layer_exchange {
    ridge_time fwd[EXCHANGE_CLASSES], bwd[EXCHANGE_CLASSES];
    ridge_time beside[EXCHANGE_CLASSES]; /* of the backward pass, beside a product */
} layer_exchange;

/** Those of one class, which hang on its own group alone; the others stay as they are.
 */
void train_layer_exchange_of(const train_case *tc, const train_groups *g,
                             const layer_time *layer, exchange_class part,
                             layer_exchange *out);

layer_exchange train_layer_exchange(const train_case *tc, const train_groups *g,
                                    const layer_time *layer);

/** Bytes of it that a chip sends. */
double train_send_bytes(const train_case *tc, const ridge_layout *layout);

/** One activation of a microbatch sent to the next stage. */
ridge_time train_send_time(const train_case *tc, const train_groups *g,
                           const ridge_layout *layout);

/** Gradients of a stage reduced once a step, and weights gathered after the update. */
typedef struct step_sync {
    ridge_time reduce, gather;
    bool is_gather_waited; /* nothing runs beside it */
} step_sync;

step_sync train_step_sync(const train_case *tc, const train_groups *g,
                          const ridge_layout *layout, double dense_params,
                          double expert_params);

#endif
