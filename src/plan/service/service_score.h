/* What a deployment of one pool does at a batch, from the times of its iterations.
 * Layer-internal. */
#ifndef RIDGE_PLAN_SERVICE_SCORE_H
#define RIDGE_PLAN_SERVICE_SCORE_H

#include "steady_state.h"

/** A server's layout with what its times and its memory are. */
typedef struct service_server {
    const ridge_service_request *request;
    ridge_serving_layout layout;
    ridge_serving_memory memory;
    steady_case steady;
    double transfer_bytes;       /* of a prompt's cache */
    double transfer_bytes_per_s; /* of an attention rank; 0: none */
    double transfer_s;           /* of a transfer, beside its bytes */
    /* Seconds of an iteration; by tables, or priced. */
    double (*iteration_s)(void *payload, const ridge_serving_load *load);
    void *payload;
} service_server;

/** What of a server follows from its layout and the request; times and memory are the
 *  caller's. */
void service_server_open(const ridge_service_request *request, ridge_service_role role,
                         const ridge_serving_layout *layout, service_server *out);

/** What transfers of caches take, by the speed of the layout. */
void service_server_transfers(const ridge_serving_speed *speed, service_server *out);

/** The steady state of one server at a batch. @return false: saturated */
bool service_server_run(const service_server *s, double batch, steady_shape *shape,
                        steady_times *times);

/** Batch at which a server takes so many requests a second, up to @p most.
 * @return false: it does not */
bool service_server_load(const service_server *s, double requests_per_s, double most,
                         double *batch);

/** Whether the caches of a batch have room. @param use  out: share of what there is */
bool service_server_holds(const service_server *s, double batch, double prefilling,
                          double *use);
/** Sequences that the server must be able to hold for a batch: its layout's. */
int64_t service_server_sequences(const service_server *s, double batch,
                                 double prefilling);

/** An aggregated service of @p servers at a batch; with a request rate at that which
 * the rate makes. */
void service_score_one(const service_server *s, double batch, int64_t servers,
                       ridge_service_price *out);

/** Goals and rate that a price whose numbers are known does not keep; money and rates a
 *  chip from the rest. */
void service_score_finish(const ridge_service_request *request,
                          ridge_service_price *price);

/** Whether a deployment could run, whatever its goals. */
bool service_score_is_real(const ridge_service_price *price);

/** The latency that a goal is about: at its quantile, or the mean. */
double service_score_judged_s(const ridge_service_request *request,
                              const ridge_service_price *price,
                              ridge_service_latency latency);

/** Whether requests come at random. */
bool service_score_is_open(const ridge_service_request *request);

/** Share of its capacity at which a prefill with random arrivals may run. */
extern const double SERVICE_USE_MOST;

#endif
