/*
 * One device from its first operation to its last: at each moment what counts is
 * decided once, so that parts sum to the step. Layer-internal.
 */
#ifndef RIDGE_PROFILE_DEVICE_SWEEP_H
#define RIDGE_PROFILE_DEVICE_SWEEP_H

#include "op_tally.h"
#include "step_find.h"

#include "ridge/profile.h"

/**
 * Compute counts before communication, that before copies, these before waiting for
 * input. Among compute beside compute: matmul, attention, other. On one track the
 * innermost operation counts.
 */
typedef struct device_sweep {
    ridge_profile_times *times; /* by step */
    int64_t first_ns, last_ns;
    int64_t busy_ns, kernel_ns, kernel_union_ns, exposed_ns;
    int64_t kernels, operations, launched, starved, lead_ns;
} device_sweep;

/**
 * @param tally  what it finds of operations, collectives and gaps is added
 * @param out    times: owned by the store's arena
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status device_sweep_run(const device_tracks *device,
                                              const found_steps *steps,
                                              const launch_index *launches,
                                              op_tally *tally, device_sweep *out);

#endif
