/* The report of scaling curves. */
#ifndef RIDGE_REPORT_SWEEP_H
#define RIDGE_REPORT_SWEEP_H

#include "ridge/plan_sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_curve_view {
    const char *model_name; /* as given */
    const ridge_train_request *request;
    const ridge_curve_study *study;
    const ridge_money_request *money;
    bool has_money; /* goodput, time and cost of each point too */
} ridge_curve_view;

/** Tables of the curves, where bounds set in, and a chart in characters. */
void ridge_curve_write_text(ridge_ctx *cx, const ridge_curve_view *view,
                            bool with_colour, ridge_buf *out);
/** A whole page with charts and the parts of each point's step as bars. */
void ridge_curve_write_html(ridge_ctx *cx, const ridge_curve_view *view,
                            ridge_buf *out);
/** The chart as one <svg> element. */
void ridge_curve_write_svg(ridge_ctx *cx, const ridge_curve_view *view, ridge_buf *out);
/** Set the key "sweep". */
void ridge_curve_write_json(ridge_ctx *cx, const ridge_curve_view *view,
                            ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
