/*
 * Collectives by kind, ranks and bytes: of all ranks, and of halves of them side by
 * side, each by its own call until its wait, as a step makes them.
 */
#include "calibration.h"

#include "ridge/cost.h"

#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 16 << 20 };

typedef struct exchange_load {
    ridge__calibrator *c;
    ridge_comm *group;
    ridge_collective kind;
    int64_t bytes; /* V */
    char *pool;    /* two stretches of LARGEST */
    int calls;
} exchange_load;

static ridge_status start(exchange_load *l, const void *src, void *dst,
                          ridge_pending *out)
{
    const ridge_element element = RIDGE_ELEMENT_F32;
    const int ranks = ridge_comm_size(l->group);
    const int64_t n = l->bytes / 4;
    const ridge_cut cut = {1, n, 1};
    ridge_ctx *cx = l->c->cx;
    switch (l->kind) {
    case RIDGE_COLLECTIVE_ALL_GATHER:
        return ridge_all_gather_start(cx, l->group, element, &cut, src, dst, out);
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
        return ridge_reduce_scatter_start(cx, l->group, element, &cut, src, dst, out);
    case RIDGE_COLLECTIVE_ALL_REDUCE:
        return ridge_all_reduce_start(cx, l->group, element, RIDGE_REDUCE_SUM, n, src,
                                      dst, out);
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        return ridge_all_to_all_start(cx, l->group, element,
                                      ridge_ceil_div(n, (int64_t)ranks * ranks), src,
                                      dst, out);
    case RIDGE_COLLECTIVE_BROADCAST:
        return ridge_broadcast_start(cx, l->group, element, n, 0,
                                     ridge_comm_rank(l->group) == 0 ? dst : src, dst,
                                     out);
    case RIDGE_COLLECTIVE_SEND_RECV:
        break;
    }
    return ridge_permute_start(cx, l->group, element, n, 1, src, dst, out);
}

static ridge_status exchange(void *payload)
{
    exchange_load *l = payload;
    ridge_pending pending;
    RIDGE_TRY(start(l, l->pool, l->pool + LARGEST, &pending));
    return ridge_comm_wait(l->c->cx, &pending);
}

/* Every rank makes as many calls: no rank may wait for one that has stopped. */
static ridge_status exchanges(void *payload)
{
    exchange_load *l = payload;
    for (int i = 0; i < l->calls; i++)
        RIDGE_TRY(exchange(l));
    return RIDGE_OK;
}

/* How many calls fill a sample, by the slowest rank's first ones. */
static ridge_status count_calls(exchange_load *l)
{
    const double span_s = l->c->is_crowded ? 20e-3 : 3e-3;
    double seconds;
    l->calls = 3;
    RIDGE_TRY(exchanges(l));
    const double start_s = ridge_clock_s();
    RIDGE_TRY(exchanges(l));
    seconds = (ridge_clock_s() - start_s) / l->calls;
    RIDGE_TRY(ridge__mean_over_ranks(l->c, &seconds, 1));
    const double wanted = span_s / seconds;
    l->calls = wanted < 1.0 ? 1 : wanted > 1000.0 ? 1000 : (int)wanted;
    return RIDGE_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static ridge_status measure_size(exchange_load *l, double *out)
{
    enum { SAMPLES = 3 };
    double times[SAMPLES];
    if (ridge_ctx_is_cancelled(l->c->cx))
        return ridge_fail(l->c->cx, RIDGE_E_CANCELLED, "calibration was stopped");
    RIDGE_TRY(count_calls(l));
    for (int i = 0; i < SAMPLES; i++) {
        const double start_s = ridge_clock_s();
        RIDGE_TRY(exchanges(l));
        times[i] = (ridge_clock_s() - start_s) / l->calls;
    }
    qsort(times, SAMPLES, sizeof *times, compare);
    *out = times[SAMPLES / 2];
    return ridge__mean_over_ranks(l->c, out, 1);
}

static ridge_status measure_group(exchange_load *l)
{
    static const int64_t sizes[] = {1 << 10, 1 << 14, 1 << 17,
                                    1 << 20, 4 << 20, LARGEST};
    const size_t n = RIDGE_COUNT_OF(sizes) - (l->c->request->is_quick ? 1 : 0);
    for (int kind = 0; kind < RIDGE_COLLECTIVE_COUNT; kind++) {
        l->kind = (ridge_collective)kind;
        ridge__unit_begin(l->c);
        ridge__calibrator_show(l->c, (double)kind / RIDGE_COLLECTIVE_COUNT,
                               "collectives");
        for (size_t i = 0; i < n; i++) {
            ridge__sample s = {
                .at = {(double)ridge_comm_size(l->group), (double)sizes[i]},
                .work = (double)sizes[i]};
            snprintf(s.name, sizeof s.name, "%s", ridge_collective_text(l->kind));
            l->bytes = sizes[i];
            RIDGE_TRY(measure_size(l, &s.seconds));
            RIDGE_TRY(ridge__sample_add(l->c, &l->c->collective, &s));
        }
    }
    return RIDGE_OK;
}

/* All ranks, and smaller groups side by side. */
static ridge_status measure_groups(exchange_load *l)
{
    ridge_ctx *cx = l->c->cx;
    const int ranks = ridge_comm_size(l->c->world);
    const int inner = 1;
    l->group = l->c->world;
    RIDGE_TRY(measure_group(l));
    for (int size = 2; size < ranks; size *= 2) {
        if (ranks % size != 0)
            break;
        const ridge_mesh mesh = {.n = 2,
                                 .axes = {{"outer", ranks / size}, {"inner", size}}};
        RIDGE_TRY(ridge_comm_axes(cx, l->c->world, &mesh, &inner, 1, &l->group));
        RIDGE_TRY(measure_group(l));
    }
    return RIDGE_OK;
}

ridge_status ridge__calibrate_collectives(ridge__calibrator *c)
{
    exchange_load l = {.c = c};
    void *pool;
    if (ridge_comm_size(c->world) == 1)
        return RIDGE_OK;
    RIDGE_TRY(ridge__filled_take(c, 2 * LARGEST, &pool));
    l.pool = pool;
    ridge_status st = measure_groups(&l);
    if (st != RIDGE_OK)
        ridge_comm_abandon(c->world);
    c->device->ops->release(c->device, pool);
    return st;
}
