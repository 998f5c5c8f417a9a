/* Latencies in buckets: quantiles within their width, series as one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "ridge/simulate_requests.h"

#include <math.h>

static const double WIDTH = 1.0 / 256; /* half a bucket, over its low end */

static void a_bucket_holds_what_lies_between_its_ends(void **state)
{
    (void)state;
    for (double s = 1e-9; s < 1e5; s *= 1.0137) {
        const int at = ridge_latency_bucket(s);
        assert_true(ridge_latency_bucket_low(at) <= s);
        assert_true(s < ridge_latency_bucket_low(at + 1));
    }
    assert_int_equal(ridge_latency_bucket(0), 0);
    assert_int_equal(ridge_latency_bucket(-1), 0);
    assert_int_equal(ridge_latency_bucket((double)NAN), 0);
    assert_int_equal(ridge_latency_bucket((double)INFINITY), RIDGE_LATENCY_BUCKETS - 1);
}

static void quantiles_are_those_of_the_values(void **state)
{
    static ridge_latency_sketch s;
    (void)state;
    for (int i = 1; i <= 10000; i++)
        ridge_latency_add(&s, i * 1e-4, 1);
    assert_near(ridge_latency_mean(&s), 0.50005, 1e-12);
    assert_near(ridge_latency_quantile(&s, 0.5), 0.5, WIDTH + 1e-3);
    assert_near(ridge_latency_quantile(&s, 0.99), 0.99, WIDTH + 1e-3);
    assert_near(ridge_latency_quantile(&s, 1), 1, 0);
    assert_near(s.least, 1e-4, 0);
}

static void nothing_met_is_zero(void **state)
{
    static ridge_latency_sketch s;
    (void)state;
    ridge_latency_add(&s, 1, 0);
    ridge_latency_add_series(&s, 1, 1, 0, 1);
    assert_near(ridge_latency_quantile(&s, 0.5), 0, 0);
    assert_near(ridge_latency_mean(&s), 0, 0);
}

static void a_series_counts_as_its_terms_one_by_one(void **state)
{
    static ridge_latency_sketch whole, single;
    (void)state;
    const double cases[][2] = {{0.01, 1e-5}, {0.02, 0}, {0.5, -1e-4}, {1e-3, 0.3}};
    for (size_t c = 0; c < RIDGE_COUNT_OF(cases); c++) {
        ridge_latency_add_series(&whole, cases[c][0], cases[c][1], 1000, 3);
        for (int i = 0; i < 1000; i++)
            ridge_latency_add(&single, cases[c][0] + cases[c][1] * i, 3);
    }
    assert_near(whole.n, single.n, 0);
    assert_near(whole.sum, single.sum, 1e-12);
    assert_near(whole.least, single.least, 1e-12);
    assert_near(whole.most, single.most, 1e-12);
    double apart = 0;
    for (int i = 0; i < RIDGE_LATENCY_BUCKETS; i++)
        apart += fabs(whole.count[i] - single.count[i]);
    assert_true(apart <= 12); /* a term at an edge may round to its neighbour */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_holds_what_lies_between_its_ends),
        cmocka_unit_test(quantiles_are_those_of_the_values),
        cmocka_unit_test(nothing_met_is_zero),
        cmocka_unit_test(a_series_counts_as_its_terms_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
