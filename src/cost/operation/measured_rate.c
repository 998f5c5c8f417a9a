/* Rates that were measured on the chip itself: which grid, and where in it. */
#include "measured_rate.h"
#include "local_size.h"

#include <stdio.h>

/* ---- a chip that was changed since ----------------------------------------------- */

/* Of the rate that was measured, by what its facts were then. */
static double flops_factor(const ridge_chip *chip, ridge_dtype used)
{
    const ridge_chip *then = chip->as_measured;
    return then != NULL && then->peak_flops_per_s[used] > 0
               ? chip->peak_flops_per_s[used] / then->peak_flops_per_s[used]
               : 1;
}

static double memory_factor(const ridge_chip *chip)
{
    const ridge_chip *then = chip->as_measured;
    return then != NULL ? chip->hbm_bytes_per_s / then->hbm_bytes_per_s : 1;
}

/* By whichever limit bound it when it was measured. */
static double matmul_factor(const ridge_chip *chip, ridge_dtype used, double flops,
                            double bytes)
{
    const ridge_chip *then = chip->as_measured;
    if (then == NULL)
        return 1;
    const bool is_of_memory =
        bytes * then->peak_flops_per_s[used] > flops * then->hbm_bytes_per_s;
    return is_of_memory ? memory_factor(chip) : flops_factor(chip, used);
}

/* ---- rates ----------------------------------------------------------------------- */

double ridge__measured_matmul(const ridge_chip *chip, const ridge_matmul *op,
                              ridge_dtype used, double bytes)
{
    if (chip->measured == NULL)
        return 0;
    const ridge_grid *grid =
        ridge_grid_find(&chip->measured->matmul, ridge_dtype_text(used));
    const double at[] = {op->m, op->k, op->n};
    const double flops = 2 * op->batch * op->m * op->k * op->n;
    return grid != NULL
               ? ridge_grid_rate(grid, at) * matmul_factor(chip, used, flops, bytes)
               : 0;
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
    return grid != NULL ? ridge_grid_rate(grid, at) * flops_factor(chip, x->compute)
                        : 0;
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
    return grid != NULL ? ridge_grid_rate(grid, &bytes) * memory_factor(chip) : 0;
}
