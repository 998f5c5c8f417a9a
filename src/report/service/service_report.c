/* The best deployments for people: a table, where the best one's latencies come from,
 * its memory, what bounds its iterations, and why others were refused. */
#include "service_notes.h"
#include "service_sections.h"
#include "service_text.h"

#include <math.h>

enum { CHART_WIDTH = 76, CHART_HEIGHT = 18, SVG_WIDTH = 720, SVG_HEIGHT = 420 };

/* ---- the ranking ------------------------------------------------------------------
 */

static ridge_text money(const ridge_service_price *p)
{
    const ridge_text none = {"-"};
    return p->usd_per_million_tokens > 0 ? ridge_format_usd(p->usd_per_million_tokens)
                                         : none;
}

static void add_deployment(ridge_ctx *cx, ridge_table *t, const ridge_service_view *v,
                           int rank, const ridge_service_price *p)
{
    const ridge_service_pool *last = &p->choice.pools[p->choice.n_pools - 1];
    const bool has_quantile = v->request->goals.quantile > 0;
    ridge_table_cellf(t, "%d", rank);
    ridge_table_cell(t, ridge__service_choice_named(cx, v->request, &p->choice));
    ridge_table_cell(t, ridge__batch_text(last->batch).s);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        /* Nothing lies between the tokens of an answer of one. */
        const bool is_none =
            i == RIDGE_SERVICE_TPOT && v->request->work.output_tokens <= 1;
        ridge_table_cell(t, is_none ? "-" : ridge_format_seconds(p->latency_s[i]).s);
        if (has_quantile)
            ridge_table_cell(t,
                             is_none ? "-" : ridge_format_seconds(p->quantile_s[i]).s);
    }
    ridge_table_cell(t, ridge_format_count(p->tokens_per_s_per_chip).s);
    ridge_table_cell(t, ridge_format_count(p->bound_tokens_per_s_per_chip).s);
    ridge_table_cell(t, ridge_format_double(p->requests_per_s).s);
    ridge_table_cell(t, money(p).s);
    ridge_table_cell(t, ridge_format_exact(p->chips).s);
    ridge_table_cell(t, ridge__service_bottleneck(p));
}

static const char *columns(ridge_ctx *cx, const ridge_service_view *v)
{
    const double q = 100 * v->request->goals.quantile;
    if (q <= 0)
        return ">#|layout|>batch|>TTFT|>TPOT|>E2E|>tok/s/chip|>bound|>req/s|>$/M "
               "tok|>chips|bound by";
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx),
                      ">#|layout|>batch|>TTFT|>p%g|>TPOT|>p%g|>E2E|>p%g|>tok/s/chip|"
                      ">bound|>req/s|>$/M tok|>chips|bound by",
                      q, q, q);
    return text == NULL ? "" : text;
}

static const char *search_note(ridge_ctx *cx, const ridge_service_view *v)
{
    const ridge_service_result *r = v->result;
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "%s deployment%s covered, %s layout%s priced in %s.",
                         ridge_format_exact(r->covered).s, r->covered == 1 ? "" : "s",
                         ridge_format_exact(r->tables).s, r->tables == 1 ? "" : "s",
                         ridge_format_seconds(r->seconds).s);
}

static void add_notes(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const char *notes[RIDGE_SERVICE_NOTES_MAX];
    const int n = ridge__service_notes(cx, v, notes);
    for (int i = 0; i < n; i++)
        ridge__section_note(s, notes[i]);
}

static void add_layouts(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const ridge_service_result *r = v->result;
    const char *title = ridge_sprintf(ridge_ctx_arena(cx), "Best deployments: %s",
                                      ridge_service_aim_what(v->request->aim));
    ridge_table *t = ridge__section_add(
        cx, s, title == NULL ? "Best deployments" : title, columns(cx, v));
    for (int i = 0; i < r->n_layouts; i++)
        add_deployment(cx, t, v, i + 1, &r->layouts[i]);
    add_notes(cx, v, s);
    ridge__section_note(s, search_note(cx, v));
}

/* ---- the whole --------------------------------------------------------------------
 */

static const char *goals_text(ridge_ctx *cx, const ridge_service_request *r)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (isfinite(r->goals.most_s[i]))
            ridge_buf_printf(&b, ", %s at most %s",
                             ridge_service_latency_text((ridge_service_latency)i),
                             ridge_format_seconds(r->goals.most_s[i]).s);
    }
    if (r->goals.quantile > 0)
        ridge_buf_printf(&b, " at p%g", 100 * r->goals.quantile);
    if (r->requests_per_s > 0)
        ridge_buf_printf(&b, ", %s requests/s",
                         ridge_format_double(r->requests_per_s).s);
    return ridge_buf_text(&b);
}

static void build(ridge_ctx *cx, const ridge_service_view *v, ridge_sections *s)
{
    const ridge_service_request *r = v->request;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title = ridge_sprintf(arena, "%s served on %s", v->model_name, r->slice->text);
    s->subtitle = ridge_sprintf(
        arena, "%s chip%s (%s), prompts of %s tokens, answers of %s%s",
        ridge_format_exact(r->slice->chips).s, r->slice->chips == 1 ? "" : "s",
        r->slice->chip->full_name, ridge_format_exact((int64_t)r->work.prompt_tokens).s,
        ridge_format_exact((int64_t)r->work.output_tokens).s, goals_text(cx, r));
    if (v->result->n_layouts == 0) {
        ridge__service_nothing_add(cx, v, s);
        add_notes(cx, v, s);
    } else {
        add_layouts(cx, v, s);
        ridge__service_played_add(cx, v, s);
        ridge__service_others_add(cx, v, s);
        ridge__service_modes_add(cx, v, s);
        ridge__service_parts_add(cx, v, s);
        ridge__service_memory_add(cx, v, s);
        ridge__service_bounds_add(cx, v, s);
        ridge__service_limits_add(cx, v, s);
        ridge__service_points_add(cx, v, s);
        ridge__service_rooflines_add(cx, v, s);
    }
    ridge__service_sizes_add(cx, v, s);
    ridge__service_reasons_add(cx, v, s);
    ridge__service_refusals_add(cx, v, s);
    if (v->has_front)
        ridge__service_fronts_add(cx, v, s);
}

void ridge_service_write_text(ridge_ctx *cx, const ridge_service_view *v,
                              bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    build(cx, v, &s);
    ridge__sections_write_text(&s, with_colour, out);
    if (ridge__service_chart_points(cx, v, &chart)) {
        ridge_buf_puts(out, "\n");
        ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
    }
    if (!v->has_front)
        return;
    if (ridge__service_chart_speed(cx, v, &chart)) {
        ridge_buf_puts(out, "\n");
        ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
    }
    if (ridge__service_chart_cost(cx, v, &chart)) {
        ridge_buf_puts(out, "\n");
        ridge_chart_write_text(&chart, CHART_WIDTH, CHART_HEIGHT, with_colour, out);
    }
}

void ridge_service_write_svg(ridge_ctx *cx, const ridge_service_view *v, ridge_buf *out)
{
    ridge_chart chart;
    if (!ridge__service_chart_points(cx, v, &chart))
        ridge__service_chart_speed(cx, v, &chart);
    ridge_chart_write_svg(&chart, SVG_WIDTH, SVG_HEIGHT, out);
}

/* ---- HTML -------------------------------------------------------------------------
 */

enum { BARS_MOST = 8 };

/* The parts of an iteration of each deployment side by side. */
static void add_bars(ridge_ctx *cx, const ridge_service_view *v, ridge_buf *out)
{
    const ridge_service_result *r = v->result;
    const char *rows[BARS_MOST];
    const char *names[RIDGE_SERVING_PART_COUNT];
    double values[BARS_MOST * RIDGE_SERVING_PART_COUNT];
    size_t n = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        names[i] = ridge_serving_part_text((ridge_serving_part)i);
    for (int k = 0; k < r->n_layouts && n < BARS_MOST; k++) {
        const ridge_service_price *p = &r->layouts[k];
        rows[n] = ridge__service_choice_named(cx, v->request, &p->choice);
        for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
            values[n * RIDGE_SERVING_PART_COUNT + (size_t)i] =
                1e3 * ridge_service_tpot_part(p, i);
        n++;
    }
    if (n == 0)
        return;
    ridge_html_heading(out, "Where the time between tokens goes");
    ridge_html_bars(out, rows, n, names, RIDGE_SERVING_PART_COUNT, values, "ms");
}

void ridge_service_write_html(ridge_ctx *cx, const ridge_service_view *view,
                              ridge_buf *out)
{
    ridge_sections s = {0};
    ridge_chart chart;
    ridge_service_view v = *view;
    v.has_front = true;
    build(cx, &v, &s);
    ridge__page_begin(&s, out);
    if (ridge__service_chart_speed(cx, &v, &chart))
        ridge_html_chart(out, &chart);
    if (ridge__service_chart_cost(cx, &v, &chart))
        ridge_html_chart(out, &chart);
    if (ridge__service_chart_points(cx, &v, &chart))
        ridge_html_chart(out, &chart);
    add_bars(cx, &v, out);
    ridge__page_end(&s, out);
}
