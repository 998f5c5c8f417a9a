/* A step as passes of a pipeline, and how it is played. */
#ifndef RIDGE_PLAN_TRAIN_SIMULATION_H
#define RIDGE_PLAN_TRAIN_SIMULATION_H

#include "ridge/plan_simulation.h"

/** Chips of a stage that exchange within a pass, and so wait for each other in it: tp,
 *  cp, experts, and shards of weights or of gradients. The mesh nests, from tp out to
 *  dp. */
int64_t train_group_chips(const ridge_layout *layout);

/** Zero-bubble schedules are for optimizers that wait for nobody, and check the global
 *  norm afterwards. @source qi2023-zero-bubble, section 4 */
bool train_is_barrier_free(const ridge_pipeline *pipeline);

/** Play a step that is in place, as ridge_train_simulate does: schedule, script and
 *  outcome are filled in. @errors as ridge_step_play */
RIDGE_NODISCARD ridge_status train_simulation_play(ridge_ctx *cx,
                                                   const ridge_step_trouble *trouble,
                                                   ridge_train_simulation *simulation);

#endif
