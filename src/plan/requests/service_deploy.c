/* Layouts into tables, an engine into rules. */
#include "ridge/plan_requests.h"

#include <math.h>

/* ---- a choice without a search --------------------------------------------------- */

static int64_t or_one(int64_t v)
{
    return v > 0 ? v : 1;
}

/* A pool of servers; those of both roles count where a pool's own do not. */
static ridge_service_pool_knobs pool_knobs(const ridge_service_knobs *k,
                                           ridge_service_role role)
{
    ridge_service_pool_knobs own = k->pools[role];
    const ridge_service_pool_knobs *all = &k->pools[RIDGE_SERVICE_ROLE_BOTH];
    int64_t *const fields[] = {&own.tp, &own.pp, &own.ep, &own.attention_dp,
                               &own.servers};
    const int64_t common[] = {all->tp, all->pp, all->ep, all->attention_dp,
                              all->servers};
    for (size_t i = 0; i < RIDGE_COUNT_OF(fields); i++)
        *fields[i] = *fields[i] > 0 ? *fields[i] : common[i];
    own.kv_cut = own.kv_cut >= 0 ? own.kv_cut : all->kv_cut;
    own.is_gathered = own.is_gathered >= 0 ? own.is_gathered : all->is_gathered;
    own.has_two_batches =
        own.has_two_batches >= 0 ? own.has_two_batches : all->has_two_batches;
    own.redundant = own.redundant > 0 ? own.redundant : all->redundant;
    return own;
}

static void find_pool(const ridge_service_request *r, ridge_service_role role,
                      int64_t chips, ridge_service_pool *out)
{
    const ridge_service_knobs *k = &r->knobs;
    const ridge_service_pool_knobs own = pool_knobs(k, role);
    const ridge_engine_room room = ridge_engine_room_on(r->engine, r->slice->chip);
    ridge_serving_layout l = {
        .tp = own.tp,
        .pp = or_one(own.pp),
        .attention_dp = or_one(own.attention_dp),
        .ep = or_one(own.ep),
        .kv_cut = own.kv_cut >= 0 ? (ridge_kv_cut)own.kv_cut : RIDGE_KV_CUT_HEADS,
        .is_weight_gathered = own.is_gathered > 0,
        .has_two_batches = own.has_two_batches > 0,
        .redundant_experts = own.redundant > 0 ? own.redundant - 1 : 0,
        .formats = k->formats[0],
        .draft = k->draft};
    const int64_t other = l.pp * l.attention_dp;
    if (l.tp <= 0)
        l.tp = or_one(chips / or_one(own.servers) / other);
    const int64_t per_server = l.tp * other;
    const int64_t ranks = role == RIDGE_SERVICE_ROLE_PREFILL ? 1 : l.attention_dp;
    l.sequences =
        k->batch > 0 ? (int64_t)ceil(k->batch) * ranks : room.sequences * ranks;
    l.budget_tokens = k->budget_tokens > 0 ? k->budget_tokens : room.budget_tokens;
    if (l.draft.kind != RIDGE_DRAFT_NONE) {
        l.draft.depth = k->depth > 0 ? k->depth : or_one(l.draft.depth);
        l.draft.nodes = l.draft.nodes > 0 ? l.draft.nodes : l.draft.depth;
    }
    *out = (ridge_service_pool){.role = role,
                                .layout = l,
                                .servers = own.servers > 0 ? own.servers
                                                           : or_one(chips / per_server),
                                .batch = k->batch};
}

ridge_status ridge_service_choice_of_knobs(ridge_ctx *cx,
                                           const ridge_service_request *request,
                                           ridge_service_choice *out)
{
    const ridge_service_knobs *k = &request->knobs;
    const int64_t chips = (int64_t)request->slice->chips;
    const bool has_pools = k->mode == RIDGE_SERVICE_MODE_DISAGGREGATED ||
                           k->pools[RIDGE_SERVICE_ROLE_PREFILL].servers > 0;
    ridge_service_choice c = {.mode = RIDGE_SERVICE_MODE_AGGREGATED, .n_pools = 1};
    if (!has_pools) {
        find_pool(request, RIDGE_SERVICE_ROLE_BOTH, chips, &c.pools[0]);
    } else {
        c.mode = RIDGE_SERVICE_MODE_DISAGGREGATED;
        c.n_pools = 2;
        find_pool(request, RIDGE_SERVICE_ROLE_PREFILL, chips / 2, &c.pools[0]);
        const int64_t taken =
            c.pools[0].servers * ridge_serving_layout_chips(&c.pools[0].layout);
        find_pool(request, RIDGE_SERVICE_ROLE_DECODE, chips - taken, &c.pools[1]);
    }
    const int64_t needed = ridge_service_choice_chips(&c);
    if (needed > chips)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "servers that take %lld chips do not fit %s with %lld: fix "
                          "tp=, pp=, attention_dp= or servers=",
                          (long long)needed, request->slice->text, (long long)chips);
    *out = c;
    return RIDGE_OK;
}

/* ---- tables ---------------------------------------------------------------------- */

static ridge_status check_room(ridge_ctx *cx, const ridge_serving_memory *m,
                               const ridge_service_pool *pool)
{
    const double ranks = (double)pool->layout.attention_dp;
    const double states = m->state_bytes * (double)pool->layout.sequences / ranks;
    if (m->pages > 0 && m->cache > 0)
        return RIDGE_OK;
    if (states > 0 && states >= m->cache && m->cache > 0)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "tp %lld, pp %lld: states of %lld sequences take %s of the %s of a chip "
            "that are left for caches: batch= says fewer",
            (long long)pool->layout.tp, (long long)pool->layout.pp,
            (long long)pool->layout.sequences, ridge_format_bytes(states).s,
            ridge_format_bytes(m->cache).s);
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "tp %lld, pp %lld: weights, activations and reserve take %s of a "
        "chip's %s and leave no room for a cache: use more chips a server "
        "or a narrower format of weights",
        (long long)pool->layout.tp, (long long)pool->layout.pp,
        ridge_format_bytes(m->weights + m->activations + m->reserve + m->draft).s,
        ridge_format_bytes(m->total).s);
}

static ridge_engine rules_of(const ridge_engine *engine, const ridge_service_pool *pool,
                             const ridge_serving_speed *speed)
{
    ridge_engine rules = *engine;
    const int64_t ranks = pool->layout.attention_dp > 0 ? pool->layout.attention_dp : 1;
    rules.sequences = or_one(pool->layout.sequences / ranks);
    rules.budget_tokens = pool->layout.budget_tokens;
    rules.block_tokens = speed->block_tokens;
    return rules;
}

/* Where prompts are not cut, an iteration has no more tokens than its prompts. */
static void bound_budget(const ridge_engine *e, double longest, ridge_serving_layout *l)
{
    const double prompts = e->prompts > 0 ? (double)e->prompts : (double)l->sequences;
    const double most = ceil(prompts * longest);
    if (!e->is_chunked && (double)l->budget_tokens > most)
        l->budget_tokens = (int64_t)most;
}

/* Who starts a static engine chooses a batch that it has room for: the activations of
 * all prompts at once, and a slot at least. Nobody said which: half as many until then.
 */
static ridge_status fit_batch(ridge_serving_desk *desk, const ridge_service_request *r,
                              double longest, ridge_serving_layout *l,
                              ridge_serving_memory *memory)
{
    const int64_t budget = l->budget_tokens;
    const bool is_free =
        r->engine->batching == RIDGE_BATCHING_STATIC && r->knobs.batch <= 0;
    for (;;) {
        l->budget_tokens = budget;
        bound_budget(r->engine, longest, l);
        RIDGE_TRY(ridge_serving_memory_find(desk, l, memory));
        if (!is_free || l->sequences <= l->attention_dp ||
            (memory->pages > 0 && memory->cache > 0))
            return RIDGE_OK;
        l->sequences =
            l->sequences / 2 > l->attention_dp ? l->sequences / 2 : l->attention_dp;
    }
}

/* Where states have memory of their own, the engine runs no more sequences than those
 * have room for, unless told. */
static ridge_status fit_states(ridge_serving_desk *desk, const ridge_service_request *r,
                               ridge_serving_layout *l, ridge_serving_memory *memory)
{
    const ridge_engine *e = r->engine;
    const double slots = e->has_prefix_cache ? fmax(1, (double)e->state_slots) : 1;
    if (e->state_ratio <= 0 || memory->state_bytes <= 0 || r->knobs.batch > 0)
        return RIDGE_OK;
    const double room = memory->cache * e->state_ratio / (1 + e->state_ratio);
    const double most = fmax(1, floor(room / (slots * memory->state_bytes)));
    const double ranks = (double)l->attention_dp;
    if ((double)l->sequences <= most * ranks)
        return RIDGE_OK;
    l->sequences = (int64_t)(most * ranks);
    return ridge_serving_memory_find(desk, l, memory);
}

static ridge_status deploy_pool(ridge_ctx *cx, ridge_serving_desk *desk,
                                const ridge_service_request *r, int i,
                                ridge_service_deployment *out)
{
    ridge_service_pool *pool = &out->choice.pools[i];
    ridge_serving_speed *speed = &out->speeds[i];
    const char *fault = ridge_serving_layout_fault(desk, &pool->layout);
    if (fault != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "this layout cannot serve: %s", fault);
    RIDGE_TRY(fit_batch(desk, r, out->longest_tokens, &pool->layout, &out->memory[i]));
    RIDGE_TRY(fit_states(desk, r, &pool->layout, &out->memory[i]));
    RIDGE_TRY(check_room(cx, &out->memory[i], pool));
    RIDGE_TRY(ridge_serving_speed_build(desk, &pool->layout, speed));
    speed->usd_per_hour = r->usd_per_chip_hour * speed->chips;
    out->play.pools[i] =
        (ridge_serving_pool){speed, rules_of(r->engine, pool, speed), pool->servers};
    return RIDGE_OK;
}

ridge_status ridge_service_deploy(ridge_ctx *cx, const ridge_service_request *request,
                                  const ridge_service_choice *choice,
                                  double longest_tokens, ridge_service_deployment *out)
{
    ridge_serving_case *about = ridge_new(ridge_ctx_arena(cx), ridge_serving_case, 1);
    ridge_serving_desk *desk;
    if (about == NULL)
        return ridge_fail_nomem(cx);
    *about = (ridge_serving_case){.model = request->model,
                                  .slice = request->slice,
                                  .engine = request->engine,
                                  .expert_skew = request->expert_skew,
                                  .longest_tokens = longest_tokens};
    *out = (ridge_service_deployment){
        .choice = *choice, .engine = request->engine, .longest_tokens = longest_tokens};
    out->play.n_pools = choice->n_pools;
    out->play.router = RIDGE_ROUTER_LEAST_LOADED;
    out->play.longest_tokens = (int64_t)longest_tokens;
    RIDGE_TRY(ridge_serving_desk_open(cx, about, &desk));
    for (int i = 0; i < choice->n_pools; i++)
        RIDGE_TRY(deploy_pool(cx, desk, request, i, out));
    return RIDGE_OK;
}
