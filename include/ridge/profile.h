/*
 * Measured runs: traces of what frameworks and profilers write, read in one pass, and
 * the time of each device and step attributed to what was done, or not done, in it.
 * All times of a trace are whole nanoseconds, so that parts sum exactly.
 */
#ifndef RIDGE_PROFILE_H
#define RIDGE_PROFILE_H

#include "ridge/base.h"
#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- formats --------------------------------------------------------------------- */

/* name, text */
/* clang-format off */
#define RIDGE_TRACE_FORMAT_LIST(X)                                \
    X(KINETO, "kineto", "PyTorch (Kineto), CUDA or ROCm")         \
    X(XPROF, "xprof", "JAX / XProf, Chrome trace")                \
    X(XPLANE, "xplane", "JAX / XProf, XSpace protobuf")           \
    X(XPROF_TABLE, "xprof-table", "XProf, sums of operations")    \
    X(NSYS, "nsys", "Nsight Systems, SQLite export")              \
    X(RIDGE, "ridge", "Ridge's own timeline")                     \
    X(CHROME, "chrome", "Chrome trace of another tool")
/* clang-format on */

typedef enum ridge_trace_format {
#define RIDGE_TRACE_FORMAT_ENUM(name, text, what) RIDGE_TRACE_##name,
    RIDGE_TRACE_FORMAT_LIST(RIDGE_TRACE_FORMAT_ENUM)
#undef RIDGE_TRACE_FORMAT_ENUM
} ridge_trace_format;

/** @return "kineto" and the like; static, never NULL */
const char *ridge_trace_format_text(ridge_trace_format format);
/** @return in words: "PyTorch (Kineto), CUDA or ROCm" */
const char *ridge_trace_format_what(ridge_trace_format format);

/* ---- what an operation is ----------------------------------------------------------
 */

/* Where the time of a step goes; the parts sum to it. name, text, what */
/* clang-format off */
#define RIDGE_PROFILE_PART_LIST(X)                                                          \
    X(MATMUL, "matmul", "matrix products and convolutions")                                 \
    X(ATTENTION, "attention", "attention kernels")                                          \
    X(COMPUTE, "other_compute", "norms, activations, reductions, gathers, optimizer, other") \
    X(ALL_GATHER, "all_gather", "exposed: nothing was computed meanwhile")                  \
    X(REDUCE_SCATTER, "reduce_scatter", "exposed")                                          \
    X(ALL_REDUCE, "all_reduce", "exposed")                                                  \
    X(ALL_TO_ALL, "all_to_all", "exposed")                                                  \
    X(SEND_RECV, "send_recv", "exposed: sends, receives, permutes")                         \
    X(BROADCAST, "broadcast", "exposed")                                                    \
    X(COLLECTIVE, "other_collective", "exposed, of a kind that its name does not tell")     \
    X(COPY, "copy", "exposed copies, to and from the host and in memory")                   \
    X(INPUT, "input", "the device waits for input (infeed)")                                \
    X(HOST, "host", "the device was idle, for the host had not launched the next work yet") \
    X(IDLE, "idle", "the device was idle with work launched, or for reasons unknown")
/* clang-format on */

typedef enum ridge_profile_part {
#define RIDGE_PROFILE_PART_ENUM(name, text, what) RIDGE_PROFILE_PART_##name,
    RIDGE_PROFILE_PART_LIST(RIDGE_PROFILE_PART_ENUM)
#undef RIDGE_PROFILE_PART_ENUM
} ridge_profile_part;

#define RIDGE_PROFILE_PART_ONE(name, text, what) +1
enum { RIDGE_PROFILE_PART_COUNT = 0 RIDGE_PROFILE_PART_LIST(RIDGE_PROFILE_PART_ONE) };
#undef RIDGE_PROFILE_PART_ONE

const char *ridge_profile_part_text(ridge_profile_part part);
const char *ridge_profile_part_what(ridge_profile_part part);
/** Whether it is a collective or a send. */
bool ridge_profile_part_is_network(ridge_profile_part part);
/** Whether it is matmul, attention or other compute. */
bool ridge_profile_part_is_compute(ridge_profile_part part);

/* Kinds of operations. name, text, part */
/* clang-format off */
#define RIDGE_PROFILE_CLASS_LIST(X)                     \
    X(MATMUL, "matmul", MATMUL)                         \
    X(CONVOLUTION, "convolution", MATMUL)               \
    X(ATTENTION, "attention", ATTENTION)                \
    X(NORM, "norm", COMPUTE)                            \
    X(SOFTMAX, "softmax", COMPUTE)                      \
    X(ELEMENTWISE, "elementwise", COMPUTE)              \
    X(REDUCTION, "reduction", COMPUTE)                  \
    X(GATHER, "gather", COMPUTE)                        \
    X(ROTARY, "rotary", COMPUTE)                        \
    X(ROUTING, "routing", COMPUTE)                      \
    X(OPTIMIZER, "optimizer", COMPUTE)                  \
    X(RELAYOUT, "relayout", COMPUTE)                    \
    X(OTHER, "other", COMPUTE)                          \
    X(ALL_GATHER, "all_gather", ALL_GATHER)             \
    X(REDUCE_SCATTER, "reduce_scatter", REDUCE_SCATTER) \
    X(ALL_REDUCE, "all_reduce", ALL_REDUCE)             \
    X(ALL_TO_ALL, "all_to_all", ALL_TO_ALL)             \
    X(SEND_RECV, "send_recv", SEND_RECV)                \
    X(BROADCAST, "broadcast", BROADCAST)                \
    X(COLLECTIVE, "other_collective", COLLECTIVE)       \
    X(COPY, "copy", COPY)                               \
    X(INPUT, "input", INPUT)
/* clang-format on */

typedef enum ridge_profile_class {
#define RIDGE_PROFILE_CLASS_ENUM(name, text, part) RIDGE_CLASS_##name,
    RIDGE_PROFILE_CLASS_LIST(RIDGE_PROFILE_CLASS_ENUM)
#undef RIDGE_PROFILE_CLASS_ENUM
} ridge_profile_class;

#define RIDGE_PROFILE_CLASS_ONE(name, text, part) +1
enum {
    RIDGE_PROFILE_CLASS_COUNT = 0 RIDGE_PROFILE_CLASS_LIST(RIDGE_PROFILE_CLASS_ONE)
};
#undef RIDGE_PROFILE_CLASS_ONE

const char *ridge_profile_class_text(ridge_profile_class class);
ridge_profile_part ridge_profile_class_part(ridge_profile_class class);

/* ---- what was measured -------------------------------------------------------------
 */

/** Time by part; the parts sum to total_ns. */
typedef struct ridge_profile_times {
    int64_t total_ns;
    int64_t part_ns[RIDGE_PROFILE_PART_COUNT];
    /* Behind compute, of network parts and copies; in no sum. */
    int64_t hidden_ns[RIDGE_PROFILE_PART_COUNT];
} ridge_profile_times;

/** Sums over the three compute parts, and over the network parts. */
int64_t ridge_profile_compute_ns(const ridge_profile_times *times);
int64_t ridge_profile_exposed_ns(const ridge_profile_times *times);
int64_t ridge_profile_hidden_ns(const ridge_profile_times *times);

typedef struct ridge_profile_step {
    const char *name; /* as the trace has it: "ProfilerStep#6", "12", "jit_step" */
    int64_t start_ns, end_ns; /* on the trace's clock */
    ridge_profile_times times;
} ridge_profile_step;

/** How the steps of a device were found. */
typedef enum ridge_step_source {
    RIDGE_STEPS_ANNOTATED, /* the program marked them */
    RIDGE_STEPS_TRACK,     /* the profiler's own track of steps */
    RIDGE_STEPS_MODULES,   /* launches of the module that took most of the time */
    RIDGE_STEPS_REPEATED,  /* the order of operations repeats */
    RIDGE_STEPS_WHOLE      /* none were found: the whole trace is taken as one */
} ridge_step_source;

const char *ridge_step_source_text(ridge_step_source source);

typedef struct ridge_profile_device {
    const char *name;     /* "GPU 0", "/device:TPU:0" */
    const char *hardware; /* as the trace names it: "NVIDIA H100 80GB HBM3"; or "" */
    double cores, memory_bytes; /* as the trace has them; 0: not told */
    int rank;                   /* -1: not told */
    int64_t operations;         /* on the device in the whole trace */
    ridge_step_source steps_by;
    int n_steps;
    const ridge_profile_step *steps; /* in order of time */
    ridge_profile_times times;       /* of all steps together */
    int64_t span_ns;                 /* first operation's start to last one's end */
    int64_t busy_ns;                 /* union of operations, in the whole trace */
    int64_t kernels;
    int64_t kernel_ns;       /* sum of kernels' lengths, in the whole trace */
    int64_t kernel_union_ns; /* the same as a union of intervals */
    int64_t exposed_ns; /* union of kernels less that of compute, in the whole trace */
    int64_t launched;   /* operations whose launch is in the trace */
    int64_t starved;    /* of these, those that found the device with nothing to do */
    int64_t lead_ns;    /* sum over them of launch to start: how deep the queue was */
} ridge_profile_device;

/** Operations that are alike in all that is told of them; within the steps. */
typedef struct ridge_profile_op {
    const char *name; /* kernel, or HLO operation */
    ridge_profile_class class;
    const char *call;     /* what launched it: "aten::addmm", a framework's op; or "" */
    const char *module;   /* "Qwen2MLP", HLO module; or "" */
    const char *category; /* HLO category; or "" */
    const char *source;   /* "model.py:123"; or "" */
    const char *shapes;   /* of its inputs, as the trace has them; or "" */
    int layer;            /* -1: not told */
    int64_t count;
    int64_t time_ns;           /* sum; operations within it are not counted again */
    int64_t least_ns, most_ns; /* of one */
    int64_t exposed_ns;        /* of collectives: while nothing was computed */
    bool has_flops, has_bytes;
    double flops, bytes; /* of all of them together */
    ridge_dtype dtype;   /* of the arithmetic; BF16 where it is not told */
    bool has_dtype;
    bool has_roofline;    /* FLOPs or bytes are known, and the chip is */
    double roofline_s;    /* of all of them: the chip's limit */
    bool is_memory_bound; /* what the limit is */
    double gap_s;         /* time above the limit, >= 0: what could be won */
} ridge_profile_op;

/** Collectives of one kind, group and size; within the steps, over all ranks read. */
typedef struct ridge_profile_collective {
    ridge_profile_class kind;
    const char *name;  /* of the kernel or HLO operation */
    const char *group; /* name of the process group; or "" */
    int64_t ranks;     /* in the group; 0: not told */
    bool has_bytes;
    double bytes; /* of the whole array on one rank: the larger of input and output */
    int64_t count;
    int64_t time_ns, exposed_ns;
    int64_t least_ns; /* of one */
    int64_t wait_ns;  /* for ranks that came later, where several ranks were read */
    double bus_bytes_per_s;      /* bytes x (n-1)/n (twice of all-reduces) over the
                                    median time; 0: not known */
    double best_bus_bytes_per_s; /* over the least */
    double network_bytes_per_s;  /* of the network; 0: not known */
    double expected_s;           /* of one, by the network model; 0: not known */
} ridge_profile_collective;

/** Idle time of devices by what the host did meanwhile. */
typedef struct ridge_profile_gap {
    const char *cause; /* "aten::item", "DataLoader", ... */
    bool is_input;     /* waiting for data */
    bool is_sync;      /* the host waited for the device before it launched more */
    int64_t count;
    int64_t time_ns;
} ridge_profile_gap;

/** What could not be read, or was left out. */
typedef struct ridge_profile_loss {
    const char *file;
    const char *what;
    int64_t offset; /* of the first, in the unpacked file; -1: none */
    int64_t count;
} ridge_profile_loss;

/** An operation of the step that was kept. */
typedef struct ridge_profile_kept {
    const char *track; /* as the trace names it, or its number */
    const char *name;
    ridge_profile_class class;
    int64_t start_ns, length_ns; /* from the step's start */
} ridge_profile_kept;

/** One rank among several. */
typedef struct ridge_profile_rank {
    int rank;
    const char *file;
    double step_s;    /* mean */
    double compute_s; /* mean over steps */
    double wait_s;    /* in collectives, for others; mean over steps */
} ridge_profile_rank;

/** A piece of advice: what to do, why it is believed, what it would win a step. */
typedef struct ridge_profile_advice {
    const char *key;      /* "exposed_all_gather": stable */
    const char *title;    /* what to do */
    const char *evidence; /* the numbers behind it */
    double worth_s;       /* a step; what it could win at most */
} ridge_profile_advice;

typedef struct ridge_profile {
    ridge_trace_format format;
    const char *path;
    int n_files;
    int64_t bytes;          /* unpacked */
    int64_t events;         /* in the files */
    int world;              /* ranks of the run; 0: not told */
    const ridge_chip *chip; /* told by --on or recognised; NULL: neither */
    bool is_chip_told;
    double device_flops_per_s; /* that the trace tells; 0: it does not */
    double chip_devices;       /* that a chip is: by that, 2 cores of some TPUs */
    const ridge_slice *slice;  /* of --on, or NULL */
    int n_devices;
    ridge_profile_device *devices;
    int64_t steps; /* over all devices */
    double step_s; /* mean over devices and steps */
    double work_s; /* device time of all steps: operations' shares are of this */
    ridge_profile_times times; /* over all devices and steps */
    int n_ops;
    ridge_profile_op *ops; /* longest first */
    int n_collectives;
    ridge_profile_collective *collectives; /* longest first */
    int n_gaps;
    ridge_profile_gap *gaps; /* longest first */
    int n_losses;
    ridge_profile_loss *losses;
    int n_ranks; /* 0: one file, or ranks are not told */
    ridge_profile_rank *ranks;
    int n_kept; /* operations of the middle step of the first device, where asked */
    ridge_profile_kept *kept;
    int64_t compilations; /* of modules within the steps, and their time */
    int64_t compilation_ns;
    int n_advice;
    ridge_profile_advice *advice; /* worth most first */
} ridge_profile;

typedef struct ridge_profile_request {
    const char *path; /* a file, or a folder with one a rank */
    const ridge_catalog *catalog;
    const ridge_slice *slice; /* where it ran; NULL: recognised from the trace */
    bool keeps_step;          /* fill in profile.kept */
    size_t window_bytes;      /* of reading; 0: usual. For tests */
} ridge_profile_request;

/**
 * Read a trace and attribute its time.
 * @owner the ctx; texts of the trace are UTF-8 without control characters
 * @errors E_IO; E_PARSE nothing in it can be read as a trace, with what it looks like;
 *         E_NOMEM; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_profile_read(ridge_ctx *cx,
                                                const ridge_profile_request *request,
                                                ridge_profile *out);

/* ---- grouping ----------------------------------------------------------------------
 */

typedef enum ridge_profile_key {
    RIDGE_KEY_CLASS,
    RIDGE_KEY_NAME,
    RIDGE_KEY_CALL,
    RIDGE_KEY_MODULE,
    RIDGE_KEY_CATEGORY,
    RIDGE_KEY_SOURCE,
    RIDGE_KEY_LAYER,
    RIDGE_KEY_COUNT
} ridge_profile_key;

const char *ridge_profile_key_text(ridge_profile_key key);
/** class, name, call, module, category, source, layer. @errors E_NOTFOUND */
RIDGE_NODISCARD ridge_status ridge_profile_key_parse(ridge_ctx *cx, const char *text,
                                                     ridge_profile_key *out);

/** Operations that share a key. */
typedef struct ridge_profile_group {
    const char *name; /* "" for those without the key */
    int64_t count, time_ns;
    bool has_flops, has_bytes; /* of any; the sums are of those that tell */
    double flops, bytes;
    int64_t flops_ns, bytes_ns; /* time of those that tell */
    double roofline_s, gap_s;   /* of those with a roofline */
    int64_t roofline_ns;        /* time of these */
} ridge_profile_group;

/** Operations with a roofline, alike but for layer, module and source, those first that
 * lose the most time above it.
 * @param ops  out: n of them; owned by the ctx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_profile_winnable(ridge_ctx *cx,
                                                    const ridge_profile *profile,
                                                    ridge_profile_op **ops, int *n);

/** @param groups  out: n of them, longest first; owned by the ctx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_profile_group_by(ridge_ctx *cx,
                                                    const ridge_profile *profile,
                                                    ridge_profile_key key,
                                                    ridge_profile_group **groups,
                                                    int *n);

#ifdef __cplusplus
}
#endif

#endif
