/*
 * Results in the array of an operand that dies: where each element is computed from
 * those at the same place, the result may lie there. Saves the memory, and the reading
 * of a fresh array's lines before they are written.
 */
#include "value_reuse.h"

#include <string.h>

/* Operations whose kernels allow it. */
static bool is_local(const ridge_operation *op)
{
    if (op->code == RIDGE_OPCODE_LOSS)
        return op->is_backward;
    return op->code == RIDGE_OPCODE_ELEMENTWISE &&
           op->function != RIDGE_FUNCTION_COPY && op->function != RIDGE_FUNCTION_APPEND;
}

static bool is_same_shape(const ridge__machine *m, int a, int b)
{
    const ridge_tensor *x = &m->program->tensors[a], *y = &m->program->tensors[b];
    const ridge__tensor_part *p = &m->parts[a], *q = &m->parts[b];
    return x->n_dims == y->n_dims && m->formats[a] == m->formats[b] && !p->is_rows &&
           !q->is_rows && p->elements == q->elements &&
           memcmp(x->dims, y->dims, (size_t)x->n_dims * sizeof *x->dims) == 0 &&
           memcmp(p->spans, q->spans, (size_t)x->n_dims * sizeof *p->spans) == 0;
}

static bool dies(const ridge__call *c, const ridge__list *list, int value)
{
    if (c->m->unrolled.kind[value] != RIDGE__VALUE_FLIGHT)
        return false;
    for (int i = 0; i < c->at->n_free; i++) {
        if (list->frees[c->at->first_free + i] == value)
            return true;
    }
    return false;
}

static bool is_taken(const ridge__call *c, const void *array)
{
    for (int i = 0; i < c->op->n_outputs; i++) {
        if (c->out[i]->p == array)
            return true;
    }
    return false;
}

static void take_over(ridge__call *c, const ridge__list *list, int output)
{
    for (int i = 0; i < c->op->n_inputs; i++) {
        if (!is_taken(c, c->in[i]->p) && dies(c, list, c->at->in[i]) &&
            is_same_shape(c->m, c->op->inputs[i], c->op->outputs[output])) {
            *c->out[output] = *c->in[i];
            return;
        }
    }
}

void ridge__values_take_over(ridge__call *c, const ridge__list *list)
{
    if (!is_local(c->op) || c->op->is_added)
        return;
    for (int o = 0; o < c->op->n_outputs; o++) {
        if (c->out[o]->p == NULL &&
            c->m->unrolled.kind[c->at->out[o]] == RIDGE__VALUE_FLIGHT)
            take_over(c, list, o);
    }
}

void ridge__values_hand_over(ridge__call *c)
{
    for (int i = 0; is_local(c->op) && i < c->op->n_inputs; i++) {
        for (int o = 0; o < c->op->n_outputs; o++) {
            if (c->in[i] != c->out[o] && c->in[i]->p != NULL &&
                c->in[i]->p == c->out[o]->p)
                *c->in[i] = (ridge__value){.p = NULL};
        }
    }
}
