/* Biases of experts: each expert's is added to its own rows, and its gradient is their
 * sum. */
#include "rows_bias.h"

static ridge__array behind(ridge__array a, int64_t elements)
{
    a.p = (char *)a.p + elements * (int64_t)ridge_dtype_bytes(a.dtype);
    return a;
}

bool ridge__rows_have_bias(const ridge__call *c)
{
    return ridge__out_part(c, 0)->is_rows && c->op->n_inputs == 2 &&
           !ridge__in_part(c, 1)->is_rows;
}

ridge_status ridge__rows_bias_add(ridge__call *c, const ridge__elementwise *all)
{
    const ridge__tensor_part *bias = ridge__in_part(c, 1);
    const int64_t width = ridge__tensor_part_product(bias, 1, bias->n_dims);
    int groups;
    const int64_t *offsets = ridge__rows_offsets(c, c->op->outputs[0], &groups);
    for (int g = 0; g < groups; g++) {
        const int64_t first = offsets[g] * width;
        ridge__elementwise e = *all;
        e.n_dims = 2;
        e.sizes[0] = offsets[g + 1] - offsets[g];
        e.sizes[1] = width;
        e.a_strides[0] = width;
        e.b_strides[0] = 0;
        e.a_strides[1] = e.b_strides[1] = 1;
        e.a = behind(all->a, first);
        e.b = behind(all->b, g * width);
        e.y = behind(all->y, first);
        if (e.sizes[0] > 0)
            RIDGE_TRY(c->m->device->ops->elementwise(c->m->device, &e));
    }
    return RIDGE_OK;
}

/* The sums of all experts' rows -> fp32 [experts, width]. */
static ridge_status sum_groups(ridge__call *c, int64_t width, ridge__array out)
{
    ridge__device *d = c->m->device;
    int groups;
    const int64_t *offsets = ridge__rows_offsets(c, c->op->inputs[0], &groups);
    RIDGE_TRY(d->ops->zero(d, out.p, (size_t)(groups * width) * sizeof(float)));
    for (int g = 0; g < groups; g++) {
        const ridge__sum s = {.outer = 1,
                              .middle = offsets[g + 1] - offsets[g],
                              .inner = width,
                              .x = behind(ridge__in_array(c, 0), offsets[g] * width),
                              .y = behind(out, g * width)};
        if (s.middle > 0)
            RIDGE_TRY(d->ops->sum(d, &s));
    }
    return RIDGE_OK;
}

ridge_status ridge__rows_bias_gradient(ridge__call *c)
{
    const ridge__tensor_part *out = ridge__out_part(c, 0);
    ridge__array sums;
    RIDGE_TRY(ridge__scratch_take(c, out->elements, RIDGE_DTYPE_FP32, &sums));
    RIDGE_TRY(sum_groups(c, ridge__tensor_part_product(out, 1, out->n_dims), sums));
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {out->elements},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = sums,
                              .y = ridge__out_array(c, 0),
                              .is_added = c->adds[0]};
    RIDGE_TRY(c->m->device->ops->copy(c->m->device, &copy));
    ridge__scratch_give(c, &sums);
    return RIDGE_OK;
}
