/*
 * ridge validate: the model held against measurements of training runs, of serving, and
 * of operations and collectives.
 */
#include "cli.h"

#include "ridge/report.h"
#include "ridge/report_serving_validation.h"

/* What a file holds decides which of the reports is written. */
typedef struct validation {
    ridge_measured_file file;
    ridge_validation_view training;
    ridge_op_validation_view operations;
    ridge_serving_validation_view serving;
} validation;

static ridge_status validate_training(cli_run *run, const ridge_catalog *catalog,
                                      ridge_validation *out)
{
    const ridge_library *library;
    RIDGE_TRY(cli_library(run, &library));
    return ridge_validate_training(run->cx, catalog, library, run->args[0], out);
}

static ridge_status validate_serving(cli_run *run, const ridge_catalog *catalog,
                                     ridge_serving_validation *out)
{
    const ridge_library *library;
    RIDGE_TRY(cli_library(run, &library));
    ridge_progress progress = cli_progress(run);
    const ridge_serving_measured measured = {catalog, library, run->args[0], &progress};
    const ridge_status status = ridge_validate_serving(run->cx, &measured, out);
    ridge_progress_end(&progress);
    return status;
}

static ridge_status validate(cli_run *run, validation *out)
{
    const ridge_catalog *catalog;
    const char *path = run->args[0];
    const bool has_rows = cli_option_text(run, "rows") != NULL;
    ridge_arena *arena = ridge_ctx_arena(run->cx);
    ridge_validation *training = ridge_new(arena, ridge_validation, 1);
    ridge_op_validation *operations = ridge_new(arena, ridge_op_validation, 1);
    ridge_serving_validation *serving = ridge_new(arena, ridge_serving_validation, 1);
    if (!training || !operations || !serving)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_measured_file_find(run->cx, path, &out->file));
    out->training = (ridge_validation_view){path, training, has_rows};
    out->operations = (ridge_op_validation_view){path, operations, has_rows};
    out->serving = (ridge_serving_validation_view){path, serving, has_rows};
    switch (out->file) {
    case RIDGE_MEASURED_TRAINING:
        return validate_training(run, catalog, training);
    case RIDGE_MEASURED_SERVING:
        return validate_serving(run, catalog, serving);
    case RIDGE_MEASURED_OPERATIONS:
        break;
    }
    return ridge_validate_operations(run->cx, catalog, path, operations);
}

static void write_html(cli_run *run, const validation *v, ridge_buf *page)
{
    switch (v->file) {
    case RIDGE_MEASURED_TRAINING:
        ridge_validation_write_html(run->cx, &v->training, page);
        break;
    case RIDGE_MEASURED_OPERATIONS:
        ridge_op_validation_write_html(run->cx, &v->operations, page);
        break;
    case RIDGE_MEASURED_SERVING:
        ridge_serving_validation_write_html(run->cx, &v->serving, page);
        break;
    }
}

static int emit_html(cli_run *run, const validation *v)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    write_html(run, v, &page);
    return cli_emit_html(run, &page);
}

static int emit_json(cli_run *run, const validation *v)
{
    ridge_json *object = cli_json_begin(run);
    switch (v->file) {
    case RIDGE_MEASURED_TRAINING:
        ridge_validation_write_json(run->cx, &v->training, object);
        break;
    case RIDGE_MEASURED_OPERATIONS:
        ridge_op_validation_write_json(run->cx, &v->operations, object);
        break;
    case RIDGE_MEASURED_SERVING:
        ridge_serving_validation_write_json(run->cx, &v->serving, object);
        break;
    }
    return cli_emit_json(run, object);
}

static int emit_text(cli_run *run, const validation *v)
{
    ridge_buf text;
    const bool has_colour = run->has_colour;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    switch (v->file) {
    case RIDGE_MEASURED_TRAINING:
        ridge_validation_write_text(run->cx, &v->training, has_colour, &text);
        break;
    case RIDGE_MEASURED_OPERATIONS:
        ridge_op_validation_write_text(run->cx, &v->operations, has_colour, &text);
        break;
    case RIDGE_MEASURED_SERVING:
        ridge_serving_validation_write_text(run->cx, &v->serving, has_colour, &text);
        break;
    }
    return cli_emit_text(run, &text);
}

static int run_validate(cli_run *run)
{
    validation v;
    if (validate(run, &v) != RIDGE_OK)
        return cli_fail(run);
    if (run->html_path) {
        const int code = emit_html(run, &v);
        if (code)
            return code;
    }
    return run->is_json ? emit_json(run, &v) : emit_text(run, &v);
}

static const cli_option options[] = {
    {"rows", NULL, "list every row with its prediction, and why others have none"},
    {NULL, NULL, NULL}};

const cli_verb cli_verb_validate = {
    .name = "validate",
    .summary = "the model against measurements: errors by chip, kind and source",
    .synopsis = "FILE",
    .detail =
        "FILE is told by its first row. Measured training runs are JSON Lines, a run "
        "a\n"
        "line: id, source {title}, model {name, n_layers, d_model, n_heads, ...},\n"
        "hardware {chip, n_chips, chips_per_node, ...}, plan {tp, pp, cp, ep, dp,\n"
        "fsdp_or_zero_stage, microbatch_seqs, global_batch_seqs, seq_len, remat,\n"
        "precision, documents (tokens of each), tuning (LoRA: adapters), ...},\n"
        "measured {step_time_s or tokens_per_s_per_chip,\n"
        "peak_memory_bytes}; null where the source is silent. What a row does not "
        "state\n"
        "is left to the search, said so with --rows, and such rows are counted apart.\n"
        "\n"
        "Measured operations and collectives are CSV below a header with op, "
        "hardware,\n"
        "latency_us and the dims of the kind: gemm (dtype, m, n, k), "
        "attention_decode,\n"
        "attention_prefill, mla_decode, mla_prefill (batch, q_len, kv_len, q_heads,\n"
        "kv_heads, head_dim, sliding_window, causal, compute_dtype, kv_dtype), "
        "moe_ffn\n"
        "(num_tokens, hidden, expert_inner, topk, num_experts, moe_tp, moe_ep, "
        "routing),\n"
        "all_reduce, all_gather, reduce_scatter, all_to_all, send_recv (num_gpus,\n"
        "num_nodes, message_bytes, library); or JSON Lines of id, source {title},\n"
        "hardware {chip}, config {op, ...}, measured {latency_us or a rate}. Errors "
        "are\n"
        "given by duration, kind, chip and source; rows measured faster than physics\n"
        "allows are refused and counted.\n"
        "\n"
        "Measured serving is CSV below a header with model_path, system, backend,\n"
        "backend_version, isl, osl, concurrency, tp_size, pp_size, attention_dp_size,\n"
        "moe_tp_size, moe_ep_size (or the same of prefill_ and decode_ workers),\n"
        "silicon_ttft_ms, silicon_tpot_ms; or JSON Lines of id, source {title}, model\n"
        "{name}, hardware {chip, n_chips}, config {framework, mode, tp, ..., dtype,\n"
        "input_len, output_len, concurrency}, measured {ttft_ms, tpot_ms,\n"
        "output_tokens_per_s, ...}. Each row is played on the engine it names; errors\n"
        "of TTFT, TPOT, tokens/s and latency are given by chip, engine, model and "
        "source.\n"
        "Rows whose model could have drafted tokens without saying so are counted "
        "apart.",
    .example = "ridge validate examples/measured.jsonl --rows",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_validate,
};
