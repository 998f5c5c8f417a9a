/* Goodput by hand, its limits, and the interval of checkpoints that wastes least. */
#include "near.h"
#include "ridge/plan_money.h"

#include <math.h>

static ridge_reliability job(double mtbf_s, double restart_s, double blocked_s,
                             double lag_s, double interval_s)
{
    return (ridge_reliability){mtbf_s, restart_s, blocked_s, lag_s, interval_s};
}

static void without_failures_only_checkpoints_cost(void **state)
{
    (void)state;
    const ridge_reliability j = job((double)INFINITY, 600, 10, 0, 90);
    const ridge_goodput g = ridge_goodput_of(&j);
    assert_near(g.useful, 0.9, 1e-12);
    assert_near(g.checkpoint, 0.1, 1e-12);
    assert_near(g.lost + g.restart, 0, 0);
    assert_true(isinf(ridge_checkpoint_interval(&j)));
}

static void a_case_by_hand(void **state)
{
    (void)state;
    /* 100 / (1000 e^0.1 (e^0.11 - 1)) */
    const ridge_reliability j = job(1000, 100, 10, 0, 100);
    const ridge_goodput g = ridge_goodput_of(&j);
    assert_near(g.useful, 0.1 / (exp(0.1) * (exp(0.11) - 1)), 1e-12);
    assert_near(g.restart, 1 - exp(-0.1), 1e-12);
    assert_near(g.useful + g.checkpoint + g.lost + g.restart, 1, 1e-12);
}

static void a_lag_counts_as_a_longer_restart(void **state)
{
    (void)state;
    const ridge_reliability lagging = job(1000, 100, 10, 50, 100);
    const ridge_reliability slower = job(1000, 150, 10, 0, 100);
    assert_near(ridge_goodput_of(&lagging).useful, ridge_goodput_of(&slower).useful,
                1e-12);
    assert_near(ridge_goodput_of(&lagging).restart, 1 - exp(-0.1), 1e-12);
}

static void a_job_that_never_reaches_its_checkpoint_is_of_no_use(void **state)
{
    (void)state;
    const ridge_reliability j = job(1, 100, 1e5, 0, 1e6);
    const ridge_goodput g = ridge_goodput_of(&j);
    assert_near(g.useful, 0, 0);
    assert_near(g.lost + g.restart, 1, 1e-12);
}

static void the_published_run_is_met(void **state)
{
    (void)state;
    /* 466 interruptions in 54 days: more than 90 % effective time (dubey2024, 3.3.4).
     * Ten minutes a restart (megascale-2024), 2.8 s to write 5.7 TB at 2 TB/s. */
    ridge_reliability j = job(54 * 86400.0 / 466, 600, 2.84, 0, 1);
    j.interval_s = ridge_checkpoint_interval(&j);
    const double useful = ridge_goodput_of(&j).useful;
    assert_true(useful > 0.90 && useful < 0.95);
}

static void intervals_agree_where_checkpoints_are_cheap(void **state)
{
    (void)state;
    const ridge_reliability j = job(1e6, 0, 1, 0, 1);
    const double best_s = ridge_checkpoint_interval(&j);
    assert_near(ridge_checkpoint_interval_young(1, 1e6), sqrt(2e6), 1e-12);
    assert_near(ridge_checkpoint_interval_daly(1, 1e6), best_s, 1e-6);
    assert_near(ridge_checkpoint_interval_young(1, 1e6), best_s, 1e-3);
}

static void daly_stops_at_the_mean_time_between_failures(void **state)
{
    (void)state;
    assert_near(ridge_checkpoint_interval_daly(300, 100), 100, 0);
    /* 100 sqrt(2 x 0.5) (1 + 0.5 / 3 + 0.25 / 9) - 50 */
    assert_near(ridge_checkpoint_interval_daly(50, 100),
                100 * (1 + 0.5 / 3 + 0.25 / 9) - 50, 1e-12);
}

static void one_checkpoint_is_written_before_the_next(void **state)
{
    (void)state;
    const ridge_reliability j = job(1e6, 0, 1, 5000, 1);
    assert_near(ridge_checkpoint_interval(&j), 4999, 1e-12);
}

static void spares_by_hand(void **state)
{
    (void)state;
    /* a mean of one node down: e^-1, 2 e^-1, 2.5 e^-1 */
    assert_near(ridge_spares_availability(100, 100, 0), exp(-1), 1e-12);
    assert_near(ridge_spares_availability(100, 100, 1), 2 * exp(-1), 1e-12);
    assert_near(ridge_spares_availability(100, 100, 2), 2.5 * exp(-1), 1e-12);
    assert_near(ridge_spares_availability(100, 100, 60), 1, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_failures_only_checkpoints_cost),
        cmocka_unit_test(a_case_by_hand),
        cmocka_unit_test(a_lag_counts_as_a_longer_restart),
        cmocka_unit_test(a_job_that_never_reaches_its_checkpoint_is_of_no_use),
        cmocka_unit_test(the_published_run_is_met),
        cmocka_unit_test(intervals_agree_where_checkpoints_are_cheap),
        cmocka_unit_test(daly_stops_at_the_mean_time_between_failures),
        cmocka_unit_test(one_checkpoint_is_written_before_the_next),
        cmocka_unit_test(spares_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
