/*
 * ridge chips: what hardware is known.
 */
#include "chips_topology.h"

#include "ridge/hardware_occupancy.h"
#include "ridge/report.h"

#include <string.h>

/* The chip of a slice once, however many slices of it are named. */
static void add_chip(const ridge_chip **chips, size_t *n, const ridge_chip *chip)
{
    for (size_t i = 0; i < *n; i++) {
        if (chips[i] == chip)
            return;
    }
    chips[(*n)++] = chip;
}

/* v5p:4x4x8, 2*h100:8, and what is no chip but has chips: v5p-512. */
static bool is_slice(cli_run *run, const ridge_catalog *catalog, const char *text)
{
    const ridge_slice *slice;
    const ridge_chip *chip;
    if (strpbrk(text, ":*+") != NULL)
        return true;
    const bool is_one = ridge_chip_find(run->cx, catalog, text, &chip) != RIDGE_OK &&
                        ridge_slice_parse(run->cx, catalog, text, &slice) == RIDGE_OK;
    ridge_ctx_clear(run->cx);
    return is_one;
}

/* Names of chips, and slices "v5p:16x20x28" with all their pools. */
static ridge_status read_names(cli_run *run, ridge_chips_view *out)
{
    enum { MOST = 64 };
    ridge_arena *arena = ridge_ctx_arena(run->cx);
    const ridge_chip **chips =
        ridge_new(arena, const ridge_chip *, MOST + (size_t)run->n_args);
    const ridge_slice **slices = ridge_new(arena, const ridge_slice *, MOST);
    if (!chips || !slices)
        return ridge_fail_nomem(run->cx);
    for (int i = 0; i < run->n_args; i++) {
        const ridge_slice *slice = NULL;
        const ridge_chip *chip;
        if (!is_slice(run, out->catalog, run->args[i])) {
            RIDGE_TRY(ridge_chip_find(run->cx, out->catalog, run->args[i], &chip));
            add_chip(chips, &out->n, chip);
            continue;
        }
        RIDGE_TRY(ridge_slice_parse(run->cx, out->catalog, run->args[i], &slice));
        for (; slice; slice = slice->next) {
            if (out->n_slices == MOST) {
                return ridge_fail(run->cx, RIDGE_E_ARG,
                                  "more than %d slices and pools: name fewer", MOST);
            }
            add_chip(chips, &out->n, slice->chip);
            slices[out->n_slices++] = slice;
        }
    }
    out->chips = chips;
    out->slices = slices;
    return RIDGE_OK;
}

static ridge_status find_chips(cli_run *run, ridge_chips_view *out)
{
    out->has_details = run->n_args > 0;
    if (out->has_details)
        return read_names(run, out);
    out->n = ridge_catalog_chip_count(out->catalog);
    const ridge_chip **chips =
        ridge_new(ridge_ctx_arena(run->cx), const ridge_chip *, out->n ? out->n : 1);
    if (!chips)
        return ridge_fail_nomem(run->cx);
    for (size_t i = 0; i < out->n; i++)
        chips[i] = ridge_catalog_chip(out->catalog, i);
    out->chips = chips;
    return RIDGE_OK;
}

static ridge_status check_options(cli_run *run)
{
    if (cli_option_text(run, "write-system") == NULL)
        return RIDGE_OK;
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--write-system keeps the system of a topology file: name one, "
                      "as in ridge chips h100@topo.txt --write-system here.json");
}

/* What a core of each chip holds of the kernel. */
static ridge_status find_occupancies(cli_run *run, ridge_chips_view *view)
{
    const char *text = cli_option_text(run, "kernel");
    ridge_kernel kernel;
    if (text == NULL)
        return RIDGE_OK;
    if (!view->has_details)
        return ridge_fail(run->cx, RIDGE_E_ARG,
                          "--kernel is of chips: name one, as in ridge chips h100 "
                          "--kernel threads=256,registers=64");
    if (ridge_kernel_parse(run->cx, text, &kernel) != RIDGE_OK) {
        ridge_ctx_note(run->cx, "--kernel");
        return RIDGE_E_ARG;
    }
    ridge_occupancy *all =
        ridge_new(ridge_ctx_arena(run->cx), ridge_occupancy, view->n);
    if (all == NULL)
        return ridge_fail_nomem(run->cx);
    for (size_t i = 0; i < view->n; i++)
        RIDGE_TRY(ridge_chip_occupancy(run->cx, view->chips[i], &kernel, &all[i]));
    view->occupancies = all;
    return RIDGE_OK;
}

/* No block of the kernel fits a core of the first chip. */
static int code_of(const ridge_chips_view *view)
{
    enum { ANSWER_IS_NO = 1 };
    return view->occupancies != NULL && view->occupancies[0].blocks == 0 ? ANSWER_IS_NO
                                                                         : 0;
}

static int emit(cli_run *run, const ridge_chips_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_chips_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_chips_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static int run_chips(cli_run *run)
{
    ridge_chips_view view = {.n = 0};
    if (cli_catalog(run, &view.catalog) != RIDGE_OK)
        return cli_fail(run);
    if (chips_topology_is_asked(run, view.catalog))
        return chips_topology_run(run, view.catalog);
    if (check_options(run) != RIDGE_OK || find_chips(run, &view) != RIDGE_OK ||
        find_occupancies(run, &view) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path) {
        ridge_buf page;
        ridge_buf_init(&page, ridge_ctx_arena(run->cx));
        ridge_chips_write_html(run->cx, &view, &page);
        int code = cli_emit_html(run, &page);
        if (code)
            return code;
    }
    const int code = emit(run, &view);
    return code ? code : code_of(&view);
}

static const cli_option options[] = {
    {"kernel", "NEEDS",
     "blocks and warps of a GPU kernel that a core holds: "
     "threads=256,registers=64,shared=48KiB"},
    {"write-system", "FILE", "keep the system of a topology file, for --on FILE"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_chips = {
    .name = "chips",
    .summary = "what hardware is known: peaks, ridge points, network, price",
    .synopsis = "[CHIP|SLICE|FILE ...]",
    .detail =
        "Without a name: every chip in a row. With one: its peaks by format, memory,\n"
        "network and ridge points, prices, and where each number comes from. With\n"
        "several: the same side by side. A slice (v5p:16x20x28, h100:64x8) is told "
        "with\n"
        "all its chips together: hosts, peaks, memory, network and its switches, "
        "price.\n"
        "\n"
        "Peaks are dense. A ridge point is the FLOPs per byte above which the chip,\n"
        "not the memory or the network, is the limit.\n"
        "\n"
        "With --kernel: how many blocks and warps of a kernel are resident on an SM "
        "or\n"
        "CU, and what binds (exit code 1: not one block fits).\n"
        "\n"
        "A topology FILE (the output of nvidia-smi topo -m, rocm-smi --showtopo or\n"
        "ibnetdiscover; XML of NCCL, RCCL or lstopo; a cluster model of topograph; a\n"
        "network of ASTRA-sim; messages that Mooncake measured) is told as it was\n"
        "understood: links, NICs, switches, the system that they make, and where each\n"
        "number of it comes from. What the file leaves open is that of NAME, a chip "
        "or\n"
        "a system: h100@topo.txt, dgx-h100@ibnet.out, h100@topo.txt@ibnet.out. Every\n"
        "--on takes the same, with a shape: --on h100@topo.txt:4x8.",
    .example = "ridge chips h100 v5p",
    .options = options,
    .min_args = 0,
    .max_args = CLI_ARG_MAX,
    .run = run_chips,
};
