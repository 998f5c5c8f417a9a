/* An einsum of a partition as batch independent products of local sizes. */
#include "fused_group.h"
#include "local_size.h"

/* Product of the local lengths of those dims of a tensor that are in a set. */
static double length_of(const ridge_partition *p, int tensor, uint64_t dims)
{
    const ridge_tensor *t = &p->program->tensors[tensor];
    double length = 1;
    for (int i = 0; i < t->n_dims; i++) {
        if (dims >> t->dims[i] & 1u)
            length *= ridge__local_length(p, tensor, i);
    }
    return length;
}

static uint64_t dims_of(const ridge_partition *p, int tensor)
{
    const ridge_tensor *t = &p->program->tensors[tensor];
    uint64_t dims = 0;
    for (int i = 0; i < t->n_dims; i++)
        dims |= (uint64_t)1 << t->dims[i];
    return dims;
}

/* Dims of both inputs and the output are batch, of both inputs alone are summed over;
 * what one input has alone counts to the sum, so that no work is lost. A weight stands
 * on the right. */
bool ridge__product_of(const ridge_partition *p, int op, ridge__product *out)
{
    const ridge_operation *o = &p->program->ops[op];
    if (o->code != RIDGE_OPCODE_EINSUM || o->n_inputs < 2 || o->n_outputs < 1)
        return false;
    ridge__product x = {.a = o->inputs[0], .b = o->inputs[1], .c = o->outputs[0]};
    const ridge_tensor *tensors = p->program->tensors;
    if (tensors[x.a].role == RIDGE_ROLE_WEIGHT &&
        tensors[x.b].role != RIDGE_ROLE_WEIGHT) {
        x.a = o->inputs[1];
        x.b = o->inputs[0];
    }
    const uint64_t a = dims_of(p, x.a);
    const uint64_t b = dims_of(p, x.b);
    const uint64_t c = dims_of(p, x.c);
    if ((a & b & ~c) == 0)
        return false;
    x.batch = length_of(p, x.a, a & b & c);
    x.m = length_of(p, x.a, a & ~b & c);
    x.n = length_of(p, x.b, b & ~a & c);
    x.k = length_of(p, x.a, a & ~c) * length_of(p, x.b, b & ~a & ~c);
    if (x.m < 1) { /* less than a row of each: as many products as there are rows */
        x.batch *= x.m;
        x.m = 1;
    }
    *out = x;
    return true;
}
