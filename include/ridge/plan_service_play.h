/*
 * Services ranked by what they do when they are played request by request: the last
 * word on queues, bursts and full caches, which closed forms tell roughly.
 */
#ifndef RIDGE_PLAN_SERVICE_PLAY_H
#define RIDGE_PLAN_SERVICE_PLAY_H

#include "ridge/plan_service.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Play each deployment of a result and put those that do best first.
 *
 * With goals: the largest rate of Poisson arrivals at which the goals' share of the
 * requests keeps all of them (the means, without a percentile), by bisection; the most
 * of it a paid chip comes first. With a request rate that rate alone: those that keep
 * the goals come first. Without goals a closed loop of as many clients as there are
 * requests in the steady state. Prompts and answers have the lengths of the work.
 *
 * @param result  of the request; layouts get their played, and are put in order
 * @errors E_NOMEM, E_CANCELLED; E_ARG a layout that cannot be played
 */
RIDGE_NODISCARD ridge_status ridge_service_play(ridge_ctx *cx,
                                                const ridge_service_request *request,
                                                ridge_service_result *result);

/** Requests that a result's plays would take in all, roughly: those of large services
 *  take long. */
double ridge_service_play_requests(const ridge_service_request *request,
                                   const ridge_service_result *result);

#ifdef __cplusplus
}
#endif

#endif
