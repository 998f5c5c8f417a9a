/* Grids of measured rates: at their points, between them, and beyond. */
#include "near.h"
#include "ridge/hardware_measured.h"

#include <math.h>

static const double sizes[] = {10, 100, 1000};
static const double rates[] = {1, 4, 16};
static const ridge_grid line = {
    .n_axes = 1, .sizes = {3}, .axes = {sizes}, .rates = rates};

static double rate_at(double x)
{
    return ridge_grid_rate(&line, &x);
}

static void points_have_what_was_measured(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_near(rate_at(sizes[i]), rates[i], 1e-12);
}

static void between_points_logarithms_are_linear(void **state)
{
    (void)state;
    assert_near(rate_at(sqrt(10.0 * 100.0)), 2, 1e-12);
    assert_near(rate_at(sqrt(100.0 * 1000.0)), 8, 1e-12);
}

static void above_the_rate_stays_and_below_the_time(void **state)
{
    (void)state;
    assert_near(rate_at(1e6), 16, 1e-12);
    assert_near(5 / rate_at(5), 10 / rate_at(10), 1e-12);
}

static void three_axes_meet_in_a_corner(void **state)
{
    static const double two[] = {1, 4};
    static const double corners[] = {1, 2, 4, 8, 16, 32, 64, 128};
    const ridge_grid cube = {
        .n_axes = 3, .sizes = {2, 2, 2}, .axes = {two, two, two}, .rates = corners};
    const double corner[] = {4, 1, 4};
    const double middle[] = {2, 2, 2};
    (void)state;
    assert_near(ridge_grid_rate(&cube, corner), 32, 1e-12);
    assert_near(ridge_grid_rate(&cube, middle), sqrt(128.0), 1e-12);
}

static void one_size_is_a_grid_too(void **state)
{
    static const double one[] = {8};
    static const double rate[] = {3};
    const ridge_grid point = {.n_axes = 1, .sizes = {1}, .axes = {one}, .rates = rate};
    const double below = 4;
    const double above = 80;
    (void)state;
    assert_near(ridge_grid_rate(&point, &below), 1.5, 1e-12);
    assert_near(ridge_grid_rate(&point, &above), 3, 1e-12);
}

static void grids_are_found_by_name(void **state)
{
    const ridge_named_grid items[] = {{"norm.fp32", line}};
    const ridge_grid_list list = {1, items};
    const ridge_grid_list none = {0, NULL};
    (void)state;
    assert_ptr_equal(ridge_grid_find(&list, "norm.fp32"), &items[0].grid);
    assert_null(ridge_grid_find(&list, "norm"));
    assert_null(ridge_grid_find(&none, "norm.fp32"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_have_what_was_measured),
        cmocka_unit_test(between_points_logarithms_are_linear),
        cmocka_unit_test(above_the_rate_stays_and_below_the_time),
        cmocka_unit_test(three_axes_meet_in_a_corner),
        cmocka_unit_test(one_size_is_a_grid_too),
        cmocka_unit_test(grids_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
