/* Local lengths of a partition's dims, as far as they are in use. */
#include "local_size.h"

double ridge__local_length(const ridge_partition *p, int tensor, int position)
{
    if (p->lengths != NULL)
        return p->lengths[tensor * RIDGE_TENSOR_DIM_MAX + position];
    const int dim = p->program->tensors[tensor].dims[position];
    const ridge_program_dim *d = &p->program->dims[dim];
    const double local = (double)ridge_partition_local_dim(p, tensor, position);
    return d->used > 0 ? local * d->used / (double)d->size : local;
}

ridge_status ridge__local_lengths_find(ridge_ctx *cx, const ridge_partition *p,
                                       ridge_partition *out)
{
    const ridge_program *program = p->program;
    const size_t n = (size_t)program->n_tensors * RIDGE_TENSOR_DIM_MAX;
    double *lengths = ridge_new(ridge_ctx_scratch(cx), double, n + 1);
    ridge_partition sizeless = *p;
    if (lengths == NULL)
        return ridge_fail_nomem(cx);
    sizeless.lengths = NULL;
    for (int t = 0; t < program->n_tensors; t++) {
        for (int i = 0; i < program->tensors[t].n_dims; i++)
            lengths[t * RIDGE_TENSOR_DIM_MAX + i] =
                ridge__local_length(&sizeless, t, i);
    }
    *out = *p;
    out->lengths = lengths;
    return RIDGE_OK;
}

int ridge__dim_position(const ridge_partition *p, int tensor, int dim)
{
    const ridge_tensor *t = &p->program->tensors[tensor];
    for (int i = 0; i < t->n_dims; i++) {
        if (t->dims[i] == dim)
            return i;
    }
    return -1;
}

double ridge__local_length_of(const ridge_partition *p, int tensor, int dim)
{
    const int position = dim < 0 ? -1 : ridge__dim_position(p, tensor, dim);
    return position < 0 ? 1 : ridge__local_length(p, tensor, position);
}

double ridge__local_elements(const ridge_partition *p, int tensor)
{
    double elements = 1;
    for (int i = 0; i < p->program->tensors[tensor].n_dims; i++)
        elements *= ridge__local_length(p, tensor, i);
    return elements;
}

double ridge__tensor_bytes(const ridge_partition *p, int tensor)
{
    return ridge__local_elements(p, tensor) *
           ridge_dtype_bytes(p->program->tensors[tensor].dtype);
}

double ridge__local_share(const ridge_partition *p, const ridge_operation *o)
{
    double most = 0;
    double share = 1;
    for (int i = 0; i < o->n_inputs + o->n_outputs; i++) {
        const int t = i < o->n_inputs ? o->inputs[i] : o->outputs[i - o->n_inputs];
        const double elements =
            ridge_tensor_elements(p->program, &p->program->tensors[t]);
        if (elements > most) {
            most = elements;
            share = ridge__local_elements(p, t) / elements;
        }
    }
    return share;
}
