/*
 * Experts without dropped tokens: rows of experts are as many as tokens were routed to
 * them. Dispatch lists a rank's rows expert by expert; an all-to-all over E is a ragged
 * exchange, after which an owner has its experts' rows, sorted by expert, then by rank.
 */
#include "host_memory.h"
#include "machine.h"

#include <string.h>

/* ---- routing ----------------------------------------------------------------------
 */

void ridge__routing_close(ridge__machine *m, ridge__routing *r)
{
    const ridge__device_ops *ops = m->device->ops;
    ops->release(m->device, r->token);
    ops->release(m->device, r->arrival);
    ops->release(m->device, r->resort);
    ridge__host_free(r->offsets);
    ridge__host_free(r->owner_offsets);
    ridge__host_free(r->send);
    ridge__host_free(r->receive);
    ridge__host_free(r);
}

/* The dispatch whose rows an operand is. */
static int dispatch_of(const ridge__call *c)
{
    return -1 - c->m->unrolled.tensor_of[c->at->side];
}

/* Whether rows lie as the dispatch made them, not as their owners have them. */
static bool is_own(const ridge__call *c, int tensor)
{
    const ridge_partition *p = c->m->partition;
    const int made = p->program->ops[dispatch_of(c)].outputs[0];
    const ridge_dim_axes *a = &p->shardings[made].dims[0];
    const ridge_dim_axes *b = &p->shardings[tensor].dims[0];
    return a->n == b->n && memcmp(a->axes, b->axes, (size_t)a->n * sizeof(int)) == 0;
}

const int64_t *ridge__rows_offsets(const ridge__call *c, int tensor, int *groups)
{
    const ridge__routing *r = c->side->routing;
    if (is_own(c, tensor)) {
        *groups = (int)r->experts;
        return r->offsets;
    }
    *groups = (int)r->owner_experts;
    return r->owner_offsets;
}

static ridge_status make_routing(ridge__call *c, const ridge__tensor_part *rows,
                                 int64_t tokens)
{
    ridge__routing *r = ridge__host_new(1, sizeof *r);
    if (r == NULL)
        return ridge_fail_nomem(c->m->cx);
    c->side->routing = r;
    r->tokens = tokens;
    r->first_expert = rows->spans[0].start;
    r->experts = rows->spans[0].valid;
    r->offsets = ridge__host_new((size_t)r->experts + 1, sizeof *r->offsets);
    if (r->offsets == NULL)
        return ridge_fail_nomem(c->m->cx);
    void *token;
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
                            .first_expert = r->first_expert - held.start,
                            .experts = r->experts,
                            .offsets = r->offsets,
                            .token = r->token};
}

static int64_t tokens_of(const ridge__tensor_part *gates)
{
    return ridge__tensor_part_product(gates, 0, gates->n_dims - 1);
}

ridge_status ridge__call_route(ridge__call *c)
{
    const ridge__tensor_part *gates = ridge__out_part(c, 0);
    ridge__route r = {.rows = tokens_of(gates),
                      .experts = gates->spans[gates->n_dims - 1].length,
                      .k = c->op->experts_per_token};
    if (c->op->is_backward) {
        r.gates = ridge__in_array(c, 0);
        r.d_gates = ridge__in_array(c, 1);
        r.d_logits = ridge__out_array(c, 0);
        return c->m->device->ops->route_backward(c->m->device, &r);
    }
    r.logits = ridge__in_array(c, 0);
    r.gates = ridge__out_array(c, 0);
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
    RIDGE_TRY(make_routing(c, rows, tokens_of(gates)));
    ridge__routing *r = c->side->routing;
    const ridge__expert_order order = {
        .tokens = r->tokens,
        .valid = r->tokens,
        .all_experts = gates->spans[gates->n_dims - 1].length,
        .first_expert = r->first_expert - gates->spans[gates->n_dims - 1].start,
        .experts = r->experts,
        .gates = ridge__in_array(c, 1),
        .offsets = r->offsets,
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

/* ---- the exchange ------------------------------------------------------------------
 */

typedef struct counting {
    ridge__call *c;
    ridge_comm *group;
    int ranks;
    int64_t owned;     /* experts of one owner */
    int32_t *out, *in; /* host, [ranks, owned]: rows for and from each rank */
} counting;

/* Own counts to the owners: through the device's memory, where collectives work. */
static ridge_status exchange_counts(counting *k)
{
    ridge__device *d = k->c->m->device;
    const size_t n = (size_t)k->ranks * (size_t)k->owned, bytes = n * sizeof(int32_t);
    ridge_pending pending;
    void *src, *dst;
    RIDGE_TRY(d->ops->alloc(d, bytes, &src));
    RIDGE_TRY(d->ops->alloc(d, bytes, &dst));
    RIDGE_TRY(d->ops->upload(d, src, k->out, bytes));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_all_to_all_start(k->c->m->cx, k->group, RIDGE_ELEMENT_I32, k->owned,
                                     src, dst, &pending));
    RIDGE_TRY(ridge_comm_wait(k->c->m->cx, &pending));
    RIDGE_TRY(d->ops->download(d, k->in, dst, bytes));
    d->ops->release(d, src);
    d->ops->release(d, dst);
    return RIDGE_OK;
}

static ridge_status upload_order(ridge__call *c, const int32_t *from, int64_t n,
                                 int32_t **out)
{
    void *p;
    ridge__device *d = c->m->device;
    RIDGE_TRY(d->ops->alloc(d, (size_t)n * sizeof(int32_t), &p));
    *out = p;
    return d->ops->upload(d, p, from, (size_t)n * sizeof(int32_t));
}

/* Rows arrive by rank, then by expert; they are wanted by expert, then by rank. */
static ridge_status sort_arrivals(counting *k, ridge__routing *r)
{
    const int64_t total = r->owner_offsets[r->owner_experts];
    int32_t *order = ridge__host_new((size_t)(2 * total) + 1, sizeof *order);
    int32_t *back = order + total;
    if (order == NULL)
        return ridge_fail_nomem(k->c->m->cx);
    int32_t from = 0;
    for (int rank = 0; rank < k->ranks; rank++) {
        for (int64_t e = 0; e < k->owned; e++) {
            int64_t to = r->owner_offsets[e];
            for (int before = 0; before < rank; before++)
                to += k->in[before * k->owned + e];
            for (int32_t i = 0; i < k->in[rank * k->owned + e]; i++, to++, from++) {
                order[to] = from;
                back[from] = (int32_t)to;
            }
        }
    }
    ridge_status st = upload_order(k->c, order, total, &r->arrival);
    st = st == RIDGE_OK ? upload_order(k->c, back, total, &r->resort) : st;
    ridge__host_free(order);
    return st;
}

static void count_rows(const counting *k, ridge__routing *r)
{
    for (int rank = 0; rank < k->ranks; rank++) {
        r->send[rank] = r->receive[rank] = 0;
        for (int64_t e = 0; e < k->owned; e++) {
            r->send[rank] += k->out[rank * k->owned + e];
            r->receive[rank] += k->in[rank * k->owned + e];
            r->owner_offsets[e + 1] += k->in[rank * k->owned + e];
        }
    }
    for (int64_t e = 0; e < k->owned; e++)
        r->owner_offsets[e + 1] += r->owner_offsets[e];
}

static ridge_status count_exchange(counting *k, ridge__routing *r)
{
    for (int rank = 0; rank < k->ranks; rank++) {
        for (int64_t e = 0; e < k->owned; e++) {
            const int64_t expert = rank * k->owned + e;
            k->out[expert] =
                expert < r->experts
                    ? (int32_t)(r->offsets[expert + 1] - r->offsets[expert])
                    : 0;
        }
    }
    RIDGE_TRY(exchange_counts(k));
    r->ranks = k->ranks;
    r->owner_experts = k->owned;
    r->owner_offsets = ridge__host_new((size_t)k->owned + 1, sizeof *r->owner_offsets);
    r->send = ridge__host_new((size_t)k->ranks, sizeof *r->send);
    r->receive = ridge__host_new((size_t)k->ranks, sizeof *r->receive);
    if (!r->owner_offsets || !r->send || !r->receive)
        return ridge_fail_nomem(k->c->m->cx);
    count_rows(k, r);
    RIDGE_TRY(sort_arrivals(k, r));
    r->is_exchanged = true;
    return RIDGE_OK;
}

/* Who gets which rows: found with the first exchange of a dispatch. */
static ridge_status open_exchange(ridge__call *c, ridge_comm *group, int64_t owned)
{
    counting k = {
        .c = c, .group = group, .ranks = ridge_comm_size(group), .owned = owned};
    const size_t n = (size_t)k.ranks * (size_t)owned;
    if (c->side->routing->is_exchanged)
        return RIDGE_OK;
    k.out = ridge__host_new(2 * n + 1, sizeof *k.out);
    k.in = k.out + n;
    if (k.out == NULL)
        return ridge_fail_nomem(c->m->cx);
    const ridge_status st = count_exchange(&k, c->side->routing);
    ridge__host_free(k.out);
    return st;
}

/* rows[i] = x[order[i]] */
static ridge_status reorder(ridge__call *c, int64_t n, int64_t d, const int32_t *order,
                            ridge__array x, ridge__array rows)
{
    const int64_t offsets[] = {0, n};
    const ridge__experts e = {.tokens = n,
                              .d = d,
                              .all_experts = 1,
                              .experts = 1,
                              .offsets = offsets,
                              .token = order,
                              .x = x,
                              .rows = rows};
    return c->m->device->ops->dispatch(c->m->device, &e);
}

/* Own rows to their owners, or back. */
static ridge_status move_rows(ridge__call *c, ridge_comm *group, bool is_back,
                              ridge__array src, ridge__array dst)
{
    const ridge__routing *r = c->side->routing;
    ridge_pending pending;
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    RIDGE_TRY(ridge_all_to_all_ragged_start(
        c->m->cx, group, ridge__element_of(src.dtype), ridge__in_part(c, 0)->elements,
        is_back ? r->receive : r->send, is_back ? r->send : r->receive, src.p, dst.p,
        &pending));
    return ridge_comm_wait(c->m->cx, &pending);
}

ridge_status ridge__call_rows_exchange(ridge__call *c)
{
    ridge_comm *group = c->m->groups[c->at->op];
    const bool is_back = !is_own(c, c->op->inputs[0]);
    const ridge__tensor_part *owner =
        is_back ? ridge__in_part(c, 0) : ridge__out_part(c, 0);
    if (c->op->collective != RIDGE_STEP_ALL_TO_ALL)
        return ridge_fail(
            c->m->cx, RIDGE_E_ARG,
            "%s moves rows of experts by %s: only an all-to-all of experts "
            "can be run",
            c->op->name, ridge_step_kind_text((ridge_step_kind)c->op->collective));
    RIDGE_TRY(open_exchange(c, group, owner->spans[0].length));
    const ridge__routing *r = c->side->routing;
    const int64_t d = owner->elements, total = r->owner_offsets[r->owner_experts];
    ridge__array sorted;
    RIDGE_TRY(ridge__rows_make(c, 0));
    RIDGE_TRY(ridge__scratch_take(c, total * d, c->in[0]->dtype, &sorted));
    ridge_status st;
    if (is_back) {
        st = reorder(c, total, d, r->resort, ridge__in_array(c, 0), sorted);
        st = st == RIDGE_OK ? move_rows(c, group, true, sorted, ridge__out_array(c, 0))
                            : st;
    } else {
        st = move_rows(c, group, false, ridge__in_array(c, 0), sorted);
        st = st == RIDGE_OK
                 ? reorder(c, total, d, r->arrival, sorted, ridge__out_array(c, 0))
                 : st;
    }
    ridge__scratch_give(c, &sorted);
    return st;
}
