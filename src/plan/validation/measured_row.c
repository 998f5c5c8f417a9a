#include "measured_row.h"

bool measured_count(const ridge_node *object, const char *key, int64_t *out)
{
    int64_t v;
    if (!ridge_json_i64(ridge_json_get(object, key), &v) || v < 1)
        return false;
    *out = v;
    return true;
}

bool measured_number(const ridge_node *object, const char *key, double *out)
{
    double v;
    if (!ridge_json_double(ridge_json_get(object, key), &v) || !(v > 0))
        return false;
    *out = v;
    return true;
}

const char *measured_text(const ridge_node *object, const char *key)
{
    const char *text;
    return ridge_json_text(ridge_json_get(object, key), &text) ? text : NULL;
}

void measured_assume(measured_gaps *gaps, const char *what)
{
    ridge_buf_printf(&gaps->text, "%s%s", gaps->text.n == 0 ? "" : ", ", what);
}

static ridge_status want_object(ridge_ctx *cx, const ridge_node *root, const char *key,
                                ridge_node *out)
{
    ridge_node n = ridge_json_get(root, key);
    if (ridge_json_kind_of(n) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, n, "expected an object");
    *out = n;
    return RIDGE_OK;
}

static ridge_status read_objects(ridge_ctx *cx, measured_row *row)
{
    ridge_node *root = &row->root;
    ridge_node source;
    if (ridge_json_kind_of(*root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, *root, "expected an object a line");
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(root, "id"), &row->id));
    RIDGE_TRY(want_object(cx, root, "source", &source));
    RIDGE_TRY(want_object(cx, root, "model", &row->model));
    RIDGE_TRY(want_object(cx, root, "hardware", &row->hardware));
    RIDGE_TRY(want_object(cx, root, "plan", &row->plan));
    RIDGE_TRY(want_object(cx, root, "measured", &row->measured));
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&source, "title"), &row->source));
    RIDGE_TRY(
        ridge_json_want_text(cx, ridge_json_get(&row->hardware, "chip"), &row->chip));
    return ridge_json_want_text(cx, ridge_json_get(&row->model, "name"),
                                &row->model_name);
}

ridge_status measured_row_read(ridge_ctx *cx, ridge_str line, const char *file,
                               int number, measured_row *out)
{
    *out = (measured_row){0};
    const char *name = ridge_sprintf(ridge_ctx_arena(cx), "%s:%d", file, number);
    if (name == NULL)
        return ridge_fail_nomem(cx);
    RIDGE_TRY(ridge_json_parse(cx, line, name, &out->root));
    return read_objects(cx, out);
}
