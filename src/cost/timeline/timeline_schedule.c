/*
 * Discrete events on one chip and its network axes.
 *
 * The chip takes tasks in order, each when what it waits for is done. A collective that
 * is ready runs when its axes are free of those that the chip needs earlier; when such
 * a one becomes ready, it interrupts. Two repetitions are in play: the collectives of
 * the next one that wait for nothing start when the one before it has ended, and a
 * repetition starts once all that trails from the one before the last is done. Both
 * keep two buffers busy, and bound how far the network runs ahead or falls behind.
 *
 * With the order on each axis fixed by need, what the chip needs first is done as early
 * as it can be: on axes of which no collective takes several, nothing ends later when
 * anything takes less long.
 */
#include "timeline_schedule.h"

#include <math.h>

typedef struct task_run {
    const ridge__task *task;
    struct instance *of;
    double left_s;
    double piece_start_s; /* of what runs without interruption */
    int dep;              /* the first that was not found done */

    int64_t key; /* place of the task that needs it; the lowest goes first */
    struct task_run *waiters, *next_waiter;
    bool is_done, is_running;
} task_run;

/* One repetition. */
typedef struct instance {
    int block, sequence, trailing_left;
    int64_t repetition;
    task_run *runs; /* [n_tasks] */
} instance;

typedef struct play {
    ridge_ctx *cx;
    const ridge_program *program;
    const ridge__block_tasks *tasks;
    double slowdown;
    ridge__schedule *out;

    instance *instances;
    int n_instances;
    int *latest;        /* [n_blocks] instance; -1 */
    int64_t n_tasks;    /* of all instances: the next one's first place */
    int chip, at;       /* instance and task that the chip takes next */
    task_run *computes; /* what the chip does; NULL */
    task_run **ready;   /* collectives, by key; those at work among them */
    int n_ready;
    task_run *running[RIDGE_AXIS_MAX]; /* those at work */
    int n_running;
    unsigned busy;      /* axes that they hold */
    unsigned axes;      /* that anything holds */
    task_run *instants; /* ready, and take no time; by next_waiter */
    bool is_ready_new;  /* who runs must be settled anew */
    bool has_moved;     /* something ended: more may begin at the same time */
    int cap_events;

    double now_s, end_s; /* end_s: of the last repetition */
    ridge__window window;
} play;

/* ---- events --------------------------------------------------------------------- */

static ridge_status event_add(play *p, const ridge_event *event)
{
    if (p->out->n_events == p->cap_events) {
        const int cap = p->cap_events > 0 ? 2 * p->cap_events : 256;
        ridge_event *grown =
            ridge_new(ridge_ctx_arena(p->cx), ridge_event, (size_t)cap);
        if (grown == NULL)
            return ridge_fail_nomem(p->cx);
        for (int i = 0; i < p->out->n_events; i++)
            grown[i] = p->out->events[i];
        p->out->events = grown;
        p->cap_events = cap;
    }
    p->out->events[p->out->n_events++] = *event;
    return RIDGE_OK;
}

/* Put down what a task did since it last began or was taken up again. */
static ridge_status piece_end(play *p, const task_run *run)
{
    if (!p->out->has_events || run->of->repetition >= RIDGE__SHOWN_MAX ||
        p->now_s <= run->piece_start_s)
        return RIDGE_OK;
    ridge_event event = {.op = run->task->op,
                         .repetition = (int)run->of->repetition,
                         .start_s = run->piece_start_s,
                         .end_s = p->now_s};
    if (run->task->kind != RIDGE__TASK_NETWORK)
        return event_add(p, &event);
    for (int i = 0; i < RIDGE_AXIS_MAX; i++) {
        event.resource = 1 + i;
        if (run->task->network >> i & 1u)
            RIDGE_TRY(event_add(p, &event));
    }
    return RIDGE_OK;
}

/* ---- waiting -------------------------------------------------------------------- */

/* The run that a task waits for; NULL: there is none. */
static task_run *awaited(const play *p, const task_run *run, const ridge__dep *dep)
{
    const instance *of = run->of;
    const instance *before = of->sequence > 0 ? &p->instances[of->sequence - 1] : NULL;
    switch (dep->where) {
    case RIDGE__DEP_SAME:
        return &of->runs[dep->task];
    case RIDGE__DEP_PREVIOUS:
        return of->repetition > 0 ? &before->runs[dep->task] : NULL;
    case RIDGE__DEP_EARLIER:
        return p->latest[dep->block] >= 0
                   ? &p->instances[p->latest[dep->block]].runs[dep->task]
                   : NULL;
    case RIDGE__DEP_END:
        return before != NULL ? &before->runs[p->tasks[before->block].n_tasks - 1]
                              : NULL;
    }
    return NULL;
}

/* The first that a task still waits for; NULL: it may run. */
static task_run *blocker(const play *p, task_run *run)
{
    const ridge__dep *deps = p->tasks[run->of->block].deps + run->task->first_dep;
    for (; run->dep < run->task->n_deps; run->dep++) {
        task_run *other = awaited(p, run, &deps[run->dep]);
        if (other != NULL && !other->is_done)
            return other;
    }
    return NULL;
}

static void ready_add(play *p, task_run *run)
{
    if (run->left_s <= 0 || run->task->network == 0) {
        run->next_waiter = p->instants;
        p->instants = run;
        return;
    }
    int at = p->n_ready++;
    for (; at > 0 && p->ready[at - 1]->key > run->key; at--)
        p->ready[at] = p->ready[at - 1];
    p->ready[at] = run;
    p->is_ready_new = true;
}

/* A collective is ready, or stands in line behind what it waits for. */
static void await(play *p, task_run *run)
{
    task_run *other = blocker(p, run);
    if (other == NULL) {
        ready_add(p, run);
    } else {
        run->next_waiter = other->waiters;
        other->waiters = run;
    }
}

/* ---- repetitions ---------------------------------------------------------------- */

static bool is_alike(double a, double b)
{
    static const double EQUAL = 1e-9;
    return fabs(a - b) <= EQUAL * fmax(a, b);
}

/* Whether the windows played show what the others would be like. The first one fills
 * the pipeline. A gather that only just fits catches up slowly: when what hides goes on
 * changing while the time does not, that is the time. */
static bool is_settled(ridge__block_play *b)
{
    enum { LEAST = 3, PATIENT = 4 };
    const int n = b->n_windows;
    if (!b->is_steady && n >= LEAST) {
        const ridge__window *last = &b->windows[n - 1];
        const ridge__window *before = &b->windows[n - 2];
        b->is_steady = is_alike(last->wall_s, before->wall_s) &&
                       (n >= PATIENT || is_alike(last->beside_s, before->beside_s));
        b->steady = n - 1;
    }
    return b->is_steady;
}

/* What runs behind the newest instance. @return false: nothing does */
static bool next_of(play *p, int *block, int64_t *repetition)
{
    *block = 0;
    *repetition = 0;
    if (p->n_instances > 0) {
        const instance *newest = &p->instances[p->n_instances - 1];
        ridge__block_play *b = &p->out->blocks[newest->block];
        *block = newest->block;
        *repetition = newest->repetition + 1;
        if (*repetition < b->repeat && *repetition < RIDGE__PLAYED_MAX &&
            !is_settled(b))
            return true;
        (*block)++;
        *repetition = 0;
    }
    while (*block < p->program->n_blocks && p->out->blocks[*block].repeat < 1)
        (*block)++;
    return *block < p->program->n_blocks;
}

/* Put the next repetition in play. */
static ridge_status instance_add(play *p)
{
    int block;
    int64_t repetition;
    if (!next_of(p, &block, &repetition))
        return RIDGE_OK;
    const ridge__block_tasks *tasks = &p->tasks[block];
    instance *x = &p->instances[p->n_instances];
    *x = (instance){
        .block = block, .sequence = p->n_instances, .repetition = repetition};
    x->runs = ridge_new(ridge_ctx_scratch(p->cx), task_run, (size_t)tasks->n_tasks);
    if (x->runs == NULL)
        return ridge_fail_nomem(p->cx);
    p->n_instances++;
    for (int i = 0; i < tasks->n_tasks; i++) {
        const ridge__task *task = &tasks->tasks[i];
        x->runs[i] = (task_run){.task = task,
                                .of = x,
                                .left_s = task->work_s,
                                .key = p->n_tasks + task->due};
        x->trailing_left += task->is_trailing;
        p->axes |= task->network;
    }
    for (int i = 0; i < tasks->n_tasks; i++) {
        if (tasks->tasks[i].kind == RIDGE__TASK_NETWORK)
            await(p, &x->runs[i]);
    }
    p->n_tasks += tasks->n_tasks;
    p->latest[block] = x->sequence;
    return RIDGE_OK;
}

static ridge_status repetition_end(play *p, const instance *x)
{
    ridge__block_play *b = &p->out->blocks[x->block];
    p->window.wall_s = p->now_s - p->end_s;
    b->windows[b->n_windows++] = p->window;
    p->window = (ridge__window){.wall_s = 0};
    p->end_s = p->now_s;
    return instance_add(p);
}

static ridge_status run_done(play *p, task_run *run)
{
    run->is_done = true;
    p->has_moved = true;
    if (run->is_running)
        RIDGE_TRY(piece_end(p, run));
    run->is_running = false;
    run->of->trailing_left -= run->task->is_trailing;
    if (run->task->kind < RIDGE__TASK_NETWORK)
        p->window.work_s[run->task->kind] += run->task->work_s;
    task_run *next = NULL;
    for (task_run *waiter = run->waiters; waiter != NULL; waiter = next) {
        next = waiter->next_waiter;
        await(p, waiter);
    }
    if (run->task->kind == RIDGE__TASK_END)
        return repetition_end(p, run->of);
    return RIDGE_OK;
}

/* ---- the chip ------------------------------------------------------------------- */

/* Go on in program order until a task takes time or must wait. */
static ridge_status chip_go_on(play *p)
{
    while (p->computes == NULL && p->chip < p->n_instances) {
        instance *x = &p->instances[p->chip];
        if (p->at == p->tasks[x->block].n_tasks) {
            p->chip++;
            p->at = 0;
            continue;
        }
        task_run *run = &x->runs[p->at];
        if (run->task->kind == RIDGE__TASK_NETWORK) {
            p->at++;
            continue;
        }
        if (p->chip >= 2 && p->instances[p->chip - 2].trailing_left > 0)
            return RIDGE_OK;
        if (blocker(p, run) != NULL)
            return RIDGE_OK;
        p->at++;
        run->piece_start_s = p->now_s;
        if (run->left_s > 0) {
            run->is_running = true;
            p->computes = run;
        } else {
            RIDGE_TRY(run_done(p, run));
        }
    }
    return RIDGE_OK;
}

/* ---- the network ---------------------------------------------------------------- */

static void ready_remove(play *p, const task_run *run)
{
    int at = 0;
    while (p->ready[at] != run)
        at++;
    for (p->n_ready--; at < p->n_ready; at++)
        p->ready[at] = p->ready[at + 1];
}

/* Take off what is done; that may make others ready. */
static ridge_status running_sweep(play *p)
{
    for (int i = 0; i < p->n_running; i++) {
        task_run *run = p->running[i];
        if (run->is_done || run->left_s > 0)
            continue;
        ready_remove(p, run);
        p->is_ready_new = true;
        RIDGE_TRY(run_done(p, run));
    }
    while (p->instants != NULL) {
        task_run *run = p->instants;
        p->instants = run->next_waiter;
        RIDGE_TRY(run_done(p, run));
    }
    return RIDGE_OK;
}

/* Those that ran before and are not done stop when none of them is among those that run
 * now. */
static ridge_status interrupted_end(play *p, task_run *const *before, int n_before)
{
    for (int i = 0; i < n_before; i++) {
        bool is_kept = before[i]->is_done;
        for (int k = 0; k < p->n_running; k++)
            is_kept = is_kept || p->running[k] == before[i];
        if (is_kept)
            continue;
        RIDGE_TRY(piece_end(p, before[i]));
        before[i]->is_running = false;
    }
    return RIDGE_OK;
}

/* Give the axes away by need. */
static ridge_status axes_allot(play *p)
{
    if (!p->is_ready_new)
        return RIDGE_OK;
    p->is_ready_new = false;
    task_run *before[RIDGE_AXIS_MAX];
    const int n_before = p->n_running;
    for (int i = 0; i < n_before; i++)
        before[i] = p->running[i];
    p->n_running = 0;
    p->busy = 0;
    for (int i = 0; i < p->n_ready && p->busy != p->axes; i++) {
        task_run *run = p->ready[i];
        if ((run->task->network & p->busy) != 0)
            continue;
        if (!run->is_running)
            run->piece_start_s = p->now_s;
        run->is_running = true;

        p->running[p->n_running++] = run;
        p->busy |= run->task->network;
    }
    return interrupted_end(p, before, n_before);
}

/* ---- time ----------------------------------------------------------------------- */

/* Work left below this share of the whole is rounding. */
static const double NOTHING = 1e-12;

static double work_after(const task_run *run, double done_s)
{
    const double left_s = run->left_s - done_s;
    return left_s > NOTHING * run->task->work_s ? left_s : 0;
}

/* Seconds until something ends. @return INFINITY: nothing runs */
static double step_s(const play *p, double rate)
{
    double step = p->computes != NULL ? p->computes->left_s / rate : (double)INFINITY;
    for (int i = 0; i < p->n_running; i++)
        step = p->running[i]->left_s < step ? p->running[i]->left_s : step;
    return step;
}

/* Let the time pass until something ends. @return false: nothing runs */
static bool time_pass(play *p)
{
    const double rate = p->busy != 0 ? 1 - p->slowdown : 1;
    const double step = step_s(p, rate);
    if (isinf(step))
        return false;
    p->now_s += step;
    for (int i = 0; i < p->n_running; i++)
        p->running[i]->left_s = work_after(p->running[i], step);

    if (p->computes != NULL) {
        p->computes->left_s = work_after(p->computes, step * rate);
        p->window.busy_s += step;
        p->window.beside_s += p->busy != 0 ? step : 0;
    }
    return true;
}

static ridge_status play_all(play *p)
{
    RIDGE_TRY(instance_add(p));
    RIDGE_TRY(instance_add(p));
    do {
        if (p->computes != NULL && p->computes->left_s <= 0) {
            task_run *run = p->computes;
            p->computes = NULL;
            RIDGE_TRY(run_done(p, run));
        }
        do {
            p->has_moved = false;
            RIDGE_TRY(running_sweep(p));
            RIDGE_TRY(chip_go_on(p));
        } while (p->has_moved);
        RIDGE_TRY(axes_allot(p));
    } while (time_pass(p));
    if (p->n_ready > 0 || p->instants != NULL || p->chip < p->n_instances)
        return ridge_fail(p->cx, RIDGE_E_INTERNAL,
                          "the operations of a timeline wait for each other");
    p->out->end_s = p->now_s;
    p->out->drain_s = p->now_s - p->end_s;
    return RIDGE_OK;
}

ridge_status ridge__schedule_play(ridge_ctx *cx, const ridge_program *program,
                                  const ridge__block_tasks *tasks, double slowdown,
                                  ridge__schedule *out)
{
    ridge_arena *arena = ridge_ctx_scratch(cx);
    const size_t n_blocks = (size_t)program->n_blocks;
    play p = {
        .cx = cx, .program = program, .tasks = tasks, .slowdown = slowdown, .out = out};
    *out = (ridge__schedule){
        .tasks = tasks,
        .slowdown = slowdown,
        .has_events = out->has_events,
        .blocks = ridge_new(arena, ridge__block_play, n_blocks + 1),
    };
    size_t n_instances = 0;
    size_t n_runs = 0;
    p.latest = ridge_new(arena, int, n_blocks + 1);
    if (out->blocks == NULL || p.latest == NULL)
        return ridge_fail_nomem(cx);
    for (size_t i = 0; i < n_blocks; i++) {
        const int64_t repeat = program->blocks[i].repeat;
        const size_t most = repeat < 1                   ? 0
                            : repeat < RIDGE__PLAYED_MAX ? (size_t)repeat
                                                         : RIDGE__PLAYED_MAX;
        out->blocks[i].repeat = repeat;
        p.latest[i] = -1;
        n_instances += most;
        n_runs += most * (size_t)tasks[i].n_collectives;
    }
    p.instances = ridge_new(arena, instance, n_instances + 1);
    p.ready = ridge_new(arena, task_run *, n_runs + 1);
    if (p.instances == NULL || p.ready == NULL)
        return ridge_fail_nomem(cx);
    return play_all(&p);
}
