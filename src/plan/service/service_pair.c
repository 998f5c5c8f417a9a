#include "service_bound.h"

#include <math.h>

enum { BISECTIONS = 24 };

/* Rates that are met are met within it. */
static const double EDGE = 1e-9;

/* ---- one server ------------------------------------------------------------------ */

static void set_transfer(const service_server *s, service_option *out)
{
    out->transfer_bytes = s->transfer_bytes;
    out->transfer_bytes_per_s = s->transfer_bytes_per_s;
    out->transfer_s = s->transfer_s;
    out->transfer_ranks = s->steady.attention_ranks;
}

static bool set_quantile(const service_server *s, double batch, service_option *out)
{
    steady_shape shape;
    steady_times t;
    out->latency_quantile_s = out->latency_s;
    out->tpot_quantile_s = out->tpot_s;
    if (s->steady.role != RIDGE_SERVICE_ROLE_DECODE || s->steady.quantile <= 0)
        return true;
    if (!service_server_run(s, steady_batch_quantile(&s->steady, batch), &shape, &t))
        return false;
    out->latency_quantile_s = t.decode_s;
    out->tpot_quantile_s = t.tpot_s;
    return true;
}

ridge_service_fit service_pair_option(const service_server *s, double batch,
                                      service_option *out)
{
    steady_shape shape;
    steady_times t;
    const bool is_decode = s->steady.role == RIDGE_SERVICE_ROLE_DECODE;
    *out = (service_option){.layout = &s->layout,
                            .budget_tokens = s->layout.budget_tokens,
                            .chips = ridge_serving_layout_chips(&s->layout),
                            .batch = batch};
    set_transfer(s, out);
    if (out->transfer_bytes_per_s <= 0)
        return RIDGE_SERVICE_FIT_TRANSFER;
    if (!service_server_run(s, batch, &shape, &t) ||
        (is_decode && batch * s->steady.verified > s->steady.budget_tokens))
        return RIDGE_SERVICE_FIT_SATURATED;
    const double held = is_decode ? batch : 0;
    const double prefilling = is_decode ? 0 : shape.prompts;
    if (!service_server_holds(s, held, prefilling, &out->cache_use))
        return RIDGE_SERVICE_FIT_CACHE;
    out->sequences = service_server_sequences(s, held, prefilling);
    out->requests_per_s = t.requests_per_s;
    out->latency_s = is_decode ? t.decode_s : t.prefill_s;
    out->tpot_s = t.tpot_s;
    return set_quantile(s, batch, out) ? RIDGE_SERVICE_FIT_OK
                                       : RIDGE_SERVICE_FIT_SATURATED;
}

/* ---- two pools ------------------------------------------------------------------- */

typedef struct pair {
    const ridge_service_request *r;
    const service_option *p, *d;
    double n_p, n_d;
    double transfer_s;
    bool is_open;
} pair;

/* Below its full batch a decode pool is as fast as at the batch that its load makes:
 * between this one and the next smaller. @return times of that of the full batch */
static double lighter(const pair *t, double use)
{
    const service_option *d = t->d;
    const double per_s = use * t->n_p * t->p->requests_per_s / t->n_d;
    if (d->before_per_s <= 0 || d->before_tpot_s <= 0 ||
        d->before_per_s >= d->requests_per_s)
        return 1;
    const double share =
        (per_s - d->before_per_s) / (d->requests_per_s - d->before_per_s);
    const double tpot_s =
        d->before_tpot_s + fmin(1, fmax(0, share)) * (d->tpot_s - d->before_tpot_s);
    return tpot_s / d->tpot_s;
}

static void set_latencies(const pair *t, double use, ridge_service_price *out)
{
    const ridge_service_request *r = t->r;
    const double light = lighter(t, use);
    const double service_s = 1 / t->p->requests_per_s;
    double *mean = out->latency_s;
    double *high = out->quantile_s;
    out->use = use;
    out->wait = (ridge_service_wait){
        .request_s = r->engine->request_s,
        .queue_s = steady_queue_s(t->is_open, use, service_s, t->n_p, 0),
        .iteration_s = service_joining_s(r, t->d, t->d->tpot_s * light),
        .transfer_s = t->transfer_s};
    const double rest_s =
        r->engine->request_s + t->p->latency_s + t->transfer_s + out->wait.iteration_s;
    mean[RIDGE_SERVICE_TTFT] = rest_s + out->wait.queue_s;
    mean[RIDGE_SERVICE_TPOT] = t->d->tpot_s * light;
    mean[RIDGE_SERVICE_E2E] = mean[RIDGE_SERVICE_TTFT] + t->d->latency_s * light;
    if (r->goals.quantile <= 0)
        return;
    high[RIDGE_SERVICE_TTFT] =
        rest_s + steady_queue_s(t->is_open, use, service_s, t->n_p, r->goals.quantile);
    high[RIDGE_SERVICE_TPOT] = t->d->tpot_quantile_s * light;
    const double wait_s = high[RIDGE_SERVICE_TTFT] - mean[RIDGE_SERVICE_TTFT];
    const double more_s = (t->d->latency_quantile_s - t->d->latency_s) * light;
    high[RIDGE_SERVICE_E2E] =
        mean[RIDGE_SERVICE_E2E] + sqrt(wait_s * wait_s + more_s * more_s);
}

static bool keeps_goals(const pair *t, double use, ridge_service_price *out)
{
    set_latencies(t, use, out);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (service_score_judged_s(t->r, out, (ridge_service_latency)i) >
            t->r->goals.most_s[i])
            return false;
    }
    return true;
}

/* The queue grows with the prefill's use: the most that keeps the goals. */
static double use_most(const pair *t, double most, ridge_service_price *out)
{
    double low = 0;
    double high = most;
    if (!t->is_open || keeps_goals(t, most, out) || !keeps_goals(t, 0, out))
        return most;
    for (int i = 0; i < BISECTIONS; i++) {
        const double middle = (low + high) / 2;
        if (keeps_goals(t, middle, out))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Requests that the network between the pools takes. */
static double transfers_per_s(const pair *t)
{
    const double out = t->n_p * t->p->transfer_ranks * t->p->transfer_bytes_per_s;
    const double in = t->n_d * t->d->transfer_ranks * t->d->transfer_bytes_per_s;
    return t->p->transfer_bytes > 0 ? fmin(out, in) / t->p->transfer_bytes
                                    : (double)INFINITY;
}

static ridge_service_fit set_rate(const pair *t, ridge_service_price *out)
{
    const double prefill = t->n_p * t->p->requests_per_s;
    const double decode = t->n_d * t->d->requests_per_s;
    const double network = transfers_per_s(t);
    const double wanted = t->r->requests_per_s;
    const double most = t->is_open ? SERVICE_USE_MOST : 1;
    const double needed = fmin(decode, network) / prefill;
    double use = use_most(t, fmin(most, needed), out);
    if (wanted > 0) {
        const double least = wanted * (1 - EDGE);
        if (least > decode || least > prefill * most)
            return RIDGE_SERVICE_FIT_RATE;
        if (least > network)
            return RIDGE_SERVICE_FIT_TRANSFER;
        use = wanted / prefill;
    }
    set_latencies(t, use, out);
    out->requests_per_s = use * prefill;
    out->decode_use = out->requests_per_s / decode;
    return RIDGE_SERVICE_FIT_OK;
}

static ridge_service_pool pool_of(const service_option *o, ridge_service_role role,
                                  int64_t servers)
{
    ridge_service_pool pool = {role, *o->layout, servers, o->batch};
    pool.layout.budget_tokens = o->budget_tokens;
    pool.layout.sequences = o->sequences;
    return pool;
}

void service_pair_score(const ridge_service_request *r, const service_option *p,
                        const service_option *d, int64_t n_prefill, int64_t n_decode,
                        ridge_service_price *out)
{
    const pair t = {.r = r,
                    .p = p,
                    .d = d,
                    .n_p = (double)n_prefill,
                    .n_d = (double)n_decode,
                    .transfer_s = service_transfer_s(p, d),
                    .is_open = service_score_is_open(r)};
    *out = (ridge_service_price){
        .choice = {.mode = RIDGE_SERVICE_MODE_DISAGGREGATED, .n_pools = 2}};
    out->choice.pools[0] = pool_of(p, RIDGE_SERVICE_ROLE_PREFILL, n_prefill);
    out->choice.pools[1] = pool_of(d, RIDGE_SERVICE_ROLE_DECODE, n_decode);
    out->cache_use = d->cache_use;
    out->iteration_s = d->tpot_s;
    out->yield = 1;
    out->fit = set_rate(&t, out);
    if (out->fit == RIDGE_SERVICE_FIT_OK)
        service_score_finish(r, out);
}

/* ---- all pairs ------------------------------------------------------------------- */

static service_seat seat_of(const service_option *o, int64_t servers)
{
    return (service_seat){o->layout, o->budget_tokens, o->sequences, servers, o->batch};
}

static bool add_points(service_pair_search *s, const service_option *p,
                       const service_option *d, const ridge_service_price *price)
{
    const ridge_service_pool *pools = price->choice.pools;
    const service_point point = {
        .n_pools = 2,
        .pools = {seat_of(p, pools[0].servers), seat_of(d, pools[1].servers)},
        .tpot_s = price->latency_s[RIDGE_SERVICE_TPOT],
        .e2e_s = price->latency_s[RIDGE_SERVICE_E2E],
        .tokens_per_s_per_chip = price->tokens_per_s_per_chip,
        .order = (int)(s->covered < INT32_MAX ? s->covered : INT32_MAX)};
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    return service_points_add(arena, s->speed_front, &point, false) &&
           service_points_add(arena, s->cost_front, &point, true);
}

static bool try_pair(service_pair_search *s, const service_option *p,
                     const service_option *d, int64_t n_p, int64_t n_d,
                     ridge_service_price *best)
{
    const ridge_service_aim aim = s->request->aim;
    ridge_service_price price;
    s->covered++;
    s->priced++;
    service_pair_score(s->request, p, d, n_p, n_d, &price);
    s->near(s->payload, &price);
    const bool is_better = price.fit == RIDGE_SERVICE_FIT_OK &&
                           (best->fit != RIDGE_SERVICE_FIT_OK ||
                            ridge_service_is_better(aim, &price, best));
    if (is_better || best->choice.n_pools == 0)
        *best = price;
    if (s->request->is_plain)
        return true;
    if (s->request->requests_per_s > 0)
        service_pair_score(s->whole, p, d, n_p, n_d, &price);
    return price.requests_per_s <= 0 || add_points(s, p, d, &price);
}

/* Decode servers beside n_p that prefill: all there is room for, or by the rate. */
static int64_t decode_servers(const service_pair_search *s, const service_option *d,
                              int64_t room)
{
    const ridge_service_request *r = s->request;
    const int64_t asked = r->knobs.pools[RIDGE_SERVICE_ROLE_DECODE].servers;
    const int64_t most = room / d->chips;
    if (asked > 0)
        return asked <= most ? asked : 0;
    if (r->requests_per_s <= 0 || r->aim == RIDGE_SERVICE_AIM_LATENCY)
        return most;
    const double needed = fmax(1, ceil(r->requests_per_s / d->requests_per_s - 1e-9));
    return needed <= (double)most ? (int64_t)needed : most;
}

/* More prefill servers would only take room from decode servers that are all in use,
 * or chips that the rate does not need. */
static bool is_settled(const ridge_service_request *r, const ridge_service_price *best)
{
    if (best->fit != RIDGE_SERVICE_FIT_OK || r->aim == RIDGE_SERVICE_AIM_LATENCY)
        return false;
    return r->requests_per_s > 0 || best->decode_use > 1 - 1e-9;
}

static bool run_pair(service_pair_search *s, const service_option *p,
                     const service_option *d)
{
    const ridge_service_request *r = s->request;
    const int64_t chips = r->slice->chips;
    const int64_t asked = r->knobs.pools[RIDGE_SERVICE_ROLE_PREFILL].servers;
    ridge_service_price best = {.fit = RIDGE_SERVICE_FIT_RATE};
    int64_t n_p = asked > 0 ? asked : 1;
    for (; n_p * p->chips + d->chips <= chips; n_p++) {
        const int64_t n_d = decode_servers(s, d, chips - n_p * p->chips);
        if (n_d > 0 && !try_pair(s, p, d, n_p, n_d, &best))
            return false;
        if (asked > 0 || is_settled(r, &best))
            break;
    }
    if (best.fit == RIDGE_SERVICE_FIT_OK) {
        service_ranking_insert(s->ranking, &best);
        service_variety_insert(s->variety, &best);
    }
    return true;
}

/* All partners of a prefill server, but for those whose bound decides. */
static bool run_prefill(service_pair_search *s, const service_option *p,
                        service_partners *partners)
{
    const int64_t numbers = s->request->slice->chips / p->chips;
    service_partners_mark(s, p, partners);
    for (int k = 0; k < partners->n; k++) {
        if (!partners->is_wanted[k] || service_bound_excludes(s, p, partners, k))
            s->covered += numbers;
        else if (!run_pair(s, p, &partners->of[k]))
            return false;
    }
    return true;
}

static ridge_status run_format(service_pair_search *s, int format)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    service_options prefill, decode;
    service_partners partners;
    if (!service_shelves_of(arena, s->prefill, format, &prefill) ||
        !service_shelves_of(arena, s->decode, format, &decode))
        return ridge_fail_nomem(s->cx);
    RIDGE_TRY(service_partners_open(s, &decode, &partners));
    for (int i = 0; i < prefill.n; i++) {
        if (!run_prefill(s, &prefill.of[i], &partners))
            return ridge_fail_nomem(s->cx);
        s->show(s->payload,
                (format + (double)i / prefill.n) / s->request->knobs.n_formats);
        if (ridge_ctx_is_cancelled(s->cx))
            return ridge_fail(s->cx, RIDGE_E_CANCELLED, "cancelled during the search");
    }
    return RIDGE_OK;
}

ridge_status service_pair_run(service_pair_search *s)
{
    for (int format = 0; format < s->request->knobs.n_formats; format++)
        RIDGE_TRY(run_format(s, format));
    return RIDGE_OK;
}
