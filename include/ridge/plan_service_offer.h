/*
 * Where to serve: the best deployment of each of several slices, GPUs and TPUs side by
 * side, compared by one aim.
 */
#ifndef RIDGE_PLAN_SERVICE_OFFER_H
#define RIDGE_PLAN_SERVICE_OFFER_H

#include "ridge/plan_service_play.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Slices of one kind, with the request on them: engine, formats and price may be of
 * the chip. */
typedef struct ridge_service_kind {
    ridge_service_request request; /* slice: that, or one chip of an open kind */
    bool is_open;                  /* any number of its chips */
    ridge_service_play_rule plays;
} ridge_service_kind;

enum { RIDGE_SERVICE_KIND_MAX = 16, RIDGE_SERVICE_OFFER_MAX = 128 };

/** One slice and its best deployment: the first of its answer alone. */
typedef struct ridge_service_offer {
    int kind;
    ridge_service_request request;
    const char *why_not; /* none does, or knobs contradict the slice; else NULL */
    ridge_service_price best;
    int n_front; /* of a user's speed and a chip's throughput */
    ridge_service_price *front;
} ridge_service_offer;

/** A point of an offer's front. */
typedef struct ridge_service_offer_point {
    int offer, point;
} ridge_service_offer_point;

enum { RIDGE_SERVICE_OFFER_FRONT_MAX = 24 };

typedef struct ridge_service_offer_study {
    int n; /* those that do first, best first; then the others by kind and chips */
    int n_ranked;
    ridge_service_offer *offers;
    int best_of[RIDGE_SERVICE_AIM_COUNT]; /* the best by each aim; -1: none */
    /* Of all slices, deployments that keep the goals: none is faster for a user,
     * cheaper and thriftier. Fastest first; thinned evenly beyond the room. */
    int n_front;
    ridge_service_offer_point front[RIDGE_SERVICE_OFFER_FRONT_MAX];
    int64_t covered;
    double seconds;
} ridge_service_offer_study;

/**
 * The best deployment on each slice, ranked by the aim of the requests, which all have
 * the same; by their plays, where the kinds' rules say so. An open kind has as many
 * chips as one, two, four, ... and, beyond a node or a whole torus, one, two, four of
 * those, up to chips_most.
 * @owner the ctx
 * @errors E_NOMEM; E_CANCELLED; what holds for one slice alone is told by its offer
 */
RIDGE_NODISCARD ridge_status ridge_service_offer_search(ridge_ctx *cx,
                                                        const ridge_catalog *catalog,
                                                        const ridge_service_kind *kinds,
                                                        int n_kinds, int64_t chips_most,
                                                        ridge_service_offer_study *out);

#ifdef __cplusplus
}
#endif

#endif
