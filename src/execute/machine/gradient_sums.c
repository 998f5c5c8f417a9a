#include "gradient_sums.h"

ridge_status ridge__output_add(ridge__call *c, int output, ridge__array from)
{
    const int64_t n = c->out[output]->elements;
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {n},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = from,
                              .y = ridge__out_array(c, output),
                              .is_added = true};
    return c->m->device->ops->copy(c->m->device, &copy);
}

ridge_status ridge__gradient_array(ridge__call *c, int output, ridge__gradient_sums *s,
                                   ridge__array *out)
{
    *out = (ridge__array){.p = NULL};
    if (output < 0)
        return RIDGE_OK;
    *out = ridge__out_array(c, output);
    if (!c->adds[output])
        return RIDGE_OK;
    RIDGE_TRY(ridge__scratch_take(c, c->out[output]->elements, out->dtype, out));
    s->output[s->n] = output;
    s->array[s->n++] = *out;
    return RIDGE_OK;
}

ridge_status ridge__gradient_sums_finish(ridge__call *c, ridge__gradient_sums *s)
{
    for (int i = 0; i < s->n; i++) {
        RIDGE_TRY(ridge__output_add(c, s->output[i], s->array[i]));
        ridge__scratch_give(c, &s->array[i]);
    }
    return RIDGE_OK;
}
