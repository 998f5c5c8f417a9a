/* ridge hlo SHAPE: one array's layout instead of a module. */
#include "hlo_layout.h"

#include "ridge/report_hlo.h"

#include <string.h>

bool cli_hlo_is_shape(const char *text)
{
    const size_t type = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
    const size_t n = strlen(text);
    return type > 0 && text[type] == '[' && (text[n - 1] == ']' || text[n - 1] == '}');
}

static ridge_status read_index(cli_run *run, const char *text, ridge_hlo_layout_view *v)
{
    ridge_str rest = ridge_str_of(text);
    const int n = v->shape->n;
    for (int i = 0; i < n; i++) {
        const ridge_str item = ridge_str_trim(ridge_str_cut(&rest, ','));
        if (!ridge_parse_i64(item, &v->index[i]) || (i + 1 < n) != (rest.p != NULL))
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--index '%.40s': expected %d whole numbers, as in 2,4",
                              text, n);
        if (v->index[i] < 0 || v->index[i] >= v->shape->dims[i])
            return ridge_fail(run->cx, RIDGE_E_ARG,
                              "--index '%.40s': dim %d goes from 0 to %lld", text, i,
                              (long long)v->shape->dims[i] - 1);
    }
    v->n_index = n;
    return RIDGE_OK;
}

/* What is of modules alone. */
static ridge_status check_options(const cli_run *run)
{
    static const char *const others[] = {"on",    "module",  "partition", "mesh",
                                         "write", "rounds",  "devices",   "diff",
                                         "top",   "measured"};
    const char *wrong = run->html_path ? "html" : NULL;
    for (size_t i = 0; i < RIDGE_COUNT_OF(others) && wrong == NULL; i++) {
        if (cli_option_text(run, others[i]) != NULL)
            wrong = others[i];
    }
    if (wrong == NULL)
        return RIDGE_OK;
    return ridge_fail(run->cx, RIDGE_E_ARG,
                      "--%s is of modules, not of a shape: leave it out", wrong);
}

static ridge_status read_view(cli_run *run, ridge_hlo_shape *shape,
                              ridge_hlo_layout_view *v)
{
    const char *index = cli_option_text(run, "index");
    RIDGE_TRY(check_options(run));
    RIDGE_TRY(ridge_hlo_shape_parse(run->cx, v->text, shape));
    if (ridge_hlo_shape_is_tuple(shape) || shape->is_unknown)
        return ridge_fail(run->cx, RIDGE_E_ARG, "'%.80s' is no array", v->text);
    v->shape = shape;
    return index ? read_index(run, index, v) : RIDGE_OK;
}

int cli_hlo_layout(cli_run *run)
{
    ridge_hlo_shape shape;
    ridge_hlo_layout_view view = {.text = run->args[0]};
    if (read_view(run, &shape, &view) != RIDGE_OK)
        return cli_fail(run);
    if (run->is_json) {
        ridge_json *object = cli_json_begin(run);
        ridge_hlo_layout_write_json(run->cx, &view, object);
        return cli_emit_json(run, object);
    }
    ridge_buf text;
    ridge_buf_init(&text, ridge_ctx_arena(run->cx));
    ridge_hlo_layout_write_text(run->cx, &view, run->has_colour, &text);
    return cli_emit_text(run, &text);
}
