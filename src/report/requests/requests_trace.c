/*
 * A played deployment as Chrome trace events (Trace Event Format, JSON object form).
 *
 *     process r + 1     replica r; thread l: iterations of its l-th lane, one span for
 *                       iterations in which nobody comes or goes
 *     counters          decoding, waiting, cache: of that replica
 *     process 1000000   requests; a thread each: queue, prompt, decode
 *
 * Times are in microseconds.
 */
#include "ridge/report_requests.h"

enum { REQUESTS_PID = 1000000 };

typedef struct trace {
    ridge_buf *out;
    bool has_event;
} trace;

static void event_begin(trace *t, const char *phase, int64_t pid, int64_t tid)
{
    ridge_buf_printf(t->out, "%s\n{\"ph\":\"%s\",\"pid\":%lld,\"tid\":%lld,",
                     t->has_event ? "," : "", phase, (long long)pid, (long long)tid);
    t->has_event = true;
}

static void add_name(trace *t, const char *what, int64_t pid, int64_t tid,
                     const char *name, int64_t number)
{
    event_begin(t, "M", pid, tid);
    ridge_buf_printf(t->out, "\"name\":\"%s\",\"args\":{\"name\":\"%s %lld\"}}", what,
                     name, (long long)number);
}

static void add_length(trace *t, const char *name, const char *category, double start_s,
                       double end_s)
{
    ridge_buf_printf(t->out, "\"name\":\"%s\",\"cat\":\"%s\",\"ts\":%.3f,\"dur\":%.3f",
                     name, category, start_s * 1e6, (end_s - start_s) * 1e6);
}

static void add_counter(trace *t, const ridge_serving_span *s, const char *name,
                        double value)
{
    event_begin(t, "C", s->replica + 1, 0);
    ridge_buf_printf(t->out, "\"name\":\"%s\",\"ts\":%.3f,\"args\":{\"value\":%.6g}}",
                     name, s->start_s * 1e6, value);
}

static void add_span(trace *t, const ridge_serving_span *s)
{
    const char *name = s->prompts == 0    ? "decode"
                       : s->decoding == 0 ? "prompts"
                                          : "mixed";
    event_begin(t, "X", s->replica + 1, s->lane);
    add_length(t, name, name, s->start_s, s->end_s);
    ridge_buf_printf(
        t->out,
        ",\"args\":{\"iterations\":%lld,\"decoding\":%lld,\"prompts\":%lld,"
        "\"chunk_tokens\":%lld,\"device_s\":%.6g}}",
        (long long)s->iterations, (long long)s->decoding, (long long)s->prompts,
        (long long)s->chunk_tokens, s->device_s);
    add_counter(t, s, "decoding", (double)s->decoding);
    add_counter(t, s, "waiting", (double)s->waiting);
    add_counter(t, s, "cache", s->kv_share);
}

static void add_phase(trace *t, const ridge_request_result *r, const char *name,
                      double start_s, double end_s)
{
    if (!(end_s > start_s))
        return;
    event_begin(t, "X", REQUESTS_PID, r->number);
    add_length(t, name, "request", start_s, end_s);
    ridge_buf_printf(t->out,
                     ",\"args\":{\"prompt_tokens\":%lld,\"output_tokens\":%lld,"
                     "\"cached_tokens\":%lld,\"replica\":%lld,\"preemptions\":%d}}",
                     (long long)r->prompt_tokens, (long long)r->output_tokens,
                     (long long)r->cached_tokens, (long long)r->replica,
                     r->preemptions);
}

static void add_request(trace *t, const ridge_request_result *r)
{
    add_name(t, "thread_name", REQUESTS_PID, r->number, "request", r->number);
    add_phase(t, r, "queue", r->arrival_s, r->start_s);
    add_phase(t, r, "prompt", r->start_s, r->first_token_s);
    add_phase(t, r, "decode", r->first_token_s, r->end_s);
}

ridge_status ridge_requests_write_trace(ridge_ctx *cx, const ridge_requests_view *view,
                                        ridge_buf *out)
{
    const ridge_course *c = view->course;
    const ridge_serving_deployment *d = &view->deployment->play;
    trace t = {out, false};
    int64_t replicas = 0;
    ridge_buf_puts(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (int i = 0; i < d->n_pools; i++)
        replicas += d->pools[i].replicas;
    for (int64_t i = 0; i < replicas; i++)
        add_name(&t, "process_name", i + 1, 0, "replica", i);
    add_name(&t, "process_name", REQUESTS_PID, 0, "first requests:", c->n_requests);
    for (int64_t i = 0; i < c->n_spans; i++)
        add_span(&t, &c->spans[i]);
    for (int64_t i = 0; i < c->n_requests; i++)
        add_request(&t, &c->requests[i]);
    ridge_buf_puts(out, "\n]}\n");
    return out->is_short ? ridge_fail_nomem(cx) : RIDGE_OK;
}
