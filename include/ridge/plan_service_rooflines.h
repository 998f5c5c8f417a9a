/*
 * The plain rooflines of a deployment: what a step, a prompt and an answer can at best
 * take, where sharding stops paying, and what a steady flow needs; each with the
 * formula that it comes from. From a few numbers of model and slice, without programs.
 */
#ifndef RIDGE_PLAN_SERVICE_ROOFLINES_H
#define RIDGE_PLAN_SERVICE_ROOFLINES_H

#include "ridge/plan_service.h"
#include "ridge/plan_serving_roofline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, key, title */
/* clang-format off */
#define RIDGE_ROOFLINE_TOPIC_LIST(X)                                                       \
    X(GENERATION, "generation", "A step of generation")                                     \
    X(PROMPT, "prompt", "A prompt")                                                         \
    X(SAMPLING, "sampling", "A whole answer, with and without a KV cache")                  \
    X(FLOW, "flow", "A steady flow of requests")                                            \
    X(TP, "tp", "How far tensor parallelism goes")                                          \
    X(WEIGHTS, "weights", "Where weights stay, and where they move")
/* clang-format on */

typedef enum ridge_roofline_topic {
#define RIDGE_ROOFLINE_TOPIC_ENUM(name, key, title) RIDGE_ROOFLINE_TOPIC_##name,
    RIDGE_ROOFLINE_TOPIC_LIST(RIDGE_ROOFLINE_TOPIC_ENUM)
#undef RIDGE_ROOFLINE_TOPIC_ENUM
} ridge_roofline_topic;

#define RIDGE_ROOFLINE_TOPIC_ONE(name, key, title) +1
enum {
    RIDGE_ROOFLINE_TOPIC_COUNT = 0 RIDGE_ROOFLINE_TOPIC_LIST(RIDGE_ROOFLINE_TOPIC_ONE)
};
#undef RIDGE_ROOFLINE_TOPIC_ONE

/** "generation", and "A step of generation"; static */
const char *ridge_roofline_topic_key(ridge_roofline_topic topic);
const char *ridge_roofline_topic_title(ridge_roofline_topic topic);

/* topic, name, key of --json, formula, what it says; units are the key's */
/* clang-format off */
#define RIDGE_SERVICE_ROOFLINE_LIST(X)                                                     \
    X(GENERATION, CACHE, "cache_load_s", "B kv / (n W)", "reading all caches")              \
    X(GENERATION, LOAD, "weight_load_s", "P w / (n W)",                                     \
      "reading all weights; of routed experts those that some sequence takes")              \
    X(GENERATION, FLOPS, "flops_s", "2 B P / (n C)", "the step's products")                 \
    X(GENERATION, STEP, "step_s", "caches + max(weights, FLOPs)",                           \
      "a token of every sequence")                                                          \
    X(GENERATION, RATE, "tokens_per_s_per_chip", "B / (step n)", "of output")               \
    X(GENERATION, FULL, "full_step_s", "HBM / W", "the step of a full memory, whatever n")  \
    X(GENERATION, CRITICAL, "critical_batch", "C / W w / 2",                                \
      "sequences from which products are bound by FLOPs")                                   \
    X(GENERATION, CRITICAL_EXPERTS, "critical_batch_experts", "C / W w / 2 x E / k",        \
      "the same of routed experts")                                                         \
    X(GENERATION, CROSSOVER, "crossover_batch", "P w / kv",                                 \
      "sequences whose caches weigh what the weights do")                                   \
    X(GENERATION, MOST, "batch_most", "(n HBM - P w) / kv", "sequences that fit")           \
    X(GENERATION, CHIPS, "chips_least", "(P w + B kv) / HBM", "chips that hold them all")   \
    X(GENERATION, INTENSITY, "attention_flops_per_byte", "2 N / (K c)",                    \
      "of attention while it decodes: bound by HBM below C / W")                            \
    X(PROMPT, LINEAR, "linear_flops", "2 P (T - cached)", "products of a prompt")           \
    X(PROMPT, SCORES, "score_flops", "2 N (H + Hv) T^2 / 2 a layer",                        \
      "its attention: causal half, less the cached prefix's, windows capped")               \
    X(PROMPT, PREFILL, "prefill_s", "(linear + scores) / (n C)", "at peak rates")           \
    X(PROMPT, OVER, "tokens_over_critical", "T / critical batch",                           \
      "above 1 a prompt alone is bound by FLOPs: batching prompts gains nothing")           \
    X(PROMPT, LONG, "attention_compute_tokens", "C / W a (N + K) / 2N",                     \
      "tokens from which its attention is bound by FLOPs, over the full square; causal, 2 x")\
    X(PROMPT, SHARE, "prefix_left_share", "(T - cached) / T",                               \
      "of its products that a cached prefix leaves")                                        \
    X(PROMPT, SAVED, "prefix_saved_flops", "2 P cached",                             \
      "products that a cached prefix saves")                            \
    X(SAMPLING, LINEAR, "linear_flops", "2 P n", "products of n = T + G tokens")     \
    X(SAMPLING, SCORES, "score_flops", "sum of scores over 1..n", "their attention")        \
    X(SAMPLING, NAIVE_LINEAR, "linear_flops_uncached", "P n^2",                \
      "products where every token computes all before it anew")                             \
    X(SAMPLING, NAIVE_SCORES, "score_flops_uncached", "scores n^3 / 6", "their attention")  \
    X(SAMPLING, GAIN, "cache_factor", "without / with", "work that the cache saves")        \
    X(FLOW, REQUESTS, "requests_per_s_per_chip", "B / (step G n)", "all slots in use")      \
    X(FLOW, SERVERS, "prefill_servers", "prefill B / (step G)",                             \
      "that keep one server of generation busy, and are kept busy")                         \
    X(FLOW, ENDING, "sequences_per_step", "B / G", "that end and begin")                    \
    X(FLOW, EVICTED, "tokens_per_step", "B (T + G) / G",                                    \
      "that leave the cache, and a prefix cache's churn")                                   \
    X(TP, COMPUTE, "tp_flops", "2 m F W_net / (a C)",                                       \
      "ways at which a prompt's collectives take as long as its FLOPs")                     \
    X(TP, MEMORY, "tp_hbm", "m F w W_net / (a b W)",                                        \
      "ways at which a step's collectives take as long as its weights")                     \
    X(TP, HOPS, "tp_hops", "a b D / (W_one way T_hop)",                                     \
      "ways from which a step's collectives are bound by hops")                             \
    X(TP, HEADS, "tp_kv_heads", "K", "ways that cut the cache by heads")                    \
    X(TP, NETWORK, "matmul_network_s", "a b D / (m W_net)",                                 \
      "of one feed-forward product of a step: moving its rows")                             \
    X(TP, WEIGHTS, "matmul_hbm_s", "w D F / (Y W)", "reading its part of the weights")      \
    X(TP, MATH, "matmul_flops_s", "2 b D F / (Y C)", "multiplying")                         \
    X(WEIGHTS, FROM, "two_axes_ways", "4 m^2 F / (m' D)",                                   \
      "ways of tp from which cutting D too moves less")                                     \
    X(WEIGHTS, D_WAYS, "two_axes_d_ways", "X = sqrt(Y D / (m' F))",                         \
      "best cut of D; the others cut F")                                                    \
    X(WEIGHTS, TWO, "two_axes_s", "2 a b (D / (m' X) + F X / Y) / W_net",                   \
      "moving rows of a step's feed-forward, cut on two axes")                              \
    X(WEIGHTS, ONE, "one_axis_s", "2 a b D / (m W_net)", "the same with F cut alone")       \
    X(WEIGHTS, STATIONARY, "prompt_stationary_s", "4 a T D / (m W_net)",                    \
      "moving a prompt's rows through a layer, weights at rest")                            \
    X(WEIGHTS, GATHERED, "prompt_gathered_s", "w layer / (m W_net)",                        \
      "gathering the layer's weights instead")                                              \
    X(WEIGHTS, GATHER_FROM, "gathered_from_tokens", "w layer / (4 a D)",                    \
      "rows of a pass from which gathering moves fewer bytes")
/* clang-format on */

typedef enum ridge_service_roofline {
#define RIDGE_SERVICE_ROOFLINE_ENUM(topic, name, key, formula, what)                   \
    RIDGE_SERVICE_ROOFLINE_##topic##_##name,
    RIDGE_SERVICE_ROOFLINE_LIST(RIDGE_SERVICE_ROOFLINE_ENUM)
#undef RIDGE_SERVICE_ROOFLINE_ENUM
} ridge_service_roofline;

#define RIDGE_SERVICE_ROOFLINE_ONE(topic, name, key, formula, what) +1
enum {
    RIDGE_SERVICE_ROOFLINE_COUNT =
        0 RIDGE_SERVICE_ROOFLINE_LIST(RIDGE_SERVICE_ROOFLINE_ONE)
};
#undef RIDGE_SERVICE_ROOFLINE_ONE

/** What is known of a roofline but its value; static */
typedef struct ridge_service_roofline_row {
    ridge_roofline_topic topic;
    const char *key, *formula, *what;
} ridge_service_roofline_row;

const ridge_service_roofline_row *
ridge_service_roofline_find(ridge_service_roofline which);

/** The rooflines of one server. */
typedef struct ridge_service_rooflines {
    ridge_roofline_service service; /* of the server that decodes */
    double sequences;               /* B, of that server */
    double batch_tokens;            /* b, rows of an iteration of an attention rank */
    double context;                 /* tokens in each cache */
    int64_t tp;                     /* Y */
    double d_model, d_ff;           /* D, F: of the layers that most are */
    double axes;                    /* network axes that tp lies on */
    double axis_bytes_per_s; /* W_net of one, both ways on a ring; 0: no network */
    bool is_dense;           /* F is a dense width; else k experts' together */
    bool applies[RIDGE_SERVICE_ROOFLINE_COUNT];
    double values[RIDGE_SERVICE_ROOFLINE_COUNT]; /* SI; INFINITY: never */
} ridge_service_rooflines;

/**
 * The rooflines of a deployment's servers: of the pool that decodes, and of the pool
 * that prefills for prompts. All chips of a server share its bytes and FLOPs evenly.
 * @param choice  legal on the request's slice. Cannot fail
 * @source scaling-book-2025 chapters 7 and 8; pope2022
 */
void ridge_service_rooflines_find(const ridge_service_request *request,
                                  const ridge_service_choice *choice,
                                  ridge_service_rooflines *out);

#ifdef __cplusplus
}
#endif

#endif
