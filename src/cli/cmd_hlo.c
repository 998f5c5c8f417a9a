/*
 * ridge hlo: what an HLO or StableHLO module costs.
 */
#include "cli.h"

#include "ridge/report_hlo.h"

enum { TOP_ROWS = 15 };

static ridge_status read_module(cli_run *run, const char *path, ridge_hlo_file *file,
                                int *module)
{
    double number;
    RIDGE_TRY(ridge_hlo_file_read(run->cx, path, file));
    RIDGE_TRY(cli_option_count(run, "module", 1, &number));
    if (number < 1 || number > file->n_modules) {
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--module: %s has modules 1 to %d: give one of these", path,
                          file->n_modules);
    }
    *module = (int)number - 1;
    return RIDGE_OK;
}

static ridge_status read_request(cli_run *run, ridge_hlo_request *out)
{
    double devices;
    if (cli_option_text(run, "on"))
        RIDGE_TRY(cli_slice(run, &out->slice));
    RIDGE_TRY(cli_option_count(run, "rounds", 0, &out->rounds));
    RIDGE_TRY(cli_option_count(run, "devices", 0, &devices));
    out->devices = (int64_t)devices;
    return RIDGE_OK;
}

static ridge_status find_view(cli_run *run, const char *path, ridge_hlo_file *file,
                              ridge_hlo_study *study, ridge_hlo_view *view)
{
    ridge_hlo_request request = {.slice = NULL};
    double top;
    RIDGE_TRY(read_request(run, &request));
    RIDGE_TRY(cli_option_count(run, "top", TOP_ROWS, &top));
    RIDGE_TRY(read_module(run, path, file, &view->module));
    RIDGE_TRY(
        ridge_hlo_study_find(run->cx, &file->modules[view->module], &request, study));
    view->file = file;
    view->study = study;
    view->top = top < 1e6 ? (int)top : 1000000;
    return RIDGE_OK;
}

static int emit_view(cli_run *run, const ridge_hlo_view *view)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_hlo_write_html(run->cx, view, &out);
        const int code = cli_emit_html(run, &out);
        if (code)
            return code;
        ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_hlo_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_hlo_write_text(run->cx, view, run->has_colour, &out);
    return cli_emit_text(run, &out);
}

static int emit_diff(cli_run *run, const ridge_hlo_diff_view *view)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_hlo_diff_write_html(run->cx, view, &out);
        const int code = cli_emit_html(run, &out);
        if (code)
            return code;
        ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_hlo_diff_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_hlo_diff_write_text(run->cx, view, run->has_colour, &out);
    return cli_emit_text(run, &out);
}

/** A file with its study. */
typedef struct studied_file {
    ridge_hlo_file file;
    ridge_hlo_study study;
    ridge_hlo_view view;
} studied_file;

static int run_diff(cli_run *run, const char *other)
{
    studied_file a, b;
    if (find_view(run, run->args[0], &a.file, &a.study, &a.view) != RIDGE_OK ||
        find_view(run, other, &b.file, &b.study, &b.view) != RIDGE_OK)
        return cli_fail(run);
    const ridge_hlo_diff_view view = {.paths = {run->args[0], other},
                                      .studies = {&a.study, &b.study},
                                      .top = a.view.top};
    return emit_diff(run, &view);
}

static int run_hlo(cli_run *run)
{
    studied_file f;
    const char *other = cli_option_text(run, "diff");
    if (other)
        return run_diff(run, other);
    if (find_view(run, run->args[0], &f.file, &f.study, &f.view) != RIDGE_OK)
        return cli_fail(run);
    return emit_view(run, &f.view);
}

static const cli_option options[] = {
    {"on", "SLICE", "price it on a slice with at least as many chips"},
    {"module", "N", "of a file with several modules, the N-th (1)"},
    {"rounds", "N", "of loops that do not tell how often they run (1)"},
    {"devices", "N", "that the module is for, if it does not say"},
    {"diff", "FILE", "compare with another module, B"},
    {"top", "N", "rows of each list (15)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_hlo = {
    .name = "hlo",
    .summary =
        "an HLO or StableHLO module: FLOPs, bytes, collectives, time per operation",
    .synopsis = "FILE",
    .detail =
        "FILE is HLO text before or after optimisation, plain or packed by gzip or "
        "zstd.\n"
        "Text that was cut is read as far as it goes, and what is lost is told.\n"
        "\n"
        "Counted is one run of the module on one device: loops by their trip counts, "
        "of a\n"
        "conditional the slowest branch. After optimisation a kernel is a fusion of "
        "the\n"
        "module; before, fusion is estimated. Without --on there are FLOPs, bytes, "
        "groups\n"
        "and memory; with it each kernel has an expected time, a bound and what it "
        "is\n"
        "bound by, and collectives are priced on the chips that their groups name.\n"
        "\n"
        "A custom call whose work cannot be told is said to be unknown, and only its "
        "bytes\n"
        "are counted.",
    .example = "ridge hlo examples/mlp.hlo --on h100",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_hlo,
};
