/*
 * The search over a fleet's layouts: tasks of one tp, cp, ep, SP and exchange go to the
 * processors, each in a request of its own. A first pass over few variants of each mesh
 * bounds the second, so that what is found depends on nothing that runs beside it.
 */
#include "divisors.h"
#include "fleet_case.h"
#include "fleet_task.h"

#include <math.h>
#include <string.h>

enum { CP_CHUNK_LEAST_TOKENS = 1024, WAVE_TASKS = 12 };

typedef struct fleet_item {
    fleet_task task;
    fleet_answer answer;
    ridge_status st;
} fleet_item;

typedef struct fleet_hunt {
    ridge_ctx *cx;
    const ridge_train_request *request;
    int n, cap;
    fleet_item *items;
    int workers;
    ridge_ctx **contexts; /* [workers] */
    fleet_desk **desks;   /* [workers] NULL until they are wanted */
    int first;            /* task of the present wave */
    double bound_s;
    bool is_quick;
} fleet_hunt;

/* ---- tasks ------------------------------------------------------------------------
 */

static bool add_item(fleet_hunt *h, const fleet_task *task)
{
    if (h->n == h->cap) {
        const int cap = h->cap == 0 ? 64 : 2 * h->cap;
        fleet_item *grown = ridge_new(ridge_ctx_arena(h->cx), fleet_item, (size_t)cap);
        if (grown == NULL)
            return false;
        if (h->n > 0)
            memcpy(grown, h->items, (size_t)h->n * sizeof *grown);
        h->items = grown;
        h->cap = cap;
    }
    h->items[h->n++].task = *task;
    return true;
}

static bool is_sp_wanted(const fleet_hunt *h, const fleet_task *t)
{
    const int wanted = h->request->knobs.has_sp;
    if (t->tp == 1)
        return !t->has_sp;
    if (wanted != RIDGE_FLAG_FREE)
        return t->has_sp == (wanted == 1);
    return !t->has_sp || (int64_t)h->request->seq_tokens / t->cp % t->tp == 0;
}

/* As on one kind of chip: a ring or an all-to-all unless gathering is asked for. */
static bool is_exchange_wanted(const fleet_hunt *h, const fleet_task *t)
{
    const int wanted = h->request->knobs.cp_exchange;
    if (t->cp == 1)
        return t->cp_exchange == RIDGE_CP_RING;
    if (t->cp_exchange == RIDGE_CP_ALL_TO_ALL &&
        ridge_model_tp(h->request->model, t->tp * t->cp) != RIDGE_TP_OK)
        return false;
    return wanted != RIDGE_KNOB_FREE ? (int)t->cp_exchange == wanted
                                     : t->cp_exchange != RIDGE_CP_GATHER;
}

static bool is_cp_wanted(const fleet_hunt *h, int64_t cp)
{
    const int64_t seq = (int64_t)h->request->seq_tokens;
    if (h->request->knobs.cp > 0)
        return cp == h->request->knobs.cp;
    return cp == 1 || (seq % cp == 0 && seq / cp >= CP_CHUNK_LEAST_TOKENS);
}

static int64_t experts_of(const ridge_model *model)
{
    int64_t experts = 1;
    for (int k = 0; k < model->n_layers; k++) {
        if (model->layers[k].ffn.kind == RIDGE_FFN_MOE)
            experts = model->layers[k].ffn.experts;
    }
    return experts;
}

static bool add_variants(fleet_hunt *h, fleet_task *t, const divisors *experts)
{
    for (int i = 0; i < experts->n; i++) {
        t->ep = experts->values[i];
        if (h->request->knobs.ep > 0 && h->request->knobs.ep != t->ep)
            continue;
        for (int v = 0; v < 2 * RIDGE_CP_COUNT; v++) {
            t->has_sp = v % 2 == 0;
            t->cp_exchange = (ridge_cp_exchange)(v / 2);
            if (is_sp_wanted(h, t) && is_exchange_wanted(h, t) && !add_item(h, t))
                return false;
        }
    }
    return true;
}

static ridge_status find_tasks(fleet_hunt *h)
{
    ridge_arena *arena = ridge_ctx_arena(h->cx);
    const ridge_knobs *k = &h->request->knobs;
    divisors chips;
    divisors experts;
    if (!divisors_of(arena, h->request->slice->chips, &chips) ||
        !divisors_of(arena, experts_of(h->request->model), &experts))
        return ridge_fail_nomem(h->cx);
    for (int i = 0; i < chips.n; i++) {
        fleet_task t = {.cp = chips.values[i]};
        for (int j = chips.n - 1; j >= 0 && is_cp_wanted(h, t.cp); j--) {
            t.tp = chips.values[j];
            const ridge_tp_verdict verdict = ridge_model_tp(h->request->model, t.tp);
            if ((verdict == RIDGE_TP_OK || verdict == RIDGE_TP_REPLICATES_KV) &&
                (k->tp <= 0 || k->tp == t.tp) && !add_variants(h, &t, &experts))
                return ridge_fail_nomem(h->cx);
        }
    }
    return RIDGE_OK;
}

/* ---- the passes -------------------------------------------------------------------
 */

static ridge_status run_task(fleet_hunt *h, fleet_item *item, int worker)
{
    if (h->desks[worker] == NULL)
        RIDGE_TRY(fleet_desk_open(h->contexts[worker], h->request, &h->desks[worker]));
    return fleet_desk_run(h->desks[worker], &item->task, h->bound_s, h->is_quick,
                          &item->answer);
}

static void run_item(void *payload, int64_t index, int worker)
{
    fleet_hunt *h = payload;
    fleet_item *item = &h->items[h->first + index];
    item->answer = (fleet_answer){.ranking = {.top = h->request->top}};
    item->st = run_task(h, item, worker);
    if (worker == 0 && h->request->progress != NULL)
        ridge_progress_show(h->request->progress,
                            (h->is_quick ? 0 : 0.3) + (h->is_quick ? 0.3 : 0.7) *
                                                          (double)(h->first + index) /
                                                          (double)h->n,
                            "searching layouts of the fleet");
}

static ridge_status fail_as_worker(fleet_hunt *h, ridge_status st)
{
    for (int w = 0; w < h->workers; w++) {
        const char *message = ridge_ctx_message(h->contexts[w]);
        if (message[0] != '\0')
            return ridge_fail(h->cx, st, "%s", message);
    }
    return ridge_fail_nomem(h->cx);
}

static ridge_status run_wave(fleet_hunt *h, fleet_ranking *all)
{
    const int left = h->n - h->first;
    const int tasks = left < WAVE_TASKS ? left : WAVE_TASKS;
    h->bound_s = fmin(h->bound_s, fleet_ranking_worst_s(all));
    RIDGE_TRY(ridge_parallel(h->cx, h->workers, tasks, run_item, h));
    if (ridge_ctx_is_cancelled(h->cx))
        return ridge_fail(h->cx, RIDGE_E_CANCELLED, "cancelled during the search");
    for (int i = h->first; i < h->first + tasks; i++) {
        const fleet_item *item = &h->items[i];
        if (item->st != RIDGE_OK)
            return fail_as_worker(h, item->st);
        for (int j = 0; j < item->answer.ranking.n; j++)
            fleet_ranking_insert(all, &item->answer.ranking.entries[j]);
    }
    return RIDGE_OK;
}

/* What a wave finds bounds the next: waves are alike for any number of workers. */
static ridge_status run_pass(fleet_hunt *h, bool is_quick, fleet_ranking *all)
{
    h->is_quick = is_quick;
    for (h->first = 0; h->first < h->n; h->first += WAVE_TASKS)
        RIDGE_TRY(run_wave(h, all));
    return RIDGE_OK;
}

static ridge_status open_workers(fleet_hunt *h)
{
    ridge_arena *arena = ridge_ctx_arena(h->cx);
    h->workers =
        h->request->workers > 0 ? h->request->workers : ridge_processor_count();
    h->contexts = ridge_arena_new(arena, (size_t)h->workers, sizeof *h->contexts);
    h->desks = ridge_arena_new(arena, (size_t)h->workers, sizeof *h->desks);
    if (h->contexts == NULL || h->desks == NULL)
        return ridge_fail_nomem(h->cx);
    for (int i = 0; i < h->workers; i++) {
        h->contexts[i] = ridge_ctx_open();
        if (h->contexts[i] == NULL)
            return ridge_fail_nomem(h->cx);
    }
    return RIDGE_OK;
}

static void close_workers(fleet_hunt *h)
{
    for (int i = 0; h->contexts != NULL && i < h->workers; i++) {
        if (h->contexts[i] != NULL)
            ridge_ctx_close(h->contexts[i]);
    }
}

static ridge_status hunt(fleet_hunt *h, fleet_ranking *all)
{
    h->bound_s = (double)INFINITY;
    RIDGE_TRY(find_tasks(h));
    RIDGE_TRY(open_workers(h));
    RIDGE_TRY(run_pass(h, true, all));
    h->bound_s = fleet_ranking_worst_s(all);
    all->n = 0;
    return run_pass(h, false, all);
}

static ridge_status search(fleet_hunt *h, ridge_fleet_result *out)
{
    fleet_ranking *all = ridge_new(ridge_ctx_arena(h->cx), fleet_ranking, 1);
    if (all == NULL)
        return ridge_fail_nomem(h->cx);
    all->top = h->request->top;
    const ridge_status st = hunt(h, all);
    close_workers(h);
    RIDGE_TRY(st);
    for (int i = 0; i < h->n; i++) {
        out->covered += h->items[i].answer.covered;
        out->priced += h->items[i].answer.priced;
    }
    out->n_layouts = all->n;
    out->layouts =
        ridge_new(ridge_ctx_arena(h->cx), ridge_fleet_price, (size_t)all->n + 1);
    if (out->layouts == NULL)
        return ridge_fail_nomem(h->cx);
    for (int i = 0; i < all->n; i++) {
        RIDGE_TRY(ridge_fleet_price_one(h->cx, h->request, &all->entries[i].layout,
                                        &out->layouts[i]));
    }
    return RIDGE_OK;
}

/* ---- the fleet --------------------------------------------------------------------
 */

/* Each pool by itself, with the knobs that it can take. */
static ridge_status search_alone(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_slice *slice, ridge_fleet_result *out)
{
    const int i = out->n_pools++;
    ridge_slice *pool = ridge_new(ridge_ctx_arena(cx), ridge_slice, 1);
    ridge_train_result result;
    if (pool == NULL)
        return ridge_fail_nomem(cx);
    *pool = *slice;
    pool->next = NULL;
    ridge_train_request *r = &out->requests[i];
    *r = *request;
    r->slice = pool;
    r->top = 1;
    r->front = 0;
    r->usd_per_chip_hour = 0;
    r->knobs.pp = 0;
    out->chips += pool->chips;
    const ridge_status st = ridge_train_search(cx, r, &result);
    if (st != RIDGE_OK) /* a knob that it cannot take alone */
        return st == RIDGE_E_ARG ? RIDGE_OK : st;
    r->batch_tokens = result.batch_tokens;
    out->has_alone[i] = result.n_layouts > 0;
    if (out->has_alone[i])
        out->alone[i] = result.layouts[0];
    return RIDGE_OK;
}

/* Knobs that a pool cannot take leave the pipeline alone. */
static ridge_status find_replicas(ridge_ctx *cx, const ridge_train_request *request,
                                  ridge_fleet_result *out)
{
    if (request->knobs.pp > 0) {
        out->why_no_replicas = "pp counts the stages of all pools";
        return RIDGE_OK;
    }
    const ridge_status st = ridge_fleet_replicas_search(cx, request, &out->replicas);
    if (st != RIDGE_E_ARG)
        return st;
    out->why_no_replicas =
        ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx)));
    return RIDGE_OK;
}

/* Knobs that one pipeline over all pools cannot take leave replicas alone; with pp,
 * which counts its stages, there are none of these. */
static ridge_status find_pipelines(ridge_ctx *cx, const ridge_train_request *request,
                                   ridge_fleet_result *out)
{
    fleet_hunt hunt = {.cx = cx, .request = request};
    const ridge_status st = fleet_case_check_pipeline(cx, request);
    if (st == RIDGE_OK)
        return search(&hunt, out);
    if (st != RIDGE_E_ARG || request->knobs.pp > 0)
        return st;
    out->why_no_pipeline =
        ridge_str_dup(ridge_ctx_arena(cx), ridge_str_of(ridge_ctx_message(cx)));
    return RIDGE_OK;
}

ridge_status ridge_fleet_search(ridge_ctx *cx, const ridge_train_request *request,
                                ridge_fleet_result *out)
{
    const double start_s = ridge_clock_s();
    ridge_train_request whole = *request;
    ridge_fleet_result result = {0};
    RIDGE_TRY(fleet_case_check(cx, request));
    if (whole.top < 1 || whole.top > RIDGE_TRAIN_TOP_MAX)
        whole.top = whole.top < 1 ? 1 : RIDGE_TRAIN_TOP_MAX;
    if (whole.shelf == NULL)
        RIDGE_TRY(ridge_layer_shelf_open(cx, &whole.shelf));
    for (const ridge_slice *s = request->slice; s != NULL; s = s->next)
        RIDGE_TRY(search_alone(cx, &whole, s, &result));
    result.batch_seqs =
        (int64_t)fmax(1, round(request->batch_tokens / floor(request->seq_tokens)));
    result.batch_tokens = (double)result.batch_seqs * floor(request->seq_tokens);
    RIDGE_TRY(find_pipelines(cx, &whole, &result));
    RIDGE_TRY(find_replicas(cx, &whole, &result));
    result.seconds = ridge_clock_s() - start_s;
    *out = result;
    return RIDGE_OK;
}
