/* Tables of times: values at knots, between them and beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "ridge/simulate_serving.h"

static void a_curve_is_linear_between_knots_and_beyond(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4};
    const double y[] = {10, 12, 20};
    const ridge_curve_table t = {3, x, y};
    const double at[][2] = {{1, 10}, {1.5, 11}, {2, 12}, {3, 16},
                            {4, 20}, {0, 8},    {6, 28}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(at); i++)
        assert_near(ridge_curve_table_at(&t, at[i][0]), at[i][1], 1e-15);
    const ridge_curve_table one = {1, x, y};
    assert_near(ridge_curve_table_at(&one, 100), 10, 0);
}

static void a_plane_is_bilinear(void **state)
{
    (void)state;
    const double x[] = {0, 2};
    const double y[] = {0, 10, 20};
    const double z[] = {0, 10, 20, 2, 32, 62}; /* rows of x */
    const ridge_plane_table t = {2, 3, x, y, z};
    assert_near(ridge_plane_table_at(&t, 0, 15), 15, 1e-15);
    assert_near(ridge_plane_table_at(&t, 2, 15), 47, 1e-15);
    assert_near(ridge_plane_table_at(&t, 1, 15), 31, 1e-15);
    assert_near(ridge_plane_table_at(&t, 4, 0), 4, 1e-15);
    const ridge_plane_table row = {1, 3, x, y, z};
    assert_near(ridge_plane_table_at(&row, 7, 5), 5, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_is_linear_between_knots_and_beyond),
        cmocka_unit_test(a_plane_is_bilinear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
