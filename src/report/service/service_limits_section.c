/* Where bounds of a service meet, its batches, and the smallest slices. */
#include "service_sections.h"
#include "service_text.h"

#include <math.h>

static ridge_text number_text(double v)
{
    const ridge_text never = {"never"};
    if (!isfinite(v))
        return never;
    return v >= 100 ? ridge_format_exact((int64_t)round(v)) : ridge_format_double(v);
}

/* ---- limits ------------------------------------------------------------------------
 */

static void add_limit(ridge_table *t, const char *name, double value, const char *what)
{
    if (value <= 0)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, number_text(value).s);
    ridge_table_cell(t, what);
}

void ridge__service_limits_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    const ridge_service_reasons *r = v->reasons;
    if (r == NULL || !r->has_limits)
        return;
    const ridge_service_limits *l = &r->limits;
    ridge_table *t =
        ridge__section_add(cx, s, "Where its bounds meet", "limit|>value|meaning");
    add_limit(
        t, "critical rows", l->critical_tokens,
        "of an iteration: dense products are compute bound from there on (C / W w / "
        "2)");
    add_limit(t, "critical rows, experts", l->critical_experts,
              "E / k times as many for experts");
    add_limit(t, "critical batch", l->critical_batch,
              "of this layout: FLOPs take as long as reading weights");
    add_limit(t, "crossover", l->crossover_batch,
              "batch: reading the cache takes as long as reading weights");
    add_limit(t, "largest batch", l->batch_most, "that fits, of an attention rank");
    add_limit(t, "sequences", l->sequences_most, "that fit, of the whole service");
    add_limit(t, "longest context", l->context_most, "tokens of one sequence alone");
    add_limit(t, "context at this batch", l->batch_context_most, "tokens of each");
    add_limit(t, "prefill servers", l->prefill_ratio,
              "of this layout keep one decode server of it busy");
    add_limit(t, "requests/s a chip", l->requests_per_s_per_chip, "");
    ridge_table_cell(t, "full step");
    ridge_table_cell(t, ridge_format_seconds(l->full_step_s).s);
    ridge_table_cell(t, "reads all of HBM: an iteration of a full service at best");
    ridge__section_note(s, ridge_sprintf(ridge_ctx_arena(cx),
                                         "A larger batch is held back by: %s.",
                                         v->request->requests_per_s > 0
                                             ? "the request rate, which makes it"
                                         : r->binding == RIDGE_SERVICE_FIT_OK
                                             ? "the aim, which it would not serve"
                                             : ridge_service_fit_text(r->binding)));
}

/* ---- batches ----------------------------------------------------------------------
 */

static void add_point(ridge_table *t, const ridge_service_view *v,
                      const ridge_service_point *p)
{
    const ridge_service_price *price = &p->price;
    const bool is_steady = price->tokens_per_s > 0;
    const double hbm_bytes = ridge_chip_memory_bytes(v->request->slice->chip);
    ridge_table_cell(t, v->reasons->is_context ? ridge_format_count(p->context).s
                                               : ridge__batch_text(p->batch).s);
    ridge_table_cell(t, ridge__batch_text(p->sequences).s);
    ridge_table_cell(t, ridge_format_bytes(p->cache_bytes).s);
    ridge_table_cell(t, ridge_format_bytes(p->memory_bytes).s);
    ridge_table_cell(t, ridge_format_percent(p->memory_bytes / hbm_bytes).s);
    ridge_table_cell(t, p->fits ? "yes" : "no");
    ridge_table_cell(t, ridge_format_seconds(p->step_s).s);
    ridge_table_cell(t, ridge_format_seconds(p->bound_step_s).s);
    ridge_table_cell(t, ridge_bound_text(p->bound_by));
    ridge_table_cell(t, ridge_format_count(p->step_tokens_per_s_per_chip).s);
    for (int i = 0; i < 2; i++)
        ridge_table_cell(t,
                         is_steady ? ridge_format_seconds(price->latency_s[i]).s : "-");
    ridge_table_cell(t, is_steady ? ridge_format_count(price->tokens_per_s_per_chip).s
                                  : "-");
    ridge_table_cell(t, is_steady && price->usd_per_million_tokens > 0
                            ? ridge_format_usd(price->usd_per_million_tokens).s
                            : "-");
}

void ridge__service_points_add(ridge_ctx *cx, const ridge_service_view *v,
                               ridge_sections *s)
{
    const ridge_service_reasons *r = v->reasons;
    if (r == NULL || r->n_points == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s,
        r->is_context ? "Contexts of the best deployment"
                      : "Batches of the best deployment",
        r->is_context
            ? ">context|>sequences|>cache|>a chip|>of HBM|fits|>step|>bound|bound by|"
              ">tok/s/chip|>TTFT|>TPOT|>served|>$/M tok"
            : ">batch|>sequences|>cache|>a chip|>of HBM|fits|>step|>bound|bound by|"
              ">tok/s/chip|>TTFT|>TPOT|>served|>$/M tok");
    for (int i = 0; i < r->n_points; i++)
        add_point(t, v, &r->points[i]);
    ridge__section_note(
        s,
        "cache: of a chip, and beside it all that the chip holds; sequences: of all "
        "servers. step: an iteration that only decodes, and its tokens; TTFT, TPOT and "
        "served: the steady state, prompts among them; -: there is no room, or prompts "
        "come faster than iterations take them. What fits has room for lengths that "
        "vary.");
}

static bool add_series(ridge_ctx *cx, const ridge_service_view *v, const char *name,
                       int which, ridge_chart *chart)
{
    const ridge_service_reasons *r = v->reasons;
    double *x = ridge_new(ridge_ctx_arena(cx), double, (size_t)r->n_points + 1);
    double *y = ridge_new(ridge_ctx_arena(cx), double, (size_t)r->n_points + 1);
    if (x == NULL || y == NULL)
        return false;
    for (int i = 0; i < r->n_points; i++) {
        const ridge_service_point *p = &r->points[i];
        x[i] = r->is_context ? p->context : p->batch;
        y[i] = which == 0                  ? p->step_tokens_per_s_per_chip
               : p->price.tokens_per_s > 0 ? p->price.tokens_per_s_per_chip
                                           : (double)NAN;
    }
    chart->series[chart->n_series++] = (ridge_series){name, x, y, (size_t)r->n_points};
    return true;
}

static void add_marker(const ridge_service_reasons *r, const char *label, double at,
                       ridge_chart *chart)
{
    const double most = r->points[r->n_points - 1].batch;
    if (at >= 1 && at <= most)
        chart->markers[chart->n_markers++] = (ridge_marker){label, at, true};
}

bool ridge__service_chart_points(ridge_ctx *cx, const ridge_service_view *v,
                                 ridge_chart *out)
{
    const ridge_service_reasons *r = v->reasons;
    if (r == NULL || r->n_points < 2)
        return false;
    *out = (ridge_chart){
        .title = r->is_context ? "Throughput over context" : "Throughput over batch",
        .x_label = r->is_context ? "tokens in each cache" : "sequences of an iteration",
        .y_label = "tokens/s a chip",
        .is_x_log = true,
        .is_y_log = true};
    if (!add_series(cx, v, "decode alone", 0, out) ||
        !add_series(cx, v, "served", 1, out))
        return false;
    if (r->has_limits && !r->is_context) {
        add_marker(r, "critical", r->limits.critical_batch, out);
        add_marker(r, "cache = weights", r->limits.crossover_batch, out);
        add_marker(r, "fits", r->limits.batch_most, out);
    }
    return true;
}

/* ---- sizes ------------------------------------------------------------------------
 */

void ridge__service_sizes_add(ridge_ctx *cx, const ridge_service_view *v,
                              ridge_sections *s)
{
    const ridge_service_reasons *r = v->reasons;
    if (r == NULL || r->n_sizes == 0)
        return;
    ridge_table *t = ridge__section_add(
        cx, s, "Smallest slice by format",
        "format|>weights|>a token|>chips by bytes|slice|layout|>left|>sequences");
    for (int i = 0; i < r->n_sizes; i++) {
        const ridge_service_size *z = &r->sizes[i];
        ridge_table_cell(t, ridge__serving_formats_text(cx, &z->formats));
        ridge_table_cell(t, ridge_format_bytes(z->weight_bytes).s);
        ridge_table_cell(t, ridge_format_bytes(z->cache_bytes_per_token).s);
        ridge_table_cell(t, ridge_format_exact((int64_t)z->chips_least).s);
        if (z->slice == NULL) {
            ridge_table_cell(t, "none");
            for (int k = 0; k < 3; k++)
                ridge_table_cell(t, "-");
            continue;
        }
        ridge_table_cell(t, z->slice->text);
        ridge_table_cell(t, ridge__serving_layout_text(cx, &z->layout));
        ridge_table_cell(t, ridge_format_bytes(z->cache_bytes).s);
        ridge_table_cell(t, ridge_format_exact((int64_t)z->sequences).s);
    }
    ridge__section_note(s,
                        "One server on all chips of a slice, with the engine's reserve "
                        "and activations; left: for the cache, of all chips; sequences "
                        "of a whole prompt and answer.");
}
