/* Shapes of protos. */
#include "hlo_proto.h"
#include "hlo_type.h"

enum { DEPTH_MOST = 64 };

static ridge_status fail(ridge_ctx *cx, const char *what)
{
    return ridge_fail(cx, RIDGE_E_PARSE, "a shape %s: is this an HLO proto?", what);
}

static ridge_status take_layout(ridge_ctx *cx, const Ridge__Hlo__Layout *l,
                                ridge_hlo_shape *out)
{
    ridge_hlo_layout *kept = ridge_new(ridge_ctx_arena(cx), ridge_hlo_layout, 1);
    uint32_t seen = 0;
    if (kept == NULL)
        return ridge_fail_nomem(cx);
    if ((int)l->n_minor_to_major != out->n || l->n_tiles > RIDGE_HLO_TILE_MAX)
        return l->n_minor_to_major == 0 ? RIDGE_OK
                                        : fail(cx, "has a layout of another");
    kept->n = out->n;
    for (int d = 0; d < out->n; d++) {
        const int64_t dim = l->minor_to_major[d];
        if (dim < 0 || dim >= out->n || (seen & 1u << dim))
            return fail(cx, "has a layout that names dims twice");
        seen |= 1u << dim;
        kept->minor_to_major[d] = (signed char)dim;
    }
    for (size_t t = 0; t < l->n_tiles; t++) {
        ridge_hlo_tile *tile = &kept->tiles[kept->n_tiles++];
        if (l->tiles[t]->n_dimensions > RIDGE_HLO_TILE_DIM_MAX)
            return fail(cx, "has a tile of too many dims");
        for (size_t d = 0; d < l->tiles[t]->n_dimensions; d++) {
            const int64_t size = l->tiles[t]->dimensions[d];
            tile->dims[tile->n++] = size > 0 ? size : -1; /* INT64_MIN joins dims */
        }
    }
    kept->element_bits = (int)(l->element_size_in_bits & 0xff);
    kept->memory_space = (int)(l->memory_space & 0xff);
    out->layout = kept;
    return RIDGE_OK;
}

static ridge_status take_dims(ridge_ctx *cx, const Ridge__Hlo__Shape *s,
                              ridge_hlo_shape *out)
{
    int64_t *dims = ridge_new(ridge_ctx_arena(cx), int64_t, s->n_dimensions);
    if (s->n_dimensions > RIDGE_HLO_RANK_MAX)
        return fail(cx, "has too many dims");
    if (dims == NULL)
        return ridge_fail_nomem(cx);
    for (size_t d = 0; d < s->n_dimensions; d++) {
        dims[d] = s->dimensions[d];
        if (dims[d] < 0)
            return fail(cx, "has a negative size");
        if (d < s->n_is_dynamic_dimension && s->is_dynamic_dimension[d])
            out->dynamic |= 1u << d;
    }
    out->dims = dims;
    out->n = (int)s->n_dimensions;
    return s->layout ? take_layout(cx, s->layout, out) : RIDGE_OK;
}

static ridge_status take_parts(ridge_ctx *cx, const Ridge__Hlo__Shape *s, int depth,
                               ridge_hlo_shape *out)
{
    ridge_hlo_shape *parts =
        ridge_new(ridge_ctx_arena(cx), ridge_hlo_shape, s->n_tuple_shapes);
    if (parts == NULL || s->n_tuple_shapes > INT32_MAX)
        return ridge_fail_nomem(cx);
    for (size_t k = 0; k < s->n_tuple_shapes; k++)
        RIDGE_TRY(hlo_proto_shape(cx, s->tuple_shapes[k], depth + 1, &parts[k]));
    out->parts = parts;
    out->n = (int)s->n_tuple_shapes;
    return RIDGE_OK;
}

ridge_status hlo_proto_shape(ridge_ctx *cx, ProtobufCBinaryData bytes, int depth,
                             ridge_hlo_shape *out)
{
    ProtobufCAllocator room = hlo_proto_allocator(ridge_ctx_scratch(cx));
    *out = (ridge_hlo_shape){.n = 0};
    if (depth > DEPTH_MOST)
        return fail(cx, "holds tuples too deep in each other");
    const Ridge__Hlo__Shape *s =
        ridge__hlo__shape__unpack(&room, bytes.len, bytes.data);
    if (s == NULL)
        return fail(cx, "cannot be unpacked");
    if (!hlo_type_of_proto(s->element_type, &out->type))
        return fail(cx, "has an unknown element type");
    return out->type == RIDGE_HLO_TUPLE ? take_parts(cx, s, depth, out)
                                        : take_dims(cx, s, out);
}
