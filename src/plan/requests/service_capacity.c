/* The highest request rate at which goals are kept, found by playing. */
#include "ridge/plan_requests.h"

#include <math.h>

enum { DOUBLINGS_MOST = 40 };

static const double PRECISION = 0.01;

typedef struct capacity_search {
    ridge_ctx *cx;
    const ridge_serving_deployment *deployment;
    ridge_request_draws draws;
    const ridge_serving_goals *goals;
    double share;
    int plays;
} capacity_search;

static double kept_share(const ridge_serving_summary *s)
{
    return s->requests > 0 ? (double)s->good / (double)s->requests : 0;
}

/* Memory of the stream is given back: only what the play says is kept. */
static ridge_status play_at(capacity_search *c, double rate,
                            ridge_serving_summary *summary, bool *keeps)
{
    ridge_arena *arena = ridge_ctx_arena(c->cx);
    const ridge_mark mark = ridge_arena_mark(arena);
    ridge_request_source source;
    c->draws.rate_per_s = rate;
    c->plays++;
    ridge_status st = ridge_request_draws_open(c->cx, &c->draws, &source);
    if (st == RIDGE_OK)
        st = ridge_serving_play(c->cx, c->deployment, &source, c->goals, NULL, summary);
    if (c->draws.file == NULL)
        ridge_arena_rewind(arena, mark);
    *keeps = kept_share(summary) >= c->share;
    return st;
}

/* From a rate that does or does not to one of each. */
static ridge_status bracket(capacity_search *c, double *low, double *high,
                            ridge_serving_summary *at_low)
{
    double rate = c->draws.rate_per_s > 0 ? c->draws.rate_per_s : 1;
    ridge_serving_summary s;
    bool keeps;
    *low = *high = 0;
    for (int i = 0; i < DOUBLINGS_MOST && (*low == 0 || *high == 0); i++) {
        RIDGE_TRY(play_at(c, rate, &s, &keeps));
        if (keeps || *low == 0)
            *at_low = s;
        *(keeps ? low : high) = rate;
        rate = keeps ? 2 * rate : rate / 2;
        if (rate < 1e-3 || rate > 1e7)
            break;
    }
    return RIDGE_OK;
}

ridge_status ridge_service_capacity_find(ridge_ctx *cx,
                                         const ridge_serving_deployment *deployment,
                                         const ridge_request_draws *draws,
                                         const ridge_serving_goals *goals, double share,
                                         ridge_service_capacity *out)
{
    capacity_search c = {cx, deployment, *draws, goals, share, 0};
    ridge_service_capacity found = {0};
    double high;
    if (goals->ttft_s <= 0 && goals->tpot_s <= 0 && goals->e2e_s <= 0)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "the highest rate is that at which goals are kept: name some, "
            "as in --slo ttft=500ms,tpot=30ms");
    if (draws->arrivals == RIDGE_ARRIVAL_CLOSED ||
        draws->arrivals == RIDGE_ARRIVAL_ATONCE)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "a closed loop has no rate of its own: leave its clients out");
    RIDGE_TRY(bracket(&c, &found.requests_per_s, &high, &found.summary));
    while (found.requests_per_s > 0 && high > found.requests_per_s * (1 + PRECISION)) {
        const double middle = sqrt(found.requests_per_s * high);
        ridge_serving_summary s;
        bool keeps;
        RIDGE_TRY(play_at(&c, middle, &s, &keeps));
        *(keeps ? &found.requests_per_s : &high) = middle;
        if (keeps)
            found.summary = s;
    }
    found.share = kept_share(&found.summary);
    found.plays = c.plays;
    *out = found;
    return RIDGE_OK;
}
