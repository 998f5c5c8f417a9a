/*
 * ridge hlo --partition: the module as a program, partitioned and priced as ridge shard
 * does.
 */
#include "hlo_partition.h"

#include "ridge/profile_hlo_program.h"
#include "ridge/report_shard.h"

static ridge_status find_study(cli_run *run, const ridge_hlo_module *module,
                               ridge_partition_study *study)
{
    const char *text = cli_option_text(run, "mesh");
    ridge_mesh mesh;
    ridge_hlo_program made;
    ridge_partition_request request = {.program = NULL};
    if (text)
        RIDGE_TRY(ridge_mesh_parse(run->cx, text, &mesh));
    RIDGE_TRY(ridge_hlo_program_build(run->cx, module, text ? &mesh : NULL, &made));
    RIDGE_TRY(cli_option_dtype(run, "compute", RIDGE_DTYPE_BF16, &request.compute));
    if (cli_option_text(run, "on"))
        RIDGE_TRY(cli_slice(run, &request.slice));
    request.program = made.program;
    request.mesh = &made.mesh;
    request.rules = made.rules;
    request.has_overlap = cli_option_text(run, "overlap") != NULL;
    return ridge_partition_study_find(run->cx, &request, study);
}

int cli_hlo_partition(cli_run *run, const ridge_hlo_module *module)
{
    ridge_partition_study study;
    ridge_buf out, page;
    if (find_study(run, module, &study) != RIDGE_OK)
        return cli_fail(run);
    const ridge_partition_view view = {.study = &study};
    ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    ridge_buf_init(&page, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_partition_write_html(run->cx, &view, &page);
        const int code = cli_emit_html(run, &page);
        if (code)
            return code;
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_partition_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_partition_write_text(run->cx, &view, run->has_colour, &out);
    return cli_emit_text(run, &out);
}
