/* The steady state of a server: from a batch to the iterations that it makes, and from
 * their times to latencies and rates. Layer-internal. */
#ifndef RIDGE_PLAN_STEADY_STATE_H
#define RIDGE_PLAN_STEADY_STATE_H

#include "ridge/plan_service.h"

/** What the steady state depends on beside the batch. */
typedef struct steady_case {
    const ridge_service_work *work;
    const ridge_engine *engine;
    ridge_service_role role;
    double budget_tokens; /* of an iteration of an attention rank */
    double verified;      /* tokens of a decoding sequence in an iteration */
    double yield;         /* of them, tokens of the answer */
    double attention_ranks, stages;
    double request_s; /* of a request before it queues */
    bool is_open;     /* requests come at random; else one begins when one ends */
    double quantile;  /* 0: none */
} steady_case;

/** The iterations of an attention rank at a batch. */
typedef struct steady_shape {
    bool is_saturated; /* prompts do not fit beside this batch */
    double iterations; /* in which a sequence decodes; 0: its only token is the first */
    double chunks;     /* iterations of one prompt */
    double most;       /* prompts whose chunks one iteration can carry */
    double prompts;    /* that one that carries chunks does, in the mean: below one
                          where other ranks carry them */
    /* For each iteration that decodes, in the mean: */
    double decode_weight;  /* iterations that only decode */
    double prefill_weight; /* iterations that carry chunks */
    ridge_serving_load decode, prefill;
    ridge_serving_load fuller; /* prefill with one prompt, or chunk, more */
    bool is_alone;             /* one request at a time: prompts wait for no decoding */
} steady_shape;

/** Iterations at @p batch decoding sequences (of a prefill pool and of answers of one
 *  token: prompts at once), in the mean; loads have at least one. */
void steady_shape_of(const steady_case *c, double batch, steady_shape *out);

/** What follows from the times of the two kinds of iterations. */
typedef struct steady_times {
    double iteration_s;                 /* mean, of those that decode */
    double wait_s;                      /* of it, for longer batches of the pipeline */
    double requests_per_s;              /* of the server: all ranks and stages */
    double use;                         /* of what prefill could take */
    double service_s;                   /* by which one prompt keeps the next waiting */
    double tpot_s, prefill_s, decode_s; /* of one request; prefill_s without waiting */
    double queue_s, residual_s; /* before its first chunk: prompts, the iteration under
                                   way */
    double queue_quantile_s, residual_quantile_s; /* at the quantile; 0 without one */
} steady_times;

/** Seconds of the loads of a shape; those that it lacks 0. */
typedef struct steady_seconds {
    double decode_s, prefill_s;
    double fuller_s; /* of several stages alone */
} steady_seconds;

void steady_times_of(const steady_case *c, const steady_shape *shape, double batch,
                     const steady_seconds *seconds, steady_times *out);

/** Wait of a queue before @p servers that are in use for a share of the time and serve
 * one in @p service_s: at random arrivals, or one behind another. @param quantile 0:
 * the mean
 * @note  exact in the mean for one server (M/D/1). @source kingman1961 */
double steady_queue_s(bool is_open, double use, double service_s, double servers,
                      double quantile);

/** Tokens an iteration yields where position i of n is accepted with chance accept[i]
 * when those before it are. */
double steady_yield(const double *accept, int64_t n);

/** Chunks of the fullest rank where they come at random, @p mean of them in all, and
 * each goes to the rank that has fewest: the mean of n / ranks, rounded up. */
double steady_fullest(double mean, double ranks);

/** Batch that a sequence meets at a quantile: the mean of a Poisson number over its
 * own life. @return batch itself for closed loops and means */
double steady_batch_quantile(const steady_case *c, double batch);

/** Slots that sequences need: as many as are there all but seldom. */
double steady_slots(const steady_case *c, double batch);

/** Bytes of one chip that the caches of an attention rank take with @p slots sequences
 * in each of its stages' batches. @param is_reserved  each has its longest length set
 * aside */
double steady_cache_bytes(const steady_case *c, const ridge_serving_memory *memory,
                          double slots, double prefilling, bool is_reserved);

/** Standard normal quantile of 0.5 < p < 1. @source abramowitz1964, 26.2.23 */
double steady_normal_quantile(double p);

#endif
