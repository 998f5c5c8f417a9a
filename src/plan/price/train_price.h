/* The price of one layout, from parts that the search computes once and shares. */
#ifndef RIDGE_PLAN_TRAIN_PRICE_H
#define RIDGE_PLAN_TRAIN_PRICE_H

#include "layer_time.h"
#include "network_time.h"
#include "paced_step.h"
#include "train_memory.h"

#include "ridge/plan_simulation.h"

/**
 * Everything that the time of a layout depends on. The head stands behind the kinds of
 * layers in layers and exchanges.
 */
typedef struct train_terms {
    const train_stages *stages;
    const train_load *load;
    const layer_time *layers;         /* [kinds + 1], by tp, cp, ep, sp, microbatch */
    const layer_exchange *exchanges;  /* [kinds + 1], by those and placement */
    const shard_time *shards;         /* [kinds], by tp, ep and shards */
    const step_sync *syncs;           /* [stages], by the groups and ZeRO stage */
    ridge_time send;                  /* one activation to the next stage */
    bool is_tp_apart;                 /* TP uses other network axes than the shards */
    double imbalance;                 /* train_expert_imbalance */
    const ridge_memory_parts *states; /* [stages] train_stage_state, by the ZeRO stage;
                                         NULL: found when asked */
} train_terms;

/** What one microbatch takes on one stage, both passes. */
typedef struct stage_time {
    ridge_step_parts parts;
    double fwd_s, bwd_s; /* compute with exposed exchanges */
    double weight_s;     /* of the backward pass: weights' gradients, which can wait */
    double hidden_s;
    double bound_compute_s, bound_tp_s, bound_cp_s, bound_shards_s, bound_ep_s;
    double bound_host_s;
    ridge_stage_work *work; /* the same by pass; NULL: not asked for */
} stage_time;

/** Seconds of one layer of a kind, or of the head, with what its exchanges expose, and
 *  its shards from ZeRO-2 on: nothing computed again. No layout of these layers takes
 *  less. */
double train_layer_least_s(const train_case *tc, const train_terms *terms,
                           const ridge_layout *layout, int kind);

/** @param work  out, from zero: the same by pass; or NULL */
stage_time train_stage_time(const train_case *tc, const train_terms *terms,
                            const ridge_layout *layout, const train_stage *stage,
                            ridge_stage_work *work);

/** Forward, backward and sends. */
double stage_time_total_s(const stage_time *stage);
/** The largest of compute, each kind of communication and the host's link. */
double stage_time_bound_s(const stage_time *stage);

/** Load of the busiest rank of experts over the mean, 1 or more; of models with several
 * kinds of mixtures that which scatters most. @source blom1958 */
double train_expert_imbalance(const train_case *tc, const ridge_layout *layout);

/** Whether the degrees of a layout are legal for model, slice and batch. */
ridge_fit train_layout_check(const train_case *tc, const ridge_layout *layout);

/** Microbatches of each replica, with padding where the batch does not divide. */
int64_t train_microbatches(const train_case *tc, const ridge_layout *layout);

/** Peak memory over the stages.
 *  @param stop_bytes  of the first stage above it; INFINITY: of the fullest
 *  @param fullest  out: index of that stage */
ridge_memory_parts train_peak_memory(const train_case *tc, const train_terms *terms,
                                     const ridge_layout *layout, int64_t microbatches,
                                     double stop_bytes, int *fullest);

/** The most that a chip of any stage keeps on its host: what offload takes out of its
 *  memory. */
double train_host_bytes(const train_case *tc, const train_terms *terms,
                        const ridge_layout *layout, int64_t microbatches);
/** The same of one stage. */
double train_stage_host_bytes(const train_case *tc, const train_load *load,
                              const train_stage *stage, const ridge_layout *layout,
                              int64_t microbatches);
/** Whether the hosts hold it, as far as their memory is known. */
bool train_host_holds(const train_case *tc, double bytes);

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

/** The same, from a stage's time: as much hides behind a microbatch of it. */
ridge_step_end train_end_of(const train_case *tc, const train_terms *terms,
                            const ridge_layout *layout, int stage,
                            const stage_time *time);

/** What a stage's rank does, from the stage's time. */
void train_stage_pass(const train_case *tc, const train_terms *terms,
                      const ridge_layout *layout, const train_stage *stage,
                      const ridge_stage_work *work, stage_pass *out);

/** Price one layout under the case's policy, given the times of its layers. An illegal
 *  layout is an answer. @errors E_ARG no such placement; E_NOMEM */
RIDGE_NODISCARD ridge_status train_layout_price(train_case *tc,
                                                const layer_time *layers,
                                                const ridge_layout *layout,
                                                ridge_train_price *out);

/** Rates, utilisation, days and money from the step time. */
void train_price_finish(const train_case *tc, ridge_train_price *price);

#endif
