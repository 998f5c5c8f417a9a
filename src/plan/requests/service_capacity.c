/* The highest request rate at which goals are kept, found by playing. */
#include "ridge/plan_requests.h"

#include <math.h>

enum { DOUBLINGS_MOST = 40 };

/* Of a rate. Close to what a service takes queues grow without bound: a percent more
 * can be the difference between 97 and 90 % of requests that keep their goals. */
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

/* A share that is written in percent may lie a rounding above a count. */
static bool keeps_share(const capacity_search *c, const ridge_serving_summary *s)
{
    return (double)s->good + 1e-6 >= c->share * (double)s->requests && s->requests > 0;
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
    *keeps = keeps_share(c, summary);
    return st;
}

/* From a rate that does or does not to one of each. */
static ridge_status bracket(capacity_search *c, ridge_service_capacity *found)
{
    double rate = c->draws.rate_per_s > 0 ? c->draws.rate_per_s : 1;
    ridge_serving_summary s;
    bool keeps;
    double *low = &found->requests_per_s;
    double *high = &found->next_requests_per_s;
    for (int i = 0; i < DOUBLINGS_MOST && (*low == 0 || *high == 0); i++) {
        RIDGE_TRY(play_at(c, rate, &s, &keeps));
        if (keeps || *low == 0)
            found->summary = s;
        if (!keeps)
            found->next_share = kept_share(&s);
        *(keeps ? low : high) = rate;
        rate = keeps ? 2 * rate : rate / 2;
        if (rate < 1e-3 || rate > 1e7)
            break;
    }
    return RIDGE_OK;
}

/* A rate between the two takes the place of one of them. */
static ridge_status narrow(capacity_search *c, double rate,
                           ridge_service_capacity *found)
{
    ridge_serving_summary s;
    bool keeps;
    RIDGE_TRY(play_at(c, rate, &s, &keeps));
    if (keeps) {
        found->requests_per_s = rate;
        found->summary = s;
    } else {
        found->next_requests_per_s = rate;
        found->next_share = kept_share(&s);
    }
    return RIDGE_OK;
}

ridge_status ridge_service_capacity_find(ridge_ctx *cx,
                                         const ridge_serving_deployment *deployment,
                                         const ridge_request_draws *draws,
                                         const ridge_serving_goals *goals,
                                         const ridge_capacity_aim *aim,
                                         ridge_service_capacity *out)
{
    capacity_search c = {cx, deployment, *draws, goals, aim->share, 0};
    ridge_service_capacity found = {.asked_share = aim->share};
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
    RIDGE_TRY(bracket(&c, &found));
    while (found.requests_per_s > 0 &&
           found.next_requests_per_s > found.requests_per_s * (1 + aim->precision)) {
        const double middle = sqrt(found.requests_per_s * found.next_requests_per_s);
        RIDGE_TRY(narrow(&c, middle, &found));
    }
    found.share = kept_share(&found.summary);
    found.plays = c.plays;
    *out = found;
    return RIDGE_OK;
}
