/*
 * Latencies in buckets. A bucket is read off the bits of the number: its octave, and
 * the highest bits of its fraction.
 */
#include "ridge/simulate_requests.h"

#include <math.h>
#include <string.h>

enum {
    STEP_BITS = 7, /* of RIDGE_LATENCY_STEPS */
    FRACTION_BITS = 52,
    EXPONENT_BIAS = 1023,
    EXPONENT_LOWEST = -30 /* 2^-30 s is 0.93 ns */
};

_Static_assert(1 << STEP_BITS == RIDGE_LATENCY_STEPS, "steps of an octave");

int ridge_latency_bucket(double seconds)
{
    uint64_t bits;
    const int64_t lowest = (int64_t)(EXPONENT_BIAS + EXPONENT_LOWEST) << STEP_BITS;
    memcpy(&bits, &seconds, sizeof bits);
    if (!(seconds > 0))
        return 0;
    const int64_t at = (int64_t)(bits >> (FRACTION_BITS - STEP_BITS)) - lowest;
    if (at < 0)
        return 0;
    return at < RIDGE_LATENCY_BUCKETS ? (int)at : RIDGE_LATENCY_BUCKETS - 1;
}

double ridge_latency_bucket_low(int bucket)
{
    const int octave = bucket / RIDGE_LATENCY_STEPS;
    const double step = bucket % RIDGE_LATENCY_STEPS;
    return ldexp(1 + step / RIDGE_LATENCY_STEPS, octave + EXPONENT_LOWEST);
}

static void widen(ridge_latency_sketch *s, double seconds)
{
    if (s->n == 0 || seconds < s->least)
        s->least = seconds;
    if (s->n == 0 || seconds > s->most)
        s->most = seconds;
}

void ridge_latency_add(ridge_latency_sketch *sketch, double seconds, double times)
{
    if (times <= 0)
        return;
    widen(sketch, seconds);
    sketch->n += times;
    sketch->sum += seconds * times;
    sketch->count[ridge_latency_bucket(seconds)] += times;
}

/* Terms of a rising series from the i-th on that lie in the bucket of the i-th. */
static int64_t terms_alike(double first, double slope, int64_t i, int64_t n, int bucket)
{
    const double end = ridge_latency_bucket_low(bucket + 1);
    const double steps = ceil((end - first) / slope) - (double)i;
    if (!(steps < (double)(n - i)))
        return n - i;
    return steps < 1 ? 1 : (int64_t)steps;
}

void ridge_latency_add_series(ridge_latency_sketch *sketch, double first_s,
                              double slope_s, int64_t n, double times)
{
    if (n <= 0 || times <= 0)
        return;
    const double last = first_s + slope_s * (double)(n - 1);
    const double low = slope_s < 0 ? last : first_s;
    const double slope = fabs(slope_s);
    widen(sketch, first_s);
    sketch->n += times * (double)n;
    sketch->sum += times * (double)n * (first_s + last) / 2;
    if (last < sketch->least)
        sketch->least = last;
    if (last > sketch->most)
        sketch->most = last;
    for (int64_t i = 0; i < n;) {
        const int bucket = ridge_latency_bucket(low + slope * (double)i);
        const int64_t m = slope > 0 ? terms_alike(low, slope, i, n, bucket) : n;
        sketch->count[bucket] += times * (double)m;
        i += m;
    }
}

double ridge_latency_mean(const ridge_latency_sketch *sketch)
{
    return sketch->n > 0 ? sketch->sum / sketch->n : 0;
}

double ridge_latency_quantile(const ridge_latency_sketch *sketch, double q)
{
    double below = 0;
    int at = 0;
    if (sketch->n <= 0)
        return 0;
    if (q >= 1)
        return sketch->most;
    const double wanted = q * sketch->n;
    for (int i = 0; i < RIDGE_LATENCY_BUCKETS; i++) {
        if (sketch->count[i] <= 0)
            continue;
        at = i;
        below += sketch->count[i];
        if (below > wanted)
            break;
    }
    const double middle =
        (ridge_latency_bucket_low(at) + ridge_latency_bucket_low(at + 1)) / 2;
    return fmin(fmax(middle, sketch->least), sketch->most);
}
