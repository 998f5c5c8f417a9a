/* Deployments played on drawn requests, side by side on threads. */
#include "ridge/plan_requests.h"
#include "ridge/plan_service_play.h"

#include <math.h>
#include <stdlib.h>

/* A play lasts for so many lives of a request, within bounds: its beginning, when the
 * service is empty, then weighs little, and quantiles rest on some requests. */
enum { LIVES = 12, REQUESTS_LEAST = 3000, REQUESTS_MOST = 60000, TRIES = 7 };

/* Rates that are tried lie between these times the closed form's. */
static const double RATE_LEAST = 0.4, RATE_MOST = 1.6;

/* Requests of large services are played when that is asked for. */
static const double DUE_MOST = 2.5e6;

/* Of lengths in a closed loop. */
static const double SPREAD = 0.1;

typedef struct player {
    const ridge_service_request *request;
    ridge_service_price *prices;
    ridge_status *statuses; /* [prices] */
} player;

static bool has_goals(const ridge_service_request *r)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (isfinite(r->goals.most_s[i]))
            return true;
    }
    return false;
}

static int64_t requests_of(const ridge_service_price *p)
{
    return (int64_t)fmin(fmax(LIVES * p->concurrency, REQUESTS_LEAST), REQUESTS_MOST);
}

double ridge_service_play_requests(const ridge_service_request *request,
                                   const ridge_service_result *result)
{
    const double tries = has_goals(request) && request->requests_per_s <= 0 ? TRIES : 1;
    double sum = 0;
    for (int i = 0; i < result->n_layouts; i++)
        sum += tries * (double)requests_of(&result->layouts[i]);
    for (int i = 0; i < result->n_varied; i++)
        sum += tries * (double)requests_of(&result->varied[i]);
    return sum;
}

/* ---- one play ---------------------------------------------------------------------
 */

static ridge_request_draws draws_of(const ridge_service_request *r,
                                    const ridge_service_price *p, double rate_per_s)
{
    ridge_request_draws d = {
        .arrivals = RIDGE_ARRIVAL_POISSON,
        .rate_per_s = rate_per_s,
        .requests = requests_of(p),
        .prompt = {.kind = RIDGE_LENGTH_FIXED, .mean = r->work.prompt_tokens},
        .output = {.kind = RIDGE_LENGTH_FIXED, .mean = r->work.output_tokens},
        .seed = 1};
    if (rate_per_s <= 0) {
        /* clients whose requests are all alike would stay in step */
        d.prompt.kind = d.output.kind = RIDGE_LENGTH_UNIFORM;
        d.prompt.spread = d.output.spread = SPREAD;
        d.arrivals = RIDGE_ARRIVAL_CLOSED;
        d.concurrency = (int64_t)fmax(1, round(p->concurrency));
    }
    return d;
}

static double goal_of(const ridge_service_request *r, int latency)
{
    return isfinite(r->goals.most_s[latency]) ? r->goals.most_s[latency] : 0;
}

static bool keeps_means(const ridge_service_request *r, const ridge_service_played *p)
{
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (p->mean_s[i] > r->goals.most_s[i])
            return false;
    }
    return true;
}

static void take(const ridge_service_request *r, const ridge_serving_summary *s,
                 ridge_service_played *out)
{
    const ridge_latency_summary *all[] = {&s->ttft, &s->tpot, &s->e2e};
    *out = (ridge_service_played){.is_played = true,
                                  .requests_per_s = s->requests_per_s,
                                  .cache_most = s->kv_most,
                                  .preemptions = s->preemptions,
                                  .requests = s->requests};
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        out->mean_s[i] = all[i]->mean;
        out->p99_s[i] = all[i]->p99;
    }
    out->good_share = s->requests > 0 ? (double)s->good / (double)s->requests : 0;
    out->is_kept =
        s->refused == 0 && (r->goals.quantile > 0 ? out->good_share >= r->goals.quantile
                                                  : keeps_means(r, out));
}

/* A deployment that is ready to be played, at one rate after the other. */
typedef struct stage {
    ridge_ctx *cx;
    const ridge_service_request *request;
    const ridge_service_price *price;
    ridge_service_deployment *deployment;
} stage;

static ridge_status open_stage(ridge_ctx *cx, const ridge_service_request *r,
                               const ridge_service_price *p, stage *out)
{
    const double longest =
        (1 + SPREAD) * (r->work.prompt_tokens + r->work.output_tokens) + 2;
    *out =
        (stage){cx, r, p, ridge_new(ridge_ctx_arena(cx), ridge_service_deployment, 1)};
    if (out->deployment == NULL)
        return ridge_fail_nomem(cx);
    return ridge_service_deploy(cx, r, &p->choice, longest, out->deployment);
}

/* @param rate_per_s  0: a closed loop */
static ridge_status play(const stage *s, double rate_per_s, ridge_service_played *out)
{
    const ridge_service_request *r = s->request;
    const ridge_request_draws draws = draws_of(r, s->price, rate_per_s);
    const ridge_serving_goals goals = {goal_of(r, RIDGE_SERVICE_TTFT),
                                       goal_of(r, RIDGE_SERVICE_TPOT),
                                       goal_of(r, RIDGE_SERVICE_E2E)};
    ridge_request_source source;
    ridge_serving_summary summary;
    RIDGE_TRY(ridge_request_draws_open(s->cx, &draws, &source));
    RIDGE_TRY(ridge_serving_play(s->cx, &s->deployment->play, &source, &goals, NULL,
                                 &summary));
    take(r, &summary, out);
    if (rate_per_s > 0)
        out->requests_per_s = rate_per_s;
    return RIDGE_OK;
}

/* ---- the rate that keeps the goals ------------------------------------------------
 */

static ridge_status find_rate(const stage *s, ridge_service_played *out)
{
    const double expected = s->price->requests_per_s;
    double low = RATE_LEAST * expected;
    double high = RATE_MOST * expected;
    ridge_service_played now;
    RIDGE_TRY(play(s, low, out));
    for (int i = 0; i < TRIES - 1 && out->is_kept; i++) {
        /* the closed form first: it is near */
        const double middle = i == 0 ? expected : sqrt(low * high);
        RIDGE_TRY(play(s, middle, &now));
        if (now.is_kept) {
            low = middle;
            *out = now;
        } else {
            high = middle;
        }
    }
    return RIDGE_OK;
}

static void set_money(const ridge_service_request *r, ridge_service_price *p)
{
    ridge_service_played *d = &p->played;
    const double tokens_per_s = d->requests_per_s * r->work.output_tokens;
    d->tokens_per_s_per_chip = tokens_per_s / p->paid_chips;
    if (tokens_per_s > 0)
        d->usd_per_million_tokens =
            r->usd_per_chip_hour * p->paid_chips / (RIDGE_HOUR_S * tokens_per_s) * 1e6;
}

static ridge_status play_one(ridge_ctx *cx, const ridge_service_request *r,
                             ridge_service_price *p)
{
    stage s;
    RIDGE_TRY(open_stage(cx, r, p, &s));
    if (r->requests_per_s > 0)
        return play(&s, r->requests_per_s, &p->played);
    return has_goals(r) ? find_rate(&s, &p->played) : play(&s, 0, &p->played);
}

static void run(void *payload, int64_t item, int worker)
{
    player *p = payload;
    ridge_ctx *cx = ridge_ctx_open();
    (void)worker;
    if (cx == NULL) {
        p->statuses[item] = RIDGE_E_NOMEM;
        return;
    }
    p->statuses[item] = play_one(cx, p->request, &p->prices[item]);
    if (p->statuses[item] == RIDGE_OK)
        set_money(p->request, &p->prices[item]);
    if (p->statuses[item] == RIDGE_E_ARG) /* what cannot be played is told as such */
        p->statuses[item] = RIDGE_OK;
    ridge_ctx_close(cx);
}

/* ---- order ------------------------------------------------------------------------
 */

ridge_service_price ridge_service_as_played(const ridge_service_price *price)
{
    const ridge_service_played *d = &price->played;
    ridge_service_price p = *price;
    if (!d->is_played)
        return p;
    p.requests_per_s = d->requests_per_s;
    p.tokens_per_s_per_chip = d->tokens_per_s_per_chip;
    p.tokens_per_s = d->tokens_per_s_per_chip * p.paid_chips;
    p.usd_per_million_tokens = d->usd_per_million_tokens;
    if (d->tokens_per_s_per_chip > 0)
        p.energy.joules_per_token = p.energy.meter_watts / d->tokens_per_s_per_chip;
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++)
        p.latency_s[i] = d->mean_s[i];
    return p;
}

static bool is_missed(const ridge_service_price *p)
{
    return p->played.is_played && !p->played.is_kept;
}

bool ridge_service_plays_better(ridge_service_aim aim, const ridge_service_price *a,
                                const ridge_service_price *b)
{
    if (is_missed(a) != is_missed(b))
        return is_missed(b);
    const ridge_service_price x = ridge_service_as_played(a);
    const ridge_service_price y = ridge_service_as_played(b);
    return ridge_service_is_better(aim, &x, &y);
}

/* What could not be played comes last. */
static bool comes_before(const ridge_service_request *r, const ridge_service_price *a,
                         const ridge_service_price *b)
{
    if (a->played.is_played != b->played.is_played)
        return a->played.is_played;
    return ridge_service_plays_better(r->aim, a, b);
}

static void sort(const ridge_service_request *r, ridge_service_price *prices, int n)
{
    for (int i = 1; i < n; i++) {
        const ridge_service_price p = prices[i];
        int at = i;
        for (; at > 0 && comes_before(r, &p, &prices[at - 1]); at--)
            prices[at] = prices[at - 1];
        prices[at] = p;
    }
}

/* The ranked ones, and those that plays may put before them. */
static ridge_service_price *gather(ridge_ctx *cx, const ridge_service_result *result,
                                   int *n)
{
    *n = result->n_layouts + result->n_varied;
    ridge_service_price *all =
        ridge_new(ridge_ctx_arena(cx), ridge_service_price, (size_t)*n + 1);
    for (int i = 0; all != NULL && i < *n; i++)
        all[i] = i < result->n_layouts ? result->layouts[i]
                                       : result->varied[i - result->n_layouts];
    return all;
}

ridge_status ridge_service_play(ridge_ctx *cx, const ridge_service_request *request,
                                ridge_service_result *result)
{
    int n;
    player p = {.request = request, .prices = gather(cx, result, &n)};
    p.statuses = ridge_new(ridge_ctx_arena(cx), ridge_status, (size_t)n + 1);
    if (p.prices == NULL || p.statuses == NULL)
        return ridge_fail_nomem(cx);
    const int workers =
        request->workers > 0 ? request->workers : ridge_processor_count();
    RIDGE_TRY(ridge_parallel(cx, workers, n, run, &p));
    if (ridge_ctx_is_cancelled(cx))
        return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled while playing requests");
    for (int i = 0; i < n; i++) {
        if (p.statuses[i] != RIDGE_OK)
            return ridge_fail_nomem(cx);
    }
    sort(request, p.prices, n);
    for (int i = 0; i < result->n_layouts; i++)
        result->layouts[i] = p.prices[i];
    return RIDGE_OK;
}

ridge_status ridge_service_play_by(ridge_ctx *cx, const ridge_service_request *request,
                                   ridge_service_play_rule rule,
                                   ridge_service_result *result)
{
    const bool is_asked = rule == RIDGE_SERVICE_PLAY_DUE &&
                          request->goals.quantile > 0 && !request->is_plain;
    if (is_asked && ridge_service_play_requests(request, result) > DUE_MOST)
        result->n_varied = 0;
    const bool is_due =
        is_asked && ridge_service_play_requests(request, result) <= DUE_MOST;
    return is_due || rule == RIDGE_SERVICE_PLAY_ALWAYS
               ? ridge_service_play(cx, request, result)
               : RIDGE_OK;
}
