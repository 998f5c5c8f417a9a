/* A derivation as an indented table, with the sensitivities under it. */
#include "service_sections.h"

static const char *indented(ridge_ctx *cx, const ridge_reason *r)
{
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%*s%s", 2 * r->depth, "", r->name);
    return text == NULL ? r->name : text;
}

static void build(ridge_ctx *cx, const ridge_service_explain_view *v, ridge_sections *s)
{
    s->title = v->title;
    ridge_table *t =
        ridge__section_add(cx, s, "Derivation", "quantity|>value|how|with numbers");
    for (int i = 0; i < v->explanation->n_reasons; i++) {
        const ridge_reason *r = &v->explanation->reasons[i];
        ridge_table_cell(t, indented(cx, r));
        ridge_table_cell(t, r->result);
        ridge_table_cell(t, r->formula);
        ridge_table_cell(t, r->values);
    }
    ridge__service_sensitivities_add(cx, v->sensitivity, v->n_sensitivity, s);
}

void ridge_service_explain_write_text(ridge_ctx *cx,
                                      const ridge_service_explain_view *view,
                                      bool with_colour, ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_service_explain_write_html(ridge_ctx *cx,
                                      const ridge_service_explain_view *view,
                                      ridge_buf *out)
{
    ridge_sections s = {0};
    build(cx, view, &s);
    ridge_html_begin(out, s.title, "");
    ridge__sections_write_html(&s, out);
    ridge_html_end(out);
}

void ridge_service_explain_write_json(ridge_ctx *cx,
                                      const ridge_service_explain_view *v,
                                      ridge_json *object)
{
    ridge_json_set_text(object, "title", v->title);
    ridge_json *all = ridge_json_set_array(cx, object, "derivation");
    for (int i = 0; i < v->explanation->n_reasons; i++) {
        const ridge_reason *r = &v->explanation->reasons[i];
        ridge_json *line = ridge_json_push_object(cx, all);
        ridge_json_set_i64(line, "depth", r->depth);
        ridge_json_set_text(line, "name", r->name);
        ridge_json_set_text(line, "formula", r->formula);
        ridge_json_set_text(line, "values", r->values);
        ridge_json_set_text(line, "result", r->result);
    }
    ridge__service_sensitivities_to_json(cx, v->sensitivity, v->n_sensitivity, object);
}
