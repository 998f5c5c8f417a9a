/*
 * A serving deployment played out: requests queue, enter iterations by the rules of an
 * engine, fill a paged cache, and leave. Discrete events; between arrivals, completions
 * and shortages of the cache a batch of decoding sequences advances in closed form.
 */
#ifndef RIDGE_SIMULATE_ENGINE_H
#define RIDGE_SIMULATE_ENGINE_H

#include "ridge/base.h"
#include "ridge/hardware_engine.h"
#include "ridge/simulate_requests.h"
#include "ridge/simulate_serving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the deployment -------------------------------------------------------------- */

/* name, text, what */
/* clang-format off */
#define RIDGE_QUEUE_LIST(X)                                                                \
    X(FCFS, "fcfs", "in order of arrival")                                                  \
    X(SHORTEST, "shortest", "the shortest prompt first")                                    \
    X(PRIORITY, "priority", "by priority, then arrival; who gives way is chosen by it too") \
    X(DECODE_FIRST, "decode-first", "no prompt enters while a sequence decodes")

#define RIDGE_ROUTER_LIST(X)                                                               \
    X(ROUND_ROBIN, "round-robin", "one after the other")                                    \
    X(LEAST_LOADED, "least-loaded", "with the fewest requests")                             \
    X(PREFIX, "prefix", "that has most of the prompt cached, unless loads are uneven")
/* clang-format on */

typedef enum ridge_queue_policy {
#define RIDGE_QUEUE_ENUM(name, text, what) RIDGE_QUEUE_##name,
    RIDGE_QUEUE_LIST(RIDGE_QUEUE_ENUM)
#undef RIDGE_QUEUE_ENUM
} ridge_queue_policy;

typedef enum ridge_router {
#define RIDGE_ROUTER_ENUM(name, text, what) RIDGE_ROUTER_##name,
    RIDGE_ROUTER_LIST(RIDGE_ROUTER_ENUM)
#undef RIDGE_ROUTER_ENUM
} ridge_router;

/** "fcfs", …; "round-robin", … */
const char *ridge_queue_policy_text(ridge_queue_policy policy);
const char *ridge_router_text(ridge_router router);

/** Replicas alike. */
typedef struct ridge_serving_pool {
    const ridge_serving_speed *speed;
    ridge_engine rules; /* of the catalogue, with what was set otherwise: sequences,
                           budget_tokens, block_tokens, … count as they stand here */
    int64_t replicas;   /* >= 1 */
} ridge_serving_pool;

/** A replica that fails at a time that is said. */
typedef struct ridge_serving_outage {
    int64_t replica; /* from 0, through all pools */
    double at_s;
    double lasts_s;
} ridge_serving_outage;

enum { RIDGE_SERVING_POOLS_MAX = 2, RIDGE_SERVING_OUTAGES_MAX = 64 };

/** What serves. */
typedef struct ridge_serving_deployment {
    int n_pools; /* 1: prompts and decoding on the same replicas; 2: prompts on the
                    first, decoding on the second, with a transfer of the cache */
    ridge_serving_pool pools[RIDGE_SERVING_POOLS_MAX];
    ridge_router router;
    ridge_queue_policy queue;
    int64_t longest_tokens; /* of a sequence; longer requests are refused; 0: as the
                               cache holds */
    int64_t queue_most;     /* requests that wait at once, of all replicas; further ones
                               are refused; 0: 1,048,576 */
    int64_t host_blocks;    /* of a second tier of the prefix cache, of a rank */
    double failure_s;       /* mean time between failures of a replica; 0: none */
    double repair_s;        /* and until it is back */
    int n_outages;
    ridge_serving_outage outages[RIDGE_SERVING_OUTAGES_MAX];
    uint64_t seed;   /* of failures and of what speculation accepts */
    bool is_stepped; /* every iteration by itself; the same result, slower */
} ridge_serving_deployment;

/** What a request is to keep; 0: nothing is asked. */
typedef struct ridge_serving_goals {
    double ttft_s, tpot_s, e2e_s;
} ridge_serving_goals;

/* ---- where the time goes --------------------------------------------------------- */

/* name, key: they sum to the latency */
/* clang-format off */
#define RIDGE_LATENCY_PART_LIST(X)                                                         \
    X(QUEUE, "queue")           /* until it enters an iteration, or a cache elsewhere */    \
    X(PREFILL, "prefill")       /* its own prompt's passes, as if alone */                  \
    X(OTHERS, "others")         /* what others in the same iterations add, and iterations   \
                                   without it that it waits for */                          \
    X(DECODE, "decode")         /* iterations of decoding, without chunks of prompts */     \
    X(PREEMPTION, "preemption") /* from giving way until it is where it was */              \
    X(TRANSFER, "transfer")     /* of the cache, to another pool or from the host */        \
    X(HOST, "host")             /* that the chip waits for, and of the request itself */
/* clang-format on */

typedef enum ridge_latency_part {
#define RIDGE_LATENCY_PART_ENUM(name, key) RIDGE_LATENCY_PART_##name,
    RIDGE_LATENCY_PART_LIST(RIDGE_LATENCY_PART_ENUM)
#undef RIDGE_LATENCY_PART_ENUM
} ridge_latency_part;

#define RIDGE_LATENCY_PART_ONE(name, key) +1
enum { RIDGE_LATENCY_PART_COUNT = 0 RIDGE_LATENCY_PART_LIST(RIDGE_LATENCY_PART_ONE) };
#undef RIDGE_LATENCY_PART_ONE

/** "queue", …; static */
const char *ridge_latency_part_text(ridge_latency_part part);

/* ---- results --------------------------------------------------------------------- */

/** Quantiles of a latency, in seconds. Exact up to 65,536 requests, then as
 *  ridge_latency_sketch; those of itl always as the sketch. */
typedef struct ridge_latency_summary {
    double n;
    double mean, p50, p90, p95, p99, most;
    double deviation; /* standard; of itl: the jitter of tokens */
} ridge_latency_summary;

/** A latency and what it is made of. */
typedef struct ridge_latency_split {
    double total_s;
    double parts_s[RIDGE_LATENCY_PART_COUNT]; /* sum to total_s */
} ridge_latency_split;

typedef struct ridge_serving_summary {
    int64_t requests;  /* that arrived */
    int64_t completed; /* to the last token */
    int64_t refused;   /* longer than a sequence may be, or the queue was full */
    int64_t too_long;  /* of these, the former */
    int64_t good;      /* that kept all goals */
    double span_s;     /* from the first arrival to the last token */

    ridge_latency_summary ttft, tpot, itl, e2e;
    ridge_latency_split ttft_mean, ttft_p99, e2e_mean,
        e2e_p99;                   /* p99: of the slowest
                                      hundredth, in the mean */
    double requests_per_s;         /* completed */
    double goodput_requests_per_s; /* that kept all goals */
    double prompt_tokens_per_s, output_tokens_per_s;

    double busy_share;    /* of the time of replicas, in iterations */
    double decoding_mean; /* sequences in an iteration that decodes, of a replica */
    double waiting_mean;  /* requests, of all replicas */
    int64_t waiting_most;
    double slots_idle;    /* of the sequences that may run, in the mean */
    double padding_share; /* of tokens of prompts that were computed */
    int64_t iterations;

    double kv_mean, kv_most; /* blocks in use over blocks, of a rank */
    double hit_rate;         /* of tokens of prompts, in the cache */
    double host_hit_rate;    /* of these, from the host's tier */
    int64_t preemptions;
    int64_t failures;
    double recomputed_tokens; /* for preemption and failures */
    double transferred_bytes; /* between pools */

    double chips;
    double usd;                    /* of all replicas over the span; 0: unknown */
    double usd_per_million_tokens; /* of output */
} ridge_serving_summary;

/** One request's course. Times from the beginning of the stream. */
typedef struct ridge_request_result {
    int64_t number; /* of arrival, from 0 */
    int64_t prompt_tokens, output_tokens;
    int64_t cached_tokens; /* of the prompt, found in the cache at first */
    int64_t replica;       /* that ended it */
    int preemptions;
    double arrival_s, start_s, first_token_s, end_s;
    bool is_good;
    ridge_latency_split ttft, e2e;
} ridge_request_result;

/** What a replica did without a change of who is in it. */
typedef struct ridge_serving_span {
    int64_t replica;
    int lane; /* of the pipeline */
    double start_s, end_s;
    int64_t iterations;
    int64_t decoding;     /* sequences, of all ranks */
    int64_t prompts;      /* chunks */
    int64_t chunk_tokens; /* of prompts */
    int64_t waiting;      /* of the replica */
    double kv_share;      /* of the fullest rank, at the end */
    double device_s;      /* of the time: chip; the rest is the host's */
} ridge_serving_span;

/** Who is told of each span and request; either may be NULL. */
typedef struct ridge_serving_watch {
    void *self;
    void (*span)(void *self, const ridge_serving_span *span);
    void (*request)(void *self, const ridge_request_result *result);
} ridge_serving_watch;

/* ---- playing --------------------------------------------------------------------- */

/**
 * Play a stream to its end. Memory grows with the requests that are in the deployment
 * at once, not with those of the stream; all of it is given back.
 * @param watch  may be NULL
 * @errors E_ARG a deployment that cannot serve: no blocks, no replica, pools whose
 *         caches do not fit each other; those of the source; E_CANCELLED; E_NOMEM
 * @threads any, each with a ctx and a source of its own
 */
RIDGE_NODISCARD ridge_status
ridge_serving_play(ridge_ctx *cx, const ridge_serving_deployment *deployment,
                   const ridge_request_source *source, const ridge_serving_goals *goals,
                   const ridge_serving_watch *watch, ridge_serving_summary *out);

#ifdef __cplusplus
}
#endif

#endif
