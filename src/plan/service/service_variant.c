#include "service_variant.h"

typedef struct work {
    ridge_ctx *cx;
    service_variant *variants;
} work;

/* A grid of batches on another machine has other members, between which products step
 * in tiles: what was best before is a member of both. */
static ridge_status add_choice(ridge_ctx *cx, service_variant *v)
{
    ridge_service_price old;
    RIDGE_TRY(ridge_service_price_one(cx, &v->request, &v->choice, &old));
    if (old.fit == RIDGE_SERVICE_FIT_OK &&
        (!v->has_best || ridge_service_is_better(v->request.aim, &old, &v->best))) {
        v->best = old;
        v->has_best = true;
    }
    return RIDGE_OK;
}

static ridge_status run_one(ridge_ctx *cx, service_variant *v)
{
    if (v->is_priced) {
        RIDGE_TRY(ridge_service_price_one(cx, &v->request, &v->choice, &v->best));
        v->has_best = v->best.tokens_per_s > 0;
        return RIDGE_OK;
    }
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    if (result == NULL)
        return RIDGE_E_NOMEM;
    RIDGE_TRY(ridge_service_search(cx, &v->request, result));
    v->has_best = result->n_layouts > 0;
    if (v->has_best)
        v->best = result->layouts[0];
    return v->has_choice ? add_choice(cx, v) : RIDGE_OK;
}

static void run(void *payload, int64_t item, int worker)
{
    work *w = payload;
    service_variant *v = &w->variants[item];
    ridge_ctx *cx = ridge_ctx_open();
    (void)worker;
    if (cx == NULL) {
        v->status = RIDGE_E_NOMEM;
        return;
    }
    v->status = run_one(cx, v);
    if (v->status == RIDGE_E_ARG) /* the change contradicts something else */
        v->status = RIDGE_OK;
    ridge_ctx_close(cx);
}

ridge_status service_variants_run(ridge_ctx *cx, service_variant *variants, int n)
{
    work w = {cx, variants};
    for (int i = 0; i < n; i++) {
        variants[i].request.top = 1;
        variants[i].request.workers = 1;
        variants[i].request.progress = NULL;
        variants[i].request.is_plain = true;
        variants[i].request.ignores_misses = true;
    }
    RIDGE_TRY(ridge_parallel(cx, ridge_processor_count(), n, run, &w));
    if (ridge_ctx_is_cancelled(cx))
        return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled during the search");
    for (int i = 0; i < n; i++) {
        if (variants[i].status != RIDGE_OK)
            return ridge_fail_nomem(cx);
    }
    return RIDGE_OK;
}

void service_variant_fix(ridge_service_request *r, const ridge_service_choice *choice)
{
    ridge_service_knobs *k = &r->knobs;
    const ridge_serving_layout *last = &choice->pools[choice->n_pools - 1].layout;
    k->mode = choice->mode;
    k->n_formats = 1;
    k->formats[0] = last->formats;
    k->depth = last->draft.depth;
    k->draft = last->draft;
    if (choice->n_pools == 1)
        k->budget_tokens = last->budget_tokens;
    for (int i = 0; i < choice->n_pools; i++) {
        const ridge_serving_layout *l = &choice->pools[i].layout;
        k->pools[choice->pools[i].role] =
            (ridge_service_pool_knobs){.tp = l->tp,
                                       .pp = l->pp,
                                       .ep = l->ep,
                                       .attention_dp = l->attention_dp,
                                       .tp_d = l->tp_d,
                                       .placement = l->placement + 1,
                                       .kv_cut = (int)l->kv_cut,
                                       .is_gathered = l->is_weight_gathered,
                                       .has_two_batches = l->has_two_batches,
                                       .redundant = l->redundant_experts + 1,
                                       .servers = choice->pools[i].servers};
    }
    if (r->requests_per_s > 0) { /* the rate chooses how many */
        k->pools[RIDGE_SERVICE_ROLE_BOTH].servers = 0;
        k->pools[RIDGE_SERVICE_ROLE_PREFILL].servers = 0;
        k->pools[RIDGE_SERVICE_ROLE_DECODE].servers = 0;
    }
}
