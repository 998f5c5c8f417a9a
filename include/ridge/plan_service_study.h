/*
 * What a service's layout does at other batches and contexts, where its bounds meet,
 * how much of it fits, and the smallest slices by number format.
 */
#ifndef RIDGE_PLAN_SERVICE_STUDY_H
#define RIDGE_PLAN_SERVICE_STUDY_H

#include "ridge/plan_service.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A deployment at a batch, or a context, of its decoding servers. */
typedef struct ridge_service_point {
    double batch;         /* sequences of an iteration and attention rank */
    double sequences;     /* decoding in the whole service */
    double context;       /* tokens that one of them has in the cache, in the mean */
    double cache_bytes;   /* of a chip, of those sequences and contexts */
    double memory_bytes;  /* of a chip, with weights, activations and reserve */
    bool fits;            /* in what the engine may take, all but seldom */
    double step_s;        /* an iteration that only decodes */
    double bound_step_s;  /* its bound */
    ridge_bound bound_by; /* of the bound */
    double step_tokens_per_s_per_chip; /* of it alone, without prompts */
    ridge_service_price price; /* the steady state; tokens_per_s 0: none, or no room */
} ridge_service_point;

enum { RIDGE_SERVICE_SWEEP_MAX = 24 };

/**
 * The deployment with other batches.
 * @param batches  n of them, at most RIDGE_SERVICE_SWEEP_MAX. @param out  n
 * @errors E_ARG an illegal layout; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_service_sweep(ridge_ctx *cx,
                                                 const ridge_service_request *request,
                                                 const ridge_service_choice *choice,
                                                 const double *batches, int n,
                                                 ridge_service_point *out);

/** The same with contexts of all sequences, at the deployment's batch. */
RIDGE_NODISCARD ridge_status
ridge_service_sweep_context(ridge_ctx *cx, const ridge_service_request *request,
                            const ridge_service_choice *choice, const double *contexts,
                            int n, ridge_service_point *out);

/** Powers of two from one to the first that does not fit, and the deployment's own.
 * @param out  room for RIDGE_SERVICE_SWEEP_MAX. @errors as ridge_service_sweep */
RIDGE_NODISCARD ridge_status ridge_service_sweep_own(
    ridge_ctx *cx, const ridge_service_request *request,
    const ridge_service_choice *choice, ridge_service_point *out, int *n);

/** Where bounds of a deployment's decoding meet, and what fits. INFINITY: never; 0:
 * does not apply. Batches are of an attention rank's iteration. */
typedef struct ridge_service_limits {
    double critical_tokens;  /* C / W w / 2: products of dense weights are compute bound
                                from as many rows on */
    double critical_experts; /* the same of experts: E / k times as many; 0: none */
    double critical_batch;   /* of this layout: FLOPs take as long as weights */
    double crossover_batch;  /* reads of the cache take as long as those of weights */
    double batch_most;       /* that fits */
    double sequences_most;   /* of the whole service */
    double context_most;     /* tokens of one sequence alone */
    double batch_context_most; /* tokens of each at the deployment's batch */
    double prefill_ratio;      /* prefill servers of this layout that keep one decode
                                  server of it busy */
    double requests_per_s_per_chip;
    double full_step_s; /* HBM / W: a step of a service whose memory is full */
} ridge_service_limits;

/** @errors E_ARG an illegal layout; E_NOMEM
 * @source scaling-book-2025 chapters 7 and 8 */
RIDGE_NODISCARD ridge_status ridge_service_limits_find(
    ridge_ctx *cx, const ridge_service_request *request,
    const ridge_service_choice *choice, ridge_service_limits *out);

/** The smallest slice of a kind on which one server of a format fits. */
typedef struct ridge_service_size {
    ridge_serving_formats formats;
    double weight_bytes;          /* of the whole model */
    double cache_bytes_per_token; /* of the whole model */
    double chips_least;           /* weights / HBM */
    const ridge_slice *slice;     /* NULL: none of up to 64 times as many chips */
    ridge_serving_layout layout;  /* that leaves the most for the cache */
    double cache_bytes;           /* that is left, of the slice */
    double sequences;             /* of prompt and output that it holds */
} ridge_service_size;

/** One row for each of the knobs' formats.
 * @param out  room for RIDGE_SERVICE_FORMATS_MAX. Slices live as long as the ctx
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge_service_sizes(ridge_ctx *cx,
                                                 const ridge_catalog *catalog,
                                                 const ridge_service_request *request,
                                                 ridge_service_size *out, int *n);

#ifdef __cplusplus
}
#endif

#endif
