#include "service_finish.h"

#include "service_energy.h"
#include "service_pair.h"

#include <math.h>

enum { SMALLER_MOST = 12 };

/* A server whose iterations are priced, and what went wrong meanwhile. */
typedef struct priced {
    const service_source *source;
    service_server server;
    ridge_status status;
} priced;

static double step_s(void *payload, const ridge_serving_load *load)
{
    priced *p = payload;
    ridge_serving_step step = {.expected_s = 0};
    if (p->status == RIDGE_OK)
        p->status = p->source->step(p->source->payload, &p->server.layout, load, &step);
    return p->status == RIDGE_OK ? step.expected_s : 1;
}

/* A layout that is not legal has no price. @return false: why is in @p fit */
static bool open_pool(const service_source *source, const ridge_service_request *r,
                      const ridge_service_pool *pool, priced *p, ridge_service_fit *fit)
{
    *p = (priced){.source = source};
    service_server_open(r, pool->role, &pool->layout, &p->server);
    p->server.iteration_s = step_s;
    p->server.payload = p;
    *fit = RIDGE_SERVICE_FIT_LAYOUT;
    if (source->fault(source->payload, &pool->layout) != NULL)
        return false;
    p->status = source->memory(source->payload, &pool->layout, &p->server.memory);
    if (p->status != RIDGE_OK)
        return false;
    *fit = RIDGE_SERVICE_FIT_WEIGHTS;
    return p->server.memory.fits;
}

/* Of the smallest tables: what a transfer takes does not hang on them. */
static ridge_status add_transfers(priced *p)
{
    ridge_serving_speed speed;
    ridge_serving_layout l = p->server.layout;
    l.sequences = l.attention_dp * l.pp;
    l.budget_tokens = 1;
    RIDGE_TRY(p->source->speed(p->source->payload, &l, &speed));
    service_server_transfers(&speed, &p->server);
    return RIDGE_OK;
}

/* ---- details --------------------------------------------------------------------- */

/* Both kinds of iterations of a pool; loads that are empty leave their step empty. */
static ridge_status set_steps(const priced *p, double batch, ridge_service_price *out)
{
    const service_source *source = p->source;
    steady_shape shape;
    steady_shape_of(&p->server.steady, batch, &shape);
    const ridge_serving_layout *l = &p->server.layout;
    if (shape.decode.decode_sequences > 0) {
        RIDGE_TRY(source->step(source->payload, l, &shape.decode, &out->decode));
        out->decode_load = shape.decode;
    }
    if (shape.prefill.chunks > 0) {
        RIDGE_TRY(source->step(source->payload, l, &shape.prefill, &out->prefill));
        out->prefill_load = shape.prefill;
        out->chunks = shape.chunks;
    }
    return RIDGE_OK;
}

/* Iterations at their bounds, without waiting. */
static void set_bounds(const ridge_service_request *r, double decode_weight,
                       double prefill_weight, ridge_service_price *p)
{
    const double n = (r->work.output_tokens - 1) / p->yield;
    const double iteration_s =
        decode_weight * p->decode.bound_s + prefill_weight * p->prefill.bound_s;
    p->bound_s[RIDGE_SERVICE_TTFT] = p->chunks * p->prefill.bound_s;
    p->bound_s[RIDGE_SERVICE_TPOT] = iteration_s / p->yield;
    p->bound_s[RIDGE_SERVICE_E2E] = p->bound_s[RIDGE_SERVICE_TTFT] + n * iteration_s;
    p->bound_tokens_per_s_per_chip =
        iteration_s > 0
            ? p->tokens_per_s_per_chip * p->iteration_s / iteration_s
            : p->tokens_per_s_per_chip * p->prefill.expected_s / p->prefill.bound_s;
}

static void set_weights(ridge_service_price *p, const ridge_service_request *r,
                        const steady_shape *shape)
{
    set_bounds(r, shape->iterations > 0 ? shape->decode_weight : 0,
               shape->iterations > 0 ? shape->prefill_weight : 0, p);
    if (shape->is_alone && p->bound_s[RIDGE_SERVICE_E2E] > 0)
        p->bound_tokens_per_s_per_chip = p->tokens_per_s_per_chip /
                                         (p->requests_per_s / p->concurrency) /
                                         p->bound_s[RIDGE_SERVICE_E2E];
    p->is_detailed = true;
    p->energy = service_energy_of(r, p);
}

/* ---- one pool -------------------------------------------------------------------- */

static ridge_status price_one_pool(const service_source *source,
                                   const ridge_service_request *r,
                                   const ridge_service_choice *choice,
                                   ridge_service_price *out)
{
    priced p;
    steady_shape shape;
    const ridge_service_pool *pool = &choice->pools[0];
    ridge_service_fit fit;
    if (!open_pool(source, r, pool, &p, &fit)) {
        *out = (ridge_service_price){.choice = *choice, .fit = fit};
        out->memory[0] = p.server.memory;
        return p.status;
    }
    service_score_one(&p.server, pool->batch, pool->servers, out);
    RIDGE_TRY(p.status);
    out->memory[0] = p.server.memory;
    const double batch = out->choice.pools[0].batch;
    steady_shape_of(&p.server.steady, batch, &shape);
    if (shape.is_saturated)
        return RIDGE_OK;
    RIDGE_TRY(set_steps(&p, batch, out));
    set_weights(out, r, &shape);
    return RIDGE_OK;
}

/* ---- two pools ------------------------------------------------------------------- */

/* The decode batch that the rate of the whole service makes. */
static ridge_status settle(const ridge_service_request *r,
                           const service_option *prefill, priced *d,
                           const ridge_service_choice *choice, ridge_service_price *out)
{
    service_option decode;
    double batch = choice->pools[1].batch;
    const double rate = out->requests_per_s / (double)choice->pools[1].servers;
    if (out->decode_use > 1 - 1e-6 ||
        !service_server_load(&d->server, rate, batch, &batch))
        return d->status;
    if (service_pair_option(&d->server, batch, &decode) != RIDGE_SERVICE_FIT_OK)
        return d->status;
    decode.requests_per_s *= 1 + 1e-9; /* a root is met from below */
    ridge_service_price settled;
    ridge_service_request at_rate = *r;
    at_rate.requests_per_s = out->requests_per_s;
    service_pair_score(&at_rate, prefill, &decode, choice->pools[0].servers,
                       choice->pools[1].servers, &settled);
    if (settled.fit == RIDGE_SERVICE_FIT_RATE)
        return d->status;
    settled.decode_use = out->decode_use;
    settled.choice.pools[1].batch = batch;
    *out = settled;
    if (r->requests_per_s <= 0)
        service_score_finish(r, out);
    return d->status;
}

static ridge_status price_pools(const ridge_service_request *r,
                                const ridge_service_choice *choice, priced *p,
                                priced *d, ridge_service_price *out)
{
    service_option prefill;
    service_option decode;
    RIDGE_TRY(add_transfers(p));
    RIDGE_TRY(add_transfers(d));
    ridge_service_fit fit =
        service_pair_option(&p->server, choice->pools[0].batch, &prefill);
    if (fit == RIDGE_SERVICE_FIT_OK)
        fit = service_pair_option(&d->server, choice->pools[1].batch, &decode);
    RIDGE_TRY(p->status);
    RIDGE_TRY(d->status);
    out->fit = fit;
    if (fit != RIDGE_SERVICE_FIT_OK)
        return RIDGE_OK;
    service_pair_score(r, &prefill, &decode, choice->pools[0].servers,
                       choice->pools[1].servers, out);
    if (out->requests_per_s <= 0)
        return RIDGE_OK;
    return settle(r, &prefill, d, choice, out);
}

static ridge_status price_two_pools(const service_source *source,
                                    const ridge_service_request *r,
                                    const ridge_service_choice *choice,
                                    ridge_service_price *out)
{
    priced p;
    priced d;
    ridge_service_fit fit = RIDGE_SERVICE_FIT_OK;
    *out = (ridge_service_price){.choice = *choice};
    const bool is_open = open_pool(source, r, &choice->pools[0], &p, &fit);
    RIDGE_TRY(p.status);
    out->memory[0] = p.server.memory;
    out->fit = fit;
    if (!is_open)
        return RIDGE_OK;
    const bool is_two = open_pool(source, r, &choice->pools[1], &d, &fit);
    RIDGE_TRY(d.status);
    out->memory[1] = d.server.memory;
    out->fit = fit;
    if (!is_two)
        return RIDGE_OK;
    RIDGE_TRY(price_pools(r, choice, &p, &d, out));
    out->memory[0] = p.server.memory;
    out->memory[1] = d.server.memory;
    if (out->requests_per_s <= 0)
        return RIDGE_OK;
    out->yield = d.server.steady.yield;
    RIDGE_TRY(set_steps(&p, out->choice.pools[0].batch, out));
    const double chunks = out->chunks;
    RIDGE_TRY(set_steps(&d, out->choice.pools[1].batch, out));
    out->chunks = chunks;
    out->iteration_s = out->decode.expected_s;
    set_bounds(r, 1, 0, out);
    out->is_detailed = true;
    out->energy = service_energy_of(r, out);
    return RIDGE_OK;
}

ridge_status service_finish_price(ridge_ctx *cx, const service_source *source,
                                  const ridge_service_request *request,
                                  const ridge_service_choice *choice,
                                  ridge_service_price *out)
{
    if (ridge_service_choice_chips(choice) > request->slice->chips) {
        *out = (ridge_service_price){.choice = *choice, .fit = RIDGE_SERVICE_FIT_CHIPS};
        return RIDGE_OK;
    }
    const ridge_status st = choice->n_pools == 1
                                ? price_one_pool(source, request, choice, out)
                                : price_two_pools(source, request, choice, out);
    return st == RIDGE_E_NOMEM ? ridge_fail_nomem(cx) : st;
}

ridge_status service_finish_kept(ridge_ctx *cx, const service_source *source,
                                 const ridge_service_request *request,
                                 const ridge_service_choice *choice,
                                 ridge_service_price *out)
{
    ridge_service_choice c = *choice;
    ridge_service_pool *last = &c.pools[c.n_pools - 1];
    RIDGE_TRY(service_finish_price(cx, source, request, &c, out));
    for (int i = 0; i < SMALLER_MOST && out->fit != RIDGE_SERVICE_FIT_OK; i++) {
        if (request->requests_per_s > 0 || last->batch <= 1)
            break;
        last->batch = fmax(1, floor(last->batch * 0.98 - 1e-9));
        RIDGE_TRY(service_finish_price(cx, source, request, &c, out));
    }
    return RIDGE_OK;
}

/* ---- parts ----------------------------------------------------------------------- */

double ridge_service_tpot_part(const ridge_service_price *p, int part)
{
    const double weight = service_prefill_weight(p);
    const bool is_mixed = p->prefill_load.decode_sequences > 0;
    const double decode = is_mixed ? 1 - weight : 1;
    if (p->latency_s[RIDGE_SERVICE_TPOT] <= 0)
        return 0;
    if (part == RIDGE_SERVING_PART_STAGES)
        return p->stages_s / p->yield;
    return (decode * p->decode.parts_s[part] + weight * p->prefill.parts_s[part]) /
           p->yield;
}

double ridge_service_tpot_prefill(const ridge_service_price *p, int part)
{
    if (p->latency_s[RIDGE_SERVICE_TPOT] <= 0)
        return 0;
    return ridge_service_tpot_part(p, part) - p->decode.parts_s[part] / p->yield;
}

double ridge_service_ttft_part(const ridge_service_price *p, int part)
{
    return p->chunks * p->prefill.parts_s[part];
}
