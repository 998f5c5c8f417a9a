/*
 * How the results of ridge hlo leave: a page, JSON or text.
 */
#include "hlo_output.h"

int cli_hlo_emit(cli_run *run, const ridge_hlo_view *view)
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

int cli_hlo_emit_diff(cli_run *run, const ridge_hlo_diff_view *view)
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

int cli_hlo_measured(cli_run *run)
{
    const ridge_catalog *catalog;
    ridge_hlo_measurements m;
    ridge_buf out;
    if (cli_catalog(run, &catalog) != RIDGE_OK ||
        ridge_hlo_measurements_find(run->cx, catalog, run->args[0], &m) != RIDGE_OK)
        return cli_fail(run);
    ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_hlo_measurements_write_html(run->cx, run->args[0], &m, &out);
        const int code = cli_emit_html(run, &out);
        if (code)
            return code;
        ridge_buf_init(&out, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_hlo_measurements_write_json(run->cx, &m, object);
        return cli_emit_json(run, object);
    }
    ridge_hlo_measurements_write_text(run->cx, run->args[0], &m, run->has_colour, &out);
    return cli_emit_text(run, &out);
}
