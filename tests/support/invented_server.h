/* Machines of a few numbers as sources of prices, for searches over small spaces. */
#ifndef RIDGE_TEST_INVENTED_SERVER_H
#define RIDGE_TEST_INVENTED_SERVER_H

#include "service_source.h"
#include "train_fixture.h"

/** What an iteration costs, evenly shared by tp chips but for a part that is not. */
typedef struct invented_server {
    double weights_s; /* reading the weights once, on one chip */
    double row_s;     /* of a token */
    double read_s;    /* of a cached token */
    double score_s;   /* of a prompt token and one before it */
    double hop_s;     /* of each doubling of tp, an iteration */
    double host_s;
    double weight_bytes, hbm_bytes, token_bytes, budget_bytes; /* a token of it */
    double send_bytes_per_s;
    int64_t tp_most; /* layouts beyond it are not legal */
} invented_server;

/** A problem drawn from a seed; the model is the small dense or sparse one. */
typedef struct invented_problem {
    ridge_ctx *cx;
    invented_server server;
    ridge_engine engine;
    ridge_slice slice;
    ridge_chip chip;
    ridge_service_request request;
} invented_problem;

/** @p problem stays where it is while its request is used. */
void invented_problem_open(ridge_ctx *cx, uint64_t seed, invented_problem *problem);

/** As service_source_open; the request must be an invented_problem's. */
ridge_status invented_source_open(ridge_ctx *cx, const ridge_service_request *request,
                                  service_source *out);

#endif
