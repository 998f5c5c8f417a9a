/* What is counted while a deployment is played, and the summary of it. */
#ifndef RIDGE_SERVING_TALLY_H
#define RIDGE_SERVING_TALLY_H

#include "ridge/simulate_engine.h"

/** A latency of requests: how often, what it is made of by bucket, and the first values
 *  as they are. */
typedef struct tally_latency {
    ridge_latency_sketch sketch;
    double (*parts)[RIDGE_LATENCY_PART_COUNT]; /* [buckets]; NULL: not split */
    double *values; /* [TALLY_EXACT_MAX] at most; NULL: not kept */
    int64_t n_values, room;
} tally_latency;

enum { TALLY_EXACT_MAX = 65536 };

typedef struct serving_tally {
    ridge_ctx *cx;
    tally_latency ttft, tpot, e2e, itl;
    int64_t completed, refused, too_long, good;
    double first_s, last_s; /* arrival, token */
    double prompt_tokens, output_tokens;
    double busy_s; /* of replicas, together */
    double decoding_steps,
        decoding_sequences; /* iterations that decode, and their sum */
    double waiting_area, waiting_since_s;
    int64_t waiting, waiting_most;
    double running_area; /* sequences in iterations, by time */
    double slots_area;
    double kv_area, kv_time, kv_most;             /* shares of ranks, by time */
    double computed_tokens, padded_tokens;        /* of prompts */
    double asked_tokens, hit_tokens, host_tokens; /* of prompts, in the prefix cache */
    double recomputed_tokens, transferred_bytes;
    int64_t preemptions, failures, iterations;
} serving_tally;

/** @owner scratch of cx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__tally_open(ridge_ctx *cx, serving_tally **out);

/** A latency and its parts (NULL: none). */
void ridge__tally_add(serving_tally *tally, tally_latency *latency, double seconds,
                      const double *parts_s);
/** That so many wait from now on. */
void ridge__tally_waiting(serving_tally *tally, double now_s, int64_t waiting);

ridge_latency_summary ridge__tally_summary(ridge_ctx *cx, const tally_latency *latency);
/** The mean, and that of the slowest share of all. */
ridge_latency_split ridge__tally_mean(const tally_latency *latency, double slowest);

#endif
