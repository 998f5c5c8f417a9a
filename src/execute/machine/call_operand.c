/* What an instruction reads, writes and needs beside it, and how that is sent. */
#include "machine.h"

const ridge__tensor_part *ridge__in_part(const ridge__call *c, int input)
{
    return &c->m->parts[c->op->inputs[input]];
}

const ridge__tensor_part *ridge__out_part(const ridge__call *c, int output)
{
    return &c->m->parts[c->op->outputs[output]];
}

const ridge_tensor *ridge__in_tensor(const ridge__call *c, int input)
{
    return &c->m->program->tensors[c->op->inputs[input]];
}

const ridge_tensor *ridge__out_tensor(const ridge__call *c, int output)
{
    return &c->m->program->tensors[c->op->outputs[output]];
}

ridge__array ridge__in_array(const ridge__call *c, int input)
{
    return (ridge__array){c->in[input]->p, c->in[input]->dtype};
}

ridge__array ridge__out_array(const ridge__call *c, int output)
{
    return (ridge__array){c->out[output]->p, c->out[output]->dtype};
}

int ridge__gradient_output(const ridge__call *c, int input)
{
    const int of = c->m->partition->copy_of[c->op->inputs[input]];
    for (int i = 0; i < c->op->n_outputs; i++) {
        if (ridge__out_tensor(c, i)->gradient_of == of)
            return i;
    }
    return -1;
}

ridge_status ridge__scratch_take(ridge__call *c, int64_t elements, ridge_dtype dtype,
                                 ridge__array *out)
{
    ridge__array a = {.dtype = dtype};
    RIDGE_TRY(c->m->device->ops->alloc(
        c->m->device, (size_t)elements * (size_t)ridge_dtype_bytes(dtype), &a.p));
    *out = a;
    return RIDGE_OK;
}

void ridge__scratch_give(ridge__call *c, ridge__array *array)
{
    c->m->device->ops->release(c->m->device, array->p);
    array->p = NULL;
}

ridge_element ridge__element_of(ridge_dtype dtype)
{
    return dtype == RIDGE_DTYPE_BF16 ? RIDGE_ELEMENT_BF16 : RIDGE_ELEMENT_F32;
}
