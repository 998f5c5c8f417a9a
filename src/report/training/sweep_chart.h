/* Charts of scaling curves. */
#ifndef RIDGE_CURVE_CHART_H
#define RIDGE_CURVE_CHART_H

#include "ridge/report.h"
#include "ridge/report_sweep.h"

/** Efficiency of each curve over the axis that is swept (MFU where the chips stay),
 * with marks. @return false when fewer than two points have an answer */
bool ridge__curve_chart(ridge_ctx *cx, const ridge_curve_view *view, ridge_chart *out);

/** Tokens per second of each curve, and in proportion to the chips from its first
 * point; of chips alone. */
bool ridge__curve_chart_speed(ridge_ctx *cx, const ridge_curve_view *view,
                              ridge_chart *out);

#endif
