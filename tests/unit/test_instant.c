/* Decimals of microseconds as whole nanoseconds. */
#include "near.h"

#include "instant.h"

static int64_t ns_of(const char *text)
{
    instant t = {-1, -1};
    assert_true(instant_of_us(ridge_str_of(text), &t));
    return instant_ns(t);
}

static void seventeen_digits_are_exact(void **state)
{
    (void)state;
    assert_int_equal(ns_of("1712191112345678.125"), 1712191112345678125);
    assert_int_equal(ns_of("100"), 100000);
    assert_int_equal(ns_of("0.001"), 1);
}

/* 100.7 + 0.2: rounding the start up and the end down would make it negative. */
static void lengths_are_not_negative(void **state)
{
    (void)state;
    instant start;
    instant length;
    instant end;
    assert_true(instant_of_us(ridge_str_of("100.7"), &start));
    assert_true(instant_of_us(ridge_str_of("0.2"), &length));
    assert_true(instant_add(start, length, &end));
    assert_int_equal(instant_ns(end) - instant_ns(start), 200);
}

static void picoseconds_round_to_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(ns_of("1.000499"), 1000);
    assert_int_equal(ns_of("1.0005"), 1001);
    assert_int_equal(instant_ns(instant_of_ps(-1)), 0);
    assert_int_equal(instant_of_ps(-1).ns, -1);
    assert_int_equal(instant_of_ps(2500).ns, 2);
    assert_int_equal(instant_of_ps(2500).ps, 500);
}

static void negative_times_and_exponents_are_read(void **state)
{
    (void)state;
    assert_int_equal(ns_of("-1.5"), -1500);
    assert_int_equal(ns_of("-0.0004"), 0);
    assert_int_equal(ns_of("1.5e3"), 1500000);
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "-", "x", "1.2.3", "1e400", ".", "nan", "1 ", "99999999999999999999"};
    instant t = {7, 7};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(instant_of_us(ridge_str_of(bad[i]), &t));
    assert_int_equal(t.ns, 7);
}

static void sums_beyond_the_range_are_refused(void **state)
{
    (void)state;
    instant t;
    const instant far = {INT64_MAX, 999};
    assert_false(instant_add(far, (instant){0, 1}, &t));
    assert_false(instant_add(far, (instant){1, 0}, &t));
    assert_true(instant_add(far, (instant){-1, 1}, &t));
    assert_int_equal(t.ns, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seventeen_digits_are_exact),
        cmocka_unit_test(lengths_are_not_negative),
        cmocka_unit_test(picoseconds_round_to_the_nearest),
        cmocka_unit_test(negative_times_and_exponents_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(sums_beyond_the_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
