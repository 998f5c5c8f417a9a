/*
 * Shardings spread through operations, to results and back to operands, until nothing
 * changes: first where all arrays lie alike, then everywhere. A dim is cut further only
 * where its annotation leaves it open; two that want different axes keep what they
 * agree on. @source shardy-2025
 */
#include "spmd.h"

#include <string.h>

/* ---- dims and factors -------------------------------------------------------------
 */

/* A factor at its place in an array. */
typedef struct factor_place {
    int dim, nth, factor;
} factor_place;

static const factor_place BEFORE_FIRST = {.nth = -1};

/* The next one, dim by dim, outermost first. @return false: there is none */
static bool next_factor(const spmd_tensor *t, factor_place *at)
{
    at->nth++;
    while (at->dim < t->n && at->nth == t->dims[at->dim].n) {
        at->dim++;
        at->nth = 0;
    }
    if (at->dim == t->n)
        return false;
    at->factor = t->dims[at->dim].factors[at->nth];
    return true;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Remember the first axis of which a dim wants a part. @param split  NULL: nobody asks
 */
static void note_split(spmd *split, int axis, int64_t part)
{
    if (split == NULL || part <= 1 || split->split_axis >= 0)
        return;
    split->split_axis = axis;
    split->split_outer = part;
}

void spmd_factors_of(const spmd *m, const spmd_op *op, int tensor, ridge_dim_axes *out,
                     spmd *split)
{
    const spmd_tensor *t = &op->tensors[tensor];
    const ridge_sharding *s = &spmd_value_at(m, t->value)->sharding;
    for (int d = 0; d < t->n; d++) {
        const spmd_dim *dim = &t->dims[d];
        int at = 0;
        int64_t left = spmd_factor_at(op, dim->factors[0])->size;
        for (int k = op->manual == tensor ? op->fixed.dims[d].n : 0; k < s->dims[d].n;
             k++) {
            const int axis = s->dims[d].axes[k];
            const int64_t size = m->mesh.axes[axis].size;
            while (left == 1 && at + 1 < dim->n)
                left = spmd_factor_at(op, dim->factors[++at])->size;
            const bool is_last = at + 1 == dim->n;
            if (!is_last && left % size != 0) {
                note_split(split, axis, gcd(left, size));
                break; /* the axis lies across two factors */
            }
            ridge_dim_axes *to = &out[dim->factors[at]];
            if (to->n < RIDGE_MESH_AXIS_MAX)
                to->axes[to->n++] = axis;
            left = is_last ? left : left / size;
        }
    }
}

ridge_sharding spmd_sharding_of(const spmd *m, const spmd_op *op, int tensor,
                                const ridge_dim_axes *factors)
{
    const spmd_tensor *t = &op->tensors[tensor];
    ridge_sharding s = {.n_dims = t->n};
    for (int d = 0; d < t->n; d++) {
        const spmd_dim *dim = &t->dims[d];
        if (op->manual == tensor)
            s.dims[d] = op->fixed.dims[d];
        for (int k = 0; k < dim->n; k++) {
            const ridge_dim_axes *from = &factors[dim->factors[k]];
            for (int a = 0; a < from->n && s.dims[d].n < RIDGE_MESH_AXIS_MAX; a++)
                s.dims[d].axes[s.dims[d].n++] = from->axes[a];
            /* what lies within is contiguous only when this is cut entirely */
            if (ridge_dim_ways(&m->mesh, from) !=
                spmd_factor_at(op, dim->factors[k])->size)
                break;
        }
    }
    return s;
}

/* ---- one operation ----------------------------------------------------------------
 */

/** Room for the axes of all factors of an operation, used again and again. */
typedef struct spread {
    spmd *m;
    int room;
    ridge_dim_axes *merged, *own;
    double *weight;   /* of merged: elements of the largest array that has it so */
    bool *is_stopped; /* factors whose arrays disagree */
    bool has_changed;
} spread;

static ridge_status make_room(spread *s, int n)
{
    if (n <= s->room)
        return RIDGE_OK;
    s->room = 2 * n;
    s->merged = ridge_new(s->m->scratch, ridge_dim_axes, (size_t)s->room);
    s->own = ridge_new(s->m->scratch, ridge_dim_axes, (size_t)s->room);
    s->weight = ridge_new(s->m->scratch, double, (size_t)s->room);
    s->is_stopped = ridge_new(s->m->scratch, bool, (size_t)s->room);
    return s->merged && s->own && s->weight && s->is_stopped
               ? RIDGE_OK
               : ridge_fail_nomem(s->m->cx);
}

/* Add what one array says of a factor. Where two disagree, what they agree on. */
static void merge(spread *s, int f, const ridge_dim_axes *own, double weight)
{
    ridge_dim_axes *to = &s->merged[f];
    int same = 0;
    while (same < to->n && same < own->n && to->axes[same] == own->axes[same])
        same++;
    if (same < to->n && same < own->n) {
        to->n = same;
        s->is_stopped[f] = true;
    } else if (own->n > to->n && !s->is_stopped[f]) {
        *to = *own;
        s->weight[f] = weight;
    } else if (own->n == to->n && own->n > 0 && weight > s->weight[f]) {
        s->weight[f] = weight;
    }
}

/* Whether an axis of factor f could go on to any array that has not got it. */
static bool can_spread(const spread *s, const spmd_op *op, int f, int axis)
{
    for (int t = 0; t < op->n; t++) {
        const spmd_value *v = spmd_value_at(s->m, op->tensors[t].value);
        if (ridge_sharding_axes(&v->sharding) & 1U << axis)
            continue;
        for (factor_place at = BEFORE_FIRST; next_factor(&op->tensors[t], &at);) {
            if (at.factor == f && v->open & 1U << at.dim)
                return true;
        }
    }
    return false;
}

static void read_own(spread *s, const spmd_op *op, int tensor)
{
    for (factor_place at = BEFORE_FIRST; next_factor(&op->tensors[tensor], &at);)
        s->own[at.factor].n = 0;
    spmd_factors_of(s->m, op, tensor, s->own, s->m);
}

/* A result that is closed keeps operands from what it has not got. */
static void limit_sideways(spread *s, const spmd_op *op)
{
    for (int t = op->n_operands; t < op->n; t++) {
        const spmd_value *v = spmd_value_at(s->m, op->tensors[t].value);
        read_own(s, op, t);
        for (factor_place at = BEFORE_FIRST; next_factor(&op->tensors[t], &at);) {
            const int f = at.factor;
            if (!(v->open & 1U << at.dim) && s->own[f].n < s->merged[f].n)
                s->merged[f].n = s->own[f].n;
        }
    }
}

/* Whether the arrays of factor f have to yield an axis to those of g. */
static bool yields(const spread *s, int f, int g)
{
    return f != g &&
           (s->weight[f] < s->weight[g] || (s->weight[f] == s->weight[g] && f > g));
}

/* Take from factor f what lies from an axis on that g has as well, and can spread. */
static void yield_axes(spread *s, const spmd_op *op, int f, int g)
{
    ridge_dim_axes *from = &s->merged[f];
    const ridge_dim_axes *to = &s->merged[g];
    for (int a = 0; a < from->n; a++) {
        for (int b = 0; b < to->n; b++) {
            if (to->axes[b] == from->axes[a] && can_spread(s, op, g, to->axes[b]))
                from->n = a;
        }
    }
}

/* An axis that two factors claim stays with the one whose arrays are larger. */
static void part_axes(spread *s, const spmd_op *op)
{
    for (int f = 0; f < op->factors.n; f++) {
        for (int g = 0; g < op->factors.n; g++) {
            if (yields(s, f, g))
                yield_axes(s, op, f, g);
        }
    }
}

/* Whether a tensor may take the axes of factor f from place @p from on. @return how
 * many of them it may have */
static int room_for(const spread *s, const spmd_op *op, int tensor, int f)
{
    const spmd_value *v = spmd_value_at(s->m, op->tensors[tensor].value);
    unsigned used = ridge_sharding_axes(&v->sharding);
    int n = s->own[f].n;
    while (n < s->merged[f].n && !(used & 1U << s->merged[f].axes[n]))
        n++;
    return n;
}

static bool is_learning(const spmd_factor *f)
{
    return f->kind != SPMD_WHOLE && f->size != 1;
}

/* Take over what the others have, dim by dim. */
static void update(spread *s, const spmd_op *op, int tensor)
{
    const spmd_tensor *t = &op->tensors[tensor];
    spmd_value *v = spmd_value_at(s->m, t->value);
    for (int d = 0; d < t->n; d++) {
        bool is_longer = false;
        if (!(v->open & 1U << d))
            continue;
        for (int k = 0; k < t->dims[d].n; k++) {
            const int f = t->dims[d].factors[k];
            const ridge_dim_axes *own = &s->own[f], *all = &s->merged[f];
            if (!is_learning(spmd_factor_at(op, f)) || all->n <= own->n ||
                memcmp(all->axes, own->axes, (size_t)own->n * sizeof own->axes[0]))
                continue;
            const int n = room_for(s, op, tensor, f);
            if (n <= own->n)
                continue;
            s->own[f] = *all;
            s->own[f].n = n;
            is_longer = true;
        }
        if (!is_longer)
            continue;
        const ridge_sharding whole = spmd_sharding_of(s->m, op, tensor, s->own);
        if (whole.dims[d].n > v->sharding.dims[d].n &&
            memcmp(whole.dims[d].axes, v->sharding.dims[d].axes,
                   (size_t)v->sharding.dims[d].n * sizeof(int)) == 0) {
            v->sharding.dims[d] = whole.dims[d];
            s->has_changed = true;
        }
    }
}

static ridge_status spread_op(spread *s, const spmd_op *op)
{
    RIDGE_TRY(make_room(s, op->factors.n));
    for (int f = 0; f < op->factors.n; f++) {
        s->merged[f].n = 0;
        s->weight[f] = 0;
        s->is_stopped[f] = false;
    }
    for (int t = 0; t < op->n; t++) {
        const spmd_value *v = spmd_value_at(s->m, op->tensors[t].value);
        const double weight = op->tensors[t].n ? ridge_hlo_shape_elements(v->shape) : 0;
        read_own(s, op, t);
        for (factor_place at = BEFORE_FIRST; next_factor(&op->tensors[t], &at);)
            merge(s, at.factor, &s->own[at.factor], weight);
    }
    limit_sideways(s, op);
    part_axes(s, op);
    for (int t = 0; t < op->n; t++) {
        if (op->is_one_way[t < op->n_operands])
            continue;
        read_own(s, op, t);
        update(s, op, t);
    }
    return RIDGE_OK;
}

/* ---- all --------------------------------------------------------------------------
 */

enum { ROUNDS_MOST = 1000 };

/* There and back again until nothing changes. @param is_all  not those alone whose
 * arrays lie alike */
static ridge_status spread_all(spread *s, bool is_all)
{
    for (int round = 0; round < ROUNDS_MOST; round++) {
        s->has_changed = false;
        for (int k = 0; k < 2 * s->m->ops.n && s->m->split_axis < 0; k++) {
            const int at = k < s->m->ops.n ? k : 2 * s->m->ops.n - 1 - k;
            const spmd_op *op = spmd_op_at(s->m, at);
            if (is_all || op->is_pointwise)
                RIDGE_TRY(spread_op(s, op));
        }
        if (!s->has_changed || s->m->split_axis >= 0)
            return RIDGE_OK;
        if (ridge_ctx_is_cancelled(s->m->cx))
            return ridge_fail(s->m->cx, RIDGE_E_CANCELLED, "cancelled");
    }
    return RIDGE_OK;
}

ridge_status spmd_propagate(spmd *m)
{
    spread s = {.m = m};
    RIDGE_TRY(spread_all(&s, false));
    return spread_all(&s, true);
}
