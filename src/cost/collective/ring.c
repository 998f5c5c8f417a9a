/*
 * Collectives along one torus axis: a closed ring used one way or both ways, or a line.
 * The load of the busiest link decides; docs/design/collectives.md derives each.
 */
#include "collective_offer.h"

#include <math.h>

/* Pairs of ranks whose shortest path crosses the busiest link in one direction, over
 * all N^2 pairs. */
static double alltoall_share(ridge__ring_form form, double n)
{
    const double across = floor(n * n / 4.0); /* pairs from one half to the other */
    switch (form) {
    case RIDGE__RING_ONE_WAY:
        return (n - 1.0) / (2.0 * n);
    case RIDGE__RING_BOTH_WAYS:
        return across / (2.0 * n * n);
    case RIDGE__RING_OPEN:
        return across / (n * n);
    }
    return 1.0;
}

static double gather_share(ridge__ring_form form, double n)
{
    /* Both ways: chunks are not split, so an even ring moves n/2 of them each way. */
    if (form == RIDGE__RING_BOTH_WAYS)
        return floor(n / 2.0) / n;
    return (n - 1.0) / n;
}

double ridge__ring_link_share(ridge_collective kind, ridge__ring_form form, double n)
{
    switch (kind) {
    case RIDGE_COLLECTIVE_ALL_GATHER:
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
    case RIDGE_COLLECTIVE_ALL_REDUCE:
        return gather_share(form, n);
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        return alltoall_share(form, n);
    case RIDGE_COLLECTIVE_BROADCAST:
        return form == RIDGE__RING_BOTH_WAYS ? 0.5 : 1.0;
    case RIDGE_COLLECTIVE_SEND_RECV:
        return 1.0;
    }
    return 1.0;
}

double ridge__ring_hops(ridge__ring_form form, double n)
{
    return form == RIDGE__RING_BOTH_WAYS ? floor(n / 2.0) : n - 1.0;
}

/**
 * Time of a collective on one ring or line.
 *
 *     t = passes * max(share V / W, hops T_hop)
 *
 * @source scaling-book-2025 chapter 3
 * @note  Leaves out the copies between a chip's links and its memory.
 */
static ridge__terms ring_terms(const ridge__reach *reach, ridge_collective kind,
                               ridge__ring_form form, double bytes)
{
    const ridge__level *level = &reach->level[0];
    const double passes = ridge__collective_is_double(kind) ? 2.0 : 1.0;
    const double link_bytes =
        bytes * ridge__ring_link_share(kind, form, level->members);
    const double hops = passes * level->stride * ridge__ring_hops(form, level->members);
    const double efficiency = kind == RIDGE_COLLECTIVE_ALL_TO_ALL
                                  ? ridge__axis_alltoall_efficiency(level->facts)
                                  : ridge__axis_efficiency(level->facts);
    const double rate = level->chip_bytes_per_s;
    return (ridge__terms){
        .bound_bandwidth_s = passes * link_bytes / rate,
        .bound_latency_s = hops * level->facts->latency_s,
        .bandwidth_s =
            passes * ridge__send_s(level->facts, rate * efficiency, link_bytes, 1.0),
        .start_s = passes * ridge__starts_s(level->facts, rate * efficiency, 1.0),
        .latency_s = reach->startup_s + hops * level->facts->latency_s,
        .axis = level->axis,
    };
}

static ridge__ring_form best_form(const ridge__level *level)
{
    return level->has_wraparound ? RIDGE__RING_BOTH_WAYS : RIDGE__RING_OPEN;
}

void ridge__ring_offers(const ridge__reach *reach, ridge_collective kind, double bytes,
                        ridge__offers *offers)
{
    if (!reach->level[0].has_wraparound) {
        const ridge__terms line = ring_terms(reach, kind, RIDGE__RING_OPEN, bytes);
        ridge__offer_add(offers, RIDGE_ALGORITHM_LINE, &line);
        return;
    }
    const ridge__terms both = ring_terms(reach, kind, RIDGE__RING_BOTH_WAYS, bytes);
    ridge__offer_add(offers, RIDGE_ALGORITHM_RING_BIDIRECTIONAL, &both);
    const ridge__terms one = ring_terms(reach, kind, RIDGE__RING_ONE_WAY, bytes);
    ridge__offer_add(offers, RIDGE_ALGORITHM_RING, &one);
}

ridge__terms ridge__ring_best_terms(const ridge__reach *reach, ridge_collective kind,
                                    double bytes)
{
    return ring_terms(reach, kind, best_form(&reach->level[0]), bytes);
}
