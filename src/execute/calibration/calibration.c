/* Calibration: ranks are started, parts are measured one after the other, and samples
 * become grids. What is measured, the parts know. */
#include "calibration.h"

#include "device_cpu.h"
#include "gemm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- for all parts ----------------------------------------------------------------
 */

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
