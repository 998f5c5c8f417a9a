/* Charts of scaling curves: efficiency or MFU with the marks of where bounds set in,
 * and tokens per second beside what proportional growth would give. */
#include "sweep_chart.h"

#include <math.h>

typedef double point_value(const ridge_curve_point *p);

static double efficiency_of(const ridge_curve_point *p)
{
    return 100 * p->efficiency;
}

static double mfu_of(const ridge_curve_point *p)
{
    return 100 * p->best.mfu;
}

static double speed_of(const ridge_curve_point *p)
{
    return p->tokens_per_s;
}

/* What the first point's rate a chip would give. */
static double ideal_of(const ridge_curve_point *p)
{
    return p->tokens_per_s / p->efficiency;
}

/* Points without an answer break the line. @return how many have one; 0: no memory */
static int add_series(ridge_ctx *cx, const ridge_curve *curve, const char *name,
                      point_value *value, ridge_chart *chart)
{
    double *x = ridge_new(ridge_ctx_arena(cx), double, (size_t)curve->n + 1);
    double *y = ridge_new(ridge_ctx_arena(cx), double, (size_t)curve->n + 1);
    int answers = 0;
    if (x == NULL || y == NULL)
        return 0;
    for (int i = 0; i < curve->n; i++) {
        const ridge_curve_point *p = &curve->points[i];
        x[i] = p->value;
        y[i] = p->why_not == NULL ? value(p) : (double)NAN;
        answers += p->why_not == NULL;
    }
    chart->series[chart->n_series++] = (ridge_series){name, x, y, (size_t)curve->n};
    return answers;
}

static bool is_within(const ridge_curve *curve, double at)
{
    return at >= curve->points[0].value && at <= curve->points[curve->n - 1].value;
}

/* Thresholds, and where a part becomes the bottleneck; noticed parts stay in the list.
 */
static void add_markers(const ridge_curve *curve, ridge_chart *chart)
{
    for (int i = 0; i < curve->n_marks && chart->n_markers < RIDGE_MARKER_MAX; i++) {
        const ridge_curve_mark *m = &curve->marks[i];
        if (m->label != NULL && m->is_threshold && is_within(curve, m->at))
            chart->markers[chart->n_markers++] = (ridge_marker){m->label, m->at, true};
    }
    for (int i = 0; i < curve->n && chart->n_markers < RIDGE_MARKER_MAX; i++) {
        const ridge_curve_point *p = &curve->points[i];
        if (p->why_not == NULL && p->is_bound) {
            chart->markers[chart->n_markers++] =
                (ridge_marker){"communication binds", p->value, true};
            return;
        }
    }
}

static const char *axis_label(ridge_curve_axis axis)
{
    switch (axis) {
    case RIDGE_CURVE_CHIPS:
        return "chips";
    case RIDGE_CURVE_BATCH:
        return "tokens a step";
    case RIDGE_CURVE_SEQ:
        break;
    }
    return "tokens a sequence";
}

bool ridge__curve_chart(ridge_ctx *cx, const ridge_curve_view *view, ridge_chart *out)
{
    const ridge_curve_study *study = view->study;
    const bool is_chips = study->range.axis == RIDGE_CURVE_CHIPS;
    int answers = 0;
    *out =
        (ridge_chart){.title = is_chips ? "Efficiency" : "MFU",
                      .x_label = axis_label(study->range.axis),
                      .y_label = is_chips ? "% of the first point's rate a chip" : "%",
                      .is_x_log = true};
    for (int c = 0; c < study->n_curves; c++) {
        const ridge_curve *curve = &study->curves[c];
        const char *name = is_chips ? ridge_curve_kind_text(curve->kind) : "MFU";
        const int n =
            add_series(cx, curve, name, is_chips ? efficiency_of : mfu_of, out);
        answers = n > answers ? n : answers;
    }
    add_markers(&study->curves[0], out);
    return answers >= 2;
}

bool ridge__curve_chart_speed(ridge_ctx *cx, const ridge_curve_view *view,
                              ridge_chart *out)
{
    const ridge_curve_study *study = view->study;
    if (study->range.axis != RIDGE_CURVE_CHIPS)
        return false;
    int answers = 0;
    *out = (ridge_chart){.title = "Tokens per second",
                         .x_label = "chips",
                         .y_label = "tokens/s",
                         .is_x_log = true,
                         .is_y_log = true};
    for (int c = 0; c < study->n_curves; c++) {
        const ridge_curve *curve = &study->curves[c];
        const int n =
            add_series(cx, curve, ridge_curve_kind_text(curve->kind), speed_of, out);
        answers = n > answers ? n : answers;
    }
    add_series(cx, &study->curves[0], "proportional", ideal_of, out);
    return answers >= 2;
}
