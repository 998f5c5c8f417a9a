/* The charts of a roofline; layer-internal. */
#ifndef RIDGE_REPORT_ROOFLINE_CHART_H
#define RIDGE_REPORT_ROOFLINE_CHART_H

#include "ridge/report.h"

/** FLOP/s over intensity: the roof, the ridge, and the operation under it.
 * @return false when memory is short or the operation does no FLOPs */
bool ridge__roofline_chart_roof(ridge_ctx *cx, const ridge_roofline *roofline,
                                ridge_chart *out);
/** FLOP/s over the swept dim, bound and expected, with the critical size; time where
 *  there are no FLOPs. @return false without a sweep or when memory is short */
bool ridge__roofline_chart_sweep(ridge_ctx *cx, const ridge_roofline *roofline,
                                 ridge_chart *out);

#endif
