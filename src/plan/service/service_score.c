/* Scores of aggregated services: latencies, rates, money, and which goal they miss. */
#include "service_score.h"

#include <math.h>

/* Beyond it the length of a queue is a matter of luck for hours. */
const double SERVICE_USE_MOST = 0.95;

enum { BISECTIONS = 56 };

/* More than any server holds. */
static const double BATCH_FAR = 1 << 20;

bool service_score_is_open(const ridge_service_request *r)
{
    return r->requests_per_s > 0 || r->goals.quantile > 0;
}

void service_server_open(const ridge_service_request *r, ridge_service_role role,
                         const ridge_serving_layout *layout, service_server *out)
{
    const ridge_draft *d = &layout->draft;
    const bool is_drafted = d->kind != RIDGE_DRAFT_NONE && d->depth > 0;
    *out = (service_server){.request = r, .layout = *layout};
    out->steady =
        (steady_case){.work = &r->work,
                      .engine = r->engine,
                      .role = role,
                      .budget_tokens = (double)layout->budget_tokens,
                      .verified = is_drafted ? (double)d->nodes + 1 : 1,
                      .yield = is_drafted ? steady_yield(d->accept, d->depth) : 1,
                      .attention_ranks = (double)layout->attention_dp,
                      .stages = (double)layout->pp,
                      .request_s = r->engine->request_s,
                      .is_open = service_score_is_open(r),
                      .quantile = r->goals.quantile};
}

void service_server_transfers(const ridge_serving_speed *speed, service_server *out)
{
    const double tokens = out->request->work.prompt_tokens;
    const double pages = ceil(tokens / (double)speed->block_tokens);
    out->transfer_bytes = pages * speed->block_bytes;
    out->transfer_bytes_per_s = speed->transfer_bytes_per_s;
    out->transfer_s = speed->transfer_s + speed->handoff_s;
}

bool service_server_run(const service_server *s, double batch, steady_shape *shape,
                        steady_times *times)
{
    steady_seconds t = {0};
    steady_shape_of(&s->steady, batch, shape);
    if (shape->is_saturated)
        return false;
    if (shape->decode.decode_sequences > 0)
        t.decode_s = s->iteration_s(s->payload, &shape->decode);
    if (shape->prefill.chunks > 0)
        t.prefill_s = s->iteration_s(s->payload, &shape->prefill);
    if (shape->prefill.chunks > 0 && s->steady.stages > 1)
        t.fuller_s = s->iteration_s(s->payload, &shape->fuller);
    steady_times_of(&s->steady, shape, batch, &t, times);
    return true;
}

/* A larger batch serves no fewer requests, or is saturated. */
bool service_server_load(const service_server *s, double requests_per_s, double most,
                         double *batch)
{
    steady_shape shape;
    steady_times times;
    double low = 0;
    double high = most;
    for (int i = 0; i < BISECTIONS && high - low > 1e-10 * high; i++) {
        const double middle = i == 0 ? high : (low + high) / 2;
        const bool runs = service_server_run(s, middle, &shape, &times);
        const bool is_enough = runs && times.requests_per_s >= requests_per_s;
        if (i == 0 && runs && !is_enough)
            return false;
        if (is_enough || !runs)
            high = middle;
        else
            low = middle;
    }
    *batch = high;
    return service_server_run(s, high, &shape, &times);
}

bool service_server_holds(const service_server *s, double batch, double prefilling,
                          double *use)
{
    const ridge_engine *e = s->request->engine;
    const bool is_reserved = e->preemption == RIDGE_PREEMPTION_RESERVE ||
                             e->batching == RIDGE_BATCHING_STATIC || e->is_slotted;
    const double slots = steady_slots(&s->steady, batch);
    const double there = s->memory.cache * (1 - e->watermark);
    const double most = steady_cache_bytes(&s->steady, &s->memory, fmax(1, slots),
                                           prefilling, is_reserved);
    const double mean =
        steady_cache_bytes(&s->steady, &s->memory, batch, prefilling, is_reserved);
    *use = there > 0 ? mean / there : 1;
    return s->memory.fits && most <= there;
}

int64_t service_server_sequences(const service_server *s, double batch,
                                 double prefilling)
{
    const double slots =
        ceil(steady_slots(&s->steady, batch) - 1e-9) + ceil(prefilling);
    return (int64_t)(fmax(1, slots) * s->steady.attention_ranks * s->steady.stages);
}

/* ---- prices ---------------------------------------------------------------------- */

double service_score_judged_s(const ridge_service_request *r,
                              const ridge_service_price *p,
                              ridge_service_latency latency)
{
    return r->goals.quantile > 0 ? p->quantile_s[latency] : p->latency_s[latency];
}

static ridge_service_fit missed_goal(const ridge_service_request *r,
                                     const ridge_service_price *p)
{
    static const ridge_service_fit fits[] = {
        RIDGE_SERVICE_FIT_TTFT, RIDGE_SERVICE_FIT_TPOT, RIDGE_SERVICE_FIT_E2E};
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (service_score_judged_s(r, p, (ridge_service_latency)i) > r->goals.most_s[i])
            return fits[i];
    }
    return RIDGE_SERVICE_FIT_OK;
}

/* Chips of the slice that are idle are paid, unless a rate says how many are needed. */
static double paid_chips(const ridge_service_request *r, const ridge_service_price *p)
{
    return r->requests_per_s > 0 ? (double)p->chips : (double)r->slice->chips;
}

void service_score_finish(const ridge_service_request *r, ridge_service_price *p)
{
    p->chips = ridge_service_choice_chips(&p->choice);
    p->paid_chips = paid_chips(r, p);
    p->tokens_per_s = p->requests_per_s * r->work.output_tokens;
    p->tokens_per_s_per_chip = p->tokens_per_s / p->paid_chips;
    p->user_tokens_per_s =
        p->latency_s[RIDGE_SERVICE_TPOT] > 0 ? 1 / p->latency_s[RIDGE_SERVICE_TPOT] : 0;
    p->concurrency = p->requests_per_s * p->latency_s[RIDGE_SERVICE_E2E];
    p->usd_per_million_tokens =
        r->usd_per_chip_hour * p->paid_chips / (RIDGE_HOUR_S * p->tokens_per_s) * 1e6;
    if (p->fit == RIDGE_SERVICE_FIT_OK)
        p->fit = missed_goal(r, p);
}

static void set_means(const service_server *s, const steady_shape *shape,
                      const steady_times *t, ridge_service_price *p)
{
    p->wait = (ridge_service_wait){.request_s = s->steady.request_s,
                                   .queue_s = t->queue_s,
                                   .iteration_s = t->residual_s};
    p->latency_s[RIDGE_SERVICE_TTFT] =
        s->steady.request_s + t->queue_s + t->residual_s + t->prefill_s;
    p->latency_s[RIDGE_SERVICE_TPOT] = t->tpot_s;
    p->latency_s[RIDGE_SERVICE_E2E] = p->latency_s[RIDGE_SERVICE_TTFT] + t->decode_s;
    p->iteration_s = t->iteration_s;
    p->stages_s = t->wait_s;
    p->yield = s->steady.yield;
    const bool is_static = s->steady.engine->batching == RIDGE_BATCHING_STATIC;
    if (!is_static) /* prompts of a static batch come before its tokens */
        p->mixed =
            shape->prefill_weight / (shape->decode_weight + shape->prefill_weight);
    p->chunks = shape->chunks;
    p->use = t->use;
}

/* Two independent excesses over the means. */
static double joint_s(double mean_s, double a_s, double b_s)
{
    return mean_s + sqrt(a_s * a_s + b_s * b_s);
}

static bool set_quantiles(const service_server *s, double batch, ridge_service_price *p)
{
    steady_shape shape;
    steady_times t;
    if (s->steady.quantile <= 0)
        return true;
    if (!service_server_run(s, steady_batch_quantile(&s->steady, batch), &shape, &t))
        return false;
    double *q = p->quantile_s;
    const double queue_s =
        steady_queue_s(s->steady.is_open, p->use, t.service_s, 1, s->steady.quantile);
    q[RIDGE_SERVICE_TTFT] =
        s->steady.request_s + queue_s + t.residual_quantile_s + t.prefill_s;
    q[RIDGE_SERVICE_TPOT] = t.tpot_s;
    const double more_s = t.decode_s - (p->latency_s[RIDGE_SERVICE_E2E] -
                                        p->latency_s[RIDGE_SERVICE_TTFT]);
    q[RIDGE_SERVICE_E2E] =
        joint_s(p->latency_s[RIDGE_SERVICE_E2E],
                q[RIDGE_SERVICE_TTFT] - p->latency_s[RIDGE_SERVICE_TTFT], more_s);
    return true;
}

static ridge_service_fit score(const service_server *s, double batch, int64_t servers,
                               ridge_service_price *p)
{
    const ridge_service_request *r = s->request;
    steady_shape shape;
    steady_times t;
    if (r->requests_per_s > 0 &&
        !service_server_load(s, r->requests_per_s / (double)servers, BATCH_FAR, &batch))
        return RIDGE_SERVICE_FIT_RATE;
    if (!service_server_run(s, batch, &shape, &t) ||
        (s->steady.is_open && t.use > SERVICE_USE_MOST))
        return RIDGE_SERVICE_FIT_SATURATED;
    set_means(s, &shape, &t, p);
    p->requests_per_s = t.requests_per_s * (double)servers;
    const double ranks = s->steady.attention_ranks * s->steady.stages;
    const double prefilling =
        shape.is_alone ? 0 : t.requests_per_s / ranks * (t.prefill_s + t.queue_s);
    if (shape.is_alone)
        batch = t.requests_per_s / ranks * t.decode_s;
    const double held = shape.iterations > 0 ? batch : 0;
    const bool holds =
        service_server_holds(s, held, fmin(prefilling, fmax(1, batch)), &p->cache_use);
    p->choice.pools[0].batch = batch;
    p->choice.pools[0].layout.sequences =
        service_server_sequences(s, held, fmin(prefilling, fmax(1, batch)));
    if (!set_quantiles(s, batch, p))
        return RIDGE_SERVICE_FIT_SATURATED;
    return holds ? RIDGE_SERVICE_FIT_OK : RIDGE_SERVICE_FIT_CACHE;
}

void service_score_one(const service_server *s, double batch, int64_t servers,
                       ridge_service_price *out)
{
    *out = (ridge_service_price){
        .choice = {.mode = RIDGE_SERVICE_MODE_AGGREGATED, .n_pools = 1}};
    out->choice.pools[0] = (ridge_service_pool){.role = RIDGE_SERVICE_ROLE_BOTH,
                                                .layout = s->layout,
                                                .servers = servers,
                                                .batch = batch};
    out->fit = score(s, batch, servers, out);
    if (out->requests_per_s > 0)
        service_score_finish(s->request, out);
}

bool service_score_is_real(const ridge_service_price *p)
{
    return p->tokens_per_s > 0 && p->fit != RIDGE_SERVICE_FIT_CACHE &&
           p->fit != RIDGE_SERVICE_FIT_SATURATED;
}
