/*
 * Collectives between two threads against what copying memory allows: for each size the
 * rate of memcpy by as many threads at once, then each collective's, and the ratio to
 * the bound that its reads and writes give at memcpy's rate. Rates are nccl-tests'
 * algorithm bandwidth: bytes of the whole array by time (for an all-reduce of two ranks
 * the bus bandwidth is the same, for the others it is half of it).
 */
#include "ridge/execute_comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, TRIES = 15 };

static const double try_s = 0.02; /* one timing, long enough for the clock */

typedef enum work_kind {
    WORK_MEMCPY,
    WORK_ALL_GATHER,
    WORK_REDUCE_SCATTER,
    WORK_ALL_REDUCE,
    WORK_ALL_REDUCE_IN_PLACE,
    WORK_ALL_TO_ALL,
    WORK_COUNT
} work_kind;

/* Bytes that a rank reads and writes, by the bytes V of the whole array of p ranks:
 * a copy of V does 2 V. A gather reads and writes V; a reduce-scatter reads its slice
 * of each, V, and writes V / p; an all-reduce reads V and writes V (its slice, to all);
 * an all-to-all of V on each rank reads and writes V. */
static const struct {
    const char *name;
    double by_copy; /* of 2 V */
} works[WORK_COUNT] = {
    {"memcpy", 1},
    {"all_gather", 1},
    {"reduce_scatter", (1 + 1.0 / RANKS) / 2},
    {"all_reduce", 1},
    {"all_reduce_in_place", 1},
    {"all_to_all", 1},
};

/** What all ranks share. */
typedef struct comparison {
    size_t bytes;
    double seconds[WORK_COUNT]; /* of one, the median; written by rank 0 */
} comparison;

/** What one rank works with. */
typedef struct bench_rank {
    ridge_ctx *cx;
    ridge_comm *world;
    size_t bytes;
    float *src, *dst;
} bench_rank;

static ridge_status do_once(const bench_rank *r, work_kind kind)
{
    ridge_ctx *cx = r->cx;
    ridge_comm *world = r->world;
    float *src = r->src, *dst = r->dst;
    int64_t n = (int64_t)(r->bytes / sizeof *src);
    ridge_cut cut = {1, n, 1};
    ridge_pending pending = {0};
    switch (kind) {
    case WORK_MEMCPY:
        memcpy(dst, src, r->bytes);
        break;
    case WORK_ALL_GATHER:
        RIDGE_TRY(ridge_all_gather_start(cx, world, RIDGE_ELEMENT_F32, &cut, src, dst,
                                         &pending));
        break;
    case WORK_REDUCE_SCATTER:
        RIDGE_TRY(ridge_reduce_scatter_start(cx, world, RIDGE_ELEMENT_F32, &cut, src,
                                             dst, &pending));
        break;
    case WORK_ALL_REDUCE:
        RIDGE_TRY(ridge_all_reduce_start(cx, world, RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM,
                                         n, src, dst, &pending));
        break;
    case WORK_ALL_REDUCE_IN_PLACE:
        RIDGE_TRY(ridge_all_reduce_start(cx, world, RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM,
                                         n, dst, dst, &pending));
        break;
    case WORK_ALL_TO_ALL:
        RIDGE_TRY(ridge_all_to_all_start(cx, world, RIDGE_ELEMENT_F32, n / RANKS, src,
                                         dst, &pending));
        break;
    case WORK_COUNT:
        break;
    }
    return ridge_comm_wait(cx, &pending);
}

/** Seconds of one of `times`, all ranks at once. */
static ridge_status time_once(const bench_rank *r, work_kind kind, int times,
                              double *out)
{
    RIDGE_TRY(ridge_barrier(r->cx, r->world));
    double start_s = ridge_clock_s();
    for (int i = 0; i < times; i++)
        RIDGE_TRY(do_once(r, kind));
    RIDGE_TRY(ridge_barrier(r->cx, r->world));
    *out = (ridge_clock_s() - start_s) / times;
    return RIDGE_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/** On a cache line's start, as arrays of devices are. NULL: no memory. */
static float *new_aligned(ridge_ctx *cx, size_t bytes)
{
    enum { LINE = 64 };
    char *p = ridge_arena_new(ridge_ctx_arena(cx), bytes + LINE, 1);
    return p == NULL ? NULL : (void *)(p + (LINE - (uintptr_t)p % LINE));
}

static ridge_status time_all(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    comparison *c = payload;
    float *src = new_aligned(cx, c->bytes), *dst = new_aligned(cx, c->bytes);
    if (src == NULL || dst == NULL)
        return ridge_fail_nomem(cx);
    memset(src, 0, c->bytes);
    memset(dst, 0, c->bytes);
    const bench_rank rank = {cx, world, c->bytes, src, dst};
    int times = (int)fmin(fmax(try_s * 5e9 / (double)c->bytes, 2), 20000);
    double seconds[WORK_COUNT][TRIES];
    /* In turns, so that what else the machine does falls on all alike. */
    for (int t = -1; t < TRIES; t++) {
        for (int k = 0; k < WORK_COUNT; k++) {
            double s;
            RIDGE_TRY(time_once(&rank, (work_kind)k, t < 0 ? 2 : times, &s));
            if (t >= 0)
                seconds[k][t] = s;
        }
    }
    for (int k = 0; k < WORK_COUNT && ridge_comm_rank(world) == 0; k++) {
        qsort(seconds[k], TRIES, sizeof seconds[k][0], compare_doubles);
        c->seconds[k] = seconds[k][TRIES / 2];
    }
    return RIDGE_OK;
}

static void print(const comparison *c)
{
    for (int k = 0; k < WORK_COUNT; k++) {
        double bound_s = c->seconds[WORK_MEMCPY] * works[k].by_copy;
        printf("{\"bench\": \"comm_%s\", \"ranks\": %d, \"bytes\": %zu, \"unit\": "
               "\"GB/s\", \"median\": %.3f, \"us\": %.2f, \"of_memcpy_bound\": %.3f}\n",
               works[k].name, RANKS, c->bytes,
               (double)c->bytes / c->seconds[k] / RIDGE_GB, c->seconds[k] * 1e6,
               bound_s / c->seconds[k]);
    }
    fflush(stdout);
}

/* bench_comm [mpi]: with mpi between two processes, started by mpirun -n 2. */
int main(int argc, char **argv)
{
    bool is_mpi = argc > 1 && strcmp(argv[1], "mpi") == 0;
    static const size_t sizes[] = {4 << 10, 64 << 10, 256 << 10, 1 << 20,
                                   4 << 20, 16 << 20, 64 << 20};
    for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        comparison c = {.bytes = sizes[i]};
        ridge_ranks how = {.engine = is_mpi ? RIDGE_ENGINE_MPI : RIDGE_ENGINE_THREADS,
                           .ranks = RANKS,
                           .timeout_s = 60};
        bool is_done =
            cx != NULL && ridge_ranks_run(cx, &how, time_all, &c) == RIDGE_OK;
        if (is_done && ridge_launched_rank() == 0)
            print(&c);
        else if (!is_done)
            fprintf(stderr, "bench_comm: %s\n",
                    cx == NULL ? "no memory" : ridge_ctx_message(cx));
        ridge_ctx_close(cx);
        if (!is_done)
            return 1;
    }
    return 0;
}
