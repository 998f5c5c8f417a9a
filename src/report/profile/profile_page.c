/* The page of a profile: bars of its steps, a roofline of its operations, and the
 * tables. */
#include "profile_sections.h"

#include "ridge/report.h"

#include <math.h>

enum { BARS_MOST = 24, POINTS_MOST = 48 };

/* Parts that are drawn: colours are fewer than parts, and most traces lack some. */
typedef struct drawn_parts {
    ridge_profile_part parts[RIDGE_PROFILE_PART_COUNT];
    const char *names[RIDGE_PROFILE_PART_COUNT];
    size_t n;
} drawn_parts;

static drawn_parts parts_find(const ridge_profile *p)
{
    drawn_parts d = {.n = 0};
    for (int i = 0; i < RIDGE_PROFILE_PART_COUNT; i++) {
        if (p->times.part_ns[i] == 0)
            continue;
        d.parts[d.n] = (ridge_profile_part)i;
        d.names[d.n++] = ridge_profile_part_text((ridge_profile_part)i);
    }
    return d;
}

static void times_put(const drawn_parts *d, const ridge_profile_times *t, double n,
                      double *values)
{
    for (size_t i = 0; i < d->n; i++)
        values[i] = profile_seconds(t->part_ns[d->parts[i]]) / n;
}

/* A row a step where there is one device, else a row a device. */
static void bars_write(const ridge_profile *p, ridge_buf *out)
{
    const drawn_parts d = parts_find(p);
    const char *rows[BARS_MOST];
    double values[BARS_MOST * RIDGE_PROFILE_PART_COUNT];
    size_t n = 0;
    for (int i = 0; p->n_devices == 1 && i < p->devices[0].n_steps && n < BARS_MOST;
         i++, n++) {
        const ridge_profile_step *step = &p->devices[0].steps[i];
        rows[n] = step->name;
        times_put(&d, &step->times, 1, values + n * d.n);
    }
    for (int i = 0; p->n_devices > 1 && i < p->n_devices && n < BARS_MOST; i++, n++) {
        const ridge_profile_device *device = &p->devices[i];
        rows[n] = device->name;
        times_put(&d, &device->times, device->n_steps > 0 ? device->n_steps : 1,
                  values + n * d.n);
    }
    ridge_html_heading(out, p->n_devices == 1 ? "Steps" : "Devices, a step on average");
    ridge_html_bars(out, rows, n, d.names, d.n, values, "s");
}

static void groups_write(ridge_ctx *cx, const ridge_profile *p, ridge_buf *out)
{
    ridge_profile_group *groups;
    const char *names[] = {"time at the roofline", "time above it", "no roofline told"};
    const char *rows[BARS_MOST];
    double values[BARS_MOST * 3];
    const double steps = p->steps > 0 ? (double)p->steps : 1;
    int n;
    if (p->chip == NULL ||
        ridge_profile_group_by(cx, p, RIDGE_KEY_CLASS, &groups, &n) != RIDGE_OK)
        return;
    n = n < BARS_MOST ? n : BARS_MOST;
    for (int i = 0; i < n; i++) {
        const double told = profile_seconds(groups[i].roofline_ns);
        const double above = fmin(groups[i].gap_s, told);
        rows[i] = groups[i].name;
        values[3 * i] = (told - above) / steps;
        values[3 * i + 1] = above / steps;
        values[3 * i + 2] = (profile_seconds(groups[i].time_ns) - told) / steps;
    }
    ridge_html_heading(out, "Operations against the roofline");
    ridge_html_bars(out, rows, (size_t)n, names, 3, values, "s");
}

/* ---- the roofline -------------------------------------------------------------------
 */

typedef struct points {
    double x[POINTS_MOST], y[POINTS_MOST];
    size_t n;
} points;

/* In order of intensity: operations with FLOPs and bytes, the longest ones. */
static void points_find(const ridge_profile *p, points *to)
{
    to->n = 0;
    for (int i = 0; i < p->n_ops && to->n < POINTS_MOST; i++) {
        const ridge_profile_op *op = &p->ops[i];
        if (!op->has_flops || !op->has_bytes || op->bytes <= 0 || op->time_ns <= 0)
            continue;
        const double x = op->flops / op->bytes;
        size_t at = to->n++;
        for (; at > 0 && to->x[at - 1] > x; at--) {
            to->x[at] = to->x[at - 1];
            to->y[at] = to->y[at - 1];
        }
        to->x[at] = x;
        to->y[at] = op->flops / profile_seconds(op->time_ns);
    }
}

static void roofline_write(const ridge_profile *p, ridge_buf *out)
{
    points reached;
    if (p->chip == NULL)
        return;
    points_find(p, &reached);
    if (reached.n < 2)
        return;
    const double peak = ridge_chip_peak(p->chip, RIDGE_DTYPE_BF16, NULL);
    const double ridge = peak / p->chip->hbm_bytes_per_s;
    const double low = fmin(reached.x[0], ridge / 10);
    const double high = fmax(reached.x[reached.n - 1], ridge * 10);
    const double roof_x[] = {low, ridge, high};
    const double roof_y[] = {low * p->chip->hbm_bytes_per_s, peak, peak};
    const ridge_chart chart = {
        .title = "FLOP/s reached by the longest operations",
        .x_label = "FLOPs a byte",
        .y_label = "FLOP/s",
        .is_x_log = true,
        .is_y_log = true,
        .series = {{"roofline, bf16", roof_x, roof_y, 3},
                   {"measured", reached.x, reached.y, reached.n}},
        .n_series = 2};
    ridge_html_heading(out, "Roofline");
    ridge_html_chart(out, &chart);
}

void ridge_profile_write_html(ridge_ctx *cx, const ridge_profile_view *view,
                              ridge_buf *out)
{
    ridge_sections s = {0};
    profile_sections_build(cx, view, &s);
    ridge__page_begin(&s, out);
    if (view->profile->times.total_ns > 0) {
        bars_write(view->profile, out);
        groups_write(cx, view->profile, out);
        roofline_write(view->profile, out);
    }
    ridge__page_end(&s, out);
}
