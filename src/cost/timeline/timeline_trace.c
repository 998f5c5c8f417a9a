/*
 * A timeline as Chrome trace events (Trace Event Format, JSON object form), which
 * Perfetto and chrome://tracing open:
 *
 *     {"displayTimeUnit": "ns", "traceEvents": [
 *       {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": ...}},
 *       {"ph": "M", "name": "thread_name", "pid": 0, "tid": r, "args": {"name": ...}},
 *       {"ph": "X", "name": operation, "cat": opcode, "pid": 0, "tid": r,
 *        "ts": start, "dur": length, "args": {...}}, ...]}
 *
 * Times are in microseconds; tid is the resource, 0 the chip. args: block, repetition;
 * for compute matmul_flops, vector_flops, bytes; for a collective kind, bytes (V),
 * axes.
 */
#include "operation_time.h"

typedef struct trace {
    ridge_ctx *cx;
    const ridge_partition *partition;
    const ridge_laid_mesh *laid;
    const ridge_timeline *timeline;
    ridge_operation_time *times; /* [n_ops] */
    ridge_json *events;
} trace;

static ridge_json *event_begin(trace *t, const char *phase, const char *name, int tid)
{
    ridge_json *event = ridge_json_push_object(t->cx, t->events);
    ridge_json_set_text(event, "ph", phase);
    ridge_json_set_text(event, "name", name);
    ridge_json_set_i64(event, "pid", 0);
    ridge_json_set_i64(event, "tid", tid);
    return event;
}

static void name_add(trace *t, const char *what, int tid, const char *name)
{
    ridge_json *event = event_begin(t, "M", what, tid);
    ridge_json_set_text(ridge_json_set_object(t->cx, event, "args"), "name", name);
}

static void names_add(trace *t)
{
    const ridge_slice *slice = t->laid->slice;
    const char *text = ridge_sprintf(ridge_ctx_scratch(t->cx), "each chip of %s: %s",
                                     slice->text, t->partition->program->name);
    name_add(t, "process_name", 0, text != NULL ? text : slice->text);
    name_add(t, "thread_name", 0, "chip");
    for (int i = 0; i < slice->n_axes; i++)
        name_add(t, "thread_name", 1 + i, slice->axes[i].name);
}

static const char *axes_text(const trace *t, const ridge_operation *o)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_scratch(t->cx));
    for (int i = 0; i < o->n_axes; i++)
        ridge_buf_printf(&b, "%s%s", i > 0 ? "," : "",
                         t->partition->mesh.axes[o->axes[i]].name);
    return ridge_buf_text(&b);
}

static void exchange_args(const trace *t, const ridge_operation *o, ridge_json *args)
{
    const char *kind = o->code == RIDGE_OPCODE_SEND
                           ? "send"
                           : ridge_collective_text((ridge_collective)o->collective);
    ridge_json_set_text(args, "kind", kind);
    ridge_json_set_text(args, "axes", axes_text(t, o));
}

static void span_add(trace *t, const ridge_event *e)
{
    const ridge_program *program = t->partition->program;
    const ridge_operation *o = &program->ops[e->op];
    const ridge_operation_time *time = &t->times[e->op];
    ridge_json *event = event_begin(t, "X", o->name, e->resource);
    ridge_json_set_text(event, "cat", ridge_opcode_text(o->code));
    ridge_json_set_double(event, "ts", 1e6 * e->start_s);
    ridge_json_set_double(event, "dur", 1e6 * (e->end_s - e->start_s));
    ridge_json *args = ridge_json_set_object(t->cx, event, "args");
    const int block = ridge__op_block(program, e->op);
    ridge_json_set_text(args, "block", block < 0 ? "" : program->blocks[block].name);
    ridge_json_set_i64(args, "repetition", e->repetition);
    ridge_json_set_double(args, "bytes", time->bytes);
    if (time->is_collective) {
        exchange_args(t, o, args);
    } else {
        ridge_json_set_double(args, "matmul_flops", time->matmul_flops);
        ridge_json_set_double(args, "vector_flops", time->vector_flops);
    }
}

static ridge_status trace_write(trace *t, ridge_buf *out)
{
    const size_t n = (size_t)t->partition->program->n_ops + 1;
    t->times = ridge_new(ridge_ctx_scratch(t->cx), ridge_operation_time, n);
    if (t->times == NULL)
        return ridge_fail_nomem(t->cx);
    RIDGE_TRY(ridge_operation_times(t->cx, t->partition, t->laid, t->timeline->compute,
                                    t->times));
    ridge_json *root = ridge_json_object(t->cx);
    ridge_json_set_text(root, "displayTimeUnit", "ns");
    t->events = ridge_json_set_array(t->cx, root, "traceEvents");
    names_add(t);
    for (int i = 0; i < t->timeline->n_events; i++)
        span_add(t, &t->timeline->events[i]);
    return ridge_json_write(t->cx, root, out);
}

ridge_status ridge_timeline_write_trace(ridge_ctx *cx, const ridge_partition *partition,
                                        const ridge_laid_mesh *laid,
                                        const ridge_timeline *timeline, ridge_buf *out)
{
    trace t = {.cx = cx, .partition = partition, .laid = laid, .timeline = timeline};
    return trace_write(&t, out);
}
