/* What a shape holds and takes: elements, bytes, tiles, offsets, text.
 * @source xla-layout-2025 */
#include "ridge/profile_hlo.h"

enum {
    PHYSICAL_MAX = RIDGE_HLO_RANK_MAX + RIDGE_HLO_TILE_MAX * RIDGE_HLO_TILE_DIM_MAX,
    BYTE_BITS = 8
};

bool ridge_hlo_shape_is_tuple(const ridge_hlo_shape *shape)
{
    return shape->type == RIDGE_HLO_TUPLE;
}

double ridge_hlo_shape_elements(const ridge_hlo_shape *shape)
{
    double n = 1;
    if (ridge_hlo_shape_is_tuple(shape)) {
        n = 0;
        for (int i = 0; i < shape->n; i++)
            n += ridge_hlo_shape_elements(&shape->parts[i]);
        return n;
    }
    if (ridge_hlo_type_bits(shape->type) == 0 || shape->is_unknown)
        return 0;
    for (int d = 0; d < shape->n; d++)
        n *= (double)shape->dims[d];
    return n;
}

double ridge_hlo_shape_bytes(const ridge_hlo_shape *shape)
{
    double bytes = 0;
    if (!ridge_hlo_shape_is_tuple(shape))
        return ridge_hlo_shape_elements(shape) * ridge_hlo_type_bits(shape->type) /
               BYTE_BITS;
    for (int i = 0; i < shape->n; i++)
        bytes += ridge_hlo_shape_bytes(&shape->parts[i]);
    return bytes;
}

int ridge_hlo_shape_space(const ridge_hlo_shape *shape)
{
    return shape->layout ? shape->layout->memory_space : RIDGE_HLO_SPACE_HBM;
}

/* ---- tiles ----------------------------------------------------------------------- */

/** Dims as they lie in memory, outermost first, with an index in each. */
typedef struct physical {
    int n;
    double sizes[PHYSICAL_MAX];
    int64_t index[PHYSICAL_MAX];
    bool is_joined; /* the index no longer tells where */
} physical;

static physical untiled(const ridge_hlo_shape *shape, const int64_t *index)
{
    physical p = {.n = shape->n};
    for (int i = 0; i < shape->n; i++) {
        const int dim =
            shape->layout ? shape->layout->minor_to_major[shape->n - 1 - i] : i;
        p.sizes[i] = (double)shape->dims[dim];
        p.index[i] = index ? index[dim] : 0;
    }
    return p;
}

/* As many dims as the tile has, at least: ones outside. */
static void widen(physical *p, int n)
{
    while (p->n < n) {
        for (int i = p->n; i > 0; i--) {
            p->sizes[i] = p->sizes[i - 1];
            p->index[i] = p->index[i - 1];
        }
        p->sizes[0] = 1;
        p->index[0] = 0;
        p->n++;
    }
}

/* Join the dim at @p at to the next inner one. */
static void join(physical *p, int at)
{
    p->sizes[at + 1] *= p->sizes[at];
    p->is_joined = true;
    p->n--;
    for (int i = at; i < p->n; i++) {
        p->sizes[i] = p->sizes[i + 1];
        p->index[i] = p->index[i + 1];
    }
}

static double ceil_div(double a, double b)
{
    const double q = (double)(int64_t)(a / b);
    return q * b < a ? q + 1 : q;
}

static void apply_tile(physical *p, const ridge_hlo_tile *tile)
{
    int64_t sizes[RIDGE_HLO_TILE_DIM_MAX];
    int n = 0;
    widen(p, tile->n);
    int at = p->n - tile->n;
    for (int i = 0; i < tile->n; i++) {
        if (tile->dims[i] < 0 && at + n + 1 < p->n)
            join(p, at + n);
        else
            sizes[n++] = tile->dims[i] < 0 ? 1 : tile->dims[i];
    }
    at = p->n - n;
    if (p->n + n > PHYSICAL_MAX)
        return;
    for (int i = 0; i < n; i++) {
        p->sizes[p->n + i] = (double)sizes[i];
        p->index[p->n + i] = p->index[at + i] % sizes[i];
        p->sizes[at + i] = ceil_div(p->sizes[at + i], (double)sizes[i]);
        p->index[at + i] /= sizes[i];
    }
    p->n += n;
}

static physical tiled(const ridge_hlo_shape *shape, const int64_t *index)
{
    physical p = untiled(shape, index);
    for (int t = 0; shape->layout && t < shape->layout->n_tiles; t++)
        apply_tile(&p, &shape->layout->tiles[t]);
    return p;
}

/* A sub-byte type without E(n) takes a byte an element once it has been laid out. */
static int stored_bits(const ridge_hlo_shape *shape)
{
    const int own = ridge_hlo_type_bits(shape->type);
    if (shape->layout && shape->layout->element_bits > 0)
        return shape->layout->element_bits;
    return shape->layout && own > 0 && own < BYTE_BITS ? BYTE_BITS : own;
}

double ridge_hlo_shape_padded_bytes(const ridge_hlo_shape *shape)
{
    double n = 0;
    if (ridge_hlo_shape_is_tuple(shape)) {
        for (int i = 0; i < shape->n; i++)
            n += ridge_hlo_shape_padded_bytes(&shape->parts[i]);
        return n;
    }
    if (shape->is_unknown)
        return 0;
    const physical p = tiled(shape, NULL);
    n = 1;
    for (int i = 0; i < p.n; i++)
        n *= p.sizes[i];
    return n * stored_bits(shape) / BYTE_BITS;
}

void ridge_hlo_shape_padded_dims(const ridge_hlo_shape *shape, int64_t *out)
{
    const ridge_hlo_layout *l = shape->layout;
    for (int i = 0; i < shape->n; i++)
        out[i] = shape->dims[i];
    if (l == NULL || l->n_tiles == 0)
        return;
    const ridge_hlo_tile *t = &l->tiles[0];
    for (int i = 0; i < t->n && i < l->n; i++) {
        const int64_t size = t->dims[t->n - 1 - i];
        const int d = l->minor_to_major[i];
        if (size > 0 && out[d] <= INT64_MAX - size)
            out[d] = ridge_ceil_div(out[d], size) * size;
    }
}

int64_t ridge_hlo_shape_offset(const ridge_hlo_shape *shape, const int64_t *index)
{
    const physical p = tiled(shape, index);
    double at = 0;
    if (p.is_joined)
        return -1;
    for (int i = 0; i < p.n; i++)
        at = at * p.sizes[i] + (double)p.index[i];
    return (int64_t)at;
}

/* ---- text ------------------------------------------------------------------------ */

static void write_layout(const ridge_hlo_layout *layout, ridge_buf *out)
{
    ridge_buf_puts(out, "{");
    for (int i = 0; i < layout->n; i++)
        ridge_buf_printf(out, "%s%d", i ? "," : "", layout->minor_to_major[i]);
    const bool has_more =
        layout->n_tiles > 0 || layout->element_bits > 0 || layout->memory_space > 0;
    ridge_buf_puts(out, has_more ? ":" : "");
    for (int t = 0; t < layout->n_tiles; t++) {
        ridge_buf_puts(out, t == 0 ? "T(" : "(");
        for (int i = 0; i < layout->tiles[t].n; i++) {
            const int64_t size = layout->tiles[t].dims[i];
            ridge_buf_puts(out, i ? "," : "");
            if (size < 0)
                ridge_buf_puts(out, "*");
            else
                ridge_buf_printf(out, "%lld", (long long)size);
        }
        ridge_buf_puts(out, ")");
    }
    if (layout->element_bits > 0)
        ridge_buf_printf(out, "E(%d)", layout->element_bits);
    if (layout->memory_space > 0)
        ridge_buf_printf(out, "S(%d)", layout->memory_space);
    ridge_buf_puts(out, "}");
}

void ridge_hlo_shape_write(const ridge_hlo_shape *shape, ridge_buf *out)
{
    if (ridge_hlo_shape_is_tuple(shape)) {
        ridge_buf_puts(out, "(");
        for (int i = 0; i < shape->n; i++) {
            ridge_buf_puts(out, i ? ", " : "");
            ridge_hlo_shape_write(&shape->parts[i], out);
        }
        ridge_buf_puts(out, ")");
        return;
    }
    if (shape->is_unknown) {
        ridge_buf_puts(out, "?");
        return;
    }
    ridge_buf_printf(out, "%s[", ridge_hlo_type_text(shape->type));
    for (int d = 0; d < shape->n; d++) {
        ridge_buf_printf(out, "%s%s%lld", d ? "," : "",
                         shape->dynamic & 1u << d ? "<=" : "",
                         (long long)shape->dims[d]);
    }
    ridge_buf_puts(out, "]");
    if (shape->layout)
        write_layout(shape->layout, out);
}
