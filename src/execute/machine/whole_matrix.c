/* Matrices whose parts lie on several ranks, put together and dealt out again. */
#include "whole_matrix.h"

/* ---- putting together --------------------------------------------------------------
 */

/* A part while its dims are put together one axis after the other. */
typedef struct gathering {
    ridge__call *c;
    int input;
    int64_t lengths[RIDGE_TENSOR_DIM_MAX];
    ridge__array a;
} gathering;

static int64_t product(const gathering *g, int first, int end)
{
    int64_t n = 1;
    for (int i = first; i < end; i++)
        n *= g->lengths[i];
    return n;
}

static ridge_status gather_axis(gathering *g, int at, int axis, int64_t full)
{
    ridge__call *c = g->c;
    const int n_dims = ridge__in_part(c, g->input)->n_dims;
    const ridge_cut cut = {product(g, 0, at), full, product(g, at + 1, n_dims)};
    ridge__array whole;
    ridge_pending pending;
    RIDGE_TRY(
        ridge__scratch_take(c, cut.outer * full * cut.inner, RIDGE_DTYPE_FP32, &whole));
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    RIDGE_TRY(ridge_all_gather_start(c->m->cx, c->m->axis_groups[axis],
                                     RIDGE_ELEMENT_F32, &cut, g->a.p, whole.p,
                                     &pending));
    RIDGE_TRY(ridge_comm_wait(c->m->cx, &pending));
    ridge__scratch_give(c, &g->a);
    g->a = whole;
    g->lengths[at] = full;
    return RIDGE_OK;
}

/* From the innermost axis outwards, so that uneven chunks nest as they are cut. */
static ridge_status gather_dim(gathering *g, int at)
{
    const ridge__machine *m = g->c->m;
    const int tensor = g->c->op->inputs[g->input];
    const ridge_dim_axes *axes = &m->partition->shardings[tensor].dims[at];
    int64_t lengths[RIDGE_MESH_AXIS_MAX + 1];
    lengths[0] = m->program->dims[m->program->tensors[tensor].dims[at]].size;
    for (int k = 0; k < axes->n; k++)
        lengths[k + 1] =
            ridge_ceil_div(lengths[k], m->partition->mesh.axes[axes->axes[k]].size);
    for (int k = axes->n - 1; k >= 0; k--)
        RIDGE_TRY(gather_axis(g, at, axes->axes[k], lengths[k]));
    return RIDGE_OK;
}

ridge_status ridge__matrix_gather(ridge__call *c, int input,
                                  const ridge__local_matrix *x, ridge__array part,
                                  ridge__array *out)
{
    gathering g = {.c = c, .input = input, .a = part};
    for (int i = 0; i < x->n_dims; i++)
        g.lengths[i] = ridge__in_part(c, input)->spans[i].length;
    for (int i = x->n_dims - 1; i >= x->rows_at; i--)
        RIDGE_TRY(gather_dim(&g, i));
    *out = g.a;
    return RIDGE_OK;
}

ridge_status ridge__matrix_take_part(ridge__call *c, int input,
                                     const ridge__local_matrix *x, ridge__array whole,
                                     ridge__array *out)
{
    const ridge__tensor_part *part = ridge__in_part(c, input);
    ridge__device *d = c->m->device;
    ridge__copy copy = {.n_dims = part->n_dims};
    int64_t inner = 1, offset = 0;
    RIDGE_TRY(ridge__scratch_take(c, part->elements, RIDGE_DTYPE_FP32, out));
    RIDGE_TRY(d->ops->zero(d, out->p, (size_t)part->elements * sizeof(float)));
    for (int i = part->n_dims - 1; i >= 0; i--) {
        const int dim = ridge__in_tensor(c, input)->dims[i];
        const bool is_whole = i >= x->rows_at;
        copy.sizes[i] = is_whole ? part->spans[i].valid : part->spans[i].length;
        copy.x_strides[i] = inner;
        copy.y_strides[i] = ridge__tensor_part_product(part, i + 1, part->n_dims);
        offset += is_whole && copy.sizes[i] > 0 ? part->spans[i].start * inner : 0;
        inner *= is_whole ? c->m->program->dims[dim].size : part->spans[i].length;
        if (copy.sizes[i] == 0)
            return RIDGE_OK;
    }
    copy.x = (ridge__array){(float *)whole.p + offset, RIDGE_DTYPE_FP32};
    copy.y = *out;
    return d->ops->copy(d, &copy);
}

/* ---- dealing out -------------------------------------------------------------------
 */

ridge__matrix_ranks ridge__matrix_ranks_of(const ridge__call *c, int input,
                                           const ridge__local_matrix *x)
{
    const ridge__machine *m = c->m;
    const ridge_sharding *s = &m->partition->shardings[c->op->inputs[input]];
    ridge__matrix_ranks r = {.ranks = 1};
    for (int i = x->rows_at; i < x->n_dims; i++) {
        for (int k = 0; k < s->dims[i].n; k++) {
            const int axis = s->dims[i].axes[k];
            const int size = (int)m->partition->mesh.axes[axis].size;
            r.axes[r.n++] = axis;
            r.rank = r.rank * size + (int)m->coords[axis];
            r.ranks *= size;
        }
    }
    return r;
}

/* Along one axis after the other: those of the ranks that have it not yet pass on what
 * they hold, and get it in a later turn. */
ridge_status ridge__matrix_broadcast(ridge__call *c, const ridge__matrix_ranks *r,
                                     int owner, ridge__array whole, int64_t n)
{
    ridge_pending pending;
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    for (int i = r->n - 1; i >= 0; i--) {
        const int size = (int)c->m->partition->mesh.axes[r->axes[i]].size;
        RIDGE_TRY(ridge_broadcast_start(c->m->cx, c->m->axis_groups[r->axes[i]],
                                        RIDGE_ELEMENT_F32, n, owner % size, whole.p,
                                        whole.p, &pending));
        RIDGE_TRY(ridge_comm_wait(c->m->cx, &pending));
        owner /= size;
    }
    return RIDGE_OK;
}
