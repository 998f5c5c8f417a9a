/*
 * Products of experts: groups of uneven numbers of rows. All groups' tiles stand in one
 * queue, so a small group costs no wait and a large one is shared.
 */
#include "gemm.h"

typedef struct grouped_run {
    ridge__tile_queue queue; /* first */
    ridge__device_cpu *cpu;
    const ridge__grouped_gemm *g;
} grouped_run;

/** Group number `group` as a product. */
static ridge__product product_of(const ridge__grouped_gemm *g, int group)
{
    int64_t first = g->offsets[group], rows = g->offsets[group + 1] - first;
    ridge__array in = ridge__array_at(g->in, first * g->k);
    int64_t matrix = (int64_t)group * g->k * g->n;
    if (g->is_outer)
        return (ridge__product){.m = g->k,
                                .n = g->n,
                                .k = rows,
                                .a = {in, g->k, true},
                                .b = {ridge__array_at(g->w, first * g->n), g->n, false},
                                .c = {ridge__array_at(g->out, matrix), g->n, false},
                                .is_added = g->is_added};
    return (ridge__product){.m = rows,
                            .n = g->n,
                            .k = g->k,
                            .a = {in, g->k, false},
                            .b = {ridge__array_at(g->w, matrix),
                                  g->is_w_transposed ? g->k : g->n, g->is_w_transposed},
                            .c = {ridge__array_at(g->out, first * g->n), g->n, false},
                            .is_added = g->is_added};
}

static bool is_empty(const ridge__product *p)
{
    return p->m == 0 || p->n == 0 || p->k == 0;
}

static ridge__tiling tiling_of(const grouped_run *run, const ridge__product *p)
{
    return ridge__tiling_of(run->cpu, p, run->g->groups);
}

/** Groups are few and tilings cheap: a worker walks along them to its next tile. */
static void run_tiles(void *payload, int worker, int workers)
{
    (void)workers;
    grouped_run *run = payload;
    int64_t next = atomic_fetch_add(&run->queue.next, 1), first = 0;
    for (int group = 0; group < run->g->groups; group++) {
        ridge__product p = product_of(run->g, group);
        if (is_empty(&p))
            continue;
        ridge__tiling tiling = tiling_of(run, &p);
        int64_t end = first + tiling.rows * tiling.columns;
        while (next < end) {
            if (!ridge__tile_run(run->cpu, worker, &p, &tiling, next - first))
                atomic_store(&run->queue.is_out_of_memory, true);
            next = atomic_fetch_add(&run->queue.next, 1);
        }
        first = end;
    }
}

/** Outputs of groups without rows (or of k = 0): zeros, unless added to. */
static ridge_status clear_empty(ridge__device *d, const ridge__grouped_gemm *g)
{
    for (int group = 0; group < g->groups && !g->is_added; group++) {
        ridge__product p = product_of(g, group);
        if (p.k > 0 || p.m == 0 || p.n == 0)
            continue;
        size_t bytes = (size_t)(p.m * p.n) * ridge__element_bytes(p.c.array.dtype);
        RIDGE_TRY(d->ops->zero(d, p.c.array.p, bytes));
    }
    return RIDGE_OK;
}

ridge_status ridge__cpu_grouped_gemm(ridge__device *d, const ridge__grouped_gemm *g)
{
    grouped_run run = {.cpu = ridge__cpu_of(d), .g = g};
    double flops = 0.0;
    size_t scratch_bytes = 0;
    for (int group = 0; group < g->groups; group++) {
        ridge__product p = product_of(g, group);
        if (is_empty(&p))
            continue;
        ridge__tiling tiling = tiling_of(&run, &p);
        run.queue.count += tiling.rows * tiling.columns;
        flops += 2.0 * (double)p.m * (double)p.n * (double)p.k;
        if (tiling.scratch_bytes > scratch_bytes)
            scratch_bytes = tiling.scratch_bytes;
    }
    RIDGE_TRY(clear_empty(d, g));
    if (run.queue.count == 0)
        return RIDGE_OK;
    return ridge__tile_queue_run(run.cpu, &run.queue, run_tiles, flops, scratch_bytes);
}
