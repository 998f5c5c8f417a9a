/* One shape of HLO and its layout: what it takes, and where an element lies. */
#include "section.h"

#include "ridge/report_hlo.h"

static const char *space_text(const ridge_hlo_shape *shape)
{
    switch (ridge_hlo_shape_space(shape)) {
    case RIDGE_HLO_SPACE_HBM:
        return "HBM";
    case RIDGE_HLO_SPACE_FAST:
        return "VMEM";
    case RIDGE_HLO_SPACE_HOST:
        return "the host's";
    default:
        return "another";
    }
}

static const char *dims_text(ridge_ctx *cx, const int64_t *dims, int n)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    for (int i = 0; i < n; i++)
        ridge_buf_printf(&b, "%s%lld", i > 0 ? " x " : "", (long long)dims[i]);
    return b.n ? ridge_buf_text(&b) : "a scalar";
}

static double factor_of(const ridge_hlo_shape *shape)
{
    const double bytes = ridge_hlo_shape_bytes(shape);
    return bytes > 0 ? ridge_hlo_shape_padded_bytes(shape) / bytes : 1;
}

void ridge_hlo_layout_write_text(ridge_ctx *cx, const ridge_hlo_layout_view *v,
                                 bool with_colour, ridge_buf *out)
{
    const ridge_hlo_shape *shape = v->shape;
    ridge_arena *arena = ridge_ctx_arena(cx);
    int64_t padded[RIDGE_HLO_RANK_MAX];
    ridge_hlo_shape_padded_dims(shape, padded);
    ridge_sections s = {.title = v->text};
    ridge_table *t = ridge__section_add(cx, &s, "Layout", "|>");
    ridge__table_pair(t, "dims", dims_text(cx, shape->dims, shape->n));
    ridge__table_pair(t, "padded to tiles", dims_text(cx, padded, shape->n));
    ridge__table_pair(
        t, "bytes",
        ridge_sprintf(arena, "%s", ridge_format_bytes(ridge_hlo_shape_bytes(shape)).s));
    ridge__table_pair(
        t, "padded bytes",
        ridge_sprintf(arena, "%s",
                      ridge_format_bytes(ridge_hlo_shape_padded_bytes(shape)).s));
    ridge__table_pair(
        t, "padding factor",
        ridge_sprintf(arena, "%s", ridge_format_double(factor_of(shape)).s));
    ridge__table_pair(t, "memory", space_text(shape));
    if (v->n_index > 0) {
        ridge__table_pair(
            t, ridge_sprintf(arena, "element %s", dims_text(cx, v->index, v->n_index)),
            ridge_sprintf(arena, "at %lld",
                          (long long)ridge_hlo_shape_offset(shape, v->index)));
        ridge__section_note(&s, "An element's place counts elements from the start, in "
                                "the order in which tiles lie.");
    }
    ridge__sections_write_text(&s, with_colour, out);
}

void ridge_hlo_layout_write_json(ridge_ctx *cx, const ridge_hlo_layout_view *v,
                                 ridge_json *object)
{
    const ridge_hlo_shape *shape = v->shape;
    int64_t padded[RIDGE_HLO_RANK_MAX];
    ridge_hlo_shape_padded_dims(shape, padded);
    ridge_json_set_text(object, "shape", v->text);
    ridge_json *dims = ridge_json_set_array(cx, object, "dims");
    ridge_json *tiled = ridge_json_set_array(cx, object, "padded_dims");
    for (int i = 0; i < shape->n; i++) {
        ridge_json_push_i64(dims, shape->dims[i]);
        ridge_json_push_i64(tiled, padded[i]);
    }
    ridge_json_set_double(object, "bytes", ridge_hlo_shape_bytes(shape));
    ridge_json_set_double(object, "padded_bytes", ridge_hlo_shape_padded_bytes(shape));
    ridge_json_set_double(object, "padding_factor", factor_of(shape));
    ridge_json_set_i64(object, "memory_space", ridge_hlo_shape_space(shape));
    if (v->n_index > 0)
        ridge_json_set_i64(object, "offset", ridge_hlo_shape_offset(shape, v->index));
}
