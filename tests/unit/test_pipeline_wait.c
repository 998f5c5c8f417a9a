/* What batches of a pipeline wait for each other, against the recursion of stages. */
#include "pipeline_wait.h"

#include "near.h"
#include "ridge/base.h"
#include "seeded.h"

#include <math.h>
#include <stdlib.h>

enum { JOBS = 40000, STAGES_MOST = 16 };

/* Seconds of each iteration in the long run: batches go through the stages in one
 * order, and a batch begins again when it is back. */
static double played_s(int stages, const double *takes_s, int n)
{
    double free_s[STAGES_MOST] = {0};
    double *back_s = calloc((size_t)n, sizeof *back_s);
    assert_non_null(back_s);
    for (int k = 0; k < n; k++) {
        double at = k >= stages ? back_s[k - stages] : 0;
        for (int i = 0; i < stages; i++) {
            at = fmax(at, free_s[i]) + takes_s[k] / stages;
            free_s[i] = at;
        }
        back_s[k] = at;
    }
    const double s = back_s[n - 1] / n * stages;
    free(back_s);
    return s;
}

static double uniform(seeded *at)
{
    return (double)seeded_pick(at, 0, 1000000 - 1) / 1e6;
}

static int poisson(seeded *at, double mean)
{
    const double least = exp(-mean);
    double product = uniform(at);
    int n = 0;
    while (product > least) {
        product *= uniform(at);
        n++;
    }
    return n;
}

/* Iterations that draw their prompts, and after those of prompts alone one that
 * decodes. */
static double drawn_s(const pipeline_jobs *j, double base_s, bool alternates)
{
    seeded at = 7;
    static double takes_s[JOBS];
    for (int k = 0; k < JOBS; k++) {
        const double n = fmin(j->most, poisson(&at, j->mean));
        const bool is_alone = alternates && n > 0;
        takes_s[k] = is_alone ? fmax(base_s, n * j->more_s) : base_s + n * j->more_s;
        if (is_alone && k + 1 < JOBS)
            takes_s[++k] = base_s;
    }
    return played_s((int)j->stages, takes_s, JOBS);
}

static void waits_are_those_of_the_recursion(void **state)
{
    (void)state;
    static const int stages[] = {2, 4, 8, 16};
    static const double means[] = {0.05, 0.2, 0.5, 1, 2, 5};
    for (size_t i = 0; i < RIDGE_COUNT_OF(stages); i++) {
        for (size_t k = 0; k < RIDGE_COUNT_OF(means); k++) {
            const pipeline_jobs jobs = {.stages = stages[i],
                                        .mean = means[k],
                                        .most = 100,
                                        .first_s = 2,
                                        .more_s = 2};
            assert_near(1 + pipeline_wait_longer_s(&jobs), drawn_s(&jobs, 1, false),
                        0.06);
        }
    }
}

static void waits_for_prompts_alone(void **state)
{
    (void)state;
    static const double means[] = {0.05, 0.5, 2};
    static const double mores[] = {0.4, 1.5, 4};
    for (size_t k = 0; k < RIDGE_COUNT_OF(means); k++) {
        for (size_t m = 0; m < RIDGE_COUNT_OF(mores); m++) {
            const double turns = 1 - exp(-means[k]);
            const pipeline_jobs jobs = {.stages = 4,
                                        .mean = means[k],
                                        .most = 100,
                                        .first_s = mores[m],
                                        .more_s = mores[m],
                                        .spare_s = 1,
                                        .others = turns};
            assert_near(1 + pipeline_wait_longer_s(&jobs), drawn_s(&jobs, 1, true),
                        0.08);
        }
    }
}

static void two_kinds_are_near(void **state)
{
    (void)state;
    static double takes_s[JOBS];
    static const double shares[] = {0.02, 0.2, 0.5, 0.9};
    for (size_t i = 0; i < RIDGE_COUNT_OF(shares); i++) {
        seeded at = 3;
        for (int k = 0; k < JOBS; k++)
            takes_s[k] = uniform(&at) < shares[i] ? 3 : 1;
        const double felt = pipeline_wait_share(8, shares[i], 1);
        assert_near(1 + 2 * felt, played_s(8, takes_s, JOBS), 0.06);
    }
}

static void one_stage_waits_for_nothing(void **state)
{
    (void)state;
    pipeline_jobs jobs = {
        .stages = 1, .mean = 0.7, .most = 1000, .first_s = 2, .more_s = 2};
    assert_near(pipeline_wait_longer_s(&jobs), 1.4, 1e-6);
    assert_near(pipeline_wait_share(1, 0.3, 4), 0.3, 0);
    jobs.stages = 8;
    assert_true(pipeline_wait_longer_s(&jobs) > 1.4);
    jobs.mean = 0;
    assert_near(pipeline_wait_longer_s(&jobs), 0, 0);
    jobs.mean = 2000; /* all are full */
    assert_near(pipeline_wait_longer_s(&jobs), 2000, 0);
}

/* More stages, more prompts: never less to wait for; all beyond the room is alike. */
static void waits_rise(void **state)
{
    (void)state;
    double before = 0;
    for (double stages = 1; stages <= 64; stages *= 2) {
        const pipeline_jobs jobs = {
            .stages = stages, .mean = 0.5, .most = 3, .first_s = 1, .more_s = 1};
        const double s = pipeline_wait_longer_s(&jobs);
        assert_true(s >= before && s <= 3);
        before = s;
    }
    before = 0;
    for (double mean = 0.01; mean < 3; mean *= 1.1) {
        const pipeline_jobs jobs = {
            .stages = 8, .mean = mean, .most = 3.5, .first_s = 1, .more_s = 1};
        const double s = pipeline_wait_longer_s(&jobs);
        assert_true(s >= before && s >= fmin(mean, 2.5) && s <= 3.5);
        before = s;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_are_those_of_the_recursion),
        cmocka_unit_test(waits_for_prompts_alone),
        cmocka_unit_test(two_kinds_are_near),
        cmocka_unit_test(one_stage_waits_for_nothing),
        cmocka_unit_test(waits_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
