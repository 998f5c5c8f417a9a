/* What each rule of updates takes from its call, and the step that it ends in. */
#include "update_call.h"

#include <string.h>

ridge_status ridge__array_copy(ridge__call *c, ridge__array from, ridge__array to,
                               int64_t n)
{
    const ridge__copy copy = {.n_dims = 1,
                              .sizes = {n},
                              .x_strides = {1},
                              .y_strides = {1},
                              .x = from,
                              .y = to};
    return c->m->device->ops->copy(c->m->device, &copy);
}

static bool has_master(const ridge__call *c)
{
    return c->op->n_inputs > 2 &&
           strncmp(ridge_tensor_base(ridge__in_tensor(c, 2)), "master_", 7) == 0;
}

int ridge__update_first_state(const ridge__call *c)
{
    return has_master(c) ? 3 : 2;
}

ridge__update ridge__update_of(const ridge__call *c)
{
    const ridge__optimizer *o = &c->m->optimizer;
    const bool is_vector = ridge__in_part(c, 0)->n_dims < 2;
    return (ridge__update){.n = c->in[0]->elements,
                           .weight = ridge__in_array(c, 0),
                           .gradient = ridge__in_array(c, 1),
                           .master = has_master(c) ? c->in[2]->p : NULL,
                           .rate = o->rate,
                           .beta1 = o->beta1,
                           .beta2 = o->beta2,
                           .epsilon = o->epsilon,
                           .decay = is_vector ? 0.0F : o->decay,
                           .correction1 = o->correction1,
                           .correction2 = o->correction2,
                           .scale = o->scale};
}

ridge_status ridge__update_gradient(ridge__call *c, ridge__array *out)
{
    ridge__device *d = c->m->device;
    const int64_t n = c->in[1]->elements;
    RIDGE_TRY(ridge__scratch_take(c, n, RIDGE_DTYPE_FP32, out));
    RIDGE_TRY(ridge__array_copy(c, ridge__in_array(c, 1), *out, n));
    return d->ops->multiply(d, *out, n, c->m->optimizer.scale);
}

ridge_status ridge__update_step(ridge__call *c, ridge__array step, float scale)
{
    ridge__update u = ridge__update_of(c);
    u.gradient = step;
    u.scale = scale;
    return c->m->device->ops->update(c->m->device, &u);
}
