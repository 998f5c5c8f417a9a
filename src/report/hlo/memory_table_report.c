/* Memory at its peak: by group, the largest arrays, what layouts pad. */
#include "section.h"

#include "ridge/report_memory_table.h"

static const char *share_text(double part, double whole, ridge_text *room)
{
    *room = ridge_format_percent(whole > 0 ? part / whole : 0);
    return room->s;
}

static double padding_of(const ridge_memory_table *t)
{
    return t->unpadded_bytes > 0 && t->unpadded_bytes < t->peak_bytes
               ? t->peak_bytes - t->unpadded_bytes
               : 0;
}

static void add_peak(ridge_ctx *cx, const ridge_memory_table_view *v,
                     ridge_sections *out)
{
    const ridge_memory_table *t = v->table;
    ridge_text room;
    ridge_table *table =
        ridge__section_add(cx, out, "Memory at its peak", "part|>bytes|>share|>arrays");
    for (int i = 0; i < t->n_groups; i++) {
        ridge_table_cell(table, t->groups[i].name);
        ridge_table_cell(table, ridge_format_bytes(t->groups[i].bytes).s);
        ridge_table_cell(table, share_text(t->groups[i].bytes, t->peak_bytes, &room));
        ridge_table_cell(table, ridge_format_exact(t->groups[i].arrays).s);
    }
    ridge_table_rule(table);
    ridge_table_cell(table, "peak");
    ridge_table_cell(table, ridge_format_bytes(t->peak_bytes).s);
    ridge_table_cell(table, share_text(1, 1, &room));
    ridge_table_cell(table, ridge_format_exact((int64_t)t->n_arrays).s);
    if (v->chip != NULL)
        ridge__section_note(
            out, ridge_sprintf(ridge_ctx_arena(cx), "%s of %s of HBM of %s; %s",
                               share_text(t->peak_bytes, v->chip->hbm_bytes, &room),
                               ridge_format_bytes(v->chip->hbm_bytes).s, v->chip->name,
                               t->peak_bytes <= v->chip->hbm_bytes
                                   ? "the rest is free, less what the runtime reserves."
                                   : "it does not fit."));
}

static void add_sizes(ridge_ctx *cx, const ridge_memory_table *t, ridge_sections *out)
{
    ridge_table *table = ridge__section_add(cx, out, "Sizes", "what|>bytes");
    ridge__table_pair(table, "padding at the peak, of layouts",
                      ridge_format_bytes(padding_of(t)).s);
    if (t->parameters_bytes > 0)
        ridge__table_pair(table, "parameters of the program",
                          ridge_format_bytes(t->parameters_bytes).s);
    if (t->allocated_bytes > 0)
        ridge__table_pair(table, "allocated in all",
                          ridge_format_bytes(t->allocated_bytes).s);
}

static void add_arrays(ridge_ctx *cx, const ridge_memory_table_view *v,
                       ridge_sections *out)
{
    const ridge_memory_table *t = v->table;
    ridge_text room;
    ridge_table *table =
        ridge__section_add(cx, out, "Largest arrays at the peak",
                           "array|part|>bytes|>share|>padding|shape|of the program");
    for (size_t i = 0; i < t->n_arrays && i < (size_t)v->top; i++) {
        const ridge_memory_array *a = &t->arrays[i];
        const double padding = a->unpadded_bytes > 0 && a->unpadded_bytes < a->bytes
                                   ? a->bytes - a->unpadded_bytes
                                   : 0;
        ridge_table_cell(table, a->name);
        ridge_table_cell(table, a->group);
        ridge_table_cell(table, ridge_format_bytes(a->bytes).s);
        ridge_table_cell(table, share_text(a->bytes, t->peak_bytes, &room));
        ridge_table_cell(table,
                         padding > 0 ? share_text(padding, a->bytes, &room) : "");
        ridge_table_cell(table, a->shape);
        ridge_table_cell(table, a->scope);
    }
}

static ridge_sections sections_of(ridge_ctx *cx, const ridge_memory_table_view *v)
{
    const ridge_memory_table *t = v->table;
    ridge_arena *arena = ridge_ctx_arena(cx);
    ridge_sections out = {.title = t->module[0] != 0 ? t->module : v->path};
    out.subtitle =
        t->instruction[0] == 0
            ? "A device's memory, as XProf's memory viewer computed it."
            : ridge_sprintf(arena,
                            "A device's memory, as XProf's memory viewer computed it; "
                            "fullest at %s.",
                            t->instruction);
    add_peak(cx, v, &out);
    add_sizes(cx, t, &out);
    add_arrays(cx, v, &out);
    return out;
}

void ridge_memory_table_write_text(ridge_ctx *cx, const ridge_memory_table_view *view,
                                   bool with_colour, ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__sections_write_text(&sections, with_colour, out);
}

void ridge_memory_table_write_html(ridge_ctx *cx, const ridge_memory_table_view *view,
                                   ridge_buf *out)
{
    const ridge_sections sections = sections_of(cx, view);
    ridge__page_write(&sections, out);
}

void ridge_memory_table_write_json(ridge_ctx *cx, const ridge_memory_table_view *view,
                                   ridge_json *object)
{
    const ridge_memory_table *t = view->table;
    ridge_json_set_text(object, "module", t->module);
    ridge_json_set_double(object, "peak_memory_bytes", t->peak_bytes);
    ridge_json_set_positive(object, "unpadded_bytes", t->unpadded_bytes);
    ridge_json_set_positive(object, "allocated_bytes", t->allocated_bytes);
    ridge_json_set_positive(object, "parameters_bytes", t->parameters_bytes);
    ridge_json_set_text(object, "fullest_at", t->instruction);
    ridge_json_set_text(object, "chip", view->chip == NULL ? NULL : view->chip->name);
    ridge_json *groups = ridge_json_set_array(cx, object, "groups");
    for (int i = 0; i < t->n_groups; i++) {
        ridge_json *o = ridge_json_push_object(cx, groups);
        ridge_json_set_text(o, "name", t->groups[i].name);
        ridge_json_set_double(o, "bytes", t->groups[i].bytes);
        ridge_json_set_i64(o, "arrays", t->groups[i].arrays);
    }
    ridge_json *arrays = ridge_json_set_array(cx, object, "arrays");
    for (size_t i = 0; i < t->n_arrays; i++) {
        const ridge_memory_array *a = &t->arrays[i];
        ridge_json *o = ridge_json_push_object(cx, arrays);
        ridge_json_set_text(o, "name", a->name);
        ridge_json_set_text(o, "opcode", a->opcode);
        ridge_json_set_text(o, "group", a->group);
        ridge_json_set_text(o, "shape", a->shape);
        ridge_json_set_text(o, "scope", a->scope);
        ridge_json_set_double(o, "bytes", a->bytes);
        ridge_json_set_positive(o, "unpadded_bytes", a->unpadded_bytes);
    }
}
