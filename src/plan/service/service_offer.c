/* Slices compared: one search after the other, each on all processors, in a request of
 * its own, so that its memory is given back. */
#include "ridge/plan_service_offer.h"

#include "offer_front.h"
#include "offer_sizes.h"

#include <math.h>
#include <stdlib.h>

typedef struct desk {
    ridge_ctx *cx;
    const ridge_service_kind *kinds;
    int n;
    ridge_service_offer *offers; /* [RIDGE_SERVICE_OFFER_MAX] */
    int64_t covered;
    double share; /* of the work, as far as it can be told */
} desk;

/* ---- one slice --------------------------------------------------------------------
 */

static ridge_status keep_front(ridge_ctx *cx, const ridge_service_result *from,
                               ridge_service_offer *o)
{
    const size_t n = (size_t)from->n_speed_front;
    o->front = ridge_new(ridge_ctx_arena(cx), ridge_service_price, n + 1);
    if (o->front == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n; i++)
        o->front[i] = from->speed_front[i];
    o->n_front = (int)n;
    return RIDGE_OK;
}

static double judged_s(const ridge_service_request *r, const ridge_service_price *p,
                       int latency)
{
    return r->goals.quantile > 0 ? p->quantile_s[latency] : p->latency_s[latency];
}

/* The first goal that nothing keeps, and what its bound is. @return NULL: each can be
 * kept by itself */
static const char *goal_reason(ridge_ctx *cx, const ridge_service_request *q,
                               const ridge_service_result *r)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const ridge_service_price *p = &r->least[i];
        if (!r->has_least[i] || judged_s(q, p, i) <= q->goals.most_s[i])
            continue;
        return ridge_sprintf(ridge_ctx_arena(cx), "%s %s at least of %s: %s is %s",
                             ridge_service_latency_text((ridge_service_latency)i),
                             ridge_format_seconds(judged_s(q, p, i)).s,
                             ridge_format_seconds(q->goals.most_s[i]).s,
                             p->bound_s[i] > q->goals.most_s[i] ? "physics, its bound"
                                                                : "its bound",
                             ridge_format_seconds(p->bound_s[i]).s);
    }
    return NULL;
}

static const char *refusal_reason(ridge_ctx *cx, const ridge_service_refusal *f)
{
    return f->nearest > 0
               ? ridge_sprintf(ridge_ctx_arena(cx), "%s: %s a chip too much at best",
                               f->why, ridge_format_bytes(f->nearest).s)
               : ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(f->why));
}

/* Which bound forbids it. */
static const char *reason(ridge_ctx *cx, const ridge_service_request *q,
                          const ridge_service_result *r)
{
    const char *goal = goal_reason(cx, q, r);
    if (goal != NULL)
        return goal;
    if (r->has_most)
        return ridge_sprintf(ridge_ctx_arena(cx), "%s requests/s at most of %s",
                             ridge_format_double(r->most.requests_per_s).s,
                             ridge_format_double(q->requests_per_s).s);
    if (r->has_nearest && r->nearest.fit != RIDGE_SERVICE_FIT_OK)
        return ridge_service_fit_text(r->nearest.fit);
    return r->n_refusals > 0 ? refusal_reason(cx, &r->refusals[0]) : "nothing fits";
}

static ridge_status search(desk *d, ridge_ctx *cx, ridge_service_offer *o)
{
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    if (result == NULL)
        return RIDGE_E_NOMEM;
    RIDGE_TRY(ridge_service_search(cx, &o->request, result));
    d->covered += result->covered;
    if (result->n_layouts == 0) {
        o->why_not = reason(d->cx, &o->request, result);
        return o->why_not == NULL ? RIDGE_E_NOMEM : RIDGE_OK;
    }
    RIDGE_TRY(ridge_service_play_by(cx, &o->request, d->kinds[o->kind].plays, result));
    o->best = result->layouts[0];
    return keep_front(d->cx, result, o);
}

/* Contradictions between knobs and this slice are its answer. */
static ridge_status run(desk *d, int kind, const ridge_slice *slice)
{
    if (d->n == RIDGE_SERVICE_OFFER_MAX)
        return RIDGE_OK;
    ridge_service_offer *o = &d->offers[d->n];
    ridge_progress *progress = d->kinds[kind].request.progress;
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return ridge_fail_nomem(d->cx);
    *o = (ridge_service_offer){.kind = kind, .request = d->kinds[kind].request};
    o->request.slice = slice;
    o->request.progress = NULL;
    if (progress != NULL)
        ridge_progress_show(progress, d->share, slice->text);
    ridge_status st = search(d, cx, o);
    if (st == RIDGE_E_ARG) {
        const char *message = ridge_ctx_message(cx);
        o->why_not = ridge_str_dup(ridge_ctx_arena(d->cx), ridge_str_of(message));
        st = o->why_not == NULL ? RIDGE_E_NOMEM : RIDGE_OK;
    }
    ridge_ctx_close(cx);
    if (st != RIDGE_OK)
        return ridge_fail_nomem(d->cx);
    d->n++;
    return ridge_ctx_is_cancelled(d->cx)
               ? ridge_fail(d->cx, RIDGE_E_CANCELLED, "cancelled during the search")
               : RIDGE_OK;
}

static bool is_enough(const ridge_service_offer *o)
{
    return o->why_not == NULL && (!o->best.played.is_played || o->best.played.is_kept);
}

static ridge_status run_kind(desk *d, const ridge_catalog *catalog, int kind,
                             int64_t chips_most, offer_sizes *sizes)
{
    const ridge_service_kind *k = &d->kinds[kind];
    if (!k->is_open)
        return run(d, kind, k->request.slice);
    RIDGE_TRY(offer_sizes_double(d->cx, catalog, k->request.slice, chips_most, sizes));
    for (int i = 0; i < sizes->n; i++) {
        RIDGE_TRY(run(d, kind, sizes->slices[i]));
        /* more chips than the rate needs are not taken */
        if (k->request.requests_per_s > 0 && is_enough(&d->offers[d->n - 1]))
            break;
    }
    return RIDGE_OK;
}

/* ---- ranking ----------------------------------------------------------------------
 */

static int compare(const void *left, const void *right)
{
    const ridge_service_offer *a = left;
    const ridge_service_offer *b = right;
    const bool is_out = a->why_not != NULL;
    if (is_out != (b->why_not != NULL))
        return is_out ? 1 : -1;
    if (!is_out) {
        if (ridge_service_plays_better(a->request.aim, &a->best, &b->best))
            return -1;
        if (ridge_service_plays_better(a->request.aim, &b->best, &a->best))
            return 1;
    }
    if (a->kind != b->kind)
        return a->kind - b->kind;
    return a->request.slice->chips < b->request.slice->chips ? -1 : 1;
}

/* Dollars where all have a price alone. */
static int best_by(const ridge_service_offer_study *s, ridge_service_aim aim)
{
    int best = -1;
    for (int i = 0; i < s->n_ranked; i++) {
        const ridge_service_price *p = &s->offers[i].best;
        const bool is_known =
            (aim != RIDGE_SERVICE_AIM_COST || p->usd_per_million_tokens > 0) &&
            (aim != RIDGE_SERVICE_AIM_ENERGY || p->energy.joules_per_token > 0);
        if (is_known &&
            (best < 0 || ridge_service_plays_better(aim, p, &s->offers[best].best)))
            best = i;
    }
    return best;
}

ridge_status ridge_service_offer_search(ridge_ctx *cx, const ridge_catalog *catalog,
                                        const ridge_service_kind *kinds, int n_kinds,
                                        int64_t chips_most,
                                        ridge_service_offer_study *out)
{
    const double start_s = ridge_clock_s();
    desk d = {.cx = cx, .kinds = kinds};
    offer_sizes *sizes = ridge_new(ridge_ctx_arena(cx), offer_sizes, 1);
    d.offers =
        ridge_new(ridge_ctx_arena(cx), ridge_service_offer, RIDGE_SERVICE_OFFER_MAX);
    if (d.offers == NULL || sizes == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < n_kinds; k++) {
        d.share = (double)k / (double)n_kinds;
        RIDGE_TRY(run_kind(&d, catalog, k, chips_most, sizes));
    }
    ridge_service_offer_study s = {.n = d.n, .offers = d.offers, .covered = d.covered};
    qsort(s.offers, (size_t)s.n, sizeof *s.offers, compare);
    while (s.n_ranked < s.n && s.offers[s.n_ranked].why_not == NULL)
        s.n_ranked++;
    for (int aim = 0; aim < RIDGE_SERVICE_AIM_COUNT; aim++)
        s.best_of[aim] = best_by(&s, (ridge_service_aim)aim);
    RIDGE_TRY(offer_front_find(cx, &s));
    s.seconds = ridge_clock_s() - start_s;
    *out = s;
    return RIDGE_OK;
}
