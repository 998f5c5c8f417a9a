/*
 * Steps where nothing marks them: the order of operations repeats. Layer-internal.
 */
#ifndef RIDGE_PROFILE_STEP_REPEAT_H
#define RIDGE_PROFILE_STEP_REPEAT_H

#include "step_find.h"

/**
 * An operation that occurs once a step divides a device's operations into runs of
 * (nearly) equal numbers. The one is taken that occurs least often, for layers repeat
 * within a step; with two occurrences alone nothing is concluded. Where more than a
 * fifth of all kinds of operations occur less often still, it is layers that repeat,
 * not steps.
 * @param out  untouched when there is none
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status step_repeat_find(trace_store *store,
                                              const device_tracks *device,
                                              found_steps *out);

#endif
