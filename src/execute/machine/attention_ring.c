/*
 * Ring attention: each rank keeps its queries; keys and values pass around. Partial
 * results are merged by their logarithms of sums; in the backward pass the gradients of
 * keys and values travel with them and arrive where they belong after a whole turn.
 * @source liu2023-ring
 */
#include "attention_call.h"

/* What travels: an array and the one that the next arrives in. */
typedef struct parcel {
    ridge__array now, next;
    int64_t elements;
    bool is_taken; /* now is scratch */
} parcel;

static ridge_status parcel_open(ridge__call *c, ridge__array own, int64_t elements,
                                parcel *out)
{
    parcel p = {.now = own, .elements = elements};
    RIDGE_TRY(ridge__scratch_take(c, elements, own.dtype, &p.next));
    *out = p;
    return RIDGE_OK;
}

/* A parcel of zeros, in fp32. */
static ridge_status parcel_zero(ridge__call *c, int64_t elements, parcel *out)
{
    ridge__array sum;
    ridge__device *d = c->m->device;
    RIDGE_TRY(ridge__scratch_take(c, elements, RIDGE_DTYPE_FP32, &sum));
    RIDGE_TRY(d->ops->zero(d, sum.p, (size_t)elements * sizeof(float)));
    RIDGE_TRY(parcel_open(c, sum, elements, out));
    out->is_taken = true;
    return RIDGE_OK;
}

static void parcel_close(ridge__call *c, parcel *p)
{
    ridge__scratch_give(c, &p->next);
    if (p->is_taken)
        ridge__scratch_give(c, &p->now);
}

static ridge_status parcel_send(ridge__call *c, ridge_comm *ring, parcel *p,
                                ridge_pending *out)
{
    return ridge_permute_start(c->m->cx, ring, ridge__element_of(p->now.dtype),
                               p->elements, 1, p->now.p, p->next.p, out);
}

/* The first array of a parcel is the caller's: from then on both are scratch. */
static ridge_status parcel_arrive(ridge__call *c, ridge_pending *pending, parcel *p)
{
    RIDGE_TRY(ridge_comm_wait(c->m->cx, pending));
    const ridge__array was = p->now;
    p->now = p->next;
    p->next = was;
    if (p->is_taken)
        return RIDGE_OK;
    p->is_taken = true;
    return ridge__scratch_take(c, p->elements, was.dtype, &p->next);
}

static bool is_met(const ridge__attention *a)
{
    return !a->is_causal || a->s_start <= a->q_start + a->t - 1;
}

/* ---- forward ----------------------------------------------------------------------
 */

/* The part of one rank's entries, merged into what is there. */
static ridge_status merge_part(ridge__call *c, ridge__attention *a, bool is_first)
{
    ridge__device *d = c->m->device;
    const int64_t rows = a->batch * a->t * a->heads;
    ridge__array other, statistics;
    if (is_first)
        return d->ops->attention(d, a);
    if (!is_met(a))
        return RIDGE_OK;
    RIDGE_TRY(ridge__scratch_take(c, rows * a->hv, a->o.dtype, &other));
    RIDGE_TRY(ridge__scratch_take(c, rows, RIDGE_DTYPE_FP32, &statistics));
    ridge__attention part = *a;
    part.o = other;
    part.lse = statistics.p;
    ridge_status st = d->ops->attention(d, &part);
    st = st == RIDGE_OK ? d->ops->attention_merge(d, rows, a->hv, a->o, a->lse, other,
                                                  statistics.p)
                        : st;
    ridge__scratch_give(c, &other);
    ridge__scratch_give(c, &statistics);
    return st;
}

static ridge_status forward(ridge__call *c, ridge_comm *ring, ridge__attention *a,
                            parcel *k, parcel *v)
{
    const int n = ridge_comm_size(ring), me = ridge_comm_rank(ring);
    for (int turn = 0; turn < n; turn++) {
        ridge_pending of_k = {NULL, 0}, of_v = {NULL, 0};
        if (turn + 1 < n) {
            RIDGE_TRY(c->m->device->ops->finish(c->m->device));
            RIDGE_TRY(parcel_send(c, ring, k, &of_k));
            RIDGE_TRY(parcel_send(c, ring, v, &of_v));
        }
        a->k = k->now;
        a->v = v->now;
        a->s_start = (int64_t)((me - turn + n) % n) * a->s;
        RIDGE_TRY(merge_part(c, a, turn == 0));
        if (turn + 1 < n) {
            RIDGE_TRY(parcel_arrive(c, &of_k, k));
            RIDGE_TRY(parcel_arrive(c, &of_v, v));
        }
    }
    return RIDGE_OK;
}

/* ---- backward ---------------------------------------------------------------------
 */

typedef struct travel {
    parcel k, v, d_k, d_v;
    ridge__array d_q; /* fp32 */
} travel;

static ridge_status backward_turn(ridge__call *c, ridge_comm *ring, ridge__attention *a,
                                  travel *t, bool is_last)
{
    ridge_pending of[4] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
    parcel *const all[] = {&t->d_k, &t->d_v, &t->k, &t->v};
    const int n = is_last ? 2 : 4;
    a->k = t->k.now;
    a->v = t->v.now;
    a->d_k = t->d_k.now;
    a->d_v = t->d_v.now;
    if (is_met(a))
        RIDGE_TRY(c->m->device->ops->attention_backward(c->m->device, a));
    RIDGE_TRY(c->m->device->ops->finish(c->m->device));
    for (int i = 0; i < n; i++)
        RIDGE_TRY(parcel_send(c, ring, all[i], &of[i]));
    for (int i = 0; i < n; i++)
        RIDGE_TRY(parcel_arrive(c, &of[i], all[i]));
    return RIDGE_OK;
}

static ridge_status copy_plain(ridge__call *c, int64_t n, ridge__array x,
                               ridge__array y)
{
    const ridge__copy copy = {
        .n_dims = 1, .sizes = {n}, .x_strides = {1}, .y_strides = {1}, .x = x, .y = y};
    return c->m->device->ops->copy(c->m->device, &copy);
}

static ridge_status backward(ridge__call *c, ridge_comm *ring, ridge__attention *a,
                             travel *t)
{
    const int n = ridge_comm_size(ring), me = ridge_comm_rank(ring);
    const int64_t queries = a->batch * a->t * a->heads * a->h;
    const ridge__array d_q = a->d_q, d_k = a->d_k, d_v = a->d_v;
    a->d_q = t->d_q;
    a->is_added = true;
    for (int turn = 0; turn < n; turn++) {
        a->s_start = (int64_t)((me - turn + n) % n) * a->s;
        RIDGE_TRY(backward_turn(c, ring, a, t, turn + 1 == n));
    }
    RIDGE_TRY(copy_plain(c, queries, t->d_q, d_q));
    RIDGE_TRY(copy_plain(c, t->d_k.elements, t->d_k.now, d_k));
    RIDGE_TRY(copy_plain(c, t->d_v.elements, t->d_v.now, d_v));
    a->d_q = d_q;
    a->d_k = d_k;
    a->d_v = d_v;
    return RIDGE_OK;
}

ridge_status ridge__attention_ring(ridge__call *c, ridge_comm *ring,
                                   ridge__attention *a)
{
    const int64_t entries = a->batch * a->s * a->kv_heads;
    travel t;
    RIDGE_TRY(parcel_open(c, a->k, entries * a->h, &t.k));
    RIDGE_TRY(parcel_open(c, a->v, entries * a->hv, &t.v));
    ridge_status st;
    if (a->d_o.p == NULL) {
        st = forward(c, ring, a, &t.k, &t.v);
    } else {
        const int64_t queries = a->batch * a->t * a->heads * a->h;
        RIDGE_TRY(parcel_zero(c, entries * a->h, &t.d_k));
        RIDGE_TRY(parcel_zero(c, entries * a->hv, &t.d_v));
        RIDGE_TRY(ridge__scratch_take(c, queries, RIDGE_DTYPE_FP32, &t.d_q));
        RIDGE_TRY(c->m->device->ops->zero(c->m->device, t.d_q.p,
                                          (size_t)queries * sizeof(float)));
        st = backward(c, ring, a, &t);
        parcel_close(c, &t.d_k);
        parcel_close(c, &t.d_v);
        ridge__scratch_give(c, &t.d_q);
    }
    parcel_close(c, &t.k);
    parcel_close(c, &t.v);
    return st;
}
