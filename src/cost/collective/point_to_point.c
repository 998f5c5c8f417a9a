/* Messages between two chips: over a known number of hops, or to the next of a group.
 */
#include "collective_offer.h"

/* What one link of a level carries to one peer. */
static double link_rate(const ridge__level *level)
{
    if (level->facts->kind == RIDGE_AXIS_MESH)
        return level->chip_bytes_per_s / (level->members - 1.0);
    return level->chip_bytes_per_s;
}

/* Inside a node one message to one peer has no pipeline of ranks to fill: 0.7 to 0.8 of
 * NVLink from 8 MB on (A100, H100), where an all-reduce has half of that. */
static double message_s(const ridge__level *level, double rate, double bytes)
{
    if (ridge__axis_is_scale_up(level->facts))
        return bytes / rate;
    return ridge__send_s(level->facts, rate, bytes, 1.0);
}

/*
 * Every rank sends to the next of its group, as between pipeline stages: the neighbours
 * that are farthest apart cross the slowest level.
 */
void ridge__neighbour_offers(const ridge__reach *reach, double bytes,
                             ridge__offers *offers)
{
    ridge__terms terms = {.axis = -1};
    for (int i = 0; i < reach->n; i++) {
        const ridge__level *level = &reach->level[i];
        const double rate = link_rate(level);
        const double bound_s = bytes / rate;
        const double achieved = rate * ridge__axis_efficiency(level->facts);
        const double s = message_s(level, achieved, bytes);
        const double latency_s = level->stride * level->facts->latency_s;
        const bool is_torus = level->facts->kind == RIDGE_AXIS_TORUS;
        if (s > terms.bandwidth_s) {
            terms.axis = level->axis;
            terms.bandwidth_s = s;
            terms.start_s = ridge__starts_s(level->facts, achieved, 1.0);
        }
        terms.bound_bandwidth_s = ridge__larger(terms.bound_bandwidth_s, bound_s);
        terms.bound_latency_s = ridge__larger(
            terms.bound_latency_s, is_torus ? latency_s : level->facts->latency_s);
    }
    terms.latency_s = reach->startup_s + terms.bound_latency_s;
    ridge__offer_add(offers, RIDGE_ALGORITHM_POINT_TO_POINT, &terms);
}

ridge_time ridge_point_to_point_time(const ridge_slice *slice, double bytes,
                                     int64_t hops, int ports)
{
    if (hops < 1 || slice->n_axes < 1)
        return (ridge_time){0.0, 0.0};
    const ridge_axis *axis = &slice->axes[0];
    const double rate = axis->bytes_per_s * (double)ports;
    const double latency_s = (double)hops * axis->latency_s;
    return (ridge_time){
        .bound_s = latency_s + bytes / rate,
        .expected_s =
            axis->startup_s + latency_s +
            ridge__send_s(axis, rate * ridge__axis_efficiency(axis), bytes, ports),
    };
}
