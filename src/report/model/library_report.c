/*
 * The catalogue of models with the totals of each, as text, as a page and as JSON.
 */
#include "section.h"

#include "ridge/report.h"

static ridge_status add_models(ridge_ctx *cx, const ridge_library *library,
                               ridge_sections *out)
{
    ridge_table *t = ridge__section_add(
        cx, out, "", "model|>parameters|>active|>layers|>width|>context|>KV a token");
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        const ridge_model *model = NULL;
        RIDGE_TRY(
            ridge_model_load(cx, library, ridge_library_name(library, i), &model));
        ridge_params p = ridge_model_params(model);
        ridge_kv kv = ridge_model_kv(model, RIDGE_DTYPE_BF16);
        ridge_table_cell(t, ridge_library_name(library, i));
        ridge_table_cell(t, ridge_format_count((double)p.total).s);
        ridge_table_cell(t, ridge_format_count((double)p.active).s);
        ridge_table_cell(t, ridge_format_exact(model->layer_count).s);
        ridge_table_cell(t, ridge_format_exact(model->d_model).s);
        ridge_table_cell(
            t, model->max_positions ? ridge_format_exact(model->max_positions).s : "-");
        ridge_table_cell(t, ridge_format_bytes(kv.bytes_per_token).s);
    }
    return RIDGE_OK;
}

ridge_status ridge_library_write_text(ridge_ctx *cx, const ridge_library *library,
                                      bool with_colour, ridge_buf *out)
{
    ridge_sections sections = {.n = 0};
    RIDGE_TRY(add_models(cx, library, &sections));
    ridge__sections_write_text(&sections, with_colour, out);
    return RIDGE_OK;
}

ridge_status ridge_library_write_html(ridge_ctx *cx, const ridge_library *library,
                                      ridge_buf *out)
{
    ridge_sections sections = {.n = 0};
    RIDGE_TRY(add_models(cx, library, &sections));
    ridge_html_begin(out, "Models", "Totals of every model of the catalogue");
    ridge__page_end(&sections, out);
    return RIDGE_OK;
}

ridge_status ridge_library_write_json(ridge_ctx *cx, const ridge_library *library,
                                      ridge_json *object)
{
    ridge_json *models = ridge_json_set_array(cx, object, "models");
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        const ridge_model *model = NULL;
        RIDGE_TRY(
            ridge_model_load(cx, library, ridge_library_name(library, i), &model));
        ridge_params p = ridge_model_params(model);
        ridge_json *row = ridge_json_push_object(cx, models);
        ridge_json_set_text(row, "name", ridge_library_name(library, i));
        ridge_json_set_i64(row, "total", p.total);
        ridge_json_set_i64(row, "active", p.active);
        ridge_json_set_i64(row, "layers", model->layer_count);
        ridge_json_set_i64(row, "d_model", model->d_model);
        ridge_json_set_i64(row, "max_positions", model->max_positions);
        ridge_json_set_double(row, "kv_bytes_per_token",
                              ridge_model_kv(model, RIDGE_DTYPE_BF16).bytes_per_token);
    }
    return RIDGE_OK;
}
