/*
 * Orders of whole pipelines. Which action waits for which is the schedule's alone, so
 * it is found once; a play is then a walk down the list.
 */
#include "pipeline_order.h"

#include "pipeline_endless.h"
#include "pipeline_run.h"

#include <math.h>

/* A list while it is written. */
typedef struct writing {
    const ridge_pipeline_schedule *schedule;
    ridge__ordered *actions; /* [n] */
    int n;
    int *next; /* [p] action of each rank's own list */
    int *last; /* [p] place of the action before; -1 */
    /* [p v, m] the place of who makes the message that a stage gets; -1: not yet */
    int *made[RIDGE__WAYS];
    int *line[RIDGE__WAYS]; /* [p v] the last who sent on a line; -1 */
} writing;

static size_t cell(const writing *w, int stage, int microbatch)
{
    return (size_t)stage * (size_t)w->schedule->pipeline.microbatches +
           (size_t)microbatch;
}

/* @return false: what it needs is not there yet */
static bool append(writing *w, int rank, const ridge_action *action)
{
    const ridge_pipeline *p = &w->schedule->pipeline;
    const int stage = ridge_pipeline_stage_of(
        p, (ridge_pipeline_place){.rank = rank, .chunk = action->chunk});
    const int way = ridge__way_of(action->pass);
    const int source = ridge_pipeline_source_of(p, stage, action->pass);
    const int target = ridge_pipeline_target_of(p, stage, action->pass);
    ridge__ordered a = {.rank = rank,
                        .stage = stage,
                        .pass = action->pass,
                        .before = w->last[rank],
                        .after = -1,
                        .need = -1,
                        .line = -1};
    if (source >= 0) {
        a.need = w->made[way][cell(w, stage, action->microbatch)];
        if (a.need < 0)
            return false;
        a.is_remote = ridge_pipeline_is_remote(p, stage, source);
    }
    if (target >= 0) {
        w->made[way][cell(w, target, action->microbatch)] = w->n;
        a.line = w->line[way][target];
        w->line[way][target] = w->n;
    }
    if (a.before >= 0)
        w->actions[a.before].after = w->n;
    w->last[rank] = w->n;
    w->actions[w->n++] = a;
    return true;
}

static bool append_all(writing *w, int rank)
{
    const ridge_action_list *list = &w->schedule->ranks[rank];
    const int first = w->next[rank];
    while (w->next[rank] < list->n && append(w, rank, &list->actions[w->next[rank]]))
        w->next[rank]++;
    return w->next[rank] > first;
}

static void write_order(writing *w)
{
    const int p = w->schedule->pipeline.ranks;
    bool has_moved = true;
    while (has_moved) {
        has_moved = false;
        for (int i = 0; i < p; i++)
            has_moved = append_all(w, i) || has_moved;
        for (int i = p - 1; i >= 0; i--)
            has_moved = append_all(w, i) || has_moved;
    }
}

/* ---- opening ------------------------------------------------------------------- */

static int *places(ridge_arena *arena, size_t n)
{
    int *all = ridge_new(arena, int, n);
    for (size_t i = 0; all != NULL && i < n; i++)
        all[i] = -1;
    return all;
}

static bool open(ridge_ctx *cx, const ridge_pipeline_schedule *schedule, size_t n,
                 writing *w)
{
    const ridge_pipeline *p = &schedule->pipeline;
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const size_t stages = (size_t)p->ranks * (size_t)p->chunks;
    *w = (writing){.schedule = schedule,
                   .actions = ridge_new(ridge_ctx_arena(cx), ridge__ordered, n),
                   .next = ridge_new(scratch, int, (size_t)p->ranks),
                   .last = places(scratch, (size_t)p->ranks)};
    for (int way = 0; way < RIDGE__WAYS; way++) {
        w->made[way] = places(scratch, stages * (size_t)p->microbatches);
        w->line[way] = places(scratch, stages);
        if (w->made[way] == NULL || w->line[way] == NULL)
            return false;
    }
    return w->actions != NULL && w->next != NULL && w->last != NULL;
}

static ridge_status write_all(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                              size_t n, ridge__order *out)
{
    const int ranks = schedule->pipeline.ranks;
    writing w;
    int *first = places(ridge_ctx_arena(cx), (size_t)ranks);
    if (first == NULL || !open(cx, schedule, n, &w))
        return ridge_fail_nomem(cx);
    write_order(&w);
    if ((size_t)w.n < n)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "ranks of the pipeline wait for each other in a circle: "
                          "change their order");
    for (int i = w.n - 1; i >= 0; i--)
        first[w.actions[i].rank] = i;
    *out =
        (ridge__order){.n = w.n, .ranks = ranks, .actions = w.actions, .first = first};
    return RIDGE_OK;
}

ridge_status ridge__order_make(ridge_ctx *cx, const ridge_pipeline_schedule *schedule,
                               ridge__order *out)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    size_t n = 0;
    for (int i = 0; i < schedule->pipeline.ranks; i++)
        n += (size_t)schedule->ranks[i].n;
    const ridge_status st = write_all(cx, schedule, n, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}

bool ridge__order_times_new(ridge_arena *arena, const ridge__order *order,
                            ridge__order_times *out)
{
    const size_t n = (size_t)order->n;
    const size_t p = (size_t)order->ranks;
    *out = (ridge__order_times){.work_s = ridge_new(arena, double, n),
                                .free_s = ridge_new(arena, double, p),
                                .start_s = ridge_new(arena, double, n),
                                .end_s = ridge_new(arena, double, n),
                                .arrival_s = ridge_new(arena, double, n),
                                .next = ridge_new(arena, int, p),
                                .left_s = ridge_new(arena, double, p),
                                .before_s = ridge_new(arena, double, 2 * p)};
    return out->work_s != NULL && out->free_s != NULL && out->start_s != NULL &&
           out->end_s != NULL && out->arrival_s != NULL && out->next != NULL &&
           out->left_s != NULL && out->before_s != NULL;
}

/* ---- playing ------------------------------------------------------------------- */

static void play_on(const ridge__order *order, double send_s, ridge__order_times *t)
{
    for (int i = 0; i < order->n; i++) {
        const ridge__ordered *a = &order->actions[i];
        double start_s = t->free_s[a->rank];
        if (a->need >= 0)
            start_s =
                fmax(start_s, a->is_remote ? t->arrival_s[a->need] : t->end_s[a->need]);
        const double end_s = start_s + t->work_s[i];
        t->start_s[i] = start_s;
        t->end_s[i] = t->free_s[a->rank] = end_s;
        t->arrival_s[i] =
            (a->line >= 0 ? fmax(end_s, t->arrival_s[a->line]) : end_s) + send_s;
    }
}

void ridge__order_play(const ridge__order *order, double send_s, ridge__order_times *t)
{
    for (int rank = 0; rank < order->ranks; rank++)
        t->free_s[rank] = 0;
    play_on(order, send_s, t);
}

/* Step after step. */
typedef struct endless {
    const ridge__order *order;
    double send_s;
    ridge__order_times *times;
} endless;

static void play_next(void *payload)
{
    const endless *e = payload;
    play_on(e->order, e->send_s, e->times);
}

double ridge__order_play_endless(const ridge__order *order, double send_s,
                                 const double *close_s, ridge__order_times *t)
{
    endless e = {order, send_s, t};
    const ridge__endless run = {.ranks = order->ranks,
                                .close_s = close_s,
                                .free_s = t->free_s,
                                .before_s = t->before_s,
                                .step = play_next,
                                .payload = &e};
    return ridge__endless_s(&run);
}

/* Ranks whose next action can start do. @return how many are at work */
static int start_ready(const ridge__order *order, double now_s, ridge__order_times *t)
{
    int n = 0;
    for (int rank = 0; rank < order->ranks; rank++) {
        const int at = t->next[rank];
        if (at < 0)
            continue;
        const ridge__ordered *a = &order->actions[at];
        if (isinf(t->start_s[at]) && (a->need < 0 || !isinf(t->end_s[a->need]))) {
            t->start_s[at] = now_s;
            t->left_s[rank] = t->work_s[at];
        }
        n += !isinf(t->start_s[at]);
    }
    return n;
}

static double least_left_s(const ridge__order *order, const ridge__order_times *t)
{
    double least_s = (double)INFINITY;
    for (int rank = 0; rank < order->ranks; rank++) {
        if (t->next[rank] >= 0 && !isinf(t->start_s[t->next[rank]]))
            least_s = fmin(least_s, t->left_s[rank]);
    }
    return least_s;
}

/* All at work do so much; those that are through go on to their next action. */
static void advance(const ridge__order *order, double work_s, double now_s,
                    ridge__order_times *t)
{
    for (int rank = 0; rank < order->ranks; rank++) {
        const int at = t->next[rank];
        if (at < 0 || isinf(t->start_s[at]))
            continue;
        t->left_s[rank] -= work_s;
        if (t->left_s[rank] > 0)
            continue;
        t->end_s[at] = now_s;
        t->next[rank] = order->actions[at].after;
    }
}

void ridge__order_play_shared(const ridge__order *order, double share,
                              ridge__order_times *t)
{
    double now_s = 0;
    for (int i = 0; i < order->n; i++)
        t->start_s[i] = t->end_s[i] = (double)INFINITY;
    for (int rank = 0; rank < order->ranks; rank++)
        t->next[rank] = order->first[rank];
    for (;;) {
        const int working = start_ready(order, now_s, t);
        if (working == 0)
            return;
        const double work_s = least_left_s(order, t);
        const double speed = fmin((double)order->ranks / working, 1 / share);
        now_s += work_s / speed;
        advance(order, work_s, now_s, t);
    }
}

/* ---- what came of a play ------------------------------------------------------- */

void ridge__order_mark(const ridge__order *order, const ridge__order_times *t, int last,
                       double *path_s)
{
    for (int at = last; at >= 0;) {
        const ridge__ordered *a = &order->actions[at];
        path_s[at] = t->work_s[at];
        if (a->need < 0 || (a->before >= 0 && t->end_s[a->before] >= t->start_s[at])) {
            at = a->before;
            continue;
        }
        at = a->need;
        while (a->is_remote && order->actions[at].line >= 0 &&
               t->arrival_s[order->actions[at].line] > t->end_s[at])
            at = order->actions[at].line;
    }
}

/* @return false once the budget is spent */
static bool copy_rank(ridge_arena *arena, const ridge__order *order, int rank,
                      const ridge__order_times *t, ridge_rank_time *out)
{
    int n = 0;
    for (int i = order->first[rank]; i >= 0; i = order->actions[i].after)
        n++;
    ridge_action_time *all = ridge_new(arena, ridge_action_time, (size_t)n);
    if (all == NULL)
        return false;
    n = 0;
    for (int i = order->first[rank]; i >= 0; i = order->actions[i].after) {
        all[n++] = (ridge_action_time){t->start_s[i], t->end_s[i]};
        out->busy_s += t->end_s[i] - t->start_s[i];
    }
    out->actions = all;
    out->start_s = all[0].start_s;
    out->end_s = all[n - 1].end_s;
    return true;
}

ridge_status ridge__order_timeline(ridge_ctx *cx, const ridge__order *order,
                                   const ridge__order_times *t,
                                   ridge_pipeline_timeline *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_rank_time *ranks = ridge_new(arena, ridge_rank_time, (size_t)order->ranks);
    ridge_pipeline_timeline line = {.ranks = ranks};
    for (int i = 0; i < order->ranks; i++) {
        if (ranks == NULL || !copy_rank(arena, order, i, t, &ranks[i]))
            return ridge_fail_nomem(cx);
        line.makespan_s = fmax(line.makespan_s, ranks[i].end_s);
        line.span_s = fmax(line.span_s, ranks[i].end_s - ranks[i].start_s);
    }
    for (int i = 0; i < order->ranks; i++)
        ranks[i].bubble_s = line.makespan_s - ranks[i].busy_s;
    *out = line;
    return RIDGE_OK;
}
