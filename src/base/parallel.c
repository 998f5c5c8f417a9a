/* A pool of threads over numbered items. */
#include "ridge/base_parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WORKER_MAX = 64 };

/* Items that a worker has before it, in one word: the first of them in the upper half,
 * the one behind the last in the lower. */
typedef _Atomic uint64_t item_run;

typedef struct pool {
    ridge_ctx *cx; /* only its cancel flag is read by workers */
    int64_t items;
    _Atomic int64_t next;
    int n_runs; /* 0: items are handed out in order */
    item_run runs[WORKER_MAX];
    void (*fn)(void *payload, int64_t item, int worker);
    void *payload;
} pool;

typedef struct worker {
    pool *pool;
    int index;
    pthread_t thread;
} worker;

int ridge_processor_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > WORKER_MAX ? WORKER_MAX : (int)n;
}

/* Take one of a run, its first or its last. @return -1: it is empty */
static int64_t take(item_run *run, bool is_first)
{
    uint64_t now = atomic_load(run);
    for (;;) {
        const uint64_t begin = now >> 32;
        const uint64_t end = now & UINT32_MAX;
        if (begin == end)
            return -1;
        const uint64_t rest =
            is_first ? (begin + 1) << 32 | end : begin << 32 | (end - 1);
        if (atomic_compare_exchange_weak(run, &now, rest))
            return (int64_t)(is_first ? begin : end - 1);
    }
}

/* Of its own run, then of the next one's far end. @return -1: nothing is left */
static int64_t next_item(pool *p, int index)
{
    if (p->n_runs == 0) {
        const int64_t item = atomic_fetch_add(&p->next, 1);
        return item < p->items ? item : -1;
    }
    int64_t item = take(&p->runs[index], true);
    for (int i = 1; i < p->n_runs && item < 0; i++)
        item = take(&p->runs[(index + i) % p->n_runs], false);
    return item;
}

static void *work(void *argument)
{
    worker *w = argument;
    pool *p = w->pool;
    while (!ridge_ctx_is_cancelled(p->cx)) {
        const int64_t item = next_item(p, w->index);
        if (item < 0)
            break;
        p->fn(p->payload, item, w->index);
    }
    return NULL;
}

static int workers_of(int workers)
{
    return workers < 1 ? 1 : workers > WORKER_MAX ? WORKER_MAX : workers;
}

static ridge_status run_pool(pool *p, int workers)
{
    worker team[WORKER_MAX];
    int started = 1; /* the caller is worker 0 */
    team[0] = (worker){.pool = p, .index = 0};
    for (; started < workers && started < p->items; started++) {
        team[started] = (worker){.pool = p, .index = started};
        /* With fewer threads than asked for the work is done all the same. */
        if (pthread_create(&team[started].thread, NULL, work, &team[started]) != 0)
            break;
    }
    work(&team[0]);
    for (int i = 1; i < started; i++)
        pthread_join(team[i].thread, NULL);
    if (ridge_ctx_is_cancelled(p->cx))
        return ridge_fail(p->cx, RIDGE_E_CANCELLED,
                          "cancelled before the work was done");
    return RIDGE_OK;
}

ridge_status ridge_parallel(ridge_ctx *cx, int workers, int64_t items,
                            void (*fn)(void *payload, int64_t item, int worker),
                            void *payload)
{
    pool p = {.cx = cx, .items = items, .fn = fn, .payload = payload};
    atomic_init(&p.next, 0);
    return run_pool(&p, workers_of(workers));
}

ridge_status ridge_parallel_runs(ridge_ctx *cx, int workers, int64_t items,
                                 void (*fn)(void *payload, int64_t item, int worker),
                                 void *payload)
{
    pool p = {.cx = cx, .items = items, .fn = fn, .payload = payload};
    if (items < 1 || items > INT32_MAX)
        return ridge_parallel(cx, workers, items, fn, payload);
    p.n_runs = workers_of(workers);
    for (int64_t i = 0; i < p.n_runs; i++)
        atomic_init(&p.runs[i], (uint64_t)(items * i / p.n_runs) << 32 |
                                    (uint64_t)(items * (i + 1) / p.n_runs));
    return run_pool(&p, p.n_runs);
}
