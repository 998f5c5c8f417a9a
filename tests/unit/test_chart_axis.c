/* Ranges and ticks of chart axes. */
#include "chart_axis.h"

#include <math.h>

#include "near.h"

static ridge_chart_axis axis_of(double low, double high, bool is_log, int most)
{
    const double values[] = {low, high};
    const double others[] = {1, 2};
    const ridge_chart chart = {
        .is_y_log = is_log, .n_series = 1, .series = {{"s", others, values, 2}}};
    return ridge__chart_axis_fit(&chart, false, most);
}

static void linear_ticks_are_1_2_5(void **state)
{
    (void)state;
    ridge_chart_axis axis = axis_of(0, 724, false, 6);
    assert_near(axis.low, 0, 0);
    assert_near(axis.high, 800, 0);
    assert_int_equal(axis.n_ticks, 5);
    assert_string_equal(axis.ticks[0].text.s, "0");
    assert_string_equal(axis.ticks[1].text.s, "200");
    assert_near(axis.ticks[4].place, 1, 0);
}

static void linear_axes_near_zero_start_at_zero(void **state)
{
    (void)state;
    assert_near(axis_of(40, 100, false, 6).low, 0, 0);
    assert_true(axis_of(90, 100, false, 6).low > 80);
}

static void log_ticks_are_decades(void **state)
{
    (void)state;
    ridge_chart_axis axis = axis_of(1e-6, 1, true, 8);
    assert_int_equal(axis.n_ticks, 7);
    assert_string_equal(axis.ticks[0].text.s, "1µ");
    assert_string_equal(axis.ticks[6].text.s, "1");
    assert_near(ridge__chart_axis_place(&axis, 1e-3), 0.5, 1e-12);
}

static void short_log_axes_have_steps(void **state)
{
    (void)state;
    ridge_chart_axis axis = axis_of(1, 100, true, 12);
    assert_int_equal(axis.n_ticks, 7);
    assert_string_equal(axis.ticks[1].text.s, "2");
}

static void a_wide_log_axis_keeps_few_ticks(void **state)
{
    (void)state;
    ridge_chart_axis axis = axis_of(1e-300, 1e300, true, 8);
    assert_in_range(axis.n_ticks, 2, 9);
}

static void constant_values_get_a_range(void **state)
{
    (void)state;
    const double values[] = {0, 5, -5, 1e300, -1e300, 1e-310, 1e15};
    for (size_t i = 0; i < RIDGE_COUNT_OF(values); i++) {
        ridge_chart_axis axis = axis_of(values[i], values[i], false, 6);
        assert_true(axis.low < axis.high);
        assert_true(isfinite(axis.low) && isfinite(axis.high));
        assert_in_range(axis.n_ticks, 2, RIDGE_CHART_TICK_MAX);
    }
}

static void what_cannot_be_drawn_sets_no_range(void **state)
{
    (void)state;
    ridge_chart_axis axis = axis_of((double)NAN, (double)INFINITY, false, 6);
    assert_near(axis.low, 0, 0);
    assert_near(axis.high, 1, 0);
    axis = axis_of(-1, 0, true, 6);
    assert_near(axis.low, 1, 0);
    assert_near(axis.high, 10, 0);
}

static void numbers_have_prefixes(void **state)
{
    (void)state;
    assert_string_equal(ridge__chart_number(1500, 3).s, "1.5k");
    assert_string_equal(ridge__chart_number(999.9996, 4).s, "1k");
    assert_string_equal(ridge__chart_number(2e-6, 3).s, "2µ");
    assert_string_equal(ridge__chart_number(1e-15, 3).s, "1e-15");
    assert_string_equal(ridge__chart_number(-4e9, 3).s, "-4G");
    assert_string_equal(ridge__chart_number(0, 3).s, "0");
    assert_string_equal(ridge__chart_number(1e21, 3).s, "1e+21");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_ticks_are_1_2_5),
        cmocka_unit_test(linear_axes_near_zero_start_at_zero),
        cmocka_unit_test(log_ticks_are_decades),
        cmocka_unit_test(short_log_axes_have_steps),
        cmocka_unit_test(a_wide_log_axis_keeps_few_ticks),
        cmocka_unit_test(constant_values_get_a_range),
        cmocka_unit_test(what_cannot_be_drawn_sets_no_range),
        cmocka_unit_test(numbers_have_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
