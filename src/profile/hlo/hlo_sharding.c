/*
 * Shardings in both notations:
 *
 *     #sdy.sharding<@mesh, [{"x", "y"}, {"z", ?}], replicated={"w"}>
 *     {devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}, {replicated},
 *     {maximal device=0}, {devices=[2,1]0,1}, last_tile_dims={replicated, manual}
 *
 * A device array [a,b]<=[m,n] names no axes: these are the factors between all places
 * at which any array of the module is cut. @source xla-operations-2025
 */
#include "hlo_sharding.h"
#include "hlo_attribute.h"
#include "text_cursor.h"

#include <string.h>

enum { AXES_MOST = 16, DEVICES_MOST = 1 << 20 };

ridge_str hlo_sharding_text(const ridge_hlo_instruction *i)
{
    ridge_str text = ridge_hlo_attribute_of(i, "sdy.sharding");
    if (text.p == NULL) {
        const ridge_str frontend = ridge_hlo_attribute_of(i, "frontend_attributes");
        text = hlo_field_of(frontend, "xla.sdy.sharding");
    }
    return text.p ? text : ridge_hlo_attribute_of(i, "sharding");
}

/* A name in quotes, whose quotes may be escaped. */
static bool take_name(text_cursor *c, ridge_str *out)
{
    text_cursor_take(c, "\\");
    if (!text_cursor_take(c, "\""))
        return false;
    *out = text_cursor_word(c);
    text_cursor_take(c, "\\");
    return text_cursor_take(c, "\"");
}

/* ---- named meshes -----------------------------------------------------------------
 */

/* ["a"=2, "b"=4] */
static ridge_status read_named(ridge_ctx *cx, ridge_str text, hlo_mesh *out)
{
    text_cursor c = text_cursor_of(cx, text, "mesh");
    *out = (hlo_mesh){.is_named = true, .devices = 1};
    RIDGE_TRY(text_cursor_want(&c, "[", "before the axes of a mesh"));
    while (!text_cursor_take(&c, "]")) {
        if (out->n > 0)
            RIDGE_TRY(text_cursor_want(&c, ",", "between axes"));
        int64_t *size = &out->sizes[out->n];
        if (out->n == AXES_MOST || !take_name(&c, &out->names[out->n]) ||
            !text_cursor_take(&c, "=") || !text_cursor_number(&c, size) || *size < 1 ||
            !ridge_mul_i64(out->devices, *size, &out->devices))
            return text_cursor_fail(&c, "an axis such as \"x\"=4 is wanted");
        out->n++;
    }
    return RIDGE_OK;
}

/* The name behind '@' in the first sharding of the entry; n 0: none is named. */
static ridge_str named_by(const ridge_hlo_module *m)
{
    const int entry = m->entry >= 0 ? m->entry : 0;
    for (int k = 0; k < m->computations[entry].n; k++) {
        const ridge_str text =
            hlo_sharding_text(&m->computations[entry].instructions[k]);
        for (size_t at = 0; text.p && at + 1 < text.n; at++) {
            if (text.p[at] != '@')
                continue;
            size_t to = at + 1;
            while (to < text.n && text.p[to] != ',' && text.p[to] != '>')
                to++;
            return (ridge_str){text.p + at + 1, to - at - 1};
        }
    }
    return (ridge_str){NULL, 0};
}

/* frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[..]>}}: the first that has
 * axes. */
static ridge_status find_frontend(ridge_ctx *cx, ridge_str text, hlo_mesh *out)
{
    static const char word[] = "#sdy.mesh<[";
    const size_t n = sizeof word - 1;
    for (size_t at = 0; at + n < text.n && out->n == 0; at++) {
        if (memcmp(text.p + at, word, n) == 0 && text.p[at + n] != ']')
            RIDGE_TRY(read_named(
                cx, (ridge_str){text.p + at + n - 1, text.n - at - n + 1}, out));
    }
    return RIDGE_OK;
}

/* The mesh that the entry's shardings name, or the first there is. */
static ridge_status find_named(ridge_ctx *cx, const ridge_hlo_module *m, hlo_mesh *out)
{
    const ridge_str name = named_by(m);
    for (int a = 0; a < m->n_attributes; a++) {
        const ridge_hlo_attribute *x = &m->attributes[a];
        const bool is_mesh = x->key.n > 5 && memcmp(x->key.p, "mesh.", 5) == 0;
        const ridge_str own = {x->key.p + 5, is_mesh ? x->key.n - 5 : 0};
        if (is_mesh && (name.n == 0 || ridge_str_equal(own, name)) && out->n == 0)
            RIDGE_TRY(read_named(cx, x->text, out));
        if (ridge_str_is(x->key, "frontend_attributes") && out->n == 0)
            RIDGE_TRY(find_frontend(cx, x->text, out));
    }
    return RIDGE_OK;
}

/* ---- device arrays ----------------------------------------------------------------
 */

/** devices=[tile]<=[sizes]T(order) */
typedef struct device_array {
    int n_tile, n_sizes;
    int64_t tile[RIDGE_HLO_RANK_MAX], sizes[AXES_MOST];
    int order[AXES_MOST];
} device_array;

static ridge_status read_numbers(text_cursor *c, int64_t *out, int most, int *n)
{
    RIDGE_TRY(text_cursor_want(c, "[", "before sizes"));
    for (*n = 0; !text_cursor_take(c, "]"); (*n)++) {
        if (*n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between sizes"));
        if (*n == most || !text_cursor_number(c, &out[*n]) || out[*n] < 1)
            return text_cursor_fail(c, "a size is wanted");
    }
    return RIDGE_OK;
}

/* Devices one by one: runs of equal steps within runs of equal steps are a mesh that is
 * read in another order. */
static ridge_status find_steps(text_cursor *c, const int64_t *list, int64_t all,
                               device_array *out)
{
    int64_t steps[AXES_MOST], sizes[AXES_MOST], inner = 1;
    int n = 0;
    while (inner < all && n < AXES_MOST) { /* from inside */
        const int64_t step = list[inner] - list[0];
        int64_t size = 1;
        while (size * inner < all && list[size * inner] - list[0] == size * step)
            size++;
        while (size > 1 && all % (inner * size) != 0)
            size--;
        if (size < 2 || step < 1)
            break;
        steps[n] = step;
        sizes[n++] = size;
        inner *= size;
    }
    bool is_mesh = inner == all && list[0] == 0;
    for (int64_t k = 0; is_mesh && k < all; k++) {
        int64_t device = 0, rest = k;
        for (int d = 0; d < n; d++) {
            device += rest % sizes[d] * steps[d];
            rest /= sizes[d];
        }
        is_mesh = device == list[k];
    }
    if (!is_mesh)
        return ridge_fail(c->cx, RIDGE_E_ARG,
                          "devices lie in an order of their own, which meshes have no "
                          "words for");
    out->n_sizes = n > 0 ? n : 1;
    out->sizes[0] = 1;
    for (int k = 0; k < n; k++) { /* dims of the row of devices, by their steps */
        int place = 0;
        for (int j = 0; j < n; j++)
            place += steps[j] > steps[k];
        out->sizes[place] = sizes[k];
        out->order[n - 1 - k] = place;
    }
    return RIDGE_OK;
}

static ridge_status read_list(text_cursor *c, device_array *out)
{
    int64_t all = 1;
    for (int d = 0; d < out->n_tile; d++) {
        if (!ridge_mul_i64(all, out->tile[d], &all) || all > DEVICES_MOST)
            return text_cursor_fail(c, "there are too many devices");
    }
    int64_t *list = ridge_new(ridge_ctx_scratch(c->cx), int64_t, (size_t)all);
    if (list == NULL)
        return ridge_fail_nomem(c->cx);
    for (int64_t k = 0; k < all; k++) {
        if (!text_cursor_number(c, &list[k]))
            return text_cursor_fail(c, "%lld devices are wanted", (long long)all);
        text_cursor_take(c, ",");
    }
    return find_steps(c, list, all, out);
}

/* The cursor stands behind "devices=". */
static ridge_status read_array(text_cursor *c, device_array *out)
{
    *out = (device_array){.n_tile = 0};
    RIDGE_TRY(read_numbers(c, out->tile, RIDGE_HLO_RANK_MAX, &out->n_tile));
    if (!text_cursor_take(c, "<="))
        return read_list(c, out);
    RIDGE_TRY(read_numbers(c, out->sizes, AXES_MOST, &out->n_sizes));
    for (int d = 0; d < out->n_sizes; d++)
        out->order[d] = d;
    if (!text_cursor_take(c, "T("))
        return RIDGE_OK;
    for (int d = 0; d < out->n_sizes; d++) {
        int64_t dim;
        if (!text_cursor_number(c, &dim) || dim < 0 || dim >= out->n_sizes)
            return text_cursor_fail(c, "a dim of the device array is wanted");
        out->order[d] = (int)dim;
        text_cursor_take(c, ",");
    }
    return text_cursor_want(c, ")", "behind the order of dims");
}

/* Whether a text holds a device array; the cursor is then behind "devices=". */
static bool find_array(ridge_ctx *cx, ridge_str text, text_cursor *c)
{
    const char word[] = "devices=";
    for (size_t at = 0; text.p && at + sizeof word < text.n; at++) {
        if (memcmp(text.p + at, word, sizeof word - 1) == 0) {
            *c = text_cursor_of(cx, text, "sharding");
            c->p = text.p + at + sizeof word - 1;
            return true;
        }
    }
    return false;
}

/* Add the places at which a device array is cut, as distances between devices. */
static ridge_status add_cuts(ridge_ctx *cx, const device_array *a, int64_t *cuts,
                             int *n)
{
    int64_t stride = 1;
    int64_t own[2 * AXES_MOST];
    int n_own = 0;
    for (int d = a->n_sizes - 1; d >= 0; d--) {
        stride *= a->sizes[d];
        own[n_own++] = stride;
    }
    if (a->n_sizes == 1) { /* tiles cut the one row of devices themselves */
        stride = 1;
        for (int d = a->n_tile - 1; d >= 0 && n_own < 2 * AXES_MOST; d--) {
            stride *= a->tile[d];
            own[n_own++] = stride;
        }
    }
    for (int k = 0; k < n_own; k++) {
        int at = 0;
        while (at < *n && cuts[at] < own[k])
            at++;
        if (own[k] == 1 || (at < *n && cuts[at] == own[k]))
            continue;
        if (*n == AXES_MOST)
            return ridge_fail(cx, RIDGE_E_ARG, "shardings have more than %d axes",
                              AXES_MOST);
        memmove(cuts + at + 1, cuts + at, (size_t)(*n - at) * sizeof *cuts);
        cuts[at] = own[k];
        (*n)++;
    }
    return RIDGE_OK;
}

static ridge_status find_unnamed(ridge_ctx *cx, const ridge_hlo_module *m,
                                 hlo_mesh *out)
{
    static const char letters[] = "xyzwuvtsrqponmlk";
    int64_t cuts[AXES_MOST + 1], inner = 1;
    int n = 0;
    for (int c = 0; c < m->n_computations; c++) {
        for (int k = 0; k < m->computations[c].n; k++) {
            text_cursor at;
            device_array a;
            if (!find_array(cx, hlo_sharding_text(&m->computations[c].instructions[k]),
                            &at))
                continue;
            RIDGE_TRY(read_array(&at, &a));
            RIDGE_TRY(add_cuts(cx, &a, cuts, &n));
        }
    }
    *out = (hlo_mesh){.n = n, .devices = n ? cuts[n - 1] : 1};
    for (int k = 0; k < n; k++) { /* innermost first; the mesh begins outside */
        if (cuts[k] % inner != 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "shardings cut %lld devices in ways that are no mesh",
                              (long long)cuts[n - 1]);
        out->sizes[n - 1 - k] = cuts[k] / inner;
        out->names[n - 1 - k] = (ridge_str){&letters[n - 1 - k], 1};
        inner = cuts[k];
    }
    return RIDGE_OK;
}

ridge_status hlo_mesh_find(ridge_ctx *cx, const ridge_hlo_module *module, hlo_mesh *out)
{
    *out = (hlo_mesh){.devices = 1};
    RIDGE_TRY(find_named(cx, module, out));
    return out->n > 0 ? RIDGE_OK : find_unnamed(cx, module, out);
}

/* ---- shardings --------------------------------------------------------------------
 */

/* "x":(2)4, the cursor behind the name. */
static ridge_status take_part(text_cursor *c, hlo_axis_part *out)
{
    if (!text_cursor_take(c, ":"))
        return RIDGE_OK;
    if (!text_cursor_take(c, "(") || !text_cursor_number(c, &out->before) ||
        !text_cursor_take(c, ")") || !text_cursor_number(c, &out->size) ||
        out->before < 1 || out->size < 1)
        return text_cursor_fail(c, "a part of an axis such as \"x\":(1)2 is wanted");
    return RIDGE_OK;
}

static ridge_status add_axis(text_cursor *c, const hlo_mesh *mesh, ridge_str name,
                             hlo_laid *out)
{
    hlo_axis_part part = {.axis = 0};
    while (part.axis < mesh->n && !ridge_str_equal(mesh->names[part.axis], name))
        part.axis++;
    if (part.axis == mesh->n)
        return text_cursor_fail(c, "the mesh has no axis \"%.*s\"", (int)name.n,
                                name.p);
    RIDGE_TRY(take_part(c, &part));
    if (out->dims[out->n_dims].n == RIDGE_MESH_AXIS_MAX)
        return text_cursor_fail(c, "a dim is cut by too many axes");
    out->dims[out->n_dims].parts[out->dims[out->n_dims].n++] = part;
    return RIDGE_OK;
}

/* The cursor stands at "[{"x"}, {?}]". */
static ridge_status read_dims(text_cursor *c, const hlo_mesh *mesh, int rank,
                              hlo_laid *out)
{
    RIDGE_TRY(text_cursor_want(c, "[", "before the dims of a sharding"));
    while (!text_cursor_take(c, "]")) {
        int n = 0;
        if (out->n_dims > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between dims"));
        if (out->n_dims == rank || out->n_dims == RIDGE_TENSOR_DIM_MAX)
            return text_cursor_fail(c, "a sharding of %d dims is wanted", rank);
        RIDGE_TRY(text_cursor_want(c, "{", "before the axes of a dim"));
        for (; !text_cursor_take(c, "}"); n++) {
            ridge_str name;
            if (n > 0)
                RIDGE_TRY(text_cursor_want(c, ",", "between axes"));
            if (text_cursor_take(c, "?")) {
                out->open |= 1U << out->n_dims;
                continue;
            }
            if (!take_name(c, &name))
                return text_cursor_fail(c, "the name of an axis is wanted");
            RIDGE_TRY(add_axis(c, mesh, name, out));
        }
        if (text_cursor_take(c, "p")) { /* a priority */
            int64_t ignored;
            text_cursor_number(c, &ignored);
        }
        out->n_dims++;
    }
    return RIDGE_OK;
}

/* Which axes of the mesh a device array's tiles are, from outside to inside. */
static ridge_status assign(ridge_ctx *cx, const device_array *a, const hlo_mesh *mesh,
                           int rank, hlo_laid *out)
{
    int axes[AXES_MOST], n = 0, at = 0;
    for (int o = 0; o < a->n_sizes; o++) { /* dims of the array in the order read */
        int64_t below = 1, stride = mesh->devices;
        for (int d = a->order[o] + 1; d < a->n_sizes; d++)
            below *= a->sizes[d];
        for (int x = 0; x < mesh->n; x++) {
            stride /= mesh->sizes[x];
            if (mesh->sizes[x] > 1 && stride >= below &&
                stride < below * a->sizes[a->order[o]] && n < AXES_MOST)
                axes[n++] = x;
        }
    }
    for (int d = 0; d < a->n_tile; d++) {
        int64_t ways = 1;
        while (ways < a->tile[d] && at < n) {
            ways *= mesh->sizes[axes[at]];
            if (d < rank && out->dims[d].n < RIDGE_MESH_AXIS_MAX)
                out->dims[d].parts[out->dims[d].n++] =
                    (hlo_axis_part){.axis = axes[at]};
            at++;
        }
        if (ways != a->tile[d])
            return ridge_fail(cx, RIDGE_E_ARG,
                              "a tile of %lld devices is no axes of "
                              "the mesh",
                              (long long)a->tile[d]);
    }
    out->n_dims = rank;
    return RIDGE_OK;
}

/* Where the k-th of "[<@mesh, ..>, <@mesh, ..>]" begins; p NULL: there is none. */
static ridge_str named_part(ridge_str text, int k)
{
    for (size_t at = 0; at + 1 < text.n; at++) {
        if (text.p[at] == '<' && text.p[at + 1] == '@' && k-- == 0)
            return (ridge_str){text.p + at, text.n - at};
    }
    return (ridge_str){NULL, 0};
}

ridge_str hlo_sharding_part(ridge_str text, int k)
{
    int depth = 0;
    size_t from = 0;
    if (hlo_text_has(text, "sharding_per_value<[")) {
        const ridge_str part = named_part(text, k);
        return part.p || k > 0 ? part : text;
    }
    if (text.n < 2 || text.p[0] != '{' ||
        ridge_str_trim((ridge_str){text.p + 1, text.n - 1}).p[0] != '{')
        return k == 0 ? text : (ridge_str){NULL, 0};
    for (size_t at = 0; at < text.n; at++) { /* {{..}, {..}} */
        depth += text.p[at] == '{';
        if (text.p[at] == '{' && depth == 2)
            from = at;
        if (text.p[at] == '}' && depth-- == 2 && k-- == 0)
            return (ridge_str){text.p + from, at + 1 - from};
    }
    return (ridge_str){NULL, 0};
}

ridge_status hlo_sharding_read(ridge_ctx *cx, ridge_str text, const hlo_mesh *mesh,
                               int rank, hlo_laid *out)
{
    text_cursor c = text_cursor_of(cx, text, "sharding");
    device_array a;
    *out = (hlo_laid){.n_dims = 0};
    if (find_array(cx, text, &c)) {
        RIDGE_TRY(read_array(&c, &a));
        return assign(cx, &a, mesh, rank, out);
    }
    while (c.p < c.end && !(c.p[0] == '@' && c.p > text.p)) /* <@mesh, [..]> */
        c.p++;
    while (c.p < c.end && *c.p != '[')
        c.p++;
    if (c.p < c.end)
        RIDGE_TRY(read_dims(&c, mesh, rank, out));
    if (out->n_dims != 0 && out->n_dims != rank)
        return text_cursor_fail(&c, "a sharding of %d dims is wanted", rank);
    out->n_dims = rank;
    return RIDGE_OK;
}
