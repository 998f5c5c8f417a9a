/* An operation's factors: what it treats alike in all its arrays. */
#include "spmd.h"

spmd_op *spmd_op_at(const spmd *m, int op)
{
    return (spmd_op *)(void *)m->ops.items + op;
}

spmd_factor *spmd_factor_at(const spmd_op *op, int factor)
{
    return (spmd_factor *)(void *)op->factors.items + factor;
}

const hlo_node *spmd_node_of(const spmd *m, const spmd_op *op)
{
    return &m->graphs.graphs[op->graph].nodes[op->node];
}

const ridge_hlo_shape *spmd_shape_of(const spmd *m, const spmd_op *op, int tensor)
{
    return spmd_value_at(m, op->tensors[tensor].value)->shape;
}

int spmd_factor_add(spmd *m, spmd_op *op, int64_t size, spmd_factor_kind kind)
{
    spmd_factor *f = hlo_list_push(m->scratch, &op->factors);
    if (f == NULL)
        return -1;
    *f = (spmd_factor){size, kind};
    return op->factors.n - 1;
}

void spmd_dim_put(spmd_op *op, int tensor, int64_t dim, int factor)
{
    spmd_tensor *t = &op->tensors[tensor];
    if (factor < 0 || dim < 0 || dim >= t->n || t->dims[dim].n == SPMD_DIM_FACTOR_MAX)
        return;
    t->dims[dim].factors[t->dims[dim].n++] = factor;
}

void spmd_dim_new(spmd *m, spmd_op *op, int tensor, int64_t dim, spmd_factor_kind kind)
{
    if (dim >= 0 && dim < op->tensors[tensor].n)
        spmd_dim_put(
            op, tensor, dim,
            spmd_factor_add(m, op, spmd_shape_of(m, op, tensor)->dims[dim], kind));
}
