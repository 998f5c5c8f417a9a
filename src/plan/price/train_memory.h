/* Memory of the stages of a layout. */
#ifndef RIDGE_PLAN_TRAIN_MEMORY_H
#define RIDGE_PLAN_TRAIN_MEMORY_H

#include "train_case.h"

/** Parameters of one layer of each kind on a chip, and of whole stages; by tp and ep.
 */
typedef struct train_load {
    int64_t tp, ep;
    const train_params *layers; /* [kinds] */
    /* [kinds] of one token, by train_remat_index */
    double (*activation_bytes)[RIDGE_REMAT_COUNT + NAMED_MOST];
} train_load;

/** @return false when memory ran out */
bool train_load_build(train_case *tc, int64_t tp, int64_t ep, bool has_sp,
                      train_load *out);

/** Parameters of a stage, before ZeRO. */
train_params train_stage_params(const train_case *tc, const train_load *load,
                                const train_stage *stage, const ridge_layout *layout);

/** Tokens of a microbatch on a chip. */
double train_tokens(const train_case *tc, const ridge_layout *layout);

/** Layers of a stage, of all kinds. */
double train_stage_total(const train_stage *stage, int n_kinds);

/** Share of a stage's layers that the layout's remat policy computes again; the others
 *  keep everything. */
double train_remat_share(const train_case *tc, const ridge_layout *layout,
                         const train_stage *stage);

/** Bytes of one layer's weights that a chip holds, after ZeRO. */
double train_held_weight_bytes(const train_case *tc, const train_load *load,
                               const ridge_layout *layout, int kind);

/** Microbatches whose activations a stage keeps at once, in whole stages (simulate.h:
 *  ridge_pipeline_in_flight). */
double train_in_flight(const ridge_layout *layout, const train_stage *stage,
                       int64_t microbatches);

/** Weights, gradients and optimizer state of so many parameters, added to what is
 * there.
 *  @param shards  that ZeRO makes of them */
void train_add_state(const train_case *tc, const ridge_layout *layout, double params,
                     double shards, ridge_memory_parts *memory);

/** Bytes of activations for each token of a microbatch: what a stage keeps of one that
 *  is under way, the layer that keeps most, and the layer at work. */
typedef struct train_token_bytes {
    double kept, widest, working;
} train_token_bytes;

train_token_bytes train_stage_token(const train_case *tc, const train_load *load,
                                    const train_stage *stage,
                                    const ridge_layout *layout);

/** What the framework keeps for itself beside so many bytes of tensors. */
double train_reserve_bytes(const train_case *tc, double bytes);

/** What a stage holds whatever is computed again or offloaded: weights, gradients, the
 *  optimizer's state, gathered weights. */
ridge_memory_parts train_stage_state(const train_case *tc, const train_load *load,
                                     const train_stage *stage,
                                     const ridge_layout *layout);

/** Memory of one stage with that state. */
ridge_memory_parts train_stage_filled(const train_case *tc, const train_load *load,
                                      const train_stage *stage,
                                      const ridge_layout *layout, int64_t microbatches,
                                      const ridge_memory_parts *state);

/** Memory of one stage. */
ridge_memory_parts train_stage_memory(const train_case *tc, const train_load *load,
                                      const train_stage *stage,
                                      const ridge_layout *layout, int64_t microbatches);

#endif
