/*
 * ridge profile: where a measured run's time goes.
 */
#include "cli.h"
#include "profile_against.h"

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

static ridge_status read_profile(cli_run *run, const char *path, bool keeps_step,
                                 ridge_profile *out)
{
    ridge_profile_request request = {.path = path, .keeps_step = keeps_step};
    RIDGE_TRY(cli_catalog(run, &request.catalog));
    if (cli_option_text(run, "on") != NULL)
        RIDGE_TRY(cli_slice(run, &request.slice));
    return ridge_profile_read(run->cx, &request, out);
}

static int show(cli_run *run, const ridge_profile_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path != NULL) {
        ridge_profile_write_html(run->cx, view, &text);
        const int code = cli_emit_html(run, &text);
        if (code != 0)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_profile_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_profile_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static int run_diff(cli_run *run, const ridge_profile_view *view)
{
    ridge_profile *both = ridge_new(ridge_ctx_arena(run->cx), ridge_profile, 2);
    if (both == NULL ||
        read_profile(run, cli_option_text(run, "diff"), false, &both[0]) != RIDGE_OK ||
        read_profile(run, run->args[0], false, &both[1]) != RIDGE_OK)
        return cli_fail(run);
    return cli_profile_diff(run, &both[0], &both[1], view->key);
}

static int run_profile(cli_run *run)
{
    ridge_profile profile;
    ridge_profile_view view = {.profile = &profile};
    const char *plan = cli_option_text(run, "plan");
    const char *calibrate = cli_option_text(run, "calibrate");
    if (read_view(run, &view) != RIDGE_OK)
        return cli_fail(run);
    if (cli_option_text(run, "diff") != NULL)
        return run_diff(run, &view);
    if (read_profile(run, run->args[0], plan != NULL, &profile) != RIDGE_OK ||
        (calibrate != NULL &&
         cli_profile_calibrate(run, &profile, calibrate) != RIDGE_OK))
        return cli_fail(run);
    return plan != NULL ? cli_profile_plan(run, &profile, plan) : show(run, &view);
}

static const cli_option options[] = {
    {"on", "SLICE", "where it ran: chip and shape; else recognised from the trace"},
    {"by", "KEY",
     "group operations by class (default), name, call, module, category, source, "
     "layer"},
    {"rows", "N", "most rows of a table (12)"},
    {"diff", "OLDER", "this trace against an older one"},
    {"plan", "PLAN",
     "predicted and measured side by side; -o FILE: both as one trace for Perfetto"},
    {"calibrate", "FILE", "write a system file with what the run reached, for --on"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_profile = {
    .name = "profile",
    .summary = "where a measured run's time goes, against what it could be",
    .synopsis = "FILE|FOLDER",
    .detail =
        "FILE is a trace: PyTorch (Kineto), CUDA or ROCm; JAX / XProf as\n"
        "*.trace.json.gz, perfetto_trace.json.gz or *.xplane.pb; an SQLite export of\n"
        "Nsight Systems; Ridge's own timelines; or what XProf computed of a profile\n"
        "and no more has: hlo_stats, roofline_model or framework_op_stats as JSON.\n"
        "FOLDER has one a rank. gzip and zstd are unpacked on the way. A damaged or\n"
        "cut off file is read as far as it goes, and what was lost is said.\n"
        "\n"
        "Each step of each device is divided: products, attention, other compute,\n"
        "each kind of collective that nothing hid, copies, waiting for input or for\n"
        "the host, idle. The parts sum to the step. Operations are held against the\n"
        "chip's roofline where the trace tells their shapes or FLOPs; collectives\n"
        "against the network. What would help most comes with what it is worth.\n"
        "\n"
        "Steps are the program's annotations (ProfilerStep, step, train_step), else\n"
        "the profiler's track of steps, launches of the longest module, or where\n"
        "operations repeat.\n"
        "\n"
        "  ridge profile traces/ --plan plan.json -o both.json\n"
        "  ridge profile new.json.gz --diff old.json.gz --by name\n"
        "  ridge profile trace.json.gz --calibrate here.json",
    .example = "ridge profile examples/trace.json",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_profile,
};
