/* A deployment played on a stream of requests, for people. */
#include "engine_line.h"
#include "requests_text.h"

#include "section.h"

#include <math.h>

/* ---- words ----------------------------------------------------------------------- */

static void add_pool(ridge_buf *b, const ridge_service_pool *pool)
{
    const ridge_serving_layout *l = &pool->layout;
    const char *role = pool->role == RIDGE_SERVICE_ROLE_BOTH
                           ? "server"
                           : ridge_service_role_text(pool->role);
    ridge_buf_printf(b, "%lld %s%s of tp %lld", (long long)pool->servers, role,
                     pool->servers > 1 && pool->role == RIDGE_SERVICE_ROLE_BOTH ? "s"
                                                                                : "",
                     (long long)l->tp);
    if (l->pp > 1)
        ridge_buf_printf(b, ", pp %lld", (long long)l->pp);
    if (l->ep > 1)
        ridge_buf_printf(b, ", ep %lld", (long long)l->ep);
    if (l->attention_dp > 1)
        ridge_buf_printf(b, ", attention_dp %lld", (long long)l->attention_dp);
}

const char *ridge__requests_servers(ridge_ctx *cx, const ridge_service_deployment *d)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < d->choice.n_pools; i++) {
        ridge_buf_puts(&b, i > 0 ? "; " : "");
        add_pool(&b, &d->choice.pools[i]);
    }
    return ridge_buf_text(&b);
}

static void add_limits(ridge_buf *b, const ridge_service_deployment *d)
{
    for (int i = 0; i < d->play.n_pools; i++) {
        const ridge_engine *rules = &d->play.pools[i].rules;
        ridge_buf_printf(b, "%s%lld sequences and %s tokens an iteration",
                         i == 0 ? "at most " : ", decoding ",
                         (long long)rules->sequences,
                         ridge_format_exact(rules->budget_tokens).s);
    }
}

static const char *subtitle(ridge_ctx *cx, const ridge_requests_view *v)
{
    const ridge_service_deployment *d = v->deployment;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b, "%s; %s %s: ", ridge__requests_servers(cx, d),
                     d->engine->full_name, d->engine->version);
    add_limits(&b, d);
    ridge_buf_printf(&b, "; %s, %s", ridge_queue_policy_text(d->play.queue), v->stream);
    return ridge_buf_text(&b);
}

/* ---- latencies ------------------------------------------------------------------- */

static void add_latency(ridge_table *t, const char *name,
                        const ridge_latency_summary *l)
{
    const double values[] = {l->mean, l->p50, l->p90, l->p95, l->p99, l->most};
    ridge_table_cell(t, name);
    for (size_t i = 0; i < RIDGE_COUNT_OF(values); i++)
        ridge_table_cell(t, l->n > 0 ? ridge_format_seconds(values[i]).s : "-");
}

static const char *refused_note(ridge_ctx *cx, const ridge_requests_view *v)
{
    const ridge_serving_summary *r = v->summary;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_printf(&b, "Refused: %s of %s requests", ridge_format_exact(r->refused).s,
                     ridge_format_exact(r->requests).s);
    if (r->too_long == r->refused)
        ridge_buf_puts(&b, ",");
    else if (r->too_long > 0)
        ridge_buf_printf(&b, ", %s", ridge_format_exact(r->too_long).s);
    if (r->too_long > 0)
        ridge_buf_printf(&b,
                         " longer than a sequence may be or than the cache holds "
                         "(--longest %.0f)",
                         v->deployment->longest_tokens);
    if (r->refused > r->too_long)
        ridge_buf_printf(&b, ", %s as the queue was full",
                         ridge_format_exact(r->refused - r->too_long).s);
    ridge_buf_puts(&b, ".");
    return ridge_buf_text(&b);
}

static void add_latencies(ridge_ctx *cx, const ridge_requests_view *v,
                          ridge_sections *s)
{
    const ridge_serving_summary *r = v->summary;
    ridge_table *t = ridge__section_add(cx, s, "Latency",
                                        "|>mean|>p50|>p90|>p95|>p99|>longest|what");
    add_latency(t, "TTFT", &r->ttft);
    ridge_table_cell(t, "to the first token");
    add_latency(t, "TPOT", &r->tpot);
    ridge_table_cell(t, "between tokens, mean of a request");
    add_latency(t, "ITL", &r->itl);
    ridge_table_cell(t, "between two tokens");
    add_latency(t, "end to end", &r->e2e);
    ridge_table_cell(t, "to the last token");
    if (v->is_in_step)
        ridge__section_note(
            s,
            "Clients whose answers are all as long stay in step: their prompts meet in "
            "waves. Let lengths vary: --output uniform:256:10%.");
    if (r->refused > 0)
        ridge__section_note(s, refused_note(cx, v));
}

static const char *part_what(ridge_latency_part part)
{
    static const char *const whats[RIDGE_LATENCY_PART_COUNT] = {
        [RIDGE_LATENCY_PART_QUEUE] = "until it enters an iteration",
        [RIDGE_LATENCY_PART_PREFILL] = "its own prompt, as if alone",
        [RIDGE_LATENCY_PART_OTHERS] = "prompts and sequences beside it",
        [RIDGE_LATENCY_PART_DECODE] = "iterations of decoding",
        [RIDGE_LATENCY_PART_PREEMPTION] = "gave its cache up, and made it again",
        [RIDGE_LATENCY_PART_TRANSFER] = "its cache, to another pool",
        [RIDGE_LATENCY_PART_HOST] = "the host, where the chip waits"};
    return whats[part];
}

static void add_split(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_serving_summary *r = v->summary;
    const ridge_latency_split *const splits[] = {&r->ttft_mean, &r->ttft_p99,
                                                 &r->e2e_mean, &r->e2e_p99};
    ridge_table *t =
        ridge__section_add(cx, s, "Where the time goes",
                           "|>TTFT|>slowest 1%|>end to end|>slowest 1%|what");
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++) {
        double most = 0;
        for (size_t k = 0; k < RIDGE_COUNT_OF(splits); k++)
            most = fmax(most,
                        fabs(splits[k]->parts_s[i]) / fmax(splits[k]->total_s, 1e-30));
        if (most < 5e-5)
            continue;
        ridge_table_cell(t, ridge_latency_part_text((ridge_latency_part)i));
        for (size_t k = 0; k < RIDGE_COUNT_OF(splits); k++)
            ridge_table_cell(t, ridge_format_seconds(splits[k]->parts_s[i]).s);
        ridge_table_cell(t, part_what((ridge_latency_part)i));
    }
    ridge_table_rule(t);
    ridge_table_cell(t, "all");
    for (size_t k = 0; k < RIDGE_COUNT_OF(splits); k++)
        ridge_table_cell(t, ridge_format_seconds(splits[k]->total_s).s);
    ridge_table_cell(t, "");
}

static void add_goal(ridge_table *t, const char *name, double goal_s,
                     const ridge_latency_summary *l)
{
    if (goal_s <= 0)
        return;
    ridge_table_cell(t, name);
    ridge_table_cell(t, ridge_format_seconds(goal_s).s);
    ridge_table_cell(t, ridge_format_seconds(l->p99).s);
    ridge_table_cell(t, l->p99 <= goal_s ? "kept at p99" : "missed at p99");
}

/* The rate that was looked for, and what is just beyond it. */
static void note_capacity(ridge_ctx *cx, const ridge_service_capacity *c,
                          ridge_sections *s)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const char *beyond =
        c->next_requests_per_s > 0
            ? ridge_sprintf(arena, "; at %.5g %.4g %% do", c->next_requests_per_s,
                            100 * c->next_share)
            : "";
    ridge__section_note(
        s, ridge_sprintf(arena,
                         "%.5g requests a second are the most at which %.4g %% keep "
                         "them%s.",
                         c->requests_per_s, 100 * c->asked_share,
                         beyond == NULL ? "" : beyond));
}

static void add_goals(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_serving_goals *g = v->goals;
    const ridge_serving_summary *r = v->summary;
    if (g->ttft_s <= 0 && g->tpot_s <= 0 && g->e2e_s <= 0)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Goals", "|>at most|>p99|");
    add_goal(t, "TTFT", g->ttft_s, &r->ttft);
    add_goal(t, "TPOT", g->tpot_s, &r->tpot);
    add_goal(t, "end to end", g->e2e_s, &r->e2e);
    ridge__section_note(
        s,
        ridge_sprintf(ridge_ctx_arena(cx),
                      "%s of %s requests kept all goals, %s: goodput %s requests/s.",
                      ridge_format_exact(r->good).s, ridge_format_exact(r->requests).s,
                      ridge_format_percent(
                          r->requests > 0 ? (double)r->good / (double)r->requests : 0)
                          .s,
                      ridge_format_double(r->goodput_requests_per_s).s));
    if (v->capacity != NULL)
        note_capacity(cx, v->capacity, s);
}

/* ---- rates ----------------------------------------------------------------------- */

static void add_rates(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_serving_summary *r = v->summary;
    ridge_table *t = ridge__section_add(cx, s, "Throughput", "|>value");
    ridge__table_pair(t, "time", ridge_format_seconds(r->span_s).s);
    ridge__table_pair(t, "requests/s", ridge_format_double(r->requests_per_s).s);
    ridge__table_pair(t, "prompt tokens/s",
                      ridge_format_double(r->prompt_tokens_per_s).s);
    ridge__table_pair(t, "output tokens/s",
                      ridge_format_double(r->output_tokens_per_s).s);
    ridge__table_pair(
        t, "output tokens/s a chip",
        ridge_format_double(r->output_tokens_per_s / fmax(r->chips, 1)).s);
    if (r->usd > 0) {
        ridge__table_pair(t, "cost", ridge_format_usd(r->usd).s);
        ridge__table_pair(t, "cost a million output tokens",
                          ridge_format_usd(r->usd_per_million_tokens).s);
    }
}

static void add_engine(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_serving_summary *r = v->summary;
    ridge_table *t = ridge__section_add(cx, s, "Engine", "|>value");
    ridge__table_pair(t, "iterations", ridge_format_exact(r->iterations).s);
    ridge__table_pair(t, "busy", ridge_format_percent(r->busy_share).s);
    ridge__table_pair(t, "decoding, an iteration",
                      ridge_format_double(r->decoding_mean).s);
    ridge__table_pair(t, "jitter of tokens", ridge_format_seconds(r->itl.deviation).s);
    ridge__table_pair(t, "waiting, in the mean",
                      ridge_format_double(r->waiting_mean).s);
    ridge__table_pair(t, "waiting, at most", ridge_format_exact(r->waiting_most).s);
    ridge__table_pair(t, "slots idle", ridge_format_percent(r->slots_idle).s);
    if (r->padding_share > 0)
        ridge__table_pair(t, "padding of prompts",
                          ridge_format_percent(r->padding_share).s);
    if (r->failures > 0)
        ridge__table_pair(t, "failures", ridge_format_exact(r->failures).s);
    if (r->transferred_bytes > 0)
        ridge__table_pair(t, "caches sent", ridge_format_bytes(r->transferred_bytes).s);
}

/* As the engine itself prints it when it starts; its lines behind each other. */
static const char *cache_note(ridge_ctx *cx, const ridge_service_deployment *d)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, "The engine prints: ");
    for (int i = 0; i < d->choice.n_pools; i++) {
        ridge_buf_puts(&b, i > 0 ? "; decoding: " : "");
        ridge_buf_puts(&b, ridge__engine_line(cx, d->engine, d->memory[i].blocks,
                                              d->memory[i].block_tokens,
                                              (int64_t)d->longest_tokens));
    }
    return ridge_buf_text(&b);
}

static void add_cache(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_serving_summary *r = v->summary;
    const ridge_service_deployment *d = v->deployment;
    ridge_table *t = ridge__section_add(cx, s, "Cache", "|>value");
    for (int i = 0; i < d->choice.n_pools; i++)
        ridge__table_pair(t, i == 0 ? "blocks of a rank" : "blocks, decoding",
                          ridge_format_exact(d->memory[i].blocks).s);
    ridge__table_pair(t, "tokens a block",
                      ridge_format_exact(d->memory[0].block_tokens).s);
    ridge__table_pair(t, "in use, in the mean", ridge_format_percent(r->kv_mean).s);
    ridge__table_pair(t, "in use, at most", ridge_format_percent(r->kv_most).s);
    ridge__table_pair(t, "prompts found in it", ridge_format_percent(r->hit_rate).s);
    if (r->host_hit_rate > 0)
        ridge__table_pair(t, "of it on the host",
                          ridge_format_percent(r->host_hit_rate).s);
    ridge__table_pair(t, "preemptions", ridge_format_exact(r->preemptions).s);
    if (r->recomputed_tokens > 0)
        ridge__table_pair(t, "tokens made again",
                          ridge_format_count(r->recomputed_tokens).s);
    ridge__section_note(s, cache_note(cx, d));
}

/* ---- files ----------------------------------------------------------------------- */

static void add_measured(ridge_table *t, const char *name,
                         const ridge_latency_sketch *measured,
                         const ridge_latency_summary *played)
{
    const double pairs[][2] = {{ridge_latency_mean(measured), played->mean},
                               {ridge_latency_quantile(measured, 0.5), played->p50},
                               {ridge_latency_quantile(measured, 0.99), played->p99}};
    static const char *const names[] = {"mean", "p50", "p99"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(pairs); i++) {
        ridge_table_cellf(t, "%s %s", name, names[i]);
        ridge_table_cell(t, ridge_format_seconds(pairs[i][0]).s);
        ridge_table_cell(t, ridge_format_seconds(pairs[i][1]).s);
        ridge_table_cellf(t, "%+.1f %%", (pairs[i][1] / pairs[i][0] - 1) * 100);
    }
}

static void add_file(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_request_file_note *n = v->note;
    const ridge_serving_summary *r = v->summary;
    if (n == NULL)
        return;
    if (n->measured > 0) {
        ridge_table *t = ridge__section_add(cx, s, "Beside the run in the file",
                                            "|>measured|>played|>off");
        add_measured(t, "TTFT", n->measured_ttft, &r->ttft);
        add_measured(t, "TPOT", n->measured_tpot, &r->tpot);
        add_measured(t, "end to end", n->measured_e2e, &r->e2e);
    }
    if (n->unanswered > 0 || n->moved > 0) {
        if (ridge__section_add(cx, s, "", "") == NULL)
            return;
        ridge__section_note(
            s,
            ridge_sprintf(ridge_ctx_arena(cx),
                          "Of the file's lines %s had no output and were left out; %s "
                          "stood out of order and were put in order.",
                          ridge_format_exact(n->unanswered).s,
                          ridge_format_exact(n->moved).s));
    }
}

/* What the timeline leaves out. */
static void add_kept(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    const ridge_course *c = v->course;
    if (c->spans_room == 0 || c->n_spans == c->spans_all)
        return;
    if (ridge__section_add(cx, s, "", "") != NULL)
        ridge__section_note(
            s, ridge_sprintf(
                   ridge_ctx_arena(cx),
                   "The timeline holds the first %s of %s spans, until %s, and "
                   "%s requests.",
                   ridge_format_exact(c->n_spans).s, ridge_format_exact(c->spans_all).s,
                   ridge_format_seconds(c->spans[c->n_spans - 1].end_s).s,
                   ridge_format_exact(c->n_requests).s));
}

/* ---- pages ----------------------------------------------------------------------- */

/* Latencies are of those that were not refused: said before any of them. */
static const char *title(ridge_ctx *cx, const ridge_requests_view *v)
{
    const ridge_serving_summary *r = v->summary;
    if (r->refused <= 0)
        return ridge_sprintf(ridge_ctx_arena(cx), "%s on %s: %s requests played",
                             v->model_name, v->slice_text,
                             ridge_format_exact(r->requests).s);
    return ridge_sprintf(ridge_ctx_arena(cx), "%s on %s: %s of %s requests played",
                         v->model_name, v->slice_text,
                         ridge_format_exact(r->requests - r->refused).s,
                         ridge_format_exact(r->requests).s);
}

static void build(ridge_ctx *cx, const ridge_requests_view *v, ridge_sections *s)
{
    s->title = title(cx, v);
    s->subtitle = subtitle(cx, v);
    add_latencies(cx, v, s);
    add_goals(cx, v, s);
    add_split(cx, v, s);
    add_rates(cx, v, s);
    add_engine(cx, v, s);
    add_cache(cx, v, s);
    add_file(cx, v, s);
    add_kept(cx, v, s);
}

typedef bool chart_fn(ridge_ctx *cx, const ridge_requests_view *view, ridge_chart *out);
static chart_fn *const charts[] = {
    ridge__requests_chart_spread, ridge__requests_chart_load,
    ridge__requests_chart_tokens, ridge__requests_chart_cache};

void ridge_requests_write_text(ridge_ctx *cx, const ridge_requests_view *view,
                               bool with_colour, ridge_buf *out)
{
    enum { WIDTH = 78, HEIGHT = 16 };
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
    for (size_t i = 0; i < RIDGE_COUNT_OF(charts) && view->has_charts; i++) {
        ridge_chart chart;
        if (!charts[i](cx, view, &chart))
            continue;
        ridge_buf_puts(out, "\n");
        ridge_chart_write_text(&chart, WIDTH, HEIGHT, with_colour, out);
    }
}

static void write_bars(const ridge_serving_summary *r, ridge_buf *out)
{
    static const char *const rows[] = {"TTFT", "TTFT, slowest 1%", "end to end",
                                       "end to end, slowest 1%"};
    const ridge_latency_split *const splits[] = {&r->ttft_mean, &r->ttft_p99,
                                                 &r->e2e_mean, &r->e2e_p99};
    const char *names[RIDGE_LATENCY_PART_COUNT];
    double values[2][2 * RIDGE_LATENCY_PART_COUNT];
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++) {
        names[i] = ridge_latency_part_text((ridge_latency_part)i);
        for (int k = 0; k < 4; k++)
            values[k / 2][(k % 2) * RIDGE_LATENCY_PART_COUNT + i] =
                fmax(splits[k]->parts_s[i], 0);
    }
    for (int k = 0; k < 2; k++)
        ridge_html_bars(out, rows + 2 * (ptrdiff_t)k, 2, names,
                        RIDGE_LATENCY_PART_COUNT, values[k], "s");
}

void ridge_requests_write_html(ridge_ctx *cx, const ridge_requests_view *view,
                               ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_begin(&s, out);
    ridge_html_heading(out, "Where the time goes");
    write_bars(view->summary, out);
    for (size_t i = 0; i < RIDGE_COUNT_OF(charts); i++) {
        ridge_chart chart;
        if (charts[i](cx, view, &chart))
            ridge_html_chart(out, &chart);
    }
    ridge__page_end(&s, out);
}

void ridge_requests_write_svg(ridge_ctx *cx, const ridge_requests_view *view,
                              ridge_buf *out)
{
    enum { WIDTH = 760, HEIGHT = 420 };
    ridge_chart chart;
    if (ridge__requests_chart_spread(cx, view, &chart))
        ridge_chart_write_svg(&chart, WIDTH, HEIGHT, out);
}
