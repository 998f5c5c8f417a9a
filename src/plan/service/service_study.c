/* A deployment at other batches and contexts, and where its bounds meet. */
#include "service_finish.h"
#include "service_score.h"

#include "ridge/plan_service_study.h"
#include "ridge/plan_serving_roofline.h"

#include <math.h>

enum { BISECTIONS = 40 };

static const double BATCH_FAR = 1 << 20;

/* The pool that decodes, of one server. */
typedef struct decoder {
    const ridge_service_request *request;
    service_source source;
    ridge_service_pool pool;
    service_server server;
    double ranks; /* attention ranks and stages of all servers */
} decoder;

static ridge_status open(ridge_ctx *cx, const ridge_service_request *r,
                         const ridge_service_choice *choice, decoder *out)
{
    *out = (decoder){.request = r, .pool = choice->pools[choice->n_pools - 1]};
    RIDGE_TRY(service_source_desk(cx, r, &out->source));
    const char *fault = out->source.fault(out->source.payload, &out->pool.layout);
    if (fault != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "%s", fault);
    service_server_open(r, out->pool.role, &out->pool.layout, &out->server);
    RIDGE_TRY(out->source.memory(out->source.payload, &out->pool.layout,
                                 &out->server.memory));
    const ridge_serving_layout *l = &out->pool.layout;
    out->ranks = (double)(l->attention_dp * l->pp * out->pool.servers);
    return RIDGE_OK;
}

static double context_of(const decoder *d)
{
    const ridge_service_work *w = &d->request->work;
    return w->context_tokens > 0 ? w->context_tokens
                                 : w->prompt_tokens + w->output_tokens / 2;
}

static ridge_status step(const decoder *d, double batch, ridge_serving_step *out)
{
    const ridge_serving_load load = {.decode_sequences = batch,
                                     .decode_context = context_of(d)};
    return d->source.step(d->source.payload, &d->pool.layout, &load, out);
}

/* ---- sweeps ---------------------------------------------------------------------- */

static ridge_status set_step(const decoder *d, ridge_service_point *p)
{
    ridge_serving_step s = {.expected_s = 0};
    RIDGE_TRY(step(d, p->batch, &s));
    const double chips = (double)d->request->slice->chips;
    p->step_s = s.expected_s;
    p->bound_step_s = s.bound_s;
    p->bound_by = s.bound_by;
    p->step_tokens_per_s_per_chip =
        p->sequences * d->server.steady.yield / s.expected_s / chips;
    return RIDGE_OK;
}

static void set_memory(const decoder *d, ridge_service_point *p)
{
    const ridge_serving_memory *m = &d->server.memory;
    double use;
    const bool holds = service_server_holds(&d->server, p->batch, 0, &use);
    p->cache_bytes = d->server.steady.stages * p->batch *
                     (p->context * m->cache_bytes_per_token + m->state_bytes);
    p->memory_bytes =
        m->weights + m->activations + m->reserve + m->draft + p->cache_bytes;
    p->fits = holds;
}

static ridge_status sweep_one(ridge_ctx *cx, const ridge_service_request *r,
                              const ridge_service_choice *choice,
                              ridge_service_point *p)
{
    decoder d;
    RIDGE_TRY(open(cx, r, choice, &d));
    p->batch = d.pool.batch;
    p->sequences = p->batch * d.ranks;
    p->context = context_of(&d);
    set_memory(&d, p);
    if (r->work.output_tokens > 1)
        RIDGE_TRY(set_step(&d, p));
    RIDGE_TRY(service_finish_price(cx, &d.source, r, choice, &p->price));
    p->fits = p->fits && p->price.fit != RIDGE_SERVICE_FIT_CACHE;
    if (!p->fits)
        p->price.tokens_per_s = 0; /* what has no room serves nobody */
    return RIDGE_OK;
}

ridge_status ridge_service_sweep(ridge_ctx *cx, const ridge_service_request *request,
                                 const ridge_service_choice *choice,
                                 const double *batches, int n, ridge_service_point *out)
{
    ridge_service_request whole = *request;
    whole.requests_per_s = 0;
    for (int i = 0; i < n; i++) {
        ridge_service_choice c = *choice;
        out[i] = (ridge_service_point){.batch = batches[i]};
        c.pools[c.n_pools - 1].batch = batches[i];
        RIDGE_TRY(sweep_one(cx, &whole, &c, &out[i]));
    }
    return RIDGE_OK;
}

ridge_status ridge_service_sweep_context(ridge_ctx *cx,
                                         const ridge_service_request *request,
                                         const ridge_service_choice *choice,
                                         const double *contexts, int n,
                                         ridge_service_point *out)
{
    for (int i = 0; i < n; i++) {
        ridge_service_request whole = *request;
        whole.requests_per_s = 0;
        whole.work.context_tokens = contexts[i];
        out[i] = (ridge_service_point){.context = contexts[i]};
        RIDGE_TRY(sweep_one(cx, &whole, choice, &out[i]));
    }
    return RIDGE_OK;
}

ridge_status ridge_service_sweep_own(ridge_ctx *cx,
                                     const ridge_service_request *request,
                                     const ridge_service_choice *choice,
                                     ridge_service_point *out, int *n)
{
    const double own = choice->pools[choice->n_pools - 1].batch;
    bool has_own = false;
    *n = 0;
    for (double batch = 1; *n < RIDGE_SERVICE_SWEEP_MAX; batch *= 2) {
        if (!has_own && own <= batch && *n < RIDGE_SERVICE_SWEEP_MAX - 1) {
            has_own = true;
            if (own < batch)
                RIDGE_TRY(
                    ridge_service_sweep(cx, request, choice, &own, 1, &out[(*n)++]));
        }
        RIDGE_TRY(ridge_service_sweep(cx, request, choice, &batch, 1, &out[(*n)++]));
        if (has_own && !out[*n - 1].fits)
            break;
    }
    return RIDGE_OK;
}

/* ---- limits ---------------------------------------------------------------------- */

static double over_weights(const ridge_serving_step *s, bool is_cache)
{
    return (is_cache ? s->bound_cache_s : s->bound_flops_s) - s->bound_weights_s;
}

/* The batch from which on a bound takes as long as the weights'. */
static ridge_status meet(const decoder *d, bool is_cache, double *out)
{
    ridge_serving_step s;
    double low = 0;
    double high = BATCH_FAR;
    *out = (double)INFINITY;
    RIDGE_TRY(step(d, high, &s));
    if (over_weights(&s, is_cache) < 0)
        return RIDGE_OK;
    for (int i = 0; i < BISECTIONS && high - low > 1e-3 * high; i++) {
        const double middle = (low + high) / 2;
        RIDGE_TRY(step(d, middle, &s));
        if (over_weights(&s, is_cache) < 0)
            low = middle;
        else
            high = middle;
    }
    *out = high;
    return RIDGE_OK;
}

/* Whole sequences that fit, by bisection over what holds them. */
static double batch_most(const service_server *s)
{
    double use;
    double low = 0;
    double high = BATCH_FAR;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (service_server_holds(s, middle, 0, &use))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double context_most(const service_server *s, double sequences)
{
    const ridge_serving_memory *m = &s->memory;
    const double there =
        m->cache * (1 - s->request->engine->watermark) / s->steady.stages / sequences -
        m->state_bytes;
    if (m->cache_bytes_per_token <= 0)
        return (double)INFINITY;
    return fmax(0, floor(there / m->cache_bytes_per_token));
}

static void set_rooflines(const decoder *d, ridge_service_limits *out)
{
    const ridge_service_request *r = d->request;
    const ridge_chip *chip = r->slice->chip;
    const ridge_serving_formats *f = &d->pool.layout.formats;
    double experts = 0;
    out->critical_tokens = ridge_roofline_batch_critical(
        ridge_chip_peak(chip, f->compute, NULL), chip->hbm_bytes_per_s,
        ridge_dtype_bytes(f->weight));
    for (int i = 0; i < r->model->n_layers; i++) {
        const ridge_ffn *ffn = &r->model->layers[i].ffn;
        if (ffn->kind == RIDGE_FFN_MOE)
            experts = (double)ffn->experts / (double)ffn->experts_per_token;
    }
    out->critical_experts =
        experts * ridge_roofline_batch_critical(
                      ridge_chip_peak(chip, f->expert_compute, NULL),
                      chip->hbm_bytes_per_s, ridge_dtype_bytes(f->expert));
    out->full_step_s = ridge_roofline_full_step(chip->hbm_bytes, chip->hbm_bytes_per_s);
}

/* Prefill servers of the same layout, prompts one by one, at the rate of decoding. */
static ridge_status set_ratio(const decoder *d, ridge_service_limits *out)
{
    const ridge_service_work *w = &d->request->work;
    const ridge_serving_layout *l = &d->pool.layout;
    ridge_serving_step decode;
    ridge_serving_step prefill;
    steady_case prompts = d->server.steady;
    steady_shape shape;
    prompts.role = RIDGE_SERVICE_ROLE_PREFILL;
    steady_shape_of(&prompts, 1, &shape);
    RIDGE_TRY(step(d, d->pool.batch, &decode));
    RIDGE_TRY(d->source.step(d->source.payload, l, &shape.prefill, &prefill));
    const double ranks = (double)(l->attention_dp * l->pp);
    out->prefill_ratio = ridge_roofline_prefill_ratio(
        shape.chunks * prefill.expected_s / ranks, d->pool.batch * ranks,
        decode.expected_s, w->output_tokens / d->server.steady.yield);
    return RIDGE_OK;
}

ridge_status ridge_service_limits_find(ridge_ctx *cx,
                                       const ridge_service_request *request,
                                       const ridge_service_choice *choice,
                                       ridge_service_limits *out)
{
    decoder d;
    ridge_service_price price;
    ridge_service_limits limits = {.critical_tokens = 0};
    RIDGE_TRY(open(cx, request, choice, &d));
    set_rooflines(&d, &limits);
    limits.batch_most = batch_most(&d.server);
    limits.sequences_most = limits.batch_most * d.ranks;
    limits.context_most = context_most(&d.server, 1);
    limits.batch_context_most = context_most(&d.server, fmax(1, d.pool.batch));
    if (request->work.output_tokens > 1) {
        RIDGE_TRY(meet(&d, false, &limits.critical_batch));
        RIDGE_TRY(meet(&d, true, &limits.crossover_batch));
        RIDGE_TRY(set_ratio(&d, &limits));
    }
    RIDGE_TRY(service_finish_price(cx, &d.source, request, choice, &price));
    if (price.paid_chips > 0)
        limits.requests_per_s_per_chip = price.requests_per_s / price.paid_chips;
    *out = limits;
    return RIDGE_OK;
}
