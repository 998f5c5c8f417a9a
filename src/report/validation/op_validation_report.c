/* Predicted against measured operations: the distribution of the errors, every row. */
#include "error_table.h"

#include "ridge/report.h"

static void add_groups(ridge_ctx *cx, const ridge_error_groups *groups,
                       const char *title, const char *first, ridge_sections *s)
{
    ridge_table *t = ridge__error_table(cx, s, title, first);
    for (int i = 0; i < groups->n; i++)
        ridge__error_row(t, &groups->at[i]);
}

static void add_summaries(ridge_ctx *cx, const ridge_op_validation *v,
                          ridge_sections *s)
{
    ridge_table *t = ridge__error_table(cx, s, "Error of the time", "measured time");
    for (int i = 0; i < v->by_duration.n; i++)
        ridge__error_row(t, &v->by_duration.at[i]);
    ridge_table_rule(t);
    ridge__error_row(t, &v->all);
    ridge__section_note(
        s,
        "Error: predicted / measured - 1; median and p90 of its absolute value, bias "
        "its median. Rows measured faster than the physical bound are refused.");
    add_groups(cx, &v->by_kind, "By kind", "kind", s);
    add_groups(cx, &v->by_chip, "By chip", "chip", s);
    add_groups(cx, &v->by_chip_kind, "By chip and kind", "chip, kind", s);
    add_groups(cx, &v->by_source, "By source", "source", s);
}

static void add_rows(ridge_ctx *cx, const ridge_op_validation *v, ridge_sections *s)
{
    ridge_table *t = ridge__section_add(
        cx, s, "Rows", "row|chip|kind|what|>measured|>predicted|>bound|>error");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_op_row *r = &v->rows[i];
        if (!r->is_predicted)
            continue;
        ridge_table_cell(t, r->id);
        ridge_table_cell(t, r->chip);
        ridge_table_cell(t, r->kind);
        ridge_table_cell(t, r->what);
        ridge_table_cell(t, ridge_format_seconds(r->measured_s).s);
        ridge_table_cell(t, ridge_format_seconds(r->predicted_s).s);
        ridge_table_cell(t, ridge_format_seconds(r->bound_s).s);
        ridge__error_cell(t, r->relative_error);
    }
}

static void add_skipped(ridge_ctx *cx, const ridge_op_validation *v, ridge_sections *s)
{
    if (v->n_predicted == v->n_rows)
        return;
    ridge_table *t = ridge__section_add(cx, s, "Not predicted", "row|chip|kind|why");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_op_row *r = &v->rows[i];
        if (r->is_predicted)
            continue;
        ridge_table_cell(t, r->id);
        ridge_table_cell(t, r->chip);
        ridge_table_cell(t, r->kind);
        ridge_table_cell(t, r->why_skipped == NULL ? "" : r->why_skipped);
    }
}

static void build(ridge_ctx *cx, const ridge_op_validation_view *view,
                  ridge_sections *s)
{
    const ridge_op_validation *v = view->validation;
    ridge_arena *arena = ridge_ctx_arena(cx);
    s->title = ridge_sprintf(arena, "%s: predicted against measured", view->path);
    s->subtitle = ridge_sprintf(
        arena,
        "%d rows: %d predicted, %d refused (faster than the bound), %d others not",
        v->n_rows, v->n_predicted, v->n_refused,
        v->n_rows - v->n_predicted - v->n_refused);
    add_summaries(cx, v, s);
    if (view->has_rows) {
        add_rows(cx, v, s);
        add_skipped(cx, v, s);
    }
}

void ridge_op_validation_write_text(ridge_ctx *cx, const ridge_op_validation_view *view,
                                    bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_op_validation_write_html(ridge_ctx *cx, const ridge_op_validation_view *view,
                                    ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_write(&s, out);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void set_row(ridge_ctx *cx, ridge_json *array, const ridge_op_row *r)
{
    ridge_json *o = ridge_json_push_object(cx, array);
    ridge_json_set_text(o, "id", r->id);
    ridge_json_set_text(o, "chip", r->chip);
    ridge_json_set_text(o, "kind", r->kind);
    ridge_json_set_text(o, "what", r->what);
    ridge_json_set_text(o, "source", r->source);
    ridge_json_set_double(o, "measured_s", r->measured_s);
    ridge_json_set_double(o, "predicted_s", r->predicted_s);
    ridge_json_set_double(o, "bound_s", r->bound_s);
    ridge_json_set_double(o, "rel_error", r->relative_error);
}

static void set_skipped(ridge_ctx *cx, ridge_json *object, const ridge_op_validation *v)
{
    ridge_json *skipped = ridge_json_set_array(cx, object, "skipped");
    for (int i = 0; i < v->n_rows; i++) {
        const ridge_op_row *r = &v->rows[i];
        if (r->is_predicted)
            continue;
        ridge_json *o = ridge_json_push_object(cx, skipped);
        ridge_json_set_text(o, "id", r->id);
        ridge_json_set_text(o, "why", r->why_skipped);
        ridge_json_set_bool(o, "beats_bound", r->beats_bound);
    }
}

void ridge_op_validation_write_json(ridge_ctx *cx, const ridge_op_validation_view *view,
                                    ridge_json *object)
{
    const ridge_op_validation *v = view->validation;
    ridge_json_set_text(object, "measured", "operations");
    ridge_json_set_i64(object, "rows", v->n_rows);
    ridge_json_set_i64(object, "predicted", v->n_predicted);
    ridge_json_set_i64(object, "refused", v->n_refused);
    ridge_json_set_double(object, "median_abs_rel_error", v->all.median_abs);
    ridge_json_set_double(object, "p90_abs_rel_error", v->all.p90_abs);
    ridge_json_set_double(object, "bias", v->all.bias);
    ridge__error_groups_set_json(cx, object, "by_duration", v->by_duration.at,
                                 v->by_duration.n);
    ridge__error_groups_set_json(cx, object, "by_kind", v->by_kind.at, v->by_kind.n);
    ridge__error_groups_set_json(cx, object, "by_chip", v->by_chip.at, v->by_chip.n);
    ridge__error_groups_set_json(cx, object, "by_chip_kind", v->by_chip_kind.at,
                                 v->by_chip_kind.n);
    ridge__error_groups_set_json(cx, object, "by_source", v->by_source.at,
                                 v->by_source.n);
    set_skipped(cx, object, v);
    if (!view->has_rows)
        return;
    ridge_json *rows = ridge_json_set_array(cx, object, "row");
    for (int i = 0; i < v->n_rows; i++) {
        if (v->rows[i].is_predicted)
            set_row(cx, rows, &v->rows[i]);
    }
}
