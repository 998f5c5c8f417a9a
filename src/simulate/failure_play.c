/*
 * Runs that fail: from one failure to the next at once, since between two of them
 * segments of steps and their checkpoints follow each other evenly.
 */
#include "ridge/simulate_chance.h"
#include "ridge/simulate_failure.h"

#include <math.h>
#include <stdlib.h>

/* A failure rate at which a segment gets through once in so many attempts is no run. */
static const double ATTEMPTS_MOST = 1e4;

/* Failures of all runs that are played in about a second. */
static const double FAILURES_MOST = 3e7;

/* ---- what is asked ------------------------------------------------------------- */

static bool is_time(double time_s)
{
    return time_s >= 0 && time_s <= 1e15;
}

/* Of the steps up to a checkpoint, and the checkpoint. */
static double segment_s(const ridge_failure_script *s)
{
    return (double)s->checkpoint_steps * s->step_s + s->checkpoint_s;
}

/* Segments short of the last steps, which need no checkpoint. */
static int64_t segments_of(const ridge_failure_script *s, int64_t left)
{
    return (left - 1) / s->checkpoint_steps;
}

static double attempts_of(const ridge_failure_script *s)
{
    const double steps_s = (double)s->steps * s->step_s;
    return exp(fmax(fmin(segment_s(s), steps_s) + s->lag_s, s->restart_s) / s->mtbf_s);
}

/* About so many, of all runs: see daly2006. */
static double failures_of(const ridge_failure_script *s)
{
    const double each =
        expm1(segment_s(s) / s->mtbf_s) * exp((s->restart_s + s->lag_s) / s->mtbf_s);
    return each * (double)segments_of(s, s->steps) * s->runs;
}

static ridge_status check(ridge_ctx *cx, const ridge_failure_script *s)
{
    if (!(is_time(s->step_s) && s->step_s > 0 && is_time(s->mtbf_s) && s->mtbf_s > 0 &&
          is_time(s->checkpoint_s) && is_time(s->lag_s) && is_time(s->restart_s)))
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "a run with steps of %s, failures every %s, checkpoints of %s "
            "and restarts of %s: times are above 0",
            ridge_format_seconds(s->step_s).s, ridge_format_seconds(s->mtbf_s).s,
            ridge_format_seconds(s->checkpoint_s).s,
            ridge_format_seconds(s->restart_s).s);
    if (s->steps < 1 || s->checkpoint_steps < 1 || s->runs < 1 ||
        s->runs > RIDGE_FAILURE_RUNS_MAX)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a run of %lld steps with checkpoints every %lld, played %d "
                          "times: take 1 or more",
                          (long long)s->steps, (long long)s->checkpoint_steps, s->runs);
    if (attempts_of(s) > ATTEMPTS_MOST)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "the run does not end: a failure comes every %s, a checkpoint "
            "every %lld steps of %s: write them more often, or take "
            "fewer chips",
            ridge_format_seconds(s->mtbf_s).s, (long long)s->checkpoint_steps,
            ridge_format_seconds(s->step_s).s);
    if (failures_of(s) > FAILURES_MOST)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%d runs with a failure every %s are too many to play: take "
                          "fewer runs, or tokens",
                          s->runs, ridge_format_seconds(s->mtbf_s).s);
    return RIDGE_OK;
}

/* ---- one run ------------------------------------------------------------------- */

/* Restarts until one gets through. @return the time until the next failure after it */
static double restart(const ridge_failure_script *s, ridge_chance *chance,
                      ridge_failure_outcome *run)
{
    for (;;) {
        const double until_s = ridge_chance_exponential(chance, s->mtbf_s);
        if (until_s >= s->restart_s) {
            run->restart_s += s->restart_s;
            return until_s - s->restart_s;
        }
        run->restart_s += until_s;
        run->failures++;
    }
}

/* Until a failure, or the end. @return steps that are still to be done */
static int64_t play_until(const ridge_failure_script *s, int64_t left, double failure_s,
                          ridge_failure_outcome *run)
{
    const int64_t whole = segments_of(s, left);
    const double each_s = segment_s(s);
    const double last_s = (double)(left - whole * s->checkpoint_steps) * s->step_s;
    const bool is_through = failure_s >= (double)whole * each_s + last_s;
    const double safe = floor((failure_s - s->lag_s) / each_s);
    const int64_t done = is_through || safe > (double)whole ? whole
                         : safe > 0                         ? (int64_t)safe
                                                            : 0;
    run->checkpoint_s += (double)done * s->checkpoint_s;
    if (is_through)
        return 0;
    run->lost_s += failure_s - (double)done * each_s;
    run->failures++;
    return left - done * s->checkpoint_steps;
}

static ridge_failure_outcome play_run(const ridge_failure_script *s,
                                      ridge_chance *chance)
{
    ridge_failure_outcome run = {.useful_s = (double)s->steps * s->step_s};
    double failure_s = ridge_chance_exponential(chance, s->mtbf_s);
    int64_t left = play_until(s, s->steps, failure_s, &run);
    while (left > 0) {
        failure_s = restart(s, chance, &run);
        left = play_until(s, left, failure_s, &run);
    }
    run.wall_s = run.useful_s + run.checkpoint_s + run.lost_s + run.restart_s;
    return run;
}

/* ---- all runs ------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void play_runs(const ridge_failure_script *s, double *walls_s,
                      ridge_failure_outcome *out)
{
    const double n = s->runs;
    ridge_failure_outcome sum = {.wall_s = 0};
    for (int i = 0; i < s->runs; i++) {
        ridge_chance chance = ridge_chance_of(s->seed, (uint64_t)i);
        const ridge_failure_outcome run = play_run(s, &chance);
        walls_s[i] = run.wall_s;
        sum.wall_s += run.wall_s / n;
        sum.checkpoint_s += run.checkpoint_s / n;
        sum.lost_s += run.lost_s / n;
        sum.restart_s += run.restart_s / n;
        sum.failures += run.failures / n;
    }
    qsort(walls_s, (size_t)s->runs, sizeof *walls_s, compare_doubles);
    sum.useful_s = (double)s->steps * s->step_s;
    sum.goodput = sum.useful_s / sum.wall_s;
    sum.wall_p10_s = walls_s[s->runs / 10];
    sum.wall_p90_s = walls_s[s->runs - 1 - s->runs / 10];
    *out = sum;
}

ridge_status ridge_failure_play(ridge_ctx *cx, const ridge_failure_script *script,
                                ridge_failure_outcome *out)
{
    RIDGE_TRY(check(cx, script));
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    const ridge_mark mark = ridge_arena_mark(scratch);
    double *walls_s = ridge_new(scratch, double, (size_t)script->runs);
    ridge_status st = walls_s == NULL ? ridge_fail_nomem(cx) : RIDGE_OK;
    if (st == RIDGE_OK)
        play_runs(script, walls_s, out);
    ridge_arena_rewind(scratch, mark);
    return st;
}
