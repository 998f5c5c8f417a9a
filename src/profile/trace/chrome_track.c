/*
 * Events without Kineto's categories: those of XLA by XProf, rocprof, Ridge and others.
 * Their tracks' names, which come by metadata events, say what they are.
 *
 *     process "/device:TPU:0"  threads "XLA Ops", "Async XLA Ops", "XLA Modules",
 *                              "Steps"; args of operations: long_name, hlo_category,
 *                              model_flops, bytes_accessed, source, tf_op
 *     process "/device:GPU:0"  threads "Stream #7(Compute)": args hlo_op, hlo_module,
 *                              tf_op, source
 *     process "/host:CPU"      not kept, but for compilations
 *     process "GPU0"           rocprof: kernels of a queue
 */
#include "chrome_event.h"

#include <string.h>

static bool starts(ridge_str text, const char *start)
{
    const size_t n = strlen(start);
    return text.n >= n && memcmp(text.p, start, n) == 0;
}

static bool contains(ridge_str text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, word, n) == 0)
            return true;
    }
    return false;
}

static bool is_xla_device(ridge_str process)
{
    return starts(process, "/device:") &&
           (contains(process, "TPU") || contains(process, "GPU") ||
            contains(process, "device:CUSTOM"));
}

static trace_use xla_use(ridge_str track)
{
    if (starts(track, "XLA Ops") || starts(track, "Stream #") ||
        contains(track, "Stream"))
        return TRACE_USE_OPS;
    if (starts(track, "Async XLA Ops"))
        return TRACE_USE_ASYNC;
    if (starts(track, "XLA Modules"))
        return TRACE_USE_MODULES;
    if (starts(track, "Steps"))
        return TRACE_USE_STEPS;
    return TRACE_USE_IGNORED;
}

trace_use chrome_track_use(ridge_str process, ridge_str track)
{
    if (is_xla_device(process))
        return track.n == 0 ? TRACE_USE_UNKNOWN : xla_use(track);
    if (starts(process, "/host:") || starts(process, "python") ||
        starts(process, "CPU ") || starts(process, "Markers"))
        return TRACE_USE_HOST;
    return TRACE_USE_UNKNOWN;
}

/* ---- metadata -------------------------------------------------------------------- */

static void thread_name_store(trace_store *store, const chrome_event *e)
{
    trace_track *track = trace_store_track(store, e->pid, e->tid, false);
    if (track != NULL)
        track->name = chrome_value_name(store, &e->args.name);
}

/* "rank 3: model", as Ridge names its processes. @return -1: it is not so named */
static int rank_of(ridge_str name)
{
    int64_t rank;
    ridge_str rest = name;
    const ridge_str first = ridge_str_cut(&rest, ':');
    if (!starts(first, "rank ") ||
        !ridge_parse_i64((ridge_str){first.p + 5, first.n - 5}, &rank) || rank < 0 ||
        rank > INT32_MAX)
        return -1;
    return (int)rank;
}

void chrome_metadata_store(trace_store *store, const chrome_event *e)
{
    uint32_t number;
    if (ridge_str_is(e->name.raw, "thread_name")) {
        thread_name_store(store, e);
        return;
    }
    if (!ridge_str_is(e->name.raw, "process_name"))
        return;
    trace_process *p = trace_store_process(store, e->pid, false, &number);
    if (p == NULL)
        return;
    p->name = chrome_value_name(store, &e->args.name);
    p->rank = rank_of(name_table_get(&store->names, p->name));
}

/* ---- operations ------------------------------------------------------------------ */

static bool number_of(const scan_value *v, double *to)
{
    double d;
    if (!scan_double(v, &d) || d < 0)
        return false;
    *to = d;
    return true;
}

static uint32_t op_of(trace_store *store, const chrome_event *e)
{
    const chrome_args *a = &e->args;
    const trace_op_key key = {
        .name = chrome_value_name(store, &e->name),
        .module = chrome_value_name(store, &a->module),
        .scope = chrome_value_name(store, &a->scope),
        .category =
            chrome_value_name(store, a->category.kind ? &a->category : &e->category),
        .source = chrome_value_name(store, &a->source),
        .shapes = chrome_value_name(store, a->long_name.kind ? &a->long_name : &a->op)};
    const uint32_t op = trace_store_op(store, &key);
    if (store->is_short)
        return 0;
    trace_op *info = &store->op_info[op];
    info->is_kernel = true;
    info->has_flops |= number_of(&a->flops, &info->flops);
    info->has_bytes |= number_of(&a->bytes, &info->bytes);
    const bool is_xla = a->category.kind != 0 || a->op.kind != 0;
    store->has_xla |= is_xla;
    store->has_ridge |= (a->scope.kind != 0 || a->stage.kind != 0) && !is_xla;
    return op;
}

/* Host events of JAX: only compilations and annotated steps matter. */
static void host_store(trace_store *store, const chrome_event *e,
                       const trace_span *span)
{
    const ridge_str name = e->name.raw;
    if (contains(name, "backend_compile") || contains(name, "XlaCompile") ||
        contains(name, "CompileAndLoad") || contains(name, "RunBackend")) {
        store->compilations++;
        store->compilation_ns += span->length_ns;
    }
}

void chrome_track_store(trace_store *store, const chrome_event *e,
                        const trace_span *span)
{
    trace_track *track = trace_store_track(store, e->pid, e->tid, false);
    if (track == NULL)
        return;
    const trace_process *process = trace_store_process_at(store, track->process);
    if (track->use == TRACE_USE_UNKNOWN)
        track->use = chrome_track_use(name_table_get(&store->names, process->name),
                                      name_table_get(&store->names, track->name));
    if (track->use == TRACE_USE_IGNORED || SCAN_IS(e->category.raw, "bubble"))
        return;
    if (track->use == TRACE_USE_HOST) {
        host_store(store, e, span);
        return;
    }
    trace_store_slice(store, track, *span, op_of(store, e), 0);
}
