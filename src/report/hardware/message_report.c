/* One message between two chips of a torus, for people and as JSON. */
#include "section.h"

#include "ridge/report.h"

void ridge_message_write_text(ridge_ctx *cx, const ridge_message_view *v,
                              bool with_colour, ridge_buf *out)
{
    ridge_arena *arena = ridge_ctx_arena(cx);
    const ridge_message_route *r = &v->route;
    const ridge_time first = ridge_point_to_point_time(v->slice, 0, r->hops, r->ports);
    const ridge_time all =
        ridge_point_to_point_time(v->slice, v->bytes, r->hops, r->ports);
    ridge_sections s = {
        .title = ridge_sprintf(arena, "%s from %s to %s of %s",
                               ridge_format_bytes(v->bytes).s, v->from, v->to,
                               v->slice->text),
        .subtitle = ridge_sprintf(
            arena, "%lld hops; %d links of %s one way carry it over disjoint ways.",
            (long long)r->hops, r->ports,
            ridge_format_si(v->slice->axes[0].bytes_per_s, "B/s").s)};
    ridge_table *t = ridge__section_add(cx, &s, "Time", "|>expected|>bound|");
    ridge_table_cell(t, "first byte");
    ridge_table_cell(t, ridge_format_seconds(first.expected_s).s);
    ridge_table_cell(t, ridge_format_seconds(first.bound_s).s);
    ridge_table_cell(t, "hops x latency; expected with the software's start");
    ridge_table_cell(t, "all bytes");
    ridge_table_cell(t, ridge_format_seconds(all.expected_s).s);
    ridge_table_cell(t, ridge_format_seconds(all.bound_s).s);
    ridge_table_cell(t, "and bytes / (links x rate)");
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_message_write_json(const ridge_message_view *v, ridge_json *object)
{
    const ridge_message_route *r = &v->route;
    const ridge_time first = ridge_point_to_point_time(v->slice, 0, r->hops, r->ports);
    const ridge_time all =
        ridge_point_to_point_time(v->slice, v->bytes, r->hops, r->ports);
    ridge_json_set_text(object, "kind", "send-recv");
    ridge_json_set_double(object, "bytes", v->bytes);
    ridge_json_set_text(object, "slice", v->slice->text);
    ridge_json_set_text(object, "from", v->from);
    ridge_json_set_text(object, "to", v->to);
    ridge_json_set_i64(object, "hops", r->hops);
    ridge_json_set_i64(object, "ports", r->ports);
    ridge_json_set_double(object, "first_byte_s", first.expected_s);
    ridge_json_set_double(object, "bound_first_byte_s", first.bound_s);
    ridge_json_set_double(object, "time_s", all.expected_s);
    ridge_json_set_double(object, "bound_time_s", all.bound_s);
}
