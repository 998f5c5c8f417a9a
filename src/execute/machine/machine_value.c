/* The arrays of a machine: of a microbatch, and those that stay. */
#include "block_moments.h"
#include "host_memory.h"

/* ---- values -----------------------------------------------------------------------
 */

ridge_dtype ridge__tensor_format(const ridge__machine *m, int tensor)
{
    return m->formats[tensor];
}

ridge__value *ridge__machine_value(ridge__machine *m, ridge__flight *flight, int value)
{
    return m->unrolled.kind[value] == RIDGE__VALUE_FLIGHT ? &flight->values[value]
                                                          : &m->fixed[value];
}

ridge_status ridge__value_make(ridge__machine *m, ridge__value *v, int tensor)
{
    if (v->p != NULL)
        return RIDGE_OK;
    ridge__value made = {.elements = m->parts[tensor].elements,
                         .dtype = ridge__tensor_format(m, tensor)};
    RIDGE_TRY(m->device->ops->alloc(m->device, ridge__array_bytes(m, tensor), &made.p));
    *v = made;
    return RIDGE_OK;
}

void ridge__value_drop(ridge__machine *m, ridge__value *v)
{
    if (v->routing)
        ridge__routing_close(m, v->routing);
    m->device->ops->release(m->device, v->p);
    *v = (ridge__value){.p = NULL};
}

ridge_status ridge__flight_open(ridge__machine *m, ridge__flight *out)
{
    ridge__flight f = {.values = ridge_new(ridge_ctx_arena(m->cx), ridge__value,
                                           (size_t)m->unrolled.n_values + 1)};
    if (f.values == NULL)
        return ridge_fail_nomem(m->cx);
    *out = f;
    return RIDGE_OK;
}

void ridge__flight_close(ridge__machine *m, ridge__flight *flight)
{
    for (int v = 0; v < m->unrolled.n_values; v++) {
        if (flight->values[v].p || flight->values[v].routing)
            ridge__value_drop(m, &flight->values[v]);
    }
}

/* ---- what stays --------------------------------------------------------------------
 */

static ridge_status make_zeros(ridge__machine *m, int tensor, ridge__value *v)
{
    RIDGE_TRY(ridge__value_make(m, v, tensor));
    return m->device->ops->zero(m->device, v->p, ridge__array_bytes(m, tensor));
}

/* The value of the tensor of that name in another machine. */
static ridge_status borrow(ridge__machine *m, int tensor, int value)
{
    const ridge__machine *from = m->options.lender;
    const char *name = m->program->tensors[tensor].name;
    const int there = ridge_program_tensor_find(from->program, name);
    if (there < 0)
        return ridge_fail(m->cx, RIDGE_E_INTERNAL, "nobody lends %s", name);
    m->fixed[value] = from->fixed[from->unrolled.first_value[there] +
                                  m->unrolled.repetition_of[value]];
    return RIDGE_OK;
}

/* Told before anything is taken: a machine that is short of memory does not say so. */
static ridge_status check_memory(ridge__machine *m)
{
    double bytes = 0.0;
    for (int v = 0; v < m->unrolled.n_values; v++) {
        const int tensor = m->unrolled.tensor_of[v];
        if (m->unrolled.kind[v] != RIDGE__VALUE_FLIGHT)
            bytes += (double)ridge__array_bytes(m, tensor);
    }
    if (m->options.memory_bytes <= 0.0 || bytes <= m->options.memory_bytes)
        return RIDGE_OK;
    return ridge_fail(
        m->cx, RIDGE_E_NOMEM,
        "weights, gradients and optimizer state take %s a rank, and %s are "
        "there for each: cut them over more ranks",
        ridge_format_bytes(bytes).s, ridge_format_bytes(m->options.memory_bytes).s);
}

/* Weights, states and caches at zero; gradients too. */
ridge_status ridge__machine_make_fixed(ridge__machine *m)
{
    m->fixed = ridge_new(ridge_ctx_arena(m->cx), ridge__value,
                         (size_t)m->unrolled.n_values + 1);
    if (m->fixed == NULL)
        return ridge_fail_nomem(m->cx);
    if (!m->options.lender)
        RIDGE_TRY(check_memory(m));
    for (int v = 0; v < m->unrolled.n_values; v++) {
        const int tensor = m->unrolled.tensor_of[v];
        if (m->unrolled.kind[v] == RIDGE__VALUE_FLIGHT)
            continue;
        RIDGE_TRY(m->options.lender ? borrow(m, tensor, v)
                                    : make_zeros(m, tensor, &m->fixed[v]));
    }
    return RIDGE_OK;
}

void ridge__routing_close(ridge__machine *m, ridge__routing *r)
{
    const ridge__device_ops *ops = m->device->ops;
    ops->release(m->device, r->token);
    for (int i = 0; i < r->n_layouts; i++)
        ridge__host_free(r->layouts[i].offsets);
    for (int i = 0; i < r->n_moves; i++) {
        ops->release(m->device, r->moves[i].arrival);
        ops->release(m->device, r->moves[i].resort);
        ridge__host_free(r->moves[i].send);
        ridge__host_free(r->moves[i].receive);
    }
    ridge__host_free(r);
}
