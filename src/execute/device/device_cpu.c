/* The CPU's device: opening it, its kernels, and its peak. */
#include "device_cpu.h"

#include "device_memory.h"
#include "gemm.h"

#include <string.h>
#include <time.h>

/* ---- opening and closing --------------------------------------------------------- */

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
