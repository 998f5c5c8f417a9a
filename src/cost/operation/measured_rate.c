/* Rates that were measured on the chip itself: which grid, and where in it. */
#include "measured_rate.h"

#include <stdio.h>

double ridge__measured_matmul(const ridge_chip *chip, const ridge_matmul *op,
                              ridge_dtype used)
{
    if (chip->measured == NULL)
        return 0;
    const ridge_grid *grid =
        ridge_grid_find(&chip->measured->matmul, ridge_dtype_text(used));
    const double at[] = {op->m, op->k, op->n};
    return grid != NULL ? ridge_grid_rate(grid, at) : 0;
}

double ridge__measured_attention(const ridge__pricing *x, const ridge_operation *o,
                                 const ridge_attention_shape *shape)
{
    const ridge_chip *chip = x->laid->slice->chip;
    char name[40];
    if (chip->measured == NULL)
        return 0;
    snprintf(name, sizeof name, "%s.%s", o->is_backward ? "backward" : "forward",
             ridge_dtype_text(x->compute));
    const ridge_grid *grid = ridge_grid_find(&chip->measured->attention, name);
    const double at[] = {ridge__local_length_of(x->partition, o->inputs[1], shape->s),
                         ridge__local_length_of(x->partition, o->inputs[0], shape->h)};
    return grid != NULL ? ridge_grid_rate(grid, at) : 0;
}

const char *ridge_operation_stream_name(const ridge_operation *op, char name[32])
{
    const bool is_function = op->code == RIDGE_OPCODE_ELEMENTWISE;
    snprintf(name, 32, "%s%s",
             is_function ? ridge_function_text(op->function)
                         : ridge_opcode_text(op->code),
             op->is_backward ? "_backward" : "");
    return name;
}

double ridge__measured_stream(const ridge__pricing *x, const ridge__fused *group,
                              double bytes)
{
    const ridge_chip *chip = x->laid->slice->chip;
    const ridge_operation *o = &x->partition->program->ops[group->ops[0]];
    char name[32];
    char key[48];
    if (chip->measured == NULL || group->n > 1 || bytes <= 0)
        return 0;
    snprintf(key, sizeof key, "%s.%s", ridge_operation_stream_name(o, name),
             ridge_dtype_text(x->compute));
    const ridge_grid *grid = ridge_grid_find(&chip->measured->stream, key);
    return grid != NULL ? ridge_grid_rate(grid, &bytes) : 0;
}
