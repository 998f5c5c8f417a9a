#include "derivation_section.h"

static const char *indented(ridge_ctx *cx, const ridge_reason *r)
{
    const char *text =
        ridge_sprintf(ridge_ctx_arena(cx), "%*s%s", 2 * r->depth, "", r->name);
    return text == NULL ? r->name : text;
}

void ridge__derivation_add(ridge_ctx *cx, const ridge_explanation *explanation,
                           ridge_sections *out)
{
    ridge_table *t =
        ridge__section_add(cx, out, "Derivation", "quantity|>value|how|with numbers");
    for (int i = 0; i < explanation->n_reasons; i++) {
        const ridge_reason *r = &explanation->reasons[i];
        ridge_table_cell(t, indented(cx, r));
        ridge_table_cell(t, r->result);
        ridge_table_cell(t, r->formula);
        ridge_table_cell(t, r->values);
    }
}

void ridge__derivation_set(ridge_ctx *cx, const ridge_explanation *explanation,
                           ridge_json *object)
{
    ridge_json *all = ridge_json_set_array(cx, object, "derivation");
    for (int i = 0; i < explanation->n_reasons; i++) {
        const ridge_reason *r = &explanation->reasons[i];
        ridge_json *line = ridge_json_push_object(cx, all);
        ridge_json_set_i64(line, "depth", r->depth);
        ridge_json_set_text(line, "name", r->name);
        ridge_json_set_text(line, "formula", r->formula);
        ridge_json_set_text(line, "values", r->values);
        ridge_json_set_text(line, "result", r->result);
    }
}
