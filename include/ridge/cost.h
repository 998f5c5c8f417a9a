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

/** @return a static word for people and for JSON, never NULL */
const char *ridge_bound_text(ridge_bound bound);

/* ---- operations on one chip ----------------------------------------------------- */

/** Which memory the operands stream from. */
typedef enum ridge_memory {
    RIDGE_MEMORY_HBM,
    RIDGE_MEMORY_FAST, /* VMEM, or the shared memory of all SMs */
    RIDGE_MEMORY_HOST  /* the host's, over PCIe or a coherent link */
} ridge_memory;

/** @return a static word for people and for JSON, never NULL */
const char *ridge_memory_text(ridge_memory memory);
/** hbm, fast (vmem, smem), pcie (host). @errors E_NOTFOUND */
RIDGE_NODISCARD ridge_status ridge_memory_parse(ridge_ctx *cx, const char *text,
                                                ridge_memory *out);
/** Bandwidth of one chip to that memory; 0 when the catalogue does not know it. Costs
 *  then stream from HBM instead: ask first. */
double ridge_memory_bytes_per_s(const ridge_chip *chip, ridge_memory memory);
/** What one chip has of that memory; 0 when it is not known (a host's is its own). */
double ridge_memory_bytes(const ridge_chip *chip, ridge_memory memory);

/** Scales of operands narrower than 16 bits. */
typedef enum ridge_scaling {
    RIDGE_SCALING_NONE,   /* none, or none that matter */
    RIDGE_SCALING_TENSOR, /* one a tensor */
    RIDGE_SCALING_ROW,    /* one a row of activations (a token) */
    RIDGE_SCALING_BLOCK   /* one for every 128 elements of K, or fewer */
} ridge_scaling;

/** batch independent products [m, k] x [k, n], as one call. With scales, activations
 *  wider than the arithmetic are quantised in the call, by a stream of its own. */
typedef struct ridge_matmul {
    double batch, m, k, n; /* each >= 1 */
    double summed; /* of the m x n products so many are added up to one element of the
                      output: dims that one operand has alone and the output has not; 0:
                      none */
    ridge_dtype activation, weight, output; /* formats in memory */
    ridge_dtype compute;                    /* format of the arithmetic */
    ridge_scaling scaling;
    double
        scale_bytes; /* of scales and zeros beside each weight; 0: none that matter */
    bool comes_quantised; /* activations are already in the format of the arithmetic:
                             what wrote them quantised them */
    double rate_share;    /* of the chip's rate that the kernel reaches; 0: all of it */
} ridge_matmul;

/** Feed-forward of a mixture of experts as one call on one of the chips that share the
 *  experts: rows sorted by expert, two grouped products, rows weighted and summed. */
enum { RIDGE_EXPERT_SLOTS_MAX = 1024 };

typedef struct ridge_experts {
    double tokens;            /* of all the chips that share the experts */
    double experts_per_token; /* k */
    double experts, ways;     /* E experts over that many chips (EP) */
    double d_model, d_ff;     /* d_ff: this chip's part of it (TP) */
    double redundant;         /* copies of hot experts, placed by load; experts and
                                 these fill equally many slots of each chip, at most
                                 RIDGE_EXPERT_SLOTS_MAX in all; 0: experts once */
    double skew;              /* exponent of the power law of expert loads; 0: equal */
    bool is_gated;
    ridge_dtype activation, weight, compute;
    double scale_bytes;     /* as ridge_matmul's */
    bool comes_quantised;   /* as ridge_matmul's */
    double rate_share;      /* the same */
    bool waits_for_fullest; /* chips wait for the one whose experts got most rows */
    const struct ridge_expert_places *places; /* of these experts and copies, from
                              ridge_expert_places_find(); NULL: they are found anew */
} ridge_experts;

/** Copies of hot experts and how full chips are with them, whatever the tokens. */
typedef struct ridge_expert_places {
    double most; /* load of the fullest chip, over the mean of chips */
    int n;       /* kinds of experts that are alike */
    struct {
        double share; /* of tokens that meet one of its copies */
        double slots; /* that the copies of the kind fill */
    } kinds[RIDGE_EXPERT_SLOTS_MAX];
} ridge_expert_places;

/** @param op  redundant > 0, experts + redundant a multiple of ways and at most
 *             RIDGE_EXPERT_SLOTS_MAX; its tokens are not looked at */
void ridge_expert_places_find(const ridge_experts *op, ridge_expert_places *out);

/** Attention of one layer on one chip. */
typedef struct ridge_attention {
    double batch;           /* sequences */
    double query_tokens;    /* T per sequence: 1 in decode */
    double context_tokens;  /* S per sequence */
    double heads, kv_heads; /* N, K on this chip */
    double head_dim, v_head_dim;
    double window; /* 0: none */
    bool is_causal;
    bool is_latent; /* MLA: the cache is a latent; of one KV head, read once for both */
    bool is_engine_call; /* a serving engine's launches; keys and values stored */
    bool rotates;        /* rotary of queries and keys in the same call */
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

/**
 * Time of matrix products on one chip, in seconds: 2 b m k n FLOPs, each operand moved
 * once in its own format. In a format that the chip has no peak for, at that of the
 * nearest wider one it has. Cannot fail.
 * @param memory  that the operands stream from
 * @source scaling-book-2025 chapter 1
 */
ridge_op_cost ridge_matmul_cost(const ridge_chip *chip, const ridge_matmul *op,
                                ridge_memory memory);
/**
 * Time of one layer's attention on one chip, in seconds, as flash kernels compute it:
 * 2 B N T c (H + Hv) FLOPs over the average context c; queries, keys, values and output
 * move once, scores never. Cannot fail.
 * @source scaling-book-2025 chapter 4; dao2022
 */
ridge_op_cost ridge_attention_cost(const ridge_chip *chip, const ridge_attention *op);
/**
 * The share of its peak that attention reaches on a chip changed from a measured one:
 * what achievable.attention has to be there, so that scores go faster as their products
 * and their softmax do. 1 at most.
 */
double ridge_attention_share(const ridge_chip *changed, const ridge_chip *measured);
/**
 * Time of a mixture's feed-forward on one of the chips that share its experts, in
 * seconds: the products of the rows that it gets, the weights of the experts that they
 * hit, and the streams around them. Cannot fail.
 * @source scaling-book-2025 chapter 4
 */
ridge_op_cost ridge_experts_cost(const ridge_chip *chip, const ridge_experts *op);
/**
 * An operation that streams bytes and does vector work.
 * @param vector_flops  fp32 operations. @param bytes  read and written
 */
ridge_op_cost ridge_stream_cost(const ridge_chip *chip, double vector_flops,
                                double bytes);
/** The same from another memory than HBM. */
ridge_op_cost ridge_stream_cost_from(const ridge_chip *chip, double vector_flops,
                                     double bytes, ridge_memory memory);

/**
 * Work of no known shape: FLOPs of a format on the matrix unit, and bytes. The expected
 * time takes the best rates that the chip reaches.
 * @param flops, bytes  >= 0, not both 0
 * @source scaling-book-2025 chapter 1
 */
ridge_op_cost ridge_work_cost(const ridge_chip *chip, ridge_dtype compute, double flops,
                              double bytes, ridge_memory memory);

/**
 * The share of the peak that a matmul of this shape can use: padding of every dim to
 * the systolic array (TPU), or tiles and waves over the SMs (GPU).
 * @param tile, wave  out: the two factors; may be NULL
 */
double ridge_matmul_shape_efficiency(const ridge_chip *chip, const ridge_matmul *op,
                                     double *tile, double *wave);

/** How a product lies on the matrix units: what the shape efficiency is made of. */
typedef struct ridge_matmul_shape {
    double padded_m, padded_k, padded_n; /* computed dims; as asked when unknown */
    double tile_m, tile_n;  /* GPU: the output tile that was best; else 0 */
    double tiles;           /* GPU: over the batch, times split_k; else 0 */
    double waves;           /* GPU: rounds over the SMs; else 0 */
    double split_k;         /* GPU: parts that K is cut into, 1 for none; else 0 */
    double tile_efficiency; /* padding, and operand supply of a small tile */
    double wave_efficiency; /* last wave, start and end of each tile, pipeline fill */
    double efficiency;      /* product of the two, in (0, 1] */
} ridge_matmul_shape;

/** The best layout of the product on the chip; all factors 1 when the catalogue does
 *  not know the chip's tiles. */
ridge_matmul_shape ridge_matmul_shape_find(const ridge_chip *chip,
                                           const ridge_matmul *op);

/** Rows m at which [m,k]x[k,n] becomes compute bound; INFINITY if it never does. */
double ridge_matmul_critical_rows(const ridge_chip *chip, const ridge_matmul *op,
                                  ridge_memory memory);
/** The same for m << k, n: (weight bytes / 2) C / W. */
double ridge_matmul_critical_rows_limit(const ridge_chip *chip, const ridge_matmul *op,
                                        ridge_memory memory);
/** Tokens of a self-attention (T = S) from which it is compute bound; INFINITY when a
 *  window keeps it below. @source scaling-book-2025 chapter 4, question 4 */
double ridge_attention_critical_tokens(const ridge_chip *chip,
                                       const ridge_attention *op);

/** Running maximum and denominator of a softmax over some chunks of scores; maximum
 * -INFINITY and denominator 0 for none. */
typedef struct ridge_softmax_state {
    double maximum;     /* M: largest score */
    double denominator; /* L: sum of exp(score - M) */
} ridge_softmax_state;

/**
 * The state over both sets of chunks: M = max(Ma, Mb), L = e^(Ma-M) La + e^(Mb-M) Lb.
 * The outputs combine with the same weights over L.
 * @source scaling-book-2025, chapter 4, appendix on flash attention; dao2022
 */
ridge_softmax_state ridge_softmax_combine(ridge_softmax_state a, ridge_softmax_state b);

/* ---- einsums -------------------------------------------------------------------- */

/** Formats of an operation's operands and of its arithmetic. */
typedef struct ridge_formats {
    ridge_dtype activation, weight, output, compute;
} ridge_formats;

/** What a dim does in an einsum. */
typedef enum ridge_dim_role {
    RIDGE_DIM_BATCHING,    /* in both inputs and the output */
    RIDGE_DIM_CONTRACTING, /* in both inputs, summed over */
    RIDGE_DIM_FREE,        /* in one input and the output */
    RIDGE_DIM_SUMMED       /* in one input alone */
} ridge_dim_role;

const char *ridge_dim_role_text(ridge_dim_role role);

enum { RIDGE_EINSUM_DIM_MAX = 32 };

/** One or two inputs and an output over named dims. Dim i is bit (1u << i). */
typedef struct ridge_einsum {
    int n_inputs; /* 1 or 2 */
    int n_dims;
    char letters[RIDGE_EINSUM_DIM_MAX]; /* a-z A-Z, in order of appearance */
    int64_t sizes[RIDGE_EINSUM_DIM_MAX];
    uint32_t inputs[2];
    uint32_t output;
    double elements[3]; /* of the inputs and, last, of the output */
    double points;      /* product of all dims, each once */
} ridge_einsum;

/**
 * Read "btd,df->btf" and "b=4,t=4096,d=8192,f=28672".
 * @errors E_PARSE naming the column, E_ARG for a missing size or a product beyond 2^63
 */
RIDGE_NODISCARD ridge_status ridge_einsum_parse(ridge_ctx *cx, const char *text,
                                                const char *dims, ridge_einsum *out);
/** Give dim @p letter another size, >= 1, keeping the products below 2^63.
 * @return false when there is no such dim or a product would overflow */
bool ridge_einsum_resize(ridge_einsum *einsum, char letter, int64_t size);
ridge_dim_role ridge_einsum_role(const ridge_einsum *einsum, int dim);
/** Two for each point when something is contracted, one when a product or a sum is all
 *  there is, none for a copy. @source scaling-book-2025 chapter 4 */
double ridge_einsum_flops(const ridge_einsum *einsum);
/** The same without the first addition of each output element, which adds to zero. */
double ridge_einsum_flops_exact(const ridge_einsum *einsum);
/** Whether the matrix unit does it: two inputs with a contracting dim. */
bool ridge_einsum_is_matmul(const ridge_einsum *einsum);
/** The same as independent products: batching, free and contracting dims multiplied. */
ridge_matmul ridge_einsum_matmul(const ridge_einsum *einsum,
                                 const ridge_formats *formats);
ridge_op_cost ridge_einsum_cost(const ridge_chip *chip, const ridge_einsum *einsum,
                                const ridge_formats *formats, ridge_memory memory);

/* ---- collectives ---------------------------------------------------------------- */

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
    X(ONE_SHOT, "one-shot", "one kernel on each chip reads and adds all peers' arrays")        \
    X(HIERARCHICAL, "hierarchical", "inner level first, then the share of each chip outside")  \
    X(POINT_TO_POINT, "point-to-point", "hops x latency + bytes / ports")                      \
    X(MEASURED, "measured", "what was measured on this machine between those sizes")
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

/** Who runs a collective. */
typedef enum ridge_comm_library {
    RIDGE_COMM_NCCL,    /* a communication library, enqueued ahead of time */
    RIDGE_COMM_KERNELS, /* a serving engine in a captured graph: its own kernels too */
    RIDGE_COMM_DEVICE,  /* the same, whose chips start messages between nodes themselves
                         */
    RIDGE_COMM_EAGER    /* a library that the host calls when its turn comes */
} ridge_comm_library;

/** ridge_collective_price as another library runs it. */
ridge_collective_cost ridge_collective_price_by(const ridge_slice *slice,
                                                ridge_collective kind, double bytes,
                                                const ridge_group *group,
                                                ridge_comm_library library);

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

/** The size at which what a collective's latency and its bandwidth cost are equal, by
 * the algorithm that is cheapest there: below it, the hops and the start decide.
 * @return bytes; 0 for one rank */
double ridge_collective_critical_bytes(const ridge_slice *slice, ridge_collective kind,
                                       const ridge_group *group);

/** The same of the bound: below it hops take longer than bytes at nominal rates,
 * without any start. On a ring both ways a shard of W T_hop, 45 kB on a v5e.
 * @return bytes; 0 for one rank
 * @source scaling-book-2025 chapter 3 */
double ridge_collective_bound_critical_bytes(const ridge_slice *slice,
                                             ridge_collective kind,
                                             const ridge_group *group);

enum { RIDGE_COLLECTIVE_POINT_MAX = 64 };

/** One size of a sweep. */
typedef struct ridge_collective_point {
    double bytes;
    ridge_collective_cost cost;
    double bound_bus_bytes_per_s;
} ridge_collective_point;

/** What a span asks of its network where it joins units: chips, nodes, leaves. */
typedef struct ridge_collective_level {
    double unit_chips;       /* the group's chips in one unit */
    double unit_bytes_per_s; /* out of one unit, by those; both 0: torus */
    double unit_sent_bytes;  /* that have to leave a unit for the level's others; twice
                                for a sum, if no switch adds. NaN: none, or a torus */
    double bound_s;          /* their time at the nominal rate; NaN alike */
} ridge_collective_level;

/** A collective looked at from all sides; lives as long as the slice. */
typedef struct ridge_collective_study {
    const ridge_slice *slice;
    ridge_group group;
    ridge_collective kind;
    double bytes; /* V, as ridge_collective_price takes it */
    ridge_collective_cost cost;
    double algorithm_bytes_per_s; /* as nccl-tests print it: their size / time */
    double bound_bus_bytes_per_s; /* at the bound */
    double critical_bytes;        /* where latency and bandwidth are equal */
    double bound_critical_bytes;  /* where they are in the bound */
    double ridge_flops_per_byte;  /* ridge_group_ridge_point */
    ridge_collective_level levels[RIDGE_AXIS_MAX]; /* of the group's spans */
    size_t n_points;                               /* 0: no sweep */
    ridge_collective_point points[RIDGE_COLLECTIVE_POINT_MAX];
} ridge_collective_study;

/** The way of one message between two chips of a torus. */
typedef struct ridge_message_route {
    int64_t hops; /* the shortest way */
    int ports; /* links of that end which has fewer: so many disjoint ways there are */
} ridge_message_route;

/**
 * Read two places such as "0,0" and "3,3", a coordinate of each axis.
 * @errors E_PARSE, E_ARG what is no place of the slice, one place twice, no torus
 * @source scaling-book-2025 chapter 2, question 5
 */
RIDGE_NODISCARD ridge_status ridge_message_route_parse(ridge_ctx *cx,
                                                       const ridge_slice *slice,
                                                       const char *from, const char *to,
                                                       ridge_message_route *out);

/** The sizes of a sweep: "1KiB..4GiB", powers of two; with a factor "1MB..1GB*10". */
typedef struct ridge_bytes_range {
    double from, to, factor; /* 0 from: no sweep */
} ridge_bytes_range;

/** @errors E_PARSE how to write it; E_ARG more than RIDGE_COLLECTIVE_POINT_MAX sizes */
RIDGE_NODISCARD ridge_status ridge_bytes_range_parse(ridge_ctx *cx, const char *text,
                                                     ridge_bytes_range *out);

/** Fill in what follows from slice, group, kind and bytes of @p study.
 * @param range  checked sizes of a sweep, or NULL */
void ridge_collective_study_fill(ridge_collective_study *study, ridge_dtype dtype,
                                 const ridge_bytes_range *range);

/** Chip FLOPs per byte of the group's bandwidth (alpha = C / W): the book's intensity.
 */
double ridge_group_ridge_point(const ridge_slice *slice, const ridge_group *group,
                               ridge_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
