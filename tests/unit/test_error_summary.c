/* Medians, percentiles and groups of errors. */
#include "near.h"

#include "error_summary.h"

static void the_median_of_few_is_by_hand(void **state)
{
    (void)state;
    double odd[] = {0.3, -0.1, 0.2};
    const ridge_error_summary s = error_summarise("odd", odd, 3);
    assert_int_equal(s.rows, 3);
    assert_near(s.bias, 0.2, 0);
    assert_near(s.median_abs, 0.2, 0);
    assert_near(s.p90_abs, 0.3, 0);
    double even[] = {-0.4, 0.1};
    const ridge_error_summary e = error_summarise("even", even, 2);
    assert_near(e.bias, -0.15, 1e-12);
    assert_near(e.median_abs, 0.25, 1e-12);
}

static void the_ninetieth_percentile_is_the_nearest_rank(void **state)
{
    (void)state;
    double ten[] = {0.10, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, -0.09};
    assert_near(error_summarise("ten", ten, 10).p90_abs, 0.09, 0);
    assert_int_equal(error_summarise("none", ten, 0).rows, 0);
}

static void rows_are_grouped_by_name_in_order(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    error_entry entries[] = {{"b", 0.5}, {"a", 0.1}, {"b", -0.3}, {"a", 0.3}, {"c", 0}};
    ridge_error_groups groups;
    assert_int_equal(error_group(cx, entries, 5, &groups), RIDGE_OK);
    assert_int_equal(groups.n, 3);
    assert_string_equal(groups.at[0].name, "a");
    assert_near(groups.at[0].median_abs, 0.2, 1e-12);
    assert_string_equal(groups.at[1].name, "b");
    assert_near(groups.at[1].bias, 0.1, 1e-12);
    assert_int_equal(groups.at[2].rows, 1);
    assert_int_equal(error_group(cx, entries, 0, &groups), RIDGE_OK);
    assert_int_equal(groups.n, 0);
    ridge_ctx_close(cx);
}

static void memory_that_runs_out_is_a_status(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open_budget(64);
    error_entry entries[64] = {{"a", 0.5}};
    for (int i = 0; i < 64; i++)
        entries[i] = (error_entry){"a", i};
    ridge_error_groups groups;
    assert_int_equal(error_group(cx, entries, 64, &groups), RIDGE_E_NOMEM);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_of_few_is_by_hand),
        cmocka_unit_test(the_ninetieth_percentile_is_the_nearest_rank),
        cmocka_unit_test(rows_are_grouped_by_name_in_order),
        cmocka_unit_test(memory_that_runs_out_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
