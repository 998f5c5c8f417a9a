#include "measured_record.h"

#include <string.h>

ridge_status measured_record_of_csv(ridge_ctx *cx, const measured_csv *csv,
                                    const measured_csv_row *header,
                                    const measured_csv_row *row, measured_record *out)
{
    if (row->n != header->n) {
        return ridge_fail(cx, RIDGE_E_PARSE,
                          "%s:%d: %d fields below a header of %d: quote fields that "
                          "hold a comma",
                          csv->path, row->line, row->n, header->n);
    }
    const char *slash = strrchr(csv->path, '/');
    *out = (measured_record){
        .id = ridge_sprintf(ridge_ctx_arena(cx), "%s:%d",
                            slash == NULL ? csv->path : slash + 1, row->line),
        .source = "",
        .line = row->line,
    };
    if (out->id == NULL)
        return ridge_fail_nomem(cx);
    for (int i = 0; i < row->n; i++) {
        if (row->fields[i][0] == '\0')
            continue;
        out->at[out->n++] =
            (measured_field){.name = header->fields[i], .text = row->fields[i]};
    }
    const char *source = measured_record_text(out, "source");
    if (source != NULL)
        out->source = source;
    return RIDGE_OK;
}

/* ---- JSON ------------------------------------------------------------------------ */

static void add_member(measured_record *out, ridge_node item)
{
    measured_field field = {.name = item.key};
    bool is_true;
    if (ridge_json_bool(item, &is_true)) {
        field.text = is_true ? "yes" : "no";
    } else if (!ridge_json_text(item, &field.text) &&
               !ridge_json_double(item, &field.number)) {
        return; /* null, or a list that no operation needs */
    }
    out->at[out->n++] = field;
}

static ridge_status add_object(ridge_ctx *cx, const ridge_node *root, const char *key,
                               measured_record *out)
{
    const ridge_node object = ridge_json_get(root, key);
    if (ridge_json_kind_of(object) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, object, "an object is wanted");
    if (ridge_json_size(object) > (size_t)(MEASURED_RECORD_MAX - out->n))
        return ridge_json_fail(cx, object, "too many members for a measured row");
    ridge_node item = ridge_json_member(&object, 0);
    while (item.key != NULL) {
        add_member(out, item);
        item = ridge_json_member_after(&object, item);
    }
    return RIDGE_OK;
}

ridge_status measured_record_of_json(ridge_ctx *cx, ridge_str line, const char *where,
                                     measured_record *out)
{
    ridge_node root;
    *out = (measured_record){0};
    RIDGE_TRY(ridge_json_parse(cx, line, where, &root));
    if (ridge_json_kind_of(root) != RIDGE_JSON_OBJECT)
        return ridge_json_fail(cx, root, "expected an object a line");
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&root, "id"), &out->id));
    const ridge_node source = ridge_json_get(&root, "source");
    RIDGE_TRY(ridge_json_want_text(cx, ridge_json_get(&source, "title"), &out->source));
    RIDGE_TRY(add_object(cx, &root, "hardware", out));
    RIDGE_TRY(add_object(cx, &root, "config", out));
    return add_object(cx, &root, "measured", out);
}

/* ---- fields ---------------------------------------------------------------------- */

static const measured_field *find_field(const measured_record *r, const char *name)
{
    for (int i = 0; i < r->n; i++) {
        if (strcmp(r->at[i].name, name) == 0)
            return &r->at[i];
    }
    return NULL;
}

const char *measured_record_text(const measured_record *r, const char *name)
{
    const measured_field *f = find_field(r, name);
    return f == NULL ? NULL : f->text;
}

bool measured_record_number(const measured_record *r, const char *name, double *out)
{
    const measured_field *f = find_field(r, name);
    if (f == NULL)
        return false;
    double v = f->number;
    if (f->text != NULL && !ridge_parse_double(ridge_str_of(f->text), &v))
        return false;
    if (!(v > 0) || v > MEASURED_NUMBER_MOST)
        return false;
    *out = v;
    return true;
}

bool measured_record_either(const measured_record *r, const char *name,
                            const char *other, double *out)
{
    return measured_record_number(r, name, out) ||
           measured_record_number(r, other, out);
}
