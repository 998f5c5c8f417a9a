/*
 * Routing, dispatch and combine without dropped tokens: rows of experts are as many as
 * tokens were routed to them. Dispatch lists a rank's rows expert by expert; where they
 * go from there is rows_move.c's.
 */
#include "host_memory.h"
#include "machine.h"

/* ---- routing ----------------------------------------------------------------------
 */

static ridge_status make_routing(ridge__call *c, int64_t tokens)
{
    ridge__routing *r = ridge__host_new(1, sizeof *r);
    void *token;
    int layout;
    if (r == NULL)
        return ridge_fail_nomem(c->m->cx);
    c->side->routing = r;
    r->tokens = tokens;
    RIDGE_TRY(ridge__rows_layout_add(c, c->op->outputs[0], &layout));
    const int64_t most = tokens * c->op->experts_per_token;
    RIDGE_TRY(
        c->m->device->ops->alloc(c->m->device, (size_t)most * sizeof(int32_t), &token));
    r->token = token;
    return RIDGE_OK;
}

static ridge__experts experts_of(const ridge__call *c, const ridge__tensor_part *rows,
                                 const ridge__tensor_part *gates)
{
    const ridge__routing *r = c->side->routing;
    const ridge__span held = gates->spans[gates->n_dims - 1];
    return (ridge__experts){.tokens = r->tokens,
                            .d = ridge__tensor_part_product(rows, 2, rows->n_dims),
                            .all_experts = held.length,
                            .first_expert = rows->spans[0].start - held.start,
                            .experts = r->layouts[0].n,
                            .offsets = r->layouts[0].offsets,
                            .token = r->token};
}

static int64_t tokens_of(const ridge__tensor_part *gates)
{
    return ridge__tensor_part_product(gates, 0, gates->n_dims - 1);
}

/* Beside gates that are softmax over all experts, those of the experts that were not
 * chosen: a chosen gate falls as their logits rise. */
static ridge_status keep_whole(ridge__call *c, const ridge__route *gates)
{
    ridge__route all = *gates;
    ridge__value made = {.elements = gates->rows * gates->experts,
                         .dtype = RIDGE_DTYPE_FP32};
    if (!gates->is_whole || c->m->program->phase != RIDGE_PHASE_TRAIN ||
        c->side->p != NULL)
        return RIDGE_OK;
    RIDGE_TRY(c->m->device->ops->alloc(c->m->device,
                                       (size_t)made.elements * sizeof(float), &made.p));
    *c->side = made;
    all.k = all.experts;
    all.gates = (ridge__array){made.p, made.dtype};
    return c->m->device->ops->route(c->m->device, &all);
}

ridge_status ridge__call_route(ridge__call *c)
{
    const ridge__tensor_part *gates = ridge__out_part(c, 0);
    ridge__route r = {.rows = tokens_of(gates),
                      .experts = gates->spans[gates->n_dims - 1].length,
                      .k = c->op->experts_per_token,
                      .is_whole = c->m->options.numbers.is_gate_whole};
    if (c->op->is_backward) {
        /* the gradients of gates that were not chosen are 0 */
        r.gates = r.is_whole ? (ridge__array){c->side->p, c->side->dtype}
                             : ridge__in_array(c, 0);
        r.d_gates = ridge__in_array(c, 1);
        r.d_logits = ridge__out_array(c, 0);
        return c->m->device->ops->route_backward(c->m->device, &r);
    }
    r.logits = ridge__in_array(c, 0);
    r.gates = ridge__out_array(c, 0);
    RIDGE_TRY(keep_whole(c, &r));
    return c->m->device->ops->route(c->m->device, &r);
}

static ridge_status dispatch_backward(ridge__call *c)
{
    ridge__experts e = experts_of(c, ridge__in_part(c, 1), ridge__in_part(c, 0));
    e.gates = ridge__in_array(c, 0);
    e.d_rows = ridge__in_array(c, 1);
    e.d_x = ridge__out_array(c, 0);
    return c->m->device->ops->dispatch_backward(c->m->device, &e);
}

ridge_status ridge__call_dispatch(ridge__call *c)
{
    if (c->op->is_backward)
        return dispatch_backward(c);
    const ridge__tensor_part *gates = ridge__in_part(c, 1),
                             *rows = ridge__out_part(c, 0);
    RIDGE_TRY(make_routing(c, tokens_of(gates)));
    ridge__routing *r = c->side->routing;
    const ridge__expert_order order = {
        .tokens = r->tokens,
        .valid = r->tokens,
        .all_experts = gates->spans[gates->n_dims - 1].length,
        .first_expert = rows->spans[0].start - gates->spans[gates->n_dims - 1].start,
        .experts = r->layouts[0].n,
        .gates = ridge__in_array(c, 1),
        .offsets = r->layouts[0].offsets,
        .token = r->token};
    RIDGE_TRY(c->m->device->ops->expert_order(c->m->device, &order));
    RIDGE_TRY(ridge__rows_make(c, 0));
    ridge__experts e = experts_of(c, rows, gates);
    e.x = ridge__in_array(c, 0);
    e.gates = ridge__in_array(c, 1);
    e.rows = ridge__out_array(c, 0);
    return c->m->device->ops->dispatch(c->m->device, &e);
}

ridge_status ridge__call_combine(ridge__call *c)
{
    ridge__experts e = experts_of(c, ridge__in_part(c, 0), ridge__in_part(c, 1));
    e.rows = ridge__in_array(c, 0);
    e.gates = ridge__in_array(c, 1);
    if (!c->op->is_backward) {
        e.y = ridge__out_array(c, 0);
        return c->m->device->ops->combine(c->m->device, &e);
    }
    const int rows = ridge__gradient_output(c, 0), gates = ridge__gradient_output(c, 1);
    e.d_y = ridge__in_array(c, 2);
    if (rows >= 0)
        e.d_rows = ridge__out_array(c, rows);
    if (gates >= 0)
        e.d_gates = ridge__out_array(c, gates);
    return c->m->device->ops->combine_backward(c->m->device, &e);
}
