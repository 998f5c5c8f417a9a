/*
 * The plain rooflines of a training layout: the work of a step and a run, what state
 * and kept arrays weigh, and a layer's arithmetic against its collectives; each with
 * the formula that it comes from. From a few numbers of model and slice, without
 * programs.
 */
#ifndef RIDGE_PLAN_TRAIN_ROOFLINES_H
#define RIDGE_PLAN_TRAIN_ROOFLINES_H

#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* name, key, title */
/* clang-format off */
#define RIDGE_TRAIN_ROOFLINE_TOPIC_LIST(X)                                                 \
    X(WORK, "work", "The work")                                                             \
    X(MEMORY, "memory", "Memory of all chips together")                                     \
    X(LAYER, "layer", "A layer of two matmuls: arithmetic and network")                     \
    X(LIMITS, "limits", "Limits of this layout")
/* clang-format on */

typedef enum ridge_train_roofline_topic {
#define RIDGE_TRAIN_ROOFLINE_TOPIC_ENUM(name, key, title)                              \
    RIDGE_TRAIN_ROOFLINE_TOPIC_##name,
    RIDGE_TRAIN_ROOFLINE_TOPIC_LIST(RIDGE_TRAIN_ROOFLINE_TOPIC_ENUM)
#undef RIDGE_TRAIN_ROOFLINE_TOPIC_ENUM
} ridge_train_roofline_topic;

#define RIDGE_TRAIN_ROOFLINE_TOPIC_ONE(name, key, title) +1
enum {
    RIDGE_TRAIN_ROOFLINE_TOPIC_COUNT =
        0 RIDGE_TRAIN_ROOFLINE_TOPIC_LIST(RIDGE_TRAIN_ROOFLINE_TOPIC_ONE)
};
#undef RIDGE_TRAIN_ROOFLINE_TOPIC_ONE

/** "work", and "The work"; static */
const char *ridge_train_roofline_topic_key(ridge_train_roofline_topic topic);
const char *ridge_train_roofline_topic_title(ridge_train_roofline_topic topic);

/* topic, name, key of --json, formula, what it says; units are the key's */
/* clang-format off */
#define RIDGE_TRAIN_ROOFLINE_LIST(X)                                                       \
    X(WORK, TOKEN, "token_flops", "6 P", "training a token; P run for it")                  \
    X(WORK, STEP, "step_flops", "6 P B", "training a batch")                                \
    X(WORK, RUN, "run_flops", "6 P T", "training all T tokens")                             \
    X(WORK, TOKEN_S, "chip_token_s", "6 P / C", "a token on one chip at its peak")               \
    X(WORK, STEP_PEAK, "step_peak_s", "6 P B / (N C)", "a step at the peak")                \
    X(WORK, STEP_MFU, "step_mfu_s", "6 P B / (N C MFU)", "a step at the MFU")               \
    X(WORK, RUN_PEAK, "run_peak_s", "6 P T / (N C)", "the run at the peak")                 \
    X(WORK, RUN_MFU, "run_mfu_s", "6 P T / (N C MFU)", "the run at the MFU")                \
    X(WORK, HOURS, "run_chip_hours", "N run", "chip-hours of it")                           \
    X(MEMORY, STATE, "state_bytes", "10 P", "weights of 2 bytes and two moments of 4")      \
    X(MEMORY, ARRAY, "kept_array_bytes", "2 B D L",                                         \
      "one array as wide as the model, kept of each layer: block remat")                    \
    X(MEMORY, WIDE, "kept_wide_bytes", "2 B L (D + n F)",                                   \
      "what feed-forwards take and make before their last matmul; n: 2 with a gate, or 1") \
    X(MEMORY, CHIPS_STATE, "chips_least_state", "10 P / HBM", "chips that hold the state")    \
    X(MEMORY, CHIPS, "chips_least", "(10 P + 2 B D L) / HBM",                               \
      "chips that hold state and one array a layer")                                        \
    X(MEMORY, CHIPS_WIDE, "chips_least_wide", "(10 P + 2 B L (D + n F)) / HBM",             \
      "chips that hold state and the wide arrays")                                          \
    X(MEMORY, CHIP, "chip_bytes", "(10 P + 2 B D L) / N",                                   \
      "of each chip, one array a layer, all cut evenly")                                    \
    X(MEMORY, CHIP_WIDE, "chip_wide_bytes", "(10 P + 2 B L (D + n F)) / N",                 \
      "of each chip, with the wide arrays")                                                 \
    X(LAYER, MATH, "layer_flops_s", "4 B D F / (X Y C)", "forward: its products")           \
    X(LAYER, GATHER, "layer_weights_s", "4 D F' / (Y W_X)",                                 \
      "forward: gathering its weights over X (FSDP)")                                       \
    X(LAYER, ROWS, "layer_rows_s", "4 B D / (X W_Y)",                                       \
      "forward: gathering and scattering its rows over Y (TP)")                             \
    X(LAYER, RATIO, "layer_flops_over_network", "products / (weights + rows)",              \
      "below 1 the network is the bound")                                                   \
    X(LAYER, BACK_MATH, "layer_backward_flops_s", "8 B D F / (X Y C)",                      \
      "backward: its products")                                                             \
    X(LAYER, BACK_FSDP, "layer_backward_weights_s", "8 D F' / (Y W_X)",                     \
      "backward: gathering weights and scattering gradients (FSDP), or reducing them (DP)") \
    X(LAYER, BACK_ROWS, "layer_backward_rows_s", "4 B D / (X W_Y)",                         \
      "backward: gathering and scattering gradients of its rows (TP)")                      \
    X(LAYER, PASSED, "layer_pipeline_s", "2 B D (v m + p - 2) / (X Y' m W_Z L)",             \
      "forward: what stages pass on, first to last, spread over all layers (PP)")           \
    X(LIMITS, SEQUENCES, "data_parallel_most", "B / sequence",                              \
      "ways that cut no sequence")                                                          \
    X(LIMITS, SPANNED, "spanned_tokens_per_chip", "C / W_node E / k / nodes",               \
      "tokens a chip from which DP between replicas of several nodes is compute bound")     \
    X(LIMITS, SPANNED_FEW, "spanned_few_tokens_per_chip",                                   \
      "C / W_node E / k (R - 1) / (R nodes)", "the same of this layout's R replicas")       \
    X(LIMITS, SPANNED_BESIDE, "spanned_beside_experts_tokens_per_chip",                     \
      "C / W_node / nodes", "the same of the weights that every token takes")               \
    X(LIMITS, PASSED, "pipeline_sends_s", "2 B D (v m + p - 2) / (X Y' m W_Z)",              \
      "forward: messages between stages, one after the other, were nothing hidden")         \
    X(LIMITS, BUBBLE, "bubble_share", "(p - 1) / (v m + p - 1)",                            \
      "of a step, idle in a pipeline of p stages, v virtual ones, m microbatches")
/* clang-format on */

typedef enum ridge_train_roofline {
#define RIDGE_TRAIN_ROOFLINE_ENUM(topic, name, key, formula, what)                     \
    RIDGE_TRAIN_ROOFLINE_##topic##_##name,
    RIDGE_TRAIN_ROOFLINE_LIST(RIDGE_TRAIN_ROOFLINE_ENUM)
#undef RIDGE_TRAIN_ROOFLINE_ENUM
} ridge_train_roofline;

#define RIDGE_TRAIN_ROOFLINE_ONE(topic, name, key, formula, what) +1
enum {
    RIDGE_TRAIN_ROOFLINE_COUNT = 0 RIDGE_TRAIN_ROOFLINE_LIST(RIDGE_TRAIN_ROOFLINE_ONE)
};
#undef RIDGE_TRAIN_ROOFLINE_ONE

/** What is known of a roofline but its value; static */
typedef struct ridge_train_roofline_row {
    ridge_train_roofline_topic topic;
    const char *key, *formula, *what;
} ridge_train_roofline_row;

const ridge_train_roofline_row *ridge_train_roofline_find(ridge_train_roofline which);

/** The rooflines of one layout. */
typedef struct ridge_train_rooflines {
    double mfu;           /* that is assumed, of 6 P */
    double chips, tokens; /* N, B */
    double x, y;          /* ways that cut the batch, and F: dp fsdp cp, and tp */
    double d_model, d_ff; /* D, and F of a token: of the layers that most are */
    double weights_d_ff; /* F': of the weights that move for a chip; F of a dense layer,
                            of a mixture all its experts, over EP those of a rank */
    double ep;           /* ways of EP, whose exchange is left out */
    double peak_flops_per_s; /* C, in the arithmetic's format */
    ridge_dtype compute;
    double x_bytes_per_s; /* W_X and W_Y: what a chip has of the network for each */
    double y_bytes_per_s; /* both ways of a ring; 0: nothing moves */
    double z_bytes_per_s; /* W_Z: what a chip has to the next stage, one way; 0: none */
    double send_ways;     /* Y': chips that share a message; Y with SP, else 1 */
    bool applies[RIDGE_TRAIN_ROOFLINE_COUNT];
    double values[RIDGE_TRAIN_ROOFLINE_COUNT]; /* SI; INFINITY: nothing moves */
} ridge_train_rooflines;

/**
 * The rooflines of a layout. On a torus that X and Y share, Y has the axis that leaves
 * the mix the best; on nodes Y fills the node first.
 * @param layout  legal on the request's slice
 * @param mfu     > 0, of the 6 P FLOPs a token. Cannot fail
 * @source scaling-book-2025 chapters 4, 5, 6 and 12
 */
void ridge_train_rooflines_find(const ridge_train_request *request,
                                const ridge_layout *layout, double mfu,
                                ridge_train_rooflines *out);

#ifdef __cplusplus
}
#endif

#endif
