/* A derivation as an indented table, with the sensitivities of the step under it. */
#include "derivation_section.h"

#include "ridge/report.h"

static void build(ridge_ctx *cx, const ridge_explain_view *v, ridge_sections *s)
{
    s->title = v->title;
    ridge__derivation_add(cx, v->explanation, s);
    if (v->n_sensitivity == 0)
        return;
    ridge_table *t =
        ridge__section_add(cx, s, "What would change the step", "change|>step");
    for (int i = 0; i < v->n_sensitivity; i++) {
        double change = v->sensitivity[i].step_change;
        ridge_table_cell(t, v->sensitivity[i].name);
        ridge_table_cellf(t, "%s%s", change > 0 ? "+" : "",
                          ridge_format_percent(change).s);
    }
}

void ridge_explain_write_text(ridge_ctx *cx, const ridge_explain_view *view,
                              bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_explain_write_html(ridge_ctx *cx, const ridge_explain_view *view,
                              ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__page_write(&s, out);
}

void ridge_explain_write_json(ridge_ctx *cx, const ridge_explain_view *v,
                              ridge_json *object)
{
    ridge_json_set_text(object, "title", v->title);
    ridge__derivation_set(cx, v->explanation, object);
    ridge_json *levers = ridge_json_set_array(cx, object, "sensitivity");
    for (int i = 0; i < v->n_sensitivity; i++) {
        ridge_json *line = ridge_json_push_object(cx, levers);
        ridge_json_set_text(line, "change", v->sensitivity[i].name);
        ridge_json_set_double(line, "step_change", v->sensitivity[i].step_change);
    }
}
