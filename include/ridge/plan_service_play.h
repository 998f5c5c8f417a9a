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

/** When deployments are played. */
typedef enum ridge_service_play_rule {
    RIDGE_SERVICE_PLAY_DUE, /* where goals have a percentile and it does not take long
                             */
    RIDGE_SERVICE_PLAY_ALWAYS,
    RIDGE_SERVICE_PLAY_NEVER
} ridge_service_play_rule;

/** The same, where the rule says so; a plain request is due none.
 * @errors as ridge_service_play */
RIDGE_NODISCARD ridge_status ridge_service_play_by(ridge_ctx *cx,
                                                   const ridge_service_request *request,
                                                   ridge_service_play_rule rule,
                                                   ridge_service_result *result);

/** What a played deployment does in place of its closed form: rates, money and mean
 * latencies. One that was not played stays as it is. */
ridge_service_price ridge_service_as_played(const ridge_service_price *price);

/** Whether @p a comes before @p b, of one slice or of two: those that miss their goals
 * when played come last, then by the aim. */
bool ridge_service_plays_better(ridge_service_aim aim, const ridge_service_price *a,
                                const ridge_service_price *b);

/** Requests that a result's plays would take in all, roughly: those of large services
 *  take long. */
double ridge_service_play_requests(const ridge_service_request *request,
                                   const ridge_service_result *result);

#ifdef __cplusplus
}
#endif

#endif
