/*
 * replica_groups in each of its forms:
 *
 *     {{0,1},{2,3}}                   lists, of equal or other sizes
 *     {}                              all devices together
 *     [2,4]<=[8]                      8 devices in order, as 2 groups of 4
 *     [2,4]<=[4,2]T(1,0)              the same of a 4 x 2 array, transposed first
 *     mesh['x'=2,'y'=4] {'y'}         of a mesh, over some of its axes; also with
 *                                     device_ids=([2,4]<=...) behind the axes
 *
 * @source xla-operations-2025
 */
#include "ridge/profile_hlo.h"
#include "text_cursor.h"

#include <string.h>

enum { DIMS_MOST = 16 };
#define DEVICES_MOST ((int64_t)1 << 24)

/* ---- an array of devices, transposed ----------------------------------------------
 */

typedef struct iota_array {
    int n;
    int64_t sizes[DIMS_MOST];
    int order[DIMS_MOST]; /* dims of the array, outermost first, in the order read */
} iota_array;

/* Devices in the order of the array read by @p a->order. */
static void fill(const iota_array *a, int64_t *devices, int64_t count)
{
    int64_t stride[DIMS_MOST], index[DIMS_MOST] = {0};
    int64_t step = 1;
    for (int d = a->n - 1; d >= 0; d--) {
        stride[d] = step;
        step *= a->sizes[d];
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t device = 0;
        for (int d = 0; d < a->n; d++)
            device += index[d] * stride[a->order[d]];
        devices[i] = device;
        for (int d = a->n - 1; d >= 0 && ++index[d] == a->sizes[a->order[d]]; d--)
            index[d] = 0;
    }
}

static ridge_status keep(ridge_ctx *cx, const iota_array *a, int64_t n_groups,
                         int64_t size, ridge_hlo_groups *out)
{
    int64_t *devices =
        ridge_new(ridge_ctx_arena(cx), int64_t, (size_t)(n_groups * size));
    if (devices == NULL)
        return ridge_fail_nomem(cx);
    fill(a, devices, n_groups * size);
    *out = (ridge_hlo_groups){n_groups, size, devices, false};
    return RIDGE_OK;
}

static ridge_status read_sizes(text_cursor *c, iota_array *out, int64_t *product)
{
    *out = (iota_array){.n = 0};
    *product = 1;
    RIDGE_TRY(text_cursor_want(c, "[", "before sizes"));
    while (!text_cursor_take(c, "]")) {
        int64_t *size = &out->sizes[out->n];
        if (out->n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between sizes"));
        if (out->n == DIMS_MOST || !text_cursor_number(c, size) || *size < 1 ||
            !ridge_mul_i64(*product, *size, product) || *product > DEVICES_MOST)
            return text_cursor_fail(c, "a size of an array of devices is wanted");
        out->order[out->n] = out->n;
        out->n++;
    }
    return RIDGE_OK;
}

static ridge_status read_order(text_cursor *c, iota_array *a)
{
    unsigned seen = 0;
    if (!text_cursor_take(c, "T("))
        return RIDGE_OK;
    for (int i = 0; i < a->n; i++) {
        int64_t dim;
        if (i > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between dims"));
        if (!text_cursor_number(c, &dim) || dim < 0 || dim >= a->n ||
            (seen & 1u << dim))
            return text_cursor_fail(c, "each dim of the array is wanted once");
        seen |= 1u << dim;
        a->order[i] = (int)dim;
    }
    return text_cursor_want(c, ")", "behind the order of dims");
}

static ridge_status read_iota(text_cursor *c, ridge_hlo_groups *out)
{
    iota_array groups, a;
    int64_t wanted, there;
    RIDGE_TRY(read_sizes(c, &groups, &wanted));
    RIDGE_TRY(text_cursor_want(c, "<=", "behind the sizes"));
    RIDGE_TRY(read_sizes(c, &a, &there));
    RIDGE_TRY(read_order(c, &a));
    if (groups.n == 0 || wanted != there)
        return text_cursor_fail(c, "%lld devices do not make groups of %lld in all",
                                (long long)there, (long long)wanted);
    const int64_t size = groups.sizes[groups.n - 1];
    return keep(c->cx, &a, wanted / size, size, out);
}

/* ---- a mesh -----------------------------------------------------------------------
 */

typedef struct named_mesh {
    iota_array sizes;
    ridge_str names[DIMS_MOST];
} named_mesh;

static bool take_name(text_cursor *c, ridge_str *out)
{
    const char quote = text_cursor_sees(c, "'") ? '\'' : '"';
    if (text_cursor_peek(c) != quote)
        return false;
    const char *from = ++c->p;
    while (c->p < c->end && *c->p != quote)
        c->p++;
    *out = (ridge_str){from, (size_t)(c->p - from)};
    const bool is_closed = c->p < c->end;
    c->p += is_closed;
    return is_closed;
}

static ridge_status read_mesh(text_cursor *c, named_mesh *out)
{
    int64_t product = 1;
    *out = (named_mesh){.sizes = {.n = 0}};
    RIDGE_TRY(text_cursor_want(c, "[", "before the axes of a mesh"));
    while (!text_cursor_take(c, "]")) {
        const int n = out->sizes.n;
        int64_t *size = &out->sizes.sizes[n];
        if (n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between the axes of a mesh"));
        if (n == DIMS_MOST || !take_name(c, &out->names[n]) ||
            !text_cursor_take(c, "=") || !text_cursor_number(c, size) || *size < 1 ||
            !ridge_mul_i64(product, *size, &product) || product > DEVICES_MOST)
            return text_cursor_fail(c, "an axis such as 'x'=4 is wanted");
        out->sizes.n++;
    }
    return RIDGE_OK;
}

/* @return index of the axis that is named next; the mesh's number of axes: none is */
static int take_axis(text_cursor *c, const named_mesh *mesh)
{
    ridge_str name;
    int axis = 0;
    if (!take_name(c, &name))
        return mesh->sizes.n;
    while (axis < mesh->sizes.n && !ridge_str_equal(mesh->names[axis], name))
        axis++;
    return axis;
}

/* The mesh read so that the axes of a group come last, in the order named. */
static ridge_status read_axes(text_cursor *c, const named_mesh *mesh, iota_array *out,
                              int64_t *size)
{
    bool is_named[DIMS_MOST] = {false};
    int named[DIMS_MOST], n = 0;
    *size = 1;
    RIDGE_TRY(text_cursor_want(c, "{", "before the axes of the groups"));
    while (!text_cursor_take(c, "}")) {
        if (n > 0)
            RIDGE_TRY(text_cursor_want(c, ",", "between axes"));
        const int axis = take_axis(c, mesh);
        if (axis == mesh->sizes.n || is_named[axis])
            return text_cursor_fail(c, "an axis of the mesh is wanted, each once");
        is_named[axis] = true;
        named[n++] = axis;
        *size *= mesh->sizes.sizes[axis];
    }
    *out = mesh->sizes;
    int at = 0;
    for (int d = 0; d < mesh->sizes.n; d++) {
        if (!is_named[d])
            out->order[at++] = d;
    }
    memcpy(out->order + at, named, (size_t)n * sizeof *named);
    return RIDGE_OK;
}

static ridge_status read_mesh_groups(text_cursor *c, ridge_hlo_groups *out)
{
    named_mesh mesh;
    iota_array a;
    int64_t size, all = 1;
    RIDGE_TRY(read_mesh(c, &mesh));
    for (int d = 0; d < mesh.sizes.n; d++) {
        mesh.sizes.order[d] = d;
        all *= mesh.sizes.sizes[d];
    }
    text_cursor_take(c, ",");
    if (text_cursor_take(c, "device_ids=")) { /* which device where: not needed */
        text_cursor_skip(c);
        text_cursor_value(c);
    }
    RIDGE_TRY(read_axes(c, &mesh, &a, &size));
    return keep(c->cx, &a, all / size, size, out);
}

/* ---- lists ------------------------------------------------------------------------
 */

/* Groups and devices of the lists, and the largest group. */
static ridge_status count_lists(text_cursor c, int64_t *n_groups, int64_t *size)
{
    *n_groups = *size = 0;
    RIDGE_TRY(text_cursor_want(&c, "{", "before the groups"));
    while (!text_cursor_take(&c, "}")) {
        int64_t n = 0, device;
        if (*n_groups > 0)
            RIDGE_TRY(text_cursor_want(&c, ",", "between groups"));
        RIDGE_TRY(text_cursor_want(&c, "{", "before a group"));
        while (!text_cursor_take(&c, "}")) {
            if (n > 0)
                RIDGE_TRY(text_cursor_want(&c, ",", "between devices"));
            if (!text_cursor_number(&c, &device) || device < 0 || n == DEVICES_MOST)
                return text_cursor_fail(&c, "the number of a device is wanted");
            n++;
        }
        (*n_groups)++;
        *size = n > *size ? n : *size;
    }
    return RIDGE_OK;
}

/* Checked text: only numbers and brackets. Groups smaller than the largest are left
 * out. */
static void take_lists(text_cursor c, int64_t size, ridge_hlo_groups *out,
                       int64_t *devices)
{
    text_cursor_take(&c, "{");
    while (text_cursor_take(&c, "{")) {
        int64_t n = 0, device;
        int64_t *group = devices + out->n_groups * size;
        while (!text_cursor_take(&c, "}")) {
            text_cursor_take(&c, ",");
            if (text_cursor_number(&c, &device))
                group[n++] = device;
        }
        out->n_groups += n == size;
        out->is_uneven |= n != size;
        text_cursor_take(&c, ",");
    }
}

static ridge_status read_lists(text_cursor *c, ridge_hlo_groups *out)
{
    int64_t n_groups, size, all;
    RIDGE_TRY(count_lists(*c, &n_groups, &size));
    *out = (ridge_hlo_groups){.n_groups = 0};
    if (size == 0)
        return RIDGE_OK;
    if (!ridge_mul_i64(n_groups, size, &all) || all > DEVICES_MOST)
        return text_cursor_fail(c, "there are too many devices in the groups");
    int64_t *devices = ridge_new(ridge_ctx_arena(c->cx), int64_t, (size_t)all);
    if (devices == NULL)
        return ridge_fail_nomem(c->cx);
    out->size = size;
    out->devices = devices;
    take_lists(*c, size, out, devices);
    return RIDGE_OK;
}

ridge_status ridge_hlo_groups_parse(ridge_ctx *cx, ridge_str text,
                                    ridge_hlo_groups *out)
{
    text_cursor c = text_cursor_of(cx, text, "replica_groups");
    if (text_cursor_take(&c, "mesh"))
        return read_mesh_groups(&c, out);
    return text_cursor_sees(&c, "[") ? read_iota(&c, out) : read_lists(&c, out);
}
