/*
 * Steps with trouble. Which stage of which replica has slow chips is drawn once; then
 * every pass of every replica draws what its slowest chip takes, and the pipeline is
 * played (pipeline_order.c). Causes are told apart by playing with means for draws.
 */
#include "ridge/simulate_chance.h"
#include "ridge/simulate_step.h"

#include "pipeline_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which factors passes have. */
typedef enum factor_kind {
    FACTOR_CALM, /* 1 */
    FACTOR_SLOW, /* what slow chips alone make of it */
    FACTOR_MEAN, /* the mean of the slowest chip */
    FACTOR_DRAWN
} factor_kind;

typedef struct player {
    const ridge_step_script *script;
    const ridge_step_trouble *trouble;
    ridge_jitter jitter;
    ridge__order order;
    int64_t *slow;             /* [replicas, p] slow chips of each group */
    bool *has_slow;            /* [replicas] */
    double *own_s;             /* [replicas] by means, see play_means */
    double slowest_s;          /* the largest of them */
    ridge__order_times *times; /* [workers] */
    double *close_s;           /* [p] behind a rank's passes, up to the barrier */
    double barred_s;           /* behind it */
    /* Of the replica that is last by means, actions that decide its end take so long
     * by means, others -1. Replicas like it tell what chance does to one alone. */
    double *path_s;   /* [n] */
    int64_t typical;  /* that replica */
    double *step_s;   /* [steps] */
    double *alone_s;  /* [steps] if replicas did not meet, on average */
    double *chance_s; /* [steps] by how much the path was longer than by means */
} player;

static int ranks_of(const player *w)
{
    return w->order.ranks;
}

/* ---- factors ------------------------------------------------------------------- */

static ridge_chip_group group_of(const player *w, int64_t replica, int rank)
{
    const int64_t slow = w->slow[replica * ranks_of(w) + rank];
    return (ridge_chip_group){.even = (double)(w->script->group_chips - slow),
                              .slow = (double)slow,
                              .slowdown = w->trouble->slowdown};
}

/* Of a whole rank; FACTOR_DRAWN is for each pass. */
static double factor_of(const player *w, factor_kind kind, const ridge_chip_group *g)
{
    switch (kind) {
    case FACTOR_CALM:
        return 1;
    case FACTOR_SLOW:
        return g->slow > 0 ? g->slowdown : 1;
    case FACTOR_MEAN:
        return ridge_jitter_mean_most(&w->jitter, g);
    case FACTOR_DRAWN:
        break;
    }
    return 1;
}

static double pass_s(const ridge_stage_time *t, ridge_pass pass)
{
    switch (pass) {
    case RIDGE_PASS_FORWARD:
        return t->forward_s;
    case RIDGE_PASS_BACKWARD:
        return t->backward_input_s + t->backward_weight_s;
    case RIDGE_PASS_BACKWARD_INPUT:
        return t->backward_input_s;
    case RIDGE_PASS_BACKWARD_WEIGHT:
        return t->backward_weight_s;
    }
    return 0;
}

static void set_work(const player *w, int64_t replica, factor_kind kind,
                     ridge_chance *chance, ridge__order_times *t)
{
    const ridge_step_script *s = w->script;
    for (int rank = 0; rank < ranks_of(w); rank++) {
        const ridge_chip_group group = group_of(w, replica, rank);
        double factor = factor_of(w, kind, &group);
        for (int i = w->order.first[rank]; i >= 0; i = w->order.actions[i].after) {
            const ridge__ordered *a = &w->order.actions[i];
            if (kind == FACTOR_DRAWN)
                factor = ridge_jitter_draw_most(&w->jitter, &group, chance);
            t->work_s[i] = factor * pass_s(&s->compute[a->stage], a->pass) +
                           pass_s(&s->network[a->stage], a->pass);
        }
    }
}

/* ---- one replica ---------------------------------------------------------------- */

/* A rank's update is as slow as its slowest chip in any replica. */
static double update_s(const player *w, factor_kind kind, int rank)
{
    const double update = w->script->closes[rank].update_s;
    for (int64_t r = 0; kind != FACTOR_CALM && r < w->script->replicas; r++) {
        if (w->slow[r * ranks_of(w) + rank] > 0)
            return update * w->trouble->slowdown;
    }
    return update;
}

/* What a rank does behind its passes, up to the barrier. */
static void set_closes(player *w, factor_kind kind)
{
    w->barred_s = 0;
    for (int rank = 0; rank < ranks_of(w); rank++) {
        const ridge_step_close *c = &w->script->closes[rank];
        const double behind_s = update_s(w, kind, rank) + c->gather_s;
        w->close_s[rank] = c->reduce_s;
        if (w->script->has_barrier)
            w->barred_s = fmax(w->barred_s, behind_s);
        else
            w->close_s[rank] += behind_s;
    }
}

/* When a rank, whose last action it is, is through with what it does by itself. */
static double through_s(const player *w, const ridge__order_times *t, int last)
{
    const int rank = w->order.actions[last].rank;
    const double from_s = w->script->has_barrier ? 0 : t->start_s[w->order.first[rank]];
    return t->end_s[last] - from_s + w->close_s[rank];
}

/* The step of a replica alone, up to the barrier; since the others come later or not, a
 * step is the largest of these and what is behind it. The times are those of a step
 * that begins at once on all ranks. */
static double play_replica(const player *w, int64_t replica, factor_kind kind,
                           ridge_chance *chance, ridge__order_times *t)
{
    const bool is_shared = w->script->processor_share < 1;
    double most_s = 0;
    set_work(w, replica, kind, chance, t);
    if (!w->script->has_barrier && !is_shared)
        most_s = ridge__order_play_endless(&w->order, w->script->send_s, w->close_s, t);
    if (is_shared)
        ridge__order_play_shared(&w->order, w->script->processor_share, t);
    else
        ridge__order_play(&w->order, w->script->send_s, t);
    for (int i = 0; i < w->order.n; i++) {
        if (w->order.actions[i].after < 0 && (w->script->has_barrier || is_shared))
            most_s = fmax(most_s, through_s(w, t, i));
    }
    return most_s;
}

/* ---- all replicas -------------------------------------------------------------- */

/* Without draws, replicas without slow chips are alike. @return the last one */
static int64_t play_means(player *w, factor_kind kind)
{
    int64_t slowest = 0;
    double even_s = -1;
    set_closes(w, kind);
    for (int64_t r = 0; r < w->script->replicas; r++) {
        if (w->has_slow[r] || even_s < 0)
            w->own_s[r] = play_replica(w, r, kind, NULL, &w->times[0]);
        else
            w->own_s[r] = even_s;
        if (!w->has_slow[r])
            even_s = w->own_s[r];
        if (w->own_s[r] > w->own_s[slowest])
            slowest = r;
    }
    w->slowest_s = w->own_s[slowest];
    return slowest;
}

/* The path of waits that a play's end is due to is as long as the play, and in no other
 * play longer than that one: so what passes on it take by chance, of which the mean is
 * known, can be told from what chance costs a pipeline. */
static int last_through(const player *w, const ridge__order_times *t)
{
    int last = -1;
    double most_s = -1;
    for (int i = 0; i < w->order.n; i++) {
        if (w->order.actions[i].after < 0 && through_s(w, t, i) > most_s) {
            most_s = through_s(w, t, i);
            last = i;
        }
    }
    return last;
}

/* Where processors are shared all work counts, and without a barrier the ranks' starts:
 * no path. */
static void find_path(player *w, int64_t slowest)
{
    w->typical = slowest;
    play_replica(w, slowest, FACTOR_MEAN, NULL, &w->times[0]);
    for (int i = 0; i < w->order.n; i++)
        w->path_s[i] = -1;
    if (w->script->processor_share >= 1 && w->script->has_barrier)
        ridge__order_mark(&w->order, &w->times[0], last_through(w, &w->times[0]),
                          w->path_s);
}

static bool is_typical(const player *w, int64_t replica)
{
    return replica == w->typical || (!w->has_slow[replica] && !w->has_slow[w->typical]);
}

static double path_chance_s(const player *w, const ridge__order_times *t)
{
    double sum_s = 0;
    for (int i = 0; i < w->order.n; i++) {
        if (w->path_s[i] >= 0)
            sum_s += t->work_s[i] - w->path_s[i];
    }
    return sum_s;
}

/* One step by draws. @return the last replica */
static int64_t play_step(const player *w, int64_t step, ridge__order_times *t)
{
    ridge_chance chance = ridge_chance_of(w->trouble->seed, (uint64_t)step + 1);
    int64_t slowest = 0;
    double most_s = -1;
    double sum_s = 0;
    double chance_s = 0;
    double n = 0;
    for (int64_t r = 0; r < w->script->replicas; r++) {
        const double own_s = play_replica(w, r, FACTOR_DRAWN, &chance, t);
        if (is_typical(w, r)) {
            sum_s += own_s;
            chance_s += path_chance_s(w, t);
            n++;
        }
        if (own_s > most_s) {
            most_s = own_s;
            slowest = r;
        }
    }
    w->step_s[step] = most_s;
    w->alone_s[step] = sum_s / n;
    w->chance_s[step] = chance_s / n;
    return slowest;
}

static void play_item(void *payload, int64_t item, int worker)
{
    player *w = payload;
    play_step(w, item, &w->times[worker]);
}

/* ---- slow chips ---------------------------------------------------------------- */

/* Chips drawn one by one; one that was drawn before is drawn again. */
static void place_stragglers(player *w)
{
    const int64_t group = w->script->group_chips;
    const int64_t groups = w->script->replicas * ranks_of(w);
    ridge_chance chance = ridge_chance_of(w->trouble->seed, 0);
    for (int64_t placed = 0; placed < w->trouble->stragglers;) {
        const int64_t at = ridge_chance_pick(&chance, groups);
        if (ridge_chance_pick(&chance, group) < w->slow[at])
            continue;
        w->slow[at]++;
        w->has_slow[at / ranks_of(w)] = true;
        placed++;
    }
}

static ridge_status list_places(ridge_ctx *cx, const player *w, ridge_step_outcome *out)
{
    const int64_t groups = w->script->replicas * ranks_of(w);
    const int64_t most =
        groups < w->trouble->stragglers ? groups : w->trouble->stragglers;
    ridge_straggler_place *places =
        ridge_new(ridge_ctx_arena(cx), ridge_straggler_place, (size_t)most);
    if (places == NULL)
        return ridge_fail_nomem(cx);
    out->places = places;
    for (int64_t at = 0; at < groups; at++) {
        if (w->slow[at] > 0)
            places[out->n_places++] =
                (ridge_straggler_place){.replica = at / ranks_of(w),
                                        .rank = (int)(at % ranks_of(w)),
                                        .chips = w->slow[at]};
    }
    return RIDGE_OK;
}

/* ---- what came of it ----------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The smallest of sorted values that a share of them does not exceed. */
static double quantile(const double *sorted, int64_t n, double share)
{
    const int64_t at = (int64_t)ceil(share * (double)n) - 1;
    return sorted[at < 0 ? 0 : at];
}

static double mean_of(const double *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Of the replica that was played last, which is the step's last one. */
static void set_reduced(const player *w, const ridge__order_times *t,
                        ridge_step_outcome *out)
{
    for (int i = 0; i < w->order.n; i++) {
        const ridge__ordered *a = &w->order.actions[i];
        if (a->after < 0)
            out->reduced_s =
                fmax(out->reduced_s, t->end_s[i] + w->script->closes[a->rank].reduce_s);
    }
}

static ridge_status keep_steps(ridge_ctx *cx, const player *w, ridge_step_outcome *out)
{
    const size_t n = (size_t)out->steps;
    double *kept = ridge_new(ridge_ctx_arena(cx), double, n);
    if (kept == NULL)
        return ridge_fail_nomem(cx);
    memcpy(kept, w->step_s, n * sizeof *kept);
    out->steps_s = kept;
    return RIDGE_OK;
}

/* The steps' distribution, and what each cause adds to the mean. */
static void sum_up(const player *w, double slow_s, double mean_s,
                   ridge_step_outcome *out)
{
    const int64_t n = out->steps;
    const double alone_s = mean_of(w->alone_s, n);
    const double chance_s = mean_of(w->chance_s, n);
    out->mean_s = mean_of(w->step_s, n) - chance_s;
    out->loss = (ridge_step_loss){.stragglers_s = slow_s - out->calm_s,
                                  .groups_s = mean_s - slow_s,
                                  .stages_s = alone_s - chance_s - mean_s,
                                  .replicas_s = mean_of(w->step_s, n) - alone_s};
    qsort(w->step_s, (size_t)n, sizeof *w->step_s, compare_doubles);
    out->least_s = w->step_s[0];
    out->p50_s = quantile(w->step_s, n, 0.5);
    out->p90_s = quantile(w->step_s, n, 0.9);
    out->p99_s = quantile(w->step_s, n, 0.99);
    out->most_s = w->step_s[n - 1];
}

/* ---- running ------------------------------------------------------------------- */

static ridge_status play_drawn(ridge_ctx *cx, player *w, ridge_step_outcome *out)
{
    RIDGE_TRY(ridge_parallel(cx, w->trouble->workers, out->steps, play_item, w));
    ridge_chance chance = ridge_chance_of(w->trouble->seed, 1);
    const int64_t slowest = play_step(w, 0, &w->times[0]);
    for (int64_t r = 0; r <= slowest; r++)
        play_replica(w, r, FACTOR_DRAWN, &chance, &w->times[0]);
    return RIDGE_OK;
}

static ridge_status play_all(ridge_ctx *cx, player *w, ridge_step_outcome *out)
{
    const bool is_drawn = w->jitter.spread > 0;
    play_means(w, FACTOR_CALM);
    out->calm_s = w->slowest_s + w->barred_s;
    const int64_t slowest = play_means(w, FACTOR_SLOW);
    const double slow_s = w->slowest_s + w->barred_s;
    out->steps = is_drawn ? w->trouble->steps : 1;
    w->step_s[0] = w->alone_s[0] = w->slowest_s;
    double mean_s = slow_s;
    if (is_drawn) {
        find_path(w, play_means(w, FACTOR_MEAN));
        mean_s = w->slowest_s + w->barred_s;
        RIDGE_TRY(play_drawn(cx, w, out));
    } else {
        play_replica(w, slowest, FACTOR_SLOW, NULL, &w->times[0]);
    }
    for (int64_t i = 0; i < out->steps; i++) {
        w->step_s[i] += w->barred_s;
        w->alone_s[i] += w->barred_s;
    }
    out->step_s = w->step_s[0];
    RIDGE_TRY(ridge__order_timeline(cx, &w->order, &w->times[0], &out->timeline));
    set_reduced(w, &w->times[0], out);
    RIDGE_TRY(keep_steps(cx, w, out));
    sum_up(w, slow_s, mean_s, out);
    return list_places(cx, w, out);
}

static ridge_status open_player(ridge_ctx *cx, player *w)
{
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const size_t replicas = (size_t)w->script->replicas;
    const size_t workers = (size_t)w->trouble->workers;
    const size_t steps = w->jitter.spread > 0 ? (size_t)w->trouble->steps : 1;
    RIDGE_TRY(ridge__order_make(cx, w->script->schedule, &w->order));
    w->slow = ridge_new(scratch, int64_t, replicas * (size_t)ranks_of(w));
    w->has_slow = ridge_new(scratch, bool, replicas);
    w->own_s = ridge_new(scratch, double, replicas);
    w->times = ridge_new(scratch, ridge__order_times, workers);
    w->step_s = ridge_new(scratch, double, steps);
    w->alone_s = ridge_new(scratch, double, steps);
    w->chance_s = ridge_new(scratch, double, steps);
    w->close_s = ridge_new(scratch, double, (size_t)ranks_of(w));
    w->path_s = ridge_new(scratch, double, (size_t)w->order.n);
    if (w->chance_s == NULL || w->path_s == NULL || w->close_s == NULL)
        return ridge_fail_nomem(cx);
    if (w->slow == NULL || w->has_slow == NULL || w->own_s == NULL ||
        w->times == NULL || w->step_s == NULL || w->alone_s == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < workers; i++) {
        if (!ridge__order_times_new(scratch, &w->order, &w->times[i]))
            return ridge_fail_nomem(cx);
    }
    return RIDGE_OK;
}

/* ---- what is asked ------------------------------------------------------------- */

static ridge_status check_trouble(ridge_ctx *cx, const ridge_step_script *s,
                                  const ridge_step_trouble *t)
{
    const double chips =
        (double)s->group_chips * (double)s->replicas * s->schedule->pipeline.ranks;
    enum { STEPS_MOST = 10000000 };
    if (!(t->jitter >= 0 && t->jitter <= 10))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "jitter of %s: take a spread from 0 to 1,000 %%",
                          ridge_format_percent(t->jitter).s);
    if (t->stragglers < 0 || (double)t->stragglers > chips)
        return ridge_fail(cx, RIDGE_E_ARG, "%s stragglers among %s chips: take fewer",
                          ridge_format_exact(t->stragglers).s,
                          ridge_format_count(chips).s);
    if (t->stragglers > 0 && !(t->slowdown >= 1 && t->slowdown <= 1e6))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "stragglers that take %s times as long: take 1 or more",
                          ridge_format_double(t->slowdown).s);
    if (t->steps < 1 || t->steps > STEPS_MOST)
        return ridge_fail(cx, RIDGE_E_ARG, "%s steps to play: take 1 to %s",
                          ridge_format_exact(t->steps).s,
                          ridge_format_exact(STEPS_MOST).s);
    return RIDGE_OK;
}

ridge_status ridge_step_play(ridge_ctx *cx, const ridge_step_script *script,
                             const ridge_step_trouble *trouble, ridge_step_outcome *out)
{
    RIDGE_TRY(check_trouble(cx, script, trouble));
    ridge_step_trouble kept = *trouble;
    kept.workers = trouble->workers < 1 ? 1 : trouble->workers;
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    player w = {
        .script = script, .trouble = &kept, .jitter = ridge_jitter_of(kept.jitter)};
    ridge_step_outcome outcome = {.steps = 1};
    ridge_status st = open_player(cx, &w);
    if (st == RIDGE_OK) {
        place_stragglers(&w);
        st = play_all(cx, &w, &outcome);
    }
    ridge_arena_rewind(scratch, mark);
    if (st == RIDGE_OK)
        *out = outcome;
    return st;
}
