/* Whether two programs are the same in all that their notation carries: tensors and
 * operations are compared by name, so that the order of declarations does not matter.
 */
#include "ridge/program.h"

#include <string.h>

typedef struct pair {
    const ridge_program *a, *b;
} pair;

static bool is_same(double a, double b)
{
    return !(a < b) && !(a > b);
}

static bool is_same_tensor_of(const pair *p, int a, int b)
{
    if (a < 0 || b < 0)
        return a < 0 && b < 0;
    return strcmp(p->a->tensors[a].name, p->b->tensors[b].name) == 0;
}

static bool are_same_tensors(const pair *p, const int *a, int n_a, const int *b,
                             int n_b)
{
    if (n_a != n_b)
        return false;
    for (int i = 0; i < n_a; i++) {
        if (!is_same_tensor_of(p, a[i], b[i]))
            return false;
    }
    return true;
}

static bool are_dims_equal(const pair *p)
{
    if (p->a->n_dims != p->b->n_dims)
        return false;
    for (int i = 0; i < p->a->n_dims; i++) {
        const ridge_program_dim *a = &p->a->dims[i], *b = &p->b->dims[i];
        if (strcmp(a->name, b->name) != 0 || a->size != b->size ||
            !is_same(a->used, b->used))
            return false;
    }
    return true;
}

static bool is_tensor_equal(const pair *p, const ridge_tensor *a, const ridge_tensor *b)
{
    if (a->role != b->role || a->dtype != b->dtype || a->n_dims != b->n_dims ||
        a->block != b->block || !is_same_tensor_of(p, a->gradient_of, b->gradient_of))
        return false;
    for (int i = 0; i < a->n_dims; i++) {
        if (a->dims[i] != b->dims[i])
            return false;
    }
    return strcmp(a->name, b->name) == 0;
}

/* Tensors mostly stand at the same place. */
static bool are_tensors_equal(const pair *p)
{
    if (p->a->n_tensors != p->b->n_tensors)
        return false;
    for (int i = 0; i < p->a->n_tensors; i++) {
        const ridge_tensor *a = &p->a->tensors[i];
        int k = i;
        if (strcmp(p->b->tensors[k].name, a->name) != 0)
            k = ridge_program_tensor_find(p->b, a->name);
        if (k < 0 || !is_tensor_equal(p, a, &p->b->tensors[k]))
            return false;
    }
    return true;
}

static bool are_details_equal(const ridge_operation *a, const ridge_operation *b)
{
    return a->function == b->function && a->position_dim == b->position_dim &&
           is_same(a->scale, b->scale) && a->extras == b->extras &&
           a->norm == b->norm && a->norm_groups == b->norm_groups &&
           a->is_causal == b->is_causal &&
           a->is_window_chunked == b->is_window_chunked && a->window == b->window &&
           is_same(a->context_tokens, b->context_tokens) && a->scan == b->scan &&
           is_same(a->scan_flops_per_token, b->scan_flops_per_token) &&
           a->experts_per_token == b->experts_per_token && a->rule == b->rule;
}

static bool are_collectives_equal(const ridge_operation *a, const ridge_operation *b)
{
    if (a->collective != b->collective || a->n_axes != b->n_axes ||
        a->dim_from != b->dim_from || a->dim_to != b->dim_to)
        return false;
    for (int i = 0; i < a->n_axes; i++) {
        if (a->axes[i] != b->axes[i])
            return false;
    }
    return true;
}

static bool are_ops_equal(const pair *p)
{
    if (p->a->n_ops != p->b->n_ops)
        return false;
    for (int i = 0; i < p->a->n_ops; i++) {
        const ridge_operation *a = &p->a->ops[i], *b = &p->b->ops[i];
        if (strcmp(a->name, b->name) != 0 || a->code != b->code || a->part != b->part ||
            a->is_head != b->is_head || a->is_backward != b->is_backward ||
            a->is_added != b->is_added || a->forward_of != b->forward_of ||
            !are_same_tensors(p, a->inputs, a->n_inputs, b->inputs, b->n_inputs) ||
            !are_same_tensors(p, a->outputs, a->n_outputs, b->outputs, b->n_outputs) ||
            !are_details_equal(a, b) || !are_collectives_equal(a, b))
            return false;
    }
    return true;
}

static bool are_blocks_equal(const pair *p)
{
    if (p->a->n_blocks != p->b->n_blocks)
        return false;
    for (int i = 0; i < p->a->n_blocks; i++) {
        const ridge_block *a = &p->a->blocks[i], *b = &p->b->blocks[i];
        if (strcmp(a->name, b->name) != 0 || a->repeat != b->repeat ||
            a->first_op != b->first_op || a->n_ops != b->n_ops ||
            a->layer != b->layer || a->is_backward != b->is_backward ||
            a->forward_of != b->forward_of ||
            !is_same_tensor_of(p, a->carry_in, b->carry_in) ||
            !is_same_tensor_of(p, a->carry_out, b->carry_out))
            return false;
    }
    return true;
}

bool ridge_program_equal(const ridge_program *a, const ridge_program *b)
{
    const pair p = {.a = a, .b = b};
    return strcmp(a->name, b->name) == 0 && a->phase == b->phase &&
           are_dims_equal(&p) && are_tensors_equal(&p) && are_ops_equal(&p) &&
           are_blocks_equal(&p);
}
