/* A collective for people: its time, each algorithm's, the levels that it crosses, and
 * how the size decides. The JSON is in collective_json.c. */
#include "section.h"

#include "ridge/cost_range.h"
#include "ridge/report.h"

#include <math.h>

enum { CHART_WIDTH = 76, CHART_HEIGHT = 18 };

static const char *axis_name(const ridge_collective_study *study, int axis)
{
    return axis >= 0 ? study->slice->axes[axis].name : "-";
}

static const char *title_of(ridge_ctx *cx, const ridge_collective_study *study)
{
    const char *group = ridge_group_text(cx, study->slice, &study->group);
    return ridge_sprintf(ridge_ctx_arena(cx), "%s of %s over %s %s of %s (%s)",
                         ridge_collective_text(study->kind),
                         ridge_format_bytes(study->bytes).s,
                         ridge_format_exact(study->group.ranks).s,
                         study->group.ranks == 1 ? "chip" : "chips", study->slice->text,
                         group ? group : "");
}

/* One line: what decides, and where that changes. */
static const char *verdict(ridge_ctx *cx, const ridge_collective_study *study)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_text size = ridge_format_bytes(study->critical_bytes);
    if (study->cost.algorithm == RIDGE_ALGORITHM_NONE)
        return "One chip: nothing moves.";
    if (study->cost.bound_by == RIDGE_BOUND_LATENCY) {
        return ridge_sprintf(arena,
                             "Latency bound: hops and start-up take longer than the "
                             "bytes; from %s on the bandwidth decides.",
                             size.s);
    }
    return ridge_sprintf(arena,
                         "Bandwidth bound by %s; below %s hops and start-up decide.",
                         axis_name(study, study->cost.slowest_axis), size.s);
}

static void seconds_cell(ridge_table *t, double s)
{
    ridge_table_cellf(t, "%s", ridge_format_seconds(s).s);
}

static void rate_cell(ridge_table *t, double bytes_per_s)
{
    ridge_table_cellf(t, "%s", ridge_format_si(bytes_per_s, "B/s").s);
}

static void add_times(ridge_ctx *cx, const ridge_collective_study *study,
                      ridge_sections *out)
{
    const ridge_collective_cost *cost = &study->cost;
    ridge_table *t = ridge__section_add(cx, out, "Time", "|>|>bus bandwidth|");
    ridge_table_cell(t, "expected");
    seconds_cell(t, cost->expected_s);
    rate_cell(t, cost->bus_bytes_per_s);
    ridge_table_cellf(t, "%s, %s of bytes over time",
                      ridge_algorithm_text(cost->algorithm),
                      ridge_format_si(study->algorithm_bytes_per_s, "B/s").s);
    ridge_table_cell(t, "bound");
    seconds_cell(t, cost->bound_s);
    rate_cell(t, study->bound_bus_bytes_per_s);
    if (study->bound_critical_bytes > 0)
        ridge_table_cellf(t, "nominal rates, no start-up; hops decide below %s",
                          ridge_format_bytes(study->bound_critical_bytes).s);
    else
        ridge_table_cell(t, "nominal rates, no start-up");
    ridge_buf note;
    ridge_buf_init(&note, ridge_ctx_arena(cx));
    if (cost->expected_s > 0) {
        const ridge_measured what = ridge_measured_of_collective(study->kind);
        const ridge_range range =
            ridge_range_of(what, (ridge_time){cost->bound_s, cost->expected_s});
        ridge_buf_puts(&note, ridge_range_text(cx, what, range));
    }
    if (study->ridge_flops_per_byte > 0.0) {
        ridge_buf_printf(&note,
                         " A chip does %s FLOPs in the time of one byte on this "
                         "network.",
                         ridge_format_double(study->ridge_flops_per_byte).s);
    }
    if (ridge_buf_text(&note)[0] != '\0')
        ridge__section_note(out, ridge_buf_text(&note));
}

static bool has_cheaper(const ridge_collective_cost *cost)
{
    for (int i = 0; i < cost->n_algorithms; i++) {
        if (cost->algorithms[i].expected_s < cost->expected_s)
            return true;
    }
    return false;
}

static void add_algorithms(ridge_ctx *cx, const ridge_collective_study *study,
                           ridge_sections *out)
{
    const ridge_collective_cost *cost = &study->cost;
    ridge_table *t = ridge__section_add(
        cx, out, "Algorithms", "algorithm|>expected|>latency|>bandwidth|>bound|what");
    for (int i = 0; i < cost->n_algorithms; i++) {
        const ridge_algorithm_cost *a = &cost->algorithms[i];
        ridge_table_cellf(t, "%s%s", ridge_algorithm_text(a->algorithm),
                          a->algorithm == cost->algorithm ? " *" : "");
        seconds_cell(t, a->expected_s);
        seconds_cell(t, a->latency_s);
        seconds_cell(t, a->bandwidth_s);
        seconds_cell(t, a->bound_s);
        ridge_table_cell(t, ridge_algorithm_what(a->algorithm));
    }
    ridge__section_note(out, has_cheaper(cost)
                                 ? "* expected. What is cheaper no library runs by "
                                   "itself: two calls, one for each level."
                                 : "* expected: the cheapest.");
}

static const char *axis_shape(const ridge_collective_study *study,
                              const ridge_span *span)
{
    if (study->slice->axes[span->axis].kind != RIDGE_AXIS_TORUS)
        return "";
    return ridge_span_has_wraparound(study->slice, span) ? "ring" : "line";
}

/* What units of chips have to send, where there are any above a chip. */
static bool has_units(const ridge_collective_study *study)
{
    const int last = study->group.n_spans - 1;
    return last > 0 && !isnan(study->levels[last].bound_s);
}

static void add_unit_cells(const ridge_collective_level *level, ridge_table *t)
{
    if (isnan(level->bound_s)) {
        ridge_table_cell(t, "");
        ridge_table_cell(t, "");
        return;
    }
    rate_cell(t, level->unit_bytes_per_s);
    seconds_cell(t, level->bound_s);
}

static void add_levels(ridge_ctx *cx, const ridge_collective_study *study,
                       ridge_sections *out)
{
    const bool with_units = has_units(study);
    ridge_table *t = ridge__section_add(
        cx, out, "Network",
        with_units ? "level|kind||>ranks|>a chip, one way|>a unit|>bound|>achieved|"
                     ">latency|"
                   : "level|kind||>ranks|>a chip, one way|>achieved|>latency|");
    for (int i = 0; i < study->group.n_spans; i++) {
        const ridge_span *span = &study->group.spans[i];
        const ridge_axis *axis = &study->slice->axes[span->axis];
        ridge_table_cell(t, axis->name);
        ridge_table_cell(t, ridge_axis_kind_text(axis->kind));
        ridge_table_cell(t, axis_shape(study, span));
        ridge_table_cellf(t, "%s", ridge_format_exact(span->size).s);
        rate_cell(t, axis->bytes_per_s);
        if (with_units)
            add_unit_cells(&study->levels[i], t);
        ridge_table_cellf(t, "%s", ridge_format_percent(axis->efficiency).s);
        seconds_cell(t, axis->latency_s);
        ridge_table_cell(t, span->axis == study->cost.slowest_axis ? "slowest" : "");
    }
    if (with_units)
        ridge__section_note(out, "A unit of a level is what lies below it: a chip, a "
                                 "node, the nodes of a leaf. Its chips of the group "
                                 "send together; bound: what has to leave it, at that "
                                 "rate (a reduction in two passes, in one where the "
                                 "switch adds).");
}

static void add_sweep(ridge_ctx *cx, const ridge_collective_study *study,
                      ridge_sections *out)
{
    if (study->n_points == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, out, "Sweep", ">size|>expected|>bound|>bus bandwidth|algorithm|bound by");
    for (size_t i = 0; i < study->n_points; i++) {
        const ridge_collective_point *p = &study->points[i];
        ridge_table_cellf(t, "%s", ridge_format_bytes(p->bytes).s);
        seconds_cell(t, p->cost.expected_s);
        seconds_cell(t, p->cost.bound_s);
        rate_cell(t, p->cost.bus_bytes_per_s);
        ridge_table_cell(t, ridge_algorithm_text(p->cost.algorithm));
        ridge_table_cell(t, ridge_bound_text(p->cost.bound_by));
    }
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_collective_study *study)
{
    ridge_sections out = {.title = title_of(cx, study), .subtitle = verdict(cx, study)};
    if (study->cost.algorithm == RIDGE_ALGORITHM_NONE)
        return out;
    add_times(cx, study, &out);
    add_algorithms(cx, study, &out);
    add_levels(cx, study, &out);
    add_sweep(cx, study, &out);
    return out;
}

/* Bus bandwidth over size. @return false without a sweep, or when memory is short */
static bool chart_of(ridge_ctx *cx, const ridge_collective_study *study,
                     ridge_chart *out)
{
    const size_t n = study->n_points;
    double *x = ridge_new(ridge_ctx_arena(cx), double, n + 1);
    double *expected = ridge_new(ridge_ctx_arena(cx), double, n + 1);
    double *bound = ridge_new(ridge_ctx_arena(cx), double, n + 1);
    if (n < 2 || study->cost.algorithm == RIDGE_ALGORITHM_NONE || !x || !expected ||
        !bound)
        return false;
    for (size_t i = 0; i < n; i++) {
        x[i] = study->points[i].bytes;
        expected[i] = study->points[i].cost.bus_bytes_per_s;
        bound[i] = study->points[i].bound_bus_bytes_per_s;
    }
    *out = (ridge_chart){
        .title = ridge_collective_text(study->kind),
        .x_label = "bytes",
        .y_label = "bus B/s",
        .is_x_log = true,
        .is_y_log = true,
        .series = {{"bound", x, bound, n}, {"expected", x, expected, n}},
        .n_series = 2,
    };
    if (study->critical_bytes >= x[0] && study->critical_bytes <= x[n - 1]) {
        out->markers[0] =
            (ridge_marker){"latency = bandwidth", study->critical_bytes, true};
        out->n_markers = 1;
    }
    return true;
}

void ridge_collective_write_text(ridge_ctx *cx, const ridge_collective_study *study,
                                 bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, study);
    ridge__sections_write_text(&sections, with_colour, out);
    ridge_chart chart;
    if (chart_of(cx, study, &chart)) {
        ridge_buf_puts(out, "\n");
        ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
    }
}

void ridge_collective_write_html(ridge_ctx *cx, const ridge_collective_study *study,
                                 ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, study);
    ridge_chart chart;
    ridge__page_begin(&sections, out);
    if (chart_of(cx, study, &chart))
        ridge_html_chart(out, &chart);
    ridge__page_end(&sections, out);
}
