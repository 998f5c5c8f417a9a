/* Modules that were timed beside what is expected of them. */
#include "hlo_section.h"

static ridge_sections sections_of(ridge_ctx *cx, const char *path,
                                  const ridge_hlo_measurements *m)
{
    ridge_sections all = {.title = path};
    ridge_table *t = ridge__section_add(cx, &all, "",
                                        "module|on|>measured|>expected|>range||>error");
    for (int k = 0; k < m->n; k++) {
        const ridge_hlo_measured *r = &m->rows[k];
        ridge_table_cell(t, r->file);
        ridge_table_cell(t, r->on);
        ridge_table_cell(t, ridge_format_seconds(r->measured_s).s);
        ridge_table_cell(t, ridge_format_seconds(r->expected_s).s);
        ridge_table_cell(t, ridge_format_seconds(r->low_s).s);
        ridge_table_cell(t, ridge_format_seconds(r->high_s).s);
        if (r->is_whole)
            ridge_table_cell(t, "not partitioned");
        else
            ridge_table_cellf(t, "%+.1f %%", 100 * r->error);
    }
    if (m->n_counted > 0)
        ridge__section_note(
            &all, ridge_sprintf(ridge_ctx_arena(cx),
                                "%d of %d counted: median error %s, p90 %s, bias %+.1f "
                                "%%; %d measured within the range.",
                                m->n_counted, m->n,
                                ridge_format_percent(m->median_abs_error).s,
                                ridge_format_percent(m->p90_abs_error).s, 100 * m->bias,
                                m->n_within));
    return all;
}

void ridge_hlo_measurements_write_text(ridge_ctx *cx, const char *path,
                                       const ridge_hlo_measurements *m,
                                       bool with_colour, ridge_buf *out)
{
    const ridge_sections all = sections_of(cx, path, m);
    ridge__sections_write_text(&all, with_colour, out);
}

void ridge_hlo_measurements_write_html(ridge_ctx *cx, const char *path,
                                       const ridge_hlo_measurements *m, ridge_buf *out)
{
    const ridge_sections all = sections_of(cx, path, m);
    ridge__page_write(&all, out);
}

void ridge_hlo_measurements_write_json(ridge_ctx *cx, const ridge_hlo_measurements *m,
                                       ridge_json *object)
{
    ridge_json_set_i64(object, "rows", m->n);
    ridge_json_set_i64(object, "predicted", m->n_counted);
    ridge_json_set_double(object, "median_abs_rel_error", m->median_abs_error);
    ridge_json_set_double(object, "p90_abs_rel_error", m->p90_abs_error);
    ridge_json_set_double(object, "bias", m->bias);
    ridge_json_set_i64(object, "within_range", m->n_within);
    ridge_json *list = ridge_json_set_array(cx, object, "modules");
    for (int k = 0; k < m->n; k++) {
        const ridge_hlo_measured *r = &m->rows[k];
        ridge_json *o = ridge_json_push_object(cx, list);
        ridge_json_set_text(o, "file", r->file);
        ridge_json_set_text(o, "on", r->on);
        ridge_json_set_double(o, "measured_s", r->measured_s);
        ridge_json_set_double(o, "expected_s", r->expected_s);
        ridge_json_set_bool(o, "is_partitioned", !r->is_whole);
        ridge_json_set_double(o, "error", r->error);
    }
}
