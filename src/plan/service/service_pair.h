/* Deployments of two pools: prefill servers that send caches to decode servers.
 * Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_PAIR_H
#define RIDGE_PLAN_SERVICE_PAIR_H

#include "service_choice.h"

/** What one server does in its pool at a batch, from its times. The option borrows the
 * server's layout.
 * @return RIDGE_SERVICE_FIT_OK, or why not */
ridge_service_fit service_pair_option(const service_server *s, double batch,
                                      service_option *out);

/** A deployment of @p n_prefill and @p n_decode servers. Without a rate it takes as
 *  many requests as the goals let it. Latencies are those of full decode batches. */
void service_pair_score(const ridge_service_request *request,
                        const service_option *prefill, const service_option *decode,
                        int64_t n_prefill, int64_t n_decode, ridge_service_price *out);

/** What a search over pairs finds. */
typedef struct service_pair_search {
    ridge_ctx *cx;
    const ridge_service_request *request;
    const ridge_service_request *whole; /* the same without a rate: for the fronts */
    const service_shelves *prefill, *decode;
    service_ranking *ranking;
    service_variety *variety;
    service_points *speed_front, *cost_front;
    service_tally *tally;
    void (*near)(void *payload, const ridge_service_price *price);
    void (*show)(void *payload, double share); /* of what is done */
    void *payload;
    int64_t covered, priced;
} service_pair_search;

/** All pairs of options of one format with all numbers of servers that fit the slice.
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status service_pair_run(service_pair_search *search);

#endif
