/*
 * What is kept of a play for its report: the course over time in so many buckets, how
 * latencies spread, and the first spans and requests as they were. Memory is bounded.
 */
#ifndef RIDGE_SIMULATE_COURSE_H
#define RIDGE_SIMULATE_COURSE_H

#include "ridge/simulate_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_COURSE_BUCKETS = 240 };

/** What happened in a piece of time. Sums over replicas, weighted by time. */
typedef struct ridge_course_bucket {
    double busy_s;   /* of replicas */
    double decoding; /* sequences x s */
    double waiting;  /* requests x s, while iterations ran */
    double kv;       /* share of blocks in use x s */
    double prompts;  /* tokens */
    double outputs;  /* tokens of requests that ended, and their number */
    double ended, good;
    double ttft_s, ttfts; /* sum, and how many first tokens */
} ridge_course_bucket;

typedef struct ridge_course {
    double bucket_s; /* width; doubles when the play goes beyond the last */
    int n;           /* in use */
    ridge_course_bucket of[RIDGE_COURSE_BUCKETS];
    ridge_latency_sketch ttft, tpot, e2e;
    int64_t n_spans, spans_room, spans_all; /* kept, room, met */
    ridge_serving_span *spans;
    int64_t n_requests, requests_room, requests_most, requests_all;
    ridge_request_result *requests; /* grow as they come */
    ridge_ctx *cx;
} ridge_course;

/**
 * @param spans, requests  how many of each are kept as they are, at most; 0: none
 * @owner cx. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_course_open(ridge_ctx *cx, int64_t spans,
                                               int64_t requests, ridge_course **out);

/** Who is told while a deployment is played. */
ridge_serving_watch ridge_course_watch(ridge_course *course);

#ifdef __cplusplus
}
#endif

#endif
