/*
 * A step as Chrome trace events, in the form of the predicted timeline (see the top of
 * cost/timeline_trace.c): pid is the rank, tid 0 its device and 1 the network. Each
 * rank writes its own events as text; the leading rank collects them.
 */
#include "run_trace.h"

#include "ridge/cost.h"

#include <string.h>

void ridge__trace_begin(ridge__runner *r, bool is_wanted)
{
    for (int i = 0; i < r->n_chunks; i++) {
        r->chunks[i].m->n_trace = 0;
        r->chunks[i].m->is_traced = is_wanted;
    }
    r->trace_start_s = ridge_clock_s();
}

static void write_event(const ridge__runner *r, const ridge__chunk *c,
                        const ridge__trace_event *e, ridge_buf *out)
{
    const ridge_program *program = c->m->program;
    const ridge_operation *op = &program->ops[e->op];
    const bool is_network =
        op->code == RIDGE_OPCODE_COLLECTIVE || op->code == RIDGE_OPCODE_SEND;
    const int block = ridge__op_block_of(program, e->op);
    ridge_buf_printf(
        out,
        ",\n{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": %d, "
        "\"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, \"args\": {\"block\": "
        "\"%s\", \"repetition\": %d, \"stage\": %d, \"microbatch\": %d",
        op->name, ridge_opcode_text(op->code), ridge_comm_rank(r->world),
        is_network ? 1 : 0, 1e6 * (e->start_s - r->trace_start_s),
        1e6 * (e->end_s - e->start_s), program->blocks[block].name, e->repetition,
        c->stage, e->tag);
    if (op->code == RIDGE_OPCODE_COLLECTIVE)
        ridge_buf_printf(out, ", \"kind\": \"%s\"",
                         ridge_collective_text((ridge_collective)op->collective));
    ridge_buf_puts(out, "}}");
}

static void write_rank(const ridge__runner *r, ridge_buf *out)
{
    static const char *const names[] = {"device", "network"};
    const int rank = ridge_comm_rank(r->world);
    ridge_buf_printf(
        out,
        "%s{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": "
        "0, \"args\": {\"name\": \"rank %d: %s\"}}",
        rank == 0 ? "" : ",\n", rank, rank, r->chunks[0].m->program->name);
    for (int i = 0; i < 2; i++)
        ridge_buf_printf(out,
                         ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %d, "
                         "\"tid\": %d, \"args\": {\"name\": \"%s\"}}",
                         rank, i, names[i]);
    for (int i = 0; i < r->n_chunks; i++) {
        const ridge__machine *m = r->chunks[i].m;
        for (int64_t k = 0; k < m->n_trace; k++)
            write_event(r, &r->chunks[i], &m->trace[k], out);
    }
}

/* ---- collecting --------------------------------------------------------------------
 */

enum { TRACE_TAG = 1 << 21 };

/* A text as int32 words through the device's memory. */
static ridge_status send_text(ridge__runner *r, ridge_str text)
{
    ridge__device *d = r->device;
    const int64_t words = ridge_ceil_div((int64_t)text.n, (int64_t)sizeof(int32_t));
    const size_t bytes = (size_t)words * sizeof(int32_t);
    ridge_pending pending;
    void *p;
    char *padded = ridge_new(ridge_ctx_scratch(r->cx), char, bytes + 1);
    if (padded == NULL)
        return ridge_fail_nomem(r->cx);
    memset(padded, ' ', bytes);
    memcpy(padded, text.p, text.n);
    RIDGE_TRY(d->ops->alloc(d, bytes, &p));
    RIDGE_TRY(d->ops->upload(d, p, padded, bytes));
    RIDGE_TRY(d->ops->finish(d));
    RIDGE_TRY(ridge_send_start(r->cx, r->world, RIDGE_ELEMENT_I32, words, 0, TRACE_TAG,
                               p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    d->ops->release(d, p);
    return RIDGE_OK;
}

static ridge_status receive_text(ridge__runner *r, int rank, int64_t bytes,
                                 ridge_buf *out)
{
    ridge__device *d = r->device;
    const int64_t words = ridge_ceil_div(bytes, (int64_t)sizeof(int32_t));
    const size_t n = (size_t)words * sizeof(int32_t);
    ridge_pending pending;
    void *p;
    char *text = ridge_new(ridge_ctx_scratch(r->cx), char, n + 1);
    if (text == NULL)
        return ridge_fail_nomem(r->cx);
    RIDGE_TRY(d->ops->alloc(d, n, &p));
    RIDGE_TRY(ridge_receive_start(r->cx, r->world, RIDGE_ELEMENT_I32, words, rank,
                                  TRACE_TAG, p, &pending));
    RIDGE_TRY(ridge_comm_wait(r->cx, &pending));
    RIDGE_TRY(d->ops->download(d, text, p, n));
    d->ops->release(d, p);
    ridge_buf_add(out, (ridge_str){text, n});
    return RIDGE_OK;
}

static ridge_status collect(ridge__runner *r, const char *path, ridge_buf *own,
                            const double *sizes)
{
    const int ranks = ridge_comm_size(r->world);
    ridge_buf all;
    ridge_buf_init(&all, ridge_ctx_scratch(r->cx));
    ridge_buf_puts(&all, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
    ridge_buf_add(&all, (ridge_str){ridge_buf_text(own), own->n});
    for (int rank = 1; rank < ranks; rank++)
        RIDGE_TRY(receive_text(r, rank, (int64_t)sizes[rank], &all));
    ridge_buf_puts(&all, "\n]}\n");
    if (all.is_short)
        return ridge_fail_nomem(r->cx);
    return ridge_file_write(r->cx, path, (ridge_str){ridge_buf_text(&all), all.n});
}

ridge_status ridge__trace_write(ridge__runner *r, const char *path)
{
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_scratch(r->cx));
    double sizes[RIDGE_RANK_MAX];
    ridge_buf own;
    ridge_buf_init(&own, ridge_ctx_scratch(r->cx));
    write_rank(r, &own);
    const double n = (double)own.n;
    RIDGE_TRY(ridge__share_doubles(r, r->world, &n, 1, sizes));
    const ridge_status st =
        ridge_comm_rank(r->world) == 0
            ? collect(r, path, &own, sizes)
            : send_text(r, (ridge_str){ridge_buf_text(&own), own.n});
    ridge_arena_rewind(ridge_ctx_scratch(r->cx), mark);
    return st;
}
