/* Starts collectives and computes what they give, element by element. */
#include "comm_cases.h"

#include "comm_data.h"
#include "seeded.h"

/* ---- sizes ----------------------------------------------------------------------- */

/** Rows that rank a sends to rank b: often none. */
static int32_t rows_of(const comm_case *what, int a, int b)
{
    seeded at = what->seed * 31u + (uint64_t)a * 101u + (uint64_t)b * 10007u;
    return (int32_t)(seeded_pick(&at, 0, 5) % 4);
}

static int64_t rows_sent(const comm_case *what, int from, int size)
{
    int64_t rows = 0;
    for (int r = 0; r < size; r++)
        rows += rows_of(what, from, r);
    return rows;
}

static int64_t rows_received(const comm_case *what, int by, int size)
{
    int64_t rows = 0;
    for (int r = 0; r < size; r++)
        rows += rows_of(what, r, by);
    return rows;
}

/** Elements of a rank's source and of its destination. */
static int64_t source_elements(const comm_case *what, int size, int rank)
{
    const ridge_cut *cut = &what->cut;
    switch (what->kind) {
    case COMM_ALL_GATHER:
        return cut->outer * ridge_cut_chunk(cut, size) * cut->inner;
    case COMM_REDUCE_SCATTER:
        return cut->outer * cut->full * cut->inner;
    case COMM_ALL_TO_ALL:
        return what->n * size;
    case COMM_RAGGED:
        return what->n * rows_sent(what, rank, size);
    case COMM_ALL_REDUCE:
    case COMM_BROADCAST:
    case COMM_PERMUTE:
    case COMM_SEND:
    case COMM_KIND_COUNT:
        break;
    }
    return what->n;
}

static int64_t result_elements(const comm_case *what, int size, int rank)
{
    const ridge_cut *cut = &what->cut;
    if (what->kind == COMM_ALL_GATHER)
        return cut->outer * cut->full * cut->inner;
    if (what->kind == COMM_REDUCE_SCATTER)
        return cut->outer * ridge_cut_chunk(cut, size) * cut->inner;
    if (what->kind == COMM_RAGGED)
        return what->n * rows_received(what, rank, size);
    return source_elements(what, size, rank);
}

static void *source(ridge_ctx *cx, const comm_case *what, int size, int rank)
{
    return comm_data_new(cx, what->element, source_elements(what, size, rank),
                         what->seed, rank);
}

/* ---- starting -------------------------------------------------------------------- */

static ridge_status start_ragged(ridge_ctx *cx, ridge_comm *comm, const void *src,
                                 comm_running *r)
{
    int32_t *send = ridge_new(ridge_ctx_arena(cx), int32_t, (size_t)r->size);
    int32_t *receive = ridge_new(ridge_ctx_arena(cx), int32_t, (size_t)r->size);
    if (send == NULL || receive == NULL)
        return ridge_fail_nomem(cx);
    for (int k = 0; k < r->size; k++) {
        send[k] = rows_of(&r->what, r->rank, k);
        receive[k] = rows_of(&r->what, k, r->rank);
    }
    return ridge_all_to_all_ragged_start(cx, comm, r->what.element, r->what.n, send,
                                         receive, src, r->dst, &r->pending[0]);
}

static ridge_status start_send(ridge_ctx *cx, ridge_comm *comm, const void *src,
                               comm_running *r)
{
    int by = r->what.peer % r->size;
    int tag = (int)(r->what.seed % 5);
    RIDGE_TRY(ridge_send_start(cx, comm, r->what.element, r->what.n,
                               (r->rank + by) % r->size, tag, src, &r->pending[0]));
    return ridge_receive_start(cx, comm, r->what.element, r->what.n,
                               (r->rank - by + r->size) % r->size, tag, r->dst,
                               &r->pending[1]);
}

static ridge_status start(ridge_ctx *cx, ridge_comm *comm, const void *src,
                          comm_running *r)
{
    const comm_case *w = &r->what;
    switch (w->kind) {
    case COMM_ALL_GATHER:
        return ridge_all_gather_start(cx, comm, w->element, &w->cut, src, r->dst,
                                      &r->pending[0]);
    case COMM_REDUCE_SCATTER:
        return ridge_reduce_scatter_start(cx, comm, w->element, &w->cut, src, r->dst,
                                          &r->pending[0]);
    case COMM_ALL_REDUCE:
        return ridge_all_reduce_start(cx, comm, w->element, w->reduce, w->n, src,
                                      r->dst, &r->pending[0]);
    case COMM_ALL_TO_ALL:
        return ridge_all_to_all_start(cx, comm, w->element, w->n, src, r->dst,
                                      &r->pending[0]);
    case COMM_RAGGED:
        return start_ragged(cx, comm, src, r);
    case COMM_BROADCAST:
        return ridge_broadcast_start(cx, comm, w->element, w->n, w->peer % r->size, src,
                                     r->dst, &r->pending[0]);
    case COMM_PERMUTE:
        return ridge_permute_start(cx, comm, w->element, w->n, w->peer, src, r->dst,
                                   &r->pending[0]);
    case COMM_SEND:
        return start_send(cx, comm, src, r);
    case COMM_KIND_COUNT:
        break;
    }
    return ridge_fail(cx, RIDGE_E_ARG, "no such kind of case");
}

ridge_status comm_case_start(ridge_ctx *cx, ridge_comm *comm, const comm_case *what,
                             comm_running *out)
{
    *out = (comm_running){
        .what = *what, .size = ridge_comm_size(comm), .rank = ridge_comm_rank(comm)};
    void *src = source(cx, what, out->size, out->rank);
    bool is_in_place =
        what->is_in_place &&
        (what->kind == COMM_ALL_REDUCE ||
         (what->kind == COMM_BROADCAST && what->peer % out->size == out->rank));
    out->dst = is_in_place
                   ? src
                   : comm_data_room(cx, what->element,
                                    result_elements(what, out->size, out->rank));
    if (src == NULL || out->dst == NULL)
        return ridge_fail_nomem(cx);
    return start(cx, comm, src, out);
}

/* ---- what it gives --------------------------------------------------------------- */

/** Where results come from. */
typedef struct wanted {
    const comm_running *r;
    const void **sources; /* of each rank */
    void *out;
} wanted;

static void want_gather(const wanted *w)
{
    const ridge_cut *cut = &w->r->what.cut;
    int64_t chunk = ridge_cut_chunk(cut, w->r->size);
    for (int64_t o = 0; o < cut->outer; o++) {
        for (int64_t f = 0; f < cut->full; f++) {
            for (int64_t i = 0; i < cut->inner; i++)
                comm_data_set(
                    w->r->what.element, w->out, (o * cut->full + f) * cut->inner + i,
                    w->sources[f / chunk], (o * chunk + f % chunk) * cut->inner + i);
        }
    }
}

static void want_scatter(const wanted *w, const comm_data_sum *sum)
{
    const ridge_cut *cut = &w->r->what.cut;
    int64_t chunk = ridge_cut_chunk(cut, w->r->size);
    for (int64_t o = 0; o < cut->outer; o++) {
        for (int64_t c = 0; c < chunk * cut->inner; c++) { /* of this rank's chunk */
            const int64_t f = chunk * cut->inner * w->r->rank + c;
            const int64_t at = o * chunk * cut->inner + c;
            if (f < cut->full * cut->inner)
                comm_data_reduce(sum, o * cut->full * cut->inner + f, w->out, at);
            else
                comm_data_set(sum->element, w->out, at, NULL, 0);
        }
    }
}

/** Rows from each rank in turn. @param block  elements, or 0: rows of different numbers
 */
static void want_blocks(const wanted *w, bool is_ragged)
{
    const comm_case *what = &w->r->what;
    int64_t at = 0;
    for (int from = 0; from < w->r->size; from++) {
        int64_t first = is_ragged ? 0 : what->n * w->r->rank;
        for (int k = 0; is_ragged && k < w->r->rank; k++)
            first += what->n * rows_of(what, from, k);
        int64_t n = is_ragged ? what->n * rows_of(what, from, w->r->rank) : what->n;
        for (int64_t i = 0; i < n; i++)
            comm_data_set(what->element, w->out, at++, w->sources[from], first + i);
    }
}

static void want_copy(const wanted *w, int from)
{
    for (int64_t i = 0; i < w->r->what.n; i++)
        comm_data_set(w->r->what.element, w->out, i, w->sources[from], i);
}

static void want(const wanted *w)
{
    const comm_case *what = &w->r->what;
    comm_data_sum sum = {what->element, what->reduce, w->r->size, w->sources};
    int size = w->r->size;
    switch (what->kind) {
    case COMM_ALL_GATHER:
        want_gather(w);
        break;
    case COMM_REDUCE_SCATTER:
        sum.reduce = RIDGE_REDUCE_SUM;
        want_scatter(w, &sum);
        break;
    case COMM_ALL_REDUCE:
        for (int64_t i = 0; i < what->n; i++)
            comm_data_reduce(&sum, i, w->out, i);
        break;
    case COMM_ALL_TO_ALL:
    case COMM_RAGGED:
        want_blocks(w, what->kind == COMM_RAGGED);
        break;
    case COMM_BROADCAST:
        want_copy(w, what->peer % size);
        break;
    case COMM_PERMUTE:
    case COMM_SEND:
        want_copy(w, ((w->r->rank - what->peer) % size + size) % size);
        break;
    case COMM_KIND_COUNT:
        break;
    }
}

ridge_status comm_case_finish(ridge_ctx *cx, comm_running *running)
{
    static const char *const names[] = {
        "all-gather", "reduce-scatter", "all-reduce", "all-to-all",
        "ragged",     "broadcast",      "permute",    "send"};
    RIDGE_TRY(ridge_comm_wait(cx, &running->pending[0]));
    RIDGE_TRY(ridge_comm_wait(cx, &running->pending[1]));
    const comm_case *what = &running->what;
    int64_t n = result_elements(what, running->size, running->rank);
    wanted w = {running,
                ridge_new(ridge_ctx_arena(cx), const void *, (size_t)running->size),
                comm_data_room(cx, what->element, n)};
    if (w.sources == NULL || w.out == NULL)
        return ridge_fail_nomem(cx);
    for (int r = 0; r < running->size; r++) {
        w.sources[r] = source(cx, what, running->size, r);
        if (w.sources[r] == NULL)
            return ridge_fail_nomem(cx);
    }
    want(&w);
    return comm_data_compare(cx, names[what->kind], what->element, running->dst, w.out,
                             n);
}

ridge_status comm_case_run(ridge_ctx *cx, ridge_comm *comm, const comm_case *what)
{
    comm_running running;
    RIDGE_TRY(comm_case_start(cx, comm, what, &running));
    return comm_case_finish(cx, &running);
}
