/* A step as passes of a pipeline, and how it is played. */
#ifndef RIDGE_PLAN_TRAIN_SIMULATION_H
#define RIDGE_PLAN_TRAIN_SIMULATION_H

#include "group_placement.h"

#include "ridge/plan_simulation.h"

/** Chips of a stage that exchange within a pass, and so wait for each other in it: tp,
 *  cp, experts, and shards of weights or of gradients. The mesh nests, from tp out to
 *  dp. */
int64_t train_group_chips(const ridge_layout *layout);

/** Who exchanges over which axes, for a trace. */
ridge_step_network train_step_network(const ridge_slice *slice,
                                      const train_groups *groups);

/** Play a step that is in place, as ridge_train_simulate does: schedule, script and
 *  outcome are filled in. @errors as ridge_step_play */
RIDGE_NODISCARD ridge_status train_simulation_play(ridge_ctx *cx,
                                                   const ridge_step_trouble *trouble,
                                                   ridge_train_simulation *simulation);

/**
 * Play the run of steps that were played, each of their mean length.
 * @param out     in: its money, closed, at that length
 * @errors E_ARG no tokens, or no rate of failures; as ridge_failure_play
 */
RIDGE_NODISCARD ridge_status train_simulation_run(ridge_ctx *cx,
                                                  const ridge_train_request *request,
                                                  const ridge_simulation_request *asked,
                                                  double step_s,
                                                  ridge_run_simulation *out);

#endif
