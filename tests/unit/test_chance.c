/* Draws from a seed, and the largest factor of a group against as many single draws. */
#include "near.h"

#include "ridge/base.h"
#include "ridge/simulate_chance.h"

#include <math.h>

static void equal_seeds_draw_alike_and_others_do_not(void **state)
{
    (void)state;
    ridge_chance a = ridge_chance_of(7, 3);
    ridge_chance b = ridge_chance_of(7, 3);
    ridge_chance other_stream = ridge_chance_of(7, 4);
    ridge_chance other_seed = ridge_chance_of(8, 3);
    for (int i = 0; i < 100; i++) {
        const uint64_t bits = ridge_chance_bits(&a);
        assert_true(bits == ridge_chance_bits(&b));
        assert_true(bits != ridge_chance_bits(&other_stream));
        assert_true(bits != ridge_chance_bits(&other_seed));
    }
}

/* Means over so many draws lie within five standard errors. */
static void draws_have_the_means_that_they_should(void **state)
{
    enum { DRAWS = 100000 };
    (void)state;
    ridge_chance c = ridge_chance_of(1, 0);
    double uniform = 0;
    double exponential = 0;
    double picked = 0;
    for (int i = 0; i < DRAWS; i++) {
        const double u = ridge_chance_uniform(&c);
        assert_true(u > 0 && u < 1);
        const int64_t n = ridge_chance_pick(&c, 5);
        assert_true(n >= 0 && n < 5);
        uniform += u / DRAWS;
        picked += (double)n / DRAWS;
        exponential += ridge_chance_exponential(&c, 3) / DRAWS;
    }
    assert_near(uniform, 0.5, 5 * 0.578 / sqrt((double)DRAWS));
    assert_near(picked, 2, 5 * 0.708 / sqrt((double)DRAWS));
    assert_near(exponential, 3, 5 / sqrt((double)DRAWS));
}

/* From tables of the normal distribution, and as the inverse of erfc. */
static void quantiles_of_the_normal_distribution(void **state)
{
    static const struct {
        double p, z;
    } rows[] = {{0.5, 0},
                {0.975, 1.959963984540054},
                {0.841344746068543, 1.0},
                {1e-9, -5.997807015007687}};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++)
        assert_near(ridge_normal_quantile(rows[i].p), rows[i].z, 1e-12);
    for (double p = 1e-6; p < 1; p += 0.0007)
        assert_near(0.5 * erfc(-ridge_normal_quantile(p) / sqrt(2.0)), p, 1e-12);
    for (double p = 1e-6; p > 1e-300; p *= 1e-7) /* z^2 times a rounded z's error */
        assert_near(0.5 * erfc(-ridge_normal_quantile(p) / sqrt(2.0)), p, 1e-12);
}

/* Means from tables of order statistics. */
static void the_largest_of_normal_variables(void **state)
{
    static const struct {
        double n, mean;
    } rows[] = {{8, 1.42360}, {10, 1.53875}, {100, 2.50759}, {1000, 3.24144}};
    (void)state;
    assert_near(ridge_normal_largest(1), 0, 0);
    assert_near(ridge_normal_largest(2), 0.56419, 0.05);
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++)
        assert_near(ridge_normal_largest(rows[i].n), rows[i].mean, 0.01);
}

/* ---- groups -------------------------------------------------------------------- */

/* The same by a draw for each chip. */
static double brute_most(const ridge_jitter *j, const ridge_chip_group *g,
                         ridge_chance *c)
{
    const ridge_chip_group one = {.even = 1};
    double most = 0;
    for (int i = 0; i < (int)g->even; i++)
        most = fmax(most, ridge_jitter_draw_most(j, &one, c));
    for (int i = 0; i < (int)g->slow; i++)
        most = fmax(most, g->slowdown * ridge_jitter_draw_most(j, &one, c));
    return most;
}

static const ridge_chip_group groups[] = {
    {1, 0, 1}, {2, 0, 1}, {8, 0, 1}, {64, 0, 1}, {7, 1, 1.1}, {60, 4, 1.3}, {0, 3, 2}};
static const double spreads[] = {0.01, 0.1, 0.5};

/* Means and spreads of the largest, by one draw and by n: within five standard errors
 * of means over so many draws. */
static void one_draw_of_the_largest_is_like_n_draws(void **state)
{
    enum { DRAWS = 4000 };
    (void)state;
    for (size_t g = 0; g < RIDGE_COUNT_OF(groups) * RIDGE_COUNT_OF(spreads); g++) {
        const ridge_jitter j = ridge_jitter_of(spreads[g / RIDGE_COUNT_OF(groups)]);
        const ridge_chip_group *group = &groups[g % RIDGE_COUNT_OF(groups)];
        ridge_chance c = ridge_chance_of(g, 0);
        double sum[2] = {0, 0};
        double squares[2] = {0, 0};
        for (int i = 0; i < DRAWS; i++) {
            const double at_once = ridge_jitter_draw_most(&j, group, &c);
            const double brute = brute_most(&j, group, &c);
            sum[0] += at_once / DRAWS;
            sum[1] += brute / DRAWS;
            squares[0] += at_once * at_once / DRAWS;
            squares[1] += brute * brute / DRAWS;
        }
        const double mean = ridge_jitter_mean_most(&j, group);
        const double deviation = sqrt(squares[1] - sum[1] * sum[1]);
        const double error = 5 * deviation / sqrt((double)DRAWS) / mean;
        assert_near(sum[0], mean, error);
        assert_near(sum[1], mean, error);
        /* Of a deviation the error is larger, and tails are long. */
        assert_near(sqrt(squares[0] - sum[0] * sum[0]), deviation, 0.2);
    }
}

static void a_single_chip_is_no_slower_on_average(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(spreads); i++) {
        const ridge_jitter j = ridge_jitter_of(spreads[i]);
        assert_near(ridge_jitter_mean_most(&j, &(ridge_chip_group){1, 0, 1}), 1, 1e-6);
        assert_near(ridge_jitter_mean_most(&j, &(ridge_chip_group){0, 1, 1.5}), 1.5,
                    1e-6);
    }
    const ridge_jitter none = ridge_jitter_of(0);
    assert_near(ridge_jitter_mean_most(&none, &(ridge_chip_group){9, 0, 1}), 1, 0);
    assert_near(ridge_jitter_mean_most(&none, &(ridge_chip_group){9, 1, 1.5}), 1.5, 0);
}

/* The largest of two has a closed form: its mean is 2 Phi(sigma / sqrt 2). */
static void the_larger_of_two_by_its_closed_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(spreads); i++) {
        const ridge_jitter j = ridge_jitter_of(spreads[i]);
        assert_near(ridge_jitter_mean_most(&j, &(ridge_chip_group){2, 0, 1}),
                    erfc(-j.sigma / 2), 1e-6);
    }
}

/* A hundred thousand chips, and more of either: never less. */
static void larger_groups_wait_longer(void **state)
{
    (void)state;
    double last = 0;
    const ridge_jitter j = ridge_jitter_of(0.05);
    for (double n = 1; n <= 1e6; n *= 10) {
        const double mean = ridge_jitter_mean_most(&j, &(ridge_chip_group){n, 0, 1});
        assert_true(mean > last);
        last = mean;
    }
    assert_true(last > 1.25 && last < 1.3); /* 4.86 deviations of 0.05 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_seeds_draw_alike_and_others_do_not),
        cmocka_unit_test(draws_have_the_means_that_they_should),
        cmocka_unit_test(quantiles_of_the_normal_distribution),
        cmocka_unit_test(the_largest_of_normal_variables),
        cmocka_unit_test(one_draw_of_the_largest_is_like_n_draws),
        cmocka_unit_test(a_single_chip_is_no_slower_on_average),
        cmocka_unit_test(the_larger_of_two_by_its_closed_form),
        cmocka_unit_test(larger_groups_wait_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
