/*
 * Collectives level by level: inside a slice or node first, then each chip's share
 * between them. The only way across DCN, and the physical limit of a fat tree.
 */
#include "collective_offer.h"

/* Bytes out of one unit of a level. */
static double unit_bytes(const ridge__reach *reach, int i, double unit,
                         ridge_collective kind, double bytes)
{
    const ridge__level *level = &reach->level[i];
    const double n = reach->ranks;
    if (kind == RIDGE_COLLECTIVE_ALL_TO_ALL)
        return bytes * unit / n * (1.0 - unit / n);
    if (kind == RIDGE_COLLECTIVE_ALL_REDUCE && level->facts->can_reduce)
        return bytes / 2.0; /* of each of two passes: the switch sends the sum back */
    if (ridge__collective_is_gather(kind))
        return bytes * (level->members - 1.0) / level->members;
    return bytes;
}

static double level_efficiency(const ridge__level *level, ridge_collective kind)
{
    if (kind == RIDGE_COLLECTIVE_ALL_TO_ALL)
        return ridge__axis_alltoall_efficiency(level->facts);
    if (kind == RIDGE_COLLECTIVE_ALL_REDUCE && level->facts->can_reduce)
        return ridge__axis_reduce_efficiency(level->facts);
    return ridge__axis_efficiency(level->facts);
}

/* One switched level, all its units at once. */
static ridge__terms level_terms(const ridge__reach *reach, int i, double unit,
                                ridge_collective kind, double bytes)
{
    const ridge__level *level = &reach->level[i];
    const double passes = ridge__collective_is_double(kind) ? 2.0 : 1.0;
    const double out_bytes = unit_bytes(reach, i, unit, kind, bytes);
    const double rate = level->chip_bytes_per_s * level_efficiency(level, kind);
    const double steps = level->members - 1.0;
    return (ridge__terms){
        .bound_bandwidth_s = passes * out_bytes / level->unit_bytes_per_s,
        .bound_latency_s = passes * level->facts->latency_s,
        .bandwidth_s = passes * ridge__send_s(level->facts, rate,
                                              out_bytes / level->unit_chips, steps),
        .start_s = passes * ridge__starts_s(level->facts, rate, steps),
        .latency_s = passes * steps * level->facts->latency_s,
        .axis = level->axis,
    };
}

/* The torus inside, if there is one: an all-to-all leaves it a slice's own data. */
static ridge__terms inner_terms(const ridge__reach *reach, ridge_collective kind,
                                double bytes)
{
    if (reach->n_torus == 0)
        return (ridge__terms){.axis = -1, .latency_s = reach->startup_s};
    if (kind == RIDGE_COLLECTIVE_ALL_TO_ALL)
        bytes *= reach->torus_ranks / reach->ranks;
    return ridge__torus_terms(reach, kind, bytes);
}

/**
 * Inner level first, then the share of each chip outside.
 *
 *     bound    = max_i V (D_i - 1) / (D_i W_i)   levels work as a pipeline
 *     expected = sum_i                           they take turns
 *
 * @source scaling-book-2025 chapter 12
 */
void ridge__hierarchy_offers(const ridge__reach *reach, ridge_collective kind,
                             double bytes, ridge__offers *offers)
{
    ridge__terms sum = inner_terms(reach, kind, bytes);
    double slowest_s = sum.bandwidth_s;
    double unit = reach->torus_ranks;
    for (int i = reach->n_torus; i < reach->n; i++) {
        const ridge__terms level = level_terms(reach, i, unit, kind, bytes);
        if (level.bandwidth_s > slowest_s) {
            slowest_s = level.bandwidth_s;
            sum.axis = level.axis;
        }
        sum.bound_bandwidth_s =
            ridge__larger(sum.bound_bandwidth_s, level.bound_bandwidth_s);
        sum.bound_latency_s += level.bound_latency_s;
        sum.bandwidth_s += level.bandwidth_s;
        sum.start_s += level.start_s;
        sum.latency_s += level.latency_s;
        unit *= reach->level[i].members;
    }
    ridge__offer *offer = ridge__offer_add(offers, RIDGE_ALGORITHM_HIERARCHICAL, &sum);
    offer->is_in_libraries = reach->n_torus > 0;
}
