/* Charts of a played deployment. */
#include "requests_text.h"

static bool add_series(ridge_ctx *cx, ridge_chart *chart, const char *name, size_t n,
                       double **x, double **y)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    *x = ridge_new(arena, double, n + 1);
    *y = ridge_new(arena, double, n + 1);
    if (*x == NULL || *y == NULL)
        return false;
    chart->series[chart->n_series++] = (ridge_series){name, *x, *y, n};
    return true;
}

/* ---- latencies ------------------------------------------------------------------- */

static bool add_spread(ridge_ctx *cx, ridge_chart *chart, const char *name,
                       const ridge_latency_sketch *s)
{
    size_t n = 0, at = 0;
    double below = 0, *x, *y;
    for (int i = 0; i < RIDGE_LATENCY_BUCKETS; i++)
        n += s->count[i] > 0 ? 1 : 0;
    if (n < 2)
        return true;
    if (!add_series(cx, chart, name, n, &x, &y))
        return false;
    for (int i = 0; i < RIDGE_LATENCY_BUCKETS; i++) {
        if (s->count[i] <= 0)
            continue;
        below += s->count[i];
        x[at] = ridge_latency_bucket_low(i);
        y[at++] = below / s->n;
    }
    return true;
}

static void add_goal(ridge_chart *chart, const char *label, double at)
{
    if (at > 0)
        chart->markers[chart->n_markers++] = (ridge_marker){label, at, true};
}

bool ridge__requests_chart_spread(ridge_ctx *cx, const ridge_requests_view *view,
                                  ridge_chart *out)
{
    const ridge_course *c = view->course;
    *out = (ridge_chart){.title = "Share of requests that took no longer",
                         .x_label = "seconds",
                         .y_label = "share",
                         .is_x_log = true};
    if (!add_spread(cx, out, "TTFT", &c->ttft) ||
        !add_spread(cx, out, "TPOT", &c->tpot) ||
        !add_spread(cx, out, "end to end", &c->e2e))
        return false;
    add_goal(out, "TTFT goal", view->goals->ttft_s);
    add_goal(out, "TPOT goal", view->goals->tpot_s);
    add_goal(out, "end-to-end goal", view->goals->e2e_s);
    return out->n_series > 0;
}

/* ---- the course ------------------------------------------------------------------ */

typedef double bucket_fn(const ridge_course *c, const ridge_course_bucket *b);

static double busy_mean(double sum, const ridge_course_bucket *b)
{
    return b->busy_s > 0 ? sum / b->busy_s : 0;
}

static double decoding_of(const ridge_course *c, const ridge_course_bucket *b)
{
    (void)c;
    return busy_mean(b->decoding, b);
}

static double waiting_of(const ridge_course *c, const ridge_course_bucket *b)
{
    (void)c;
    return busy_mean(b->waiting, b);
}

static double kv_of(const ridge_course *c, const ridge_course_bucket *b)
{
    (void)c;
    return 100 * busy_mean(b->kv, b);
}

static double prompts_of(const ridge_course *c, const ridge_course_bucket *b)
{
    return b->prompts / c->bucket_s;
}

static double outputs_of(const ridge_course *c, const ridge_course_bucket *b)
{
    return b->outputs / c->bucket_s;
}

static bool add_course(ridge_ctx *cx, const ridge_course *c, const char *name,
                       bucket_fn *value, ridge_chart *chart)
{
    double *x, *y;
    if (c->n < 2 || !add_series(cx, chart, name, (size_t)c->n, &x, &y))
        return false;
    for (int i = 0; i < c->n; i++) {
        x[i] = (i + 0.5) * c->bucket_s;
        y[i] = value(c, &c->of[i]);
    }
    return true;
}

bool ridge__requests_chart_load(ridge_ctx *cx, const ridge_requests_view *view,
                                ridge_chart *out)
{
    *out = (ridge_chart){.title = "Sequences in an iteration, and requests that wait",
                         .x_label = "seconds",
                         .y_label = "of a replica"};
    return add_course(cx, view->course, "decoding", decoding_of, out) &&
           add_course(cx, view->course, "waiting", waiting_of, out);
}

bool ridge__requests_chart_tokens(ridge_ctx *cx, const ridge_requests_view *view,
                                  ridge_chart *out)
{
    *out = (ridge_chart){
        .title = "Tokens a second", .x_label = "seconds", .y_label = "tokens/s"};
    return add_course(cx, view->course, "prompts", prompts_of, out) &&
           add_course(cx, view->course, "output, where requests end", outputs_of, out);
}

bool ridge__requests_chart_cache(ridge_ctx *cx, const ridge_requests_view *view,
                                 ridge_chart *out)
{
    *out = (ridge_chart){
        .title = "Blocks of the cache in use", .x_label = "seconds", .y_label = "%"};
    return add_course(cx, view->course, "in use", kv_of, out);
}
