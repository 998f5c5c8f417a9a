/*
 * ridge validate: the model held against measurements of training runs, and of
 * operations and collectives.
 */
#include "cli.h"

#include "ridge/report.h"

/* What a file holds decides which of two reports is written. */
typedef struct validation {
    bool is_training;
    ridge_validation_view training;
    ridge_op_validation_view operations;
} validation;

static ridge_status validate(cli_run *run, validation *out)
{
    const ridge_catalog *catalog;
    const ridge_library *library;
    ridge_measured_file file;
    const char *path = run->args[0];
    const bool has_rows = cli_option_text(run, "rows") != NULL;
    ridge_arena *arena = ridge_ctx_arena(run->cx);
    ridge_validation *training = ridge_new(arena, ridge_validation, 1);
    ridge_op_validation *operations = ridge_new(arena, ridge_op_validation, 1);
    if (!training || !operations)
        return ridge_fail_nomem(run->cx);
    RIDGE_TRY(cli_catalog(run, &catalog));
    RIDGE_TRY(ridge_measured_file_find(run->cx, path, &file));
    out->is_training = file == RIDGE_MEASURED_TRAINING;
    out->training = (ridge_validation_view){path, training, has_rows};
    out->operations = (ridge_op_validation_view){path, operations, has_rows};
    if (!out->is_training)
        return ridge_validate_operations(run->cx, catalog, path, operations);
    RIDGE_TRY(cli_library(run, &library));
    return ridge_validate_training(run->cx, catalog, library, path, training);
}

static int emit_html(cli_run *run, const validation *v)
{
    ridge_buf page;
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    if (v->is_training) {
        ridge_validation_write_html(run->cx, &v->training, &page);
    } else {
        ridge_op_validation_write_html(run->cx, &v->operations, &page);
    }
    return cli_emit_html(run, &page);
}

static int emit_json(cli_run *run, const validation *v)
{
    ridge_json *object = cli_json_begin(run);
    if (v->is_training) {
        ridge_validation_write_json(run->cx, &v->training, object);
    } else {
        ridge_op_validation_write_json(run->cx, &v->operations, object);
    }
    return cli_emit_json(run, object);
}

static int emit_text(cli_run *run, const validation *v)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (v->is_training) {
        ridge_validation_write_text(run->cx, &v->training, run->has_colour, &text);
    } else {
        ridge_op_validation_write_text(run->cx, &v->operations, run->has_colour, &text);
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
        "precision, ...}, measured {step_time_s or tokens_per_s_per_chip,\n"
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
        "allows are refused and counted.",
    .example = "ridge validate examples/measured.jsonl --rows",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run_validate,
};
