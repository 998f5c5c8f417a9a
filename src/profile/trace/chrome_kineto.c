/*
 * Events of PyTorch's Kineto, CUDA and ROCm alike; categories of old versions too.
 *
 *     kernel, gpu_memcpy, gpu_memset   on a device: args device, stream, correlation,
 *                                      bytes; of collectives: Collective name, In msg
 *                                      nelems, Out msg nelems, dtype, Group size,
 *                                      Process Group Name
 *     cuda_runtime, cuda_driver        on the host: args correlation
 *     cpu_op                           on the host: args Input Dims, Input type
 *     python_function                  "nn.Module: Linear_3", "model.py(12): forward"
 *     user_annotation                  "ProfilerStep#6", the program's own
 */
#include "chrome_event.h"
#include "step_name.h"

#include <string.h>

typedef struct kineto_category {
    const char *text;
    size_t n;
    chrome_kind kind;
} kineto_category;

#define CATEGORY(text, kind)                                                           \
    {                                                                                  \
        text, sizeof(text) - 1, CHROME_##kind                                          \
    }

static const kineto_category categories[] = {
    CATEGORY("kernel", KERNEL),
    CATEGORY("cpu_op", CALL),
    CATEGORY("python_function", PYTHON),
    CATEGORY("cuda_runtime", RUNTIME),
    CATEGORY("cuda_driver", RUNTIME),
    CATEGORY("gpu_memcpy", COPY),
    CATEGORY("gpu_memset", COPY),
    CATEGORY("user_annotation", NOTE),
    CATEGORY("gpu_user_annotation", IGNORED),
    CATEGORY("ac2g", IGNORED),
    CATEGORY("fwdbwd", IGNORED),
    CATEGORY("cpu_instant_event", IGNORED),
    CATEGORY("overhead", IGNORED),
    CATEGORY("Trace", IGNORED),
    CATEGORY("cuda_sync", IGNORED),
    CATEGORY("cuda_profiler_range", IGNORED),
    CATEGORY("collective_comm", IGNORED),
    CATEGORY("hip_runtime", RUNTIME),
    CATEGORY("xpu_runtime", RUNTIME),
    CATEGORY("xpu_driver", RUNTIME),
    CATEGORY("mtia_runtime", RUNTIME),
    CATEGORY("privateuse1_runtime", RUNTIME),
    CATEGORY("mtia_ccp_events", OTHER_DEVICE),
    CATEGORY("mtia_insight", IGNORED),
    CATEGORY("Kernel", KERNEL),
    CATEGORY("Memcpy", COPY),
    CATEGORY("Memset", COPY),
    CATEGORY("Operator", CALL),
    CATEGORY("operator", CALL),
    CATEGORY("Runtime", RUNTIME),
};

chrome_kind chrome_kind_of(ridge_str category)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(categories); i++) {
        if (categories[i].n == category.n &&
            memcmp(categories[i].text, category.p, category.n) == 0)
            return categories[i].kind;
    }
    return CHROME_OTHER;
}

/* ---- arguments ------------------------------------------------------------------- */

/* A count, or 0 where there is none or it makes no sense. */
static int64_t count_of(const scan_value *v)
{
    int64_t n;
    return scan_i64(v, &n) && n > 0 ? n : 0;
}

static uint32_t message_of(trace_store *store, const chrome_args *a)
{
    trace_message m;
    if (a->collective.kind == 0)
        return 0;
    memset(&m, 0, sizeof m);
    m.in_elements = count_of(&a->in_elements);
    m.out_elements = count_of(&a->out_elements);
    m.ranks = count_of(&a->ranks);
    m.collective = trace_store_name(store, a->collective.raw);
    m.dtype = trace_store_name(store, a->dtype.raw);
    m.group = trace_store_name(store, a->group.raw);
    return trace_store_message(store, &m);
}

/* A launch and its operations share a number; what does not fit in 32 bits is folded,
 * and so far apart that it does no harm. */
static uint32_t link_of(const scan_value *correlation)
{
    const uint64_t n = (uint64_t)count_of(correlation);
    return (uint32_t)(n ^ (n >> 32));
}

/* ---- devices --------------------------------------------------------------------- */

static void device_store(trace_store *store, const chrome_event *e, chrome_kind kind)
{
    trace_span span;
    trace_track *track = trace_store_track(store, e->pid, e->tid, true);
    if (track == NULL || !chrome_event_span(store, e, &span))
        return;
    const int64_t bytes = kind == CHROME_COPY ? count_of(&e->args.bytes) : 0;
    const trace_op_key key = {.name = chrome_value_name(store, &e->name),
                              .message = message_of(store, &e->args),
                              .moved = (uint32_t)bytes};
    const uint32_t op = trace_store_op(store, &key);
    if (store->is_short)
        return;
    trace_op *info = &store->op_info[op];
    info->is_copy = kind == CHROME_COPY;
    info->is_kernel = kind == CHROME_KERNEL;
    info->has_bytes = bytes > 0;
    info->bytes = (double)bytes;
    trace_store_slice(store, track, span, op, link_of(&e->args.correlation));
}

/* ---- the host -------------------------------------------------------------------- */

static bool has_word(ridge_str text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, word, n) == 0)
            return true;
    }
    return false;
}

static bool starts_with(ridge_str text, const char *start)
{
    const size_t n = strlen(start);
    return text.n >= n && memcmp(text.p, start, n) == 0;
}

/* torch.compile at work: its outermost frame. */
static void compilation_note(trace_store *store, ridge_str name, trace_span span)
{
    if (!has_word(name, "entire_frame_compile"))
        return;
    store->compilations++;
    store->compilation_ns += span.length_ns;
}

static void call_store(trace_store *store, const chrome_event *e, trace_call_kind kind)
{
    trace_span span;
    trace_thread *thread = trace_store_thread(store, e->pid, e->tid);
    if (thread == NULL || !chrome_event_span(store, e, &span))
        return;
    if (kind == TRACE_CALL_OP || kind == TRACE_CALL_NOTE)
        compilation_note(store, e->name.raw, span);
    const trace_host_key key = {.name = chrome_value_name(store, &e->name),
                                .shapes = trace_store_name(store, e->args.dims.raw),
                                .types = trace_store_name(store, e->args.types.raw),
                                .message = message_of(store, &e->args),
                                .values =
                                    has_word(e->name.raw, "attention")
                                        ? trace_store_name(store, e->args.values.raw)
                                        : 0,
                                .kind = (uint32_t)kind};
    trace_store_call(store, thread, span.start_ns, span.length_ns,
                     trace_store_host_op(store, &key));
}

/* Operations of autograd: forward ones have no thread that they go back to. */
static void sequence_store(trace_store *store, const chrome_event *e)
{
    trace_span span;
    int64_t number;
    trace_thread *thread = trace_store_thread(store, e->pid, e->tid);
    if (thread == NULL || !scan_i64(&e->args.sequence, &number) || number < 0 ||
        number > UINT32_MAX || !chrome_event_span(store, e, &span))
        return;
    trace_store_sequence(store, thread,
                         (trace_sequence){span.start_ns, (uint32_t)number,
                                          count_of(&e->args.forward_thread) > 0});
}

/* Calls of the driver: those that put work on a device, and those that wait. */
static void runtime_store(trace_store *store, const chrome_event *e)
{
    const ridge_str name = e->name.raw;
    if (has_word(name, "aunch") || has_word(name, "emcpy") || has_word(name, "emset")) {
        trace_span span;
        const uint32_t link = link_of(&e->args.correlation);
        trace_thread *thread = trace_store_thread(store, e->pid, e->tid);
        if (thread != NULL && link != 0 && chrome_event_span(store, e, &span))
            trace_store_launch(store, thread, span.start_ns, link);
    }
    if (has_word(name, "ynchronize") || has_word(name, "alloc") ||
        has_word(name, "Free") || has_word(name, "emcpy") || has_word(name, "Wait"))
        call_store(store, e, TRACE_CALL_SYNC);
}

/* "model.py(123): forward" of a library tells nothing of the program. */
static bool is_library_source(ridge_str name)
{
    return has_word(name, "site-packages/") || has_word(name, "dist-packages/") ||
           starts_with(name, "torch/") || starts_with(name, "<") ||
           has_word(name, "/lib/python") || starts_with(name, "threading.py");
}

static void python_store(trace_store *store, const chrome_event *e)
{
    const ridge_str name = e->name.raw;
    if (starts_with(name, "nn.Module: "))
        call_store(store, e, TRACE_CALL_MODULE);
    else if (has_word(name, ".py(") && !is_library_source(name))
        call_store(store, e, TRACE_CALL_SOURCE);
}

static void note_store(trace_store *store, const chrome_event *e)
{
    trace_span span;
    if (step_name_is(e->name.raw) && chrome_event_span(store, e, &span))
        trace_store_mark(store, e->name.raw, span.start_ns, span.length_ns);
    call_store(store, e, TRACE_CALL_NOTE);
}

void chrome_kineto_store(trace_store *store, const chrome_event *e)
{
    store->has_kineto = true;
    switch (e->kind) {
    case CHROME_KERNEL:
    case CHROME_COPY:
        device_store(store, e, e->kind);
        break;
    case CHROME_OTHER_DEVICE: /* its queues show their waiting as work */
        if (!has_word(e->name.raw, "wait"))
            device_store(store, e, e->kind);
        break;
    case CHROME_CALL:
        call_store(store, e, TRACE_CALL_OP);
        if (e->args.sequence.kind != 0)
            sequence_store(store, e);
        break;
    case CHROME_PYTHON:
        python_store(store, e);
        break;
    case CHROME_RUNTIME:
        runtime_store(store, e);
        break;
    case CHROME_NOTE:
        note_store(store, e);
        break;
    case CHROME_IGNORED:
    case CHROME_OTHER:
        break;
    }
}
