/*
 * The search for deployments: every layout of every server size is scored at all
 * batches and budgets, on threads; layouts of two pools are combined afterwards. What
 * the tables of iterations find best is priced again step by step. Results are merged
 * in the order of the layouts, so that they do not depend on the threads.
 */
#include "service_search.h"
#include "service_conflicts.h"
#include "service_energy.h"
#include "service_finish.h"
#include "service_order.h"
#include "service_task.h"

#include "ridge/base_parallel.h"

#include <math.h>

/* More than asked are priced again: tables may order near ties otherwise. By energy
 * tables cannot rank, as they know no watts: all that could be best are priced. */
enum { SPARE = 8, SPARE_ENERGY = 256, FRONT_SHOWN = 24 };

/* Prices that differ by less are equal. */
static const double PRICE_NEAR = 1e-9;

typedef struct search {
    ridge_ctx *cx;
    const ridge_service_request *request;
    service_source_open *open;
    service_space space;
    service_found *found; /* [space.n] */
    service_order order;
    int workers;
    ridge_ctx **contexts; /* [workers] */
    service_desk *desks;  /* [workers], open once their ctx is not NULL */
    ridge_status *opened; /* [workers] */
    service_ranking ranking;
    service_variety variety;
    service_points speed_front, cost_front;
    service_shelves prefill, decode;
    service_nearest nearest;
    service_tally tally;
    ridge_service_result *result;
} search;

/* ---- layouts --------------------------------------------------------------------- */

static ridge_status open_desk(search *s, int worker)
{
    service_desk *desk = &s->desks[worker];
    if (desk->cx != NULL)
        return s->opened[worker];
    desk->cx = s->contexts[worker];
    desk->request = s->request;
    desk->whole = *s->request;
    desk->whole.requests_per_s = 0;
    s->opened[worker] = s->open(desk->cx, s->request, &desk->source);
    return s->opened[worker];
}

static void show(const search *s, double done, double all, const char *what)
{
    if (s->request->progress != NULL)
        ridge_progress_show(s->request->progress, done / all, what);
}

static void run_layout(search *s, int layout, int worker)
{
    service_found *found = &s->found[layout];
    found->status = open_desk(s, worker);
    if (found->status == RIDGE_OK)
        service_task_run(&s->desks[worker], &s->space.layouts[layout], found);
}

/* Layouts whose prices have most in common, by the worker that knows them. */
static void run_task(void *payload, int64_t item, int worker)
{
    search *s = payload;
    const service_order *o = &s->order;
    for (int i = item > 0 ? o->ends[item - 1] : 0; i < o->ends[item]; i++) {
        if (ridge_ctx_is_cancelled(s->cx))
            return;
        if (worker == 0)
            show(s, fmin(1, (double)i * s->workers / s->space.n), 1,
                 "searching layouts");
        run_layout(s, o->layouts[i], worker);
    }
}

static ridge_status open_workers(search *s)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    s->workers =
        s->request->workers > 0 ? s->request->workers : ridge_processor_count();
    if (s->workers > s->space.n)
        s->workers = s->space.n > 0 ? s->space.n : 1;
    s->contexts = ridge_arena_new(arena, (size_t)s->workers, sizeof(ridge_ctx *));
    s->desks = ridge_new(arena, service_desk, (size_t)s->workers);
    s->opened = ridge_new(arena, ridge_status, (size_t)s->workers);
    s->found = ridge_new(arena, service_found, (size_t)s->space.n + 1);
    if (s->contexts == NULL || s->desks == NULL || s->opened == NULL ||
        s->found == NULL)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < s->workers; i++) {
        s->contexts[i] = ridge_ctx_open();
        if (s->contexts[i] == NULL)
            return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

static void close_workers(search *s)
{
    for (int i = 0; s->contexts != NULL && i < s->workers; i++) {
        if (s->contexts[i] != NULL)
            ridge_ctx_close(s->contexts[i]);
    }
}

static ridge_status run_tasks(search *s)
{
    RIDGE_TRY(ridge_parallel_runs(s->cx, s->workers, s->order.n_tasks, run_task, s));
    if (ridge_ctx_is_cancelled(s->cx))
        return ridge_fail(s->cx, RIDGE_E_CANCELLED, "cancelled during the search");
    for (int i = 0; i < s->space.n; i++) {
        const ridge_status st = s->found[i].status;
        for (int w = 0; st != RIDGE_OK && w < s->workers; w++) {
            const char *message = ridge_ctx_message(s->contexts[w]);
            if (message[0] != '\0')
                return ridge_fail(s->cx, st, "%s", message);
        }
        if (st != RIDGE_OK)
            return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

/* ---- merging --------------------------------------------------------------------- */

static bool merge_fronts(search *s, const service_found *f)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    for (int i = 0; i < f->speed_front.n; i++) {
        if (!service_points_add(arena, &s->speed_front, &f->speed_front.of[i], false))
            return false;
    }
    for (int i = 0; i < f->cost_front.n; i++) {
        if (!service_points_add(arena, &s->cost_front, &f->cost_front.of[i], true))
            return false;
    }
    return true;
}

/* Words of a worker's fault outlive it. */
static bool merge_refusal(search *s, int item)
{
    const service_found *f = &s->found[item];
    const char *why = NULL;
    if (f->refused == RIDGE_SERVICE_FIT_OK)
        return true;
    if (f->fault != NULL) {
        why = ridge_str_dup(ridge_ctx_arena(s->cx), ridge_str_of(f->fault));
        if (why == NULL)
            return false;
    }
    service_tally_add(&s->tally, f->refused, why, &s->space.layouts[item].layout,
                      f->over_bytes);
    return true;
}

static ridge_status merge(search *s)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    for (int i = 0; i < s->space.n; i++) {
        const service_found *f = &s->found[i];
        s->result->covered += f->covered;
        s->result->priced += f->priced;
        s->result->tables += f->tables;
        if (f->kept != NULL && f->kept->has_best) {
            service_ranking_insert(&s->ranking, &f->kept->best);
            service_variety_insert(&s->variety, &f->kept->best);
        }
        if (f->kept != NULL)
            service_nearest_merge(s->request, &s->nearest, &f->kept->nearest);
        if (!merge_fronts(s, f) ||
            !service_shelves_add(arena, &s->prefill, &f->prefill) ||
            !service_shelves_add(arena, &s->decode, &f->decode) || !merge_refusal(s, i))
            return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

static void take_near(void *payload, const ridge_service_price *price)
{
    search *s = payload;
    service_nearest_add(s->request, &s->nearest, price);
}

static void show_pairs(void *payload, double share)
{
    show(payload, share, 1, "pairing servers");
}

static ridge_status run_pairs(search *s)
{
    ridge_service_request whole = *s->request;
    whole.requests_per_s = 0;
    service_pair_search pairs = {.cx = s->cx,
                                 .request = s->request,
                                 .whole = &whole,
                                 .prefill = &s->prefill,
                                 .decode = &s->decode,
                                 .ranking = &s->ranking,
                                 .variety = &s->variety,
                                 .speed_front = &s->speed_front,
                                 .cost_front = &s->cost_front,
                                 .tally = &s->tally,
                                 .near = take_near,
                                 .show = show_pairs,
                                 .payload = s};
    RIDGE_TRY(service_pair_run(&pairs));
    s->result->covered += pairs.covered;
    s->result->priced += pairs.priced;
    return RIDGE_OK;
}

/* ---- answers --------------------------------------------------------------------- */

/* Tables and priced steps differ by less. */
static const double TABLES_NEAR = 0.02;

/* Kept deployments come by falling tokens a second and chip: one whose chips at rest
 * would draw more for a token than the last that is shown ends it, for it and all
 * behind it are worse. */
static bool is_past_energy(const ridge_service_request *r, const service_ranking *exact,
                           const ridge_service_price *next)
{
    if (r->aim != RIDGE_SERVICE_AIM_ENERGY || exact->n < exact->top)
        return false;
    const double least_j =
        service_energy_floor(r, next->tokens_per_s_per_chip * (1 + TABLES_NEAR));
    return least_j >= exact->prices[exact->n - 1].energy.joules_per_token;
}

static ridge_status finish_ranking(search *s, const service_source *source)
{
    const ridge_service_request *r = s->request;
    service_ranking exact = {.top = r->top, .aim = r->aim};
    ridge_service_result *out = s->result;
    exact.prices =
        ridge_new(ridge_ctx_arena(s->cx), ridge_service_price, (size_t)r->top);
    if (exact.prices == NULL)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < s->ranking.n; i++) {
        ridge_service_price p;
        if (is_past_energy(r, &exact, &s->ranking.prices[i]))
            break;
        RIDGE_TRY(
            service_finish_kept(s->cx, source, r, &s->ranking.prices[i].choice, &p));
        if (p.fit == RIDGE_SERVICE_FIT_OK)
            service_ranking_insert(&exact, &p);
    }
    out->n_layouts = exact.n;
    out->layouts = exact.prices;
    for (int i = 0; i < exact.n && !out->has_other; i++) {
        out->has_other = exact.prices[i].choice.mode != exact.prices[0].choice.mode;
        if (out->has_other)
            out->other = exact.prices[i];
    }
    return RIDGE_OK;
}

static bool is_ranked(const ridge_service_result *r, const ridge_service_choice *choice)
{
    for (int i = 0; i < r->n_layouts; i++) {
        if (service_choice_is_alike(&r->layouts[i].choice, choice))
            return true;
    }
    return false;
}

/* Those that are not among the ranked ones. */
static ridge_status finish_variety(search *s, const service_source *source)
{
    ridge_service_result *out = s->result;
    out->varied = ridge_new(ridge_ctx_arena(s->cx), ridge_service_price,
                            (size_t)s->variety.n + 1);
    if (out->varied == NULL)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < s->variety.n; i++) {
        ridge_service_price p;
        const ridge_service_choice *choice = &s->variety.prices[i].choice;
        if (is_ranked(out, choice))
            continue;
        RIDGE_TRY(service_finish_kept(s->cx, source, s->request, choice, &p));
        if (p.fit == RIDGE_SERVICE_FIT_OK)
            out->varied[out->n_varied++] = p;
    }
    return RIDGE_OK;
}

/* Points are priced as the whole slice runs, whatever the rate. */
static ridge_status finish_front(search *s, const service_source *source,
                                 service_points *points, bool is_cost,
                                 ridge_service_price **out, int *n)
{
    ridge_service_request whole = *s->request;
    whole.requests_per_s = 0;
    whole.goals = ridge_service_goals_none();
    whole.goals.quantile = s->request->goals.quantile;
    service_points_thin(points, FRONT_SHOWN);
    *out =
        ridge_new(ridge_ctx_arena(s->cx), ridge_service_price, (size_t)points->n + 1);
    if (*out == NULL)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < points->n; i++) {
        ridge_service_price p;
        const ridge_service_choice choice = service_point_choice(&points->of[i]);
        RIDGE_TRY(service_finish_price(s->cx, source, &whole, &choice, &p));
        const double slow =
            p.latency_s[is_cost ? RIDGE_SERVICE_E2E : RIDGE_SERVICE_TPOT];
        const bool is_first = *n == 0;
        const bool is_faster =
            is_first ||
            slow < (*out)[*n - 1]
                       .latency_s[is_cost ? RIDGE_SERVICE_E2E : RIDGE_SERVICE_TPOT];
        if (p.fit == RIDGE_SERVICE_FIT_OK && is_faster)
            (*out)[(*n)++] = p;
    }
    return RIDGE_OK;
}

static bool price_beats(const ridge_service_price *a, const ridge_service_price *b,
                        ridge_service_latency latency)
{
    return a->latency_s[latency] <= b->latency_s[latency] &&
           a->tokens_per_s_per_chip > b->tokens_per_s_per_chip * (1 + PRICE_NEAR);
}

/* Tables order points that differ in their third digit now and then otherwise than
 * prices step by step do: what another price beats leaves the front. */
static void drop_beaten(const ridge_service_price *others, int n_others,
                        ridge_service_latency latency, ridge_service_price *front,
                        int *n)
{
    int kept = 0;
    for (int i = 0; i < *n; i++) {
        bool is_beaten = false;
        for (int k = 0; k < n_others && !is_beaten; k++)
            is_beaten = price_beats(&others[k], &front[i], latency);
        if (!is_beaten)
            front[kept++] = front[i];
    }
    *n = kept;
}

/* Each front without what the other one beats. */
static void compare_fronts(ridge_service_result *out)
{
    drop_beaten(out->cost_front, out->n_cost_front, RIDGE_SERVICE_TPOT,
                out->speed_front, &out->n_speed_front);
    drop_beaten(out->speed_front, out->n_speed_front, RIDGE_SERVICE_E2E,
                out->cost_front, &out->n_cost_front);
}

/* What comes nearest is told where nothing does. */
static ridge_status finish_nearest(search *s, const service_source *source)
{
    ridge_service_result *out = s->result;
    const service_nearest *n = &s->nearest;
    out->has_nearest = n->has_all;
    out->has_most = n->has_most && s->request->requests_per_s > 0;
    ridge_service_request whole = *s->request;
    whole.requests_per_s = 0;
    if (n->has_all)
        RIDGE_TRY(
            service_finish_price(s->cx, source, &whole, &n->all.choice, &out->nearest));
    if (out->has_most)
        RIDGE_TRY(
            service_finish_price(s->cx, source, &whole, &n->most.choice, &out->most));
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        out->has_least[i] = n->has_least[i];
        if (n->has_least[i])
            RIDGE_TRY(service_finish_price(s->cx, source, &whole, &n->least[i].choice,
                                           &out->least[i]));
    }
    return RIDGE_OK;
}

static ridge_status finish(search *s)
{
    service_source source;
    ridge_service_result *out = s->result;
    RIDGE_TRY(s->open(s->cx, s->request, &source));
    RIDGE_TRY(finish_ranking(s, &source));
    RIDGE_TRY(finish_variety(s, &source));
    RIDGE_TRY(finish_front(s, &source, &s->speed_front, false, &out->speed_front,
                           &out->n_speed_front));
    RIDGE_TRY(finish_front(s, &source, &s->cost_front, true, &out->cost_front,
                           &out->n_cost_front));
    compare_fronts(out);
    if (out->n_layouts == 0)
        RIDGE_TRY(finish_nearest(s, &source));
    service_tally_sort(&s->tally);
    out->n_refusals = s->tally.n;
    for (int i = 0; i < s->tally.n; i++)
        out->refusals[i] = s->tally.of[i];
    return RIDGE_OK;
}

static ridge_status search_all(search *s)
{
    RIDGE_TRY(service_space_build(s->cx, s->request, &s->space));
    RIDGE_TRY(service_conflicts_room(s->cx, s->request, &s->space));
    RIDGE_TRY(open_workers(s));
    RIDGE_TRY(service_order_find(s->cx, &s->space, s->workers, &s->order));
    RIDGE_TRY(run_tasks(s));
    RIDGE_TRY(merge(s));
    RIDGE_TRY(run_pairs(s));
    return finish(s);
}

ridge_status service_search_run(ridge_ctx *cx, const ridge_service_request *request,
                                service_source_open *open, ridge_service_result *out)
{
    const double start_s = ridge_clock_s();
    search *s = ridge_new(ridge_ctx_arena(cx), search, 1);
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    if (s == NULL || result == NULL)
        return ridge_fail_nomem(cx);
    *s = (search){.cx = cx, .request = request, .open = open, .result = result};
    const int spare = request->aim == RIDGE_SERVICE_AIM_ENERGY ? SPARE_ENERGY : SPARE;
    s->ranking = (service_ranking){.top = request->top + spare, .aim = request->aim};
    s->ranking.prices =
        ridge_new(ridge_ctx_arena(cx), ridge_service_price, (size_t)s->ranking.top);
    s->variety = (service_variety){.top = request->varied, .aim = request->aim};
    s->variety.prices = ridge_new(ridge_ctx_arena(cx), ridge_service_price,
                                  (size_t)request->varied + 1);
    if (s->ranking.prices == NULL || s->variety.prices == NULL)
        return ridge_fail_nomem(cx);
    const ridge_status st = search_all(s);
    close_workers(s);
    if (st != RIDGE_OK)
        return st;
    result->seconds = ridge_clock_s() - start_s;
    *out = *result;
    return RIDGE_OK;
}
