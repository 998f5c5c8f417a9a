/*
 * The axes of a dim are a stack whose inner end is the top: a step takes axes off the
 * top or puts them there. Axes that lie under the same outer axes in both shardings
 * stay in place; every other one has to come off its dim and onto another, if any.
 * Steps that make the array smaller go first, gathers last.
 */
#include "reshard_route.h"
#include "product.h"

/* What an axis has yet to do. */
typedef enum axis_need {
    NEED_NOTHING,
    NEED_GATHER,  /* off its dim; then, if it ends on one, NEED_SLICE */
    NEED_SLICE,   /* onto a dim */
    NEED_REDUCE,  /* sum */
    NEED_SCATTER, /* sum, onto a dim */
    NEED_MOVE     /* off one dim and onto another at once */
} axis_need;

typedef struct walk {
    const ridge_route_task *task;
    ridge_sharding at;
    axis_need needs[RIDGE_MESH_AXIS_MAX];
    int ends[RIDGE_MESH_AXIS_MAX]; /* the dim on which an axis ends; -1: none */
    ridge_route *route;
} walk;

/* Axes at the outer end of a dim that lie alike in both shardings. */
static int common_prefix(const ridge_dim_axes *a, const ridge_dim_axes *b)
{
    int n = 0;
    while (n < a->n && n < b->n && a->axes[n] == b->axes[n])
        n++;
    return n;
}

/* Where an axis that cuts a dim has to go. */
static axis_need need_of_cut(const walk *w, int axis, int dim, unsigned gathered)
{
    const ridge_dim_axes *from = &w->task->from.dims[dim];
    const int fixed = common_prefix(from, &w->task->to.dims[dim]);
    for (int i = 0; i < fixed; i++) {
        if (from->axes[i] == axis)
            return NEED_NOTHING;
    }
    const bool can_move = w->ends[axis] >= 0 && w->ends[axis] != dim;
    return can_move && !(gathered & (1u << axis)) ? NEED_MOVE : NEED_GATHER;
}

/* @param gathered  axes that are gathered and sliced where they could move
 * @return false: partial sums would have to be made */
static bool set_needs(walk *w, unsigned gathered)
{
    for (int a = 0; a < w->task->mesh->n; a++) {
        const ridge_axis_state from = ridge__axis_state(&w->task->from, a);
        const ridge_axis_state to = ridge__axis_state(&w->task->to, a);
        w->ends[a] = to >= 0 ? to : -1;
        if (to == RIDGE_AXIS_PARTIAL) {
            w->needs[a] = NEED_NOTHING;
            if (from != RIDGE_AXIS_PARTIAL)
                return false;
        } else if (from == RIDGE_AXIS_PARTIAL) {
            w->needs[a] = to >= 0 ? NEED_SCATTER : NEED_REDUCE;
        } else if (from == RIDGE_AXIS_REPLICATED) {
            w->needs[a] = to >= 0 ? NEED_SLICE : NEED_NOTHING;
        } else {
            w->needs[a] = need_of_cut(w, a, from, gathered);
        }
    }
    return true;
}

static unsigned axes_that_need(const walk *w, axis_need need)
{
    unsigned axes = 0;
    for (int a = 0; a < w->task->mesh->n; a++) {
        if (w->needs[a] == need)
            axes |= 1u << a;
    }
    return axes;
}

/* ---- steps -------------------------------------------------------------------- */

static double bytes_of(const walk *w, const ridge_sharding *before,
                       const ridge_reshard *step)
{
    const ridge_route_task *t = w->task;
    const ridge_sharding *whole = step->kind == RIDGE_STEP_ALL_GATHER ? &w->at : before;
    const double bytes =
        ridge_sharding_local_elements(t->mesh, whole, t->sizes) * t->element_bytes;
    const bool is_cut = step->kind == RIDGE_STEP_ALL_TO_ALL;
    return is_cut ? bytes * (double)ridge_reshard_ranks(t->mesh, step) : bytes;
}

/* @return false: it does not apply, or there are too many steps */
static bool take_step(walk *w, ridge_reshard step)
{
    const ridge_sharding before = w->at;
    step.operand = w->task->operand;
    if (w->route->n == RIDGE_RESHARD_MAX ||
        !ridge_reshard_apply(w->task->mesh, &w->at, &step))
        return false;
    step.bytes = bytes_of(w, &before, &step);
    w->route->steps[w->route->n++] = step;
    for (int i = 0; i < step.n_axes; i++) {
        axis_need *need = &w->needs[step.axes[i]];
        const bool is_halfway = *need == NEED_GATHER && w->ends[step.axes[i]] >= 0;
        *need = is_halfway ? NEED_SLICE : NEED_NOTHING;
    }
    return true;
}

/* How many axes of a dim are where they end; -1 while others are still in their way. */
static int settled(const walk *w, int dim)
{
    const ridge_dim_axes *now = &w->at.dims[dim];
    const int n = common_prefix(now, &w->task->to.dims[dim]);
    return n == now->n ? n : -1;
}

/* Put axes of one need onto a dim: slices, or sums that are scattered. */
static bool push_onto(walk *w, axis_need need, ridge_step_kind kind)
{
    for (int d = 0; d < w->at.n_dims; d++) {
        const ridge_dim_axes *end = &w->task->to.dims[d];
        ridge_reshard step = {.kind = kind, .dim_from = -1, .dim_to = d};
        const int first = settled(w, d);
        for (int i = first; first >= 0 && i < end->n; i++) {
            if (w->needs[end->axes[i]] != need)
                break;
            step.axes[step.n_axes++] = end->axes[i];
        }
        if (step.n_axes > 0)
            return take_step(w, step);
    }
    return false;
}

/* The inner n axes of a dim, if all have the need. */
static bool top_of(const walk *w, int dim, int n, axis_need need, ridge_reshard *step)
{
    const ridge_dim_axes *now = &w->at.dims[dim];
    step->n_axes = 0;
    for (int i = now->n - n; i < now->n; i++) {
        if (w->needs[now->axes[i]] != need)
            return false;
        step->axes[step->n_axes++] = now->axes[i];
    }
    return true;
}

/* Whether the axes of a step come next, in their order, on the dim where they end. */
static bool comes_next(const walk *w, const ridge_reshard *step)
{
    const int d = step->dim_to;
    const int first = settled(w, d);
    const ridge_dim_axes *end = &w->task->to.dims[d];
    if (first < 0 || first + step->n_axes > end->n)
        return false;
    for (int i = 0; i < step->n_axes; i++) {
        if (end->axes[first + i] != step->axes[i])
            return false;
    }
    return true;
}

/* Move as many axes as can go together. */
static bool move_across(walk *w)
{
    for (int d = 0; d < w->at.n_dims; d++) {
        for (int n = w->at.dims[d].n; n > 0; n--) {
            ridge_reshard step = {.kind = RIDGE_STEP_ALL_TO_ALL, .dim_from = d};
            if (!top_of(w, d, n, NEED_MOVE, &step))
                continue;
            step.dim_to = w->ends[step.axes[0]];
            if (comes_next(w, &step))
                return take_step(w, step);
        }
    }
    return false;
}

static bool reduce(walk *w)
{
    ridge_reshard step = {.kind = RIDGE_STEP_ALL_REDUCE, .dim_from = -1, .dim_to = -1};
    for (int a = 0; a < w->task->mesh->n; a++) {
        if (w->needs[a] == NEED_REDUCE)
            step.axes[step.n_axes++] = a;
    }
    return step.n_axes > 0 && take_step(w, step);
}

static bool gather(walk *w)
{
    for (int d = 0; d < w->at.n_dims; d++) {
        for (int n = w->at.dims[d].n; n > 0; n--) {
            ridge_reshard step = {
                .kind = RIDGE_STEP_ALL_GATHER, .dim_from = d, .dim_to = -1};
            if (top_of(w, d, n, NEED_GATHER, &step))
                return take_step(w, step);
        }
    }
    return false;
}

static bool go(walk *w)
{
    while (push_onto(w, NEED_SLICE, RIDGE_STEP_SLICE) ||
           push_onto(w, NEED_SCATTER, RIDGE_STEP_REDUCE_SCATTER) || move_across(w) ||
           reduce(w) || gather(w)) {
    }
    return ridge_sharding_equal(&w->at, &w->task->to);
}

static bool find_route(const ridge_route_task *task, unsigned gathered,
                       ridge_route *out)
{
    walk w = {.task = task, .at = task->from, .route = out};
    out->n = 0;
    return set_needs(&w, gathered) && go(&w);
}

static bool holds_one_of(unsigned set, const unsigned *sets, int n)
{
    for (int i = 0; i < n; i++) {
        if ((set & sets[i]) == sets[i])
            return true;
    }
    return false;
}

static int count_bits(unsigned set)
{
    int n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

int ridge__routes_find(const ridge_route_task *task, ridge_route *out)
{
    walk w = {.task = task};
    unsigned tried[RIDGE_ROUTE_MAX];
    int n = 0;
    if (!set_needs(&w, 0))
        return 0;
    const unsigned moving = axes_that_need(&w, NEED_MOVE);
    for (int size = 0; size <= count_bits(moving); size++) {
        for (unsigned set = 0; set <= moving && n < RIDGE_ROUTE_MAX; set++) {
            if ((set & ~moving) || count_bits(set) != size ||
                holds_one_of(set, tried, n) || !find_route(task, set, &out[n]))
                continue;
            tried[n++] = set;
        }
        if (n > 0 && tried[0] == 0)
            break;
    }
    return n;
}

/* ---- the cheapest --------------------------------------------------------------- */

static double sent_bytes(const ridge_mesh *mesh, const ridge_route *route)
{
    double bytes = 0;
    for (int i = 0; i < route->n; i++)
        bytes += ridge_reshard_sent_bytes(mesh, &route->steps[i]);
    return bytes;
}

ridge_status ridge_reshard_plan(ridge_ctx *cx, const ridge_mesh *mesh,
                                const int64_t *sizes, double element_bytes,
                                const ridge_sharding *from, const ridge_sharding *to,
                                ridge_reshard *out, int *n)
{
    const ridge_route_task task = {mesh, sizes, element_bytes, 0, *from, *to};
    ridge_route routes[RIDGE_ROUTE_MAX];
    const int found = ridge__routes_find(&task, routes);
    int best = 0;
    if (found == 0 && (to->partial & ~from->partial)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "partial sums are wanted over an axis that has none: a sum "
                          "cannot be undone");
    }
    if (found == 0) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no sequence of %d steps or fewer: use fewer mesh axes",
                          RIDGE_RESHARD_MAX);
    }
    for (int i = 1; i < found; i++) {
        if ((float)sent_bytes(mesh, &routes[i]) <
            (float)sent_bytes(mesh, &routes[best]))
            best = i;
    }
    for (int i = 0; i < routes[best].n; i++)
        out[i] = routes[best].steps[i];
    *n = routes[best].n;
    return RIDGE_OK;
}
