/*
 * ridge profile: where a measured run's time goes.
 */
#include "cli.h"

#include "ridge/profile.h"
#include "ridge/report_profile.h"

#include <math.h>

static ridge_status read_view(cli_run *run, ridge_profile_view *view)
{
    const char *key = cli_option_text(run, "by");
    double rows;
    view->key = RIDGE_KEY_CLASS;
    if (key != NULL)
        RIDGE_TRY(ridge_profile_key_parse(run->cx, key, &view->key));
    RIDGE_TRY(cli_option_count(run, "rows", 0, &rows));
    if (floor(rows) != rows || rows > 1e6)
        return ridge_fail(run->cx, RIDGE_E_ARG, "--rows: expected a whole number");
    view->rows = (int)rows;
    return RIDGE_OK;
}

static ridge_status read_profile(cli_run *run, const char *path, ridge_profile *out)
{
    ridge_profile_request request = {.path = path};
    RIDGE_TRY(cli_catalog(run, &request.catalog));
    if (cli_option_text(run, "on") != NULL)
        RIDGE_TRY(cli_slice(run, &request.slice));
    return ridge_profile_read(run->cx, &request, out);
}

static int show(cli_run *run, const ridge_profile_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_profile_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_profile_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static int run_profile(cli_run *run)
{
    ridge_profile profile;
    ridge_profile_view view = {.profile = &profile};
    if (read_view(run, &view) != RIDGE_OK ||
        read_profile(run, run->args[0], &profile) != RIDGE_OK)
        return cli_fail(run);
    return show(run, &view);
}

static const cli_option options[] = {
    {"on", "SLICE", "where it ran: chip and shape; else recognised from the trace"},
    {"by", "KEY",
     "group operations by class (default), name, call, module, category, "
     "source, layer"},
    {"rows", "N", "most rows of a table (12)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_profile = {
    .name = "profile",
    .summary = "where a measured run's time goes, against what it could be",
    .synopsis = "FILE|FOLDER",
    .detail =
        "FILE is a trace: PyTorch (Kineto), CUDA or ROCm; JAX / XProf as\n"
        "*.trace.json.gz, perfetto_trace.json.gz or *.xplane.pb; an SQLite export of\n"
        "Nsight Systems; Ridge's own timelines. FOLDER has one a rank. gzip and zstd\n"
        "are unpacked on the way.",
    .example = "ridge profile --help",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_profile,
};
