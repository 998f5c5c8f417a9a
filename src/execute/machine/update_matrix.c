/* A weight's part as a part of matrices: its rows and columns, and sums over the ranks
 * that have the rest of them. */
#include "update_call.h"

/* How an einsum of the forward pass reads a weight. */
static bool find_matrix(const ridge__machine *m, int weight, ridge_weight_matrix *out)
{
    const int *copy_of = m->partition->copy_of;
    for (int i = 0; i < m->program->n_ops; i++) {
        const ridge_operation *op = &m->program->ops[i];
        for (int k = 0; k < op->n_inputs && !op->is_backward; k++) {
            if (copy_of[op->inputs[k]] == weight &&
                ridge_einsum_weight_matrix(m->program, op, k, out))
                return true;
        }
    }
    return false;
}

static int64_t whole_product(const ridge__call *c, int input, int first, int end)
{
    const ridge_tensor *t = ridge__in_tensor(c, input);
    int64_t n = 1;
    for (int i = first; i < end; i++)
        n *= c->m->program->dims[t->dims[i]].size;
    return n;
}

bool ridge__local_matrix_of(const ridge__call *c, int input, ridge__local_matrix *out)
{
    const ridge__tensor_part *part = ridge__in_part(c, input);
    const int weight = c->m->partition->copy_of[c->op->inputs[0]];
    ridge_weight_matrix w;
    if (!find_matrix(c->m, weight, &w))
        return false;
    const int rows_end = w.n_batch + w.n_rows;
    *out = (ridge__local_matrix){
        .batch = ridge__tensor_part_product(part, 0, w.n_batch),
        .rows = ridge__tensor_part_product(part, w.n_batch, rows_end),
        .columns = ridge__tensor_part_product(part, rows_end, part->n_dims),
        .whole_rows = whole_product(c, input, w.n_batch, rows_end),
        .whole_columns = whole_product(c, input, rows_end, part->n_dims),
        .rows_at = w.n_batch,
        .columns_at = rows_end,
        .n_dims = part->n_dims};
    return true;
}

static ridge_status add_over(ridge__call *c, int axis, ridge__array a, int64_t n)
{
    ridge_pending pending;
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    RIDGE_TRY(ridge_all_reduce_start(c->m->cx, c->m->axis_groups[axis],
                                     RIDGE_ELEMENT_F32, RIDGE_REDUCE_SUM, n, a.p, a.p,
                                     &pending));
    return ridge_comm_wait(c->m->cx, &pending);
}

ridge_status ridge__share_over_cut(ridge__call *c, int input, int first, int end,
                                   float *values, int64_t n)
{
    ridge__device *d = c->m->device;
    const size_t bytes = (size_t)n * sizeof *values;
    const ridge_sharding *s = &c->m->partition->shardings[c->op->inputs[input]];
    ridge__array a = {.p = NULL};
    for (int i = first; i < end; i++) {
        for (int k = 0; k < s->dims[i].n; k++) {
            if (a.p == NULL) {
                RIDGE_TRY(ridge__scratch_take(c, n, RIDGE_DTYPE_FP32, &a));
                RIDGE_TRY(d->ops->upload(d, a.p, values, bytes));
            }
            RIDGE_TRY(add_over(c, s->dims[i].axes[k], a, n));
        }
    }
    if (a.p == NULL)
        return RIDGE_OK;
    RIDGE_TRY(d->ops->download(d, values, a.p, bytes));
    ridge__scratch_give(c, &a);
    return RIDGE_OK;
}
