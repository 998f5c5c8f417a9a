/* How long a step takes whose stages are priced: the schedule is played. */
#ifndef RIDGE_PLAN_PACED_STEP_H
#define RIDGE_PLAN_PACED_STEP_H

#include "train_case.h"

#include "ridge/plan_simulation.h"

/** What a rank does: for one microbatch, and once a step. */
typedef struct stage_pass {
    ridge_stage_time own; /* its layers, on all of its chunks */
    ridge_stage_time
        head;            /* in the chunk that has it; on dualpipe of all microbatches */
    double down_s, up_s; /* a message of either direction that it waits for; 0 where it
                            goes beside compute */
    double reduce_s;     /* behind its passes */
    double behind_s;     /* behind the barrier, where there is one */
} stage_pass;

/** Messages that a rank sends for one microbatch: activations on and gradients back
 * from each of its virtual stages, but none behind the last one nor before the first.
 * What it receives meanwhile takes no time of its own. @return those of one pass */
double train_stage_sends(const ridge_layout *layout, const train_stage *stage,
                         bool is_backward);

/** The pipeline that a layout runs. */
ridge_pipeline train_pipeline_of(const ridge_layout *layout, int64_t microbatches);

/** Whether ranks go on to their next step one by one: zero-bubble schedules but for
 * dualpipe are for optimizers that wait for nobody, and check the global norm
 * afterwards. @source qi2023-zero-bubble, section 4 */
bool train_is_barrier_free(const ridge_pipeline *pipeline);

/** Set a pass from what its layers and its head do. @param whole  with the head,
 * @param bare  without: the same where there is none */
void stage_pass_set(stage_pass *pass, const train_stage *stage,
                    const ridge_stage_work *whole, const ridge_stage_work *bare);
void stage_pass_set_end(stage_pass *pass, const ridge_step_end *end);

/**
 * From the beginning of a step to that of the next: what `ridge simulate` plays.
 * @param stages  with passes [n]
 * @param microbatches  >= 1
 * @param send_s  a message between two ranks where both compute meanwhile; else 0
 * @return INFINITY once memory ran out (tc->pacer)
 */
double paced_step_s(const train_case *tc, const ridge_layout *layout,
                    const train_stages *stages, int64_t microbatches, double send_s);

/** Bubble, and what comes once a step, so that all parts make up a step. */
void paced_parts_fill(ridge_step_parts *parts, double step_s);

/** What no step's passes take less than whose stages take as long as these in all, or
 * longer, however their passes share it.
 * @param totals_s  [n] a microbatch, with messages that ranks wait for
 * @param send_s    a message, or less */
double paced_least_s(const ridge_layout *layout, const train_stages *stages,
                     const double *totals_s, double microbatches, double send_s);

#endif
