/*
 * Plans: the space of training layouts on a slice, the price of one, the search for the
 * best, the thresholds at which communication binds, plan files and explanations.
 */
#ifndef RIDGE_PLAN_H
#define RIDGE_PLAN_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/cost_range.h"
#include "ridge/hardware.h"
#include "ridge/hardware_stack.h"
#include "ridge/model.h"
#include "ridge/plan_documents.h"
#include "ridge/plan_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- prices --------------------------------------------------------------------- */

/* Parts of a step; they sum to it. name, text, what */
/* clang-format off */
#define RIDGE_STEP_LIST(X)                                                                \
    X(matmul, "matmul", "matrix products of the layers and the head, forward and backward") \
    X(attention, "attention", "attention scores, forward and backward")                    \
    X(vector, "vector", "norms, activations, rotary, loss: bound by memory")               \
    X(recompute, "recompute", "forward work done again for rematerialisation")             \
    X(slowdown, "slowdown", "compute slowed by collectives that run beside it")            \
    X(host, "host", "the chip waits for a host that launches its kernels")                 \
    X(tp, "tp", "tensor-parallel collectives that are not hidden")                         \
    X(cp, "cp", "context-parallel exchange of keys and values that is not hidden")         \
    X(ep, "ep", "expert all-to-alls")                                                      \
    X(fsdp, "fsdp", "weight gathers and gradient scatters that are not hidden")            \
    X(dp, "dp", "gradient reduction that is not hidden")                                   \
    X(imbalance, "imbalance", "experts with more rows, and longer documents, waited for")           \
    X(pp, "pp", "sends between stages that are not hidden")                                                    \
    X(bubble, "bubble", "stages that wait while the pipeline fills and drains")            \
    X(optimizer, "optimizer", "the update of weights and moments")                         \
    X(offload, "offload", "transfers to and from the host that are not hidden")
/* clang-format on */

typedef struct ridge_step_parts {
#define RIDGE_STEP_FIELD(name, text, what) double name##_s;
    RIDGE_STEP_LIST(RIDGE_STEP_FIELD)
#undef RIDGE_STEP_FIELD
} ridge_step_parts;

#define RIDGE_STEP_ONE(name, text, what) +1
enum { RIDGE_STEP_COUNT = 0 RIDGE_STEP_LIST(RIDGE_STEP_ONE) };
#undef RIDGE_STEP_ONE

const char *ridge_step_text(int part);
const char *ridge_step_what(int part);
/** Value of part 0 .. RIDGE_STEP_COUNT - 1. */
double ridge_step_get(const ridge_step_parts *parts, int part);
double ridge_step_total_s(const ridge_step_parts *parts);

/* Parts of the memory of the fullest stage; they sum to the peak. name, text, what */
/* clang-format off */
#define RIDGE_MEMORY_LIST(X)                                                              \
    X(weights, "weights", "the copy that computes, sharded by tp, pp, ep and ZeRO-3")       \
    X(gradients, "gradients", "sharded from ZeRO-2 on")                                     \
    X(optimizer, "optimizer", "master weights and moments, sharded from ZeRO-1 on")         \
    X(activations, "activations", "kept for the backward pass by all microbatches in flight") \
    X(working, "working", "one layer being computed or recomputed")                         \
    X(logits, "logits", "logits and their gradient in the last stage")                      \
    X(gathered, "gathered", "two layers of gathered weights under ZeRO-3, and their gradient") \
    X(reserve, "reserve", "context, collective buffers and the allocator's gap")
/* clang-format on */

typedef struct ridge_memory_parts {
#define RIDGE_MEMORY_FIELD(name, text, what) double name##_bytes;
    RIDGE_MEMORY_LIST(RIDGE_MEMORY_FIELD)
#undef RIDGE_MEMORY_FIELD
} ridge_memory_parts;

#define RIDGE_MEMORY_ONE(name, text, what) +1
enum { RIDGE_MEMORY_COUNT = 0 RIDGE_MEMORY_LIST(RIDGE_MEMORY_ONE) };
#undef RIDGE_MEMORY_ONE

const char *ridge_memory_part_text(int part);
const char *ridge_memory_part_what(int part);
double ridge_memory_part_get(const ridge_memory_parts *parts, int part);
double ridge_memory_total_bytes(const ridge_memory_parts *parts);

typedef enum ridge_fit {
    RIDGE_FIT_OK,
    RIDGE_FIT_OVER_HBM,   /* the fullest stage does not fit */
    RIDGE_FIT_MESH,       /* degrees do not multiply to the chips */
    RIDGE_FIT_PLACEMENT,  /* degrees do not factor over the network's axes */
    RIDGE_FIT_TP,         /* heads or widths do not divide by tp */
    RIDGE_FIT_EP,         /* experts do not divide by ep, or ep does not fit the mesh */
    RIDGE_FIT_LAYERS,     /* more stages than layers */
    RIDGE_FIT_IDLE,       /* more than half of the replicas without a sequence */
    RIDGE_FIT_SEQUENCE,   /* the sequence does not divide by cp (and tp with SP) */
    RIDGE_FIT_MICROBATCH, /* the microbatch exceeds a replica's share */
    RIDGE_FIT_SCHEDULE,   /* the schedule needs more microbatches, or more layers */
    RIDGE_FIT_HOST,       /* no link to a host's memory is known */
    RIDGE_FIT_OVER_HOST,  /* what is offloaded exceeds the host's memory */
    RIDGE_FIT_SHARDS,     /* the ZeRO stage asked for has nothing to shard over */
    RIDGE_FIT_COUNT
} ridge_fit;

const char *ridge_fit_text(ridge_fit fit);

/** What a layout costs. All times of one optimizer step, on the slowest stage. */
typedef struct ridge_train_price {
    ridge_layout layout;
    ridge_fit fit; /* with OVER_HBM times are filled in too; otherwise they are 0 */
    double step_time_s;       /* expected; sum of parts */
    double bound_step_time_s; /* perfect overlap, peak rates */
    ridge_step_parts parts;
    double hidden_communication_s; /* behind compute */
    ridge_memory_parts memory;
    double peak_memory_bytes;
    double host_bytes; /* what is offloaded, a chip */
    int fullest_stage;
    int64_t microbatches; /* per step and replica */
    int64_t padded_seqs;  /* sequences of padding, where the batch does not divide */
    double tokens_per_s_per_chip;
    double model_flops_per_s_per_chip; /* by the request's convention */
    double mfu;                        /* of the 16-bit peak */
    double hfu;                        /* with recomputation */
    int bottleneck;                    /* the largest part of the step */
    bool has_total;                    /* tokens were given */
    double days, chip_hours;
    bool has_usd;
    double usd;
} ridge_train_price;

/** Times of layers that requests share: of one model on one chip they do not depend on
 *  the batch, nor on how many chips there are. */
typedef struct ridge_layer_shelf ridge_layer_shelf;

/** What is to run a layout; in plan_launch.h. */
typedef struct ridge_launch_target ridge_launch_target;

/**
 * An empty one. Models, chips and software of the requests that name it must stay as
 * they are until the ctx closes.
 * @owner the ctx. @threads any number may search with it. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_layer_shelf_open(ridge_ctx *cx,
                                                    ridge_layer_shelf **out);

/** What is asked. Borrowed pointers must outlive the result. */
typedef struct ridge_train_request {
    const ridge_model *model;
    const ridge_slice *slice;
    double batch_tokens; /* wanted; rounded to whole sequences */
    double seq_tokens;
    double total_tokens;         /* 0: no total asked */
    ridge_convention convention; /* of MFU */
    ridge_knobs knobs;
    const ridge_stack *stack; /* the training software; NULL: well tuned */
    bool is_stack_usual;      /* nobody named it: it is what the chips usually run */
    double usd_per_chip_hour; /* 0: the chip's first price in data/prices */
    double expert_imbalance; /* busiest rank of experts over the mean; below 1: even but
                                for chance */
    ridge_documents documents; /* packed into the sequences; zeros: whole sequences */
    /* Whole replicas are in other pools too, whose gradients are reduced together: a
     * chip of each pool on the network between them. NULL: there are none. */
    const ridge_slice *between;
    double headroom;     /* share of the memory that is to stay free, below 1 */
    int top;             /* layouts wanted, 1 to RIDGE_TRAIN_TOP_MAX */
    int front;           /* layouts of the front of time and memory wanted; 0: none */
    int workers;         /* threads of the search; 0: one a processor */
    double known_step_s; /* a layout of the space is known to take this long: a search
                            for one layout looks for faster ones; 0: none is known */
    const ridge_launch_target *target; /* search what it can be told alone; NULL: all */
    ridge_layer_shelf *shelf;          /* shared with other requests, or NULL */
    ridge_progress *progress;          /* or NULL */
} ridge_train_request;

enum { RIDGE_TRAIN_TOP_MAX = 32, RIDGE_TRAIN_FRONT_MAX = 256 };

typedef struct ridge_train_result {
    int64_t batch_seqs;
    double batch_tokens; /* batch_seqs x seq_tokens */
    int n_layouts;       /* best first; 0: nothing fits */
    ridge_train_price *layouts;
    ridge_train_price nearest; /* n_layouts 0: the least over HBM, if any was priced */
    bool has_nearest;
    int n_front; /* where wanted: none is both faster and smaller; fastest first */
    ridge_train_price *front;
    int64_t covered; /* layouts of the space, decided by pricing or by dominance */
    int64_t priced;
    int64_t refused[RIDGE_FIT_COUNT]; /* by reason */
    double seconds;
} ridge_train_result;

/** Check a request: positive batch and sequence, a homogeneous slice, knobs that do not
 *  contradict each other. @errors E_ARG with the contradiction */
RIDGE_NODISCARD ridge_status ridge_train_check(ridge_ctx *cx,
                                               const ridge_train_request *request);

/**
 * The best layouts by expected step time, over all factorisations.
 * @owner the ctx
 * @errors E_ARG as ridge_train_check; E_NOMEM; E_CANCELLED
 */
RIDGE_NODISCARD ridge_status ridge_train_search(ridge_ctx *cx,
                                                const ridge_train_request *request,
                                                ridge_train_result *out);

/** Price one layout; an infeasible one is an answer (price.fit). @errors E_ARG, E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_train_price_one(ridge_ctx *cx,
                                                   const ridge_train_request *request,
                                                   const ridge_layout *layout,
                                                   ridge_train_price *out);

/** The range of a step time, from measured steps on the request's software: on any
 * where it names none. Never below the bound. */
ridge_range ridge_train_range(const ridge_train_request *request,
                              const ridge_train_price *price);
/** The same in words. @owner the ctx; NULL when memory ran out */
const char *ridge_train_range_text(ridge_ctx *cx, const ridge_train_request *request,
                                   const ridge_train_price *price);

/** "tp on nvlink 8; fsdp on leaf 32 x spine 2", in the ctx's arena. */
const char *ridge_placement_text(ridge_ctx *cx, const ridge_train_request *request,
                                 const ridge_layout *layout);

/* ---- thresholds ----------------------------------------------------------------- */

/**
 * Where communication begins to bind, by the plain rooflines: tokens per chip and
 * degrees. 0: does not apply on this network.
 * @source scaling-book-2025 chapters 5 and 12
 */
typedef struct ridge_thresholds {
    double alpha;           /* C / W of the fastest network axis, both ways of a ring */
    int n_axes;             /* torus axes, or 1 */
    double tokens_per_chip; /* of the request's batch */
    double dp_tokens_per_chip;         /* DP and FSDP are compute bound above this */
    double dp_outer_tokens_per_chip;   /* the same across nodes, or across pods */
    double dp_nodes_tokens_per_chip;   /* across the slice's own M nodes: (M - 1) / M */
    double dp_reduced_tokens_per_chip; /* of DP without FSDP, inside a node whose
                                          switches add: half; 0: they do not */
    double dp_outer_reduced_tokens_per_chip; /* the same across nodes */
    double tp_ways;              /* TP is compute bound below this, one axis */
    double tp_ways_all_axes;     /* on the two fastest axes of a torus */
    double tp_ways_across_nodes; /* all of it over the NICs; 0: one node */
    double tp_ways_two_nodes;    /* within a node and one other; 0: one node, or its own
                                    links bind before all its chips share a layer */
    double ep_ways; /* experts over that many chips are compute bound; INFINITY: any; 0:
                       no experts, or one node */
    double mixed_tokens_per_chip; /* FSDP with TP: above this */
    double fsdp_optimal;          /* the best FSDP degree of a mix */
    double tp_optimal;            /* chips / fsdp_optimal */
    double pod_tokens;            /* batch a pod, for DP over DCN */
    double pod_experts_tokens;    /* the same of experts' weights; 0: none */
    double max_chips_fsdp;        /* at this batch, in all slices together */
    double max_chips_mixed;
    double expert_factor; /* E / k: by which the thresholds of experts are larger */
    double dp_experts_tokens_per_chip; /* of experts' weights, on the level that binds;
                                          0: none */
    double mixed_experts_tokens_per_chip;
    double max_chips_fsdp_experts, max_chips_mixed_experts;
    double dp_parameters_most; /* of a model of which each chip keeps all, and Adam's
                                  moments */
} ridge_thresholds;

/** Rates of a slice's torus axes, both ways of a ring, one of a line. */
typedef struct ridge_torus_rates {
    double sum, best, second; /* bytes/s of all axes, the fastest, the next */
    double mixed; /* of the axis for TP that leaves FSDP with TP the lowest threshold */
    int n;        /* axes of more than one chip */
} ridge_torus_rates;

/** All 0 where there is no torus. */
ridge_torus_rates ridge_slice_torus_rates(const ridge_slice *slice);

/** Feed-forward of the layers that most are; NULL: none. */
const ridge_ffn *ridge_model_main_ffn(const ridge_model *model);

/** Width of a feed-forward that a token passes; of a mixture that of its experts and of
 *  the shared ones together. */
double ridge_ffn_active_d_ff(const ridge_ffn *ffn);

/** Pure formulas, for the request's model, slice and batch. */
ridge_thresholds ridge_train_thresholds(const ridge_train_request *request);

/** alpha / axes. */
double ridge_threshold_dp(double alpha, double axes);
/** 4 alpha^2 / (M_X M_Y F): tokens per chip at which mixed FSDP + TP is compute bound.
 */
double ridge_threshold_mixed(double alpha, double m_x, double m_y, double d_ff);
/** axes F / alpha. */
double ridge_threshold_tp(double alpha, double axes, double d_ff);
/** sqrt(B / F x M_X / M_Y x N). */
double ridge_fsdp_optimal(double batch_tokens, double d_ff, double m_x, double m_y,
                          double chips);
/** node_chips + F / alpha_node: TP ways that leave a node of that many chips, of which
 * (nodes - 1) / nodes of each array crosses between nodes; alpha_node is C over the
 * bandwidth that a whole node has to others. @source scaling-book-2025 chapter 12 */
double ridge_threshold_tp_nodes(double alpha_node, double node_chips, double d_ff);
/** alpha_node / nodes: tokens per chip of DP between replicas that span several nodes,
 * each reducing its part; below one node as for one. @source scaling-book-2025
 * chapter 12 */
double ridge_threshold_dp_spanned(double alpha_node, double nodes);
/** alpha E / k: tokens per chip of DP for a mixture of E experts, k of them a token.
 * @source scaling-book-2025 chapter 12 */
double ridge_threshold_dp_experts(double alpha, double experts,
                                  double experts_per_token);
/**
 * Chips over which experts can lie before their two all-to-alls take longer than their
 * products:
 *
 *     4 B k D F / (Z C) >= 4 B D (Z - n) / (W Z) min(n k / Z, 1)
 *
 * n chips in a node of W bytes/s to others, alpha_node = C / W.
 * @param d_ff  of one expert
 * @return Z; INFINITY when F > n alpha
 * @source scaling-book-2025 chapter 12, expert parallelism
 */
double ridge_threshold_ep(double alpha_node, double node_chips, double d_ff,
                          double experts_per_token);
/** Seconds of FLOPs on chips at a fraction of the peak. */
double ridge_train_seconds(double flops, double chips, double peak_flops_per_s,
                           double mfu);

/* ---- schemes -------------------------------------------------------------------- */

/** Plain schemes on a layer In[B, D] x W_in[D, F] x W_out[F, D]: the batch is cut over
 *  mesh axis X (DP, FSDP), F over mesh axis Y (TP). */
typedef enum ridge_scheme {
    RIDGE_SCHEME_DP,
    RIDGE_SCHEME_FSDP,
    RIDGE_SCHEME_TP,
    RIDGE_SCHEME_MIXED /* FSDP over X with TP over Y */
} ridge_scheme;

enum { RIDGE_SCHEME_COUNT = RIDGE_SCHEME_MIXED + 1 };

const char *ridge_scheme_text(ridge_scheme scheme);

/** One collective that a scheme needs. */
typedef struct ridge_scheme_collective {
    ridge_collective kind;
    char axis;         /* 'X' or 'Y' */
    const char *array; /* "W_in", "dOut" */
    bool is_weight;    /* [D, F], a weight or its gradient; else [B, D] */
    bool is_critical;  /* what comes next waits for it */
} ridge_scheme_collective;

/** Those of one pass over the layer, in order. @return how many */
size_t ridge_scheme_collectives(ridge_scheme scheme, bool is_backward,
                                const ridge_scheme_collective **out);

/** What the times of a scheme depend on; all > 0. */
typedef struct ridge_scheme_layer {
    double batch_tokens, d_model, d_ff;
    double element_bytes;
    double x, y;             /* ways; 1 for an axis that the scheme lacks */
    double axes_x, axes_y;   /* network axes that X and Y lie on */
    double flops_per_s;      /* of a chip */
    double axis_bytes_per_s; /* of one network axis, both directions of a ring */
} ridge_scheme_layer;

typedef struct ridge_scheme_times {
    double compute_s;
    double weights_s;       /* collectives of weights and their gradients */
    double activations_s;   /* collectives of activations and theirs */
    double communication_s; /* their sum */
    double bound_s;         /* the larger of compute and communication */
    bool is_compute_bound;
} ridge_scheme_times;

/** One pass over the layer for n - 1 about n, without latency.
 * @source scaling-book-2025 chapter 5 */
ridge_scheme_times ridge_scheme_times_of(ridge_scheme scheme, bool is_backward,
                                         const ridge_scheme_layer *layer);

/* ---- plan files ----------------------------------------------------------------- */

/** A plan as written by train and read by explain: version 1 of "ridge-plan". */
typedef struct ridge_plan {
    const char *model_name; /* as given on the command line: name or path */
    const char *slice_text;
    double batch_tokens, seq_tokens, total_tokens;
    ridge_convention convention;
    double usd_per_chip_hour; /* 0: from data */
    ridge_layout layout;
    const char *stack_name;  /* or NULL: well tuned */
    double expert_imbalance; /* 0: even but for chance */
    ridge_documents documents;
} ridge_plan;

/** The JSON object of a plan with its prediction. */
ridge_json *ridge_plan_to_json(ridge_ctx *cx, const ridge_train_request *request,
                               const char *model_name, const ridge_train_price *price);
/** The keys of one priced layout, as in the JSON of train. */
ridge_json *ridge_train_price_to_json(ridge_ctx *cx, const ridge_train_request *request,
                                      const ridge_train_price *price);
/** A plan that is already parsed. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status ridge_plan_from_json(ridge_ctx *cx, ridge_node root,
                                                  ridge_plan *out);
/** @errors E_IO, E_PARSE with file:line */
RIDGE_NODISCARD ridge_status ridge_plan_read(ridge_ctx *cx, const char *path,
                                             ridge_plan *out);

/* ---- explanation ---------------------------------------------------------------- */

/** One line of a derivation: name = formula = value. */
typedef struct ridge_reason {
    int depth; /* 0: the quantity itself; deeper: what it is made of */
    const char *name;
    const char *formula; /* in symbols */
    const char *values;  /* the same with numbers */
    const char *result;  /* with unit */
} ridge_reason;

enum { RIDGE_REASON_MAX = 96 };

typedef struct ridge_explanation {
    int n_reasons;
    ridge_reason reasons[RIDGE_REASON_MAX];
} ridge_explanation;

/** Quantities that can be explained; NULL-terminated. */
const char *const *ridge_explain_quantities(void);

/** The derivation of a quantity of a priced layout down to chip facts.
 * @errors E_NOTFOUND with the nearest quantity */
RIDGE_NODISCARD ridge_status ridge_train_explain(ridge_ctx *cx,
                                                 const ridge_train_request *request,
                                                 const ridge_train_price *price,
                                                 const char *quantity,
                                                 ridge_explanation *out);

/** Change of the step time when one number is a tenth larger. */
typedef struct ridge_sensitivity {
    const char *name;
    bool is_hardware;   /* else of the model or the workload */
    double step_change; /* relative; negative: faster */
} ridge_sensitivity;

enum { RIDGE_SENSITIVITY_MAX = 16 };

/** @param out  room for RIDGE_SENSITIVITY_MAX. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_train_sensitivity(ridge_ctx *cx,
                                                     const ridge_train_request *request,
                                                     const ridge_train_price *price,
                                                     ridge_sensitivity *out, int *n);

#ifdef __cplusplus
}
#endif

#endif
