/* How a product is cut in tiles, and one tile by one thread. */
#include "gemm.h"

#include <string.h>

enum {
    TILE = 2048, /* as large as evenness lets it be: the library packs a tile's operands
                    once, by blocks of its own */
    COPIED_TILE = 512,       /* of many products, which need not be alike */
    CONVERTED_TILE = 1024,   /* each element converted is used that many times */
    CONVERTED_STRETCH = 256, /* of k: converted operands stay in the L2 cache */
    GATHERED_STRETCH = 256,
    GATHERED_LEAST = 128, /* of m and n: less work than the copy is worth */
    LINE_BYTES = 64,
    CONFLICT_BYTES = 4096, /* so far apart, lines fall on the same set of a cache */
    FEW_ROWS = 16, /* of bf16: the library reads fp32 as fast as memory gives it */
    FEW_TILE = 256,
    FEW_STRETCH = 2048,
    FEW_TILES_EACH = 4,
    TILES_EACH = 16, /* of a worker: so many need not come out even */
    TILE_GRAIN = 64,
    SMALL_FLOPS = 200000 /* less than a team takes to wake up */
};

static bool is_bf16(ridge__matrix x)
{
    return x.array.dtype == RIDGE_DTYPE_BF16;
}

/** By what was measured on this machine, if it was; else by the library's default. */
static bool is_direct(const ridge__device_cpu *cpu, const ridge__product *p)
{
    const double at[] = {(double)p->m, (double)p->k, (double)p->n};
    if (!ridge__gemm_library_can_bf16(cpu->library))
        return false;
    if (cpu->direct == NULL || cpu->converted == NULL)
        return ridge__gemm_library_has_bf16(cpu->library);
    return ridge_grid_rate(cpu->direct, at) > ridge_grid_rate(cpu->converted, at);
}

/** Lines of a transposed operand that begin within lines of the cache, or that drive
 * each other out of it: the library's loads then wait, to a third of the rate. */
static bool is_awkward(ridge__matrix x)
{
    const int64_t bytes = x.ld * (int64_t)sizeof(float);
    return x.is_transposed && (bytes % LINE_BYTES != 0 || bytes % CONFLICT_BYTES == 0);
}

static ridge__tile_way way_of(const ridge__device_cpu *cpu, const ridge__product *p)
{
    bool is_all_fp32 = !is_bf16(p->a) && !is_bf16(p->b) && !is_bf16(p->c);
    if (is_bf16(p->b) && p->m <= FEW_ROWS)
        return RIDGE__TILE_FEW_ROWS;
    if (is_all_fp32)
        return is_awkward(p->a) && p->m > GATHERED_LEAST && p->n > GATHERED_LEAST
                   ? RIDGE__TILE_GATHERED
                   : RIDGE__TILE_LIBRARY;
    return is_bf16(p->a) && is_bf16(p->b) && is_direct(cpu, p) ? RIDGE__TILE_LIBRARY
                                                               : RIDGE__TILE_CONVERTED;
}

/* ---- sizes ----------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** n in parts of at most `most`, all about as large, on multiples of the grain. */
static int64_t even_part(int64_t n, int64_t most)
{
    int64_t parts = (n - 1) / most + 1;
    int64_t part = (n - 1) / parts + 1;
    return least((part + TILE_GRAIN - 1) / TILE_GRAIN * TILE_GRAIN, n);
}

static void cut(const ridge__product *p, int64_t m, int64_t n, ridge__tiling *tiling)
{
    tiling->m = m;
    tiling->n = n;
    tiling->rows = (p->m - 1) / m + 1;
    tiling->columns = (p->n - 1) / n + 1;
}

/** One more part of the longer side. @return false: tiles are as small as they get */
static bool cut_more(const ridge__product *p, ridge__tiling *tiling)
{
    const bool is_wide = tiling->n >= tiling->m;
    const int64_t size = is_wide ? p->n : p->m;
    const int64_t parts = is_wide ? tiling->columns : tiling->rows;
    const int64_t part = even_part(size, (size - 1) / (parts + 1) + 1);
    if (part >= (is_wide ? tiling->n : tiling->m))
        return false;
    cut(p, is_wide ? tiling->m : part, is_wide ? part : tiling->n, tiling);
    return true;
}

/** Cut until all workers have as many tiles, or so many that it does not matter. */
static void cut_for(const ridge__product *p, int64_t workers, int64_t copies,
                    ridge__tiling *tiling)
{
    for (;;) {
        const int64_t tiles = tiling->rows * tiling->columns * copies;
        const bool is_even = tiles % workers == 0 || tiles >= TILES_EACH * workers;
        if ((is_even && tiles >= workers) || !cut_more(p, tiling))
            return;
    }
}

/** Floats from one gathered line to the next: whole lines of the cache, on sets of
 * their own. */
static int64_t gathered_ld(int64_t m)
{
    const int64_t line = LINE_BYTES / (int64_t)sizeof(float);
    const int64_t ld = (m + line - 1) / line * line;
    return ld * (int64_t)sizeof(float) % CONFLICT_BYTES == 0 ? ld + line : ld;
}

static size_t scratch_bytes(const ridge__product *p, const ridge__tiling *t)
{
    if (t->way == RIDGE__TILE_GATHERED)
        return (size_t)(gathered_ld(t->m) * least(p->k, GATHERED_STRETCH)) *
               sizeof(float);
    bool is_few = t->way == RIDGE__TILE_FEW_ROWS;
    int64_t stretch = least(p->k, is_few ? FEW_STRETCH : CONVERTED_STRETCH);
    int64_t operands = is_few ? t->m : t->m + t->n;
    int64_t floats = operands * stretch + t->m * t->n;
    return t->way == RIDGE__TILE_LIBRARY ? 0 : (size_t)floats * sizeof(float);
}

ridge__tiling ridge__tiling_of(const ridge__device_cpu *cpu, const ridge__product *p,
                               int64_t copies)
{
    int64_t workers = ridge__team_workers(cpu->team);
    ridge__tiling tiling = {.way = way_of(cpu, p)};
    if (tiling.way == RIDGE__TILE_FEW_ROWS) {
        int64_t share = p->n / (workers * FEW_TILES_EACH);
        cut(p, p->m, even_part(p->n, share > FEW_TILE ? share : FEW_TILE), &tiling);
    } else {
        int64_t most = tiling.way == RIDGE__TILE_CONVERTED ? CONVERTED_TILE
                       : copies > 1                        ? COPIED_TILE
                                                           : TILE;
        cut(p, even_part(p->m, most), even_part(p->n, most), &tiling);
        cut_for(p, workers, copies, &tiling);
    }
    tiling.scratch_bytes = scratch_bytes(p, &tiling);
    return tiling;
}

/* ---- the ways -------------------------------------------------------------------- */

/** Rows of a matrix as they are stored, in fp32, without gaps. */
static ridge__matrix converted(const ridge__kernel_table *kernels, ridge__matrix x,
                               int64_t rows, int64_t columns, float *room)
{
    int64_t lines = x.is_transposed ? columns : rows;
    int64_t length = x.is_transposed ? rows : columns;
    ridge__array to = {room, RIDGE_DTYPE_FP32};
    for (int64_t i = 0; i < lines; i++)
        kernels->convert(ridge__array_at(x.array, i * x.ld),
                         ridge__array_at(to, i * length), length, false);
    return (ridge__matrix){to, length, x.is_transposed};
}

static void store(const ridge__kernel_table *kernels, const float *from,
                  const ridge__product *p)
{
    ridge__array x = {(void *)(uintptr_t)from, RIDGE_DTYPE_FP32};
    for (int64_t i = 0; i < p->m; i++)
        kernels->convert(ridge__array_at(x, i * p->n),
                         ridge__array_at(p->c.array, i * p->c.ld), p->n, p->is_added);
}

static bool run_converted(ridge__device_cpu *cpu, int worker, const ridge__product *p)
{
    float *room_a = ridge__team_scratch(cpu->team, worker);
    int64_t stretch = least(p->k, CONVERTED_STRETCH);
    float *room_b = room_a + p->m * stretch, *sum = room_b + p->n * stretch;
    for (int64_t at = 0; at < p->k; at += stretch) {
        ridge__product part = *p;
        part.k = least(stretch, p->k - at);
        part.a = ridge__matrix_at(p->a, 0, at);
        part.b = ridge__matrix_at(p->b, at, 0);
        if (is_bf16(p->a))
            part.a = converted(cpu->kernels, part.a, p->m, part.k, room_a);
        if (is_bf16(p->b))
            part.b = converted(cpu->kernels, part.b, part.k, p->n, room_b);
        if (is_bf16(p->c))
            part.c = (ridge__matrix){{sum, RIDGE_DTYPE_FP32}, p->n, false};
        part.is_added = at > 0 || (p->is_added && !is_bf16(p->c));
        if (!ridge__gemm_library_run(cpu->library, worker, &part))
            return false;
    }
    if (is_bf16(p->c))
        store(cpu->kernels, sum, p);
    return true;
}

static bool run_gathered(ridge__device_cpu *cpu, int worker, const ridge__product *p)
{
    const ridge__array room = {ridge__team_scratch(cpu->team, worker),
                               RIDGE_DTYPE_FP32};
    const int64_t ld = gathered_ld(p->m);
    for (int64_t at = 0; at < p->k; at += GATHERED_STRETCH) {
        ridge__product part = *p;
        part.k = least(GATHERED_STRETCH, p->k - at);
        part.a = (ridge__matrix){room, ld, true};
        part.b = ridge__matrix_at(p->b, at, 0);
        part.is_added = at > 0 || p->is_added;
        for (int64_t j = 0; j < part.k; j++)
            memcpy(ridge__array_at(room, j * ld).p,
                   ridge__array_at(p->a.array, (at + j) * p->a.ld).p,
                   (size_t)p->m * sizeof(float));
        if (!ridge__gemm_library_run(cpu->library, worker, &part))
            return false;
    }
    return true;
}

/** a in fp32, row by row, whichever way it is stored. */
static void gather_rows(const ridge__kernel_table *kernels, ridge__matrix a, int64_t m,
                        int64_t k, float *room)
{
    float line[FEW_ROWS];
    for (int64_t i = 0; !a.is_transposed && i < m; i++)
        kernels->convert(ridge__array_at(a.array, i * a.ld),
                         (ridge__array){room + i * k, RIDGE_DTYPE_FP32}, k, false);
    for (int64_t j = 0; a.is_transposed && j < k; j++) {
        kernels->convert(ridge__array_at(a.array, j * a.ld),
                         (ridge__array){line, RIDGE_DTYPE_FP32}, m, false);
        for (int64_t i = 0; i < m; i++)
            room[i * k + j] = line[i];
    }
}

static bool run_few_rows(ridge__device_cpu *cpu, int worker, const ridge__product *p)
{
    float *room = ridge__team_scratch(cpu->team, worker);
    int64_t stretch = least(p->k, FEW_STRETCH);
    float *sum = room + p->m * stretch;
    memset(sum, 0, (size_t)(p->m * p->n) * sizeof *sum);
    for (int64_t at = 0; at < p->k; at += stretch) {
        int64_t k = least(stretch, p->k - at);
        gather_rows(cpu->kernels, ridge__matrix_at(p->a, 0, at), p->m, k, room);
        ridge__matrix b = ridge__matrix_at(p->b, at, 0);
        cpu->kernels->few_rows(&(ridge__few_rows){.m = p->m,
                                                  .n = p->n,
                                                  .k = k,
                                                  .a = room,
                                                  .b = b.array,
                                                  .ldb = b.ld,
                                                  .is_b_transposed = b.is_transposed,
                                                  .c = sum});
    }
    store(cpu->kernels, sum, p);
    return true;
}

/** While the tile is still in cache. */
static void add_bias(const ridge__kernel_table *kernels, const ridge__product *p)
{
    for (int64_t i = 0; i < p->m; i++)
        kernels->convert(p->bias, ridge__array_at(p->c.array, i * p->c.ld), p->n, true);
}

static bool run_way(ridge__device_cpu *cpu, int worker, ridge__tile_way way,
                    const ridge__product *p)
{
    switch (way) {
    case RIDGE__TILE_LIBRARY:
        return ridge__gemm_library_run(cpu->library, worker, p);
    case RIDGE__TILE_GATHERED:
        return run_gathered(cpu, worker, p);
    case RIDGE__TILE_CONVERTED:
        return run_converted(cpu, worker, p);
    case RIDGE__TILE_FEW_ROWS:
        return run_few_rows(cpu, worker, p);
    }
    return false;
}

bool ridge__tile_run(ridge__device_cpu *cpu, int worker, const ridge__product *p,
                     const ridge__tiling *tiling, int64_t at)
{
    int64_t row = at % tiling->rows * tiling->m;
    int64_t column = at / tiling->rows * tiling->n;
    ridge__product part = *p;
    part.m = least(tiling->m, p->m - row);
    part.n = least(tiling->n, p->n - column);
    part.a = ridge__matrix_at(p->a, row, 0);
    part.b = ridge__matrix_at(p->b, 0, column);
    part.c = ridge__matrix_at(p->c, row, column);
    if (!run_way(cpu, worker, tiling->way, &part))
        return false;
    if (p->bias.p != NULL) {
        part.bias = ridge__array_at(p->bias, column);
        add_bias(cpu->kernels, &part);
    }
    return true;
}

/* ---- the queue ------------------------------------------------------------------- */

ridge_status ridge__tile_queue_run(ridge__device_cpu *cpu, ridge__tile_queue *queue,
                                   ridge__team_fn *fn, double flops,
                                   size_t scratch_bytes)
{
    RIDGE_TRY(ridge__team_reserve(cpu->team, cpu->base.cx, scratch_bytes));
    atomic_init(&queue->next, 0);
    atomic_init(&queue->is_out_of_memory, false);
    if (flops < SMALL_FLOPS || queue->count == 1)
        fn(queue, 0, 1);
    else
        ridge__team_run(cpu->team, fn, queue);
    if (atomic_load(&queue->is_out_of_memory))
        return ridge_fail(cpu->base.cx, RIDGE_E_NOMEM,
                          "%s has no memory for a matrix product: use more ranks, or a "
                          "smaller batch",
                          ridge__gemm_library_name());
    return RIDGE_OK;
}
