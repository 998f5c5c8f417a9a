#include "error_table.h"

void ridge__error_cell(ridge_table *t, double error)
{
    ridge_table_cellf(t, "%s%s", error > 0 ? "+" : "", ridge_format_percent(error).s);
}

void ridge__error_row(ridge_table *t, const ridge_error_summary *e)
{
    ridge_table_cell(t, e->name);
    ridge_table_cellf(t, "%d", e->rows);
    if (e->rows == 0) {
        ridge_table_cell(t, "-");
        ridge_table_cell(t, "-");
        ridge_table_cell(t, "-");
        return;
    }
    ridge_table_cell(t, ridge_format_percent(e->median_abs).s);
    ridge_table_cell(t, ridge_format_percent(e->p90_abs).s);
    ridge__error_cell(t, e->bias);
}

ridge_table *ridge__error_table(ridge_ctx *cx, ridge_sections *s, const char *title,
                                const char *first)
{
    const char *columns =
        ridge_sprintf(ridge_ctx_arena(cx), "%s|>rows|>median|>p90|>bias", first);
    return ridge__section_add(cx, s, title, columns == NULL ? "" : columns);
}

void ridge__error_set_json(ridge_json *o, const ridge_error_summary *e)
{
    ridge_json_set_i64(o, "rows", e->rows);
    ridge_json_set_double(o, "median_abs_rel_error", e->median_abs);
    ridge_json_set_double(o, "p90_abs_rel_error", e->p90_abs);
    ridge_json_set_double(o, "bias", e->bias);
}

void ridge__error_groups_set_json(ridge_ctx *cx, ridge_json *object, const char *key,
                                  const ridge_error_summary *groups, int n)
{
    ridge_json *o = ridge_json_set_object(cx, object, key);
    for (int i = 0; i < n; i++)
        ridge__error_set_json(ridge_json_set_object(cx, o, groups[i].name), &groups[i]);
}
