/*
 * Ranges and nice ticks of chart axes: 1, 2, 5 times a power of ten, linear or log.
 */
#include "chart_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these a difference could overflow, a step lose its digits. */
static const double VALUE_MOST = 1e300;
static const double VALUE_LEAST = 1e-300;

bool ridge__chart_axis_takes(bool is_log, double v)
{
    return isfinite(v) && (!is_log || v > 0);
}

int ridge__chart_series_count(const ridge_chart *chart)
{
    int n = chart->n_series;
    return n < 0 ? 0 : n > RIDGE_SERIES_MAX ? RIDGE_SERIES_MAX : n;
}

int ridge__chart_marker_count(const ridge_chart *chart)
{
    int n = chart->n_markers;
    return n < 0 ? 0 : n > RIDGE_MARKER_MAX ? RIDGE_MARKER_MAX : n;
}

const char *ridge__chart_label(const char *text)
{
    return text ? text : "";
}

ridge_text ridge__chart_number(double v, int digits)
{
    static const char *const prefixes[] = {"p", "n", "µ", "m", "",
                                           "k", "M", "G", "T", "P"};
    enum { UNITY = 4 };
    ridge_text text = {{0}};
    if (v == 0 || !isfinite(v)) {
        snprintf(text.s, sizeof text.s, "%g", v);
        return text;
    }
    /* the decimal exponent after rounding, so that 999.9996 becomes 1k */
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, v);
    const char *e = strchr(rounded, 'e');
    int64_t exponent = 0;
    if (!e || !ridge_parse_i64(ridge_str_of(e[1] == '+' ? e + 2 : e + 1), &exponent))
        exponent = 0;
    int64_t step = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
    if (step + UNITY < 0 || step + UNITY >= (int64_t)RIDGE_COUNT_OF(prefixes)) {
        snprintf(text.s, sizeof text.s, "%.*g", digits, v);
    } else {
        snprintf(text.s, sizeof text.s, "%.*g%s", digits, v / pow(1000.0, (double)step),
                 prefixes[step + UNITY]);
    }
    return text;
}

static void extend(ridge_chart_axis *axis, double v)
{
    if (!ridge__chart_axis_takes(axis->is_log, v))
        return;
    v = fmin(fmax(v, axis->is_log ? VALUE_LEAST : -VALUE_MOST), VALUE_MOST);
    axis->low = fmin(axis->low, v);
    axis->high = fmax(axis->high, v);
}

/* Points count only when both of their values can be drawn. */
static void extend_by_series(ridge_chart_axis *axis, const ridge_chart *chart,
                             bool is_x)
{
    for (int s = 0; s < ridge__chart_series_count(chart); s++) {
        const ridge_series *series = &chart->series[s];
        for (size_t i = 0; i < series->n; i++) {
            double mine = is_x ? series->x[i] : series->y[i];
            double other = is_x ? series->y[i] : series->x[i];
            if (ridge__chart_axis_takes(is_x ? chart->is_y_log : chart->is_x_log,
                                        other))
                extend(axis, mine);
        }
    }
}

/** The largest of 1, 2, 5 times 10^k at or below v (is_up: smallest at or above). */
static double nice_bound(double v, bool is_up)
{
    static const double steps[] = {1, 2, 5, 10};
    double decade = pow(10, floor(log10(v)));
    double best = is_up ? 10 * decade : decade;
    for (size_t i = 0; i < RIDGE_COUNT_OF(steps); i++) {
        double bound = steps[i] * decade;
        if (is_up && bound >= v * (1 - 1e-9) && bound < best)
            best = bound;
        if (!is_up && bound <= v * (1 + 1e-9))
            best = bound;
    }
    return best;
}

static void add_tick(ridge_chart_axis *axis, double v, int digits)
{
    if (axis->n_ticks == RIDGE_CHART_TICK_MAX)
        return;
    ridge_chart_tick *tick = &axis->ticks[axis->n_ticks++];
    tick->place = ridge__chart_axis_place(axis, v);
    tick->text = ridge__chart_number(v, digits);
}

static void fit_log(ridge_chart_axis *axis, int most)
{
    static const double steps[] = {1, 2, 5};
    if (axis->low > axis->high) {
        axis->low = 1;
        axis->high = 10;
    }
    axis->low = nice_bound(axis->low, false);
    axis->high = nice_bound(axis->high, true);
    if (axis->low == axis->high) {
        axis->low /= 10;
        axis->high *= 10;
    }
    int first = (int)floor(log10(axis->low) + 1e-9);
    int last = (int)floor(log10(axis->high) + 1e-9);
    int decades = last - first + 1;
    bool has_steps = 3 * decades <= most + 1;
    int stride = has_steps ? 1 : (decades + most - 1) / most;
    for (int d = first; d <= last; d += stride) {
        for (size_t i = 0; i < (has_steps ? RIDGE_COUNT_OF(steps) : 1); i++) {
            double v = steps[i] * pow(10, d);
            if (v >= axis->low * (1 - 1e-9) && v <= axis->high * (1 + 1e-9))
                add_tick(axis, v, 4);
        }
    }
}

/** The step of 1, 2, 5 times 10^k that makes at most n steps of a range. */
static double nice_step(double range, int n)
{
    return nice_bound(range / n, true);
}

static void widen_linear(ridge_chart_axis *axis)
{
    if (axis->low > axis->high) {
        axis->low = 0;
        axis->high = 1;
        return;
    }
    double size = fmax(fabs(axis->low), fabs(axis->high));
    if (axis->high - axis->low <= 1e-5 * size || size < VALUE_LEAST) {
        double margin = size < VALUE_LEAST ? 0.5 : 0.1 * size;
        axis->low -= margin;
        axis->high += margin;
    }
    /* a chart that can show its zero at little cost should */
    if (axis->low > 0 && axis->low < 0.5 * axis->high)
        axis->low = 0;
}

static void fit_linear(ridge_chart_axis *axis, int most)
{
    widen_linear(axis);
    double step = nice_step(axis->high - axis->low, most > 3 ? most - 2 : 1);
    double first = floor(axis->low / step + 1e-9);
    double last = ceil(axis->high / step - 1e-9);
    axis->low = first * step;
    axis->high = last * step;
    double size = fmax(fabs(axis->low), fabs(axis->high));
    int digits = 1 + (int)ceil(log10(size / step) + 1e-9);
    digits = digits < 3 ? 3 : digits > 7 ? 7 : digits; /* 3: below 1000, no exponent */
    for (int i = 0; i <= (int)(last - first); i++)
        add_tick(axis, (first + i) * step, digits);
}

ridge_chart_axis ridge__chart_axis_fit(const ridge_chart *chart, bool is_x, int most)
{
    ridge_chart_axis axis = {.is_log = is_x ? chart->is_x_log : chart->is_y_log,
                             .low = HUGE_VAL,
                             .high = -HUGE_VAL};
    extend_by_series(&axis, chart, is_x);
    for (int m = 0; m < ridge__chart_marker_count(chart); m++) {
        if (chart->markers[m].is_vertical == is_x)
            extend(&axis, chart->markers[m].at);
    }
    most = most < 2 ? 2 : most > RIDGE_CHART_TICK_MAX ? RIDGE_CHART_TICK_MAX : most;
    if (axis.is_log) {
        fit_log(&axis, most);
    } else {
        fit_linear(&axis, most);
    }
    return axis;
}

double ridge__chart_axis_place(const ridge_chart_axis *axis, double v)
{
    double place = axis->is_log ? (log10(v) - log10(axis->low)) /
                                      (log10(axis->high) - log10(axis->low))
                                : (v - axis->low) / (axis->high - axis->low);
    return fmin(fmax(place, 0), 1);
}
