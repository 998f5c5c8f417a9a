/* Charts of a roofline: the roof over intensity, and a sweep over sizes. */
#include "roofline_chart.h"

#include <math.h>

enum { ROOF_POINTS = 3 };

bool ridge__roofline_chart_roof(ridge_ctx *cx, const ridge_roofline *roofline,
                                ridge_chart *out)
{
    const double intensity = roofline->cost.intensity_flops_per_byte;
    const double ridge = roofline->ridge_flops_per_byte;
    ridge_arena *arena = ridge_ctx_arena(cx);
    double *x = ridge_new(arena, double, ROOF_POINTS + 1);
    double *y = ridge_new(arena, double, ROOF_POINTS + 1);
    const char *label = ridge_sprintf(arena, "ridge %s", ridge_format_double(ridge).s);
    if (!x || !y || !label || roofline->flops <= 0 || !(ridge > 0))
        return false;
    const double ends[ROOF_POINTS] = {fmin(intensity, ridge) / 8, ridge,
                                      fmax(intensity, ridge) * 8};
    for (int i = 0; i < ROOF_POINTS; i++) {
        x[i] = ends[i];
        y[i] = fmin(roofline->peak_flops_per_s, ends[i] * roofline->bytes_per_s);
    }
    x[ROOF_POINTS] = intensity;
    y[ROOF_POINTS] = roofline->flops / roofline->cost.expected_s;
    *out = (ridge_chart){
        .title = "Roofline",
        .x_label = "intensity, FLOPs per byte",
        .y_label = "FLOP/s",
        .is_x_log = true,
        .is_y_log = true,
        .series = {{"roof", x, y, ROOF_POINTS},
                   {roofline->op.text, x + ROOF_POINTS, y + ROOF_POINTS, 1}},
        .n_series = 2,
        .markers = {{label, ridge, true}},
        .n_markers = 1,
    };
    return true;
}

static void add_marker(ridge_chart *chart, const char *label, double at,
                       bool is_vertical)
{
    if (label && at > 0)
        chart->markers[chart->n_markers++] = (ridge_marker){label, at, is_vertical};
}

static bool is_wide(const ridge_roofline *r)
{
    return r->points[r->n_points - 1].size > 16 * r->points[0].size;
}

bool ridge__roofline_chart_sweep(ridge_ctx *cx, const ridge_roofline *roofline,
                                 ridge_chart *out)
{
    const size_t n = roofline->n_points;
    ridge_arena *arena = ridge_ctx_arena(cx);
    double *x = ridge_new(arena, double, n + 1);
    double *bound = ridge_new(arena, double, n + 1);
    double *expected = ridge_new(arena, double, n + 1);
    if (n == 0 || !x || !bound || !expected)
        return false;
    const bool is_rate = roofline->flops > 0;
    for (size_t i = 0; i < n; i++) {
        const ridge_op_cost *c = &roofline->points[i].cost;
        const double flops = roofline->is_matmul ? c->matmul_flops : c->vector_flops;
        x[i] = roofline->points[i].size;
        bound[i] = is_rate ? flops / c->bound_s : c->bound_s;
        expected[i] = is_rate ? flops / c->expected_s : c->expected_s;
    }
    *out = (ridge_chart){
        .title = roofline->op.text,
        .x_label = roofline->sweep_dim,
        .y_label = is_rate ? "FLOP/s" : "seconds",
        .is_x_log = is_wide(roofline),
        .is_y_log = true,
        .series = {{"roofline", x, bound, n}, {"expected", x, expected, n}},
        .n_series = 2,
    };
    const double critical = roofline->sweep_critical;
    if (critical >= x[0] && critical <= x[n - 1]) {
        add_marker(out,
                   ridge_sprintf(arena, "critical %s", ridge_format_double(critical).s),
                   critical, true);
    }
    if (is_rate)
        add_marker(out, "peak", roofline->peak_flops_per_s, false);
    return true;
}
