/* Collectives as steps of MPI's own, with packing and sums in between. Sums are local
 * and in the order of ranks, so that they have the bits that every engine gives. */
#include "comm_mpi.h"

#include <limits.h>
#include <string.h>

/* Up to this much from all ranks together each sums up everything itself: one step
 * instead of two. */
enum { SMALL_BYTES = 64 << 10 };

static MPI_Datatype type_of(ridge_element element)
{
    return element == RIDGE_ELEMENT_F32    ? MPI_FLOAT
           : element == RIDGE_ELEMENT_BF16 ? MPI_UINT16_T
                                           : MPI_INT32_T;
}

/** What the functions below work on; sizes in elements fit into MPI's int. */
typedef struct step {
    ridge__mpi_operation *op;
    const ridge__comm_call *call;
    MPI_Comm data;
    MPI_Datatype type;
    size_t each;
    int rank, size, n;
} step;

static step step_of(ridge__mpi_operation *op)
{
    return (step){.op = op,
                  .call = &op->call,
                  .data = op->comm->data,
                  .type = type_of(op->call.element),
                  .each = ridge_element_bytes(op->call.element),
                  .rank = op->comm->base.rank,
                  .size = op->comm->base.size,
                  .n = (int)op->call.n};
}

/** a b c fits into an int. */
static bool fits(int64_t a, int64_t b, int64_t c)
{
    int64_t ab, abc;
    return ridge_mul_i64(a, b, &ab) && ridge_mul_i64(ab, c, &abc) && abc <= INT_MAX;
}

static ridge_status check_size(ridge_ctx *cx, const step *s)
{
    const ridge_cut *cut = &s->call->cut;
    bool is_fit = fits(s->call->n, s->size, 1);
    if (s->call->kind == RIDGE__CALL_ALL_GATHER ||
        s->call->kind == RIDGE__CALL_REDUCE_SCATTER)
        is_fit = fits(cut->outer * cut->inner, ridge_cut_chunk(cut, s->size), s->size);
    if (s->call->kind == RIDGE__CALL_RAGGED) {
        int64_t sent = 0, received = 0;
        for (int r = 0; r < s->size; r++) {
            sent += s->call->send[r];
            received += s->call->receive[r];
        }
        is_fit = fits(s->call->n, sent > received ? sent : received, 1);
    }
    if (is_fit)
        return RIDGE_OK;
    ridge__call_signature signature = ridge__call_signature_of(s->call);
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%s: at most 2^31 elements at once with MPI: cut it into parts",
                      ridge__call_signature_text(&signature).s);
}

static bool take_counts(ridge__mpi_operation *op)
{
    size_t n = (size_t)op->comm->base.size;
    int *room = ridge__mpi_take(op, 4 * n * sizeof *room);
    if (room == NULL)
        return false;
    op->counts = room;
    op->places = room + n;
    op->counts_back = room + 2 * n;
    op->places_back = room + 3 * n;
    return true;
}

/** What is cut over the ranks: how much each has, and where it lies in the whole. */
static void set_counts(const ridge_cut *cut, int size, int *counts, int *places)
{
    int chunk = (int)(ridge_cut_chunk(cut, size) * cut->inner);
    int full = (int)(cut->full * cut->inner);
    for (int r = 0; r < size; r++) {
        counts[r] = (int)(ridge__cut_valid(cut, size, r) * cut->inner);
        places[r] = counts[r] == 0 ? full : chunk * r;
    }
}

/* ---- all-gather ------------------------------------------------------------------ */

static int part_elements(const step *s)
{
    const ridge_cut *cut = &s->call->cut;
    return (int)(cut->outer * ridge_cut_chunk(cut, s->size) * cut->inner);
}

/** Rows of a rank's part within the whole array. */
static ridge__rows part_rows(const step *s, int rank)
{
    const ridge_cut *cut = &s->call->cut;
    size_t line = (size_t)cut->inner * s->each;
    return (ridge__rows){.rows = cut->outer,
                         .row_bytes =
                             (size_t)ridge__cut_valid(cut, s->size, rank) * line,
                         .dst_bytes = (size_t)cut->full * line,
                         .src_bytes = (size_t)ridge_cut_chunk(cut, s->size) * line};
}

static size_t part_place(const step *s, int rank)
{
    const ridge_cut *cut = &s->call->cut;
    return (size_t)(ridge_cut_chunk(cut, s->size) * rank * cut->inner) * s->each;
}

static ridge_status gather(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    if (s->call->cut.outer == 1) { /* the parts lie one behind the other */
        if (!take_counts(op))
            return ridge_fail_nomem(cx);
        set_counts(&s->call->cut, s->size, op->counts, op->places);
        return ridge__mpi_check(
            cx,
            MPI_Iallgatherv(s->call->src, op->counts[s->rank], s->type, s->call->dst,
                            op->counts, op->places, s->type, s->data, op->requests),
            "all-gather");
    }
    int part = part_elements(s);
    op->received = ridge__mpi_take(op, (size_t)part * (size_t)s->size * s->each);
    if (op->received == NULL)
        return ridge_fail_nomem(cx);
    return ridge__mpi_check(cx,
                            MPI_Iallgather(s->call->src, part, s->type, op->received,
                                           part, s->type, s->data, op->requests),
                            "all-gather");
}

static void gather_end(const step *s)
{
    if (s->op->received == NULL)
        return;
    size_t part = (size_t)part_elements(s) * s->each;
    for (int r = 0; r < s->size; r++) {
        ridge__rows rows = part_rows(s, r);
        if (rows.row_bytes > 0)
            ridge__rows_copy((char *)s->call->dst + part_place(s, r),
                             (const char *)s->op->received + part * (size_t)r, &rows);
    }
}

/* ---- reduce-scatter -------------------------------------------------------------- */

/** Each rank's part behind the other, padded with zeros. */
static bool pack_parts(const step *s)
{
    size_t part = (size_t)part_elements(s) * s->each;
    s->op->sent = ridge__mpi_take(s->op, part * (size_t)s->size);
    if (s->op->sent == NULL)
        return false;
    for (int r = 0; r < s->size; r++) {
        ridge__rows rows = part_rows(s, r); /* turned around: out of the whole */
        char *to = (char *)s->op->sent + part * (size_t)r;
        size_t whole = rows.dst_bytes, padding = rows.src_bytes - rows.row_bytes;
        rows.dst_bytes = rows.src_bytes;
        rows.src_bytes = whole;
        if (rows.row_bytes > 0)
            ridge__rows_copy(to, (const char *)s->call->src + part_place(s, r), &rows);
        to += rows.row_bytes;
        rows.row_bytes = padding;
        ridge__rows_zero(to, &rows);
    }
    return true;
}

static ridge_status scatter(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    const ridge_cut *cut = &s->call->cut;
    int part = part_elements(s);
    const void *from = s->call->src;
    op->received = ridge__mpi_take(op, (size_t)part * (size_t)s->size * s->each);
    if (op->received == NULL)
        return ridge_fail_nomem(cx);
    if (cut->outer != 1 || cut->full % s->size != 0) {
        if (!pack_parts(s))
            return ridge_fail_nomem(cx);
        from = op->sent;
    }
    return ridge__mpi_check(cx,
                            MPI_Ialltoall(from, part, s->type, op->received, part,
                                          s->type, s->data, op->requests),
                            "reduce-scatter");
}

/** Sum n elements of each rank, which lie one behind the other, into dst. */
static void sum_received(const step *s, int n, void *dst)
{
    const void *sources[RIDGE_RANK_MAX];
    for (int r = 0; r < s->size; r++)
        sources[r] = (const char *)s->op->received + (size_t)n * (size_t)r * s->each;
    s->op->comm->world->combine(&(ridge__combine){.element = s->call->element,
                                                  .reduce = s->call->reduce,
                                                  .n_sources = s->size,
                                                  .n_places = 1,
                                                  .sources = sources,
                                                  .places = &dst,
                                                  .n = n});
}

/* ---- all-reduce ------------------------------------------------------------------ */

static bool is_small(const step *s)
{
    return s->call->n < s->size ||
           (size_t)s->call->n * (size_t)s->size * s->each <= SMALL_BYTES;
}

static ridge_status reduce_small(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    op->received = ridge__mpi_take(op, (size_t)s->n * (size_t)s->size * s->each);
    if (op->received == NULL)
        return ridge_fail_nomem(cx);
    return ridge__mpi_check(cx,
                            MPI_Iallgather(s->call->src, s->n, s->type, op->received,
                                           s->n, s->type, s->data, op->requests),
                            "all-reduce");
}

/** Each rank gets its slice from all. */
static ridge_status reduce(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    if (is_small(s))
        return reduce_small(cx, s);
    if (!take_counts(op))
        return ridge_fail_nomem(cx);
    ridge_cut cut = {1, s->call->n, 1};
    set_counts(&cut, s->size, op->counts, op->places);
    int mine = op->counts[s->rank];
    for (int r = 0; r < s->size; r++) {
        op->counts_back[r] = mine;
        op->places_back[r] = mine * r;
    }
    op->received = ridge__mpi_take(op, (size_t)mine * (size_t)s->size * s->each);
    if (op->received == NULL)
        return ridge_fail_nomem(cx);
    return ridge__mpi_check(cx,
                            MPI_Ialltoallv(s->call->src, op->counts, op->places,
                                           s->type, op->received, op->counts_back,
                                           op->places_back, s->type, s->data,
                                           op->requests),
                            "all-reduce");
}

/** The slice of the sum goes to all. */
static ridge_status reduce_gather(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    char *slice = (char *)s->call->dst + (size_t)op->places[s->rank] * s->each;
    sum_received(s, op->counts[s->rank], slice);
    return ridge__mpi_check(cx,
                            MPI_Iallgatherv(MPI_IN_PLACE, 0, s->type, s->call->dst,
                                            op->counts, op->places, s->type,
                                            op->comm->later, op->requests),
                            "all-reduce");
}

/* ---- the others ------------------------------------------------------------------ */

static ridge_status exchange(ridge_ctx *cx, const step *s)
{
    return ridge__mpi_check(cx,
                            MPI_Ialltoall(s->call->src, s->n, s->type, s->call->dst,
                                          s->n, s->type, s->data, s->op->requests),
                            "all-to-all");
}

static void set_rows(const int32_t *rows, int size, int row, int *counts, int *places)
{
    int at = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = rows[r] * row;
        places[r] = at;
        at += counts[r];
    }
}

static ridge_status ragged(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    if (!take_counts(op))
        return ridge_fail_nomem(cx);
    set_rows(s->call->send, s->size, s->n, op->counts, op->places);
    set_rows(s->call->receive, s->size, s->n, op->counts_back, op->places_back);
    return ridge__mpi_check(cx,
                            MPI_Ialltoallv(s->call->src, op->counts, op->places,
                                           s->type, s->call->dst, op->counts_back,
                                           op->places_back, s->type, s->data,
                                           op->requests),
                            "ragged all-to-all");
}

static ridge_status broadcast(ridge_ctx *cx, const step *s)
{
    const ridge__comm_call *call = s->call;
    if (s->rank == call->peer && call->src != call->dst && s->n > 0)
        memcpy(call->dst, call->src, (size_t)s->n * s->each);
    return ridge__mpi_check(
        cx, MPI_Ibcast(call->dst, s->n, s->type, call->peer, s->data, s->op->requests),
        "broadcast");
}

/* Tags: even for the caller's, odd for permutations. */
enum { PERMUTE_TAGS = 1 << 14 };

static ridge_status permute(ridge_ctx *cx, const step *s)
{
    const ridge__comm_call *call = s->call;
    int tag = (int)(s->op->ticket % PERMUTE_TAGS) * 2 + 1;
    int to = (s->rank + call->peer) % s->size;
    int from = (s->rank - call->peer + s->size) % s->size;
    RIDGE_TRY(ridge__mpi_check(
        cx,
        MPI_Irecv(call->dst, s->n, s->type, from, tag, s->data, &s->op->requests[0]),
        "permute"));
    return ridge__mpi_check(
        cx, MPI_Isend(call->src, s->n, s->type, to, tag, s->data, &s->op->requests[1]),
        "permute");
}

static ridge_status send(ridge_ctx *cx, const step *s)
{
    const ridge__comm_call *call = s->call;
    return ridge__mpi_check(cx,
                            MPI_Issend(call->src, s->n, s->type, call->peer,
                                       call->tag * 2, s->data, s->op->requests),
                            "send");
}

static ridge_status receive(ridge_ctx *cx, const step *s)
{
    const ridge__comm_call *call = s->call;
    return ridge__mpi_check(cx,
                            MPI_Irecv(call->dst, s->n, s->type, call->peer,
                                      call->tag * 2, s->data, s->op->requests),
                            "receive");
}

/* ---- what others called ---------------------------------------------------------- */

static ridge_status exchange_signatures(ridge_ctx *cx, const step *s)
{
    ridge__mpi_operation *op = s->op;
    MPI_Comm checks = op->comm->checks;
    op->own = ridge__call_signature_of(s->call);
    int bytes = (int)sizeof op->own;
    op->others = ridge__mpi_take(op, (size_t)s->size * sizeof op->own);
    if (op->others == NULL)
        return ridge_fail_nomem(cx);
    if (s->call->kind == RIDGE__CALL_SEND)
        return ridge__mpi_check(cx,
                                MPI_Isend(&op->own, bytes, MPI_BYTE, s->call->peer,
                                          s->call->tag * 2, checks, op->checks),
                                "send");
    if (s->call->kind == RIDGE__CALL_RECEIVE)
        return ridge__mpi_check(cx,
                                MPI_Irecv(op->others, bytes, MPI_BYTE, s->call->peer,
                                          s->call->tag * 2, checks, op->checks),
                                "receive");
    RIDGE_TRY(ridge__mpi_check(cx,
                               MPI_Iallgather(&op->own, bytes, MPI_BYTE, op->others,
                                              bytes, MPI_BYTE, checks, op->checks),
                               "all-gather of calls"));
    if (s->call->kind != RIDGE__CALL_RAGGED)
        return RIDGE_OK;
    op->rows = ridge__mpi_take(op, (size_t)s->size * sizeof *op->rows);
    if (op->rows == NULL)
        return ridge_fail_nomem(cx);
    return ridge__mpi_check(cx,
                            MPI_Ialltoall(s->call->send, 1, MPI_INT32_T, op->rows, 1,
                                          MPI_INT32_T, checks, &op->checks[1]),
                            "all-to-all of rows");
}

/* ---- steps ----------------------------------------------------------------------- */

static ridge_status begin(ridge_ctx *cx, const step *s)
{
    switch (s->call->kind) {
    case RIDGE__CALL_ALL_GATHER:
        return gather(cx, s);
    case RIDGE__CALL_REDUCE_SCATTER:
        return scatter(cx, s);
    case RIDGE__CALL_ALL_REDUCE:
        return reduce(cx, s);
    case RIDGE__CALL_ALL_TO_ALL:
        return exchange(cx, s);
    case RIDGE__CALL_RAGGED:
        return ragged(cx, s);
    case RIDGE__CALL_BROADCAST:
        return broadcast(cx, s);
    case RIDGE__CALL_PERMUTE:
        return permute(cx, s);
    case RIDGE__CALL_SEND:
        return send(cx, s);
    case RIDGE__CALL_RECEIVE:
        return receive(cx, s);
    case RIDGE__CALL_BARRIER: /* what the ranks called is exchanged: that is enough */
        break;
    }
    return RIDGE_OK;
}

ridge_status ridge__mpi_begin(ridge_ctx *cx, ridge__mpi_operation *op)
{
    step s = step_of(op);
    RIDGE_TRY(check_size(cx, &s));
    RIDGE_TRY(exchange_signatures(cx, &s));
    op->step = 1;
    return begin(cx, &s);
}

static bool has_two_steps(ridge__mpi_operation *op)
{
    const step s = step_of(op);
    return op->call.kind == RIDGE__CALL_ALL_REDUCE && !is_small(&s);
}

bool ridge__mpi_has_to_wait(ridge__mpi_operation *op)
{
    if (op->step != 1 || !has_two_steps(op))
        return false;
    for (ridge__mpi_operation *o = op->previous; o != NULL; o = o->previous) {
        if (o->comm == op->comm && o->step == 1 && has_two_steps(o))
            return true;
    }
    return false;
}

ridge_status ridge__mpi_step(ridge_ctx *cx, ridge__mpi_operation *op, bool *is_over)
{
    step s = step_of(op);
    *is_over = true;
    if (op->call.kind == RIDGE__CALL_ALL_GATHER)
        gather_end(&s);
    else if (op->call.kind == RIDGE__CALL_REDUCE_SCATTER)
        sum_received(&s, part_elements(&s), op->call.dst);
    if (op->call.kind != RIDGE__CALL_ALL_REDUCE)
        return RIDGE_OK;
    if (is_small(&s))
        sum_received(&s, s.n, op->call.dst);
    else if (op->step == 1) {
        op->step = 2;
        *is_over = false;
        return reduce_gather(cx, &s);
    }
    return RIDGE_OK;
}
