/* Sums of an algorithm's terms, and the ramp of short messages. */
#include "collective_offer.h"

#include <assert.h>
bool ridge__collective_is_double(ridge_collective kind)
{
    return kind == RIDGE_COLLECTIVE_ALL_REDUCE;
}

bool ridge__collective_is_gather(ridge_collective kind)
{
    return kind == RIDGE_COLLECTIVE_ALL_GATHER ||
           kind == RIDGE_COLLECTIVE_REDUCE_SCATTER ||
           kind == RIDGE_COLLECTIVE_ALL_REDUCE;
}

ridge__offer *ridge__offer_add(ridge__offers *offers, ridge_algorithm algorithm,
                               const ridge__terms *terms)
{
    assert(offers->n < RIDGE_ALGORITHM_MAX);
    ridge__offer *offer = &offers->at[offers->n++];
    offer->cost.algorithm = algorithm;
    offer->cost.bound_s =
        ridge__larger(terms->bound_bandwidth_s, terms->bound_latency_s);
    offer->cost.latency_s = terms->latency_s + terms->start_s;
    offer->cost.bandwidth_s = terms->bandwidth_s - terms->start_s;
    offer->cost.expected_s = terms->latency_s + terms->bandwidth_s;
    offer->axis = terms->axis;
    offer->start_s = terms->start_s;
    offer->is_in_libraries = true;
    return offer;
}

double ridge__send_s(const ridge_axis *axis, double rate, double bytes, double messages)
{
    const double ramp_bytes = axis->half_rate_bytes;
    if (!ridge__axis_is_scale_up(axis))
        return (bytes + messages * ramp_bytes) / rate;
    if (ramp_bytes > 0.0)
        return bytes / rate * (1.0 + ramp_bytes / (bytes + ramp_bytes));
    return bytes / rate;
}

double ridge__starts_s(const ridge_axis *axis, double rate, double messages)
{
    if (ridge__axis_is_scale_up(axis))
        return 0.0;
    return messages * axis->half_rate_bytes / rate;
}
