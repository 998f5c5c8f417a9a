/* How `ridge explain` shows a derivation. */
#include "explain_model.h"

#include "ridge/report.h"

int cli_explain_show(cli_run *run, const ridge_explain_view *view)
{
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    if (run->html_path) {
        ridge_explain_write_html(run->cx, view, &text);
        int code = cli_emit_html(run, &text);
        if (code)
            return code;
        ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    }
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_explain_write_json(run->cx, view, object);
        return cli_emit_json(run, object);
    }
    ridge_explain_write_text(run->cx, view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}
