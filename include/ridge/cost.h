/*
 * Costs: the time of an operation on a chip and of a collective on a network.
 * Three answers: bound (physics), expected (achievable), range. No search here.
 */
#ifndef RIDGE_COST_H
#define RIDGE_COST_H

#include "ridge/base.h"
#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_bound {
    RIDGE_BOUND_COMPUTE, /* matrix unit */
    RIDGE_BOUND_MEMORY,  /* HBM, or the memory that was asked for */
    RIDGE_BOUND_VECTOR,
    RIDGE_BOUND_LATENCY, /* launches, hops */
    RIDGE_BOUND_NETWORK
} ridge_bound;

const char *ridge_bound_text(ridge_bound bound);

/* ---- operations on one chip -------------------------------------------------------
 */

/** Which memory the operands stream from. */
typedef enum ridge_memory { RIDGE_MEMORY_HBM, RIDGE_MEMORY_FAST } ridge_memory;

/** batch independent products [m, k] x [k, n], as one call. */
typedef struct ridge_matmul {
    double batch, m, k, n;                  /* each >= 1 */
    ridge_dtype activation, weight, output; /* formats in memory */
    ridge_dtype compute;                    /* format of the arithmetic */
} ridge_matmul;

/** Attention of one layer on one chip. */
typedef struct ridge_attention {
    double batch;           /* sequences */
    double query_tokens;    /* T per sequence: 1 in decode */
    double context_tokens;  /* S per sequence */
    double heads, kv_heads; /* N, K on this chip */
    double head_dim, v_head_dim;
    double window; /* 0: none */
    bool is_causal;
    ridge_dtype activation, cache, compute;
} ridge_attention;

/** What one operation asks of a chip and what it takes. */
typedef struct ridge_op_cost {
    double matmul_flops;
    double vector_flops;
    double bytes;
    double intensity_flops_per_byte;
    double compute_s; /* matmul_flops / peak */
    double memory_s;  /* bytes / bandwidth */
    double vector_s;
    double bound_s;    /* max of the three: speed of light */
    double serial_s;   /* their sum: nothing overlaps */
    double expected_s; /* achievable rates, shape, launch */
    double
        shape_efficiency;   /* useful share of the matrix unit by shape; 1 if unknown */
    double tile_efficiency; /* padding to tiles or to the systolic array */
    double wave_efficiency; /* last wave over the SMs */
    ridge_bound bound_by;   /* of bound_s */
    ridge_bound expected_bound_by; /* of expected_s */
} ridge_op_cost;

ridge_op_cost ridge_matmul_cost(const ridge_chip *chip, const ridge_matmul *op,
                                ridge_memory memory);
ridge_op_cost ridge_attention_cost(const ridge_chip *chip, const ridge_attention *op);
/**
 * An operation that streams bytes and does vector work.
 * @param vector_flops  fp32 operations. @param bytes  read and written
 */
ridge_op_cost ridge_stream_cost(const ridge_chip *chip, double vector_flops,
                                double bytes);

/**
 * The share of the peak that a matmul of this shape can use: padding of every dim to
 * the systolic array (TPU), or tiles and waves over the SMs (GPU).
 * @param tile, wave  out: the two factors; may be NULL
 */
double ridge_matmul_shape_efficiency(const ridge_chip *chip, const ridge_matmul *op,
                                     double *tile, double *wave);

/** Rows m at which [m,k]x[k,n] becomes compute bound; INFINITY if it never does. */
double ridge_matmul_critical_rows(const ridge_chip *chip, const ridge_matmul *op,
                                  ridge_memory memory);
/** The same for m << k, n: (weight bytes / 2) C / W. */
double ridge_matmul_critical_rows_limit(const ridge_chip *chip, const ridge_matmul *op,
                                        ridge_memory memory);

/* ---- collectives
 * --------------------------------------------------------------------- */

/* name, text */
/* clang-format off */
#define RIDGE_COLLECTIVE_LIST(X)             \
    X(ALL_GATHER, "all-gather")              \
    X(REDUCE_SCATTER, "reduce-scatter")      \
    X(ALL_REDUCE, "all-reduce")              \
    X(ALL_TO_ALL, "all-to-all")              \
    X(BROADCAST, "broadcast")                \
    X(SEND_RECV, "send-recv")
/* clang-format on */

typedef enum ridge_collective {
#define RIDGE_COLLECTIVE_ENUM(name, text) RIDGE_COLLECTIVE_##name,
    RIDGE_COLLECTIVE_LIST(RIDGE_COLLECTIVE_ENUM)
#undef RIDGE_COLLECTIVE_ENUM
} ridge_collective;

#define RIDGE_COLLECTIVE_ONE(name, text) +1
enum { RIDGE_COLLECTIVE_COUNT = 0 RIDGE_COLLECTIVE_LIST(RIDGE_COLLECTIVE_ONE) };
#undef RIDGE_COLLECTIVE_ONE

const char *ridge_collective_text(ridge_collective kind);
/** Any case, with or without hyphens or underscores; ag, rs, ar, a2a. @errors
 * E_NOTFOUND */
RIDGE_NODISCARD ridge_status ridge_collective_parse(ridge_ctx *cx, const char *text,
                                                    ridge_collective *out);

/* name, text, what */
/* clang-format off */
#define RIDGE_ALGORITHM_LIST(X)                                                              \
    X(NONE, "none", "one rank: nothing moves")                                               \
    X(RING, "ring", "one direction around a ring, N-1 hops")                                  \
    X(RING_BIDIRECTIONAL, "ring-bidirectional", "both directions of a closed ring")            \
    X(LINE, "line", "an axis without wraparound: the ends are the limit")                      \
    X(TORUS, "torus", "the array cut over several axes, each gathered in a rotation")          \
    X(TREE, "tree", "double binary tree")                                                      \
    X(DIRECT, "direct", "one hop to every peer through a switch or a full mesh")               \
    X(IN_NETWORK, "in-network", "the switch reduces (NVLS, SHARP)")                            \
    X(HIERARCHICAL, "hierarchical", "inner level first, then the share of each chip outside")  \
    X(POINT_TO_POINT, "point-to-point", "hops x latency + bytes / ports")
/* clang-format on */

typedef enum ridge_algorithm {
#define RIDGE_ALGORITHM_ENUM(name, text, what) RIDGE_ALGORITHM_##name,
    RIDGE_ALGORITHM_LIST(RIDGE_ALGORITHM_ENUM)
#undef RIDGE_ALGORITHM_ENUM
} ridge_algorithm;

const char *ridge_algorithm_text(ridge_algorithm algorithm);
const char *ridge_algorithm_what(ridge_algorithm algorithm);

typedef struct ridge_algorithm_cost {
    ridge_algorithm algorithm;
    double bound_s;    /* nominal bandwidth, no start-up */
    double expected_s; /* achieved bandwidth at this size, latencies, start-up */
    double latency_s;  /* share of expected_s that does not fall with the size */
    double bandwidth_s;
} ridge_algorithm_cost;

enum { RIDGE_ALGORITHM_MAX = 8 };

typedef struct ridge_collective_cost {
    double bound_s;            /* of the cheapest algorithm by bound */
    double expected_s;         /* of the cheapest by expectation */
    ridge_bound bound_by;      /* latency or network */
    int slowest_axis;          /* index of the slice's axis that limits; -1: none */
    ridge_algorithm algorithm; /* the cheapest, by expected time */
    double bus_bytes_per_s;    /* as NCCL reports it, from expected_s */
    int n_algorithms;
    ridge_algorithm_cost algorithms[RIDGE_ALGORITHM_MAX];
} ridge_collective_cost;

/**
 * Time of a collective over a group, every chip of the slice doing the same in its own
 * group.
 * @param bytes  V: the global array of one group: the gathered result of an all-gather,
 *               the input of a reduce-scatter, the array of an all-reduce, for an
 *               all-to-all all bytes that the group holds, for send-recv and broadcast
 *               the message; >= 0
 * @source scaling-book-2025 chapters 3 and 12; thakur2005
 */
ridge_collective_cost ridge_collective_price(const ridge_slice *slice,
                                             ridge_collective kind, double bytes,
                                             const ridge_group *group);

/** The same with only the cheapest expected and bound times: for searches. */
typedef struct ridge_time {
    double bound_s;
    double expected_s;
} ridge_time;
ridge_time ridge_collective_time(const ridge_slice *slice, ridge_collective kind,
                                 double bytes, const ridge_group *group);

/** Point to point: hops away on the slice, over the live ports of both ends.
 * @param hops  >= 0; ports  >= 1 */
ridge_time ridge_point_to_point_time(const ridge_slice *slice, double bytes,
                                     int64_t hops, int ports);

/** Chip FLOPs per byte of the group's bandwidth (alpha = C / W): the book's intensity.
 */
double ridge_group_ridge_point(const ridge_slice *slice, const ridge_group *group,
                               ridge_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
