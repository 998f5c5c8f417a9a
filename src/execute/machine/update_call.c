/* The optimizer's update as kernels: moments in fp32, bf16 or none; other rules are
 * handed on. */
#include "update_call.h"

#include <string.h>

/* In place on the inputs; where an output is another array it gets a copy. */
static ridge_status hand_on(ridge__call *c, int input, int output)
{
    if (c->in[input] == c->out[output])
        return RIDGE_OK;
    return ridge__array_copy(c, ridge__in_array(c, input), ridge__out_array(c, output),
                             c->in[input]->elements);
}

static ridge_status update_moments(ridge__call *c)
{
    const int first = ridge__update_first_state(c);
    ridge__update u = ridge__update_of(c);
    if (c->op->n_inputs > first && c->in[first]->dtype == RIDGE_DTYPE_INT8)
        return ridge__update_blocks(c);
    if (c->op->n_inputs > first)
        u.m = ridge__in_array(c, first);
    if (c->op->n_inputs > first + 1)
        u.v = ridge__in_array(c, first + 1);
    return c->m->device->ops->update(c->m->device, &u);
}

static ridge_status update_by_rule(ridge__call *c)
{
    switch (c->op->rule) {
    case RIDGE_UPDATE_RULE_MOMENTS:
        return update_moments(c);
    case RIDGE_UPDATE_RULE_MUON:
        return ridge__update_muon(c);
    case RIDGE_UPDATE_RULE_ADAFACTOR:
        return ridge__update_adafactor(c);
    }
    return RIDGE_E_INTERNAL;
}

ridge_status ridge__call_update(ridge__call *c)
{
    RIDGE_TRY(update_by_rule(c));
    RIDGE_TRY(hand_on(c, 0, 0));
    for (int i = 1; i < c->op->n_outputs; i++)
        RIDGE_TRY(hand_on(c, i + 1, i));
    return RIDGE_OK;
}
