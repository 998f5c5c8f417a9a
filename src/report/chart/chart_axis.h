/*
 * The scale of a chart's axis: which range it shows, where a value lies in it, and
 * its ticks. Shared by the charts in characters and in SVG.
 */
#ifndef RIDGE_CHART_AXIS_H
#define RIDGE_CHART_AXIS_H

#include "ridge/report.h"

enum { RIDGE_CHART_TICK_MAX = 24 };

typedef struct ridge_chart_tick {
    double place; /* 0 at the low end, 1 at the high end */
    ridge_text text;
} ridge_chart_tick;

typedef struct ridge_chart_axis {
    bool is_log;
    double low, high; /* finite, low < high; positive on a log axis */
    int n_ticks;
    ridge_chart_tick ticks[RIDGE_CHART_TICK_MAX];
} ridge_chart_axis;

/**
 * The axis that holds every drawable value of a chart, markers included.
 * @param is_x  the x axis, otherwise the y axis
 * @param most  ticks wanted at most, 2 .. RIDGE_CHART_TICK_MAX
 */
ridge_chart_axis ridge__chart_axis_fit(const ridge_chart *chart, bool is_x, int most);

/** Whether a value can be drawn: finite, and positive on a log axis. */
bool ridge__chart_axis_takes(bool is_log, double v);

/** @return 0 .. 1 for a value that the axis takes; values outside are clamped */
double ridge__chart_axis_place(const ridge_chart_axis *axis, double v);

/** A number with an SI prefix and few digits: 200k, 1.5M, 20m, 1e-15. */
ridge_text ridge__chart_number(double v, int digits);

/** Series and markers that are used, whatever the caller wrote into the counts. */
int ridge__chart_series_count(const ridge_chart *chart);
int ridge__chart_marker_count(const ridge_chart *chart);

/** "" for NULL. */
const char *ridge__chart_label(const char *text);

#endif
