/* The price of one layout, from parts that the search computes once and shares. */
#ifndef RIDGE_PLAN_TRAIN_PRICE_H
#define RIDGE_PLAN_TRAIN_PRICE_H

#include "layer_time.h"
#include "network_time.h"
#include "train_memory.h"

#include "ridge/plan_simulation.h"

/**
 * Everything that the time of a layout depends on. The head stands behind the kinds of
 * layers in layers and exchanges.
 */
typedef struct train_terms {
    const train_stages *stages;
    const train_load *load;
    const layer_time *layers;        /* [kinds + 1], by tp, cp, ep, sp, microbatch */
    const layer_exchange *exchanges; /* [kinds + 1], by those and placement */
    const shard_time *shards;        /* [kinds], by tp, ep and shards */
    const step_sync *syncs;          /* [stages], by the groups and ZeRO stage */
    ridge_time send;                 /* one activation to the next stage */
    bool is_tp_apart;                /* TP uses other network axes than the shards */
} train_terms;

/** Whether the degrees of a layout are legal for model, slice and batch. */
ridge_fit train_layout_check(const train_case *tc, const ridge_layout *layout);

/** Microbatches of each replica, with padding where the batch does not divide. */
int64_t train_microbatches(const train_case *tc, const ridge_layout *layout);

/** Peak memory over the stages. @param fullest  out: index of that stage */
ridge_memory_parts train_peak_memory(const train_case *tc, const train_terms *terms,
                                     const ridge_layout *layout, int64_t microbatches,
                                     int *fullest);

/** Step time and its parts; memory is left alone. */
void train_price_time(const train_case *tc, const train_terms *terms,
                      const ridge_layout *layout, ridge_train_price *price);

/** A microbatch on a stage by pass; layers and ends may be parts of a stage. Of chips
 * that overlap: others are step_program.c's. */
ridge_stage_work train_stage_work(const train_case *tc, const train_terms *terms,
                                  const ridge_layout *layout, const train_stage *stage);

/** What comes once a step. @param stage  index into terms->stages->stages */
ridge_step_end train_step_end(const train_case *tc, const train_terms *terms,
                              const ridge_layout *layout, int stage);

/** Rates, utilisation, days and money from the step time. */
void train_price_finish(const train_case *tc, ridge_train_price *price);

#endif
