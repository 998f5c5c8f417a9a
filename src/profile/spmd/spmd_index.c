/* Operations that say places: each device's places begin where its part does. A lookup
 * in a cut table finds what the device has, and nothing else; the sum over devices is
 * the whole. @source xu2021-gspmd, section 4 */
#include "hlo_attribute.h"
#include "spmd_writer.h"

#include <string.h>

/* ---- iota -------------------------------------------------------------------------
 */

static bool write_iota(spmd_part *p)
{
    spmd_writer *w = p->w;
    const ridge_hlo_instruction *i = spmd_node_of(w->m, p->op)->i;
    const int64_t dim = hlo_attribute_int(i, "iota_dimension", 0);
    const ridge_dim_axes axes = spmd_part_axes(p, 0, dim);
    spmd_array *a = &p->arrays[0];
    if (axes.n == 0 || dim < 0 || dim >= a->n)
        return false;
    const char *offset =
        spmd_place_of(w, &axes, spmd_shape_of(w->m, p->op, 0)->dims[dim]).offset;
    const spmd_array scalar = spmd_scalar_of(a->type);
    const spmd_array from = spmd_array_put(w, "offset", &scalar, "convert(%s)", offset);
    const spmd_array wide = spmd_broadcast_put(w, a, from.name);
    const spmd_array own =
        spmd_array_put(w, "iota", a, "iota(), iota_dimension=%lld", (long long)dim);
    *a = spmd_array_put(w, "iota", a, "add(%s, %s)", own.name, wide.name);
    return true;
}

/* ---- indices ----------------------------------------------------------------------
 */

static int ints(const ridge_hlo_instruction *i, const char *key, int64_t *out)
{
    const int n = hlo_attribute_ints(i, key, out, RIDGE_HLO_RANK_MAX);
    return n > 0 ? n : 0;
}

/** What indices say of a cut table. */
typedef struct lookup {
    int n_map;
    int64_t map[RIDGE_HLO_RANK_MAX];
    int64_t vector; /* dim of the indices along which a place is spelt */
    bool is_cut;
} lookup;

static lookup find_lookup(const spmd_part *p, const char *key, const char *whole)
{
    const ridge_hlo_instruction *i = spmd_node_of(p->w->m, p->op)->i;
    int64_t collapsed[RIDGE_HLO_RANK_MAX];
    const int n = ints(i, whole, collapsed);
    lookup l = {.vector = hlo_attribute_int(i, "index_vector_dim", 0)};
    l.n_map = ints(i, key, l.map);
    for (int k = 0; k < l.n_map; k++) {
        bool is_collapsed = false;
        for (int j = 0; j < n; j++)
            is_collapsed |= collapsed[j] == l.map[k];
        if (!is_collapsed || l.map[k] < 0 || l.map[k] >= p->arrays[0].n)
            l.map[k] = -1; /* the window is all of the part */
        else
            l.is_cut |= spmd_part_axes(p, 0, l.map[k]).n > 0;
    }
    return l;
}

/* One number for each place of an index, along the vector: joined and spread. */
static spmd_array put_vector(spmd_writer *w, const spmd_array *like, const lookup *l,
                             const char *const *scalars)
{
    const int64_t one = 1, all = l->n_map;
    const spmd_array single = spmd_array_of(RIDGE_HLO_S32, 1, &one);
    const spmd_array row = spmd_array_of(RIDGE_HLO_S32, 1, &all);
    ridge_buf parts;
    ridge_buf_init(&parts, ridge_ctx_arena(w->m->cx));
    if (l->n_map == 1)
        return spmd_broadcast_put(w, like, scalars[0]);
    for (int k = 0; k < l->n_map; k++)
        ridge_buf_printf(
            &parts, "%s%s", k ? ", " : "",
            spmd_array_put(w, "one", &single, "reshape(%s)", scalars[k]).name);
    const spmd_array list = spmd_array_put(w, "row", &row,
                                           "concatenate(%s), "
                                           "dimensions={0}",
                                           ridge_buf_text(&parts));
    return spmd_array_put(w, "rows", like, "broadcast(%s), dimensions={%lld}",
                          list.name, (long long)l->vector);
}

/** Indices within the part, and whether they are. */
typedef struct local_index {
    spmd_array at; /* s32, may lie outside */
    spmd_array in; /* pred */
} local_index;

static local_index put_local(spmd_part *p, const lookup *l)
{
    spmd_writer *w = p->w;
    const char *offsets[RIDGE_HLO_RANK_MAX], *lengths[RIDGE_HLO_RANK_MAX];
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    const spmd_array *indices = &p->arrays[1];
    const ridge_hlo_shape *table = spmd_shape_of(w->m, p->op, 0);
    for (int k = 0; k < l->n_map; k++) {
        offsets[k] = spmd_constant_put(w, &s32, "0").name;
        lengths[k] = spmd_constant_put(w, &s32, "2147483647").name;
        const int64_t dim = l->map[k];
        const ridge_dim_axes axes =
            dim < 0 ? (ridge_dim_axes){.n = 0} : spmd_part_axes(p, 0, dim);
        if (axes.n == 0)
            continue;
        const spmd_place at = spmd_place_of(w, &axes, table->dims[dim]);
        offsets[k] = at.offset;
        lengths[k] = at.length ? at.length
                               : spmd_array_put(w, "length", &s32, "constant(%lld)",
                                                (long long)p->arrays[0].dims[dim])
                                     .name;
    }
    const spmd_array like = spmd_array_of(RIDGE_HLO_S32, indices->n, indices->dims);
    const spmd_array is = spmd_array_of(RIDGE_HLO_PRED, indices->n, indices->dims);
    const spmd_array whole =
        spmd_array_put(w, "index", &like, "convert(%s)", indices->name);
    const spmd_array off = put_vector(w, &like, l, offsets);
    const spmd_array end = put_vector(w, &like, l, lengths);
    local_index out = {.at = spmd_array_put(w, "index", &like, "subtract(%s, %s)",
                                            whole.name, off.name)};
    const spmd_array zero = spmd_constant_put(w, &like, "0");
    const spmd_array above = spmd_array_put(
        w, "above", &is, "compare(%s, %s), direction=GE", out.at.name, zero.name);
    const spmd_array below = spmd_array_put(
        w, "below", &is, "compare(%s, %s), direction=LT", out.at.name, end.name);
    out.in = spmd_array_put(w, "within", &is, "and(%s, %s)", above.name, below.name);
    return out;
}

/* Places outside of the table are moved to its edge first, as a gather does. */
static void clamp_global(spmd_part *p, const lookup *l)
{
    spmd_writer *w = p->w;
    const char *ends[RIDGE_HLO_RANK_MAX];
    const ridge_hlo_shape *table = spmd_shape_of(w->m, p->op, 0);
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    spmd_array *indices = &p->arrays[1];
    const spmd_array like = spmd_array_of(RIDGE_HLO_S32, indices->n, indices->dims);
    for (int k = 0; k < l->n_map; k++)
        ends[k] =
            spmd_array_put(w, "end", &s32, "constant(%lld)",
                           l->map[k] < 0 ? 0LL : (long long)table->dims[l->map[k]] - 1)
                .name;
    const spmd_array whole =
        spmd_array_put(w, "index", &like, "convert(%s)", indices->name);
    const spmd_array end = put_vector(w, &like, l, ends);
    const spmd_array zero = spmd_constant_put(w, &like, "0");
    *indices = spmd_array_put(w, "index", &like, "clamp(%s, %s, %s)", zero.name,
                              whole.name, end.name);
}

/* Whether all places of an index are there: the vector put together, then spread over
 * what was looked up. */
static spmd_array put_found(spmd_part *p, const lookup *l, const spmd_array *in)
{
    spmd_writer *w = p->w;
    const ridge_hlo_instruction *i = spmd_node_of(w->m, p->op)->i;
    int64_t offset[RIDGE_HLO_RANK_MAX];
    const int n_offset = ints(i, "offset_dims", offset);
    const spmd_array *result = &p->arrays[2];
    spmd_array flat = *in;
    if (l->vector < in->n) {
        spmd_array rest = {.type = RIDGE_HLO_PRED};
        for (int d = 0; d < in->n; d++) {
            if (d != l->vector)
                rest.dims[rest.n++] = in->dims[d];
        }
        const spmd_array pred = spmd_scalar_of(RIDGE_HLO_PRED);
        const char *yes = spmd_constant_put(w, &pred, "true").name;
        flat = in->dims[l->vector] == 1
                   ? spmd_array_put(w, "found", &rest, "reshape(%s)", in->name)
                   : spmd_array_put(
                         w, "found", &rest,
                         "reduce(%s, %s), dimensions={%lld}, to_apply=%s", in->name,
                         yes, (long long)l->vector,
                         spmd_combiner_name(w, SPMD_REDUCER_AND, RIDGE_HLO_PRED));
    }
    ridge_buf dims;
    ridge_buf_init(&dims, ridge_ctx_arena(w->m->cx));
    const char *comma = "";
    for (int d = 0; d < result->n; d++) {
        bool is_window = false;
        for (int k = 0; k < n_offset; k++)
            is_window |= offset[k] == d;
        if (is_window)
            continue;
        ridge_buf_printf(&dims, "%s%d", comma, d);
        comma = ",";
    }
    spmd_array like = *result;
    like.type = RIDGE_HLO_PRED;
    return spmd_array_put(w, "found", &like, "broadcast(%s), dimensions={%s}",
                          flat.name, ridge_buf_text(&dims));
}

/* ---- gather -----------------------------------------------------------------------
 */

static void put_gather(spmd_part *p, const char *indices)
{
    static const char *const but[] = {"slice_sizes", NULL};
    spmd_writer *w = p->w;
    const ridge_hlo_instruction *i = spmd_node_of(w->m, p->op)->i;
    int64_t sizes[RIDGE_HLO_RANK_MAX];
    const int n = ints(i, "slice_sizes", sizes);
    const ridge_hlo_shape *table = spmd_shape_of(w->m, p->op, 0);
    spmd_array_open(w, "lookup", &p->arrays[2]);
    ridge_buf_printf(w->out, "gather(%s, %s), slice_sizes={", p->arrays[0].name,
                     indices);
    for (int d = 0; d < n && d < table->n; d++)
        ridge_buf_printf(w->out, "%s%lld", d ? "," : "",
                         (long long)(sizes[d] == table->dims[d] && sizes[d] > 1
                                         ? p->arrays[0].dims[d]
                                         : sizes[d]));
    ridge_buf_puts(w->out, "}");
    spmd_attributes_put(w, i, but);
    ridge_buf_puts(w->out, "\n");
}

static bool write_gather(spmd_part *p)
{
    spmd_writer *w = p->w;
    const lookup l = find_lookup(p, "start_index_map", "collapsed_slice_dims");
    if (!l.is_cut)
        return false;
    clamp_global(p, &l);
    const local_index at = put_local(p, &l);
    const spmd_array zero = spmd_constant_put(w, &at.at, "0");
    const spmd_array safe = spmd_array_put(w, "index", &at.at, "select(%s, %s, %s)",
                                           at.in.name, at.at.name, zero.name);
    put_gather(p, safe.name);
    const spmd_array found = put_found(p, &l, &at.in);
    const spmd_array none = spmd_constant_put(
        w, &p->arrays[2], spmd_neutral_of(SPMD_REDUCER_ADD, p->arrays[2].type));
    p->arrays[2] = spmd_array_put(w, "own", &p->arrays[2], "select(%s, %s, %s)",
                                  found.name, p->arrays[2].name, none.name);
    return true;
}

/* ---- scatter ----------------------------------------------------------------------
 */

/* What was there before is added by one of those that add parts. */
static void keep_once(spmd_part *p, const ridge_dim_axes *axes)
{
    spmd_writer *w = p->w;
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    spmd_array is = p->arrays[0];
    is.type = RIDGE_HLO_PRED;
    const spmd_array pred = spmd_scalar_of(RIDGE_HLO_PRED);
    const char *zero = spmd_constant_put(w, &s32, "0").name;
    const char *first =
        spmd_array_put(w, "first", &pred, "compare(%s, %s), direction=EQ",
                       spmd_coordinate(w, axes), zero)
            .name;
    const spmd_array wide = spmd_broadcast_put(w, &is, first);
    const spmd_array none = spmd_constant_put(
        w, &p->arrays[0], spmd_neutral_of(p->op->reducer, p->arrays[0].type));
    p->arrays[0] = spmd_array_put(w, "start", &p->arrays[0], "select(%s, %s, %s)",
                                  wide.name, p->arrays[0].name, none.name);
}

/* Padded updates say a place that is none. */
static void hide_padded(spmd_part *p)
{
    for (int d = 0; d < p->op->tensors[1].n; d++) {
        const int f = p->op->tensors[1].dims[d].factors[0];
        if (p->axes[f].n == 0)
            continue;
        const spmd_place at =
            spmd_place_of(p->w, &p->axes[f], spmd_shape_of(p->w->m, p->op, 1)->dims[d]);
        if (at.length)
            p->arrays[1] =
                spmd_mask_put(p->w, &p->arrays[1], d, at.length,
                              spmd_neutral_of(SPMD_REDUCER_MAXIMUM, RIDGE_HLO_S32));
    }
}

static bool write_scatter(spmd_part *p)
{
    spmd_writer *w = p->w;
    const ridge_hlo_instruction *i = spmd_node_of(w->m, p->op)->i;
    const lookup l =
        find_lookup(p, "scatter_dims_to_operand_dims", "inserted_window_dims");
    ridge_dim_axes sums = {.n = 0};
    for (int f = 0; f < p->op->factors.n; f++) {
        for (int a = 0;
             spmd_factor_at(p->op, f)->kind == SPMD_REDUCE && a < p->axes[f].n; a++)
            sums.axes[sums.n++] = p->axes[f].axes[a];
    }
    if (!l.is_cut && sums.n == 0)
        return false;
    if (sums.n > 0) {
        const spmd_array like =
            spmd_array_of(RIDGE_HLO_S32, p->arrays[1].n, p->arrays[1].dims);
        if (p->arrays[1].type != RIDGE_HLO_S32)
            p->arrays[1] =
                spmd_array_put(w, "index", &like, "convert(%s)", p->arrays[1].name);
        hide_padded(p);
        keep_once(p, &sums);
    }
    if (l.is_cut) {
        const local_index at = put_local(p, &l);
        const spmd_array none = spmd_constant_put(
            w, &at.at, spmd_neutral_of(SPMD_REDUCER_MAXIMUM, RIDGE_HLO_S32));
        p->arrays[1] = spmd_array_put(w, "index", &at.at, "select(%s, %s, %s)",
                                      at.in.name, at.at.name, none.name);
    }
    spmd_array_open(w, "scatter", &p->arrays[3]);
    ridge_buf_printf(w->out, "scatter(%s, %s, %s)", p->arrays[0].name,
                     p->arrays[1].name, p->arrays[2].name);
    spmd_attributes_put(w, i, NULL);
    if (i->n_called == 0)
        ridge_buf_printf(w->out, ", to_apply=%s",
                         spmd_combiner_name(w, SPMD_REDUCER_ADD, p->arrays[0].type));
    ridge_buf_puts(w->out, "\n");
    return true;
}

/* ---- update -----------------------------------------------------------------------
 */

/** A start within the part of one dim. */
typedef struct local_start {
    const char *at, *in; /* s32[], pred[]; NULL: the dim is whole */
} local_start;

static local_start put_start(spmd_part *p, int dim)
{
    spmd_writer *w = p->w;
    const ridge_dim_axes axes = spmd_part_axes(p, 0, dim);
    const int64_t size = spmd_shape_of(w->m, p->op, 0)->dims[dim];
    if (axes.n == 0 || dim >= p->arrays[1].n ||
        spmd_shape_of(w->m, p->op, 1)->dims[dim] == size)
        return (local_start){NULL, NULL};
    const spmd_array s32 = spmd_scalar_of(RIDGE_HLO_S32);
    const spmd_array pred = spmd_scalar_of(RIDGE_HLO_PRED);
    const spmd_place own = spmd_place_of(w, &axes, size);
    const char *zero = spmd_constant_put(w, &s32, "0").name;
    const char *last =
        spmd_array_put(w, "last", &s32, "constant(%lld)", (long long)size - 1).name;
    const char *whole =
        spmd_array_put(w, "start", &s32, "convert(%s)", p->arrays[2 + dim].name).name;
    whole =
        spmd_array_put(w, "start", &s32, "clamp(%s, %s, %s)", zero, whole, last).name;
    const char *at =
        spmd_array_put(w, "start", &s32, "subtract(%s, %s)", whole, own.offset).name;
    const char *length = own.length
                             ? own.length
                             : spmd_array_put(w, "length", &s32, "constant(%lld)",
                                              (long long)p->arrays[0].dims[dim])
                                   .name;
    const char *above =
        spmd_array_put(w, "above", &pred, "compare(%s, %s), direction=GE", at, zero)
            .name;
    const char *below =
        spmd_array_put(w, "below", &pred, "compare(%s, %s), direction=LT", at, length)
            .name;
    return (local_start){
        at, spmd_array_put(w, "within", &pred, "and(%s, %s)", above, below).name};
}

/* Where the place is another device's, what is there is written again. */
static bool write_update(spmd_part *p)
{
    spmd_writer *w = p->w;
    const spmd_array pred = spmd_scalar_of(RIDGE_HLO_PRED);
    const char *is_own = NULL;
    ridge_buf starts, sizes;
    ridge_buf_init(&starts, ridge_ctx_arena(w->m->cx));
    ridge_buf_init(&sizes, ridge_ctx_arena(w->m->cx));
    for (int d = 0; d < p->arrays[0].n && 2 + d < p->op->n_operands; d++) {
        const local_start s = put_start(p, d);
        ridge_buf_printf(&starts, ", %s", s.at ? s.at : p->arrays[2 + d].name);
        ridge_buf_printf(&sizes, "%s%lld", d ? "," : "",
                         (long long)p->arrays[1].dims[d]);
        if (s.at == NULL)
            continue;
        is_own =
            is_own
                ? spmd_array_put(w, "within", &pred, "and(%s, %s)", is_own, s.in).name
                : s.in;
    }
    if (is_own == NULL)
        return false;
    const spmd_array old = spmd_array_put(
        w, "old", &p->arrays[1], "dynamic-slice(%s%s), dynamic_slice_sizes={%s}",
        p->arrays[0].name, ridge_buf_text(&starts), ridge_buf_text(&sizes));
    spmd_array is = p->arrays[1];
    is.type = RIDGE_HLO_PRED;
    const spmd_array wide = spmd_broadcast_put(w, &is, is_own);
    const spmd_array new = spmd_array_put(w, "new", &p->arrays[1], "select(%s, %s, %s)",
                                          wide.name, p->arrays[1].name, old.name);
    spmd_array *out = &p->arrays[p->op->n_operands];
    *out = spmd_array_put(w, "updated", out, "dynamic-update-slice(%s, %s%s)",
                          p->arrays[0].name, new.name, ridge_buf_text(&starts));
    return true;
}

bool spmd_index_write(spmd_part *p)
{
    switch ((int)spmd_node_of(p->w->m, p->op)->i->code) {
    case RIDGE_HLO_OP_IOTA:
        return write_iota(p);
    case RIDGE_HLO_OP_GATHER:
        return write_gather(p);
    case RIDGE_HLO_OP_SCATTER:
        return write_scatter(p);
    case RIDGE_HLO_OP_DYNAMIC_UPDATE_SLICE:
        return write_update(p);
    default:
        return false;
    }
}
