/*
 * Collectives between GPUs. NCCL moves the data; sums are added here, in the order of
 * ranks, as NCCL's own order depends on its algorithm and on the machine: a
 * reduce-scatter is an all-to-all and a sum, an all-reduce that and an all-gather, or
 * for few elements an all-gather and a sum. Each link carries the bytes that a ring
 * would. Temporary memory is taken and given back in the order of the stream.
 */
#include "comm_nccl.h"
#include "device_cuda_pack.h"

/* Below this many bytes from all ranks together, one step with more bytes is faster
 * than two with fewer. */
enum { SMALL_BYTES = 256 << 10 };

typedef struct work {
    ridge_ctx *cx;
    ridge__nccl_comm *comm;
    const ridge__comm_call *call;
    size_t each; /* bytes of an element */
    int rank, size;
} work;

static ridge_status cuda(const work *w, cudaError_t error, const char *what)
{
    return ridge__nccl_cuda(w->cx, w->comm->me, error, what);
}

static ridge_status take(const work *w, size_t bytes, void **out)
{
    return cuda(w, cudaMallocAsync(out, bytes == 0 ? 1 : bytes, w->comm->stream),
                "take memory for a collective");
}

static ridge_status give(const work *w, void *p)
{
    return cuda(w, cudaFreeAsync(p, w->comm->stream), "give memory back");
}

static ridge_status copy(const work *w, void *dst, const void *src, size_t bytes)
{
    if (dst == src || bytes == 0)
        return RIDGE_OK;
    return cuda(
        w, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, w->comm->stream),
        "copy");
}

/* ---- exchanges ---------------------------------------------------------------- */

/** Bytes of an array that go to or come from a rank. */
typedef struct span {
    size_t at, bytes;
} span;

typedef span span_fn(const work *w, int rank, const void *plan);

/** What each rank gets and gives. */
typedef struct exchange {
    const void *src;
    void *dst;
    span_fn *sent, *received;
    const void *plan;
} exchange;

static ncclResult_t exchange_group(const work *w, const exchange *e)
{
    const ridge__nccl_calls *calls = &w->comm->me->world->calls;
    ncclResult_t result = calls->ncclGroupStart();
    for (int r = 0; r < w->size; r++) {
        const span out = e->sent(w, r, e->plan), in = e->received(w, r, e->plan);
        if (out.bytes > 0 && (result == ncclSuccess || result == ncclInProgress))
            result = calls->ncclSend((const char *)e->src + out.at, out.bytes,
                                     ncclUint8, r, w->comm->nccl, w->comm->stream);
        if (in.bytes > 0 && (result == ncclSuccess || result == ncclInProgress))
            result = calls->ncclRecv((char *)e->dst + in.at, in.bytes, ncclUint8, r,
                                     w->comm->nccl, w->comm->stream);
    }
    const ncclResult_t ended = calls->ncclGroupEnd();
    return result == ncclSuccess || result == ncclInProgress ? ended : result;
}

static ridge_status exchange_all(const work *w, const exchange *e)
{
    return ridge__nccl_settle(w->cx, w->comm, exchange_group(w, e), "exchange");
}

/** Equal blocks next to each other; plan: size_t, their bytes. */
static span block_span(const work *w, int rank, const void *plan)
{
    (void)w;
    const size_t bytes = *(const size_t *)plan;
    return (span){bytes * (size_t)rank, bytes};
}

static ridge_status all_to_all(const work *w, const void *src, void *dst, size_t bytes)
{
    const exchange e = {src, dst, block_span, block_span, &bytes};
    return exchange_all(w, &e);
}

static ridge_status gather_blocks(const work *w, const void *src, void *dst,
                                  size_t bytes)
{
    if (bytes == 0)
        return RIDGE_OK;
    const ridge__nccl_calls *calls = &w->comm->me->world->calls;
    return ridge__nccl_settle(w->cx, w->comm,
                              calls->ncclAllGather(src, dst, bytes, ncclUint8,
                                                   w->comm->nccl, w->comm->stream),
                              "gather");
}

static ridge_status join(const work *w, const void *parts, int64_t n, void *out)
{
    const ridge__cuda_join how = {w->call->element, w->call->reduce, w->size, n};
    return cuda(w, ridge__cuda_ranks_join(w->comm->stream, &how, parts, out), "add up");
}

/* ---- cuts -------------------------------------------------------------------------
 */

static ridge__cuda_cut cut_of(const work *w)
{
    return (ridge__cuda_cut){w->call->cut, ridge_cut_chunk(&w->call->cut, w->size),
                             w->size, w->call->element};
}

/** Whether the parts of the ranks lie next to each other in the whole. */
static bool is_dense(const ridge__cuda_cut *c)
{
    return c->cut.outer == 1 && c->cut.full == c->chunk * c->ranks;
}

static int64_t part_elements(const ridge__cuda_cut *c)
{
    return c->cut.outer * c->chunk * c->cut.inner;
}

static ridge_status all_gather(const work *w)
{
    const ridge__cuda_cut c = cut_of(w);
    const size_t bytes = (size_t)part_elements(&c) * w->each;
    if (is_dense(&c))
        return gather_blocks(w, w->call->src, w->call->dst, bytes);
    void *parts;
    RIDGE_TRY(take(w, bytes * (size_t)w->size, &parts));
    RIDGE_TRY(gather_blocks(w, w->call->src, parts, bytes));
    RIDGE_TRY(cuda(w, ridge__cuda_cut_unpack(w->comm->stream, &c, parts, w->call->dst),
                   "unpack"));
    return give(w, parts);
}

static ridge_status reduce_scatter(const work *w)
{
    const ridge__cuda_cut c = cut_of(w);
    const int64_t n = part_elements(&c);
    const size_t bytes = (size_t)n * w->each;
    const bool is_packed = is_dense(&c);
    void *sent = NULL, *received;
    if (!is_packed) {
        RIDGE_TRY(take(w, bytes * (size_t)w->size, &sent));
        RIDGE_TRY(cuda(w, ridge__cuda_cut_pack(w->comm->stream, &c, w->call->src, sent),
                       "pack"));
    }
    RIDGE_TRY(take(w, bytes * (size_t)w->size, &received));
    RIDGE_TRY(all_to_all(w, is_packed ? w->call->src : sent, received, bytes));
    RIDGE_TRY(join(w, received, n, w->call->dst));
    RIDGE_TRY(give(w, received));
    return is_packed ? RIDGE_OK : give(w, sent);
}

/* ---- all-reduce --------------------------------------------------------------------
 */

/** Elements of a rank's slice of n. */
static int64_t slice_from(const work *w, int rank)
{
    const int64_t at = ridge_ceil_div(w->call->n, w->size) * rank;
    return at < w->call->n ? at : w->call->n;
}

static span slice_span(const work *w, int rank, const void *plan)
{
    (void)plan;
    const int64_t from = slice_from(w, rank);
    return (span){(size_t)from * w->each,
                  (size_t)(slice_from(w, rank + 1) - from) * w->each};
}

/** The own slice's sum, which each rank gets. */
static span own_span(const work *w, int rank, const void *plan)
{
    (void)rank;
    return (span){0, slice_span(w, w->rank, plan).bytes};
}

/** This rank's slice from each rank, one behind the other. */
static span stacked_span(const work *w, int rank, const void *plan)
{
    const size_t bytes = slice_span(w, w->rank, plan).bytes;
    return (span){bytes * (size_t)rank, bytes};
}

static ridge_status all_reduce_small(const work *w)
{
    const size_t bytes = (size_t)w->call->n * w->each;
    void *parts;
    RIDGE_TRY(take(w, bytes * (size_t)w->size, &parts));
    RIDGE_TRY(gather_blocks(w, w->call->src, parts, bytes));
    RIDGE_TRY(join(w, parts, w->call->n, w->call->dst));
    return give(w, parts);
}

static ridge_status all_reduce(const work *w)
{
    if ((size_t)w->call->n * w->each * (size_t)w->size <= SMALL_BYTES)
        return all_reduce_small(w);
    const span own = slice_span(w, w->rank, NULL);
    void *parts, *sum;
    RIDGE_TRY(take(w, own.bytes * (size_t)w->size, &parts));
    RIDGE_TRY(take(w, own.bytes, &sum));
    const exchange scatter = {w->call->src, parts, slice_span, stacked_span, NULL};
    RIDGE_TRY(exchange_all(w, &scatter));
    RIDGE_TRY(join(w, parts, (int64_t)(own.bytes / w->each), sum));
    const exchange gather = {sum, w->call->dst, own_span, slice_span, NULL};
    RIDGE_TRY(exchange_all(w, &gather));
    RIDGE_TRY(give(w, sum));
    return give(w, parts);
}

/* ---- rows, broadcast, permute ------------------------------------------------- */

static span counted_span(const work *w, const int32_t *counts, int rank)
{
    int64_t before = 0;
    for (int r = 0; r < rank; r++)
        before += counts[r];
    const size_t row = (size_t)w->call->n * w->each;
    return (span){(size_t)before * row, (size_t)counts[rank] * row};
}

static span sent_span(const work *w, int rank, const void *plan)
{
    (void)plan;
    return counted_span(w, w->call->send, rank);
}

static span received_span(const work *w, int rank, const void *plan)
{
    (void)plan;
    return counted_span(w, w->call->receive, rank);
}

static ridge_status ragged(const work *w)
{
    const exchange e = {w->call->src, w->call->dst, sent_span, received_span, NULL};
    return exchange_all(w, &e);
}

static ridge_status broadcast(const work *w)
{
    const size_t bytes = (size_t)w->call->n * w->each;
    const ridge__nccl_calls *calls = &w->comm->me->world->calls;
    const void *src = w->rank == w->call->peer ? w->call->src : w->call->dst;
    if (bytes == 0)
        return RIDGE_OK;
    return ridge__nccl_settle(w->cx, w->comm,
                              calls->ncclBroadcast(src, w->call->dst, bytes, ncclUint8,
                                                   w->call->peer, w->comm->nccl,
                                                   w->comm->stream),
                              "broadcast");
}

static span span_to(const work *w, int rank, const void *plan)
{
    (void)plan;
    const bool is_it = rank == (w->rank + w->call->peer) % w->size;
    return (span){0, is_it ? (size_t)w->call->n * w->each : 0};
}

static span span_from(const work *w, int rank, const void *plan)
{
    (void)plan;
    const bool is_it = rank == (w->rank - w->call->peer + w->size) % w->size;
    return (span){0, is_it ? (size_t)w->call->n * w->each : 0};
}

static ridge_status permute(const work *w)
{
    const exchange e = {w->call->src, w->call->dst, span_to, span_from, NULL};
    return exchange_all(w, &e);
}

/* ---- the engine's ------------------------------------------------------------- */

/** In a group of one all are copies; the whole is then as large as the part. */
static ridge_status copy_own(const work *w)
{
    const ridge_cut *cut = &w->call->cut;
    int64_t n = w->call->n;
    if (w->call->kind == RIDGE__CALL_ALL_GATHER ||
        w->call->kind == RIDGE__CALL_REDUCE_SCATTER)
        n = cut->outer * cut->full * cut->inner;
    if (w->call->kind == RIDGE__CALL_RAGGED)
        n *= w->call->send[0];
    return copy(w, w->call->dst, w->call->src, (size_t)n * w->each);
}

ridge_status ridge__nccl_issue(ridge_ctx *cx, ridge__nccl_comm *comm,
                               const ridge__comm_call *call)
{
    const work w = {cx,
                    comm,
                    call,
                    ridge_element_bytes(call->element),
                    comm->base.rank,
                    comm->base.size};
    if (w.size == 1)
        return copy_own(&w);
    switch (call->kind) {
    case RIDGE__CALL_ALL_GATHER:
        return all_gather(&w);
    case RIDGE__CALL_REDUCE_SCATTER:
        return reduce_scatter(&w);
    case RIDGE__CALL_ALL_REDUCE:
        return all_reduce(&w);
    case RIDGE__CALL_ALL_TO_ALL:
        return all_to_all(&w, call->src, call->dst, (size_t)call->n * w.each);
    case RIDGE__CALL_RAGGED:
        return ragged(&w);
    case RIDGE__CALL_BROADCAST:
        return broadcast(&w);
    case RIDGE__CALL_PERMUTE:
        return permute(&w);
    case RIDGE__CALL_BARRIER:
    case RIDGE__CALL_SEND:
    case RIDGE__CALL_RECEIVE:
        break; /* not issued here */
    }
    return ridge_fail(cx, RIDGE_E_INTERNAL, "a %s is no collective",
                      ridge__call_kind_text(call->kind));
}
