/*
 * ridge hlo: what an HLO or StableHLO module costs.
 */
#include "hlo_layout.h"
#include "hlo_memory_table.h"
#include "hlo_output.h"

#include "ridge/profile_memory_table.h"

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
    RIDGE_TRY(cli_option_whole(run, "devices", 0, 1e9, &devices));
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

/** A file with its study. */
typedef struct studied_file {
    ridge_hlo_file file;
    ridge_hlo_partition partition;
    ridge_hlo_study study;
    ridge_hlo_view view;
} studied_file;

/* The module that is studied: the file's, or what one of its devices runs. */
static ridge_status find_module(cli_run *run, studied_file *f,
                                const ridge_hlo_module **out)
{
    const char *text = cli_option_text(run, "mesh");
    ridge_mesh mesh;
    *out = &f->file.modules[f->view.module];
    if (text == NULL && cli_option_text(run, "partition") == NULL)
        return RIDGE_OK;
    if (text)
        RIDGE_TRY(ridge_mesh_parse(run->cx, text, &mesh));
    RIDGE_TRY(
        ridge_hlo_partition_build(run->cx, *out, text ? &mesh : NULL, &f->partition));
    f->view.partition = &f->partition;
    *out = f->partition.module;
    return RIDGE_OK;
}

static ridge_status find_view(cli_run *run, const char *path, studied_file *f)
{
    ridge_hlo_request request = {.slice = NULL};
    const ridge_hlo_module *module;
    double top;
    f->view = (ridge_hlo_view){.file = &f->file, .study = &f->study};
    RIDGE_TRY(read_request(run, &request));
    RIDGE_TRY(cli_option_count(run, "top", TOP_ROWS, &top));
    RIDGE_TRY(read_module(run, path, &f->file, &f->view.module));
    RIDGE_TRY(find_module(run, f, &module));
    RIDGE_TRY(fit_slice(run, module, &request));
    RIDGE_TRY(ridge_hlo_study_find(run->cx, module, &request, &f->study));
    f->view.top = top < 1e6 ? (int)top : 1000000;
    return RIDGE_OK;
}

static int run_diff(cli_run *run, const char *other)
{
    studied_file a, b;
    if (find_view(run, run->args[0], &a) != RIDGE_OK ||
        find_view(run, other, &b) != RIDGE_OK)
        return cli_fail(run);
    const ridge_hlo_diff_view view = {.paths = {run->args[0], other},
                                      .studies = {&a.study, &b.study},
                                      .top = a.view.top};
    return cli_hlo_emit_diff(run, &view);
}

static int run_hlo(cli_run *run)
{
    studied_file f;
    const char *other = cli_option_text(run, "diff");
    const char *write = cli_option_text(run, "write");
    if (cli_hlo_is_shape(run->args[0]))
        return cli_hlo_layout(run);
    if (cli_option_text(run, "index")) {
        ridge_status st = ridge_fail(run->cx, RIDGE_E_ARG,
                                     "--index is of a shape such as f32[8,128]{1,0}, "
                                     "not of a module: leave it out");
        return st ? cli_fail(run) : 0;
    }
    if (other)
        return run_diff(run, other);
    if (cli_option_text(run, "measured"))
        return cli_hlo_measured(run);
    if (ridge_memory_table_is(run->cx, run->args[0]))
        return cli_hlo_memory_table(run);
    if (find_view(run, run->args[0], &f) != RIDGE_OK)
        return cli_fail(run);
    if (write && f.view.partition == NULL) {
        ridge_status st = ridge_fail(run->cx, RIDGE_E_ARG,
                                     "--write: it is the partitioned module that is "
                                     "written: give --partition or --mesh too");
        return st ? cli_fail(run) : 0;
    }
    if (write && ridge_file_write(run->cx, write, f.partition.text) != RIDGE_OK)
        return cli_fail(run);
    return cli_hlo_emit(run, &f.view);
}

static const cli_option options[] = {
    {"on", "SLICE", "price it there: a chip, or a slice with at least as many"},
    {"module", "N", "of a file with several modules or functions, the N-th (1)"},
    {"partition", NULL, "cut it over its devices as its shardings say"},
    {"mesh", "AXES", "the same over a mesh of other sizes: x=4,y=2"},
    {"write", "FILE", "with --partition: write what one device runs, as HLO text"},
    {"rounds", "N", "of loops that do not tell how often they run (1)"},
    {"devices", "N", "that the module is for, if it does not say"},
    {"diff", "FILE", "compare with another module, B"},
    {"measured", NULL, "FILE is a list of modules that were timed: how far off is it"},
    {"index", "I,J", "of a shape: where that element lies"},
    {"top", "N", "rows of each list (15)"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_hlo = {
    .name = "hlo",
    .summary =
        "an HLO or StableHLO module: FLOPs, bytes, collectives, time per operation",
    .synopsis = "FILE|SHAPE",
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
        "is cut over its mesh by ridge's own rules: shardings spread through all "
        "operations\n"
        "and around loops, what each operation needs is brought there by the "
        "collectives that\n"
        "send least, and the module that one device then runs is studied as any "
        "other. What\n"
        "had to be gathered for want of a better way is told. --mesh gives axes "
        "other sizes.\n"
        "\n"
        "FILE may be what XProf's memory viewer computed, as JSON: what lies in a\n"
        "device's memory when it is fullest.\n"
        "\n"
        "SHAPE is one array as HLO writes it, bf16[8,100]{1,0:T(8,128)(2,1)}: its "
        "padded\n"
        "dims, bytes and padding, and with --index where an element lies.",
    .example = "ridge hlo examples/mlp.hlo --on h100",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_hlo,
};
