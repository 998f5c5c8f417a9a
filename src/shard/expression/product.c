/* What one mesh axis does in an array, and how a strategy cuts the dims of a product:
 * alike in all operands that have them. */
#include "product.h"

ridge_axis_state ridge__axis_state(const ridge_sharding *s, int axis)
{
    if (s->partial & (1u << axis))
        return RIDGE_AXIS_PARTIAL;
    for (int d = 0; d < s->n_dims; d++) {
        for (int i = 0; i < s->dims[d].n; i++) {
            if (s->dims[d].axes[i] == axis)
                return d;
        }
    }
    return RIDGE_AXIS_REPLICATED;
}

int ridge__dim_place(const ridge_expr_tensor *t, int dim)
{
    for (int d = 0; d < t->n_dims; d++) {
        if (t->dims[d] == dim)
            return d;
    }
    return -1;
}

ridge_dim_axes ridge_strategy_dim_axes(const ridge_expr *expr, const ridge_strategy *s,
                                       int dim)
{
    for (int i = 0; i < expr->n_inputs; i++) {
        const int at = ridge__dim_place(&expr->inputs[i], dim);
        if (at >= 0)
            return s->inputs[i].dims[at];
    }
    return (ridge_dim_axes){0};
}

double ridge_strategy_padding(const ridge_expr *expr, const ridge_strategy *s)
{
    double useful = 1;
    for (int d = 0; d < expr->n_dims; d++) {
        const ridge_dim_axes axes = ridge_strategy_dim_axes(expr, s, d);
        const double size = (double)expr->dims[d].size;
        const double padding =
            (double)ridge_dim_padding(&expr->mesh, &axes, expr->dims[d].size);
        useful *= size / (size + padding);
    }
    return 1 - useful;
}
