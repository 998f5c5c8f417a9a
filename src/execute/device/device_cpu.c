/* The CPU's device: opening, its memory, and the parts of the table that are the same
 * for every instruction set. */
#include "device_cpu.h"

#include "device_memory.h"
#include "gemm.h"

#include <string.h>
#include <time.h>

/* ---- opening and closing --------------------------------------------------------- */

void ridge__cpu_close(ridge__device *d)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    ridge__gemm_library_close(cpu->library);
    ridge__team_close(cpu->team);
    ridge__block_store_close(cpu->blocks);
}

bool ridge__cpu_take_kernels(ridge__device *d, int place)
{
    const ridge__kernel_table *table = ridge__kernel_choose(place);
    if (table == NULL)
        return false;
    ridge__cpu_of(d)->kernels = table;
    d->ops = &table->ops;
    return true;
}

static ridge_status open_parts(ridge_ctx *cx, int threads, ridge__device_cpu *cpu)
{
    RIDGE_TRY(ridge__team_open(cx, threads, &cpu->team));
    RIDGE_TRY(ridge__block_store_open(cx, &cpu->blocks));
    return ridge__gemm_library_open(cx, cpu->kernels, threads, &cpu->library);
}

ridge_status ridge__device_open_cpu(ridge_ctx *cx, int threads, ridge__device **out)
{
    ridge__device_cpu *cpu = ridge_new(ridge_ctx_arena(cx), ridge__device_cpu, 1);
    if (cpu == NULL)
        return ridge_fail_nomem(cx);
    cpu->base.cx = cx;
    ridge__cpu_take_kernels(&cpu->base, 0);
    ridge_status st = open_parts(cx, threads, cpu);
    if (st != RIDGE_OK) {
        ridge__cpu_close(&cpu->base);
        return st;
    }
    *out = &cpu->base;
    return RIDGE_OK;
}

void ridge__cpu_take_measured(ridge__device *d, const ridge_measured_chip *measured)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    cpu->direct = measured ? ridge_grid_find(&measured->matmul, "direct.bf16") : NULL;
    cpu->converted =
        measured ? ridge_grid_find(&measured->matmul, "converted.bf16") : NULL;
}

/* ---- memory ---------------------------------------------------------------------- */

ridge_status ridge__cpu_alloc(ridge__device *d, size_t bytes, void **out)
{
    void *p = ridge__block_store_take(ridge__cpu_of(d)->blocks, bytes);
    if (p == NULL)
        return ridge_fail(
            d->cx, RIDGE_E_NOMEM,
            "no memory for an array of %zu bytes beside the %lld that are "
            "held: use more ranks, or a smaller batch",
            bytes, (long long)d->memory.live_bytes);
    d->memory.live_bytes += (int64_t)ridge__block_bytes(bytes);
    if (d->memory.live_bytes > d->memory.peak_bytes)
        d->memory.peak_bytes = d->memory.live_bytes;
    *out = p;
    return RIDGE_OK;
}

void ridge__cpu_release(ridge__device *d, void *p)
{
    if (p != NULL)
        d->memory.live_bytes -=
            (int64_t)ridge__block_store_give(ridge__cpu_of(d)->blocks, p);
}

typedef struct span {
    char *to;
    const char *from; /* NULL: zeros */
    int64_t bytes;
} span;

enum { SPAN_GRAIN = 64 * 1024 }; /* bytes that are worth a thread */

static void move_part(void *payload, int worker, int workers)
{
    const span *s = payload;
    ridge__part part = ridge__part_of(s->bytes, SPAN_GRAIN, worker, workers);
    size_t n = (size_t)(part.end - part.first);
    if (n == 0)
        return;
    if (s->from == NULL)
        memset(s->to + part.first, 0, n);
    else
        memcpy(s->to + part.first, s->from + part.first, n);
}

static void move_span(ridge__device *d, span s)
{
    if (s.bytes <= SPAN_GRAIN)
        move_part(&s, 0, 1);
    else
        ridge__team_run(ridge__cpu_of(d)->team, move_part, &s);
}

ridge_status ridge__cpu_zero(ridge__device *d, void *p, size_t bytes)
{
    move_span(d, (span){.to = p, .bytes = (int64_t)bytes});
    return RIDGE_OK;
}

ridge_status ridge__cpu_upload(ridge__device *d, void *to, const void *from,
                               size_t bytes)
{
    move_span(d, (span){.to = to, .from = from, .bytes = (int64_t)bytes});
    return RIDGE_OK;
}

/** Kernels have run when they return. */
ridge_status ridge__cpu_finish(ridge__device *d)
{
    (void)d;
    return RIDGE_OK;
}

/* ---- the peak -------------------------------------------------------------------- */

enum { PEAK_REPEATS = 5, PEAK_ROUNDS = 1000000 };

typedef struct peak_run {
    const ridge__kernel_table *kernels;
    double flops; /* of worker 0; the others do the same */
} peak_run;

static void run_peak(void *payload, int worker, int workers)
{
    (void)workers;
    peak_run *run = payload;
    float sink = 0.0f;
    double flops = run->kernels->multiply_add(PEAK_ROUNDS, &sink);
    if (worker == 0)
        run->flops = flops;
}

static double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double ridge__peak_flops_per_s(ridge__device *d)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    peak_run run = {.kernels = cpu->kernels};
    double best = 0.0;
    for (int i = 0; i < PEAK_REPEATS; i++) {
        double start_s = clock_s();
        ridge__team_run(cpu->team, run_peak, &run);
        double flops_per_s =
            run.flops * ridge__team_workers(cpu->team) / (clock_s() - start_s);
        best = flops_per_s > best ? flops_per_s : best;
    }
    return best;
}
