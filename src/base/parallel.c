/* A pool of threads over numbered items. */
#include "ridge/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WORKER_MAX = 64 };

typedef struct pool {
    ridge_ctx *cx; /* only its cancel flag is read by workers */
    int64_t items;
    _Atomic int64_t next;
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

static void *work(void *argument)
{
    worker *w = argument;
    pool *p = w->pool;
    while (!ridge_ctx_is_cancelled(p->cx)) {
        int64_t item = atomic_fetch_add(&p->next, 1);
        if (item >= p->items)
            break;
        p->fn(p->payload, item, w->index);
    }
    return NULL;
}

ridge_status ridge_parallel(ridge_ctx *cx, int workers, int64_t items,
                            void (*fn)(void *payload, int64_t item, int worker),
                            void *payload)
{
    pool p = {.cx = cx, .items = items, .fn = fn, .payload = payload};
    atomic_init(&p.next, 0);
    worker team[WORKER_MAX];
    workers = workers < 1 ? 1 : workers > WORKER_MAX ? WORKER_MAX : workers;
    int started = 1; /* the caller is worker 0 */
    team[0] = (worker){.pool = &p, .index = 0};
    for (; started < workers && started < items; started++) {
        team[started] = (worker){.pool = &p, .index = started};
        /* With fewer threads than asked for the work is done all the same. */
        if (pthread_create(&team[started].thread, NULL, work, &team[started]) != 0)
            break;
    }
    work(&team[0]);
    for (int i = 1; i < started; i++)
        pthread_join(team[i].thread, NULL);
    if (ridge_ctx_is_cancelled(cx))
        return ridge_fail(cx, RIDGE_E_CANCELLED, "cancelled before the work was done");
    return RIDGE_OK;
}
