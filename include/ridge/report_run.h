/* The report of a training run: what was measured, beside what was predicted. */
#ifndef RIDGE_REPORT_RUN_H
#define RIDGE_REPORT_RUN_H

#include "ridge/execute.h"
#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A training run that is over. Borrowed pointers outlive the call. */
typedef struct ridge_run_view {
    const ridge_train_run *run;
    const ridge_train_report *report;
    const ridge_train_price *price; /* the plan's prediction; NULL: none */
    const ridge_train_price
        *loaded;                   /* the same at the measured load of experts; NULL */
    const ridge_run_event *events; /* [n_events], in order */
    int64_t n_events;
    double flops_per_token; /* of training */
} ridge_run_view;

/** As tables for people. */
void ridge_run_write_text(ridge_ctx *cx, const ridge_run_view *view, bool with_colour,
                          ridge_buf *out);
/** The same as a page, with the losses as a chart. */
void ridge_run_write_html(ridge_ctx *cx, const ridge_run_view *view, ridge_buf *out);
/** Keys: model, layout, engine, ranks, steps[]{step, loss, gradient_norm, rate, step_s,
 * tokens_per_s}, evaluations[]{step, loss}, checkpoints[], measured{step_time_s,
 * tokens_per_s, mfu, peak_flops_per_s, expert_load, peak_memory_bytes[],
 * weight_bytes[]}, predicted{step_time_s, loaded_step_time_s, peak_memory_bytes}. */
void ridge_run_write_json(ridge_ctx *cx, const ridge_run_view *view,
                          ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
