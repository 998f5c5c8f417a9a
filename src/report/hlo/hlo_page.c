/* A module's report as a page: where the time goes, kernels against the roofline. */
#include "hlo_section.h"

#include "ridge/report.h"

#include <math.h>
#include <stdlib.h>

enum { KERNELS_SHOWN = 300, ROOF_POINTS = 3 };

/** A kernel on the chart. */
typedef struct dot {
    double x, y;
} dot;

static int left_first(const void *a, const void *b)
{
    const dot *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* Where the time goes, and how it would go at full rates. */
static void draw_shares(const ridge_hlo_study *s, ridge_buf *out)
{
    static const char *const rows[] = {"expected", "bound of each"};
    const char *names[RIDGE_HLO_CATEGORY_COUNT];
    double values[2 * RIDGE_HLO_CATEGORY_COUNT];
    for (int c = 0; c < RIDGE_HLO_CATEGORY_COUNT; c++) {
        names[c] = ridge_hlo_category_text((ridge_hlo_category)c);
        values[c] = s->shares[c].exposed_s;
        values[RIDGE_HLO_CATEGORY_COUNT + c] = s->shares[c].bound_s;
    }
    ridge_html_heading(out, "Where the time goes");
    ridge_html_bars(out, rows, 2, names, RIDGE_HLO_CATEGORY_COUNT, values, "s");
}

static size_t take_dots(const ridge_hlo_study *s, const int *order, dot *dots)
{
    size_t n = 0;
    for (int k = 0; k < s->n_ops && n < KERNELS_SHOWN; k++) {
        const ridge_hlo_op *op = &s->ops[order[k]];
        const double flops = op->matmul_flops + op->vector_flops;
        if (flops > 0 && op->bytes > 0 && op->expected_s > 0)
            dots[n++] = (dot){flops / op->bytes, flops / op->expected_s};
    }
    qsort(dots, n, sizeof *dots, left_first);
    return n;
}

/* Each kernel by its intensity and the rate that it is expected to reach. */
static void draw_roofline(ridge_ctx *cx, const ridge_hlo_study *s, ridge_buf *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const double peak = ridge_chip_peak(s->slice->chip, RIDGE_DTYPE_BF16, NULL);
    const double ridge = peak / s->slice->chip->hbm_bytes_per_s;
    const int *order = ridge__hlo_rank(cx, s);
    dot *dots = ridge_new(arena, dot, KERNELS_SHOWN);
    double *x = ridge_new(arena, double, 2 * KERNELS_SHOWN);
    double *y = ridge_new(arena, double, 2 * KERNELS_SHOWN);
    if (!order || !dots || !x || !y)
        return;
    const size_t n = take_dots(s, order, dots);
    for (size_t k = 0; k < n; k++) { /* a gap behind each: points, no line */
        x[2 * k] = x[2 * k + 1] = dots[k].x;
        y[2 * k] = dots[k].y;
        y[2 * k + 1] = (double)NAN;
    }
    if (n == 0)
        return;
    const double low = fmin(ridge / 10, dots[0].x),
                 high = fmax(ridge * 10, dots[n - 1].x);
    const double roof_x[ROOF_POINTS] = {low, ridge, high};
    const double roof_y[ROOF_POINTS] = {peak * low / ridge, peak, peak};
    const ridge_chart chart = {
        .title = "Kernels against the roofline",
        .x_label = "FLOPs per HBM byte",
        .y_label = "FLOP/s",
        .is_x_log = true,
        .is_y_log = true,
        .series = {{"roofline, bf16", roof_x, roof_y, ROOF_POINTS},
                   {"kernels as expected", x, y, 2 * n}},
        .n_series = 2};
    ridge_html_heading(out, chart.title);
    ridge_html_chart(out, &chart);
}

static void draw_memory(const ridge_hlo_study *s, ridge_buf *out)
{
    static const char *const rows[] = {"peak"};
    static const char *const names[] = {"arguments", "temporaries and results"};
    const double values[] = {s->memory.argument_bytes, s->memory.temporary_bytes};
    ridge_html_heading(out, "Memory at the peak");
    ridge_html_bars(out, rows, 1, names, 2, values, "B");
}

void ridge_hlo_write_html(ridge_ctx *cx, const ridge_hlo_view *view, ridge_buf *out)
{
    const ridge_sections all = ridge__hlo_sections(cx, view);
    ridge_html_begin(out, all.title, view->file->path);
    if (view->study->slice && view->study->n_ops > 0) {
        draw_shares(view->study, out);
        draw_roofline(cx, view->study, out);
    }
    if (view->study->memory.peak_bytes > 0)
        draw_memory(view->study, out);
    ridge__page_end(&all, out);
}
