/* Instructions of the partitioned module, one by one. */
#include "spmd_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- arrays -----------------------------------------------------------------------
 */

spmd_array spmd_array_of(ridge_hlo_type type, int n, const int64_t *dims)
{
    spmd_array a = {.type = type, .n = n};
    for (int d = 0; d < n; d++)
        a.dims[d] = dims[d];
    return a;
}

spmd_array spmd_scalar_of(ridge_hlo_type type)
{
    return spmd_array_of(type, 0, NULL);
}

spmd_array spmd_array_local(const spmd *m, int value, const ridge_sharding *s)
{
    const ridge_hlo_shape *shape = spmd_value_at(m, value)->shape;
    spmd_array a = {.type = shape->type};
    if (ridge_hlo_shape_is_tuple(shape))
        return a;
    a.n = shape->n;
    a.layout = shape->layout;
    for (int d = 0; d < shape->n; d++)
        a.dims[d] = d < s->n_dims && s->dims[d].n > 0
                        ? ridge_dim_local(&m->mesh, &s->dims[d], shape->dims[d])
                        : shape->dims[d];
    return a;
}

void spmd_type_put(ridge_buf *out, const spmd_array *a)
{
    ridge_buf_printf(out, "%s[", ridge_hlo_type_text(a->type));
    for (int d = 0; d < a->n; d++)
        ridge_buf_printf(out, "%s%lld", d ? "," : "", (long long)a->dims[d]);
    ridge_buf_puts(out, "]");
    if (a->layout == NULL || a->layout->n != a->n || a->n < 2)
        return;
    for (int d = 0; d < a->n; d++)
        ridge_buf_printf(out, "%c%d", d ? ',' : '{', a->layout->minor_to_major[d]);
    ridge_buf_puts(out, "}");
}

void spmd_array_open(spmd_writer *w, const char *stem, spmd_array *out)
{
    out->name = ridge_sprintf(ridge_ctx_arena(w->m->cx), "%%%s.%d", stem, ++w->n_names);
    if (out->name == NULL) { /* the buffer cannot grow either, and tells in the end */
        out->name = "";
        w->out->is_short = true;
    }
    ridge_buf_printf(w->out, "  %s = ", out->name);
    spmd_type_put(w->out, out);
    ridge_buf_puts(w->out, " ");
}

spmd_array spmd_array_put(spmd_writer *w, const char *stem, const spmd_array *like,
                          const char *fmt, ...)
{
    spmd_array a = *like;
    va_list args, again;
    spmd_array_open(w, stem, &a);
    va_start(args, fmt);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    char *text = ridge_new(ridge_ctx_arena(w->m->cx), char, (size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
    w->out->is_short |= text == NULL;
    ridge_buf_add(w->out, (ridge_str){text ? text : "", text ? (size_t)n : 0});
    ridge_buf_puts(w->out, "\n");
    return a;
}

spmd_array spmd_broadcast_put(spmd_writer *w, const spmd_array *like,
                              const char *scalar)
{
    return spmd_array_put(w, "broadcast", like, "broadcast(%s), dimensions={}", scalar);
}

spmd_array spmd_constant_put(spmd_writer *w, const spmd_array *like, const char *text)
{
    const spmd_array scalar = spmd_scalar_of(like->type);
    const spmd_array c = spmd_array_put(w, "constant", &scalar, "constant(%s)", text);
    return like->n == 0 ? c : spmd_broadcast_put(w, like, c.name);
}

spmd_array spmd_mask_put(spmd_writer *w, const spmd_array *array, int dim,
                         const char *length, const char *neutral)
{
    const spmd_array places = spmd_array_of(RIDGE_HLO_S32, array->n, array->dims);
    const spmd_array is_there = spmd_array_of(RIDGE_HLO_PRED, array->n, array->dims);
    const spmd_array at =
        spmd_array_put(w, "iota", &places, "iota(), iota_dimension=%d", dim);
    const spmd_array end = spmd_broadcast_put(w, &places, length);
    const spmd_array in = spmd_array_put(
        w, "within", &is_there, "compare(%s, %s), direction=LT", at.name, end.name);
    const spmd_array rest = spmd_constant_put(w, array, neutral);
    return spmd_array_put(w, "masked", array, "select(%s, %s, %s)", in.name,
                          array->name, rest.name);
}

/* ---- this device's place ----------------------------------------------------------
 */

static const char *put_scalar(spmd_writer *w, const char *code, const char *a,
                              const char *b)
{
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    return spmd_array_put(w, "at", &s32, "%s(%s, %s)", code, a, b).name;
}

static const char *put_number(spmd_writer *w, int64_t x)
{
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    return spmd_array_put(w, "constant", &s32, "constant(%lld)", (long long)x).name;
}

/* device / stride % size */
static const char *put_digit(spmd_writer *w, const char *device, int axis)
{
    int64_t stride = 1;
    const ridge_mesh *mesh = &w->m->mesh;
    for (int a = axis + 1; a < mesh->n; a++)
        stride *= mesh->axes[a].size;
    const char *digit = device;
    if (stride > 1)
        digit = put_scalar(w, "divide", digit, put_number(w, stride));
    if (axis > 0)
        digit = put_scalar(w, "remainder", digit, put_number(w, mesh->axes[axis].size));
    return digit;
}

static const char *put_device(spmd_writer *w)
{
    const spmd_array u32 = spmd_scalar_of(RIDGE_HLO_U32);
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    const spmd_array id = spmd_array_put(w, "partition", &u32, "partition-id()");
    return spmd_array_put(w, "device", &s32, "convert(%s)", id.name).name;
}

const char *spmd_coordinate(spmd_writer *w, const ridge_dim_axes *axes)
{
    return spmd_place_of(w, axes, ridge_dim_ways(&w->m->mesh, axes)).offset;
}

static bool is_same(const ridge_dim_axes *a, const ridge_dim_axes *b)
{
    return a->n == b->n &&
           memcmp(a->axes, b->axes, (size_t)a->n * sizeof *a->axes) == 0;
}

/* Chunk by chunk from outside: what lies before, and what is left of the chunk. */
static void put_place(spmd_writer *w, spmd_place *p)
{
    const ridge_mesh *mesh = &w->m->mesh;
    const char *device = put_device(w), *left = NULL;
    int64_t chunk = p->size;
    bool is_even = true;
    for (int k = 0; k < p->axes.n; k++) {
        const int64_t ways = mesh->axes[p->axes.axes[k]].size;
        const int64_t part = ridge_ceil_div(chunk, ways);
        const char *digit = put_digit(w, device, p->axes.axes[k]);
        const char *before =
            part == 1 ? digit : put_scalar(w, "multiply", digit, put_number(w, part));
        p->offset = p->offset ? put_scalar(w, "add", p->offset, before) : before;
        is_even = is_even && chunk % ways == 0;
        if (!is_even) { /* min(part, what is left of the outer chunk - before) */
            const char *outer = left ? left : put_number(w, chunk);
            const char *rest = put_scalar(w, "subtract", outer, before);
            left = put_scalar(w, "minimum", rest, put_number(w, part));
        }
        chunk = part;
    }
    p->length = left ? put_scalar(w, "maximum", left, put_number(w, 0)) : NULL;
}

spmd_place spmd_place_of(spmd_writer *w, const ridge_dim_axes *axes, int64_t size)
{
    const spmd_place *all = (const spmd_place *)(const void *)w->places.items;
    for (int k = 0; k < w->places.n; k++) {
        if (all[k].graph == w->graph && all[k].size == size &&
            is_same(&all[k].axes, axes))
            return all[k];
    }
    spmd_place p = {.graph = w->graph, .axes = *axes, .size = size};
    put_place(w, &p);
    spmd_place *kept = hlo_list_push(w->m->scratch, &w->places);
    if (kept)
        *kept = p;
    return p;
}

const char *spmd_sharding_text(const spmd *m, const ridge_sharding *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(m->cx));
    ridge_buf_puts(&b, "[");
    for (int d = 0; d < s->n_dims; d++) {
        ridge_buf_puts(&b, d ? "," : "");
        for (int k = 0; k < s->dims[d].n; k++)
            ridge_buf_printf(&b, "%s%s", k ? "+" : "",
                             m->mesh.axes[s->dims[d].axes[k]].name);
        ridge_buf_puts(&b, s->dims[d].n ? "" : "_");
    }
    ridge_buf_puts(&b, "]");
    const char *word = " sums over ";
    for (int a = 0; a < m->mesh.n; a++) {
        if (!(s->partial & 1U << a))
            continue;
        ridge_buf_printf(&b, "%s%s", word, m->mesh.axes[a].name);
        word = "+";
    }
    return ridge_buf_text(&b);
}
