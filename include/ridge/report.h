/*
 * Reports: charts in a terminal, as SVG and in HTML pages, and the text and JSON of
 * each verb's result. No arithmetic of the domain.
 */
#ifndef RIDGE_REPORT_H
#define RIDGE_REPORT_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- charts ---------------------------------------------------------------------- */

enum { RIDGE_SERIES_MAX = 12, RIDGE_MARKER_MAX = 8 };

/** One line of a chart. */
typedef struct ridge_series {
    const char *name;
    const double *x, *y; /* n points, x ascending; a NaN breaks the line */
    size_t n;
} ridge_series;

/** A vertical or horizontal line with a label: a critical batch, a peak. */
typedef struct ridge_marker {
    const char *label;
    double at;
    bool is_vertical;
} ridge_marker;

typedef struct ridge_chart {
    const char *title;
    const char *x_label, *y_label; /* with units */
    bool is_x_log, is_y_log;
    ridge_series series[RIDGE_SERIES_MAX];
    int n_series;
    ridge_marker markers[RIDGE_MARKER_MAX];
    int n_markers;
} ridge_chart;

/** The chart in characters (Unicode blocks and lines) for a terminal.
 * @param width, height  in characters, axes included; at least 30 x 8 */
void ridge_chart_write_text(const ridge_chart *chart, int width, int height,
                            bool with_colour, ridge_buf *out);
/** One <svg> element that needs nothing else; light and dark by CSS. */
void ridge_chart_write_svg(const ridge_chart *chart, int width, int height,
                           ridge_buf *out);

/* ---- HTML pages --------------------------------------------------------------------
 */

/** A self-contained page: no network, charts inside, light and dark. */
void ridge_html_begin(ridge_buf *out, const char *title, const char *subtitle);
void ridge_html_heading(ridge_buf *out, const char *text);
void ridge_html_paragraph(ridge_buf *out, const char *text);
/** The cells of a table; numbers (right-aligned columns) stay right-aligned. */
void ridge_html_table(ridge_buf *out, const ridge_table *table);
void ridge_html_chart(ridge_buf *out, const ridge_chart *chart);
/** Stacked horizontal bars with a legend: a breakdown.
 * @param names  n parts; values[row * n + part] in @p unit */
void ridge_html_bars(ridge_buf *out, const char *const *rows, size_t n_rows,
                     const char *const *names, size_t n, const double *values,
                     const char *unit);
void ridge_html_end(ridge_buf *out);
/** Text with & < > " escaped. */
void ridge_html_text(ridge_buf *out, const char *text);

#ifdef __cplusplus
}
#endif

#endif
