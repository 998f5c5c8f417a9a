/* Runs ranks as threads of this process: starts them, watches over them, says how it
 * ended. */
#include "comm_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WATCH_NS = 20000000, /* between looks at the caller's cancel flag */
    SPINS = 100,         /* looks before a rank lets others run, if each has a core */
    SPINS_SHARED = 1
};

/* ---- stopping -------------------------------------------------------------------- */

/** One user fewer; the last one frees it all. */
static void leave(ridge__thread_world *world)
{
    pthread_mutex_lock(&world->mutex);
    int left = --world->users;
    pthread_cond_signal(&world->change);
    pthread_mutex_unlock(&world->mutex);
    if (left > 0)
        return;
    for (int r = 0; r < world->size; r++)
        ridge_ctx_close(world->ranks[r].cx);
    ridge_ctx_close(world->cx);
}

/* ---- a rank ---------------------------------------------------------------------- */

static ridge_status end_rank(ridge__thread_rank *me, ridge_status st)
{
    ridge_ctx *cx = me->cx;
    const ridge__operation *op = me->first;
    if (st == RIDGE_OK && op != NULL)
        st = ridge_fail(cx, RIDGE_E_ARG,
                        "it has ended with %s under way: wait for each call",
                        ridge__call_kind_text(op->call.kind));
    if (st != RIDGE_OK) {
        ridge__world_stop(me->world, me->index, st, ridge_ctx_message(cx));
        ridge__rank_abandon(me);
    }
    return st;
}

static void *run_rank(void *argument)
{
    ridge__thread_rank *me = argument;
    ridge__thread_world *world = me->world;
    ridge_status st = world->fn(me->cx, &me->comm->base, world->payload);
    st = end_rank(me, st);
    pthread_mutex_lock(&world->mutex);
    me->status = st;
    atomic_store(&me->state, RIDGE__RANK_ENDED);
    pthread_mutex_unlock(&world->mutex);
    for (int r = 0; r < world->size; r++) /* those that wait for it see that it ended */
        ridge__rank_wake(&world->ranks[r]);
    leave(world);
    return NULL;
}

/* ---- the world ------------------------------------------------------------------- */

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void destroy_locks(void *payload)
{
    ridge__thread_world *world = payload;
    for (int r = 0; r < world->size; r++) {
        pthread_cond_destroy(&world->ranks[r].wake);
        pthread_mutex_destroy(&world->ranks[r].mutex);
    }
    pthread_cond_destroy(&world->change);
    pthread_mutex_destroy(&world->mutex);
}

static void init_rank(ridge__thread_world *world, int index)
{
    ridge__thread_rank *rank = &world->ranks[index];
    *rank = (ridge__thread_rank){.world = world, .index = index};
    atomic_init(&rank->state, RIDGE__RANK_RUNS);
    atomic_init(&rank->waits_for, -1);
    pthread_mutex_init(&rank->mutex, NULL);
    init_condition(&rank->wake);
}

static ridge_status open_rank(ridge_ctx *cx, ridge__thread_rank *rank,
                              const int *members)
{
    rank->cx = ridge_ctx_open();
    if (rank->cx == NULL)
        return ridge_fail_nomem(cx);
    return ridge__thread_group_join(cx, rank, members, rank->world->size, &rank->comm);
}

/** Fill a world that has its locks. */
static ridge_status open_ranks(ridge_ctx *cx, ridge__thread_world *world)
{
    int *members = ridge_new(ridge_ctx_arena(world->cx), int, (size_t)world->size);
    if (members == NULL)
        return ridge_fail_nomem(cx);
    for (int r = 0; r < world->size; r++)
        members[r] = r;
    for (int r = 0; r < world->size; r++)
        RIDGE_TRY(open_rank(cx, &world->ranks[r], members));
    return RIDGE_OK;
}

static ridge__thread_world *new_world(ridge_ctx *own, const ridge_ranks *how)
{
    ridge__thread_world *world =
        ridge_new(ridge_ctx_arena(own), ridge__thread_world, 1);
    ridge__thread_rank *ranks =
        ridge_new(ridge_ctx_arena(own), ridge__thread_rank, (size_t)how->ranks);
    if (world == NULL || ranks == NULL)
        return NULL;
    world->cx = own;
    world->ops = &ridge__thread_ops;
    world->size = how->ranks;
    world->timeout_s = how->timeout_s;
    world->spins = how->ranks <= ridge_processor_count() ? SPINS : SPINS_SHARED;
    world->combine = ridge__combine_choose();
    world->ranks = ranks;
    world->failed = -1;
    pthread_mutex_init(&world->mutex, NULL);
    init_condition(&world->change);
    for (int r = 0; r < how->ranks; r++)
        init_rank(world, r);
    return world;
}

static ridge_status open_world(ridge_ctx *cx, const ridge_ranks *how,
                               ridge__thread_world **out)
{
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return ridge_fail_nomem(cx);
    ridge__thread_world *world = new_world(own, how);
    if (world == NULL) {
        ridge_ctx_close(own);
        return ridge_fail_nomem(cx);
    }
    world->users = 1;
    ridge_status st = ridge_ctx_defer(own, destroy_locks, world);
    if (st == RIDGE_OK)
        st = open_ranks(cx, world);
    if (st != RIDGE_OK)
        leave(world);
    else
        *out = world;
    return st;
}

/** @return ranks that run; fewer than all only after a failure */
static int start_ranks(ridge__thread_world *world)
{
    for (int r = 0; r < world->size; r++) {
        pthread_mutex_lock(&world->mutex);
        world->users++;
        pthread_mutex_unlock(&world->mutex);
        ridge__thread_rank *rank = &world->ranks[r];
        if (pthread_create(&rank->thread, NULL, run_rank, rank) == 0)
            continue;
        ridge__world_stop(world, r, RIDGE_E_IO,
                          "no thread can be started for it: run fewer ranks");
        leave(world);
        for (int k = r; k < world->size; k++)
            atomic_store(&world->ranks[k].state, RIDGE__RANK_ENDED);
        return r;
    }
    return world->size;
}

/** Threads that have ended are joined, others let go. */
static void part_from(ridge__thread_world *world, int started)
{
    for (int r = 0; r < started; r++) {
        if (atomic_load(&world->ranks[r].state) == RIDGE__RANK_ENDED)
            pthread_join(world->ranks[r].thread, NULL);
        else
            pthread_detach(world->ranks[r].thread);
    }
}

/* ---- watching over them ---------------------------------------------------------- */

/** What the caller of a run knows of its ranks. */
typedef struct watch {
    int64_t calls;    /* starts and ends so far */
    double since_s;   /* that has not changed since then */
    double stopped_s; /* when all were stopped; 0: they were not */
} watch;

static int count_ended(const ridge__thread_world *world, int *running)
{
    int ended = 0;
    for (int r = 0; r < world->size; r++) {
        if (atomic_load(&world->ranks[r].state) == RIDGE__RANK_ENDED)
            ended++;
        else
            *running = r;
    }
    return ended;
}

/** A rank that goes on for ever while others have ended. */
static void check_tail(ridge__thread_world *world, watch *w, double now_s)
{
    int running = 0;
    int ended = count_ended(world, &running);
    int64_t calls = ended;
    for (int r = 0; r < world->size; r++)
        calls += atomic_load(&world->ranks[r].calls);
    if (ended == 0 || calls != w->calls) {
        w->calls = calls;
        w->since_s = now_s;
        return;
    }
    if (now_s - w->since_s < world->timeout_s)
        return;
    char cause[RIDGE__CAUSE_MAX];
    snprintf(cause, sizeof cause,
             "it has run on for %g s after other ranks ended: it is stuck or needs a "
             "longer time limit",
             world->timeout_s);
    ridge__world_stop(world, running, RIDGE_E_IO, cause);
}

static void cancel_all(ridge__thread_world *world)
{
    for (int r = 0; r < world->size; r++)
        ridge_ctx_cancel(world->ranks[r].cx);
    ridge__world_stop(world, -1, RIDGE_E_CANCELLED, "");
}

static void look(const ridge_ctx *cx, ridge__thread_world *world, watch *w)
{
    double now_s = ridge_clock_s();
    if (atomic_load(&world->is_stopped)) {
        if (w->stopped_s == 0)
            w->stopped_s = now_s;
        return;
    }
    if (ridge_ctx_is_cancelled(cx))
        cancel_all(world);
    else
        check_tail(world, w, now_s);
}

/** Until all ranks have left, or are late to after they were stopped. The world's mutex
 * is held when it returns. */
static void watch_ranks(const ridge_ctx *cx, ridge__thread_world *world)
{
    watch w = {.since_s = ridge_clock_s()};
    pthread_mutex_lock(&world->mutex);
    while (world->users > 1) {
        struct timespec end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_nsec += WATCH_NS;
        if (end.tv_nsec >= 1000000000) {
            end.tv_sec++;
            end.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&world->change, &world->mutex, &end);
        if (w.stopped_s > 0 && ridge_clock_s() - w.stopped_s > world->timeout_s)
            return;
        pthread_mutex_unlock(&world->mutex);
        look(cx, world, &w);
        pthread_mutex_lock(&world->mutex);
    }
}

/* ---- how it ended ---------------------------------------------------------------- */

/** The lowest rank that failed with the same words as the first one to do so, so that
 * what goes wrong on all ranks is always told of the same one. */
static int spokesman(const ridge__thread_world *world)
{
    for (int r = 0; r < world->size; r++) {
        const ridge__thread_rank *rank = &world->ranks[r];
        if (atomic_load(&rank->state) == RIDGE__RANK_ENDED &&
            rank->status != RIDGE_OK &&
            strcmp(ridge_ctx_message(rank->cx), world->cause) == 0)
            return r;
    }
    return world->failed;
}

/** The world's mutex is held. */
static ridge_status tell(ridge_ctx *cx, const ridge__thread_world *world)
{
    int running = -1;
    count_ended(world, &running);
    if (!atomic_load(&world->is_stopped))
        return RIDGE_OK;
    char rest[96] = "";
    if (running >= 0)
        snprintf(rest, sizeof rest, "; rank %d did not stop and was left behind",
                 running);
    if (world->failed < 0)
        return ridge_fail(cx, world->status, "cancelled: all ranks were stopped%s",
                          rest);
    const char *cause = world->cause[0] == '\0' ? "it gave up" : world->cause;
    if (strncmp(cause, "rank ", 5) == 0) /* it says itself which */
        return ridge_fail(cx, world->status, "%s%s", cause, rest);
    return ridge_fail(cx, world->status, "rank %d: %s%s", spokesman(world), cause,
                      rest);
}

ridge_status ridge__threads_run(ridge_ctx *cx, const ridge_ranks *how,
                                ridge_rank_fn *fn, void *payload)
{
    ridge__thread_world *world = NULL;
    RIDGE_TRY(open_world(cx, how, &world));
    world->fn = fn;
    world->payload = payload;
    int started = start_ranks(world);
    watch_ranks(cx, world);
    ridge_status st = tell(cx, world);
    pthread_mutex_unlock(&world->mutex);
    part_from(world, started);
    leave(world);
    return st;
}
