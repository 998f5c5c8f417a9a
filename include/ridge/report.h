/*
 * Reports: charts in a terminal, as SVG and in HTML pages, and the text and JSON of
 * each verb's result. No arithmetic of the domain.
 */
#ifndef RIDGE_REPORT_H
#define RIDGE_REPORT_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/cost_roofline.h"
#include "ridge/hardware.h"
#include "ridge/model.h"
#include "ridge/plan.h"
#include "ridge/plan_money.h"
#include "ridge/plan_reasons.h"
#include "ridge/plan_train_rooflines.h"
#include "ridge/plan_validation.h"
#include "ridge/program.h"

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

/* ---- HTML pages ----------------------------------------------------------------- */

/** A self-contained page: no network, charts inside, light and dark. */
void ridge_html_begin(ridge_buf *out, const char *title, const char *subtitle);
void ridge_html_heading(ridge_buf *out, const char *text);
void ridge_html_paragraph(ridge_buf *out, const char *text);
/** Text as it is, line by line: what a program prints, a file. */
void ridge_html_listing(ridge_buf *out, const char *text);
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

/* ---- chips ---------------------------------------------------------------------- */

/** Chips to show: a list in rows, or a few with all that is known of them. */
typedef struct ridge_chips_view {
    const ridge_catalog *catalog;
    const ridge_chip *const *chips;
    size_t n;
    bool has_details; /* peaks, memory, network, prices, sourced facts; side by side */
    const ridge_slice *const *slices; /* whole slices, told with their totals */
    size_t n_slices;
    const struct ridge_occupancy
        *occupancies; /* [n] of a kernel, told alone; or NULL */
} ridge_chips_view;

void ridge_chips_write_text(ridge_ctx *cx, const ridge_chips_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_chips_write_html(ridge_ctx *cx, const ridge_chips_view *view,
                            ridge_buf *out);
/** Set the key "chips" of @p object. */
void ridge_chips_write_json(ridge_ctx *cx, const ridge_chips_view *view,
                            ridge_json *object);

/* ---- models ---------------------------------------------------------------------- */

/** A training run that is over, as it is published. */
typedef struct ridge_past_run {
    double tokens, chip_hours;
    const ridge_chip *chip;
} ridge_past_run;

typedef struct ridge_model_view {
    const ridge_model *model;
    double seq_tokens;                  /* T of the FLOPs and of a sequence's cache */
    const ridge_checkpoint *checkpoint; /* or NULL */
    const ridge_past_run *run;          /* whose MFU is wanted; or NULL */
} ridge_model_view;

/** T when none was asked for: 4096, or the model's own context if that is shorter. */
double ridge_model_view_seq(const ridge_model *model);

void ridge_model_write_text(ridge_ctx *cx, const ridge_model_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_model_write_html(ridge_ctx *cx, const ridge_model_view *view,
                            ridge_buf *out);
void ridge_model_write_json(ridge_ctx *cx, const ridge_model_view *view,
                            ridge_json *object);

/** Every model of the library with its totals. @errors those of ridge_model_load */
RIDGE_NODISCARD ridge_status ridge_library_write_text(ridge_ctx *cx,
                                                      const ridge_library *library,
                                                      bool with_colour, ridge_buf *out);
RIDGE_NODISCARD ridge_status ridge_library_write_html(ridge_ctx *cx,
                                                      const ridge_library *library,
                                                      ridge_buf *out);
/** The same as the key "models" of @p object. */
RIDGE_NODISCARD ridge_status ridge_library_write_json(ridge_ctx *cx,
                                                      const ridge_library *library,
                                                      ridge_json *object);

/* ---- rooflines ------------------------------------------------------------------- */

typedef struct ridge_roofline_view {
    const ridge_roofline *roofline;
    const ridge_slice *slice; /* the operation runs on one of its chips */
} ridge_roofline_view;

void ridge_roofline_write_text(ridge_ctx *cx, const ridge_roofline_view *view,
                               bool with_colour, ridge_buf *out);
/** A whole page with the roofline and, after a sweep, its chart. */
void ridge_roofline_write_html(ridge_ctx *cx, const ridge_roofline_view *view,
                               ridge_buf *out);
void ridge_roofline_write_json(ridge_ctx *cx, const ridge_roofline_view *view,
                               ridge_json *object);

/* ---- collectives ----------------------------------------------------------------- */

void ridge_collective_write_text(ridge_ctx *cx, const ridge_collective_study *study,
                                 bool with_colour, ridge_buf *out);
/** A whole page with the algorithms, the levels and, after a sweep, its chart. */
void ridge_collective_write_html(ridge_ctx *cx, const ridge_collective_study *study,
                                 ridge_buf *out);
void ridge_collective_write_json(ridge_ctx *cx, const ridge_collective_study *study,
                                 ridge_json *object);

/** One message between two chips of a torus. */
typedef struct ridge_message_view {
    const ridge_slice *slice;
    const char *from, *to; /* as given */
    double bytes;
    ridge_message_route route;
} ridge_message_view;

void ridge_message_write_text(ridge_ctx *cx, const ridge_message_view *view,
                              bool with_colour, ridge_buf *out);
/** Set the keys "hops", "ports", "first_byte_s", "time_s" and their bounds. */
void ridge_message_write_json(const ridge_message_view *view, ridge_json *object);

/* ---- training ------------------------------------------------------------------- */

/** Set the keys "name", "phase", "weights", "dims", "tensors", "blocks" with their
 *  operations, and what the program counts. */
void ridge_program_write_json(ridge_ctx *cx, const ridge_program *program,
                              ridge_json *object);

typedef struct ridge_train_view {
    const char *model_name; /* as given */
    const ridge_train_request *request;
    const ridge_train_result *result;
    const ridge_thresholds *thresholds;
    const ridge_money_request *money;       /* where it runs; NULL: only the steps */
    bool has_money;                         /* the text tells of the whole run */
    const ridge_train_reasons *reasons;     /* NULL: none asked for */
    const ridge_train_rooflines *rooflines; /* of the best layout, or NULL */
} ridge_train_view;

void ridge_train_write_text(ridge_ctx *cx, const ridge_train_view *view,
                            bool with_colour, ridge_buf *out);
void ridge_train_write_html(ridge_ctx *cx, const ridge_train_view *view,
                            ridge_buf *out);
/** Set the keys "layouts", "thresholds", "search" and the request's own. */
void ridge_train_write_json(ridge_ctx *cx, const ridge_train_view *view,
                            ridge_json *object);

typedef struct ridge_explain_view {
    const char *title;
    const ridge_explanation *explanation;
    const ridge_sensitivity *sensitivity; /* n of them; NULL for none */
    int n_sensitivity;
} ridge_explain_view;

void ridge_explain_write_text(ridge_ctx *cx, const ridge_explain_view *view,
                              bool with_colour, ridge_buf *out);
void ridge_explain_write_html(ridge_ctx *cx, const ridge_explain_view *view,
                              ridge_buf *out);
void ridge_explain_write_json(ridge_ctx *cx, const ridge_explain_view *view,
                              ridge_json *object);

typedef struct ridge_validation_view {
    const char *path;
    const ridge_validation *validation;
    bool has_rows; /* list every row, not only the summaries */
} ridge_validation_view;

void ridge_validation_write_text(ridge_ctx *cx, const ridge_validation_view *view,
                                 bool with_colour, ridge_buf *out);
void ridge_validation_write_html(ridge_ctx *cx, const ridge_validation_view *view,
                                 ridge_buf *out);
void ridge_validation_write_json(ridge_ctx *cx, const ridge_validation_view *view,
                                 ridge_json *object);

typedef struct ridge_op_validation_view {
    const char *path;
    const ridge_op_validation *validation;
    bool has_rows;
} ridge_op_validation_view;

void ridge_op_validation_write_text(ridge_ctx *cx, const ridge_op_validation_view *view,
                                    bool with_colour, ridge_buf *out);
void ridge_op_validation_write_html(ridge_ctx *cx, const ridge_op_validation_view *view,
                                    ridge_buf *out);
void ridge_op_validation_write_json(ridge_ctx *cx, const ridge_op_validation_view *view,
                                    ridge_json *object);

#ifdef __cplusplus
}
#endif

#endif
