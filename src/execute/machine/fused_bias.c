/*
 * A product and the bias behind it as one call: the bias is added while the product's
 * result is near, and that result needs no array of its own. Knows which pairs of
 * instructions are such.
 */
#include "fused_bias.h"

#include <string.h>

static bool is_freed(const ridge__list *list, const ridge__instruction *at, int value)
{
    for (int i = 0; i < at->n_free; i++) {
        if (list->frees[at->first_free + i] == value)
            return true;
    }
    return false;
}

/* Two tensors of the same dims, cut and stored alike. */
static bool is_alike(const ridge__machine *m, int a, int b)
{
    const ridge_tensor *x = &m->program->tensors[a], *y = &m->program->tensors[b];
    return x->n_dims == y->n_dims && m->formats[a] == m->formats[b] &&
           memcmp(x->dims, y->dims, (size_t)x->n_dims * sizeof *x->dims) == 0 &&
           memcmp(m->parts[a].spans, m->parts[b].spans,
                  (size_t)x->n_dims * sizeof *m->parts[a].spans) == 0;
}

static bool has_dim(const ridge_tensor *t, int dim)
{
    return ridge__tensor_position(t, dim) >= 0;
}

/* Whether the bias has the last dims of the result, and those are the columns: dims of
 * the second factor alone, as the others are of the first alone. */
static bool is_of_columns(const ridge__machine *m, const ridge_operation *product,
                          int bias)
{
    const ridge_tensor *tensors = m->program->tensors;
    const ridge_tensor *out = &tensors[product->outputs[0]], *b = &tensors[bias];
    const ridge__tensor_part *to = &m->parts[product->outputs[0]],
                             *from = &m->parts[bias];
    const int first = out->n_dims - b->n_dims;
    for (int i = 0; i < out->n_dims; i++) {
        const bool is_column = i >= first;
        if (has_dim(&tensors[product->inputs[0]], out->dims[i]) == is_column ||
            has_dim(&tensors[product->inputs[1]], out->dims[i]) != is_column)
            return false;
        if (is_column &&
            (out->dims[i] != b->dims[i - first] ||
             memcmp(&to->spans[i], &from->spans[i - first], sizeof to->spans[i]) != 0))
            return false;
    }
    return first > 0;
}

static bool is_plain_product(const ridge__machine *m, const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_EINSUM && op->n_inputs == 2 && op->n_axes == 0 &&
           !op->is_added && !m->parts[op->inputs[0]].is_rows &&
           !m->parts[op->inputs[1]].is_rows;
}

bool ridge__bias_follows(const ridge__machine *m, const ridge__list *list, int index)
{
    if (!m->device->ops->takes_bias || index + 1 >= list->n)
        return false;
    const ridge__instruction *at = &list->at[index], *next = &list->at[index + 1];
    const ridge_operation *product = &m->program->ops[at->op];
    const ridge_operation *add = &m->program->ops[next->op];
    return is_plain_product(m, product) && add->code == RIDGE_OPCODE_ELEMENTWISE &&
           add->function == RIDGE_FUNCTION_ADD && add->n_inputs == 2 &&
           !add->is_added && next->in[0] == at->out[0] && next->in[1] != at->out[0] &&
           m->unrolled.kind[at->out[0]] == RIDGE__VALUE_FLIGHT &&
           m->unrolled.kind[next->out[0]] == RIDGE__VALUE_FLIGHT &&
           is_freed(list, next, at->out[0]) &&
           is_alike(m, product->outputs[0], add->outputs[0]) &&
           is_of_columns(m, product, add->inputs[1]);
}
