/* The report of models compared on one slice. */
#ifndef RIDGE_REPORT_RIVALS_H
#define RIDGE_REPORT_RIVALS_H

#include "ridge/plan_rivals.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_rivals_view {
    const ridge_train_request *request; /* slice, batch and sequence of all */
    int n;
    const ridge_rival *rivals;         /* [n] */
    const ridge_rival_answer *answers; /* [n] */
    const ridge_scaling_law *law;
} ridge_rivals_view;

/** The models side by side, what a token of each costs against the first, and what that
 * asks of its quality. */
void ridge_rivals_write_text(ridge_ctx *cx, const ridge_rivals_view *view,
                             bool with_colour, ridge_buf *out);
void ridge_rivals_write_html(ridge_ctx *cx, const ridge_rivals_view *view,
                             ridge_buf *out);
/** Set the keys slice, chips, batch_tokens, seq_tokens, total_tokens, law, and models:
 * of each model, parameters, active_parameters, why_not, work_ratio, efficiency_ratio,
 * time_ratio, loss, loss_at_time, and where one fits flops_per_token and layout. */
void ridge_rivals_write_json(ridge_ctx *cx, const ridge_rivals_view *view,
                             ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
