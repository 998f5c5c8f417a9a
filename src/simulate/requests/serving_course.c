/* What is kept of a play for its report. */
#include "ridge/simulate_course.h"

#include <math.h>
#include <string.h>

static const double FIRST_BUCKET_S = 0.01;

ridge_status ridge_course_open(ridge_ctx *cx, int64_t spans, int64_t requests,
                               ridge_course **out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_course *c = ridge_new(arena, ridge_course, 1);
    if (c == NULL)
        return ridge_fail_nomem(cx);
    c->bucket_s = FIRST_BUCKET_S;
    c->spans = ridge_new(arena, ridge_serving_span, (size_t)spans);
    if (c->spans == NULL)
        return ridge_fail_nomem(cx);
    c->cx = cx;
    c->spans_room = spans;
    c->requests_most = requests;
    *out = c;
    return RIDGE_OK;
}

/* ---- buckets --------------------------------------------------------------------- */

/* Half as many, each of twice the width. */
static void widen(ridge_course *c)
{
    enum { N = sizeof(ridge_course_bucket) / sizeof(double) };
    for (int i = 0; i < RIDGE_COURSE_BUCKETS / 2; i++) {
        double to[N], more[N];
        memcpy(to, &c->of[2 * i], sizeof to);
        memcpy(more, &c->of[2 * i + 1], sizeof more);
        for (int k = 0; k < N; k++)
            to[k] += more[k];
        memcpy(&c->of[i], to, sizeof to);
    }
    memset(&c->of[RIDGE_COURSE_BUCKETS / 2], 0,
           sizeof c->of[0] * (RIDGE_COURSE_BUCKETS / 2));
    c->n = (c->n + 1) / 2;
    c->bucket_s *= 2;
}

static ridge_course_bucket *bucket_at(ridge_course *c, double at_s)
{
    while (at_s >= c->bucket_s * RIDGE_COURSE_BUCKETS)
        widen(c);
    const int i = at_s > 0 ? (int)(at_s / c->bucket_s) : 0;
    const int at = i < RIDGE_COURSE_BUCKETS ? i : RIDGE_COURSE_BUCKETS - 1;
    c->n = at + 1 > c->n ? at + 1 : c->n;
    return &c->of[at];
}

/* A span over the buckets that it lies in. */
static void spread(ridge_course *c, const ridge_serving_span *s)
{
    const double whole = s->end_s - s->start_s;
    (void)bucket_at(c, s->end_s); /* as wide as it has to be */
    for (double at = s->start_s; at < s->end_s;) {
        const double end = c->bucket_s * (floor(at / c->bucket_s) + 1);
        const double until = end > at ? fmin(end, s->end_s) : s->end_s;
        ridge_course_bucket *b = bucket_at(c, (at + until) / 2);
        const double part = until - at;
        b->busy_s += part;
        b->decoding += part * (double)s->decoding;
        b->waiting += part * (double)s->waiting;
        b->kv += part * s->kv_share;
        b->prompts += whole > 0 ? (double)s->chunk_tokens * part / whole : 0;
        at = until;
    }
}

static void see_span(void *self, const ridge_serving_span *span)
{
    ridge_course *c = self;
    spread(c, span);
    c->spans_all++;
    if (c->n_spans < c->spans_room)
        c->spans[c->n_spans++] = *span;
}

/* Short of memory, or beyond the most, no further ones are kept. */
static void keep_request(ridge_course *c, const ridge_request_result *r)
{
    enum { FIRST = 256 };
    if (c->n_requests == c->requests_room && c->requests_room < c->requests_most) {
        const int64_t twice = c->requests_room > 0 ? 2 * c->requests_room : FIRST;
        const int64_t room = twice < c->requests_most ? twice : c->requests_most;
        ridge_request_result *more =
            ridge_new(ridge_ctx_arena(c->cx), ridge_request_result, (size_t)room);
        if (more == NULL) {
            c->requests_most = c->requests_room;
            return;
        }
        if (c->n_requests > 0)
            memcpy(more, c->requests, (size_t)c->n_requests * sizeof *more);
        c->requests = more;
        c->requests_room = room;
    }
    if (c->n_requests < c->requests_room)
        c->requests[c->n_requests++] = *r;
}

static void see_request(void *self, const ridge_request_result *r)
{
    ridge_course *c = self;
    ridge_course_bucket *b = bucket_at(c, r->end_s);
    b->outputs += (double)r->output_tokens;
    b->ended += 1;
    b->good += r->is_good ? 1 : 0;
    b = bucket_at(c, r->first_token_s);
    b->ttft_s += r->ttft.total_s;
    b->ttfts += 1;
    ridge_latency_add(&c->ttft, r->ttft.total_s, 1);
    ridge_latency_add(&c->e2e, r->e2e.total_s, 1);
    if (r->output_tokens > 1)
        ridge_latency_add(
            &c->tpot, (r->end_s - r->first_token_s) / (double)(r->output_tokens - 1),
            1);
    c->requests_all++;
    keep_request(c, r);
}

ridge_serving_watch ridge_course_watch(ridge_course *course)
{
    return (ridge_serving_watch){course, see_span, see_request};
}
