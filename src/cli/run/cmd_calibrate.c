/*
 * ridge calibrate: this machine measured, and written as a system file.
 */
#include "cli.h"
#include "rank_options.h"

#include "ridge/execute_calibrate.h"
#include "ridge/report_calibration.h"

#include <math.h>

static ridge_status read_request(cli_run *run, ridge_calibrate_request *out)
{
    const int launched = ridge_launched_ranks();
    const double usual = launched > 1 ? launched : ridge_processor_count();
    ridge_calibrate_request r = {.is_quick = cli_option_text(run, "quick") != NULL};
    double ranks;
    RIDGE_TRY(cli_option_count(run, "ranks", usual, &ranks));
    if (ranks < 1 || ranks > RIDGE_RANK_MAX || floor(ranks) != ranks)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--ranks: expected 1 to %d",
                          RIDGE_RANK_MAX);
    RIDGE_TRY(cli_rank_options(run, (int64_t)ranks, &r.ranks, &r.threads));
    *out = r;
    return RIDGE_OK;
}

static ridge_status measure(cli_run *run, ridge_calibration *out)
{
    ridge_calibrate_request request;
    ridge_progress progress = ridge_progress_start(stderr);
    RIDGE_TRY(read_request(run, &request));
    request.progress = &progress;
    const ridge_status st = ridge_calibrate(run->cx, &request, out);
    ridge_progress_end(&progress);
    return st;
}

static ridge_status write_system(cli_run *run, const ridge_json *system)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    RIDGE_TRY(ridge_json_write(run->cx, system, &text));
    return ridge_file_write(run->cx, run->out_path, (ridge_str){text.p, text.n});
}

/* -o is the system file; what is shown goes to stdout. */
static int show(cli_run *run, const ridge_calibration *c)
{
    const char *path = run->out_path;
    ridge_json *system = ridge_calibration_to_system(run->cx, c, "this-machine");
    if (path && write_system(run, system) != RIDGE_OK)
        return cli_fail(run);
    run->out_path = NULL;
    ridge_buf plain;
    ridge_buf_init(&plain, ridge_ctx_arena(run->cx));
    ridge_calibration_write_text(run->cx, c, path, false, &plain);
    const int code = cli_emit_listing(run, "This machine, calibrated",
                                      "Rates and latencies as they were measured.",
                                      ridge_buf_text(&plain));
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_calibration_write_json(run->cx, c, system, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_calibration_write_text(run->cx, c, path, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static int run_calibrate(cli_run *run)
{
    ridge_calibration c;
    if (measure(run, &c) != RIDGE_OK)
        return cli_fail(run);
    return ridge_launched_rank() == 0 ? show(run, &c) : 0;
}

static const cli_option options[] = {
    {"ranks", "N", "that measure at the same time (processors, or mpirun's)"},
    {"threads", "N", "that compute for each rank (processors / ranks)"},
    {"engine", "NAME", "threads (default), mpi (default under mpirun)"},
    {"timeout", "S", "seconds that a rank waits for another (60)"},
    {"quick", NULL, "a few seconds, at fewer sizes"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_calibrate = {
    .name = "calibrate",
    .is_live = true,
    .summary = "this machine measured: a system file for every verb",
    .synopsis = "",
    .detail =
        "All ranks measure at the same time, as they will run: matrix products by "
        "size\n"
        "and format, memory, every operation of training steps of small models,\n"
        "attention by context, collectives by kind, ranks and bytes. With more "
        "threads\n"
        "than processors ranks take turns, and each has a share of one.\n"
        "\n"
        "-o FILE writes a system file with its chip in it. Behind --on it stands for\n"
        "the machine:\n"
        "  ridge calibrate --ranks 2 -o here.json\n"
        "  ridge train MODEL --on here.json:2 precision=fp32 --plan plan.json\n"
        "  ridge run plan.json --data text.txt\n"
        "Calibrate for as many ranks, of as many threads, as will run: they share\n"
        "memory and processors. Other programs on the machine disturb what is "
        "measured.",
    .example = "ridge calibrate --help",
    .options = options,
    .run = run_calibrate,
};
