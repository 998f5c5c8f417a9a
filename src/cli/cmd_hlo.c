/*
 * ridge hlo: what an HLO or StableHLO module costs.
 */
#include "hlo_output.h"
#include "hlo_partition.h"

#include <string.h>

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

/* A chip by its name alone stands for as many as the module has devices. */
static ridge_status fit_slice(cli_run *run, const ridge_hlo_module *module,
                              ridge_hlo_request *request)
{
    const char *on = cli_option_text(run, "on");
    const ridge_catalog *catalog;
    int64_t devices = request->devices;
    if (!request->slice || strchr(on, ':') || request->slice->chips > 1)
        return RIDGE_OK;
    if (devices == 0)
        RIDGE_TRY(ridge_hlo_module_devices(run->cx, module, &devices));
    if (devices <= 1)
        return RIDGE_OK;
    RIDGE_TRY(cli_catalog(run, &catalog));
    return ridge_slice_of_chips(run->cx, catalog, request->slice->system, devices,
                                &request->slice);
}

static ridge_status find_view(cli_run *run, const char *path, ridge_hlo_file *file,
                              ridge_hlo_study *study, ridge_hlo_view *view)
{
    ridge_hlo_request request = {.slice = NULL};
    double top;
    RIDGE_TRY(read_request(run, &request));
    RIDGE_TRY(cli_option_count(run, "top", TOP_ROWS, &top));
    RIDGE_TRY(read_module(run, path, file, &view->module));
    RIDGE_TRY(fit_slice(run, &file->modules[view->module], &request));
    RIDGE_TRY(
        ridge_hlo_study_find(run->cx, &file->modules[view->module], &request, study));
    view->file = file;
    view->study = study;
    view->top = top < 1e6 ? (int)top : 1000000;
    return RIDGE_OK;
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
    return cli_hlo_emit_diff(run, &view);
}

static int run_partition(cli_run *run)
{
    ridge_hlo_file file;
    int module = 0;
    if (read_module(run, run->args[0], &file, &module) != RIDGE_OK)
        return cli_fail(run);
    return cli_hlo_partition(run, &file.modules[module]);
}

static int run_hlo(cli_run *run)
{
    studied_file f;
    const char *other = cli_option_text(run, "diff");
    if (other)
        return run_diff(run, other);
    if (cli_option_text(run, "measured"))
        return cli_hlo_measured(run);
    if (cli_option_text(run, "partition") || cli_option_text(run, "mesh"))
        return run_partition(run);
    if (find_view(run, run->args[0], &f.file, &f.study, &f.view) != RIDGE_OK)
        return cli_fail(run);
    return cli_hlo_emit(run, &f.view);
}

static const cli_option options[] = {
    {"on", "SLICE", "price it there: a chip, or a slice with at least as many"},
    {"module", "N", "of a file with several modules or functions, the N-th (1)"},
    {"partition", NULL, "cut it over its devices as its shardings say"},
    {"mesh", "AXES", "the same over a mesh of other sizes: x=4,y=2"},
    {"overlap", NULL, "with --partition: hide what can be hidden"},
    {"compute", "DTYPE", "with --partition: format of the arithmetic (bf16)"},
    {"rounds", "N", "of loops that do not tell how often they run (1)"},
    {"devices", "N", "that the module is for, if it does not say"},
    {"diff", "FILE", "compare with another module, B"},
    {"measured", NULL, "FILE is a list of modules that were timed: how far off is it"},
    {"top", "N", "rows of each list (15)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_hlo = {
    .name = "hlo",
    .summary =
        "an HLO or StableHLO module: FLOPs, bytes, collectives, time per operation",
    .synopsis = "FILE",
    .detail =
        "FILE is HLO text before or after optimisation, StableHLO text, or a proto\n"
        "(HloProto, HloModuleProto, HloSnapshot), plain or packed by gzip or zstd. "
        "Text that\n"
        "was cut is read as far as it goes, and what is lost is told.\n"
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
        "are counted.\n"
        "\n"
        "With --partition a module whose values say how they lie (sdy or "
        "mhlo.sharding)\n"
        "becomes a program that is cut over the mesh by ridge's own rules, with the\n"
        "collectives that this takes; --mesh gives its axes other sizes. Taken are "
        "products,\n"
        "elementwise operations, sums, transpositions and broadcasts.",
    .example = "ridge hlo examples/mlp.hlo --on h100",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_hlo,
};
