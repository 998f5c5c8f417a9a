/* Runs that fail: by hand, against the mean of the model, and what is refused. */
#include "near.h"

#include "ridge/simulate_failure.h"

#include <math.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_failure_script script_of(double mtbf_s)
{
    return (ridge_failure_script){.step_s = 10,
                                  .steps = 10000,
                                  .mtbf_s = mtbf_s,
                                  .checkpoint_steps = 30,
                                  .checkpoint_s = 20,
                                  .restart_s = 120,
                                  .runs = 2000,
                                  .seed = 5};
}

/* The mean wall time by renewal, as docs/design/failures.md derives it: each segment,
 * of which the last needs no checkpoint, takes M e^((R + lag) / M) (e^(X / M) - 1); but
 * a first try needs no restart, and the last one no lag. */
static double mean_s(const ridge_failure_script *s)
{
    const double m = s->mtbf_s;
    const double whole = (double)((s->steps - 1) / s->checkpoint_steps);
    const double last = (double)s->steps - whole * (double)s->checkpoint_steps;
    const double each_s = (double)s->checkpoint_steps * s->step_s + s->checkpoint_s;
    const double waits = m * exp((s->restart_s + s->lag_s) / m);
    return waits * (whole * expm1(each_s / m) + expm1(last * s->step_s / m));
}

static ridge_failure_outcome play(ridge_ctx *cx, const ridge_failure_script *s)
{
    ridge_failure_outcome out = {.wall_s = 0};
    if (ridge_failure_play(cx, s, &out) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return out;
}

static void without_failures_there_are_checkpoints_alone(void **state)
{
    const ridge_failure_script s = script_of(1e15);
    const ridge_failure_outcome out = play(*state, &s);
    assert_near(out.useful_s, 1e5, 0);
    assert_near(out.checkpoint_s, 333 * 20, 1e-12); /* none behind the last step */
    assert_near(out.lost_s, 0, 0);
    assert_near(out.failures, 0, 0);
    assert_near(out.wall_s, mean_s(&s), 1e-9);
}

/* Over so many runs the mean is within a thousandth; parts sum to the whole. */
static void the_mean_of_runs_is_that_of_the_model(void **state)
{
    static const double mtbfs_s[] = {300, 1000, 5000, 1e5};
    for (size_t i = 0; i < RIDGE_COUNT_OF(mtbfs_s); i++) {
        const ridge_failure_script s = script_of(mtbfs_s[i]);
        const ridge_failure_outcome out = play(*state, &s);
        assert_near(out.wall_s, mean_s(&s), 2e-3);
        assert_near(out.useful_s + out.checkpoint_s + out.lost_s + out.restart_s,
                    out.wall_s, 1e-9);
        assert_near(out.goodput, out.useful_s / out.wall_s, 1e-12);
        assert_near(out.failures, out.wall_s / s.mtbf_s, 0.02);
        assert_true(out.wall_p10_s <= out.wall_s && out.wall_s <= out.wall_p90_s);
    }
}

/* Asynchronous: the same but for a restart that is longer by the lag; what differs is
 * at the ends of the run. */
static void a_lag_costs_as_a_longer_restart(void **state)
{
    static const double mtbfs_s[] = {1000, 5000, 1e5};
    for (size_t i = 0; i < RIDGE_COUNT_OF(mtbfs_s); i++) {
        ridge_failure_script s = script_of(mtbfs_s[i]);
        s.checkpoint_s = 2;
        const double none_s = play(*state, &s).wall_s;
        s.lag_s = 200;
        const ridge_failure_outcome out = play(*state, &s);
        assert_near(out.wall_s, mean_s(&s), 5e-3);
        assert_true(out.wall_s > none_s);
        assert_near(out.useful_s + out.checkpoint_s + out.lost_s + out.restart_s,
                    out.wall_s, 1e-9);
    }
}

static void equal_seeds_play_the_same_runs(void **state)
{
    ridge_failure_script s = script_of(1000);
    s.runs = 10;
    const double first_s = play(*state, &s).wall_s;
    assert_near(play(*state, &s).wall_s, first_s, 0);
    s.seed++;
    assert_true(play(*state, &s).wall_s != first_s);
}

static void a_run_shorter_than_an_interval_writes_none(void **state)
{
    ridge_failure_script s = script_of(1e4);
    s.steps = 20;
    const ridge_failure_outcome out = play(*state, &s);
    assert_near(out.checkpoint_s, 0, 0);
    assert_near(out.wall_s, mean_s(&s), 5e-3);
}

static void what_does_not_end_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    ridge_failure_outcome out;
    ridge_failure_script s = script_of(10);
    assert_int_equal(ridge_failure_play(cx, &s, &out), RIDGE_E_ARG);
    assert_string_equal(
        ridge_ctx_message(cx),
        "the run does not end: a failure comes every 10 s, a checkpoint "
        "every 30 steps of 10 s: write them more often, or take fewer "
        "chips");
    s = script_of(1000);
    s.steps = 100000000;
    assert_int_equal(ridge_failure_play(cx, &s, &out), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "2000 runs with a failure every 16.7 min are too many to play: "
                        "take fewer runs, or tokens");
    s = script_of(1000);
    s.step_s = (double)NAN;
    assert_int_equal(ridge_failure_play(cx, &s, &out), RIDGE_E_ARG);
    s = script_of(1000);
    s.steps = 0;
    assert_int_equal(ridge_failure_play(cx, &s, &out), RIDGE_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_failures_there_are_checkpoints_alone),
        cmocka_unit_test(the_mean_of_runs_is_that_of_the_model),
        cmocka_unit_test(a_lag_costs_as_a_longer_restart),
        cmocka_unit_test(equal_seeds_play_the_same_runs),
        cmocka_unit_test(a_run_shorter_than_an_interval_writes_none),
        cmocka_unit_test(what_does_not_end_is_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
