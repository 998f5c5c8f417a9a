/* Dims and tensors of a program: finding them, their sizes, and what the dims of an
 * attention mean. */
#include "ridge/program.h"

#include <string.h>

double ridge_program_dim_used(const ridge_program_dim *dim)
{
    return dim->used > 0 ? dim->used : (double)dim->size;
}

const char *ridge_tensor_base(const ridge_tensor *tensor)
{
    const char *dot = strrchr(tensor->name, '.');
    return dot ? dot + 1 : tensor->name;
}

int ridge_program_dim_find(const ridge_program *program, const char *name)
{
    for (int i = 0; i < program->n_dims; i++) {
        if (strcmp(program->dims[i].name, name) == 0)
            return i;
    }
    return -1;
}

int ridge_program_tensor_find(const ridge_program *program, const char *name)
{
    for (int i = 0; i < program->n_tensors; i++) {
        if (strcmp(program->tensors[i].name, name) == 0)
            return i;
    }
    return -1;
}

double ridge_tensor_elements(const ridge_program *program, const ridge_tensor *tensor)
{
    double elements = 1;
    for (int i = 0; i < tensor->n_dims; i++)
        elements *= (double)program->dims[tensor->dims[i]].size;
    return elements;
}

double ridge_program_elements(const ridge_program *program, ridge_role role)
{
    double sum = 0;
    for (int i = 0; i < program->n_tensors; i++) {
        const ridge_tensor *t = &program->tensors[i];
        if (t->role == role) {
            sum += ridge_tensor_elements(program, t) *
                   (double)program->blocks[t->block].repeat;
        }
    }
    return sum;
}

double ridge_program_weights(const ridge_program *program)
{
    return ridge_program_elements(program, RIDGE_ROLE_WEIGHT);
}

/* Whether a tensor is one repetition's share of a sum. */
static bool is_added_up(const ridge_program *program, int tensor)
{
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        for (int k = 0; op->is_added && k < op->n_inputs; k++) {
            if (op->inputs[k] == tensor)
                return true;
        }
    }
    return false;
}

int ridge_program_gradient(const ridge_program *program, int tensor)
{
    for (int i = program->n_tensors - 1; i >= 0; i--) {
        if (program->tensors[i].gradient_of == tensor && !is_added_up(program, i))
            return i;
    }
    return -1;
}

/* ---- attention ------------------------------------------------------------------- */

static int from_end(const ridge_tensor *t, int back)
{
    return t->n_dims >= back ? t->dims[t->n_dims - back] : -1;
}

/* Leading dims of a tensor that are batch dims of q. */
static int leading_batch(const ridge_attention_shape *shape, const ridge_tensor *t)
{
    for (int i = 0; i < t->n_dims; i++) {
        bool is_batch = false;
        for (int b = 0; b < shape->n_batch; b++)
            is_batch = is_batch || shape->batch[b] == t->dims[i];
        if (!is_batch)
            return i;
    }
    return t->n_dims;
}

static void read_extras(const ridge_program *program, const ridge_operation *op,
                        ridge_attention_shape *out)
{
    int at = 3;
    out->rope = out->far = out->chosen = -1;
    if ((op->extras & RIDGE_ATTENTION_ROPE) && at + 1 < op->n_inputs) {
        out->rope = from_end(&program->tensors[op->inputs[at]], 1);
        at += 2;
    }
    if (op->extras & RIDGE_ATTENTION_SINKS)
        at++;
    if ((op->extras & RIDGE_ATTENTION_FAR) && at < op->n_inputs)
        out->far = from_end(&program->tensors[op->inputs[at++]], 2);
    if ((op->extras & RIDGE_ATTENTION_CHOSEN) && at < op->n_inputs)
        out->chosen = from_end(&program->tensors[op->inputs[at]], 1);
}

bool ridge_attention_shape_of(const ridge_program *program, const ridge_operation *op,
                              ridge_attention_shape *out)
{
    if (op->code != RIDGE_OPCODE_ATTENTION || op->n_inputs < 3)
        return false;
    const ridge_tensor *q = &program->tensors[op->inputs[0]];
    const ridge_tensor *k = &program->tensors[op->inputs[1]];
    const ridge_tensor *v = &program->tensors[op->inputs[2]];
    if (q->n_dims < 3)
        return false;
    out->n_batch = q->n_dims - 3;
    memcpy(out->batch, q->dims, (size_t)out->n_batch * sizeof *q->dims);
    out->t = from_end(q, 3);
    out->heads = from_end(q, 2);
    out->h = from_end(q, 1);
    const int lead = leading_batch(out, k);
    if (k->n_dims - lead < 2 || k->n_dims - lead > 3 || v->n_dims < 2)
        return false;
    out->s = k->dims[lead];
    out->kv_heads = k->n_dims - lead == 3 ? k->dims[lead + 1] : -1;
    out->hv = from_end(v, 1);
    read_extras(program, op, out);
    return true;
}
