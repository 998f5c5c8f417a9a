#include "service_task.h"

#include <math.h>

enum { PLACES_MOST = 8 * 18, SEQUENCES_LEAST = 256 };

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
    const service_point point = {.choice = p->choice,
                                 .tpot_s = p->latency_s[RIDGE_SERVICE_TPOT],
                                 .e2e_s = p->latency_s[RIDGE_SERVICE_E2E],
                                 .tokens_per_s_per_chip = p->tokens_per_s_per_chip};
    ridge_arena *arena = ridge_ctx_arena(t->desk->cx);
    if (!service_points_add(arena, &t->found->speed_front, &point, false) ||
        !service_points_add(arena, &t->found->cost_front, &point, true))
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
        service_nearest_add(t->desk->request, &t->found->nearest, p);
    if (p->fit != RIDGE_SERVICE_FIT_OK) {
        refuse(t, p->fit);
        return;
    }
    t->is_any = true;
    if (!t->found->has_best || ridge_service_is_better(aim, p, &t->found->best))
        t->found->best = *p;
    t->found->has_best = true;
}

/* Servers of a rate: all for the shortest latency, otherwise as few as take it. */
static int64_t servers_of_rate(const task *t, double most_per_s, int64_t servers)
{
    const ridge_service_request *r = t->desk->request;
    const bool is_fixed = r->knobs.pools[RIDGE_SERVICE_ROLE_BOTH].servers > 0;
    if (is_fixed || r->aim == RIDGE_SERVICE_AIM_LATENCY)
        return servers;
    const double needed = fmax(1, ceil(r->requests_per_s / most_per_s - 1e-9));
    return needed <= (double)servers ? (int64_t)needed : servers;
}

/* A batch of all servers; without a rate it is what is taken. */
static bool try_batch(task *t, double batch, int64_t servers, ridge_service_fit *fit,
                      double *per_s)
{
    ridge_service_price p;
    service_server whole = t->server;
    whole.request = &t->desk->whole;
    t->found->covered++;
    service_score_one(&whole, batch, servers, &p);
    *fit = p.fit;
    *per_s = p.requests_per_s / (double)servers;
    if (t->desk->request->requests_per_s <= 0 || p.fit != RIDGE_SERVICE_FIT_OK)
        take(t, &p);
    return !service_score_is_real(&p) || add_point(t, &p);
}

/* The largest batch that does lies between one that does and one that does not. */
static bool refine(task *t, double low, double high, int64_t servers, double *per_s)
{
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        ridge_service_fit fit;
        double rate;
        if (!try_batch(t, middle, servers, &fit, &rate))
            return false;
        if (fit == RIDGE_SERVICE_FIT_OK) {
            low = middle;
            *per_s = fmax(*per_s, rate);
        } else {
            high = middle;
        }
    }
    return true;
}

static bool try_batches(task *t, int64_t servers, double *most, double *per_s)
{
    const double asked = t->desk->request->knobs.batch;
    double last = 0;
    *most = 0;
    *per_s = 0;
    for (int i = 0; i < (asked > 0 ? 1 : PLACES_MOST); i++) {
        const double batch = asked > 0 ? asked : service_space_batch(i);
        ridge_service_fit fit;
        double rate;
        if (!try_batch(t, batch, servers, &fit, &rate))
            return false;
        if (fit == RIDGE_SERVICE_FIT_OK) {
            *most = batch;
            *per_s = fmax(*per_s, rate);
            last = batch;
        } else if (fit == RIDGE_SERVICE_FIT_CACHE ||
                   fit == RIDGE_SERVICE_FIT_SATURATED) {
            return last <= 0 || asked > 0 || refine(t, last, batch, servers, per_s);
        } else if (last > 0) { /* a goal is missed from here on */
            if (!refine(t, last, batch, servers, per_s))
                return false;
            last = 0;
        }
    }
    return true;
}

static bool run_aggregated(task *t)
{
    const ridge_service_request *r = t->desk->request;
    const int64_t chips = ridge_serving_layout_chips(&t->of->layout);
    const int64_t servers = service_space_servers(r, RIDGE_SERVICE_ROLE_BOTH, chips);
    double most;
    double per_s;
    t->server.steady.role = RIDGE_SERVICE_ROLE_BOTH;
    if (!try_batches(t, servers, &most, &per_s))
        return false;
    if (r->requests_per_s <= 0 || per_s <= 0)
        return true;
    ridge_service_price p;
    const double slack = 2; /* the batch of the rate is below the next that was tried */
    service_score_one(&t->server, most * slack, servers_of_rate(t, per_s, servers), &p);
    take(t, &p);
    return true;
}

/* ---- pools ----------------------------------------------------------------------- */

static bool run_pool(task *t, ridge_service_role role, double budget_before)
{
    const bool is_decode = role == RIDGE_SERVICE_ROLE_DECODE;
    service_options *set = is_decode ? &t->found->decode : &t->found->prefill;
    const double asked = is_decode ? t->desk->request->knobs.batch : 0;
    t->server.steady.role = role;
    for (int i = 0; i < (asked > 0 ? 1 : PLACES_MOST); i++) {
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
        option.format = t->of->format;
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

/* Times do not depend on the budget; memory does. */
static bool open_server(task *t, ridge_serving_layout *l, bool *has_speed)
{
    service_source *source = &t->desk->source;
    const ridge_status st = source->memory(source->payload, l, &t->server.memory);
    if (st != RIDGE_OK)
        return fail(t, st);
    if (!t->server.memory.fits || *has_speed)
        return true;
    const ridge_status built = source->speed(source->payload, l, &t->speed);
    *has_speed = built == RIDGE_OK;
    t->found->tables++;
    return built == RIDGE_OK || fail(t, built);
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

static void refuse_memory(task *t, int place)
{
    const ridge_serving_memory *m = &t->server.memory;
    const double needed = m->weights + m->activations + m->reserve + m->draft;
    if (place > 0)
        return;
    t->found->refused = RIDGE_SERVICE_FIT_WEIGHTS;
    t->found->over_bytes = needed - m->total;
}

static bool run_budgets(task *t)
{
    const ridge_service_request *r = t->desk->request;
    double budgets[SERVICE_BUDGET_MAX];
    const int n = service_space_budgets(r, budgets);
    ridge_serving_layout l = t->of->layout;
    bool has_speed = false;
    const ridge_engine_room room = ridge_engine_room_on(r->engine, r->slice->chip);
    const int64_t sequences =
        room.sequences > SEQUENCES_LEAST ? room.sequences : SEQUENCES_LEAST;
    l.sequences = sequences * l.attention_dp * l.pp;
    for (int i = 0; i < n; i++) {
        l.budget_tokens = (int64_t)budgets[i];
        if (!open_server(t, &l, &has_speed))
            return false;
        if (!t->server.memory.fits) {
            refuse_memory(t, i);
            break;
        }
        set_server(t, &l);
        if (!run_budget(t, i == 0 ? 0 : budgets[i - 1]))
            return false;
    }
    return true;
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
