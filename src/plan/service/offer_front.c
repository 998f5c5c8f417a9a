/* Deployments of all slices that none beats in a user's speed, dollars and energy of a
 * token at once, among those that keep the goals. */
#include "offer_front.h"

#include <math.h>
#include <stdlib.h>

typedef struct candidate {
    ridge_service_offer_point at;
    double tpot_s, usd, joules; /* unknown dollars or joules: INFINITY */
} candidate;

static bool keeps_goals(const ridge_service_request *r, const ridge_service_price *p)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const double judged =
            r->goals.quantile > 0 ? p->quantile_s[i] : p->latency_s[i];
        if (judged > r->goals.most_s[i])
            return false;
    }
    return true;
}

static double known(double value)
{
    return value > 0 ? value : (double)INFINITY;
}

static int collect(const ridge_service_offer_study *s, candidate *out)
{
    int n = 0;
    for (int i = 0; i < s->n_ranked; i++) {
        const ridge_service_offer *o = &s->offers[i];
        for (int k = 0; k < o->n_front; k++) {
            const ridge_service_price *p = &o->front[k];
            if (keeps_goals(&o->request, p))
                out[n++] = (candidate){.at = {i, k},
                                       .tpot_s = p->latency_s[RIDGE_SERVICE_TPOT],
                                       .usd = known(p->usd_per_million_tokens),
                                       .joules = known(p->energy.joules_per_token)};
        }
    }
    return n;
}

/* No worse in anything and better in something. */
static bool is_beaten_by(const candidate *a, const candidate *b)
{
    return b->tpot_s <= a->tpot_s && b->usd <= a->usd && b->joules <= a->joules &&
           (b->tpot_s < a->tpot_s || b->usd < a->usd || b->joules < a->joules);
}

static int compare(const void *left, const void *right)
{
    const candidate *a = left;
    const candidate *b = right;
    if (a->tpot_s != b->tpot_s)
        return a->tpot_s < b->tpot_s ? -1 : 1;
    return a->at.offer != b->at.offer ? a->at.offer - b->at.offer
                                      : a->at.point - b->at.point;
}

static int keep_best(candidate *all, int n, bool *is_out)
{
    int kept = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n && !is_out[i]; k++)
            is_out[i] = is_beaten_by(&all[i], &all[k]);
    }
    for (int i = 0; i < n; i++) {
        if (!is_out[i])
            all[kept++] = all[i];
    }
    return kept;
}

ridge_status offer_front_find(ridge_ctx *cx, ridge_service_offer_study *s)
{
    const size_t room = (size_t)s->n_ranked * RIDGE_SERVICE_FRONT_MAX + 1;
    candidate *all = ridge_new(ridge_ctx_arena(cx), candidate, room);
    bool *is_out = ridge_new(ridge_ctx_arena(cx), bool, room);
    if (all == NULL || is_out == NULL)
        return ridge_fail_nomem(cx);
    const int n = keep_best(all, collect(s, all), is_out);
    qsort(all, (size_t)n, sizeof *all, compare);
    s->n_front = n < RIDGE_SERVICE_OFFER_FRONT_MAX ? n : RIDGE_SERVICE_OFFER_FRONT_MAX;
    for (int i = 0; i < s->n_front; i++) {
        /* evenly, with both ends */
        const int from = s->n_front > 1 ? i * (n - 1) / (s->n_front - 1) : 0;
        s->front[i] = all[from].at;
    }
    return RIDGE_OK;
}
