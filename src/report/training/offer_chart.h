/* The chart of slices compared. */
#ifndef RIDGE_OFFER_CHART_H
#define RIDGE_OFFER_CHART_H

#include "ridge/report.h"
#include "ridge/report_offer.h"

/** Dollars over days, a line for each chip, the deadline marked.
 * @return false when no two slices have both */
bool ridge__offer_chart(ridge_ctx *cx, const ridge_offer_view *view, ridge_chart *out);

#endif
