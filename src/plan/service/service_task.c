#include "service_task.h"

#include <math.h>

enum { PLACES_MOST = 8 * 18, SEQUENCES_MOST = 4096 };

/* A layout at work. */
typedef struct task {
    service_desk *desk;
    const service_layout *of;
    service_found *found;
    ridge_serving_speed speed;
    service_server server; /* of the budget under way */
    bool is_any;           /* it does something, in some role */
} task;

static double table_s(void *payload, const ridge_serving_load *load)
{
    return service_speed_iteration_s(payload, load);
}

static bool fail(task *t, ridge_status st)
{
    t->found->status = st;
    return false;
}

/* ---- aggregated ------------------------------------------------------------------ */

static bool add_point(task *t, const ridge_service_price *p)
{
    const ridge_service_pool *pool = &p->choice.pools[0];
    const service_point point = {
        .n_pools = 1,
        .pools = {{&t->of->layout, pool->layout.budget_tokens, pool->layout.sequences,
                   pool->servers, pool->batch}},
        .tpot_s = p->latency_s[RIDGE_SERVICE_TPOT],
        .e2e_s = p->latency_s[RIDGE_SERVICE_E2E],
        .tokens_per_s_per_chip = p->tokens_per_s_per_chip};
    ridge_arena *arena = ridge_ctx_arena(t->desk->cx);
    if (!service_points_add(arena, &t->desk->speed_front, &point, false) ||
        !service_points_add(arena, &t->desk->cost_front, &point, true))
        return fail(t, RIDGE_E_NOMEM);
    return true;
}

/* A goal that is missed says more than a batch that is too large. */
static void refuse(task *t, ridge_service_fit fit)
{
    if (t->found->refused < RIDGE_SERVICE_FIT_TTFT || fit >= RIDGE_SERVICE_FIT_TTFT)
        t->found->refused = fit;
}

static void take(task *t, const ridge_service_price *p)
{
    const ridge_service_aim aim = t->desk->request->aim;
    t->found->priced++;
    if (service_score_is_real(p))
        service_nearest_add(t->desk->request, &t->found->kept->nearest, p);
    if (p->fit != RIDGE_SERVICE_FIT_OK) {
        refuse(t, p->fit);
        return;
    }
    t->is_any = true;
    service_kept *kept = t->found->kept;
    if (!kept->has_best || ridge_service_is_better(aim, p, &kept->best))
        kept->best = *p;
    kept->has_best = true;
}

/* A batch of all servers; without a rate it is what is taken. */
static bool try_batch(task *t, double batch, int64_t servers, ridge_service_fit *fit)
{
    ridge_service_price p;
    service_server whole = t->server;
    whole.request = &t->desk->whole;
    t->found->covered++;
    service_score_one(&whole, batch, servers, &p);
    *fit = p.fit;
    if (t->desk->request->requests_per_s <= 0)
        take(t, &p);
    else if (service_score_is_real(&p)) /* what the whole slice could take */
        service_nearest_add(t->desk->request, &t->found->kept->nearest, &p);
    return t->desk->request->is_plain || !service_score_is_real(&p) || add_point(t, &p);
}

/* Any mean below one: a request at a time, without a rate. */
static const double ALONE = 0.5;

/* Below one where requests come at random: a server is then idle at times. */
static int first_place(const task *t)
{
    return t->server.steady.is_open ? -SERVICE_PARTS_OF_ONE : 0;
}

/* The largest batch that does lies between one that does and one that does not. */
static bool refine(task *t, double low, double high, int64_t servers)
{
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        ridge_service_fit fit;
        if (!try_batch(t, middle, servers, &fit))
            return false;
        if (fit == RIDGE_SERVICE_FIT_OK)
            low = middle;
        else
            high = middle;
    }
    return true;
}

static bool try_batches(task *t, int64_t servers)
{
    const double asked = t->desk->request->knobs.batch;
    double last = 0;
    for (int i = asked > 0 ? 0 : first_place(t); i < (asked > 0 ? 1 : PLACES_MOST);
         i++) {
        const double batch = asked > 0 ? asked : service_space_batch(i);
        ridge_service_fit fit;
        if (!try_batch(t, batch, servers, &fit))
            return false;
        if (fit == RIDGE_SERVICE_FIT_OK) {
            last = batch;
        } else if (fit == RIDGE_SERVICE_FIT_CACHE ||
                   fit == RIDGE_SERVICE_FIT_SATURATED) {
            if (asked <= 0 && last <= 0 && batch <= 1)
                return try_batch(t, ALONE, servers, &fit);
            return last <= 0 || asked > 0 || refine(t, last, batch, servers);
        } else if (last > 0) { /* a goal is missed from here on */
            if (!refine(t, last, batch, servers))
                return false;
            last = 0;
        }
    }
    return true;
}

/* As few servers as take the rate and keep the goals: more of them are less loaded, and
 * so no worse. All of them for the shortest latency. */
static void try_rate(task *t, int64_t servers)
{
    const ridge_service_request *r = t->desk->request;
    const bool is_fixed = r->knobs.pools[RIDGE_SERVICE_ROLE_BOTH].servers > 0;
    ridge_service_price p;
    int64_t low = 0;
    int64_t high = servers;
    service_score_one(&t->server, 0, servers, &p);
    take(t, &p);
    if (p.fit != RIDGE_SERVICE_FIT_OK || is_fixed ||
        r->aim == RIDGE_SERVICE_AIM_LATENCY)
        return;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        t->found->covered++;
        service_score_one(&t->server, 0, middle, &p);
        take(t, &p);
        if (p.fit == RIDGE_SERVICE_FIT_OK)
            high = middle;
        else
            low = middle;
    }
}

static bool run_aggregated(task *t)
{
    const ridge_service_request *r = t->desk->request;
    const int64_t chips = ridge_serving_layout_chips(&t->of->layout);
    const int64_t servers = service_space_servers(r, RIDGE_SERVICE_ROLE_BOTH, chips);
    t->server.steady.role = RIDGE_SERVICE_ROLE_BOTH;
    if (!try_batches(t, servers))
        return false;
    if (r->requests_per_s > 0)
        try_rate(t, servers);
    return true;
}

/* ---- pools ----------------------------------------------------------------------- */

static bool run_pool(task *t, ridge_service_role role, double budget_before)
{
    const bool is_decode = role == RIDGE_SERVICE_ROLE_DECODE;
    service_options *set = is_decode ? &t->desk->decode : &t->desk->prefill;
    const double asked = is_decode ? t->desk->request->knobs.batch : 0;
    service_option before = {.requests_per_s = 0};
    t->server.steady.role = role;
    for (int i = asked > 0 || !is_decode ? 0 : first_place(t);
         i < (asked > 0 ? 1 : PLACES_MOST); i++) {
        service_option option;
        const double batch = asked > 0 ? asked : service_space_batch(i);
        if (is_decode && batch * t->server.steady.verified <= budget_before)
            continue;
        t->found->covered++;
        t->found->priced++;
        const ridge_service_fit fit = service_pair_option(&t->server, batch, &option);
        if (fit != RIDGE_SERVICE_FIT_OK) {
            refuse(t, fit);
            return true;
        }
        t->is_any = true;
        option.layout = &t->of->layout; /* the server's is of this budget alone */
        option.format = t->of->format;
        option.before_per_s = is_decode ? before.requests_per_s : 0;
        option.before_latency_s = before.latency_s;
        option.before_tpot_s = before.tpot_s;
        before = option;
        if (!service_options_add(ridge_ctx_arena(t->desk->cx), set, &option))
            return fail(t, RIDGE_E_NOMEM);
    }
    return true;
}

/* ---- budgets --------------------------------------------------------------------- */

static bool run_budget(task *t, double budget_before)
{
    const bool *is_for = t->of->is_for;
    if (is_for[RIDGE_SERVICE_ROLE_BOTH] && !run_aggregated(t))
        return false;
    for (int role = RIDGE_SERVICE_ROLE_PREFILL; role < RIDGE_SERVICE_ROLE_COUNT;
         role++) {
        if (is_for[role] && !run_pool(t, (ridge_service_role)role, budget_before))
            return false;
    }
    return true;
}

static bool find_memory(task *t, const ridge_serving_layout *l)
{
    service_source *source = &t->desk->source;
    const ridge_status st = source->memory(source->payload, l, &t->server.memory);
    return st == RIDGE_OK || fail(t, st);
}

/* Tables reach to the largest budget: times do not depend on it, memory does. */
static bool find_speed(task *t, const ridge_serving_layout *l, double budget)
{
    service_source *source = &t->desk->source;
    ridge_serving_layout largest = *l;
    largest.budget_tokens = (int64_t)budget;
    const ridge_status st = source->speed(source->payload, &largest, &t->speed);
    t->found->tables++;
    return st == RIDGE_OK || fail(t, st);
}

/* Sequences that could be there at once, for the logits that they need: by what is left
 * for their caches. */
static int64_t sequences_most(const task *t, const ridge_serving_layout *l)
{
    const ridge_service_work *w = &t->desk->request->work;
    const ridge_serving_memory *m = &t->server.memory;
    const double tokens = w->context_tokens > 0 ? w->context_tokens : w->prompt_tokens;
    const double each = tokens * m->cache_bytes_per_token + m->state_bytes;
    const double slots = each > 0 ? m->cache / each / (double)l->pp : SEQUENCES_MOST;
    return (int64_t)fmin(ceil(slots) + 1, SEQUENCES_MOST) * l->attention_dp * l->pp;
}

static void set_server(task *t, const ridge_serving_layout *l)
{
    const ridge_serving_memory memory = t->server.memory;
    service_server_open(t->desk->request, RIDGE_SERVICE_ROLE_BOTH, l, &t->server);
    t->server.memory = memory;
    t->server.iteration_s = table_s;
    t->server.payload = &t->speed;
    service_server_transfers(&t->speed, &t->server);
}

/* Of a chip without room for the cache of one sequence. */
static void refuse_memory(task *t)
{
    const ridge_serving_memory *m = &t->server.memory;
    const double needed = m->weights + m->activations + m->reserve + m->draft;
    t->found->refused = RIDGE_SERVICE_FIT_WEIGHTS;
    t->found->over_bytes = needed - m->total;
    if (t->found->over_bytes <= 0 && m->longest_sequences > 0)
        t->found->over_bytes = m->cache * (1 / m->longest_sequences - 1);
}

static bool open_kept(task *t)
{
    service_desk *desk = t->desk;
    desk->speed_front.n = desk->cost_front.n = 0;
    desk->prefill.n = desk->decode.n = 0;
    t->found->kept = ridge_new(ridge_ctx_arena(desk->cx), service_kept, 1);
    return t->found->kept != NULL || fail(t, RIDGE_E_NOMEM);
}

static bool keep(task *t)
{
    const service_desk *desk = t->desk;
    service_found *found = t->found;
    ridge_arena *arena = ridge_ctx_arena(desk->cx);
    return (service_points_copy(arena, &desk->speed_front, &found->speed_front) &&
            service_points_copy(arena, &desk->cost_front, &found->cost_front) &&
            service_options_copy(arena, &desk->prefill, &found->prefill) &&
            service_options_copy(arena, &desk->decode, &found->decode)) ||
           fail(t, RIDGE_E_NOMEM);
}

static bool run_budgets(task *t)
{
    double budgets[SERVICE_BUDGET_MAX];
    const int n = service_space_budgets(t->desk->request, budgets);
    ridge_serving_layout l = t->of->layout;
    l.sequences = l.attention_dp * l.pp;
    l.budget_tokens = (int64_t)budgets[0];
    if (!find_memory(t, &l))
        return false;
    if (!t->server.memory.fits) {
        refuse_memory(t);
        return true;
    }
    l.sequences = sequences_most(t, &l);
    if (!find_speed(t, &l, budgets[n - 1]) || !open_kept(t))
        return false;
    for (int i = 0; i < n; i++) {
        l.budget_tokens = (int64_t)budgets[i];
        if (!find_memory(t, &l))
            return false;
        if (!t->server.memory.fits)
            break;
        set_server(t, &l);
        if (!run_budget(t, i == 0 ? 0 : budgets[i - 1]))
            return false;
    }
    return keep(t);
}

void service_task_run(service_desk *desk, const service_layout *layout,
                      service_found *found)
{
    task t = {.desk = desk, .of = layout, .found = found};
    service_source *source = &desk->source;
    ridge_serving_layout l = layout->layout;
    l.sequences = l.attention_dp * l.pp;
    l.budget_tokens = 1;
    found->fault = source->fault(source->payload, &l);
    if (found->fault != NULL) {
        found->covered++;
        found->refused = RIDGE_SERVICE_FIT_LAYOUT;
        return;
    }
    if (run_budgets(&t) && t.is_any)
        found->refused = RIDGE_SERVICE_FIT_OK;
}
