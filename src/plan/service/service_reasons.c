/* What holds a batch back, why others come after, and what changed numbers make of an
 * answer. */
#include "service_variant.h"

#include "lever.h"

#include "ridge/plan_service_reasons.h"

#include <math.h>

static const double LARGER = 1.1;

/* ---- what binds ------------------------------------------------------------------ */

ridge_status ridge_service_binding(ridge_ctx *cx, const ridge_service_request *request,
                                   const ridge_service_price *price,
                                   ridge_service_fit *out)
{
    ridge_service_request whole = *request;
    ridge_service_price more;
    ridge_service_choice c = price->choice;
    ridge_service_pool *last = &c.pools[c.n_pools - 1];
    whole.requests_per_s = 0;
    last->batch = floor(last->batch * 1.02) + 1;
    RIDGE_TRY(ridge_service_price_one(cx, &whole, &c, &more));
    *out = more.fit;
    return RIDGE_OK;
}

/* ---- the others ------------------------------------------------------------------ */

/* Sequences that decode, of a paid chip. */
static double sequences_of(const ridge_service_price *p)
{
    return p->tokens_per_s_per_chip * p->latency_s[RIDGE_SERVICE_TPOT];
}

int ridge_service_differences(const ridge_service_price *best,
                              const ridge_service_price *other,
                              ridge_service_difference *out)
{
    ridge_service_difference parts[RIDGE_SERVING_PART_COUNT];
    const double least = 0.01 * best->latency_s[RIDGE_SERVICE_TPOT];
    int n = 0;
    int kept = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++) {
        const double change =
            ridge_service_tpot_part(other, i) - ridge_service_tpot_part(best, i);
        if (fabs(change) < least)
            continue;
        int at = n++;
        for (; at > 0 && fabs(parts[at - 1].change) < fabs(change); at--)
            parts[at] = parts[at - 1];
        parts[at] = (ridge_service_difference){i, change};
    }
    const double sequences = sequences_of(other) / sequences_of(best);
    if (fabs(sequences - 1) > 0.01)
        out[kept++] = (ridge_service_difference){-1, sequences};
    for (int i = 0; i < n && kept < RIDGE_SERVICE_DIFFERENCE_MAX; i++)
        out[kept++] = parts[i];
    return kept;
}

/* ---- what if --------------------------------------------------------------------- */

ridge_status ridge_service_what_if_find(ridge_ctx *cx,
                                        const ridge_service_request *request,
                                        const ridge_service_price *best,
                                        const ridge_what_if *what,
                                        ridge_service_what_if *out)
{
    service_variant *v = ridge_new(ridge_ctx_arena(cx), service_variant, 2);
    const ridge_slice *slice;
    *out = (ridge_service_what_if){.has_same = false};
    if (v == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_slice_change(cx, request->slice, what, &slice));
    v[0].request = v[1].request = *request;
    v[0].request.slice = v[1].request.slice = slice;
    v[0].choice = v[1].choice = best->choice;
    v[0].has_choice = v[1].has_choice = true;
    service_variant_fix(&v[1].request, &best->choice);
    RIDGE_TRY(service_variants_run(cx, v, 2));
    out->has_best = v[0].has_best;
    out->best = v[0].best;
    out->has_same = v[1].has_best;
    out->same = v[1].best;
    return RIDGE_OK;
}

/* ---- sensitivity ----------------------------------------------------------------- */

enum { NUMBERS_OF_WORK = 3, NUMBERS = LEVER_COUNT + NUMBERS_OF_WORK };

_Static_assert((int)NUMBERS <= (int)RIDGE_SERVICE_SENSITIVITY_MAX, "room for all");

/* The host of the engine a tenth faster; prompts or answers a tenth longer. */
static ridge_status change_work(ridge_ctx *cx, int which, service_variant *v)
{
    if (which == 1) {
        v->name = "prompts +10 %";
        v->request.work.prompt_tokens = round(v->request.work.prompt_tokens * LARGER);
        return RIDGE_OK;
    }
    if (which == 2) {
        v->name = "answers +10 %";
        v->request.work.output_tokens = round(v->request.work.output_tokens * LARGER);
        return RIDGE_OK;
    }
    ridge_engine *e = ridge_new(ridge_ctx_arena(cx), ridge_engine, 1);
    if (e == NULL)
        return ridge_fail_nomem(cx);
    *e = *v->request.engine;
    e->host_s /= LARGER;
    e->host_sequence_s /= LARGER;
    e->request_s /= LARGER;
    v->request.engine = e;
    v->name = "the engine's host / 1.1";
    return RIDGE_OK;
}

static ridge_status change_hardware(ridge_ctx *cx, const lever *l, service_variant *v)
{
    const ridge_what_if what = {
        .n = 1, .changes = {{l->name, l->is_better_lower ? 1 / LARGER : LARGER}}};
    v->name = ridge_sprintf(ridge_ctx_arena(cx), "%s %s", l->what,
                            l->is_better_lower ? "/ 1.1" : "+10 %");
    return ridge_slice_change(cx, v->request.slice, &what, &v->request.slice);
}

/* Each number twice: at the batch as it is, and at the best of its own. */
static ridge_status make_numbers(ridge_ctx *cx, const ridge_service_request *r,
                                 const ridge_service_price *best, service_variant *v)
{
    for (int i = 0; i < NUMBERS; i++) {
        service_variant *here = &v[2 * i];
        here->request = *r;
        here->request.requests_per_s = 0;
        if (i < LEVER_COUNT)
            RIDGE_TRY(change_hardware(cx, &levers[i], here));
        else
            RIDGE_TRY(change_work(cx, i - LEVER_COUNT, here));
        v[2 * i + 1] = *here;
        v[2 * i + 1].request.requests_per_s = r->requests_per_s;
        service_variant_fix(&v[2 * i + 1].request, &best->choice);
        v[2 * i + 1].choice = best->choice;
        v[2 * i + 1].has_choice = true;
        here->is_priced = true;
        here->choice = best->choice;
    }
    return RIDGE_OK;
}

ridge_status ridge_service_sensitivity_find(ridge_ctx *cx,
                                            const ridge_service_request *request,
                                            const ridge_service_price *best,
                                            ridge_service_sensitivity *out, int *n)
{
    ridge_service_request whole = *request;
    ridge_service_price now;
    service_variant *v =
        ridge_new(ridge_ctx_arena(cx), service_variant, 2 * (size_t)NUMBERS);
    *n = 0;
    if (v == NULL)
        return ridge_fail_nomem(cx);
    whole.requests_per_s = 0;
    RIDGE_TRY(ridge_service_price_one(cx, &whole, &best->choice, &now));
    RIDGE_TRY(make_numbers(cx, request, best, v));
    RIDGE_TRY(service_variants_run(cx, v, 2 * NUMBERS));
    for (int i = 0; i < NUMBERS; i++) {
        const service_variant *same = &v[2 * i];
        const service_variant *own = &v[2 * i + 1];
        if (!same->has_best)
            continue;
        const double *was = now.latency_s;
        const double *is = same->best.latency_s;
        out[(*n)++] = (ridge_service_sensitivity){
            .name = same->name,
            .ttft = is[RIDGE_SERVICE_TTFT] / was[RIDGE_SERVICE_TTFT] - 1,
            .tpot = was[RIDGE_SERVICE_TPOT] > 0
                        ? is[RIDGE_SERVICE_TPOT] / was[RIDGE_SERVICE_TPOT] - 1
                        : 0,
            .throughput =
                same->best.tokens_per_s_per_chip / now.tokens_per_s_per_chip - 1,
            .has_best = own->has_best,
            .best =
                own->has_best
                    ? own->best.tokens_per_s_per_chip / best->tokens_per_s_per_chip - 1
                    : 0};
    }
    return RIDGE_OK;
}
