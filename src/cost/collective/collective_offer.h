/*
 * The price of one algorithm for a collective, and the list of them that a group has to
 * choose from.
 */
#ifndef RIDGE_COST_COLLECTIVE_OFFER_H
#define RIDGE_COST_COLLECTIVE_OFFER_H

#include "network_reach.h"
#include "ridge/cost.h"

/** Where an algorithm's time goes, before it is summed. All >= 0. */
typedef struct ridge__terms {
    double bound_bandwidth_s; /* most loaded link at its nominal rate */
    double bound_latency_s;   /* hops, none of them hidden */
    double bandwidth_s;       /* the same links as they are achieved */
    double start_s;           /* what of bandwidth_s the starts of messages take */
    double latency_s;         /* hops and the software's start */
    int axis;                 /* the axis of the most loaded link */
} ridge__terms;

typedef struct ridge__offer {
    ridge_algorithm_cost cost;
    int axis;
    double start_s;       /* what of the expected time the starts of messages take */
    bool is_in_libraries; /* what a library runs by itself: may be expected */
} ridge__offer;

typedef struct ridge__offers {
    int n;
    ridge__offer at[RIDGE_ALGORITHM_MAX];
} ridge__offers;

/**
 * Add one algorithm: bound = max(bandwidth, latency), expected = their achieved sum.
 * @return the offer, for its flags
 */
ridge__offer *ridge__offer_add(ridge__offers *offers, ridge_algorithm algorithm,
                               const ridge__terms *terms);

/** Twice the transfers: an all-reduce is a reduce-scatter and an all-gather. */
bool ridge__collective_is_double(ridge_collective kind);
/** All-gather, reduce-scatter or all-reduce: every rank ends or starts with it all. */
bool ridge__collective_is_gather(ridge_collective kind);

/**
 * Time for one port to send bytes at a rate below which short messages fall behind.
 *
 * Inside a node libraries switch to a protocol that flags every word, at half of the
 * rate and without a ramp, so that the loss is at most twofold:
 *     t = x / r (1 + h / (x + h))
 * Elsewhere each message pays for its own start: t = (x + messages h) / r.
 *
 * @param rate      achieved bytes per second of the port for large messages
 * @param bytes     x: what the port sends in all
 * @param messages  in how many messages; counted outside of a node only
 * @source hu2025 section on the LL and Simple protocols
 */
double ridge__send_s(const ridge_axis *axis, double rate, double bytes,
                     double messages);
/** What of ridge__send_s the messages' starts take: it does not fall with the bytes. */
double ridge__starts_s(const ridge_axis *axis, double rate, double messages);

/* ---- algorithms: each adds what it can offer to this group --------------------- */

void ridge__ring_offers(const ridge__reach *reach, ridge_collective kind, double bytes,
                        ridge__offers *offers);
void ridge__torus_offers(const ridge__reach *reach, ridge_collective kind, double bytes,
                         ridge__offers *offers);
void ridge__switch_offers(const ridge__reach *reach, ridge_collective kind,
                          double bytes, ridge__offers *offers);
/** An engine's own all-reduce, where the level has one. */
void ridge__kernel_offers(const ridge__reach *reach, ridge_collective kind,
                          double bytes, ridge__offers *offers);
void ridge__hierarchy_offers(const ridge__reach *reach, ridge_collective kind,
                             double bytes, ridge__offers *offers);
void ridge__neighbour_offers(const ridge__reach *reach, double bytes,
                             ridge__offers *offers);

/** A ring used both ways, or a line: the best that the first axis can do. */
ridge__terms ridge__ring_best_terms(const ridge__reach *reach, ridge_collective kind,
                                    double bytes);
/** The torus axes of a group by themselves, by their best algorithm. */
ridge__terms ridge__torus_terms(const ridge__reach *reach, ridge_collective kind,
                                double bytes);

/** How a ring's links are used. */
typedef enum ridge__ring_form {
    RIDGE__RING_ONE_WAY,
    RIDGE__RING_BOTH_WAYS,
    RIDGE__RING_OPEN /* a line: both ways, not closed */
} ridge__ring_form;

/**
 * Bytes over the most loaded link, one direction, for each byte of the array; of a
 * single pass (an all-reduce makes two).
 * @param n  members of the ring, >= 2
 */
double ridge__ring_link_share(ridge_collective kind, ridge__ring_form form, double n);

/** Hops that nothing can hide: from a chip to the farthest one. */
double ridge__ring_hops(ridge__ring_form form, double n);

#endif
