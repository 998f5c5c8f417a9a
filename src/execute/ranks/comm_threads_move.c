/* What one rank of a collective moves: from other ranks' arrays straight into its own.
 */
#include "comm_call.h"
#include "comm_threads.h"

#include <string.h>

/* A rank that writes more than this in one collective writes past the caches: it would
 * otherwise read each line before it overwrites it, and drop what is of use. Not in
 * place, where it has just read the line. */
enum { STREAMED_BYTES = 1 << 20 };

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

/** The places of an all-gather's part in the result and in the source. */
static ridge__rows gathered_rows(const move *m, int from, size_t *chunk_bytes)
{
    const ridge_cut *cut = &m->call->cut;
    size_t line = (size_t)cut->inner * m->each;
    size_t full = (size_t)cut->full * line;
    *chunk_bytes = (size_t)ridge_cut_chunk(cut, m->size) * line;
    return (ridge__rows){.rows = cut->outer,
                         .row_bytes =
                             (size_t)ridge__cut_valid(cut, m->size, from) * line,
                         .dst_bytes = full,
                         .src_bytes = *chunk_bytes,
                         .is_streamed = (size_t)cut->outer * full > STREAMED_BYTES};
}

static void copy_rows(void *dst, const void *src, const ridge__rows *rows)
{
    if (rows->rows > 0 && rows->row_bytes > 0 && dst != src)
        ridge__rows_copy(dst, src, rows);
}

static void gather(const move *m)
{
    for (int k = 1; k < m->size; k++) {
        int r = (m->rank + k) % m->size;
        size_t chunk;
        ridge__rows rows = gathered_rows(m, r, &chunk);
        copy_rows((char *)m->call->dst + chunk * (size_t)r, call_of(m, r)->src, &rows);
    }
}

/** Half of the bytes before a line's start. */
static size_t half_of(size_t bytes)
{
    return bytes / 2 / LINE_BYTES * LINE_BYTES;
}

/** Rows, or bytes of the only one. */
static void gather_own(const move *m, bool is_second)
{
    size_t chunk, skip;
    ridge__rows rows = gathered_rows(m, m->rank, &chunk);
    char *dst = (char *)m->call->dst + chunk * (size_t)m->rank;
    const char *src = m->call->src;
    if (rows.rows == 1) {
        skip = half_of(rows.row_bytes);
        rows.row_bytes = is_second ? rows.row_bytes - skip : skip;
        skip = is_second ? skip : 0;
        copy_rows(dst + skip, src + skip, &rows);
        return;
    }
    skip = is_second ? (size_t)(rows.rows / 2) : 0;
    rows.rows = is_second ? rows.rows - rows.rows / 2 : rows.rows / 2;
    copy_rows(dst + skip * rows.dst_bytes, src + skip * rows.src_bytes, &rows);
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
    for (int k = 1; k < m->size; k++) {
        int r = (m->rank + k) % m->size;
        copy((char *)m->call->dst + block * (size_t)r,
             (const char *)call_of(m, r)->src + block * (size_t)m->rank, block,
             is_streamed);
    }
}

static void all_to_all_own(const move *m, bool is_second)
{
    size_t block = (size_t)m->call->n * m->each, skip = half_of(block);
    size_t at = block * (size_t)m->rank + (is_second ? skip : 0);
    copy((char *)m->call->dst + at, (const char *)m->call->src + at,
         is_second ? block - skip : skip, block * (size_t)m->size > STREAMED_BYTES);
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

static move move_of(const ridge__operation *op)
{
    const ridge_comm *comm = &op->comm->base;
    return (move){op, &op->call, comm->rank, comm->size,
                  ridge_element_bytes(op->call.element)};
}

void ridge__collective_move_own(const ridge__operation *op, bool is_second)
{
    const move m = move_of(op);
    if (op->call.kind == RIDGE__CALL_ALL_GATHER)
        gather_own(&m, is_second);
    else if (op->call.kind == RIDGE__CALL_ALL_TO_ALL)
        all_to_all_own(&m, is_second);
    else
        return;
    ridge__stream_end();
}

void ridge__collective_move(const ridge__operation *op)
{
    const move m = move_of(op);
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
