/* Products of matrices and batches of them, shared out among the team. */
#include "gemm.h"

typedef struct gemm_run {
    ridge__tile_queue queue; /* first */
    ridge__device_cpu *cpu;
    const ridge__gemm *g;
    ridge__product product; /* of the first of the batch */
    ridge__tiling tiling;
} gemm_run;

static void run_tiles(void *payload, int worker, int workers)
{
    (void)workers;
    gemm_run *run = payload;
    const ridge__gemm *g = run->g;
    int64_t each = run->tiling.rows * run->tiling.columns;
    for (;;) {
        int64_t at = atomic_fetch_add(&run->queue.next, 1);
        if (at >= run->queue.count)
            return;
        int64_t i = at / each;
        ridge__product p = run->product;
        p.a.array = ridge__array_at(p.a.array, i * g->stride_a);
        p.b.array = ridge__array_at(p.b.array, i * g->stride_b);
        p.c.array = ridge__array_at(p.c.array, i * g->stride_c);
        if (!ridge__tile_run(run->cpu, worker, &p, &run->tiling, at % each))
            atomic_store(&run->queue.is_out_of_memory, true);
    }
}

/** A batch whose rows lie as those of one matrix, with one b for all, is one product.
 */
static ridge__gemm joined(ridge__gemm g)
{
    bool is_one = g.batch > 1 && g.stride_b == 0 && !g.is_a_transposed &&
                  g.stride_a == g.m * g.lda && g.stride_c == g.m * g.ldc;
    if (is_one) {
        g.m *= g.batch;
        g.batch = 1;
    }
    return g;
}

static ridge_status clear(ridge__device *d, const ridge__gemm *g)
{
    static const float zero = 0.0f;
    const bool has_bias = g->bias.p != NULL;
    ridge__copy fill = {
        .n_dims = 3,
        .sizes = {g->batch, g->m, g->n},
        .y_strides = {g->stride_c, g->ldc, 1},
        .x_strides = {0, 0, has_bias},
        .x = has_bias ? g->bias
                      : (ridge__array){(void *)(uintptr_t)&zero, RIDGE_DTYPE_FP32},
        .y = g->c};
    return g->is_added ? RIDGE_OK : d->ops->copy(d, &fill);
}

ridge_status ridge__cpu_gemm(ridge__device *d, const ridge__gemm *given)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    ridge__gemm g = joined(*given);
    if (g.batch == 0 || g.m == 0 || g.n == 0)
        return RIDGE_OK;
    if (g.k == 0)
        return clear(d, &g);
    gemm_run run = {
        .cpu = cpu,
        .g = &g,
        .product = {.m = g.m,
                    .n = g.n,
                    .k = g.k,
                    .a = {g.a, g.lda, g.is_a_transposed},
                    .b = {g.b, g.ldb, g.is_b_transposed},
                    .c = {g.c, g.ldc, false},
                    .bias = g.bias,
                    .is_added = g.is_added},
    };
    run.tiling = ridge__tiling_of(cpu, &run.product, g.batch);
    run.queue.count = g.batch * run.tiling.rows * run.tiling.columns;
    double flops = 2.0 * (double)(g.batch * g.m) * (double)g.n * (double)g.k;
    return ridge__tile_queue_run(cpu, &run.queue, run_tiles, flops,
                                 run.tiling.scratch_bytes);
}
