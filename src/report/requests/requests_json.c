/* The JSON of a played deployment, and of single requests. */
#include "ridge/report_requests.h"

#include "ridge/plan_service_file.h"

#include <math.h>

static void set_latency(ridge_ctx *cx, ridge_json *o, const char *key,
                        const ridge_latency_summary *l)
{
    ridge_json *to = ridge_json_set_object(cx, o, key);
    ridge_json_set_double(to, "mean", l->mean);
    ridge_json_set_double(to, "p50", l->p50);
    ridge_json_set_double(to, "p90", l->p90);
    ridge_json_set_double(to, "p95", l->p95);
    ridge_json_set_double(to, "p99", l->p99);
    ridge_json_set_double(to, "max", l->most);
    ridge_json_set_double(to, "stddev", l->deviation);
}

static void set_split(ridge_ctx *cx, ridge_json *o, const char *key,
                      const ridge_latency_split *split)
{
    ridge_json *to = ridge_json_set_object(cx, o, key);
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++) {
        const char *name =
            ridge_sprintf(ridge_ctx_arena(cx), "%s_s",
                          ridge_latency_part_text((ridge_latency_part)i));
        ridge_json_set_double(to, name == NULL ? "?" : name, split->parts_s[i]);
    }
    ridge_json_set_double(to, "total_s", split->total_s);
}

static void set_kv(ridge_ctx *cx, ridge_json *o, const ridge_requests_view *v)
{
    const ridge_serving_summary *s = v->summary;
    const ridge_service_deployment *d = v->deployment;
    ridge_json *kv = ridge_json_set_object(cx, o, "kv");
    ridge_json_set_i64(kv, "blocks", d->memory[d->choice.n_pools - 1].blocks);
    ridge_json_set_i64(kv, "block_tokens", d->memory[0].block_tokens);
    ridge_json_set_double(kv, "mean_fraction", s->kv_mean);
    ridge_json_set_double(kv, "peak_fraction", s->kv_most);
    ridge_json_set_double(kv, "hit_rate", s->hit_rate);
    ridge_json_set_double(kv, "host_hit_rate", s->host_hit_rate);
    ridge_json_set_i64(kv, "preemptions", s->preemptions);
    ridge_json_set_double(kv, "recomputed_tokens", s->recomputed_tokens);
    ridge_json_set_double(kv, "transferred_bytes", s->transferred_bytes);
}

static void set_engine(ridge_ctx *cx, ridge_json *o, const ridge_requests_view *v)
{
    const ridge_serving_summary *s = v->summary;
    const ridge_service_deployment *d = v->deployment;
    const ridge_engine *rules = &d->play.pools[0].rules;
    ridge_json *e = ridge_json_set_object(cx, o, "engine");
    ridge_json_set_text(e, "name", d->engine->name);
    ridge_json_set_text(e, "version", d->engine->version);
    ridge_json_set_text(e, "batching", ridge_engine_batching_text(rules->batching));
    ridge_json_set_text(e, "preemption",
                        ridge_engine_preemption_text(rules->preemption));
    ridge_json_set_text(e, "queue", ridge_queue_policy_text(d->play.queue));
    ridge_json_set_text(e, "router", ridge_router_text(d->play.router));
    ridge_json_set_i64(e, "sequences", rules->sequences);
    ridge_json_set_i64(e, "budget_tokens", rules->budget_tokens);
    ridge_json_set_i64(e, "iterations", s->iterations);
    ridge_json_set_double(e, "busy_fraction", s->busy_share);
    ridge_json_set_double(e, "decoding_mean", s->decoding_mean);
    ridge_json_set_double(e, "waiting_mean", s->waiting_mean);
    ridge_json_set_i64(e, "waiting_max", s->waiting_most);
    ridge_json_set_double(e, "idle_slots_fraction", s->slots_idle);
    ridge_json_set_double(e, "padding_fraction", s->padding_share);
    ridge_json_set_i64(e, "failures", s->failures);
}

static void set_measured(ridge_ctx *cx, ridge_json *o, const ridge_requests_view *v)
{
    const ridge_request_file_note *n = v->note;
    const struct {
        const char *key;
        const ridge_latency_sketch *measured;
        const ridge_latency_summary *played;
    } rows[] = {{"ttft_s", n->measured_ttft, &v->summary->ttft},
                {"tpot_s", n->measured_tpot, &v->summary->tpot},
                {"e2e_s", n->measured_e2e, &v->summary->e2e}};
    ridge_json *m = ridge_json_set_object(cx, o, "measured");
    ridge_json_set_i64(m, "requests", n->measured);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const double mean = ridge_latency_mean(rows[i].measured);
        ridge_json *row = ridge_json_set_object(cx, m, rows[i].key);
        ridge_json_set_double(row, "mean", mean);
        ridge_json_set_double(row, "p50",
                              ridge_latency_quantile(rows[i].measured, 0.5));
        ridge_json_set_double(row, "p99",
                              ridge_latency_quantile(rows[i].measured, 0.99));
        ridge_json_set_double(row, "rel_error_of_mean",
                              rows[i].played->mean / mean - 1);
    }
}

static void set_file(ridge_ctx *cx, ridge_json *o, const ridge_requests_view *v)
{
    const ridge_request_file_note *n = v->note;
    if (n == NULL)
        return;
    ridge_json *f = ridge_json_set_object(cx, o, "file");
    ridge_json_set_text(f, "format", ridge_request_format_text(n->format));
    ridge_json_set_text(f, "columns", n->columns);
    ridge_json_set_i64(f, "lines", n->lines);
    ridge_json_set_i64(f, "unanswered", n->unanswered);
    ridge_json_set_i64(f, "out_of_order", n->moved);
    if (n->measured > 0)
        set_measured(cx, o, v);
}

static void set_rates(ridge_json *o, const ridge_serving_summary *s)
{
    ridge_json_set_double(o, "requests_per_s", s->requests_per_s);
    ridge_json_set_double(o, "goodput_requests_per_s", s->goodput_requests_per_s);
    ridge_json_set_double(o, "prompt_tokens_per_s", s->prompt_tokens_per_s);
    ridge_json_set_double(o, "output_tokens_per_s", s->output_tokens_per_s);
    ridge_json_set_double(o, "chips", s->chips);
    ridge_json_set_positive(o, "usd", s->usd);
    ridge_json_set_double(o, "usd_per_million_tokens",
                          s->usd > 0 ? s->usd_per_million_tokens : nan(""));
}

static void set_capacity(ridge_ctx *cx, ridge_json *object,
                         const ridge_service_capacity *c)
{
    if (c == NULL)
        return;
    ridge_json *o = ridge_json_set_object(cx, object, "capacity");
    ridge_json_set_double(o, "asked_share", c->asked_share);
    ridge_json_set_double(o, "requests_per_s", c->requests_per_s);
    ridge_json_set_double(o, "share", c->share);
    ridge_json_set_positive(o, "next_requests_per_s", c->next_requests_per_s);
    ridge_json_set_double(o, "next_share", c->next_share);
    ridge_json_set_i64(o, "plays", c->plays);
}

void ridge_requests_write_json(ridge_ctx *cx, const ridge_requests_view *view,
                               ridge_json *object)
{
    const ridge_serving_summary *s = view->summary;
    ridge_json_set_text(object, "kind", "serve");
    ridge_json_set_text(object, "model", view->model_name);
    ridge_json_set_text(object, "slice", view->slice_text);
    ridge_json_set_i64(object, "requests", s->requests);
    ridge_json_set_i64(object, "completed", s->completed);
    ridge_json_set_i64(object, "refused", s->refused);
    ridge_json_set_i64(object, "too_long", s->too_long);
    ridge_json_set_i64(object, "good", s->good);
    set_capacity(cx, object, view->capacity);
    set_latency(cx, object, "ttft_s", &s->ttft);
    set_latency(cx, object, "tpot_s", &s->tpot);
    set_latency(cx, object, "itl_s", &s->itl);
    set_latency(cx, object, "e2e_s", &s->e2e);
    ridge_json *split = ridge_json_set_object(cx, object, "split");
    set_split(cx, split, "ttft", &s->ttft_mean);
    set_split(cx, split, "ttft_slowest_1_percent", &s->ttft_p99);
    set_split(cx, split, "e2e", &s->e2e_mean);
    set_split(cx, split, "e2e_slowest_1_percent", &s->e2e_p99);
    set_rates(object, s);
    set_kv(cx, object, view);
    set_engine(cx, object, view);
    set_file(cx, object, view);
    ridge_json_set_double(object, "simulated_s", s->span_s);
    ridge_json_set_double(object, "wall_s", view->wall_s);
}

/* Moments to the nanosecond, however late: latencies are their differences. */
void ridge_requests_write_lines(ridge_ctx *cx, const ridge_requests_view *view,
                                ridge_buf *out)
{
    (void)cx;
    for (int64_t i = 0; i < view->course->n_requests; i++) {
        const ridge_request_result *r = &view->course->requests[i];
        ridge_buf_printf(
            out,
            "{\"request\":%lld,\"prompt_tokens\":%lld,\"output_tokens\":"
            "%lld,\"cached_tokens\":%lld,\"replica\":%lld,\"preemptions\":%d,"
            "\"arrival_s\":%.9f,\"start_s\":%.9f,\"first_token_s\":%.9f,"
            "\"end_s\":%.9f,\"good\":%s,\"ttft_s\":%.9g,\"e2e_s\":%.9g",
            (long long)r->number, (long long)r->prompt_tokens,
            (long long)r->output_tokens, (long long)r->cached_tokens,
            (long long)r->replica, r->preemptions, r->arrival_s, r->start_s,
            r->first_token_s, r->end_s, r->is_good ? "true" : "false", r->ttft.total_s,
            r->e2e.total_s);
        if (r->output_tokens > 1)
            ridge_buf_printf(out, ",\"tpot_s\":%.9g",
                             (r->end_s - r->first_token_s) /
                                 (double)(r->output_tokens - 1));
        for (int k = 0; k < RIDGE_LATENCY_PART_COUNT; k++)
            ridge_buf_printf(out, ",\"%s_s\":%.9g",
                             ridge_latency_part_text((ridge_latency_part)k),
                             r->e2e.parts_s[k]);
        ridge_buf_puts(out, "}\n");
    }
}
