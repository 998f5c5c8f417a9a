/*
 * Collectives of a partitioned program on the ranks' arrays: which dim is cut becomes
 * [outer, full, inner]; several axes at once where they cut evenly, else one after the
 * other, so that uneven chunks nest as the sharding says.
 */
#include "machine.h"

/* One step of a collective: an array in, an array out. */
typedef struct move {
    ridge__call *c;
    ridge_comm *group;
    ridge__array src, dst;
    ridge_cut cut;
} move;

static ridge_status settle(move *x, ridge_status started, ridge_pending *pending)
{
    RIDGE_TRY(started);
    return ridge_comm_wait(x->c->m->cx, pending);
}

static ridge_status gather(move *x)
{
    ridge_pending pending;
    return settle(x,
                  ridge_all_gather_start(x->c->m->cx, x->group,
                                         ridge__element_of(x->src.dtype), &x->cut,
                                         x->src.p, x->dst.p, &pending),
                  &pending);
}

static ridge_status scatter(move *x)
{
    ridge_pending pending;
    return settle(x,
                  ridge_reduce_scatter_start(x->c->m->cx, x->group,
                                             ridge__element_of(x->src.dtype), &x->cut,
                                             x->src.p, x->dst.p, &pending),
                  &pending);
}

static int position_of(const ridge_tensor *t, int dim)
{
    return ridge__tensor_position(t, dim);
}

static bool is_even(const ridge__call *c, int64_t chunk, int64_t full)
{
    return chunk * ridge_comm_size(c->m->groups[c->at->op]) == full;
}

/* Lengths of a dim while its axes are cut one after the other: lengths[0] is whole. */
static void nested_lengths(const ridge__call *c, int64_t full, int64_t *lengths)
{
    lengths[0] = full;
    for (int i = 0; i < c->op->n_axes; i++) {
        lengths[i + 1] =
            ridge_ceil_div(lengths[i], c->m->partition->mesh.axes[c->op->axes[i]].size);
    }
}

/* Gathers go from the innermost axis outwards, scatters from the outermost inwards. */
static ridge_status step_by_axis(move *x, bool is_gather, int64_t full)
{
    int64_t lengths[RIDGE_OP_AXIS_MAX + 1];
    const int n = x->c->op->n_axes;
    const ridge__array last = x->dst;
    nested_lengths(x->c, full, lengths);
    for (int i = 0; i < n; i++) {
        const int axis = is_gather ? n - 1 - i : i;
        ridge__array was = x->src;
        x->group = x->c->m->axis_groups[x->c->op->axes[axis]];
        x->cut.full = lengths[axis];
        x->dst = last;
        if (i + 1 < n) {
            RIDGE_TRY(ridge__scratch_take(
                x->c,
                x->cut.outer * lengths[is_gather ? axis : axis + 1] * x->cut.inner,
                was.dtype, &x->dst));
        }
        RIDGE_TRY(is_gather ? gather(x) : scatter(x));
        if (i > 0)
            ridge__scratch_give(x->c, &was);
        x->src = x->dst;
    }
    return RIDGE_OK;
}

/* What stands before a dim; rows of experts are as many as were routed here. */
static int64_t outer_of(const ridge__call *c, const ridge__tensor_part *part, int at)
{
    int64_t sizes[RIDGE_TENSOR_DIM_MAX];
    if (!part->is_rows)
        return ridge__tensor_part_product(part, 0, at);
    ridge__call_sizes(c, false, 0, sizes);
    return sizes[0] * ridge__tensor_part_product(part, 2, at);
}

static ridge_status run_cut(ridge__call *c, bool is_gather)
{
    const ridge__tensor_part *whole =
        is_gather ? ridge__out_part(c, 0) : ridge__in_part(c, 0);
    const ridge__tensor_part *part =
        is_gather ? ridge__in_part(c, 0) : ridge__out_part(c, 0);
    const int dim = is_gather ? c->op->dim_from : c->op->dim_to;
    const int at = position_of(ridge__in_tensor(c, 0), dim);
    move x = {.c = c,
              .group = c->m->groups[c->at->op],
              .src = ridge__in_array(c, 0),
              .dst = ridge__out_array(c, 0)};
    if (at < 0)
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s cuts no dim", c->op->name);
    x.cut =
        (ridge_cut){.outer = outer_of(c, whole, at),
                    .full = whole->spans[at].length,
                    .inner = ridge__tensor_part_product(whole, at + 1, whole->n_dims)};
    if (c->op->n_axes > 1 && !is_even(c, part->spans[at].length, x.cut.full))
        return step_by_axis(&x, is_gather, x.cut.full);
    return is_gather ? gather(&x) : scatter(&x);
}

static ridge_status run_all_reduce(ridge__call *c)
{
    move x = {.c = c};
    ridge_pending pending;
    return settle(&x,
                  ridge_all_reduce_start(c->m->cx, c->m->groups[c->at->op],
                                         ridge__element_of(c->in[0]->dtype),
                                         RIDGE_REDUCE_SUM, c->in[0]->elements,
                                         c->in[0]->p, c->out[0]->p, &pending),
                  &pending);
}

/* ---- all-to-all -------------------------------------------------------------------
 */

/* Sizes of an array around the two dims of an all-to-all, in the array's order. */
typedef struct around {
    int first, second; /* positions */
    int64_t n[5];      /* before, first, between, second, behind */
} around;

static around sizes_around(const ridge__tensor_part *part, int a, int b)
{
    around r = {.first = a < b ? a : b, .second = a < b ? b : a};
    r.n[0] = ridge__tensor_part_product(part, 0, r.first);
    r.n[1] = part->spans[r.first].length;
    r.n[2] = ridge__tensor_part_product(part, r.first + 1, r.second);
    r.n[3] = part->spans[r.second].length;
    r.n[4] = ridge__tensor_part_product(part, r.second + 1, part->n_dims);
    return r;
}

/* What a rank of the group has of a dim that all have together: chunks nest as the
 * axes do, the last ones shorter. */
static ridge__span chunk_of(const ridge__call *c, int64_t length, int rank)
{
    const ridge_mesh *mesh = &c->m->partition->mesh;
    ridge_dim_axes axes = {.n = c->op->n_axes};
    int64_t coords[RIDGE_MESH_AXIS_MAX] = {0}, rest = rank;
    for (int i = axes.n - 1; i >= 0; i--) {
        const int axis = c->op->axes[i];
        axes.axes[i] = axis;
        coords[axis] = rest % mesh->axes[axis].size;
        rest /= mesh->axes[axis].size;
    }
    return ridge__span_of(mesh, &axes, length, coords);
}

/* Copy between an array, one of whose dims is chunks of all ranks, and blocks
 * [ranks][.., chunk, ..]. */
static ridge_status copy_blocks(ridge__call *c, const around *sizes, bool is_second,
                                int64_t chunk, ridge__array array, ridge__array blocks,
                                bool is_unpack)
{
    const int ranks = ridge_comm_size(c->m->groups[c->at->op]);
    const int split = is_second ? 3 : 1;
    int64_t n[5], array_stride = 1, block_stride = 1, block = 1;
    ridge__copy copy = {.n_dims = 5};
    for (int i = 0; i < 5; i++) {
        n[i] = i == split ? chunk : sizes->n[i];
        block *= n[i];
    }
    for (int i = 4; i >= 0; i--) {
        int64_t *a = is_unpack ? copy.y_strides : copy.x_strides;
        int64_t *b = is_unpack ? copy.x_strides : copy.y_strides;
        a[i] = array_stride;
        b[i] = block_stride;
        copy.sizes[i] = n[i];
        array_stride *= sizes->n[i];
        block_stride *= n[i];
    }
    const int64_t bytes = (int64_t)ridge_dtype_bytes(array.dtype);
    const int64_t step = is_unpack ? copy.y_strides[split] : copy.x_strides[split];
    for (int r = 0; r < ranks; r++) {
        const ridge__span span = chunk_of(c, sizes->n[split], r);
        copy.sizes[split] = span.valid;
        ridge__array a = array, b = blocks;
        a.p = (char *)a.p + span.start * step * bytes;
        b.p = (char *)b.p + r * block * bytes;
        copy.x = is_unpack ? b : a;
        copy.y = is_unpack ? a : b;
        if (copy.sizes[split] > 0)
            RIDGE_TRY(c->m->device->ops->copy(c->m->device, &copy));
    }
    return RIDGE_OK;
}

static ridge_status run_all_to_all(ridge__call *c)
{
    ridge__device *d = c->m->device;
    const ridge__tensor_part *in = ridge__in_part(c, 0), *out = ridge__out_part(c, 0);
    const int from = position_of(ridge__in_tensor(c, 0), c->op->dim_from);
    const int to = position_of(ridge__in_tensor(c, 0), c->op->dim_to);
    const int ranks = ridge_comm_size(c->m->groups[c->at->op]);
    const int64_t to_chunk = out->spans[to].length, from_chunk = in->spans[from].length;
    const around before = sizes_around(in, from, to);
    const around after = sizes_around(out, from, to);
    const int64_t block = in->elements / in->spans[to].length * to_chunk;
    const size_t bytes =
        (size_t)(ranks * block) * (size_t)ridge_dtype_bytes(c->in[0]->dtype);
    ridge__array packed, arrived;
    ridge_pending pending;
    RIDGE_TRY(ridge__scratch_take(c, ranks * block, c->in[0]->dtype, &packed));
    RIDGE_TRY(ridge__scratch_take(c, ranks * block, c->in[0]->dtype, &arrived));
    RIDGE_TRY(d->ops->zero(d, packed.p, bytes));
    RIDGE_TRY(copy_blocks(c, &before, to > from, to_chunk, ridge__in_array(c, 0),
                          packed, false));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_to_all_start(c->m->cx, c->m->groups[c->at->op],
                                     ridge__element_of(packed.dtype), block, packed.p,
                                     arrived.p, &pending));
    RIDGE_TRY(ridge_comm_wait(c->m->cx, &pending));
    RIDGE_TRY(copy_blocks(c, &after, from > to, from_chunk, ridge__out_array(c, 0),
                          arrived, true));
    ridge__scratch_give(c, &packed);
    ridge__scratch_give(c, &arrived);
    return RIDGE_OK;
}

/* ---- the call ---------------------------------------------------------------------
 */

/* A result that adds to a sum of microbatches is made beside it. */
static ridge_status add_result(ridge__call *c, ridge__value *sum)
{
    ridge__array made = ridge__out_array(c, 0);
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {sum->elements},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = made,
                              .y = {sum->p, sum->dtype},
                              .is_added = c->adds[0]};
    const ridge_status st = c->m->device->ops->copy(c->m->device, &copy);
    ridge__scratch_give(c, &made);
    return st;
}

static ridge_status run_kind(ridge__call *c)
{
    switch ((ridge_step_kind)c->op->collective) {
    case RIDGE_STEP_ALL_GATHER:
        return run_cut(c, true);
    case RIDGE_STEP_REDUCE_SCATTER:
        return run_cut(c, false);
    case RIDGE_STEP_ALL_REDUCE:
        return run_all_reduce(c);
    case RIDGE_STEP_ALL_TO_ALL:
        return run_all_to_all(c);
    case RIDGE_STEP_SLICE:
        break;
    }
    return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s is no collective", c->op->name);
}

static bool is_loss(const ridge__call *c)
{
    if (c->side == NULL)
        return false;
    const int op = -1 - c->m->unrolled.tensor_of[c->at->side];
    return c->m->program->ops[op].code == RIDGE_OPCODE_LOSS;
}

/* Rows of experts: their exchange; sums of them; gathers and scatters of their width.
 */
static ridge_status run_rows(ridge__call *c)
{
    const ridge_tensor *t = ridge__in_tensor(c, 0);
    const ridge_step_kind kind = (ridge_step_kind)c->op->collective;
    const int dim = kind == RIDGE_STEP_ALL_GATHER ? c->op->dim_from : c->op->dim_to;
    const bool is_width = kind == RIDGE_STEP_ALL_REDUCE ||
                          (kind != RIDGE_STEP_ALL_TO_ALL && position_of(t, dim) >= 2);
    if (!is_width)
        return ridge__call_rows_move(c);
    RIDGE_TRY(ridge__rows_make(c, 0));
    return run_kind(c);
}

ridge_status ridge__call_collective(ridge__call *c)
{
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    if (is_loss(c))
        return ridge__call_loss_reduce(c);
    if (ridge__in_part(c, 0)->is_rows)
        return run_rows(c);
    const bool is_sum = c->m->unrolled.kind[c->at->out[0]] == RIDGE__VALUE_GRADIENT;
    if (!is_sum || (!c->adds[0] && c->out[0]->dtype == c->in[0]->dtype))
        return run_kind(c);
    ridge__value *sum = c->out[0], made = *sum;
    ridge__array scratch;
    RIDGE_TRY(ridge__scratch_take(c, sum->elements, c->in[0]->dtype, &scratch));
    made.p = scratch.p;
    made.dtype = scratch.dtype;
    c->out[0] = &made;
    RIDGE_TRY(run_kind(c));
    return add_result(c, sum);
}

/* ---- send -------------------------------------------------------------------------
 */

ridge_status ridge__call_send(ridge__call *c)
{
    const ridge__value *v = c->in[0];
    const ridge_tensor *t = ridge__in_tensor(c, 0);
    ridge__message message = {.elements = v->elements,
                              .is_gradient = t->role == RIDGE_ROLE_GRADIENT};
    if (c->m->options.send == NULL) {
        return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s has nowhere to send",
                          c->op->name);
    }
    RIDGE_TRY(ridge__scratch_take(c, v->elements, v->dtype, &message.array));
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {v->elements},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = ridge__in_array(c, 0),
                              .y = message.array};
    RIDGE_TRY(c->m->device->ops->copy(c->m->device, &copy));
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    return c->m->options.send(c->m->options.send_payload, c->m, c->flight, &message);
}
