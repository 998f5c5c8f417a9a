/* Scans: causal convolutions, and linear attention with a state, of a rank's part of
 * the heads. Tokens are whole. */
#include "gradient_sums.h"

/* Where the documents of tokens begin, those of the dim before the last @p behind of
 * an operand. Of the ctx's scratch; NULL: no documents. */
static ridge_status find_documents(const ridge__call *c, int behind,
                                   const int32_t **out)
{
    const ridge__machine_options *o = &c->m->options;
    const ridge__tensor_part *x = ridge__in_part(c, 0);
    const int t = x->n_dims - behind - 1;
    *out = NULL;
    if (o->documents == NULL)
        return RIDGE_OK;
    if (t != 1)
        return ridge_fail(c->m->cx, RIDGE_E_ARG,
                          "%s: documents are for sequences of tokens alone",
                          c->op->name);
    const size_t n = (size_t)ridge__tensor_part_product(x, 0, 2);
    int32_t *first = ridge_new(ridge_ctx_scratch(c->m->cx), int32_t, n + 1);
    if (first == NULL)
        return ridge_fail_nomem(c->m->cx);
    *out = first;
    return o->documents(o->documents_payload, c->flight->tag, x->spans[0], x->spans[t],
                        first);
}

/* ---- convolutions ------------------------------------------------------------------
 */

static ridge__convolution convolution_of(const ridge__call *c)
{
    const ridge__tensor_part *x = ridge__in_part(c, 0), *w = ridge__in_part(c, 1);
    const int t = x->n_dims - w->n_dims; /* the dim before the channels */
    return (ridge__convolution){.batch = ridge__tensor_part_product(x, 0, t),
                                .t = x->spans[t].length,
                                .channels =
                                    ridge__tensor_part_product(w, 0, w->n_dims - 1),
                                .taps = w->spans[w->n_dims - 1].length,
                                .x = ridge__in_array(c, 0),
                                .w = ridge__in_array(c, 1)};
}

static ridge_status convolution_forward(ridge__call *c)
{
    ridge__convolution k = convolution_of(c);
    RIDGE_TRY(find_documents(c, ridge__in_part(c, 1)->n_dims - 1, &k.first_met));
    if (c->op->n_inputs > 2)
        k.bias = ridge__in_array(c, 2);
    if (c->op->n_outputs > 1)
        k.tail = ridge__out_array(c, 1);
    k.y = ridge__out_array(c, 0);
    return c->m->device->ops->convolution(c->m->device, &k);
}

static ridge_status convolution_backward(ridge__call *c)
{
    const int d_y = c->op->n_inputs - 1;
    ridge__convolution k = convolution_of(c);
    ridge__gradient_sums s = {.n = 0};
    RIDGE_TRY(find_documents(c, ridge__in_part(c, 1)->n_dims - 1, &k.first_met));
    k.d_y = ridge__in_array(c, d_y);
    RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 0), &s, &k.d_x));
    RIDGE_TRY(ridge__gradient_array(c, ridge__gradient_output(c, 1), &s, &k.d_w));
    if (d_y > 2)
        RIDGE_TRY(
            ridge__gradient_array(c, ridge__gradient_output(c, 2), &s, &k.d_bias));
    RIDGE_TRY(c->m->device->ops->convolution_backward(c->m->device, &k));
    return ridge__gradient_sums_finish(c, &s);
}

/* ---- linear attention --------------------------------------------------------------
 */

enum { Q, K, V, DECAY, STEP };

/* @param n_inputs  of the forward operation */
static ridge__recurrence recurrence_of(const ridge__call *c, int n_inputs)
{
    const ridge__tensor_part *k = ridge__in_part(c, K), *v = ridge__in_part(c, V);
    const int n = v->n_dims;
    const ridge_program_dim *dims = c->m->program->dims;
    const int64_t heads = dims[ridge__in_tensor(c, V)->dims[n - 2]].size;
    const int64_t keys = dims[ridge__in_tensor(c, K)->dims[n - 2]].size;
    ridge__recurrence r = {.batch = ridge__tensor_part_product(v, 0, n - 3),
                           .t = v->spans[n - 3].length,
                           .heads = v->spans[n - 2].length,
                           .keys = k->spans[n - 2].length,
                           .a = k->spans[n - 1].length,
                           .p = v->spans[n - 1].length,
                           .first_head = v->spans[n - 2].start,
                           .first_key = k->spans[n - 2].start,
                           .group = heads / keys,
                           .is_delta = c->op->scan == RIDGE_SCAN_DELTA,
                           .q = ridge__in_array(c, Q),
                           .k = ridge__in_array(c, K),
                           .v = ridge__in_array(c, V)};
    if (n_inputs > DECAY) {
        r.decay = ridge__in_array(c, DECAY);
        r.is_decay_keyed = ridge__in_part(c, DECAY)->n_dims == n;
    }
    if (n_inputs > STEP)
        r.step = ridge__in_array(c, STEP);
    return r;
}

static ridge_status recurrence_forward(ridge__call *c)
{
    ridge__recurrence r = recurrence_of(c, c->op->n_inputs);
    RIDGE_TRY(find_documents(c, 2, &r.first_met));
    r.o = ridge__out_array(c, 0);
    if (c->op->n_outputs > 1)
        r.state = c->out[1]->p;
    return c->m->device->ops->recurrence(c->m->device, &r);
}

static ridge_status recurrence_backward(ridge__call *c)
{
    const int n = c->op->n_inputs - 1;
    ridge__recurrence r = recurrence_of(c, n);
    ridge__array *const gradients[] = {&r.d_q, &r.d_k, &r.d_v, &r.d_decay, &r.d_step};
    ridge__gradient_sums s = {.n = 0};
    RIDGE_TRY(find_documents(c, 2, &r.first_met));
    r.d_o = ridge__in_array(c, n);
    for (int i = 0; i < n; i++)
        RIDGE_TRY(
            ridge__gradient_array(c, ridge__gradient_output(c, i), &s, gradients[i]));
    RIDGE_TRY(c->m->device->ops->recurrence_backward(c->m->device, &r));
    return ridge__gradient_sums_finish(c, &s);
}

/* All tokens are chosen (machine_check.c): attention does not ask which. An indexer is
 * trained by a loss of its own, which is not run: its gradients are 0. */
static ridge_status choose_all(const ridge__call *c)
{
    for (int i = 0; i < c->op->n_outputs; i++) {
        const size_t bytes =
            (size_t)c->out[i]->elements * (size_t)ridge_dtype_bytes(c->out[i]->dtype);
        if (!c->adds[i])
            RIDGE_TRY(c->m->device->ops->zero(c->m->device, c->out[i]->p, bytes));
    }
    return RIDGE_OK;
}

static ridge_status run_scan(ridge__call *c)
{
    const bool is_back = c->op->is_backward;
    switch (c->op->scan) {
    case RIDGE_SCAN_CONVOLUTION:
        return is_back ? convolution_backward(c) : convolution_forward(c);
    case RIDGE_SCAN_LINEAR:
    case RIDGE_SCAN_DELTA:
        return is_back ? recurrence_backward(c) : recurrence_forward(c);
    case RIDGE_SCAN_SELECT:
        return choose_all(c);
    case RIDGE_SCAN_POOL:
        break;
    }
    return ridge_fail(c->m->cx, RIDGE_E_INTERNAL, "%s has no kernel", c->op->name);
}

ridge_status ridge__call_scan(ridge__call *c)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(c->m->cx));
    const ridge_status st = run_scan(c);
    ridge_arena_rewind(ridge_ctx_scratch(c->m->cx), mark);
    return st;
}
