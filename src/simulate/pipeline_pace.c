/*
 * Steps timed again and again. A schedule is a list in which each action stands behind
 * what it waits for (pipeline_order.c), kept here in eight bytes an action; a step is a
 * walk down it.
 */
#include "ridge/simulate_pace.h"

#include "pipeline_endless.h"
#include "pipeline_order.h"

#include <math.h>

enum {
    SLOTS = 256,         /* of schedules by kind and sizes */
    KEPT_MOST = 1500000, /* actions; longer lists are made anew each time */
    FILLS = 16,          /* of a pipeline, played before a step is taken for even */
    PASSES = RIDGE_PASS_COUNT
};

/* An action. */
typedef struct paced {
    int need; /* place of the action whose message it waits for; -1 */
    uint16_t stage;
    uint8_t pass;
    bool is_sent; /* what it makes goes to another rank */
} paced;

typedef struct paced_order {
    ridge_pipeline pipeline;
    int n;
    paced *actions; /* [n]; NULL: no schedule here */
} paced_order;

struct ridge_pacer {
    ridge_ctx *cx;
    paced_order slots[SLOTS];
    int64_t kept;
    ridge_status status;
};

ridge_pacer *ridge_pacer_open(ridge_ctx *cx)
{
    ridge_pacer *p = ridge_new(ridge_ctx_arena(cx), ridge_pacer, 1);
    if (p != NULL)
        p->cx = cx;
    return p;
}

ridge_status ridge_pacer_status(const ridge_pacer *pacer)
{
    return pacer->status;
}

/* ---- schedules ------------------------------------------------------------------ */

static int64_t actions_most(const ridge_pipeline *p)
{
    const int64_t passes = ridge_schedule_is_split(p->kind) ? 3 : 2;
    return passes * p->chunks * p->microbatches * p->ranks;
}

static void copy_order(const ridge_pipeline *p, const ridge__order *order,
                       paced_order *out)
{
    out->pipeline = *p;
    out->n = order->n;
    for (int i = 0; i < order->n; i++) {
        const ridge__ordered *a = &order->actions[i];
        const int target = ridge_pipeline_target_of(p, a->stage, a->pass);
        out->actions[i] = (paced){
            .need = a->need,
            .stage = (uint16_t)a->stage,
            .pass = (uint8_t)a->pass,
            .is_sent = target >= 0 && ridge_pipeline_is_remote(p, a->stage, target)};
    }
}

/* @param arena  for the list; all else is forgotten */
static ridge_status make_order(ridge_pacer *pacer, const ridge_pipeline *p,
                               ridge_arena *arena, paced_order *out)
{
    ridge_arena *room = ridge_ctx_arena(pacer->cx);
    ridge_pipeline_schedule schedule;
    ridge__order order;
    out->actions =
        ridge_arena_new(arena, (size_t)actions_most(p), sizeof *out->actions);
    if (out->actions == NULL)
        return ridge_fail_nomem(pacer->cx);
    const ridge_mark mark = ridge_arena_mark(room);
    ridge_status st = ridge_pipeline_schedule_make(pacer->cx, p, &schedule);
    if (st == RIDGE_OK)
        st = ridge__order_make(pacer->cx, &schedule, &order);
    if (st == RIDGE_OK)
        copy_order(p, &order, out);
    ridge_arena_rewind(room, mark);
    return st;
}

static bool is_same(const ridge_pipeline *a, const ridge_pipeline *b)
{
    return a->kind == b->kind && a->ranks == b->ranks && a->chunks == b->chunks &&
           a->microbatches == b->microbatches;
}

static size_t slot_of(const ridge_pipeline *p)
{
    uint64_t h = (uint64_t)p->kind;
    h = h * 1000003u + (uint64_t)p->ranks;
    h = h * 1000003u + (uint64_t)p->chunks;
    h = h * 1000003u + (uint64_t)p->microbatches;
    return (size_t)(h >> 3) % SLOTS;
}

/* A kept list, or one in scratch. */
static ridge_status find_order(ridge_pacer *pacer, const ridge_pipeline *p,
                               const paced_order **out, paced_order *made)
{
    const size_t first = slot_of(p);
    for (size_t i = 0; i < SLOTS; i++) {
        paced_order *at = &pacer->slots[(first + i) % SLOTS];
        if (at->actions != NULL && is_same(&at->pipeline, p)) {
            *out = at;
            return RIDGE_OK;
        }
        if (at->actions == NULL && pacer->kept + actions_most(p) <= KEPT_MOST) {
            pacer->kept += actions_most(p);
            *out = at;
            return make_order(pacer, p, ridge_ctx_arena(pacer->cx), at);
        }
        if (at->actions == NULL)
            break;
    }
    *out = made;
    return make_order(pacer, p, ridge_ctx_scratch(pacer->cx), made);
}

/* ---- one walk ------------------------------------------------------------------- */

/* A step under way. */
typedef struct walk {
    const paced_order *order;
    const ridge_pace *pace;
    double *work_s;    /* [p v][PASSES] */
    int *rank_of;      /* [p v] */
    double *arrival_s; /* [n] of what an action made */
    double *line_s[2]; /* [p v] each direction's last arrival */
    double *free_s;    /* [p] */
} walk;

static bool open_walk(ridge_arena *scratch, const ridge_pace *pace, walk *w)
{
    const ridge_pipeline *p = &w->order->pipeline;
    const size_t n = (size_t)p->ranks * (size_t)p->chunks;
    w->pace = pace;
    w->work_s = ridge_new(scratch, double, n *PASSES);
    w->rank_of = ridge_new(scratch, int, n);
    w->arrival_s = ridge_new(scratch, double, (size_t)w->order->n);
    w->line_s[0] = ridge_new(scratch, double, n);
    w->line_s[1] = ridge_new(scratch, double, n);
    w->free_s = ridge_new(scratch, double, (size_t)p->ranks);
    if (w->work_s == NULL || w->rank_of == NULL || w->arrival_s == NULL ||
        w->line_s[0] == NULL || w->line_s[1] == NULL || w->free_s == NULL)
        return false;
    for (size_t s = 0; s < n; s++) {
        const ridge_stage_time *t = &pace->stages[s];
        double *work_s = &w->work_s[s * PASSES];
        work_s[RIDGE_PASS_FORWARD] = t->forward_s;
        work_s[RIDGE_PASS_BACKWARD] = t->backward_input_s + t->backward_weight_s;
        work_s[RIDGE_PASS_BACKWARD_INPUT] = t->backward_input_s;
        work_s[RIDGE_PASS_BACKWARD_WEIGHT] = t->backward_weight_s;
        w->rank_of[s] = ridge_pipeline_place_of(p, (int)s).rank;
    }
    return true;
}

/* From the times at which ranks are free to those at which they are again. */
static void walk_step(const walk *w)
{
    const double send_s = w->pace->send_s;
    for (int i = 0; i < w->order->n; i++) {
        const paced *a = &w->order->actions[i];
        double *free_s = &w->free_s[w->rank_of[a->stage]];
        double end_s = *free_s;
        if (a->need >= 0 && w->arrival_s[a->need] > end_s)
            end_s = w->arrival_s[a->need];
        end_s += w->work_s[a->stage * PASSES + a->pass];
        *free_s = end_s;
        w->arrival_s[i] = end_s;
        if (send_s > 0 && a->is_sent) {
            double *line_s = &w->line_s[a->pass == RIDGE_PASS_FORWARD][a->stage];
            *line_s = (end_s > *line_s ? end_s : *line_s) + send_s;
            w->arrival_s[i] = *line_s;
        }
    }
}

static double barred_s(const walk *w)
{
    double most_s = 0;
    walk_step(w);
    for (int r = 0; r < w->order->pipeline.ranks; r++)
        most_s = fmax(most_s, w->free_s[r] + w->pace->close_s[r]);
    return most_s;
}

static void walk_on(void *payload)
{
    walk_step(payload);
}

static ridge_status time_steps(ridge_pacer *pacer, const ridge_pace *pace,
                               int microbatches, double *out)
{
    ridge_arena *scratch = ridge_ctx_scratch(pacer->cx);
    ridge_pipeline p = pace->pipeline;
    paced_order made;
    walk w;
    p.microbatches = microbatches;
    RIDGE_TRY(find_order(pacer, &p, &w.order, &made));
    double *before_s = ridge_new(scratch, double, 2 * (size_t)p.ranks);
    if (before_s == NULL || !open_walk(scratch, pace, &w))
        return ridge_fail_nomem(pacer->cx);
    const ridge__endless run = {.ranks = p.ranks,
                                .close_s = pace->close_s,
                                .free_s = w.free_s,
                                .before_s = before_s,
                                .step = walk_on,
                                .payload = &w};
    *out = pace->has_barrier ? barred_s(&w) : ridge__endless_s(&run);
    return RIDGE_OK;
}

/* ---- many microbatches ---------------------------------------------------------- */

/* Microbatches that are played, and how many more of them make a turn. */
typedef struct stretch {
    int first, turn;
} stretch;

/* Interleaved, groups are of p microbatches, of which the first ones are larger by one
 * where m is no multiple; of these a few stand for all. */
static stretch stretch_of(const ridge_pipeline *p, int64_t microbatches)
{
    const int fill = FILLS * p->ranks + FILLS;
    if (p->kind != RIDGE_SCHEDULE_INTERLEAVED)
        return (stretch){.first = fill + (int)((fill + microbatches) % 2), .turn = 2};
    const int larger = (int)(microbatches % p->ranks);
    const int rest = larger < FILLS ? larger : FILLS - 1;
    return (stretch){.first = FILLS * p->ranks + rest, .turn = p->ranks};
}

static ridge_status time_all(ridge_pacer *pacer, const ridge_pace *pace, double *out)
{
    const stretch s = stretch_of(&pace->pipeline, pace->microbatches);
    const int64_t m = pace->microbatches;
    double first_s;
    double second_s;
    if (m <= s.first + s.turn)
        return time_steps(pacer, pace, (int)m, out);
    RIDGE_TRY(time_steps(pacer, pace, s.first, &first_s));
    RIDGE_TRY(time_steps(pacer, pace, s.first + s.turn, &second_s));
    const double turns = (double)(m - s.first - s.turn) / (double)s.turn;
    *out = second_s + turns * (second_s - first_s);
    return RIDGE_OK;
}

double ridge_pacer_step_s(ridge_pacer *pacer, const ridge_pace *pace)
{
    ridge_arena *scratch = ridge_ctx_scratch(pacer->cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    double step_s = (double)INFINITY;
    if (pacer->status == RIDGE_OK)
        pacer->status = time_all(pacer, pace, &step_s);
    ridge_arena_rewind(scratch, mark);
    return step_s;
}
