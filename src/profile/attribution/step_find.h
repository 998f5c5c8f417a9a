/*
 * The steps of a device. Layer-internal.
 */
#ifndef RIDGE_PROFILE_STEP_FIND_H
#define RIDGE_PROFILE_STEP_FIND_H

#include "call_nest.h"
#include "device_walk.h"

#include "ridge/profile.h"

typedef struct found_step {
    const char *name;
    int64_t start_ns, end_ns;
} found_step;

typedef struct found_steps {
    ridge_step_source by;
    int n; /* at least 1 when the device did anything; in order, apart */
    found_step *steps;
} found_steps;

/**
 * By the program's annotations, else the profiler's track of steps, else launches of
 * the module that took most of the time, else where the order of operations repeats,
 * else the whole trace.
 *
 * Annotations are of the host. Where each annotated step's work ends within it, the
 * device keeps step and their times are taken; otherwise a step of the device lasts
 * from the first operation launched in it to the first one of the next.
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status step_find(trace_store *store, const device_tracks *device,
                                       const launch_index *launches, found_steps *out);

#endif
