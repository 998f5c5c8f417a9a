/* A derivation as an indented table, with the sensitivities under it. */
#include "derivation_section.h"
#include "service_sections.h"

static void build(ridge_ctx *cx, const ridge_service_explain_view *v, ridge_sections *s)
{
    s->title = v->title;
    ridge__derivation_add(cx, v->explanation, s);
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
    ridge__page_write(&s, out);
}

void ridge_service_explain_write_json(ridge_ctx *cx,
                                      const ridge_service_explain_view *v,
                                      ridge_json *object)
{
    ridge_json_set_text(object, "title", v->title);
    ridge__derivation_set(cx, v->explanation, object);
    ridge__service_sensitivities_to_json(cx, v->sensitivity, v->n_sensitivity, object);
}
