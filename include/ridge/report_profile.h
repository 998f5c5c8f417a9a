/*
 * Measured profiles as text, JSON and a page.
 */
#ifndef RIDGE_REPORT_PROFILE_H
#define RIDGE_REPORT_PROFILE_H

#include "ridge/base.h"
#include "ridge/profile.h"
#include "ridge/profile_compare.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_profile_view {
    const ridge_profile *profile;
    ridge_profile_key key; /* operations are grouped by it */
    int rows;              /* most rows of a table; 0: the usual */
} ridge_profile_view;

void ridge_profile_write_text(ridge_ctx *cx, const ridge_profile_view *view,
                              bool with_colour, ridge_buf *out);
/** Set the keys "format", "files", "devices", "steps", "ops", "groups", "collectives",
 *  "gaps", "advice", "lost"; see docs/design/profiles.md. */
void ridge_profile_write_json(ridge_ctx *cx, const ridge_profile_view *view,
                              ridge_json *object);
/** A page with charts of the steps, the operations and the roofline. */
void ridge_profile_write_html(ridge_ctx *cx, const ridge_profile_view *view,
                              ridge_buf *out);

/* ---- comparisons -------------------------------------------------------------------
 */

void ridge_profile_diff_write_text(ridge_ctx *cx, const ridge_profile_diff *diff,
                                   bool with_colour, ridge_buf *out);
/** Set the keys "before", "after", "step", "parts", "groups". */
void ridge_profile_diff_write_json(ridge_ctx *cx, const ridge_profile_diff *diff,
                                   ridge_json *object);
void ridge_profile_diff_write_html(ridge_ctx *cx, const ridge_profile_diff *diff,
                                   ridge_buf *out);

void ridge_plan_comparison_write_text(ridge_ctx *cx, const ridge_plan_comparison *c,
                                      bool with_colour, ridge_buf *out);
/** Set the key "plan": "parts", "rows", "note". */
void ridge_plan_comparison_write_json(ridge_ctx *cx, const ridge_plan_comparison *c,
                                      ridge_json *object);
void ridge_plan_comparison_write_html(ridge_ctx *cx, const ridge_plan_comparison *c,
                                      ridge_buf *out);
/**
 * Measured and predicted as one Chrome trace that Perfetto opens: the step that the
 * profile kept, and the plan's step played out, both from zero.
 * @param step  the predicted step as ridge_step_trace_write has it
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_profile_write_trace(ridge_ctx *cx,
                                                       const ridge_profile *profile,
                                                       ridge_str step, ridge_buf *out);

#ifdef __cplusplus
}
#endif

#endif
