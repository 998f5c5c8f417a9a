/* The operations of a program by how much each is worth a look. */
#include "hlo_section.h"

#include <stdlib.h>

double ridge__hlo_waited_s(const ridge_hlo_op *op)
{
    const bool is_beside = op->exposed_s > 0 || op->hidden_s > 0;
    return op->times * (is_beside ? op->exposed_s : op->expected_s);
}

/** An op with what it is ranked by. */
typedef struct ranked {
    double weight, bytes;
    int index;
} ranked;

static int heavier(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

const int *ridge__hlo_rank(ridge_ctx *cx, const ridge_hlo_study *study)
{
    const size_t n = (size_t)study->n_ops;
    ranked *all = ridge_new(ridge_ctx_arena(cx), ranked, n);
    int *order = ridge_new(ridge_ctx_arena(cx), int, n);
    if (all == NULL || order == NULL)
        return NULL;
    for (int k = 0; k < study->n_ops; k++) {
        const ridge_hlo_op *op = &study->ops[k];
        all[k] = (ranked){study->slice ? ridge__hlo_waited_s(op) : 0,
                          op->times * (op->bytes + op->matmul_flops), k};
    }
    qsort(all, n, sizeof *all, heavier);
    for (int k = 0; k < study->n_ops; k++)
        order[k] = all[k].index;
    return order;
}
