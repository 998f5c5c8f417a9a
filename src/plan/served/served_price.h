/*
 * A part of a measured deployment on the planner's desk: its layout with the engine's
 * own limits, its memory, the times of its iterations.
 */
#ifndef RIDGE_PLAN_SERVED_PRICE_H
#define RIDGE_PLAN_SERVED_PRICE_H

#include "ridge/simulate_engine.h"
#include "served_run.h"

typedef struct priced_part {
    const served_part *part;
    ridge_serving_desk *desk;
    ridge_serving_layout layout;
    ridge_serving_memory memory;
} priced_part;

/** Its layout and memory, whether it fits or not.
 * @owner cx. @errors E_ARG: why the layout is not legal */
RIDGE_NODISCARD ridge_status priced_part_size(ridge_ctx *cx, served_shared *shared,
                                              const served_part *part,
                                              priced_part *out);

/** @owner cx. @errors E_ARG: why the layout is not legal, or that it does not fit */
RIDGE_NODISCARD ridge_status priced_part_open(ridge_ctx *cx, served_shared *shared,
                                              const served_part *part,
                                              priced_part *out);

/** The sequences and tokens of an iteration that trtllm-bench starts its engine with;
 *  the memory of the layout as it was is wanted, and changes with them. */
void served_sizes_tune(priced_part *p);

/** An iteration that generates for sequences at once, of all attention ranks. */
RIDGE_NODISCARD ridge_status priced_decode(const priced_part *p, double sequences,
                                           double context, ridge_serving_step *out);

/** Seconds of prompts of some tokens each, in iterations of the budget; cached tokens
 *  of each stand before them. */
RIDGE_NODISCARD ridge_status priced_prompts(const priced_part *p, double prompts,
                                            double tokens, double cached, double *out);

/** Play the stream of a row on its deployment.
 * @param parts  [deployment->n]
 * @errors E_ARG: what the row does not state; those of the simulator */
RIDGE_NODISCARD ridge_status served_play(ridge_ctx *cx, const ridge_catalog *catalog,
                                         const served_deployment *deployment,
                                         const priced_part *parts,
                                         ridge_serving_row *out);

#endif
