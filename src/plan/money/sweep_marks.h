/* Marks of a curve of scaling_sweep.c. */
#ifndef RIDGE_PLAN_SWEEP_MARKS_H
#define RIDGE_PLAN_SWEEP_MARKS_H

#include "ridge/plan_sweep.h"

/** Fill the marks of a curve whose points are priced. Labels live as long as cx. */
void sweep_marks_add(ridge_ctx *cx, ridge_curve_axis axis, ridge_curve *curve);

#endif
