/*
 * A slice: a piece of a system with its network axes.
 *
 * Switched systems. The levels before the first fabric join the chips of a node (or of
 * an NVLink domain), the fabrics join nodes. A count is laid on levels from the
 * innermost: a level takes all that is left if it has room, else its full size if that
 * divides what is left, else nothing, so that the next level carries everything: 48
 * nodes under leaves of 32 are one axis of 48 on the spine, 64 are 32 x 2.
 *
 * Several slices, n*slice, are joined by the system's dcn; a switched system without
 * one joins them by its outermost fabric, as one more axis called dcn.
 */
#include <string.h>

#include "slice_build.h"
#include "torus_rules.h"

/* ---- axes ------------------------------------------------------------------------ */

static void push_axis(ridge_slice *s, const ridge_axis *like, const char *name,
                      int64_t size, bool has_wraparound)
{
    if (size == 1 || s->n_axes == RIDGE_AXIS_MAX)
        return;
    ridge_axis *axis = &s->axes[s->n_axes++];
    *axis = *like;
    axis->name = name;
    axis->size = size;
    axis->has_wraparound = has_wraparound;
}

static int first_fabric(const ridge_system *system)
{
    int i = 0;
    while (i < system->n_levels && system->levels[i].axis.kind != RIDGE_AXIS_FABRIC)
        i++;
    return i;
}

/** Most members that levels [first, last) can join, INT64_MAX without a limit. */
static int64_t level_capacity(const ridge_system *system, int first, int last)
{
    int64_t n = 1;
    for (int i = first; i < last; i++) {
        if (system->levels[i].axis.size == 0 ||
            !ridge_mul_i64(n, system->levels[i].axis.size, &n))
            return INT64_MAX;
    }
    return n;
}

/* Lay count members on levels [first, last). @return false: more than they can join */
static bool lay_on_levels(ridge_slice *s, int first, int last, int64_t count)
{
    for (int i = first; i < last && count > 1; i++) {
        const ridge_axis *level = &s->system->levels[i].axis;
        if (level->size == 0 || count <= level->size) {
            push_axis(s, level, level->name, count, false);
            return true;
        }
        if (level->size > 1 && count % level->size == 0) {
            push_axis(s, level, level->name, level->size, false);
            count /= level->size;
        }
    }
    return count == 1;
}

/* ---- joining slices -------------------------------------------------------------- */

static ridge_status add_dcn(ridge_ctx *cx, const slice_request *q, ridge_slice *s)
{
    const ridge_system *system = q->system;
    ridge_axis dcn = system->dcn;
    if (q->slices > 1 && !system->has_dcn) {
        const int n = system->n_levels;
        if (n == 0 || system->levels[n - 1].axis.kind != RIDGE_AXIS_FABRIC) {
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%s: system %s has no network between slices: ask for "
                              "one slice",
                              q->name, system->name);
        }
        dcn = system->levels[n - 1].axis;
        dcn.kind = RIDGE_AXIS_DCN;
    }
    push_axis(s, &dcn, "dcn", q->slices, false);
    s->slices = q->slices;
    if (!ridge_mul_i64(s->chips, q->slices, &s->chips) || s->chips > SLICE_CHIPS_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG, "%s: more than %d chips in all", q->name,
                          SLICE_CHIPS_MAX);
    }
    s->hosts *= q->slices;
    return RIDGE_OK;
}

static ridge_status set_text(ridge_ctx *cx, const char *name, ridge_slice *s)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (s->slices > 1)
        ridge_buf_printf(&b, "%lld*", (long long)s->slices);
    ridge_buf_puts(&b, name);
    for (int i = 0; i < s->n_shape; i++)
        ridge_buf_printf(&b, "%c%lld", i == 0 ? ':' : 'x', (long long)s->shape[i]);
    if (b.is_short)
        return ridge_fail_nomem(cx);
    s->text = ridge_buf_text(&b);
    return RIDGE_OK;
}

/* ---- torus ----------------------------------------------------------------------- */

enum { NEAREST_SHAPES = 3, SAME_COUNT_SHAPES = 8 };

static ridge_status fail_count(ridge_ctx *cx, const slice_request *q)
{
    torus_shape shapes[SAME_COUNT_SHAPES] = {0};
    const ridge_system *system = q->system;
    const int64_t chips = q->shape[0];
    const int same =
        ridge__shape_nearest(system, chips, true, SAME_COUNT_SHAPES, shapes);
    if (same > 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s:%lld names no shape of a %dD torus: with that many chips "
                          "there is %s",
                          q->name, (long long)chips, system->torus_dims,
                          ridge__shape_list_text(cx, system, shapes, same));
    }
    const int n = ridge__shape_nearest(system, chips, false, NEAREST_SHAPES, shapes);
    return ridge_fail(
        cx, RIDGE_E_ARG, "%s:%lld: no slice has that many chips: the nearest are %s",
        q->name, (long long)chips, ridge__shape_list_text(cx, system, shapes, n));
}

static ridge_status fail_shape(ridge_ctx *cx, const slice_request *q,
                               const torus_shape *shape)
{
    torus_shape shapes[NEAREST_SHAPES] = {0};
    const int n = ridge__shape_nearest(q->system, ridge__shape_chips(shape), false,
                                       NEAREST_SHAPES, shapes);
    return ridge_fail(cx, RIDGE_E_ARG, "%s:%s is no slice: %s; the nearest are %s",
                      q->name, ridge__shape_list_text(cx, q->system, shape, 1),
                      ridge__shape_rule(cx, q->system),
                      ridge__shape_list_text(cx, q->system, shapes, n));
}

/* The shape asked for: no numbers are one chip; two of three get a trailing 1. */
static ridge_status want_torus_shape(ridge_ctx *cx, const slice_request *q,
                                     torus_shape *out)
{
    const int dims = q->system->torus_dims;
    torus_shape shape = {{1, 1, 1}};
    if (q->rank == 1 && q->shape[0] != 1)
        return fail_count(cx, q);
    if (q->rank > dims) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s is a %dD torus: write a shape of %d numbers, such as %s",
                          q->name, dims, dims,
                          dims == 2 ? "4x4 or 16x16" : "4x4x4 or 8x8x16");
    }
    for (int i = 0; i < q->rank; i++)
        shape.length[i] = q->shape[i];
    if (!ridge__shape_is_legal(q->system, &shape) &&
        !ridge__shape_is_part(q->system, &shape))
        return fail_shape(cx, q, &shape);
    *out = shape;
    return RIDGE_OK;
}

static const char twisted_note[] = "this shape also exists as a twisted torus, with a "
                                   "higher bisection; the plain torus "
                                   "is modelled";

static const char part_note[] = "not offered by itself: a part of a 4x4x4 cube, "
                                "without rings";

static ridge_status build_torus(ridge_ctx *cx, const slice_request *q, ridge_slice *s)
{
    static const char *const names[] = {"ici-x", "ici-y", "ici-z"};
    const ridge_system *system = q->system;
    torus_shape shape = {{1, 1, 1}};
    RIDGE_TRY(want_torus_shape(cx, q, &shape));
    memcpy(s->shape, shape.length, sizeof s->shape);
    s->n_shape = system->torus_dims;
    s->chips = ridge__shape_chips(&shape);
    s->hosts = ridge_ceil_div(s->chips, system->chips_per_node);
    for (int i = 0; i < 3; i++) {
        push_axis(s, &system->torus_axis, names[i], shape.length[i],
                  ridge__shape_wraps(system, &shape, i));
    }
    if (ridge__shape_can_twist(system, &shape))
        s->note = twisted_note;
    if (ridge__shape_is_part(system, &shape))
        s->note = part_note;
    return RIDGE_OK;
}

/* ---- switched -------------------------------------------------------------------- */

/* Chips that the levels inside a node can join. */
static int64_t node_capacity(const ridge_system *system)
{
    const int fabric = first_fabric(system);
    if (fabric == 0)
        return system->chips_per_node;
    const int64_t n = level_capacity(system, 0, fabric);
    return n == INT64_MAX ? system->chips_per_node : n;
}

/* More chips a node than it joins: the slice of whole nodes with as many, or more. */
static ridge_status fail_node_size(ridge_ctx *cx, const slice_request *q,
                                   const int64_t shape[2], int64_t capacity)
{
    int64_t chips = SLICE_CHIPS_MAX;
    if (!ridge_mul_i64(shape[0], shape[1], &chips) || chips > SLICE_CHIPS_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "%s: more than %d chips", q->name,
                          SLICE_CHIPS_MAX);
    return ridge_fail(
        cx, RIDGE_E_ARG,
        "%s:%lldx%lld: a node of %s joins at most %lld chips: write nodes "
        "x chips per node, %s:%lldx%lld",
        q->name, (long long)shape[0], (long long)shape[1], q->system->name,
        (long long)capacity, q->name, (long long)ridge_ceil_div(chips, capacity),
        (long long)capacity);
}

/* {nodes, chips per node} asked for: a bare count fills whole nodes. */
static ridge_status want_node_shape(ridge_ctx *cx, const slice_request *q,
                                    int64_t shape[2])
{
    const int64_t capacity = node_capacity(q->system);
    if (q->rank > 2) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s is not a torus: write nodes x chips per node, such as "
                          "%s:4x%lld",
                          q->name, q->name, (long long)capacity);
    }
    const int64_t count = q->rank == 0 ? 1 : q->shape[0];
    shape[0] = q->rank == 2 || count <= capacity ? 1 : count / capacity;
    shape[1] = count <= capacity ? count : capacity;
    if (q->rank == 2) {
        shape[0] = q->shape[0];
        shape[1] = q->shape[1];
    }
    if (shape[1] > capacity)
        return fail_node_size(cx, q, shape, capacity);
    if (q->rank == 1 && shape[0] * shape[1] != count) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s:%lld is no whole number of nodes of %lld chips: ask for "
                          "%lld or %lld, or write nodes x chips per node",
                          q->name, (long long)count, (long long)capacity,
                          (long long)(count - count % capacity),
                          (long long)(count - count % capacity + capacity));
    }
    return RIDGE_OK;
}

static ridge_status build_switched(ridge_ctx *cx, const slice_request *q,
                                   ridge_slice *s)
{
    const ridge_system *system = q->system;
    const int fabric = first_fabric(system);
    int64_t shape[2] = {1, 1};
    RIDGE_TRY(want_node_shape(cx, q, shape));
    if (!ridge_mul_i64(shape[0], shape[1], &s->chips) || s->chips > SLICE_CHIPS_MAX) {
        return ridge_fail(cx, RIDGE_E_ARG, "%s: more than %d chips", q->name,
                          SLICE_CHIPS_MAX);
    }
    s->shape[0] = shape[0];
    s->shape[1] = shape[1];
    s->shape[2] = 1;
    s->n_shape = 2;
    s->hosts = shape[0] * ridge_ceil_div(shape[1], system->chips_per_node);
    if (!lay_on_levels(s, 0, fabric, shape[1])) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: %lld chips do not lie evenly on the levels of a node of "
                          "%s",
                          q->name, (long long)shape[1], system->name);
    }
    if (lay_on_levels(s, fabric, system->n_levels, shape[0]))
        return RIDGE_OK;
    if (fabric == system->n_levels) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%s: system %s is a single node: ask for at most %lld chips",
                          q->name, system->name, (long long)node_capacity(system));
    }
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: the fabric of %s cannot join %lld nodes evenly, its limit "
                      "is %lld",
                      q->name, system->name, (long long)shape[0],
                      (long long)level_capacity(system, fabric, system->n_levels));
}

ridge_status ridge__slice_build(ridge_ctx *cx, const slice_request *q,
                                ridge_slice **out)
{
    ridge_slice *s = ridge_new(ridge_ctx_arena(cx), ridge_slice, 1);
    if (s == NULL)
        return ridge_fail_nomem(cx);
    s->chip = q->chip;
    s->system = q->system;
    if (q->system->torus_dims > 0) {
        RIDGE_TRY(build_torus(cx, q, s));
    } else {
        RIDGE_TRY(build_switched(cx, q, s));
    }
    RIDGE_TRY(add_dcn(cx, q, s));
    RIDGE_TRY(set_text(cx, q->name, s));
    *out = s;
    return RIDGE_OK;
}

int64_t ridge_slice_diameter_hops(const ridge_slice *slice)
{
    int64_t hops = 0;
    for (int i = 0; i < slice->n_axes; i++) {
        const ridge_axis *axis = &slice->axes[i];
        if (axis->kind == RIDGE_AXIS_DCN)
            continue;
        if (axis->kind != RIDGE_AXIS_TORUS) {
            hops += 1;
        } else {
            hops += axis->has_wraparound ? axis->size / 2 : axis->size - 1;
        }
    }
    return hops;
}

double ridge_slice_bisection_bytes_per_s(const ridge_slice *slice)
{
    double least = 0;
    for (int i = 0; i < slice->n_axes; i++) {
        const ridge_axis *axis = &slice->axes[i];
        const bool is_torus = axis->kind == RIDGE_AXIS_TORUS;
        const double lines = (double)slice->chips / (double)axis->size;
        const double links = axis->has_wraparound ? 2 : 1;
        const double senders = is_torus ? lines * links : (double)slice->chips / 2;
        const double rate = senders * axis->bytes_per_s;
        least = i == 0 || rate < least ? rate : least;
    }
    return least;
}
