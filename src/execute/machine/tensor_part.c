/* Parts of tensors by coordinates on the mesh. */
#include "tensor_part.h"

ridge__span ridge__span_of(const ridge_mesh *mesh, const ridge_dim_axes *axes,
                           int64_t size, const int64_t *coords)
{
    ridge__span span = {.start = 0, .length = size};
    int64_t end = size;
    for (int i = 0; i < axes->n; i++) {
        const int axis = axes->axes[i];
        span.length = ridge_ceil_div(span.length, mesh->axes[axis].size);
        span.start += coords[axis] * span.length;
        if (end > span.start + span.length)
            end = span.start + span.length;
    }
    span.valid = end > span.start ? end - span.start : 0;
    return span;
}

bool ridge__tensor_is_rows(const ridge_program *program, int tensor)
{
    const ridge_tensor *t = &program->tensors[tensor];
    for (int i = 0; i < program->n_ops && t->n_dims >= 2; i++) {
        const ridge_operation *op = &program->ops[i];
        if (op->code == RIDGE_OPCODE_DISPATCH && !op->is_backward &&
            program->tensors[op->outputs[0]].dims[1] == t->dims[1])
            return true;
    }
    return false;
}

ridge__tensor_part ridge__tensor_part_of(const ridge_partition *partition, int tensor,
                                         const int64_t *coords)
{
    const ridge_program *program = partition->program;
    const ridge_tensor *t = &program->tensors[tensor];
    ridge__tensor_part part = {.n_dims = t->n_dims, .elements = 1};
    part.is_rows = ridge__tensor_is_rows(program, tensor);
    for (int i = 0; i < t->n_dims; i++) {
        part.spans[i] =
            ridge__span_of(&partition->mesh, &partition->shardings[tensor].dims[i],
                           program->dims[t->dims[i]].size, coords);
        if (!part.is_rows || i > 1)
            part.elements *= part.spans[i].length;
    }
    return part;
}

int ridge__tensor_position(const ridge_tensor *tensor, int dim)
{
    for (int i = 0; i < tensor->n_dims; i++) {
        if (tensor->dims[i] == dim)
            return i;
    }
    return -1;
}

int64_t ridge__tensor_part_product(const ridge__tensor_part *part, int first, int end)
{
    int64_t n = 1;
    for (int i = first; i < end; i++)
        n *= part->spans[i].length;
    return n;
}
