/*
 * The plain rooflines of serving: what a step, a prompt and a layout can at best do,
 * from a few numbers of model and slice. No programs and no search; `bound` in the
 * words of the design.
 */
#ifndef RIDGE_PLAN_SERVING_ROOFLINE_H
#define RIDGE_PLAN_SERVING_ROOFLINE_H

#include "ridge/plan_serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the rooflines know of a model on a slice; all chips together share it evenly.
 */
typedef struct ridge_roofline_service {
    double chips;
    double peak_flops_per_s;           /* of a chip, in the formats of the arithmetic */
    double hbm_bytes_per_s, hbm_bytes; /* of a chip */
    double active_params;              /* that multiply, for one token */
    double weight_bytes;               /* of all parameters */
    double expert_bytes;               /* of routed experts among them */
    double expert_share;               /* of those that a token takes: k / E */
    double kv_bytes_per_token;         /* while no window is full */
    double kv_bytes;                   /* of one sequence at the context in question */
} ridge_roofline_service;

/**
 * The numbers of a model on a slice.
 * @param formats  weights: the checkpoint's own where they are as wide; experts have
 * their own, and so has their arithmetic
 * @param context_tokens  of a sequence; windows are capped
 */
ridge_roofline_service ridge_roofline_service_of(const ridge_model *model,
                                                 const ridge_slice *slice,
                                                 const ridge_serving_formats *formats,
                                                 double context_tokens);

/** One step of generation: B sequences, one token each. */
typedef struct ridge_decode_roofline {
    double kv_load_s;     /* B kv / (n W) */
    double weight_load_s; /* P w / (n W); of routed experts those that some sequence
                             takes: 1 - (1 - k / E)^B of them */
    double flops_s;       /* 2 B P / (n C) */
    double step_s; /* kv + max(flops, weights): attention never gets a FLOPs term */
    double tokens_per_s, tokens_per_s_per_chip;
    double kv_bytes, total_bytes;
    bool fits;
} ridge_decode_roofline;

/** @source scaling-book-2025 chapter 7, "theoretical estimates for LLM latency and
 *  throughput" */
ridge_decode_roofline ridge_roofline_decode(const ridge_roofline_service *service,
                                            double sequences);

/** Sequences that fit beside the weights: floor((n HBM - P w) / kv); 0: the weights
 * alone do not fit. */
double ridge_roofline_batch_most(const ridge_roofline_service *service);
/** Sequences whose KV is as large as the weights: beyond them a larger batch gains ever
 *  less. INFINITY without a cache. */
double ridge_roofline_batch_crossover(const ridge_roofline_service *service);
/** Tokens of a step from which products are compute bound: C / W w / 2, w the bytes of
 * a parameter. A mixture needs E / k times as many. */
double ridge_roofline_batch_critical(double peak_flops_per_s, double hbm_bytes_per_s,
                                     double weight_bytes);
/** Fewest chips that hold that many bytes. */
double ridge_roofline_chips_least(double bytes, double hbm_bytes);
/** The step of a service whose HBM is full: HBM / W, whatever the slice. */
double ridge_roofline_full_step(double hbm_bytes, double hbm_bytes_per_s);

/** Seconds of a prompt: (2 P T + score FLOPs) / (n C MFU). */
double ridge_roofline_prefill(const ridge_roofline_service *service, double tokens,
                              double score_flops, double mfu);
/** Share of a prompt's linear work that is left with a cached prefix: (P - c) / P. */
double ridge_roofline_prefix_share(double prompt_tokens, double cached_tokens);

/** Requests/s with all slots in use: B / (step G). */
double ridge_roofline_requests_per_s(double sequences, double step_s,
                                     double output_tokens);
/** Prefill servers to each generate server that keep both busy: t_prefill B / (step G).
 * @source scaling-book-2025 chapter 8 */
double ridge_roofline_prefill_ratio(double prefill_s, double sequences, double step_s,
                                    double output_tokens);

/** Steady churn of a full batch. */
typedef struct ridge_churn {
    double sequences_per_step; /* B / G end and begin */
    double tokens_per_step;    /* B (P + G) / G leave the cache */
} ridge_churn;

ridge_churn ridge_roofline_churn(double sequences, double prompt_tokens,
                                 double output_tokens);

/** FLOPs of sampling n tokens. */
typedef struct ridge_sampling_flops {
    double linear, attention;
} ridge_sampling_flops;

/**
 * Without a cache every token computes all before it again: the linear part grows as
 * n^2, the attention as n^3; with one as n and n^2.
 * @param linear_flops  of a token. @param score_flops  of a token for each token that
 * it meets. @source scaling-book-2025 chapter 7
 */
ridge_sampling_flops ridge_roofline_sampling(double linear_flops, double score_flops,
                                             double tokens, bool has_cache);

/* ---- sharding -------------------------------------------------------------------- */

/** Model parallelism up to which generation that is bound by HBM hides its network:
 *  Y = F / (B beta), beta = W_hbm / W_ici of one axis. */
double ridge_roofline_tp_memory(double d_ff, double batch_tokens, double beta);
/** Model parallelism beyond which the activations' collectives are bound by hops:
 *  bytes / (W_one_way T_hop). */
double ridge_roofline_tp_latency(double activation_bytes, double link_bytes_per_s,
                                 double hop_s);

/** Weights stationary on two axes: D over X, F over YZ. */
typedef struct ridge_stationary_2d {
    double x, yz;     /* the best split, not rounded */
    double time_s;    /* communication of one feed-forward */
    double time_1d_s; /* of the same over three axes, F cut alone */
} ridge_stationary_2d;

/**
 *     T_2D = b B D / (X W) + 2 b B F / (YZ W),  X = sqrt(n D / 2F)
 *     T_1D = 2 b B D / (3 W)
 *
 * @param axis_bytes_per_s  W, both directions of a ring. @param element_bytes  b
 * @source scaling-book-2025 chapter 7, question 7; pope2022
 */
ridge_stationary_2d ridge_roofline_stationary_2d(double chips, double d_model,
                                                 double d_ff, double batch_tokens,
                                                 double element_bytes,
                                                 double axis_bytes_per_s);
/** Chips above which two axes win: 18 F / D. */
double ridge_roofline_stationary_2d_from(double d_model, double d_ff);

/** Network axes over which the ranks of a feed-forward lie: three of a torus above. On
 * a switch one group has the whole rate, however it is cut: 1 and 1. */
typedef struct ridge_stationary_axes {
    double all;    /* m, that F alone is cut over */
    double across; /* m', of them those of F where D has one; >= 1 */
} ridge_stationary_axes;

/**
 * The same on any axes.
 *
 *     T_2D = 2 b B D / (m' X W) + 2 b B F / (Y W),  X = sqrt(n D / (m' F))
 *     T_1D = 2 b B D / (m W)
 *
 * @param row_s  b B / W, of one axis
 */
ridge_stationary_2d ridge_roofline_stationary_on(const ridge_stationary_axes *axes,
                                                 double chips, double d_model,
                                                 double d_ff, double row_s);
/** Chips above which two axes win: 4 m^2 F / (m' D). */
double ridge_roofline_stationary_on_from(const ridge_stationary_axes *axes,
                                         double d_model, double d_ff);

#ifdef __cplusplus
}
#endif

#endif
