/*
 * Tokens dealt to experts by chance: how full ranks and experts get when every token
 * chooses k of E experts at random, and what a capacity drops.
 */
#ifndef RIDGE_MODEL_ROUTING_H
#define RIDGE_MODEL_ROUTING_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_routing_request {
    int64_t experts, chosen; /* E, and k of them a token: 1 <= k <= E */
    int64_t tokens;          /* T that are routed together, >= 1 */
    int64_t ranks;           /* Z that hold E / Z experts each; divides E; 1: no EP */
    double capacity; /* factor C: an expert takes ceil(C T k / E) rows; 0: any */
} ridge_routing_request;

/** Alike bins of rows: experts, or ranks. */
typedef struct ridge_routing_bins {
    double bins;
    double mean, most; /* rows of one, and expected of the fullest */
    double hit;        /* expected number of them that get a row */
} ridge_routing_bins;

typedef struct ridge_routing {
    ridge_routing_bins experts, ranks;
    double rows;          /* T k */
    double sent_ranks;    /* that a token goes to, expected: choices fall together */
    double fill;          /* sent_ranks / Z: of what an all-to-all of all would move */
    double fill_apart;    /* 1 - ((Z - 1) / Z)^k: were choices independent */
    double fill_most;     /* min(k / Z, 1): no two choices on one rank */
    double capacity_rows; /* of an expert; 0: no capacity */
    double dropped_share; /* of all rows, that find their expert full */
    double slack_share;   /* of all places, that stay empty */
    double capacity_for_mille; /* the factor that drops one row in a thousand */
} ridge_routing;

/**
 * Every token chooses k different experts, each as likely. An expert's rows are
 * binomial (T, k / E); those of a rank have the mean and variance of T draws of k
 * without replacement, and are taken as binomial. The fullest of B alike bins:
 *
 *     sum over m of 1 - F(m)^B
 *
 * with its distance from the mean stretched by sqrt(B / (B - 1)), for what one bin has
 * the others lack. Dropped: E[max(X - capacity, 0)] / mean.
 *
 * Skew of real routers and limits on groups of experts are left out.
 *
 * @errors RIDGE_E_ARG: what the request's comments forbid
 * @source scaling-book-2025 chapter 12, expert parallelism; fedus2021-switch, section
 *         2.2; raab1998
 */
ridge_status ridge_routing_find(ridge_ctx *cx, const ridge_routing_request *request,
                                ridge_routing *out);

#ifdef __cplusplus
}
#endif
#endif
