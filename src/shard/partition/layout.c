/* Packed layouts, and the steps between two of them. */
#include "layout.h"

#include <assert.h>

unsigned ridge__cut_mask(ridge__cut cut)
{
    unsigned mask = 0;
    for (; cut != 0; cut >>= 4)
        mask |= 1u << ((cut & 15u) - 1u);
    return mask;
}

ridge__cut ridge__cut_without(ridge__cut cut, unsigned mask)
{
    if ((ridge__cut_mask(cut) & mask) == 0)
        return cut;
    ridge__cut kept = 0;
    for (; cut != 0; cut >>= 4) {
        const int axis = (int)(cut & 15u) - 1;
        if (((mask >> axis) & 1u) == 0)
            kept = ridge__cut_append(kept, axis);
    }
    return kept;
}

int ridge__cut_common(ridge__cut a, ridge__cut b)
{
    int n = 0;
    for (; a != 0 && (a & 15u) == (b & 15u); a >>= 4, b >>= 4)
        n++;
    return n;
}

int64_t ridge__cut_ways(const ridge_mesh *mesh, ridge__cut cut)
{
    int64_t ways = 1;
    for (; cut != 0; cut >>= 4)
        ways *= mesh->axes[(cut & 15u) - 1u].size;
    return ways;
}

int64_t ridge__cut_local(const ridge_mesh *mesh, ridge__cut cut, int64_t size)
{
    return cut == 0 ? size : ridge_ceil_div(size, ridge__cut_ways(mesh, cut));
}

bool ridge__layout_equal(const ridge__layout *a, const ridge__layout *b)
{
    unsigned differ = a->partial ^ b->partial;
    for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++)
        differ |= a->dims[i] ^ b->dims[i];
    return differ == 0;
}

unsigned ridge__layout_cut_mask(const ridge__layout *layout)
{
    unsigned mask = 0;
    for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++)
        mask |= ridge__cut_mask(layout->dims[i]);
    return mask;
}

int ridge__layout_find(const ridge__layout *layout, int axis)
{
    for (int i = 0; i < RIDGE_TENSOR_DIM_MAX; i++) {
        for (ridge__cut cut = layout->dims[i]; cut != 0; cut >>= 4) {
            if ((int)(cut & 15u) == axis + 1)
                return i;
        }
    }
    return -1;
}

void ridge__layout_drop(ridge__layout *layout, unsigned mask)
{
    for (int i = 0; mask != 0 && i < RIDGE_TENSOR_DIM_MAX; i++) {
        if (layout->dims[i] != 0)
            layout->dims[i] = ridge__cut_without(layout->dims[i], mask);
    }
}

double ridge__layout_bytes(const ridge__box *box, const ridge__layout *layout)
{
    double bytes = box->element_bytes;
    for (int i = 0; i < box->n_dims; i++)
        bytes *= (double)ridge__cut_local(box->mesh, layout->dims[i], box->sizes[i]);
    return bytes;
}

ridge_sharding ridge__layout_public(const ridge__layout *layout, int n_dims)
{
    ridge_sharding s = {.n_dims = n_dims, .partial = layout->partial};
    for (int i = 0; i < n_dims; i++) {
        for (ridge__cut cut = layout->dims[i]; cut != 0; cut >>= 4)
            s.dims[i].axes[s.dims[i].n++] = (int)(cut & 15u) - 1;
    }
    return s;
}

/* ---- steps ---------------------------------------------------------------------- */

/* Steps under way: where the tensor lies by now, and where it has to get. */
typedef struct route {
    const ridge__box *box;
    ridge__layout at;
    const ridge__layout *to;
    ridge__step *steps;
    int n;
} route;

/* Axes of a that stand behind the first n. */
static ridge__cut cut_tail(ridge__cut cut, int n)
{
    return n >= 8 ? 0 : cut >> (4 * n);
}

/* Two steps in a row that one collective over more axes does as well. An all-to-all
 * takes its axes along in their order already: two of them turn it round. */
static bool can_join(const ridge__step *last, const ridge__step *next)
{
    return last->kind != RIDGE_STEP_ALL_TO_ALL && last->kind == next->kind &&
           last->from == next->from && last->to == next->to;
}

static void record(route *r, ridge__step step)
{
    ridge__step *last = r->n > 0 ? &r->steps[r->n - 1] : NULL;
    step.after = r->at;
    if (last && can_join(last, &step)) {
        step.axes = step.kind == RIDGE_STEP_ALL_GATHER
                        ? ridge__cut_join(step.axes, last->axes)
                        : ridge__cut_join(last->axes, step.axes);
        if (step.kind != RIDGE_STEP_ALL_GATHER)
            step.bytes = last->bytes;
        *last = step;
        return;
    }
    assert(r->n < RIDGE__STEP_MAX);
    r->steps[r->n++] = step;
}

/* Where an axis that has to come to a dim is now, and how many axes can come at once.
 */
static bool append_axis(route *r, int to)
{
    const ridge__cut want = r->to->dims[to];
    const int n = ridge__cut_count(r->at.dims[to]);
    if (want == r->at.dims[to] || ridge__cut_common(r->at.dims[to], want) != n)
        return false;
    const int axis = ridge__cut_axis(want, n);
    const double bytes = ridge__layout_bytes(r->box, &r->at);
    ridge__step step = {
        .kind = RIDGE_STEP_SLICE, .from = -1, .to = to, .axes = (ridge__cut)axis + 1};
    step.bytes = bytes;
    const int from = ridge__layout_find(&r->at, axis);
    if (from >= 0) {
        int place = 0;
        while (ridge__cut_axis(r->at.dims[from], place) != axis)
            place++;
        const ridge__cut moved = cut_tail(r->at.dims[from], place);
        const int n_moved = ridge__cut_count(moved);
        if (from == to || ridge__cut_common(moved, cut_tail(want, n)) != n_moved)
            return false;
        step.kind = RIDGE_STEP_ALL_TO_ALL;
        step.from = from;
        step.axes = moved;
        step.bytes = bytes * (double)ridge__cut_ways(r->box->mesh, moved);
        r->at.dims[from] = ridge__cut_head(r->at.dims[from], place);
    } else if ((r->at.partial >> axis) & 1u) {
        step.kind = RIDGE_STEP_REDUCE_SCATTER;
        r->at.partial &= ~(1u << axis);
    }
    r->at.dims[to] = ridge__cut_join(r->at.dims[to], step.axes);
    record(r, step);
    return true;
}

/* Sum over what no dim wants. */
static bool reduce_rest(route *r)
{
    const unsigned rest =
        r->at.partial & ~r->to->partial & ~ridge__layout_cut_mask(r->to);
    if (rest == 0)
        return false;
    ridge__step step = {.kind = RIDGE_STEP_ALL_REDUCE, .from = -1, .to = -1};
    for (int a = 0; a < r->box->mesh->n; a++) {
        if ((rest >> a) & 1u)
            step.axes = ridge__cut_append(step.axes, a);
    }
    step.bytes = ridge__layout_bytes(r->box, &r->at);
    r->at.partial &= ~rest;
    record(r, step);
    return true;
}

/* Take the innermost axis off a dim that has to lose it. */
static bool gather_one(route *r)
{
    for (int i = 0; i < r->box->n_dims; i++) {
        const ridge__cut cut = r->at.dims[i];
        const int n = ridge__cut_count(cut);
        if (ridge__cut_common(cut, r->to->dims[i]) == n)
            continue;
        ridge__step step = {.kind = RIDGE_STEP_ALL_GATHER, .from = i, .to = -1};
        step.axes = cut_tail(cut, n - 1);
        r->at.dims[i] = ridge__cut_head(cut, n - 1);
        step.bytes = ridge__layout_bytes(r->box, &r->at);
        record(r, step);
        return true;
    }
    return false;
}

static bool append_any(route *r)
{
    for (int i = 0; i < r->box->n_dims; i++) {
        if (append_axis(r, i))
            return true;
    }
    return false;
}

int ridge__layout_steps(const ridge__box *box, const ridge__layout *from,
                        const ridge__layout *to, ridge__step *out)
{
    if (ridge__layout_equal(from, to))
        return 0;
    route r = {.box = box, .at = *from, .to = to, .steps = out};
    while (append_any(&r) || reduce_rest(&r) || gather_one(&r)) {
    }
    assert(ridge__layout_equal(&r.at, to));
    return r.n;
}

double ridge__step_moved(const ridge_mesh *mesh, const ridge__step *step)
{
    const double p = (double)ridge__cut_ways(mesh, step->axes);
    const double share = step->bytes * (p - 1.0) / p;
    switch (step->kind) {
    case RIDGE_STEP_ALL_GATHER:
    case RIDGE_STEP_REDUCE_SCATTER:
        return share;
    case RIDGE_STEP_ALL_REDUCE:
        return 2.0 * share;
    case RIDGE_STEP_ALL_TO_ALL:
        return share / p;
    case RIDGE_STEP_SLICE:
        break;
    }
    return 0.0;
}

ridge_reshard ridge__step_public(const ridge__step *step, int operand)
{
    ridge_reshard s = {.kind = step->kind,
                       .operand = operand,
                       .dim_from = step->from,
                       .dim_to = step->to,
                       .bytes = step->bytes};
    for (ridge__cut cut = step->axes; cut != 0; cut >>= 4)
        s.axes[s.n_axes++] = (int)(cut & 15u) - 1;
    return s;
}
