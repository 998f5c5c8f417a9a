/*
 * ridge validate: the model held against measurements.
 */
#include "cli.h"

#include "ridge/report.h"

static ridge_status validate(cli_run *run, ridge_validation *out)
{
    const ridge_catalog *catalog;
    const ridge_library *library;
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(cli_library(run, &library));
    return ridge_validate_training(run->cx, catalog, library, run->args[0], out);
}

static int run_validate(cli_run *run)
{
    ridge_validation *validation =
        ridge_new(ridge_ctx_arena(run->cx), ridge_validation, 1);
    if (!validation || validate(run, validation) != RIDGE_OK)
        return cli_fail(run);
    ridge_validation_view view = {run->args[0], validation,
                                  cli_option_text(run, "rows") != NULL};
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_validation_write_html(run->cx, &view, &text);
        int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_validation_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_validation_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}

static const cli_option options[] = {
    {"rows", NULL, "list every row with its prediction, and why others have none"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_validate = {
    .name = "validate",
    .summary = "the model against measurements: errors by chip and source",
    .synopsis = "FILE",
    .detail =
        "FILE is JSON Lines, a measured training run a line: id, source {title}, "
        "model\n"
        "{name, n_layers, d_model, n_heads, ...}, hardware {chip, n_chips,\n"
        "chips_per_node, ...}, plan {tp, pp, cp, ep, dp, fsdp_or_zero_stage,\n"
        "microbatch_seqs, global_batch_seqs, seq_len, remat, precision, ...}, "
        "measured\n"
        "{step_time_s or tokens_per_s_per_chip, peak_memory_bytes}; null where the\n"
        "source is silent.\n"
        "\n"
        "Each row is predicted. What a row does not state is left to the search, said "
        "so\n"
        "with --rows, and such rows are counted apart.",
    .example = "ridge validate examples/measured.jsonl --rows",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_validate,
};
