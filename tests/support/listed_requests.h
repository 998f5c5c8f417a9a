/* A source of requests that are listed. */
#ifndef LISTED_REQUESTS_H
#define LISTED_REQUESTS_H

#include "ridge/simulate_engine.h"

enum { LISTED_MOST = 64 };

typedef struct listed_requests {
    int n, given;
    ridge_request of[LISTED_MOST];
    int n_answered;
    ridge_request_result results[LISTED_MOST]; /* by number of arrival */
    bool has_result[LISTED_MOST];
} listed_requests;

void listed_add(listed_requests *list, double arrival_s, int64_t prompt,
                int64_t output);
/** Play them; fails the test when it cannot. */
ridge_serving_summary listed_play(listed_requests *list,
                                  const ridge_serving_deployment *deployment,
                                  const ridge_serving_goals *goals);

/** Fails unless a request was answered at these times. */
void listed_assert_times(const listed_requests *list, int request, double first_token_s,
                         double end_s);
/** Seconds of a part of a latency. */
double listed_part(const ridge_latency_split *split, ridge_latency_part part);

/** Tables of an engine whose every iteration takes so long, whatever is in it. */
ridge_serving_speed steady_speed(double iteration_s);

#endif
