/*
 * ridge shard --program: a program partitioned by rules, or searched.
 */
#include "shard_program.h"
#include "rank_options.h"

#include "ridge/report_shard.h"

#include <stdio.h>

enum { PROGRAM_BYTES_MOST = 16 << 20 };

int cli_fail_at(cli_run *run, const ridge_expr_fault *fault)
{
    ridge_buf place;
    const int code = cli_fail(run);
    ridge_buf_init(&place, ridge_ctx_arena(run->cx));
    ridge_expr_fault_write(fault, &place);
    cli_tell(run, ridge_buf_text(&place));
    return code;
}

/** Everything but the program as a request of a partition. */
static ridge_status read_options(cli_run *run, ridge_mesh *mesh,
                                 ridge_expr_fault *fault, ridge_partition_request *out)
{
    const char *mesh_text = cli_option_text(run, "mesh");
    const char *rules = cli_option_text(run, "lay");
    RIDGE_TRY(cli_option_dtype(run, "compute", RIDGE_DTYPE_BF16, &out->compute));
    RIDGE_TRY(ridge_mesh_parse(run->cx, mesh_text ? mesh_text : "", mesh));
    RIDGE_TRY(ridge_rules_parse(run->cx, rules ? rules : "", out->program, mesh, fault,
                                &out->rules));
    if (cli_option_text(run, "on"))
        RIDGE_TRY(cli_slice(run, &out->slice));
    out->mesh = mesh;
    out->place = cli_option_text(run, "place");
    out->has_overlap = cli_option_text(run, "overlap") != NULL;
    return RIDGE_OK;
}

static ridge_status read_program(cli_run *run, const ridge_program **out)
{
    const char *path = cli_option_text(run, "program");
    ridge_str text;
    RIDGE_TRY(ridge_file_read(run->cx, path, PROGRAM_BYTES_MOST, &text));
    return ridge_program_parse(run->cx, text, path, out);
}

static int emit_page(cli_run *run, ridge_buf *page)
{
    return run->html_path ? cli_emit_html(run, page) : 0;
}

static int run_auto(cli_run *run, const ridge_partition_request *request)
{
    ridge_chain_study study;
    if (cli_option_text(run, "run")) {
        const ridge_status st = ridge_fail(
            run->cx, RIDGE_E_ARG, "--run takes rules: give --lay in place of --auto");
        return st == RIDGE_OK ? 0 : cli_fail(run);
    }
    const ridge_chain_request chain = {.program = request->program,
                                       .mesh = request->mesh,
                                       .rules = request->rules,
                                       .compute = request->compute};
    if (ridge_chain_study_find(run->cx, &chain, request->slice, request->place,
                               &study) != RIDGE_OK)
        return cli_fail(run);
    ridge_buf out, page;
    ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_chain_write_html(run->cx, &study, &page);
    const int code = emit_page(run, &page);
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_chain_write_json(run->cx, &study, object);
        return cli_emit_json(run, object);
    }
    ridge_chain_write_text(run->cx, &study, run->has_colour, &out);
    return cli_emit_text(run, &out);
}

static int write_partition(cli_run *run, const ridge_partition_view *view)
{
    ridge_buf out, page;
    ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    ridge_partition_write_html(run->cx, view, &page);
    const int code = emit_page(run, &page);
    if (code)
        return code;
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_partition_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_partition_write_text(run->cx, view, run->has_colour, &out);
    return cli_emit_text(run, &out);
}

/* With --run the exit code says whether the numbers are right. */
static int prove_partition(cli_run *run, const ridge_program *program,
                           const ridge_partition_study *study)
{
    ridge_partition_run how = {.program = program, .partition = study->partition};
    ridge_partition_result result;
    double seed;
    if (cli_option_whole(run, "seed", 1, 9e15, &seed) != RIDGE_OK ||
        cli_rank_options(run, ridge_mesh_size(&how.partition->mesh), &how.ranks,
                         &how.threads) != RIDGE_OK)
        return cli_fail(run);
    how.seed = (uint64_t)seed;
    if (ridge_partition_run_check(run->cx, &how, &result) != RIDGE_OK)
        return cli_fail(run);
    const ridge_partition_view view = {study, &how, &result};
    const int code = ridge_launched_rank() == 0 ? write_partition(run, &view) : 0;
    return code == 0 && !result.is_right ? 1 : code;
}

static int run_rules(cli_run *run, const ridge_partition_request *request)
{
    ridge_partition_study study;
    if (ridge_partition_study_find(run->cx, request, &study) != RIDGE_OK)
        return cli_fail(run);
    const ridge_partition_view view = {.study = &study};
    return cli_option_text(run, "run") ? prove_partition(run, request->program, &study)
                                       : write_partition(run, &view);
}

int cli_shard_program(cli_run *run)
{
    ridge_partition_request request = {.program = NULL};
    ridge_expr_fault fault = {NULL, 0};
    ridge_mesh mesh;
    if (read_program(run, &request.program) != RIDGE_OK ||
        read_options(run, &mesh, &fault, &request) != RIDGE_OK)
        return cli_fail_at(run, &fault);
    return cli_option_text(run, "auto") ? run_auto(run, &request)
                                        : run_rules(run, &request);
}
