/*
 * What readers leave of one file: device operations as small records on their tracks,
 * the host's nested calls and launches by thread, and each distinct text once.
 * Layer-internal.
 */
#ifndef RIDGE_PROFILE_TRACE_STORE_H
#define RIDGE_PROFILE_TRACE_STORE_H

#include "name_table.h"
#include "record_list.h"

/** An interval. */
typedef struct trace_span {
    int64_t start_ns, length_ns;
} trace_span;

/** Something at work on a device, 24 bytes. */
typedef struct trace_slice {
    int64_t start_ns;
    uint32_t length_low_ns; /* of 40 bits */
    uint32_t op;            /* in trace_store.ops */
    uint32_t link;          /* correlation with its launch; 0: none */
    uint32_t length_high_ns;
} trace_slice;

static inline int64_t trace_slice_length(const trace_slice *s)
{
    return (int64_t)(((uint64_t)s->length_high_ns << 32) | s->length_low_ns);
}

static inline int64_t trace_slice_end(const trace_slice *s)
{
    return s->start_ns + trace_slice_length(s);
}

/** A call of the host, 16 bytes. Lengths beyond 2^31 ns are in microseconds, with the
 *  top bit set: calls that long only hold others. */
typedef struct trace_call {
    int64_t start_ns;
    uint32_t length;
    uint32_t host_op; /* in trace_store.host_ops */
} trace_call;

int64_t trace_call_end(const trace_call *c);

/** The host asks for work on a device, 16 bytes. */
typedef struct trace_launch {
    int64_t start_ns;
    uint32_t link;
    uint32_t context; /* in trace_store.contexts, once calls are nested */
} trace_launch;

/** An operation that autograd numbered: its backward has the same number. 16 bytes. */
typedef struct trace_sequence {
    int64_t start_ns; /* of the call */
    uint32_t number;
    uint32_t is_backward;
} trace_sequence;

typedef enum trace_use {
    TRACE_USE_UNKNOWN, /* not told yet, or never */
    TRACE_USE_OPS,     /* operations of a device */
    TRACE_USE_ASYNC,   /* asynchronous ones beside them */
    TRACE_USE_MODULES, /* whole executables */
    TRACE_USE_STEPS,
    TRACE_USE_NOTES, /* annotations on a device's track */
    TRACE_USE_HOST,
    TRACE_USE_IGNORED /* the same time again, by other names */
} trace_use;

/** One track: a stream of a device, a thread. */
typedef struct trace_track {
    uint32_t process; /* in trace_store.processes */
    uint32_t thread;  /* its id's text, in names */
    uint32_t name;    /* in names; 0: not told */
    trace_use use;
    record_list slices; /* trace_slice */
    record_list open;   /* trace_slice begun and not ended: B and E events */
} trace_track;

/** A process: a device with its tracks, or the host. */
typedef struct trace_process {
    uint32_t id;                /* its text, in names */
    bool is_device;             /* its events say that they are of a device */
    uint32_t name;              /* in names; 0: not told */
    uint32_t hardware;          /* the same */
    uint32_t vendor;            /* the same */
    double cores, memory_bytes; /* 0: not told */
    int rank;                   /* -1: not told */
} trace_process;

/** A thread of the host. */
typedef struct trace_thread {
    uint32_t name;         /* in names; 0: not told */
    record_list calls;     /* trace_call */
    record_list launches;  /* trace_launch */
    record_list sequences; /* trace_sequence */
} trace_thread;

/** What tells device operations apart; a key of trace_store.ops. All in names, 0: none.
 */
typedef struct trace_op_key {
    uint32_t name, module, scope, category, source, shapes, message;
    uint32_t moved; /* copies: bytes, modulo 2^32, which keeps sizes apart */
} trace_op_key;

/** What is told of all operations of a key. */
typedef struct trace_op {
    double flops, bytes; /* of one */
    bool has_flops, has_bytes;
    bool is_copy; /* said by the trace, not by the name */
    bool is_kernel;
} trace_op;

/** A collective as its call tells it; a key of trace_store.messages. */
typedef struct trace_message {
    int64_t in_elements, out_elements, ranks;
    uint32_t collective, dtype, group; /* in names */
    uint32_t unused;
} trace_message;

typedef enum trace_call_kind {
    TRACE_CALL_OP,     /* an operation of the framework */
    TRACE_CALL_MODULE, /* a module's forward */
    TRACE_CALL_SOURCE, /* a function of a source file */
    TRACE_CALL_NOTE,   /* the program's own annotation */
    TRACE_CALL_SYNC    /* the driver, waiting or allocating */
} trace_call_kind;

/** What tells host calls apart; a key of trace_store.host_ops. */
typedef struct trace_host_key {
    uint32_t name, shapes, types, message; /* in names; message in messages */
    uint32_t values; /* of attention: of its arguments that are no tensors */
    uint32_t kind;   /* trace_call_kind */
} trace_host_key;

/** What a launch was done within; a key of trace_store.contexts. */
typedef struct trace_context {
    uint32_t host_op; /* innermost operation; 0: none */
    uint32_t module;  /* innermost module's name; 0: none */
    uint32_t layer;   /* + 1; 0: none */
    uint32_t source;  /* innermost function that is not a library's */
    uint32_t within;  /* TRACE_WITHIN_ bits */
} trace_context;

enum { TRACE_WITHIN_ATTENTION = 1, TRACE_WITHIN_OPTIMIZER = 2 };

/** A step that the program marked on the host. */
typedef struct trace_mark {
    int64_t start_ns, end_ns;
    uint32_t name;
    uint32_t unused;
} trace_mark;

enum { TRACE_LOSS_MAX = 16, TRACE_HARDWARE_MAX = 64 };

typedef struct trace_loss {
    const char *what; /* static */
    int64_t offset, count;
} trace_loss;

/** A device's name by the number that its operations are filed under. */
typedef struct trace_hardware {
    int64_t id;
    uint32_t name;
} trace_hardware;

typedef struct trace_store {
    ridge_ctx *cx;
    ridge_arena *arena; /* everything below lives there */
    name_table names;
    name_table ops; /* trace_op_key */
    trace_op *op_info;
    uint32_t op_room;
    name_table host_ops; /* trace_host_key */
    name_table messages; /* trace_message */
    name_table contexts; /* trace_context */
    name_table track_keys, thread_keys, process_keys;
    record_list tracks;    /* trace_track * */
    record_list threads;   /* trace_thread * */
    record_list processes; /* trace_process * */
    record_list marks;     /* trace_mark */
    int n_hardware;
    trace_hardware hardware[TRACE_HARDWARE_MAX];
    int n_losses;
    trace_loss losses[TRACE_LOSS_MAX];
    int rank, world; /* -1 and 0: not told */
    int64_t events;
    int64_t bytes; /* unpacked */
    int64_t compilations, compilation_ns;
    int64_t calls; /* kept */
    bool has_kineto, has_xla, has_ridge;
    bool is_short;           /* of memory */
    double peak_flops_per_s; /* of a device, that the trace tells; 0: it does not */
} trace_store;

RIDGE_NODISCARD ridge_status trace_store_init(ridge_ctx *cx, ridge_arena *arena,
                                              trace_store *out);
/** The number of a text; control characters become spaces, what is no UTF-8 '?'.
 * NAME_NONE: memory, which is_short then remembers. */
uint32_t trace_store_name(trace_store *store, ridge_str text);
const char *trace_store_text(const trace_store *store, uint32_t name);
/** The number of an operation. */
uint32_t trace_store_op(trace_store *store, const trace_op_key *key);
const trace_op_key *trace_store_op_key(const trace_store *store, uint32_t op);
uint32_t trace_store_host_op(trace_store *store, const trace_host_key *key);
const trace_host_key *trace_store_host_key(const trace_store *store, uint32_t host_op);
uint32_t trace_store_message(trace_store *store, const trace_message *message);
const trace_message *trace_store_message_at(const trace_store *store, uint32_t number);

/** The process, track or thread of that id, new or known; NULL: memory. A process of
 *  devices may have the id of one of the host. */
trace_process *trace_store_process(trace_store *store, ridge_str pid, bool is_device,
                                   uint32_t *number);
trace_track *trace_store_track(trace_store *store, ridge_str pid, ridge_str tid,
                               bool is_device);
trace_thread *trace_store_thread(trace_store *store, ridge_str pid, ridge_str tid);
trace_track *trace_store_track_at(const trace_store *store, size_t i);
trace_thread *trace_store_thread_at(const trace_store *store, size_t i);
trace_process *trace_store_process_at(const trace_store *store, size_t i);

/** Append to a track, a thread, the marks. */
void trace_store_slice(trace_store *store, trace_track *track, trace_span span,
                       uint32_t op, uint32_t link);
void trace_store_call(trace_store *store, trace_thread *thread, int64_t start_ns,
                      int64_t length_ns, uint32_t host_op);
void trace_store_launch(trace_store *store, trace_thread *thread, int64_t start_ns,
                        uint32_t link);
void trace_store_sequence(trace_store *store, trace_thread *thread,
                          trace_sequence sequence);
void trace_store_mark(trace_store *store, ridge_str name, int64_t start_ns,
                      int64_t length_ns);
/** Note that something was lost. @param what  static */
void trace_store_lose(trace_store *store, const char *what, int64_t offset);

#endif
