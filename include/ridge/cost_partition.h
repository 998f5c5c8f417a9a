/*
 * A partitioned program on a slice: its mesh laid in the best way, and the time of
 * every operation and collective.
 */
#ifndef RIDGE_COST_PARTITION_H
#define RIDGE_COST_PARTITION_H

#include "ridge/base.h"
#include "ridge/cost_program.h"
#include "ridge/cost_range.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_partition_request {
    const ridge_program *program;
    const ridge_mesh *mesh;
    ridge_rules rules;
    const ridge_slice *slice; /* NULL: bytes alone */
    const char *place;        /* as ridge_mesh_place_parse takes it; NULL: the best */
    bool has_overlap;         /* gathers ahead, reductions behind, collective matmul */
    ridge_dtype compute;
} ridge_partition_request;

/** Lives as long as the ctx. */
typedef struct ridge_partition_study {
    const ridge_partition *partition;
    const ridge_slice *slice;
    ridge_laid_mesh laid;
    int64_t placements;
    bool has_overlap;
    const ridge_operation_time
        *times; /* [n_ops] of the partition; NULL without slice */
    ridge_timeline timeline;
} ridge_partition_study;

/** @errors those of ridge_partition_build, ridge_mesh_place_parse and
 *          ridge_timeline_build */
RIDGE_NODISCARD ridge_status ridge_partition_study_find(
    ridge_ctx *cx, const ridge_partition_request *request, ridge_partition_study *out);

/** The range of the timeline's total_s: as those of its operations weigh. */
ridge_range ridge_partition_study_range(const ridge_partition_study *study);

#ifdef __cplusplus
}
#endif

#endif
