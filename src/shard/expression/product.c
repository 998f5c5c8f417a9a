/*
 * The local product of sharded operands: when multiplying rank by rank is right, and
 * how the result lies. Each mesh axis is used for one thing: it cuts one dim in all
 * operands that have it, or carries the partial sums of one operand, which the product,
 * linear in each operand, hands on. @source scaling-book-2025 chapter 3
 */
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

/* Axes of a dim of the expression: alike in all inputs that have it. */
static bool dim_axes(const ridge_expr *expr, const ridge_sharding *inputs, int dim,
                     ridge_dim_axes *out)
{
    const ridge_dim_axes *first = NULL;
    for (int i = 0; i < expr->n_inputs; i++) {
        const int at = ridge__dim_place(&expr->inputs[i], dim);
        if (at < 0)
            continue;
        const ridge_dim_axes *here = &inputs[i].dims[at];
        if (!first)
            first = here;
        if (here->n != first->n)
            return false;
        for (int a = 0; a < here->n; a++) {
            if (here->axes[a] != first->axes[a])
                return false;
        }
    }
    *out = first ? *first : (ridge_dim_axes){0};
    return true;
}

static unsigned bits_of(const ridge_dim_axes *axes)
{
    unsigned bits = 0;
    for (int i = 0; i < axes->n; i++)
        bits |= 1u << axes->axes[i];
    return bits;
}

bool ridge_expr_product(const ridge_expr *expr, const ridge_sharding *inputs,
                        ridge_sharding *out)
{
    ridge_sharding product = {.n_dims = expr->output.n_dims};
    unsigned used = 0;
    for (int dim = 0; dim < expr->n_dims; dim++) {
        ridge_dim_axes axes;
        if (!dim_axes(expr, inputs, dim, &axes) || (used & bits_of(&axes)))
            return false;
        used |= bits_of(&axes);
        const int at = ridge__dim_place(&expr->output, dim);
        if (at >= 0) {
            product.dims[at] = axes;
        } else {
            product.partial |= bits_of(&axes);
        }
    }
    for (int i = 0; i < expr->n_inputs; i++) {
        if (used & inputs[i].partial)
            return false;
        used |= inputs[i].partial;
        product.partial |= inputs[i].partial;
    }
    *out = product;
    return true;
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
