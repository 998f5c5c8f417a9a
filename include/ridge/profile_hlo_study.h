/*
 * What a module costs on a slice: each kernel with its work, traffic and time, the
 * collectives with their groups, the timeline with what is hidden, memory by liveness,
 * padding, what the groups tell of the parallelism, and advice.
 */
#ifndef RIDGE_PROFILE_HLO_STUDY_H
#define RIDGE_PROFILE_HLO_STUDY_H

#include "ridge/cost.h"
#include "ridge/profile_hlo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, text */
/* clang-format off */
#define RIDGE_HLO_CATEGORY_LIST(X)          \
    X(MATMUL, "matmul")                     \
    X(CONVOLUTION, "convolution")           \
    X(ATTENTION, "attention")               \
    X(ELEMENTWISE, "elementwise")           \
    X(REDUCTION, "reduction")               \
    X(DATA, "data movement")                \
    X(COLLECTIVE, "collective")             \
    X(CUSTOM, "custom call")                \
    X(HOST, "host transfer")                \
    X(OTHER, "other")
/* clang-format on */

typedef enum ridge_hlo_category {
#define RIDGE_HLO_CATEGORY_ENUM(name, text) RIDGE_HLO_CATEGORY_##name,
    RIDGE_HLO_CATEGORY_LIST(RIDGE_HLO_CATEGORY_ENUM)
#undef RIDGE_HLO_CATEGORY_ENUM
} ridge_hlo_category;

#define RIDGE_HLO_CATEGORY_ONE(name, text) +1
enum { RIDGE_HLO_CATEGORY_COUNT = 0 RIDGE_HLO_CATEGORY_LIST(RIDGE_HLO_CATEGORY_ONE) };
#undef RIDGE_HLO_CATEGORY_ONE

const char *ridge_hlo_category_text(ridge_hlo_category category);

/** A collective as a kernel. */
typedef struct ridge_hlo_collective {
    ridge_collective kind;
    const char *kind_text; /* as the module names it: "all-gather" */
    double bytes;          /* V, as ridge_collective_price takes it */
    int64_t ranks;         /* of one group */
    int64_t n_groups;
    int64_t stride;    /* between the devices of the first group; 0: not even */
    bool is_async;     /* started in one place and waited for in another */
    bool is_estimated; /* its group is no box of the slice: the smallest that holds
                          as many ranks is taken */
    ridge_group group; /* on the slice */
    ridge_algorithm algorithm;
    double latency_s;       /* share of its time that does not fall with the bytes */
    double bus_bytes_per_s; /* achieved, from expected_s */
} ridge_hlo_collective;

/** One kernel: an instruction, or several that run as one. */
typedef struct ridge_hlo_op {
    const char *name;   /* of its last instruction */
    const char *code;   /* of what decides its time: "dot", "all-gather" */
    const char *scope;  /* op_name of its metadata, or "" */
    const char *source; /* "file:line", or "" */
    const char *shape;  /* of what it writes */
    const char *detail; /* "einsum", groups, or "" */
    ridge_hlo_category category;
    int computation, line;
    int n_operations; /* instructions that run in it */
    double times;     /* that it runs in a run of the module */
    /* of one run of it: */
    double matmul_flops, vector_flops, transcendentals;
    double bytes; /* HBM, read and written */
    double fast_bytes, host_bytes;
    double padded_bytes;    /* as bytes, with the padding of layouts */
    double tile_efficiency; /* of its product: useful share of padded tiles; else 1 */
    bool is_unknown;        /* what it computes cannot be told: bytes alone */
    bool is_wide;           /* a product in fp32 or wider */
    double bound_s, expected_s;
    ridge_bound bound_by, expected_bound_by;
    double exposed_s, hidden_s; /* asynchronous ones and collectives: of expected_s */
    const ridge_hlo_collective *collective; /* NULL: none */
} ridge_hlo_op;

/** Time of a category, over the whole run. */
typedef struct ridge_hlo_share {
    int64_t n; /* kernels run */
    double flops, bytes;
    double bound_s, expected_s; /* of collectives: exposed and hidden together */
    double exposed_s;           /* that the run waits for */
} ridge_hlo_share;

/** A buffer that is live at the peak. */
typedef struct ridge_hlo_buffer {
    const char *name, *shape, *role; /* "argument", "temporary", "output" */
    double bytes;
} ridge_hlo_buffer;

enum { RIDGE_HLO_BUFFER_MAX = 16 };

/** Memory of one device by liveness, in the order of the text. */
typedef struct ridge_hlo_memory {
    double argument_bytes, output_bytes, alias_bytes; /* outputs in arguments' place */
    double temporary_bytes;                           /* most at one time */
    double peak_bytes;   /* arguments, outputs without aliases, temporaries */
    double fast_bytes;   /* most at one time in VMEM */
    double host_bytes;   /* most at one time with the host */
    const char *peak_at; /* the kernel */
    int n_buffers;
    ridge_hlo_buffer buffers[RIDGE_HLO_BUFFER_MAX]; /* the largest at the peak */
} ridge_hlo_memory;

enum { RIDGE_HLO_DEGREE_MAX = 8, RIDGE_HLO_ADVICE_MAX = 16 };

/** A way in which the module is cut over its devices, as its groups tell. */
typedef struct ridge_hlo_degree {
    int64_t ways, stride;
    int64_t n_collectives; /* run over exactly this */
    double bytes;
    char letter; /* names it in shapes and texts: x, y, z .. */
} ridge_hlo_degree;

typedef struct ridge_hlo_advice {
    const char *what, *evidence;
    double worth_s; /* of a run of the module; 0: not told */
} ridge_hlo_advice;

/** Work of all kernels with one key: source line, scope, opcode, computation. */
typedef struct ridge_hlo_bucket {
    const char *key;
    int64_t n;
    double flops, bytes, expected_s;
} ridge_hlo_bucket;

typedef enum ridge_hlo_grouping {
    RIDGE_HLO_BY_CODE,
    RIDGE_HLO_BY_SOURCE,
    RIDGE_HLO_BY_SCOPE, /* the scopes of op_name, without its last part */
    RIDGE_HLO_BY_LAYER  /* computation that a loop runs, or the entry */
} ridge_hlo_grouping;
enum { RIDGE_HLO_GROUPING_COUNT = 4, RIDGE_HLO_BUCKET_MAX = 24 };

typedef struct ridge_hlo_request {
    const ridge_slice *slice; /* NULL: work and traffic alone */
    double rounds;            /* of loops that do not tell; 0: one */
    int64_t devices;          /* of the module; 0: as its head and groups say */
} ridge_hlo_request;

typedef struct ridge_hlo_study {
    const ridge_hlo_module *module;
    const ridge_slice *slice;
    bool is_compiled; /* kernels are the module's own fusions; else estimated */
    bool is_whole;    /* sharded over devices but not partitioned yet */
    int64_t devices;
    int n_unknown_loops;
    int64_t n_unknown; /* kernels run whose work cannot be told */
    int n_ops;
    const ridge_hlo_op *ops; /* in the order in which they run */
    /* of one run on one device: */
    double matmul_flops, vector_flops, transcendentals, bytes, padded_bytes;
    double bound_s; /* the largest of compute, memory, vector and network time */
    double expected_s;
    double low_s, high_s;
    double compute_s, network_s; /* expected, by themselves */
    double exposed_s, hidden_s;  /* of the network */
    ridge_bound bound_by;
    ridge_hlo_share shares[RIDGE_HLO_CATEGORY_COUNT];
    ridge_hlo_memory memory;
    int n_degrees;
    ridge_hlo_degree degrees[RIDGE_HLO_DEGREE_MAX];
    int n_buckets[RIDGE_HLO_GROUPING_COUNT];
    ridge_hlo_bucket buckets[RIDGE_HLO_GROUPING_COUNT][RIDGE_HLO_BUCKET_MAX];
    int n_advice;
    ridge_hlo_advice advice[RIDGE_HLO_ADVICE_MAX]; /* by worth */
} ridge_hlo_study;

/** Devices that a module is made for: partitions times replicas, or the highest device
 *  that its groups, pairs or shardings name. @errors E_PARSE groups that are malformed
 */
RIDGE_NODISCARD ridge_status ridge_hlo_module_devices(ridge_ctx *cx,
                                                      const ridge_hlo_module *module,
                                                      int64_t *out);

/**
 * @owner cx
 * @errors E_ARG a slice with fewer chips than the module has devices, or a module too
 *         large; E_PARSE attributes that are malformed; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_hlo_study_find(ridge_ctx *cx,
                                                  const ridge_hlo_module *module,
                                                  const ridge_hlo_request *request,
                                                  ridge_hlo_study *out);

/** A module that was timed, and what is expected of it. */
typedef struct ridge_hlo_measured {
    const char *file, *on; /* as the list says */
    double measured_s, expected_s, low_s, high_s;
    bool is_whole; /* sharded and not partitioned: not counted */
    double error;  /* expected / measured - 1 */
} ridge_hlo_measured;

typedef struct ridge_hlo_measurements {
    int n, n_counted;
    const ridge_hlo_measured *rows;
    double median_abs_error, p90_abs_error, bias; /* of those counted */
    int n_within; /* of these, measured within the range */
} ridge_hlo_measurements;

/**
 * Price the modules of a list of measurements, JSON lines with "file" (beside the list,
 * or a path), "on" (a slice), "measured_s", and "module" (1).
 * @owner cx
 * @errors E_PARSE, E_IO, E_ARG, E_NOTFOUND with the line
 */
RIDGE_NODISCARD ridge_status ridge_hlo_measurements_find(ridge_ctx *cx,
                                                         const ridge_catalog *catalog,
                                                         const char *path,
                                                         ridge_hlo_measurements *out);

/** All FLOPs of a run on one device: products and the rest, transcendentals as one. */
double ridge_hlo_study_flops(const ridge_hlo_study *study);

#ifdef __cplusplus
}
#endif

#endif
