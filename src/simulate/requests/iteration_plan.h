/* What a lane does next, by the rules of its engine. */
#ifndef RIDGE_ITERATION_PLAN_H
#define RIDGE_ITERATION_PLAN_H

#include "serving_state.h"

/** Plan the lane's next iteration, or iterations, from now: chunks, steps and the time
 *  it ends are set, and it is busy; or it is idle, with nothing to do.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__lane_plan(serving_play *p, play_lane *lane);

/** A sequence whose cache came to this replica begins to decode on a lane, at once.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__lane_join(serving_play *p, play_lane *lane,
                                              int32_t sequence);

#endif
