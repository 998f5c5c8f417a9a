/*
 * Fork and join. Work has a number; a waiting thread looks at it for a short while,
 * lets others have the processor between looks, and then sleeps. So a team is quick
 * between kernels, and harmless where there are more threads than processors.
 */
#include "team.h"

#include "device_memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { LOOKS = 64, LINE = 64 };
static const int64_t LOOK_NS = 100 * 1000; /* then it sleeps */

/** A number that one side raises and the other waits for. */
typedef struct signal_word {
    _Alignas(LINE) _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} signal_word;

typedef struct member {
    ridge__team *team;
    int index;
    pthread_t thread;
    void *scratch;
} member;

struct ridge__team {
    signal_word work; /* its number */
    signal_word done; /* workers that are done with all work so far, the caller apart */
    int workers, started;
    bool is_closing;
    ridge__team_fn *fn;
    void *payload;
    member *members; /* [workers] */
    size_t scratch_bytes, shared_bytes;
    void *shared;
};

/* ---- waiting --------------------------------------------------------------------- */

static bool word_open(signal_word *w)
{
    atomic_init(&w->value, 0);
    atomic_init(&w->sleepers, 0);
    if (pthread_mutex_init(&w->mutex, NULL) != 0)
        return false;
    if (pthread_cond_init(&w->changed, NULL) == 0)
        return true;
    pthread_mutex_destroy(&w->mutex);
    return false;
}

static void word_close(signal_word *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
}

static void word_raise(signal_word *w)
{
    atomic_fetch_add(&w->value, 1);
    if (atomic_load(&w->sleepers) == 0)
        return;
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
}

/** Numbers wrap around: reached if not behind. */
static bool has_reached(signal_word *w, uint32_t want)
{
    return (int32_t)(atomic_load(&w->value) - want) >= 0;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool look_for(signal_word *w, uint32_t want)
{
    for (int i = 0; i < LOOKS; i++)
        if (has_reached(w, want))
            return true;
    int64_t until = now_ns() + LOOK_NS;
    do {
        sched_yield();
        if (has_reached(w, want))
            return true;
    } while (now_ns() < until);
    return false;
}

static void word_wait(signal_word *w, uint32_t want)
{
    if (look_for(w, want))
        return;
    pthread_mutex_lock(&w->mutex);
    atomic_fetch_add(&w->sleepers, 1);
    while (!has_reached(w, want))
        pthread_cond_wait(&w->changed, &w->mutex);
    atomic_fetch_sub(&w->sleepers, 1);
    pthread_mutex_unlock(&w->mutex);
}

/* ---- work ------------------------------------------------------------------------ */

static void *serve(void *argument)
{
    member *m = argument;
    ridge__team *team = m->team;
    for (uint32_t number = 1;; number++) {
        word_wait(&team->work, number);
        if (team->is_closing)
            return NULL;
        team->fn(team->payload, m->index, team->workers);
        word_raise(&team->done);
    }
}

void ridge__team_run(ridge__team *team, ridge__team_fn *fn, void *payload)
{
    if (team->workers == 1) {
        fn(payload, 0, 1);
        return;
    }
    team->fn = fn;
    team->payload = payload;
    uint32_t others = (uint32_t)team->workers - 1;
    uint32_t want = atomic_load(&team->done.value) + others;
    word_raise(&team->work);
    fn(payload, 0, team->workers);
    word_wait(&team->done, want);
}

ridge__part ridge__part_of(int64_t n, int64_t grain, int worker, int workers)
{
    int64_t grains = n / grain + (n % grain != 0);
    int64_t each = grains / workers, rest = grains % workers;
    int64_t first = each * worker + (worker < rest ? worker : rest);
    int64_t end = first + each + (worker < rest ? 1 : 0);
    ridge__part part = {first * grain, end * grain};
    part.first = part.first < n ? part.first : n;
    part.end = part.end < n ? part.end : n;
    return part;
}

/* ---- opening and closing --------------------------------------------------------- */

/** Signals are the caller's: its handlers run on its own threads. */
static bool start(member *m)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&m->thread, NULL, serve, m) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static ridge_status start_all(ridge_ctx *cx, ridge__team *team)
{
    for (; team->started < team->workers; team->started++) {
        member *m = &team->members[team->started];
        *m = (member){.team = team, .index = team->started};
        if (team->started > 0 && !start(m))
            return ridge_fail(cx, RIDGE_E_NOMEM,
                              "the system starts no thread beyond %d: ask for fewer "
                              "threads than %d",
                              team->started, team->workers);
    }
    return RIDGE_OK;
}

ridge_status ridge__team_open(ridge_ctx *cx, int workers, ridge__team **out)
{
    if (workers < 1 || workers > RIDGE__TEAM_THREAD_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "%d threads for a device: take 1 to %d",
                          workers, RIDGE__TEAM_THREAD_MAX);
    void *place = ridge__block_take(sizeof(ridge__team));
    if (place == NULL)
        return ridge_fail_nomem(cx);
    ridge__team *team = place;
    *team = (ridge__team){.workers = workers};
    team->members = ridge_new(ridge_ctx_arena(cx), member, (size_t)workers);
    if (team->members == NULL || !word_open(&team->work))
        goto no_memory;
    if (!word_open(&team->done)) {
        word_close(&team->work);
        goto no_memory;
    }
    ridge_status st = start_all(cx, team);
    if (st != RIDGE_OK) {
        ridge__team_close(team);
        return st;
    }
    *out = team;
    return RIDGE_OK;

no_memory:
    ridge__block_give(team);
    return ridge_fail_nomem(cx);
}

void ridge__team_close(ridge__team *team)
{
    if (team == NULL)
        return;
    team->is_closing = true;
    word_raise(&team->work);
    for (int i = 0; i < team->started; i++) {
        if (i > 0)
            pthread_join(team->members[i].thread, NULL);
        ridge__block_give(team->members[i].scratch);
    }
    ridge__block_give(team->shared);
    word_close(&team->done);
    word_close(&team->work);
    ridge__block_give(team);
}

/* ---- scratch --------------------------------------------------------------------- */

int ridge__team_workers(const ridge__team *team)
{
    return team->workers;
}

static ridge_status fail_scratch(ridge_ctx *cx, size_t bytes)
{
    return ridge_fail(cx, RIDGE_E_NOMEM,
                      "no %zu bytes for a kernel's intermediate values: make the "
                      "program's arrays smaller, or use fewer threads",
                      bytes);
}

/** Sizes double, so that a slowly growing need costs little. */
static size_t grown(size_t held, size_t bytes)
{
    return bytes > held + held ? bytes : held + held;
}

ridge_status ridge__team_reserve(ridge__team *team, ridge_ctx *cx, size_t bytes)
{
    if (bytes <= team->scratch_bytes)
        return RIDGE_OK;
    size_t size = grown(team->scratch_bytes, bytes);
    team->scratch_bytes = 0;
    for (int i = 0; i < team->workers; i++) {
        ridge__block_give(team->members[i].scratch);
        team->members[i].scratch = ridge__block_take(size);
        if (team->members[i].scratch == NULL)
            return fail_scratch(cx, size);
    }
    team->scratch_bytes = size;
    return RIDGE_OK;
}

void *ridge__team_scratch(const ridge__team *team, int worker)
{
    return team->members[worker].scratch;
}

ridge_status ridge__team_reserve_shared(ridge__team *team, ridge_ctx *cx, size_t bytes)
{
    if (bytes <= team->shared_bytes)
        return RIDGE_OK;
    size_t size = grown(team->shared_bytes, bytes);
    ridge__block_give(team->shared);
    team->shared_bytes = 0;
    team->shared = ridge__block_take(size);
    if (team->shared == NULL)
        return fail_scratch(cx, size);
    team->shared_bytes = size;
    return RIDGE_OK;
}

void *ridge__team_shared(const ridge__team *team)
{
    return team->shared;
}
