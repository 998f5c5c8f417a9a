/* Calibration: ranks are started, parts are measured one after the other, and samples
 * become grids. What is measured, the parts know. */
#include "calibration.h"

#include "device_cpu.h"
#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- clocks ---------------------------------------------------------------------- */

/* n numbers of each rank -> all, as pairs of int32: their bits. */
static ridge_status gather(ridge__calibrator *c, const double *v, int n, double *all)
{
    const int ranks = ridge_comm_size(c->world);
    const ridge_cut cut = {1, 2 * (int64_t)n * ranks, 1};
    ridge_pending pending;
    RIDGE_TRY(ridge_all_gather_start(c->cx, c->world, RIDGE_ELEMENT_I32, &cut, v, all,
                                     &pending));
    return ridge_comm_wait(c->cx, &pending);
}

ridge_status ridge__mean_over_ranks(ridge__calibrator *c, double *v, int n)
{
    const int ranks = ridge_comm_size(c->world);
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(c->cx));
    double *all = ridge_new(ridge_ctx_scratch(c->cx), double, (size_t)n *(size_t)ranks);
    if (all == NULL)
        return ridge_fail_nomem(c->cx);
    RIDGE_TRY(gather(c, v, n, all));
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int r = 0; r < ranks; r++)
            sum += all[r * n + i];
        v[i] = sum / (double)ranks;
    }
    ridge_arena_rewind(ridge_ctx_scratch(c->cx), mark);
    return RIDGE_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Mean time of a call within @p span_s, at least one call. */
static ridge_status time_span(ridge__calibrator *c, ridge__measure_fn *fn,
                              void *payload, double span_s, double *out)
{
    const double start_s = ridge_clock_s();
    double now_s;
    int calls = 0;
    do {
        RIDGE_TRY(fn(payload));
        RIDGE_TRY(c->device->ops->finish(c->device));
        calls++;
        now_s = ridge_clock_s();
    } while (now_s - start_s < span_s);
    *out = (now_s - start_s) / calls;
    return RIDGE_OK;
}

ridge_status ridge__measure(ridge__calibrator *c, ridge__measure_fn *fn, void *payload,
                            double *out)
{
    enum { SAMPLES = 3 };
    const bool is_quick = c->request->is_quick;
    const double span_s = (c->is_crowded ? 8e-3 : 2e-3) * (is_quick ? 0.5 : 1.0);
    const double long_s = 4 * span_s; /* one such sample a round is enough */
    double times[SAMPLES];
    int n = 0;
    if (ridge_ctx_is_cancelled(c->cx))
        return ridge_fail(c->cx, RIDGE_E_CANCELLED, "calibration was stopped");
    RIDGE_TRY(fn(payload));
    RIDGE_TRY(ridge_barrier(c->cx, c->world));
    do {
        RIDGE_TRY(time_span(c, fn, payload, span_s, &times[n++]));
    } while (n < SAMPLES && (is_quick || times[0] < long_s));
    qsort(times, (size_t)n, sizeof *times, compare);
    *out = times[n / 2];
    return ridge__mean_over_ranks(c, out, 1);
}

/* ---- for all parts ----------------------------------------------------------------
 */

void ridge__calibrator_show(ridge__calibrator *c, double part, const char *what)
{
    if (c->request->progress && ridge_comm_rank(c->world) == 0)
        ridge_progress_show(
            c->request->progress,
            c->progress_from + part * (c->progress_to - c->progress_from), what);
}

ridge_status ridge__filled_take(ridge__calibrator *c, int64_t bytes, void **out)
{
    /* 2^-7 as bf16, and but for the last bits as fp32 */
    static const uint32_t bits = 0x3C003C00U;
    const int64_t n = bytes / (int64_t)sizeof bits;
    RIDGE_TRY(c->device->ops->alloc(c->device, (size_t)bytes, out));
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)*out + i * (int64_t)sizeof bits, &bits, sizeof bits);
    return RIDGE_OK;
}

/* ---- one rank -------------------------------------------------------------------- */

typedef struct calibrating {
    const ridge_calibrate_request *request;
    int threads;
    ridge_ctx *caller; /* of whom the result is */
    ridge_calibration *out;
} calibrating;

typedef struct part_row {
    ridge_status (*run)(ridge__calibrator *c);
    double share; /* of the time, about */
} part_row;

static ridge_status run_parts(ridge__calibrator *c, int rounds)
{
    static const part_row parts[] = {{ridge__calibrate_streams, 0.05},
                                     {ridge__calibrate_products, 0.4},
                                     {ridge__calibrate_steps, 0.4},
                                     {ridge__calibrate_collectives, 0.15}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(parts); i++) {
        c->progress_from = c->progress_to;
        c->progress_to += parts[i].share / rounds;
        RIDGE_TRY(parts[i].run(c));
    }
    return RIDGE_OK;
}

/* What else a machine does comes and goes within seconds: everything is measured in two
 * rounds, half a calibration apart. */
static ridge_status run_rounds(ridge__calibrator *c)
{
    const int rounds = c->request->is_quick ? 1 : 2;
    RIDGE_TRY(run_parts(c, rounds));
    if (rounds == 1)
        return RIDGE_OK;
    ridge__samples_again(c);
    RIDGE_TRY(run_parts(c, rounds));
    c->disturbed_share = ridge__samples_settle(c);
    return RIDGE_OK;
}

/* Grids in the caller's memory: the rank's own ends with it. */
static ridge_status keep(const ridge__calibrator *c, calibrating *x)
{
    ridge_ctx *cx = x->caller;
    ridge_calibration *out = x->out;
    out->peak_flops_per_s = c->peak_flops_per_s;
    out->copy_bytes_per_s = 1.0 / c->copy_s;
    out->read_bytes_per_s = 1.0 / c->read_s;
    out->launch_s = c->launch_s;
    out->disturbed_share = c->disturbed_share;
    RIDGE_TRY(ridge__samples_to_grids(cx, &c->matmul, 3, &out->chip.matmul));
    RIDGE_TRY(ridge__samples_to_grids(cx, &c->attention, 2, &out->chip.attention));
    RIDGE_TRY(ridge__samples_to_grids(cx, &c->stream, 1, &out->chip.stream));
    return ridge__samples_to_grids(cx, &c->collective, 2, &out->level.collective);
}

/* On threads the leading rank alone writes; the caller waits meanwhile. Of processes
 * each has a result of its own. */
static ridge_status calibrate_rank(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    calibrating *x = payload;
    ridge__calibrator c = {
        .cx = cx, .world = world, .request = x->request, .threads = x->threads};
    c.is_crowded = x->threads * ridge_comm_size(world) > ridge_processor_count();
    RIDGE_TRY(ridge__device_open_cpu(cx, x->threads, &c.device));
    ridge_status st = run_rounds(&c);
    if (st == RIDGE_OK && (ridge_comm_rank(world) == 0 || x->caller == cx))
        st = keep(&c, x);
    ridge__device_close(c.device);
    return st;
}

/* ---- the machine ----------------------------------------------------------------- */

static const char *cpu_name(ridge_ctx *cx)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    const char *name = "CPU";
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, "model name", 10) != 0)
            continue;
        const ridge_str text = ridge_str_trim(ridge_str_of(colon + 1));
        const char *copy = ridge_str_dup(ridge_ctx_arena(cx), text);
        name = copy ? copy : name;
        break;
    }
    if (f)
        (void)fclose(f);
    return name;
}

static double memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (double)pages * (double)page : 1e9;
}

static ridge_status find_month(ridge_ctx *cx, ridge_calibration *out)
{
    const time_t now = time(NULL);
    struct tm t = {.tm_year = 0};
    if (gmtime_r(&now, &t) == NULL)
        return ridge_fail(cx, RIDGE_E_IO, "this machine has no date: set its clock");
    out->year = t.tm_year + 1900;
    out->date =
        ridge_sprintf(ridge_ctx_arena(cx), "%04d-%02d", out->year, t.tm_mon + 1);
    return out->date ? RIDGE_OK : ridge_fail_nomem(cx);
}

ridge_status ridge_calibrate(ridge_ctx *cx, const ridge_calibrate_request *request,
                             ridge_calibration *out)
{
    const double start_s = ridge_clock_s();
    const int ranks = request->ranks.ranks;
    if (request->ranks.engine == RIDGE_ENGINE_CUDA)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "GPUs cannot be calibrated yet: use --engine threads or mpi");
    if (ranks < 1 || ranks > RIDGE_RANK_MAX || request->threads < 0)
        return ridge_fail(cx, RIDGE_E_ARG, "%d ranks of %d threads: give 1 to %d ranks",
                          ranks, request->threads, RIDGE_RANK_MAX);
    const int share = ridge_processor_count() / ranks;
    ridge_calibration made = {.engine = request->ranks.engine,
                              .ranks = ranks,
                              .processors = ridge_processor_count(),
                              .cpu = cpu_name(cx),
                              .library = ridge__gemm_library_name(),
                              .memory_bytes = memory_bytes() / (double)ranks};
    RIDGE_TRY(find_month(cx, &made));
    made.threads = request->threads > 0 ? request->threads : share > 0 ? share : 1;
    made.chip.processor_share =
        fmin(1.0, (double)made.processors / ((double)ranks * made.threads));
    made.chip.source = made.level.source = "calibrate";
    made.chip.date = made.level.date = made.date;
    calibrating x = {
        .request = request, .threads = made.threads, .caller = cx, .out = &made};
    RIDGE_TRY(ridge_ranks_run(cx, &request->ranks, calibrate_rank, &x));
    made.wall_s = ridge_clock_s() - start_s;
    *out = made;
    return RIDGE_OK;
}
