/* What one rank of a collective moves: from other ranks' arrays straight into its own.
 */
#include "comm_threads.h"

#include <string.h>

/* A rank that writes more than this in one collective writes past the caches: it would
 * otherwise read each line before it overwrites it, and drop what is of use. Not in
 * place, where it has just read the line. */
enum { STREAMED_BYTES = 2 << 20 };

enum { LINE_BYTES = 64 };

/* ---- who waits for whom ---------------------------------------------------------- */

static ridge__peers all_others(int rank, int size)
{
    return (ridge__peers){(rank + 1) % size, size - 1};
}

static const ridge__peers nobody = {0, 0};

ridge__peers ridge__call_needs(const ridge__comm_call *call, int rank, int size)
{
    if (call->kind == RIDGE__CALL_BROADCAST)
        return rank == call->peer ? nobody : (ridge__peers){call->peer, 1};
    if (call->kind == RIDGE__CALL_PERMUTE)
        return (ridge__peers){(rank - call->peer + size) % size, 1};
    return all_others(rank, size);
}

ridge__peers ridge__call_serves(const ridge__comm_call *call, int rank, int size)
{
    if (call->kind == RIDGE__CALL_BROADCAST)
        return rank == call->peer ? all_others(rank, size) : nobody;
    if (call->kind == RIDGE__CALL_PERMUTE)
        return (ridge__peers){(rank + call->peer) % size, 1};
    return all_others(rank, size);
}

/* ---- moving ---------------------------------------------------------------------- */

/** What the functions below work on. */
typedef struct move {
    const ridge__operation *op;
    const ridge__comm_call *call;
    int rank, size;
    size_t each; /* bytes of an element */
} move;

static const ridge__comm_call *call_of(const move *m, int rank)
{
    if (rank == m->rank)
        return m->call;
    return &ridge__group_entry(m->op->comm->group, m->op->ticket, rank)->call;
}

static void copy(void *dst, const void *src, size_t bytes, bool is_streamed)
{
    if (bytes > 0 && dst != src)
        ridge__stream_copy(dst, src, bytes, is_streamed);
}

static void gather(const move *m)
{
    const ridge_cut *cut = &m->call->cut;
    size_t line = (size_t)cut->inner * m->each;
    size_t chunk = (size_t)ridge_cut_chunk(cut, m->size) * line;
    size_t full = (size_t)cut->full * line;
    for (int k = 0; k < m->size; k++) {
        int r = (m->rank + k) % m->size;
        size_t valid = (size_t)ridge__cut_valid(cut, m->size, r) * line;
        ridge__rows rows = {.rows = cut->outer,
                            .row_bytes = valid,
                            .dst_bytes = full,
                            .src_bytes = chunk,
                            .is_streamed = (size_t)cut->outer * full > STREAMED_BYTES};
        if (valid > 0 && cut->outer > 0)
            ridge__rows_copy((char *)m->call->dst + chunk * (size_t)r,
                             call_of(m, r)->src, &rows);
    }
}

static void reduce_scatter(const move *m)
{
    const ridge_cut *cut = &m->call->cut;
    const void *sources[RIDGE_RANK_MAX];
    for (int r = 0; r < m->size; r++)
        sources[r] = call_of(m, r)->src;
    int64_t chunk = ridge_cut_chunk(cut, m->size) * cut->inner;
    int64_t valid = ridge__cut_valid(cut, m->size, m->rank) * cut->inner;
    size_t bytes = (size_t)(cut->outer * chunk) * m->each;
    ridge__combine c = {.element = m->call->element,
                        .n_sources = m->size,
                        .n_places = 1,
                        .sources = sources,
                        .places = &m->call->dst,
                        .n = valid,
                        .is_streamed = bytes > STREAMED_BYTES};
    if (valid > 0) {
        for (int64_t o = 0; o < cut->outer; o++) {
            c.from = o * cut->full * cut->inner + chunk * m->rank;
            c.to = o * chunk;
            m->op->comm->me->world->combine(&c);
        }
    }
    if (valid == chunk || cut->outer == 0)
        return;
    ridge__rows padding = {.rows = cut->outer,
                           .row_bytes = (size_t)(chunk - valid) * m->each,
                           .dst_bytes = (size_t)chunk * m->each};
    ridge__rows_zero((char *)m->call->dst + (size_t)valid * m->each, &padding);
}

/** This rank adds up its slice, of whole cache lines, for all. */
static void all_reduce(const move *m)
{
    int64_t n = m->call->n;
    int64_t line = LINE_BYTES / (int64_t)m->each;
    int64_t slice = ridge_ceil_div(ridge_ceil_div(n, m->size), line) * line;
    int64_t from = slice * m->rank;
    if (from >= n)
        return;
    const void *sources[RIDGE_RANK_MAX];
    void *places[RIDGE_RANK_MAX];
    bool is_in_place = false;
    for (int r = 0; r < m->size; r++) {
        sources[r] = call_of(m, r)->src;
        places[r] = call_of(m, r)->dst;
        is_in_place = is_in_place || sources[r] == places[r];
    }
    ridge__combine c = {.element = m->call->element,
                        .reduce = m->call->reduce,
                        .n_sources = m->size,
                        .n_places = m->size,
                        .sources = sources,
                        .places = places,
                        .from = from,
                        .to = from,
                        .n = n - from < slice ? n - from : slice,
                        .is_streamed =
                            !is_in_place && (size_t)n * m->each > STREAMED_BYTES};
    m->op->comm->me->world->combine(&c);
}

static void all_to_all(const move *m)
{
    size_t block = (size_t)m->call->n * m->each;
    bool is_streamed = block * (size_t)m->size > STREAMED_BYTES;
    for (int k = 0; k < m->size; k++) {
        int r = (m->rank + k) % m->size;
        if (block > 0)
            copy((char *)m->call->dst + block * (size_t)r,
                 (const char *)call_of(m, r)->src + block * (size_t)m->rank, block,
                 is_streamed);
    }
}

static size_t rows_before(const int32_t *counts, int rank)
{
    size_t rows = 0;
    for (int r = 0; r < rank; r++)
        rows += (size_t)counts[r];
    return rows;
}

static void ragged(const move *m)
{
    size_t row = (size_t)m->call->n * m->each;
    size_t all = rows_before(m->call->receive, m->size) * row;
    size_t at = 0;
    for (int r = 0; r < m->size; r++) {
        const ridge__comm_call *theirs = call_of(m, r);
        size_t bytes = (size_t)m->call->receive[r] * row;
        if (bytes > 0)
            copy((char *)m->call->dst + at,
                 (const char *)theirs->src + rows_before(theirs->send, m->rank) * row,
                 bytes, all > STREAMED_BYTES);
        at += bytes;
    }
}

/** The whole of another rank's source. */
static void take(const move *m, int from)
{
    size_t bytes = (size_t)m->call->n * m->each;
    copy(m->call->dst, call_of(m, from)->src, bytes, bytes > STREAMED_BYTES);
}

void ridge__collective_move(const ridge__operation *op)
{
    const ridge_comm *comm = &op->comm->base;
    move m = {op, &op->call, comm->rank, comm->size,
              ridge_element_bytes(op->call.element)};
    switch (op->call.kind) {
    case RIDGE__CALL_ALL_GATHER:
        gather(&m);
        break;
    case RIDGE__CALL_REDUCE_SCATTER:
        reduce_scatter(&m);
        break;
    case RIDGE__CALL_ALL_REDUCE:
        all_reduce(&m);
        break;
    case RIDGE__CALL_ALL_TO_ALL:
        all_to_all(&m);
        break;
    case RIDGE__CALL_RAGGED:
        ragged(&m);
        break;
    case RIDGE__CALL_BROADCAST:
        take(&m, op->call.peer);
        break;
    case RIDGE__CALL_PERMUTE:
        take(&m, (m.rank - op->call.peer + m.size) % m.size);
        break;
    case RIDGE__CALL_BARRIER:
    case RIDGE__CALL_SEND:
    case RIDGE__CALL_RECEIVE:
        break;
    }
    ridge__stream_end();
}
