/*
 * A training layout as a partitioned program on a timeline, in the same notation and by
 * the same algebra as `ridge shard`.
 */
#ifndef RIDGE_PLAN_TIMELINE_H
#define RIDGE_PLAN_TIMELINE_H

#include "ridge/base.h"
#include "ridge/cost_program.h"
#include "ridge/plan.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The degrees that partition a stage of a layout. Their ep cuts the batch as well, so
 * it is taken out of fsdp, and what fsdp lacks out of dp; where experts are dealt out
 * over tp it is what ep has beyond tp.
 * @errors E_ARG an ep that does not factor so
 */
RIDGE_NODISCARD ridge_status ridge_layout_parallelism(ridge_ctx *cx,
                                                      const ridge_layout *layout,
                                                      ridge_parallelism *out);

/** One microbatch of a layout, and the update after it. */
typedef struct ridge_layout_timeline {
    const ridge_partition *partition; /* owned by the ctx */
    ridge_laid_mesh laid;             /* borrows the request's slice */
    ridge_timeline timeline;
} ridge_layout_timeline;

/**
 * Lower the model, partition it by the layout's degrees and play it on the slice. Every
 * intermediate is kept: rematerialisation is not played.
 * @errors E_ARG for layouts with stages, or with experts beside tensor parallelism;
 *         E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_train_timeline(ridge_ctx *cx,
                                                  const ridge_train_request *request,
                                                  const ridge_layout *layout,
                                                  ridge_layout_timeline *out);

/** The program of all layers cut by a layout's degrees, and where its mesh lies. */
typedef struct ridge_layout_cut {
    const ridge_partition *partition; /* owned by the ctx */
    ridge_laid_mesh laid;             /* borrows the request's slice */
} ridge_layout_cut;

/**
 * Lower the model and partition it; ranks are numbered with the stages outermost, so
 * that rank r of w is of stage r / (w / pp).
 * @errors E_ARG a layout that does not lie on the slice, or whose experts do not
 * factor; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_train_cut(ridge_ctx *cx,
                                             const ridge_train_request *request,
                                             const ridge_layout *layout,
                                             ridge_layout_cut *out);

/** As a Chrome trace that Perfetto opens. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_layout_timeline_write(ridge_ctx *cx,
                                                         const ridge_layout_timeline *t,
                                                         ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
