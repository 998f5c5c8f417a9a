/*
 * Collectives over several torus axes at once: the array is cut into one part per axis,
 * and each part visits the axes in another order, so that all links are busy.
 */
#include "collective_offer.h"

#include <math.h>

/* Links that a chip at the worst place has along an axis, in one direction each. */
static double port_count(const ridge__level *level)
{
    return level->has_wraparound ? 2.0 : 1.0;
}

static double total_hops_s(const ridge__reach *reach)
{
    double s = 0.0;
    for (int i = 0; i < reach->n_torus; i++) {
        const ridge__level *level = &reach->level[i];
        const ridge__ring_form form =
            level->has_wraparound ? RIDGE__RING_BOTH_WAYS : RIDGE__RING_OPEN;
        s += level->stride * ridge__ring_hops(form, level->members) *
             level->facts->latency_s;
    }
    return s;
}

/* A closed even ring moves whole chunks, and so as much as if its own were missing. */
static double received_share(const ridge__reach *reach)
{
    for (int i = 0; i < reach->n_torus; i++) {
        const ridge__level *level = &reach->level[i];
        if (level->has_wraparound && fmod(level->members, 2.0) < 0.5)
            return 1.0;
    }
    return (reach->torus_ranks - 1.0) / reach->torus_ranks;
}

/**
 * Gathers, reductions and broadcasts: what a chip receives, over all of its links.
 *
 *     t = passes * max(V / sum_i ports_i W_i, T_hop sum_i hops_i)
 *
 * @source scaling-book-2025 chapter 3
 */
static ridge__terms gather_terms(const ridge__reach *reach, ridge_collective kind,
                                 double bytes)
{
    const double passes = ridge__collective_is_double(kind) ? 2.0 : 1.0;
    const double share =
        kind == RIDGE_COLLECTIVE_BROADCAST ? 1.0 : received_share(reach);
    double rate = 0.0;
    double achieved = 0.0;
    double ports = 0.0;
    double least = (double)INFINITY;
    ridge__terms terms = {.axis = reach->level[0].axis};
    for (int i = 0; i < reach->n_torus; i++) {
        const ridge__level *level = &reach->level[i];
        const double axis_rate = port_count(level) * level->chip_bytes_per_s;
        rate += axis_rate;
        achieved += axis_rate * ridge__axis_efficiency(level->facts);
        ports += port_count(level);
        if (axis_rate < least) {
            least = axis_rate;
            terms.axis = level->axis;
        }
    }
    terms.bound_bandwidth_s = passes * share * bytes / rate;
    terms.bandwidth_s =
        passes * ridge__send_s(reach->level[0].facts, achieved, share * bytes, ports);
    terms.start_s = passes * ridge__starts_s(reach->level[0].facts, achieved, ports);
    terms.bound_latency_s = passes * total_hops_s(reach);
    terms.latency_s = reach->startup_s + terms.bound_latency_s;
    return terms;
}

/**
 * All-to-all: each chip's data travel along one axis after another, so that every line
 * of an axis runs the all-to-all of its own chips' data; axes work at the same time.
 *
 *     t = max_i share_i (V N_i / N) / W_i
 *
 * which is also the time of the narrowest cut through the torus.
 * @source docs/design/collectives.md
 */
static ridge__terms alltoall_terms(const ridge__reach *reach, double bytes)
{
    ridge__terms terms = {.axis = reach->level[0].axis};
    for (int i = 0; i < reach->n_torus; i++) {
        const ridge__level *level = &reach->level[i];
        const ridge__ring_form form =
            level->has_wraparound ? RIDGE__RING_BOTH_WAYS : RIDGE__RING_OPEN;
        const double link_bytes =
            bytes * level->members / reach->torus_ranks *
            ridge__ring_link_share(RIDGE_COLLECTIVE_ALL_TO_ALL, form, level->members);
        const double bound_s = link_bytes / level->chip_bytes_per_s;
        const double rate =
            level->chip_bytes_per_s * ridge__axis_alltoall_efficiency(level->facts);
        const double s = ridge__send_s(level->facts, rate, link_bytes, 1.0);
        if (bound_s > terms.bound_bandwidth_s) {
            terms.bound_bandwidth_s = bound_s;
            terms.axis = level->axis;
        }
        if (s > terms.bandwidth_s) {
            terms.bandwidth_s = s;
            terms.start_s = ridge__starts_s(level->facts, rate, 1.0);
        }
    }
    terms.bound_latency_s = total_hops_s(reach);
    terms.latency_s = reach->startup_s + terms.bound_latency_s;
    return terms;
}

ridge__terms ridge__torus_terms(const ridge__reach *reach, ridge_collective kind,
                                double bytes)
{
    if (reach->n_torus == 1)
        return ridge__ring_best_terms(reach, kind, bytes);
    if (kind == RIDGE_COLLECTIVE_ALL_TO_ALL)
        return alltoall_terms(reach, bytes);
    return gather_terms(reach, kind, bytes);
}

void ridge__torus_offers(const ridge__reach *reach, ridge_collective kind, double bytes,
                         ridge__offers *offers)
{
    const ridge__terms terms = ridge__torus_terms(reach, kind, bytes);
    ridge__offer_add(offers, RIDGE_ALGORITHM_TORUS, &terms);
}
