/* A pipeline in time as one SVG element. */
#ifndef RIDGE_REPORT_PIPELINE_CHART_H
#define RIDGE_REPORT_PIPELINE_CHART_H

#include "ridge/plan_simulation.h"

/** A row a stage, passes as boxes in the colours of the page, what closes the step
 * behind them; a legend. Of long steps the beginning and the end. */
void ridge__pipeline_chart_write(const ridge_train_simulation *simulation,
                                 ridge_buf *out);

#endif
