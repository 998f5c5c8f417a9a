/* Laws of goodput over random jobs, and the closed form against a job that is played:
 * failures drawn from a seed, checkpoints written beside the work. */
#include "near.h"
#include "ridge/plan_money.h"
#include "seeded.h"

#include <math.h>

enum { JOBS = 400, PLAYED = 12 };

static double uniform(seeded *at)
{
    return ((double)(seeded_next(at) >> 11) + 0.5) / 9007199254740992.0;
}

static double between(seeded *at, double low, double high)
{
    return low * exp(uniform(at) * log(high / low));
}

static ridge_reliability random_job(seeded *at)
{
    ridge_reliability job = {.mtbf_s = between(at, 100, 1e7)};
    job.restart_s = between(at, 1e-3, 2) * 100;
    job.blocked_s = between(at, 1e-4, 1) * 100;
    job.lag_s = seeded_pick(at, 0, 1) == 0 ? 0 : between(at, 0.1, 100);
    job.interval_s = fmax(job.lag_s, between(at, 1e-2, 2) * fmin(job.mtbf_s, 1e4));
    return job;
}

static void shares_sum_to_one(void **state)
{
    (void)state;
    seeded at = 11;
    for (int i = 0; i < JOBS; i++) {
        const ridge_reliability job = random_job(&at);
        const ridge_goodput g = ridge_goodput_of(&job);
        assert_near(g.useful + g.checkpoint + g.lost + g.restart, 1, 1e-9);
        assert_true(g.useful >= 0 && g.checkpoint >= 0 && g.lost >= 0 &&
                    g.restart >= 0);
    }
}

static void more_failures_never_raise_goodput(void **state)
{
    (void)state;
    seeded at = 12;
    for (int i = 0; i < JOBS; i++) {
        ridge_reliability job = random_job(&at);
        ridge_reliability worse = job;
        worse.mtbf_s *= between(&at, 0.1, 0.999);
        assert_true(ridge_goodput_of(&worse).useful <=
                    ridge_goodput_of(&job).useful * (1 + 1e-12));
        job.interval_s = ridge_checkpoint_interval(&job);
        worse.interval_s = ridge_checkpoint_interval(&worse);
        assert_true(ridge_goodput_of(&worse).useful <=
                    ridge_goodput_of(&job).useful * (1 + 1e-12));
    }
}

static void slower_restarts_and_checkpoints_never_raise_goodput(void **state)
{
    (void)state;
    seeded at = 13;
    for (int i = 0; i < JOBS; i++) {
        ridge_reliability job = random_job(&at);
        const double useful = ridge_goodput_of(&job).useful;
        ridge_reliability worse = job;
        worse.restart_s *= 1.5;
        assert_true(ridge_goodput_of(&worse).useful <= useful);
        worse = job;
        worse.blocked_s *= 1.5;
        assert_true(ridge_goodput_of(&worse).useful <= useful);
        worse = job;
        worse.lag_s += 1;
        assert_true(ridge_goodput_of(&worse).useful <= useful);
    }
}

/* No interval of a fine grid does better than the one that is called best. */
static void the_best_interval_is_best_by_brute_force(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    seeded at = 14;
    for (int i = 0; i < JOBS; i++) {
        ridge_reliability job = random_job(&at);
        job.interval_s = ridge_checkpoint_interval(&job);
        const double best = ridge_goodput_of(&job).useful;
        const double least_s = fmax(job.interval_s * 1e-2, job.lag_s - job.blocked_s);
        const double most_s = job.interval_s * 1e2;
        for (int k = 0; k <= STEPS; k++) {
            ridge_reliability other = job;
            other.interval_s = least_s * pow(most_s / least_s, (double)k / STEPS);
            assert_true(ridge_goodput_of(&other).useful <= best * (1 + 1e-9));
        }
    }
}

/* ---- a job that is played -----------------------------------------------------------
 */

typedef struct player {
    seeded *at;
    const ridge_reliability *job;
    double wall_s;       /* so far */
    double next_fail_s;  /* on the same clock */
    double work_s;       /* in memory */
    double safe_work_s;  /* of the last checkpoint that can be restored */
    double written_at_s; /* when the one being written can be restored */
    double written_work_s;
} player;

static void draw_failure(player *p)
{
    p->next_fail_s = p->wall_s - p->job->mtbf_s * log(uniform(p->at));
}

/* A checkpoint that was written by now can be restored. */
static void finish_write(player *p, double now_s)
{
    if (p->written_at_s <= now_s && p->written_work_s > p->safe_work_s)
        p->safe_work_s = p->written_work_s;
}

static void fail_and_restart(player *p)
{
    p->wall_s = p->next_fail_s;
    finish_write(p, p->wall_s);
    p->work_s = p->safe_work_s;
    p->written_at_s = (double)INFINITY;
    draw_failure(p);
    while (p->next_fail_s - p->wall_s < p->job->restart_s) {
        p->wall_s = p->next_fail_s;
        draw_failure(p);
    }
    p->wall_s += p->job->restart_s;
}

/* Work up to the next checkpoint, with it. */
static void play_cycle(player *p)
{
    const double end_s = p->wall_s + p->job->interval_s + p->job->blocked_s;
    if (p->next_fail_s < end_s) {
        fail_and_restart(p);
        return;
    }
    finish_write(p, end_s);
    p->wall_s = end_s;
    p->work_s += p->job->interval_s;
    p->written_work_s = p->work_s;
    p->written_at_s = end_s + p->job->lag_s;
}

static double played(seeded *at, const ridge_reliability *job, int cycles)
{
    player p = {.at = at, .job = job, .written_at_s = (double)INFINITY};
    draw_failure(&p);
    while (p.safe_work_s < job->interval_s * cycles)
        play_cycle(&p);
    return p.safe_work_s / p.wall_s;
}

static void the_closed_form_is_what_a_played_job_does(void **state)
{
    (void)state;
    enum { CYCLES = 60000 };
    seeded at = 15;
    for (int i = 0; i < PLAYED; i++) {
        ridge_reliability job = {.mtbf_s = 1000, .blocked_s = between(&at, 1, 50)};
        job.restart_s = between(&at, 1, 500);
        job.interval_s = between(&at, 50, 1500);
        job.lag_s = i % 2 == 0 ? 0 : uniform(&at) * job.interval_s;
        /* failures are counted by the ten thousand: one in a hundred is three sigma */
        assert_near(played(&at, &job, CYCLES), ridge_goodput_of(&job).useful, 0.015);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_sum_to_one),
        cmocka_unit_test(more_failures_never_raise_goodput),
        cmocka_unit_test(slower_restarts_and_checkpoints_never_raise_goodput),
        cmocka_unit_test(the_best_interval_is_best_by_brute_force),
        cmocka_unit_test(the_closed_form_is_what_a_played_job_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
