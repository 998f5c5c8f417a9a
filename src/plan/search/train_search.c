/*
 * The search for training layouts: every factorisation of the chips over tp, cp, pp,
 * fsdp and dp (and of the experts over ep), every ZeRO stage, microbatch, pipeline,
 * remat policy and placement. Tasks of one tp, cp, ep and SP go to the processors, each
 * with what it needs of its own; a first pass over few variants of each mesh finds good
 * layouts, whose times bound the second. What a task finds depends on nothing that runs
 * beside it, so neither does the answer, nor the counts.
 * SP is tried both ways: it saves memory and vector time, but one all-reduce can be
 * faster than its gather and scatter (one start less; a switch that reduces).
 */
#include "divisors.h"
#include "search_task.h"
#include "train_price.h"

#include <math.h>

enum { CP_CHUNK_LEAST_TOKENS = 1024, WAVE_TASKS = 16 };

/* Room of fronts until all is found: thinned out before, they would hang on what was
 * priced in which order. */
enum { FRONT_OF_TASK = 64, FRONT_OF_ALL = 512 };

typedef struct search {
    ridge_ctx *cx;
    const ridge_train_request *request;
    const train_case *tc;
    int n_tasks, cap_tasks;
    search_task *tasks;
    search_answer *answers; /* [n_tasks] */
    layer_book *books;      /* [n_tasks] */
    int workers;
    ridge_ctx **contexts; /* [2 workers]: for its work, and for what stays */
    search_desk **desks;  /* [workers] */
    int *order;           /* [n_tasks] in which tasks are run */
    int64_t first;        /* in order, of the present wave */
    search_known known;
    layout_ranking found; /* what known.ranking is */
    layout_front front;   /* what known.front is */
    bool is_quick;
    ridge_train_result *result;
} search;

static bool is_free_or(int64_t knob, int64_t value)
{
    return knob <= 0 || knob == value;
}

/* ---- tasks ----------------------------------------------------------------------- */

static bool add_task(search *s, const search_task *task)
{
    if (s->n_tasks == s->cap_tasks) {
        int cap = s->cap_tasks == 0 ? 256 : 2 * s->cap_tasks;
        search_task *grown =
            ridge_new(ridge_ctx_arena(s->cx), search_task, (size_t)cap);
        if (grown == NULL)
            return false;
        for (int i = 0; i < s->n_tasks; i++)
            grown[i] = s->tasks[i];
        s->tasks = grown;
        s->cap_tasks = cap;
    }
    s->tasks[s->n_tasks++] = *task;
    return true;
}

static bool is_sp_wanted(const search *s, const search_task *t)
{
    const ridge_knobs *k = &s->request->knobs;
    if (t->tp == 1)
        return !t->has_sp;
    if (k->has_sp != RIDGE_FLAG_FREE)
        return t->has_sp == (k->has_sp == 1);
    return !t->has_sp || (int64_t)s->tc->seq_tokens / t->cp % t->tp == 0;
}

/* Unasked, a ring or an all-to-all: gathering exchanges what a ring does, and waits. */
static bool is_exchange_wanted(const search *s, const search_task *t)
{
    int wanted = s->request->knobs.cp_exchange;
    bool is_all_to_all = t->cp_exchange == RIDGE_CP_ALL_TO_ALL;
    if (t->cp == 1)
        return t->cp_exchange == RIDGE_CP_RING;
    if (is_all_to_all && ridge_model_tp(s->tc->model, t->tp * t->cp) != RIDGE_TP_OK)
        return false;
    if (wanted != RIDGE_KNOB_FREE)
        return (int)t->cp_exchange == wanted;
    return t->cp_exchange != RIDGE_CP_GATHER;
}

static bool is_cp_wanted(const search *s, int64_t cp)
{
    int64_t seq = (int64_t)s->tc->seq_tokens;
    if (s->request->knobs.cp > 0)
        return cp == s->request->knobs.cp;
    return cp == 1 || (seq % cp == 0 && seq / cp >= CP_CHUNK_LEAST_TOKENS);
}

/* Degrees of expert parallelism: divisors of the experts; 1 for a dense model. */
static bool expert_degrees(const search *s, divisors *out)
{
    int64_t experts = 1;
    for (int k = 0; k < s->tc->n_kinds; k++) {
        if (s->tc->kinds[k].ffn.kind == RIDGE_FFN_MOE)
            experts = s->tc->kinds[k].ffn.experts;
    }
    return divisors_of(ridge_ctx_arena(s->cx), experts, out);
}

static void refuse(search *s, ridge_fit fit)
{
    s->result->refused[fit]++;
    s->result->covered++;
}

/* Every way to exchange, with and without SP, for each ep. */
static bool add_variants(search *s, search_task *t, const divisors *experts)
{
    bool is_found = false;
    for (int i = 0; i < experts->n; i++) {
        t->ep = experts->values[i];
        if (!is_free_or(s->request->knobs.ep, t->ep))
            continue;
        is_found = true;
        for (int v = 0; v < 2 * RIDGE_CP_COUNT; v++) {
            t->has_sp = v % 2 == 0;
            t->cp_exchange = (ridge_cp_exchange)(v / 2);
            if (is_sp_wanted(s, t) && is_exchange_wanted(s, t) && !add_task(s, t))
                return false;
        }
    }
    if (!is_found)
        refuse(s, RIDGE_FIT_EP);
    return true;
}

static ridge_status find_tasks(search *s)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    divisors chips;
    divisors experts;
    if (!divisors_of(arena, s->tc->slice->chips, &chips) ||
        !expert_degrees(s, &experts))
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < chips.n; i++) {
        search_task t = {.cp = chips.values[i]};
        for (int j = chips.n - 1; j >= 0 && is_cp_wanted(s, t.cp); j--) {
            t.tp = chips.values[j];
            if (s->tc->slice->chips / t.cp % t.tp != 0 ||
                !is_free_or(s->request->knobs.tp, t.tp))
                continue;
            ridge_tp_verdict verdict = ridge_model_tp(s->tc->model, t.tp);
            if (verdict != RIDGE_TP_OK && verdict != RIDGE_TP_REPLICATES_KV) {
                s->result->refused[RIDGE_FIT_TP]++;
            } else if (!add_variants(s, &t, &experts)) {
                return ridge_fail_nomem(s->cx);
            }
        }
    }
    return RIDGE_OK;
}

/* ---- workers --------------------------------------------------------------------- */

static void run_task(void *payload, int64_t item, int worker)
{
    search *s = payload;
    const int task = s->order[s->first + item];
    search_answer *a = &s->answers[task];
    if (s->desks[worker] == NULL) {
        a->status =
            search_desk_open(s->contexts[2 * worker], s->contexts[2 * worker + 1],
                             s->request, &s->desks[worker]);
        if (a->status != RIDGE_OK)
            return;
    }
    search_desk_run(s->desks[worker], &s->tasks[task], &s->books[task], &s->known,
                    s->is_quick, a);
    if (worker == 0 && s->request->progress != NULL)
        ridge_progress_show(s->request->progress,
                            ((s->is_quick ? 0 : 0.5) +
                             0.5 * (double)(s->first + item) / (double)s->n_tasks),
                            "searching layouts");
}

static ridge_status make_answers(search *s)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    s->answers = ridge_new(arena, search_answer, (size_t)s->n_tasks + 1);
    if (s->answers == NULL)
        return ridge_fail_nomem(s->cx);
    const int front = s->is_quick || s->request->front == 0 ? 0 : FRONT_OF_TASK;
    for (int i = 0; i < s->n_tasks; i++) {
        search_answer *a = &s->answers[i];
        a->ranking.top = s->request->top;
        a->ranking.layouts =
            ridge_new(arena, ridge_train_price, (size_t)a->ranking.top);
        a->front.most = front;
        a->front.layouts = ridge_new(arena, ridge_train_price, (size_t)front + 1);
        if (a->ranking.layouts == NULL || a->front.layouts == NULL)
            return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

/* @return of the first task that failed; RIDGE_OK: none did */
static ridge_status check_wave(search *s, int64_t n)
{
    for (int64_t i = s->first; i < s->first + n; i++) {
        const ridge_status st = s->answers[s->order[i]].status;
        if (st == RIDGE_OK)
            continue;
        for (int w = 0; w < 2 * s->workers; w++) {
            const char *message = ridge_ctx_message(s->contexts[w]);
            if (message[0] != '\0')
                return ridge_fail(s->cx, st, "%s", message);
        }
        return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

/* What a wave finds bounds those behind it. */
static void learn_wave(search *s, int64_t n)
{
    for (int64_t i = s->first; i < s->first + n; i++) {
        const search_answer *a = &s->answers[s->order[i]];
        for (int j = 0; j < a->ranking.n; j++)
            layout_ranking_insert(&s->found, &a->ranking.layouts[j]);
        for (int j = 0; j < a->front.n; j++)
            layout_front_insert(&s->front, &a->front.layouts[j]);
    }
    s->known.bound_s = fmin(s->known.bound_s, layout_ranking_worst_s(&s->found));
}

/* In waves that grow, whatever the number of workers: so what a task finds depends on
 * nothing that runs beside it. */
static ridge_status run_tasks(search *s)
{
    int64_t n = WAVE_TASKS;
    RIDGE_TRY(make_answers(s));
    for (s->first = 0; s->first < s->n_tasks; s->first += n, n *= 2) {
        n = n < s->n_tasks - s->first ? n : s->n_tasks - s->first;
        RIDGE_TRY(ridge_parallel(s->cx, s->workers, n, run_task, s));
        if (ridge_ctx_is_cancelled(s->cx))
            return ridge_fail(s->cx, RIDGE_E_CANCELLED, "cancelled during the search");
        RIDGE_TRY(check_wave(s, n));
        learn_wave(s, n);
    }
    return RIDGE_OK;
}

/* ---- answers --------------------------------------------------------------------- */

static void add_tally(ridge_train_result *to, const ridge_train_result *from)
{
    to->covered += from->covered;
    to->priced += from->priced;
    for (int i = 0; i < RIDGE_FIT_COUNT; i++)
        to->refused[i] += from->refused[i];
    if (from->has_nearest)
        layout_ranking_nearest(to, &from->nearest);
}

static void merge(const search *s, layout_ranking *ranking)
{
    for (int i = 0; i < s->n_tasks; i++) {
        const search_answer *a = &s->answers[i];
        for (int j = 0; j < a->ranking.n; j++)
            layout_ranking_insert(ranking, &a->ranking.layouts[j]);
    }
}

/* What is slower than a layout known to the caller is not among the best one. Prices of
 * one layout agree to far less than the slack. */
static double known_bound_s(const ridge_train_request *r)
{
    const double slack = 1 + 1e-6;
    const bool is_known = r->known_step_s > 0 && r->top == 1 && r->front == 0;
    return is_known ? slack * r->known_step_s : (double)INFINITY;
}

/* Few variants of each mesh first, whose best bound the whole search. */
static ridge_status search_all(search *s, layout_ranking *ranking)
{
    layout_front *front = &s->front;
    s->known = (search_known){known_bound_s(s->request), &s->found, front};
    s->is_quick = true;
    if (!isfinite(s->known.bound_s))
        RIDGE_TRY(run_tasks(s));
    s->is_quick = false;
    RIDGE_TRY(run_tasks(s));
    merge(s, ranking);
    while (front->n > 0 && front->layouts[front->n - 1].step_time_s >
                               LAYOUT_FRONT_REACH * front->layouts[0].step_time_s)
        front->n--;
    layout_front_thin(front, s->request->front);
    for (int i = 0; i < s->n_tasks; i++)
        add_tally(s->result, &s->answers[i].tally);
    if (ranking->n > 0)
        s->result->has_nearest = false;
    return RIDGE_OK;
}

/* Powers of two that a task's tp and cp are away from the chips that the innermost
 * level joins: where they fill it the quickest layouts are found, mostly. */
static int distance_of(const search *s, const search_task *t)
{
    const double within = (double)s->tc->slice->axes[0].size;
    return (int)lround(fabs(log2((double)(t->tp * t->cp) / fmax(1, within))));
}

/* The likely ones first; as they were told otherwise. */
static void order_tasks(search *s)
{
    int n = 0;
    for (int distance = 0; n < s->n_tasks; distance++) {
        for (int i = 0; i < s->n_tasks; i++) {
            if (distance_of(s, &s->tasks[i]) == distance)
                s->order[n++] = i;
        }
    }
}

static ridge_status open_workers(search *s)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    s->workers =
        s->request->workers > 0 ? s->request->workers : ridge_processor_count();
    if (s->workers > s->n_tasks)
        s->workers = s->n_tasks > 0 ? s->n_tasks : 1;
    s->contexts = ridge_arena_new(arena, 2 * (size_t)s->workers, sizeof(ridge_ctx *));
    s->books = ridge_new(arena, layer_book, (size_t)s->n_tasks + 1);
    s->desks = ridge_arena_new(arena, (size_t)s->workers, sizeof(search_desk *));
    s->order = ridge_new(arena, int, (size_t)s->n_tasks + 1);
    s->found.top = s->request->top;
    s->found.layouts = ridge_new(arena, ridge_train_price, (size_t)s->found.top);
    if (s->contexts == NULL || s->desks == NULL || s->books == NULL ||
        s->order == NULL || s->found.layouts == NULL)
        return ridge_fail_nomem(s->cx);
    order_tasks(s);
    for (int i = 0; i < 2 * s->workers; i++) {
        s->contexts[i] = ridge_ctx_open();
        if (s->contexts[i] == NULL)
            return ridge_fail_nomem(s->cx);
    }
    return RIDGE_OK;
}

static void close_workers(search *s)
{
    for (int i = 0; s->contexts != NULL && i < 2 * s->workers; i++) {
        if (s->contexts[i] != NULL)
            ridge_ctx_close(s->contexts[i]);
    }
}

static int within(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

static ridge_status search_open(search *s, ridge_train_result *result)
{
    const ridge_train_request *r = s->request;
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    layout_ranking ranking = {.top = r->top};
    layout_front *front = &s->front;
    front->most = r->front > 0 ? FRONT_OF_ALL : 0;
    ranking.layouts = ridge_new(arena, ridge_train_price, (size_t)r->top);
    front->layouts = ridge_new(arena, ridge_train_price, (size_t)front->most + 1);
    if (ranking.layouts == NULL || front->layouts == NULL)
        return ridge_fail_nomem(s->cx);
    RIDGE_TRY(find_tasks(s));
    RIDGE_TRY(open_workers(s));
    RIDGE_TRY(search_all(s, &ranking));
    result->n_layouts = ranking.n;
    result->layouts = ranking.layouts;
    result->n_front = front->n;
    result->front = front->layouts;
    for (int i = 0; i < ranking.n; i++)
        train_price_finish(s->tc, &ranking.layouts[i]);
    for (int i = 0; i < front->n; i++)
        train_price_finish(s->tc, &front->layouts[i]);
    return RIDGE_OK;
}

ridge_status ridge_train_search(ridge_ctx *cx, const ridge_train_request *request,
                                ridge_train_result *out)
{
    double start_s = ridge_clock_s();
    ridge_train_request whole = *request;
    train_case tc;
    whole.top = within(whole.top, 1, RIDGE_TRAIN_TOP_MAX);
    whole.front = within(whole.front, 0, RIDGE_TRAIN_FRONT_MAX);
    RIDGE_TRY(train_case_open(cx, &whole, &tc));
    ridge_train_result result = {.batch_seqs = tc.batch_seqs,
                                 .batch_tokens = (double)tc.batch_seqs * tc.seq_tokens};
    search s = {.cx = cx, .request = &whole, .tc = &tc, .result = &result};
    ridge_status st = search_open(&s, &result);
    close_workers(&s);
    if (st != RIDGE_OK)
        return st;
    result.seconds = ridge_clock_s() - start_s;
    *out = result;
    return RIDGE_OK;
}
