/*
 * A norm by groups: one without weight over rows of a group each, then the weight. So
 * the gradient of what is normalised is the weight's times dy, and the weight's is the
 * sum of dy times that over all rows.
 */
#include "group_norm.h"

#include "gradient_sums.h"

typedef struct group_norm {
    ridge__call *c;
    int64_t rows, d; /* of the whole norm */
    int64_t groups;
} group_norm;

static group_norm norm_of(ridge__call *c)
{
    const ridge__tensor_part *x = ridge__in_part(c, 0), *w = ridge__in_part(c, 1);
    return (group_norm){.c = c,
                        .rows = ridge__tensor_part_product(x, 0, x->n_dims - w->n_dims),
                        .d = w->elements,
                        .groups = c->op->norm_groups};
}

static ridge__norm plain_of(const group_norm *g)
{
    return (ridge__norm){.rows = g->rows * g->groups,
                         .d = g->d / g->groups,
                         .kind = g->c->op->norm,
                         .epsilon = g->c->m->options.numbers.norm_epsilon,
                         .x = ridge__in_array(g->c, 0)};
}

/* y [rows, d] = x times b, [rows, d] or [d]. */
static ridge_status multiply(const group_norm *g, ridge__array x, ridge__array b,
                             bool is_vector, ridge__array y)
{
    ridge__device *device = g->c->m->device;
    const ridge__elementwise e = {.function = RIDGE_FUNCTION_MULTIPLY,
                                  .n_dims = 2,
                                  .sizes = {g->rows, g->d},
                                  .a_strides = {g->d, 1},
                                  .b_strides = {is_vector ? 0 : g->d, 1},
                                  .a = x,
                                  .b = b,
                                  .y = y};
    return device->ops->elementwise(device, &e);
}

static ridge_status forward(const group_norm *g)
{
    ridge__call *c = g->c;
    ridge__device *device = c->m->device;
    ridge__norm n = plain_of(g);
    n.y = ridge__out_array(c, 0);
    RIDGE_TRY(device->ops->norm(device, &n));
    return multiply(g, n.y, ridge__in_array(c, 1), true, n.y);
}

/* d_w = sum over rows of dy times what is normalised. */
static ridge_status weight_back(const group_norm *g, ridge__array d_y, ridge__array d_w)
{
    ridge__device *device = g->c->m->device;
    ridge__norm n = plain_of(g);
    RIDGE_TRY(ridge__scratch_take(g->c, g->rows * g->d, n.x.dtype, &n.y));
    RIDGE_TRY(device->ops->norm(device, &n));
    RIDGE_TRY(multiply(g, n.y, d_y, false, n.y));
    const ridge__sum s = {
        .outer = 1, .middle = g->rows, .inner = g->d, .x = n.y, .y = d_w};
    RIDGE_TRY(device->ops->sum(device, &s));
    ridge__scratch_give(g->c, &n.y);
    return RIDGE_OK;
}

static ridge_status backward(const group_norm *g)
{
    ridge__call *c = g->c;
    ridge__device *device = c->m->device;
    const ridge__array d_y = ridge__in_array(c, c->op->n_inputs - 1);
    ridge__gradient_sums s = {.n = 0};
    ridge__norm n = plain_of(g);
    ridge__array d_w;
    RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 0), &s, &n.d_x));
    RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 1), &s, &d_w));
    if (n.d_x.p != NULL) {
        RIDGE_TRY(ridge__scratch_take(c, g->rows * g->d, d_y.dtype, &n.d_y));
        RIDGE_TRY(multiply(g, d_y, ridge__in_array(c, 1), true, n.d_y));
        RIDGE_TRY(device->ops->norm_backward(device, &n));
        ridge__scratch_give(c, &n.d_y);
    }
    if (d_w.p != NULL)
        RIDGE_TRY(weight_back(g, d_y, d_w));
    return ridge__gradient_sums_finish(c, &s);
}

ridge_status ridge__call_group_norm(ridge__call *c)
{
    const group_norm g = norm_of(c);
    return c->op->is_backward ? backward(&g) : forward(&g);
}
