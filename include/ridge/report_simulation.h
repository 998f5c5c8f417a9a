/* The report of a training step, or a whole run, played out. */
#ifndef RIDGE_REPORT_SIMULATION_H
#define RIDGE_REPORT_SIMULATION_H

#include "ridge/plan_simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Borrowed pointers outlive the call. */
typedef struct ridge_simulation_view {
    const char *model_name;
    const ridge_train_request *request;
    const ridge_train_simulation *simulation;
    const char *const *rank_pools; /* [stages] where they are of several, or NULL */
} ridge_simulation_view;

/** As tables for people. */
void ridge_simulation_write_text(ridge_ctx *cx, const ridge_simulation_view *view,
                                 bool with_colour, ridge_buf *out);
/** The same as a page, with a chart of the pipeline. */
void ridge_simulation_write_html(ridge_ctx *cx, const ridge_simulation_view *view,
                                 ridge_buf *out);
/** Keys: model, slice, chips, kind ("train"), schedule{}, step{}, ranks[], trouble{},
 * steps{}, loss{}, stragglers[], run{}; see docs/design/simulation.md. */
void ridge_simulation_write_json(ridge_ctx *cx, const ridge_simulation_view *view,
                                 ridge_json *object);

/**
 * The step as a Chrome trace that Perfetto opens: a process for each rank of the
 * pipeline, with its passes and waits on a track, and a track for what it exchanges,
 * by network level and mesh axis. What is hidden is drawn beside compute, what is
 * exposed behind it.
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_step_trace_write(ridge_ctx *cx,
                                                    const ridge_simulation_view *view,
                                                    ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
