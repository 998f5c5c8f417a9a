/* What is counted while a deployment is played. */
#include "serving_tally.h"

#include <math.h>
#include <string.h>

ridge_status ridge__tally_open(ridge_ctx *cx, serving_tally **out)
{
    ridge_arena *arena = ridge_ctx_scratch(cx);
    serving_tally *t = ridge_new(arena, serving_tally, 1);
    if (t == NULL)
        return ridge_fail_nomem(cx);
    t->cx = cx;
    t->first_s = -1;
    const size_t bytes = RIDGE_LATENCY_BUCKETS * sizeof *t->ttft.parts;
    t->ttft.parts = ridge_arena_new(arena, 1, bytes);
    t->e2e.parts = ridge_arena_new(arena, 1, bytes);
    if (t->ttft.parts == NULL || t->e2e.parts == NULL)
        return ridge_fail_nomem(cx);
    *out = t;
    return RIDGE_OK;
}

enum { VALUES_FIRST = 1024 };

/* Short of memory, or beyond the most, no values are kept: the sketch answers. */
static void keep_value(serving_tally *tally, tally_latency *l, double seconds)
{
    if (l->n_values == l->room && l->n_values < TALLY_EXACT_MAX) {
        const int64_t room = l->room > 0 ? 2 * l->room : VALUES_FIRST;
        double *values = ridge_new(ridge_ctx_scratch(tally->cx), double, (size_t)room);
        if (values == NULL)
            return;
        if (l->n_values > 0)
            memcpy(values, l->values, (size_t)l->n_values * sizeof *values);
        l->values = values;
        l->room = room;
    }
    if (l->n_values < l->room)
        l->values[l->n_values++] = seconds;
}

void ridge__tally_add(serving_tally *tally, tally_latency *latency, double seconds,
                      const double *parts_s)
{
    ridge_latency_add(&latency->sketch, seconds, 1);
    keep_value(tally, latency, seconds);
    if (parts_s == NULL || latency->parts == NULL)
        return;
    double *sums = latency->parts[ridge_latency_bucket(seconds)];
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++)
        sums[i] += parts_s[i];
}

void ridge__tally_waiting(serving_tally *tally, double now_s, int64_t waiting)
{
    if (now_s > tally->waiting_since_s) {
        tally->waiting_area +=
            (double)tally->waiting * (now_s - tally->waiting_since_s);
        tally->waiting_since_s = now_s;
    }
    tally->waiting = waiting;
    if (waiting > tally->waiting_most)
        tally->waiting_most = waiting;
}

/* ---- quantiles ------------------------------------------------------------------- */

static void sort_values(double *v, int64_t n)
{
    for (int64_t gap = n / 2; gap > 0; gap /= 2) {
        for (int64_t i = gap; i < n; i++) {
            const double x = v[i];
            int64_t j = i;
            for (; j >= gap && v[j - gap] > x; j -= gap)
                v[j] = v[j - gap];
            v[j] = x;
        }
    }
}

/* The k-th of all values, from 0: the sketch tells its bucket, whose values are sorted.
 * @return false: short of memory */
static bool find_value(ridge_arena *arena, const tally_latency *l, int64_t k,
                       double *out)
{
    int64_t below = 0, n = 0;
    int bucket = 0;
    while (below + (int64_t)l->sketch.count[bucket] <= k)
        below += (int64_t)l->sketch.count[bucket++];
    const int64_t room = (int64_t)l->sketch.count[bucket];
    const ridge_mark mark = ridge_arena_mark(arena);
    double *alike = ridge_new(arena, double, (size_t)room);
    if (alike == NULL)
        return false;
    for (int64_t i = 0; i < l->n_values && n < room; i++) {
        if (ridge_latency_bucket(l->values[i]) == bucket)
            alike[n++] = l->values[i];
    }
    sort_values(alike, n);
    *out = alike[k - below < n ? k - below : n - 1];
    ridge_arena_rewind(arena, mark);
    return true;
}

/* Linear between the two values around q (n - 1), as numpy's percentile. */
static double quantile_of(ridge_arena *arena, const tally_latency *l, double q)
{
    double low, high;
    if (l->n_values < (int64_t)l->sketch.n || l->n_values == 0)
        return ridge_latency_quantile(&l->sketch, q);
    const double at = q * (double)(l->n_values - 1);
    const int64_t k = (int64_t)floor(at);
    const int64_t next = k + 1 < l->n_values ? k + 1 : k;
    if (!find_value(arena, l, k, &low) || !find_value(arena, l, next, &high))
        return ridge_latency_quantile(&l->sketch, q);
    return low + (at - (double)k) * (high - low);
}

static double deviation_of(const ridge_latency_sketch *s)
{
    const double mean = ridge_latency_mean(s);
    double sum = 0;
    for (int i = 0; i < RIDGE_LATENCY_BUCKETS; i++) {
        if (s->count[i] <= 0)
            continue;
        const double middle =
            (ridge_latency_bucket_low(i) + ridge_latency_bucket_low(i + 1)) / 2;
        sum += s->count[i] * (middle - mean) * (middle - mean);
    }
    return s->n > 0 ? sqrt(sum / s->n) : 0;
}

ridge_latency_summary ridge__tally_summary(ridge_ctx *cx, const tally_latency *l)
{
    ridge_arena *arena = ridge_ctx_scratch(cx);
    return (ridge_latency_summary){.n = l->sketch.n,
                                   .mean = ridge_latency_mean(&l->sketch),
                                   .p50 = quantile_of(arena, l, 0.5),
                                   .p90 = quantile_of(arena, l, 0.9),
                                   .p95 = quantile_of(arena, l, 0.95),
                                   .p99 = quantile_of(arena, l, 0.99),
                                   .most = l->sketch.most,
                                   .deviation = deviation_of(&l->sketch)};
}

ridge_latency_split ridge__tally_mean(const tally_latency *latency, double slowest)
{
    ridge_latency_split split = {0};
    const double wanted = slowest * latency->sketch.n;
    double left = wanted;
    for (int i = RIDGE_LATENCY_BUCKETS - 1; i >= 0 && left > 0; i--) {
        const double n = latency->sketch.count[i];
        const double share = n > left ? left / n : 1;
        if (n <= 0)
            continue;
        for (int k = 0; k < RIDGE_LATENCY_PART_COUNT; k++)
            split.parts_s[k] += share * latency->parts[i][k];
        left -= share * n;
    }
    for (int k = 0; k < RIDGE_LATENCY_PART_COUNT && wanted > 0; k++) {
        split.parts_s[k] /= wanted;
        split.total_s += split.parts_s[k];
    }
    return split;
}
