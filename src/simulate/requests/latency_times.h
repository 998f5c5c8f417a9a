/* Latencies of requests, as they are asked for. */
#ifndef RIDGE_LATENCY_TIMES_H
#define RIDGE_LATENCY_TIMES_H

#include "ridge/simulate_requests.h"

typedef struct latency_times {
    ridge_latency_sketch ttft, tpot, e2e;
} latency_times;

#endif
