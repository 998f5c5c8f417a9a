/* The order in which kernels of a graph may run, for modules that no compiler has
 * scheduled yet. Layer-internal. */
#ifndef RIDGE_HLO_SCHEDULE_H
#define RIDGE_HLO_SCHEDULE_H

#include "hlo_kernel.h"

/** A kernel as the schedule sees it. */
typedef struct hlo_task {
    double took_s;
    bool is_async; /* runs beside the chip's kernels */
    unsigned axes; /* that an asynchronous one holds */
} hlo_task;

/** What became of it. */
typedef struct hlo_slot {
    double start_s, end_s;
    double waited_s; /* that the chip waited for an asynchronous one */
} hlo_slot;

/**
 * List scheduling: asynchronous kernels start when their inputs are there and their
 * axes are free. The chip takes, of the kernels whose inputs are there, those that lead
 * to an asynchronous one first, then in the order of the text; it waits only when none
 * is.
 * @param tasks  [kernels->n]; @param slots  out, [kernels->n]
 * @param total_s  out: when all are done
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status hlo_schedule_find(ridge_ctx *cx,
                                               const hlo_kernels *kernels,
                                               const hlo_task *tasks, hlo_slot *slots,
                                               double *total_s);

#endif
