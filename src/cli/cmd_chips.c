/*
 * ridge chips: what hardware is known.
 */
#include "cli.h"

#include "ridge/report.h"

static ridge_status find_chips(cli_run *run, ridge_chips_view *out)
{
    RIDGE_TRY(cli_catalog(run, &out->catalog));
    out->has_details = run->n_args > 0;
    out->n =
        out->has_details ? (size_t)run->n_args : ridge_catalog_chip_count(out->catalog);
    const ridge_chip **chips =
        ridge_new(ridge_ctx_arena(run->cx), const ridge_chip *, out->n ? out->n : 1);
    if (!chips)
        return ridge_fail_nomem(run->cx);
    for (size_t i = 0; i < out->n; i++) {
        if (out->has_details) {
            RIDGE_TRY(ridge_chip_find(run->cx, out->catalog, run->args[i], &chips[i]));
        } else {
            chips[i] = ridge_catalog_chip(out->catalog, i);
        }
    }
    out->chips = chips;
    return RIDGE_OK;
}

static int run_chips(cli_run *run)
{
    ridge_chips_view view = {.n = 0};
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (find_chips(run, &view) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path) {
        ridge_buf page;
        ridge_buf_init(&page, ridge_ctx_arena(run->cx));
        ridge_chips_write_html(run->cx, &view, &page);
        int code = cli_emit_html(run, &page);
        if (code)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_chips_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_chips_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

const cli_verb cli_verb_chips = {
    .name = "chips",
    .summary = "what hardware is known: peaks, ridge points, network, price",
    .synopsis = "[CHIP ...]",
    .detail =
        "Without a name: every chip in a row. With one: its peaks by format, memory,\n"
        "network and ridge points, prices, and where each number comes from. With\n"
        "several: the same side by side.\n"
        "\n"
        "Peaks are dense. A ridge point is the FLOPs per byte above which the chip,\n"
        "not the memory or the network, is the limit.",
    .example = "ridge chips h100 v5p",
    .options = NULL,
    .min_args = 0,
    .max_args = 6,
    .run = run_chips,
};
