/* Ranks and collectives, whatever the engine: checks each call, then hands it on. */
#include "comm_call.h"

enum { CALL_ELEMENTS_LOG2 = 60 }; /* so that bytes fit into 63 bits */

int ridge_comm_rank(const ridge_comm *comm)
{
    return comm->rank;
}

int ridge_comm_size(const ridge_comm *comm)
{
    return comm->size;
}

ridge_engine ridge_comm_engine(const ridge_comm *comm)
{
    return comm->engine;
}

void ridge_comm_abandon(ridge_comm *comm)
{
    comm->ops->abandon(comm);
}

/* ---- starting -------------------------------------------------------------------- */

/** a b <= 2^60, all factors >= 0. */
static bool times(int64_t a, int64_t b, int64_t *out)
{
    return a >= 0 && b >= 0 && ridge_mul_i64(a, b, out) &&
           *out <= (int64_t)1 << CALL_ELEMENTS_LOG2;
}

/** Elements of the largest array of a call with all its padding. */
static bool is_sized(const ridge_comm *comm, const ridge__comm_call *call, int64_t *out)
{
    int64_t size = comm->size;
    if (call->kind == RIDGE__CALL_ALL_GATHER ||
        call->kind == RIDGE__CALL_REDUCE_SCATTER) {
        const ridge_cut *cut = &call->cut;
        int64_t rows, padded;
        return cut->full >= 0 && times(cut->outer, cut->inner, &rows) &&
               times(ridge_cut_chunk(cut, comm->size), size, &padded) &&
               times(rows, padded, out);
    }
    return times(call->n, call->kind == RIDGE__CALL_ALL_TO_ALL ? size : 1, out);
}

static ridge_status check(ridge_ctx *cx, const ridge_comm *comm,
                          const ridge__comm_call *call)
{
    int64_t elements;
    if (!is_sized(comm, call, &elements)) {
        ridge__call_signature s = ridge__call_signature_of(call);
        return ridge_fail(cx, RIDGE_E_ARG, "%s: sizes are at least 0 and below 2^60",
                          ridge__call_signature_text(&s).s);
    }
    if (call->peer < 0 || call->peer >= comm->size)
        return ridge_fail(cx, RIDGE_E_ARG, "%s with rank %d in a group of %d ranks",
                          ridge__call_kind_text(call->kind), call->peer, comm->size);
    if (call->tag < 0 || call->tag > RIDGE_TAG_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "tag %d of a %s: tags are 0 to %d",
                          call->tag, ridge__call_kind_text(call->kind), RIDGE_TAG_MAX);
    return RIDGE_OK;
}

static ridge_status start(ridge_ctx *cx, ridge_comm *comm, const ridge__comm_call *call,
                          ridge_pending *out)
{
    RIDGE_TRY(check(cx, comm, call));
    int64_t ticket = 0;
    RIDGE_TRY(comm->ops->start(cx, comm, call, &ticket));
    *out = (ridge_pending){comm, ticket};
    return RIDGE_OK;
}

ridge_status ridge_all_gather_start(ridge_ctx *cx, ridge_comm *comm,
                                    ridge_element element, const ridge_cut *cut,
                                    const void *src, void *dst, ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_ALL_GATHER,
                             .element = element,
                             .cut = *cut,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

ridge_status ridge_reduce_scatter_start(ridge_ctx *cx, ridge_comm *comm,
                                        ridge_element element, const ridge_cut *cut,
                                        const void *src, void *dst, ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_REDUCE_SCATTER,
                             .element = element,
                             .cut = *cut,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

ridge_status ridge_all_reduce_start(ridge_ctx *cx, ridge_comm *comm,
                                    ridge_element element, ridge_reduce reduce,
                                    int64_t n, const void *src, void *dst,
                                    ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_ALL_REDUCE,
                             .element = element,
                             .reduce = reduce,
                             .n = n,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

ridge_status ridge_all_to_all_start(ridge_ctx *cx, ridge_comm *comm,
                                    ridge_element element, int64_t n, const void *src,
                                    void *dst, ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_ALL_TO_ALL,
                             .element = element,
                             .n = n,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

/** All counts of a ragged exchange are >= 0 and their rows fit. */
static ridge_status check_rows(ridge_ctx *cx, const ridge_comm *comm, int64_t row,
                               const int32_t *counts)
{
    int64_t rows = 0, elements;
    for (int r = 0; r < comm->size; r++) {
        if (counts[r] < 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "%d rows for rank %d of a ragged all-to-all: counts are "
                              "at least 0",
                              counts[r], r);
        rows += counts[r];
    }
    if (!times(rows, row, &elements))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a ragged all-to-all of %lld rows of %lld elements: sizes "
                          "are at least 0 and below 2^60",
                          (long long)rows, (long long)row);
    return RIDGE_OK;
}

ridge_status ridge_all_to_all_ragged_start(ridge_ctx *cx, ridge_comm *comm,
                                           ridge_element element, int64_t row,
                                           const int32_t *send, const int32_t *receive,
                                           const void *src, void *dst,
                                           ridge_pending *out)
{
    RIDGE_TRY(check_rows(cx, comm, row, send));
    RIDGE_TRY(check_rows(cx, comm, row, receive));
    ridge__comm_call call = {.kind = RIDGE__CALL_RAGGED,
                             .element = element,
                             .n = row,
                             .send = send,
                             .receive = receive,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

ridge_status ridge_broadcast_start(ridge_ctx *cx, ridge_comm *comm,
                                   ridge_element element, int64_t n, int root,
                                   const void *src, void *dst, ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_BROADCAST,
                             .element = element,
                             .n = n,
                             .peer = root,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

ridge_status ridge_permute_start(ridge_ctx *cx, ridge_comm *comm, ridge_element element,
                                 int64_t n, int shift, const void *src, void *dst,
                                 ridge_pending *out)
{
    int around = shift % comm->size;
    ridge__comm_call call = {.kind = RIDGE__CALL_PERMUTE,
                             .element = element,
                             .n = n,
                             .peer = around < 0 ? around + comm->size : around,
                             .src = src,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

ridge_status ridge_send_start(ridge_ctx *cx, ridge_comm *comm, ridge_element element,
                              int64_t n, int peer, int tag, const void *src,
                              ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_SEND,
                             .element = element,
                             .n = n,
                             .peer = peer,
                             .tag = tag,
                             .src = src};
    return start(cx, comm, &call, out);
}

ridge_status ridge_receive_start(ridge_ctx *cx, ridge_comm *comm, ridge_element element,
                                 int64_t n, int peer, int tag, void *dst,
                                 ridge_pending *out)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_RECEIVE,
                             .element = element,
                             .n = n,
                             .peer = peer,
                             .tag = tag,
                             .dst = dst};
    return start(cx, comm, &call, out);
}

/* ---- waiting --------------------------------------------------------------------- */

ridge_status ridge_comm_wait(ridge_ctx *cx, ridge_pending *pending)
{
    ridge_comm *comm = pending->comm;
    if (comm == NULL)
        return RIDGE_OK;
    pending->comm = NULL;
    return comm->ops->wait(cx, comm, pending->ticket);
}

ridge_status ridge_barrier(ridge_ctx *cx, ridge_comm *comm)
{
    ridge__comm_call call = {.kind = RIDGE__CALL_BARRIER};
    ridge_pending pending;
    RIDGE_TRY(start(cx, comm, &call, &pending));
    return ridge_comm_wait(cx, &pending);
}
