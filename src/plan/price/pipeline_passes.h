/* How long the passes of a pipeline take, in closed form: quick enough for a search. */
#ifndef RIDGE_PLAN_PIPELINE_PASSES_H
#define RIDGE_PLAN_PIPELINE_PASSES_H

#include "train_case.h"

/** A stage and one microbatch, with its messages. */
typedef struct stage_pass {
    double forward_s, backward_s;
    double weight_s; /* of the backward pass: what can wait */
    double head_s;   /* of both: in the last virtual stage alone */
} stage_pass;

/** Messages that a rank sends for one microbatch: activations on and gradients back
 * from each of its virtual stages, but none behind the last one nor before the first.
 * What it receives meanwhile takes no time of its own. @return those of one pass */
double train_stage_sends(const ridge_layout *layout, const train_stage *stage,
                         bool is_backward);

/** Add the messages of a stage to its passes. @return what they take */
double stage_pass_send(stage_pass *pass, const ridge_layout *layout,
                       const train_stage *stage, double send_s);

/**
 * From a pipeline's first pass to its last, or of zero-bubble schedules, where no rank
 * waits for all at the end of a step, a rank's longest span. At least what the slowest
 * stage works.
 * @param passes  [stages->n], times >= 0
 * @param microbatches  >= 1
 * @param send_s  a message between two ranks, where both compute meanwhile; 0 where it
 *                is part of the passes
 */
double pipeline_passes_s(const ridge_layout *layout, const train_stages *stages,
                         const stage_pass *passes, double microbatches, double send_s);

/** What no pipeline takes less than whose stages take as long as these in all, or
 *  longer, however their passes share it. @param halves  of which each pass has one */
double pipeline_least_s(const ridge_layout *layout, const train_stages *stages,
                        const stage_pass *halves, double microbatches, double send_s);

#endif
