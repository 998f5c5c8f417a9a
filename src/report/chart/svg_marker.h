/*
 * The frame of an SVG chart that its parts share, and the markers drawn in it.
 * Layer-internal.
 */
#ifndef RIDGE_REPORT_SVG_MARKER_H
#define RIDGE_REPORT_SVG_MARKER_H

#include "chart_axis.h"

typedef struct ridge_svg_chart {
    const ridge_chart *chart;
    double width, height;
    double left, right, top, bottom; /* edges of the plot, in px */
    ridge_chart_axis x, y;
    ridge_buf *out;
} ridge_svg_chart;

typedef struct ridge_svg_point {
    double x, y;
} ridge_svg_point;

/** Where a place of an axis (0 .. 1) lies. */
double ridge__svg_x_px(const ridge_svg_chart *c, double place);
double ridge__svg_y_px(const ridge_svg_chart *c, double place);
/** About how wide a text of the labels' size is. */
double ridge__svg_text_px(const char *text);
/** Whether both values of a point can be drawn. */
bool ridge__svg_can_draw(const ridge_svg_chart *c, const ridge_series *series,
                         size_t i);

void ridge__svg_text(const ridge_svg_chart *c, ridge_svg_point at,
                     const char *attributes, const char *text);
/** A line of a CSS class across the plot, at an x and at a y. */
void ridge__svg_upright(const ridge_svg_chart *c, const char *kind, double x);
void ridge__svg_level(const ridge_svg_chart *c, const char *kind, double y);

void ridge__svg_marker_line(const ridge_svg_chart *c, const ridge_marker *marker);
/** The label, at the end of its line where the fewest series pass. */
void ridge__svg_marker_label(const ridge_svg_chart *c, const ridge_marker *marker);

#endif
