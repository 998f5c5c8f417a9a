/* Laws of steps with trouble, over random pipelines, replicas and groups. */
#include "step_build.h"

#include <math.h>

enum { CASES = 25, STEPS = 20 };

typedef void law(ridge_ctx *cx, const step_case *c, uint64_t seed);

static void each_case(law *holds)
{
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        seeded at = seed;
        step_case c;
        ridge_ctx *cx = ridge_ctx_open();
        step_case_random(cx, &at, &c);
        holds(cx, &c, seed);
        ridge_ctx_close(cx);
    }
}

static ridge_step_trouble jitter_of(double spread, uint64_t seed)
{
    return (ridge_step_trouble){
        .jitter = spread, .slowdown = 1, .steps = STEPS, .seed = seed, .workers = 1};
}

/* ---- without trouble ------------------------------------------------------------- */

static double close_s(const step_case *c)
{
    double most_s = 0;
    for (int i = 0; i < c->schedule.pipeline.ranks; i++)
        most_s =
            fmax(most_s, c->script.closes[i].update_s + c->script.closes[i].gather_s);
    return most_s;
}

/* Whole numbers of seconds: sums are exact. */
static void calm_is_the_pipeline_and_its_close(ridge_ctx *cx, const step_case *c,
                                               uint64_t seed)
{
    const ridge_pipeline *p = &c->schedule.pipeline;
    const ridge_step_trouble calm = jitter_of(0, seed);
    const ridge_step_outcome out = step_case_play(cx, c, &calm);
    ridge_stage_time stages[64];
    for (int i = 0; i < p->ranks * p->chunks; i++) {
        const ridge_stage_time *a = &c->script.compute[i];
        const ridge_stage_time *b = &c->script.network[i];
        stages[i] = (ridge_stage_time){a->forward_s + b->forward_s,
                                       a->backward_input_s + b->backward_input_s,
                                       a->backward_weight_s + b->backward_weight_s};
    }
    const ridge_pipeline_times times = {.stages = stages, .send_s = c->script.send_s};
    const ridge_pipeline_timeline line = pipeline_play(cx, &c->schedule, &times);
    double reduced_s = 0;
    for (int i = 0; i < p->ranks; i++) {
        reduced_s = fmax(reduced_s, line.ranks[i].end_s + c->script.closes[i].reduce_s);
        assert_near(out.timeline.ranks[i].end_s, line.ranks[i].end_s, 0);
        assert_near(out.timeline.ranks[i].busy_s, line.ranks[i].busy_s, 0);
        assert_true(out.timeline.makespan_s >= out.timeline.ranks[i].busy_s);
        for (int a = 0; a < c->schedule.ranks[i].n; a++)
            assert_near(out.timeline.ranks[i].actions[a].start_s,
                        line.ranks[i].actions[a].start_s, 0);
    }
    assert_near(out.timeline.makespan_s, line.makespan_s, 0);
    assert_near(out.reduced_s, reduced_s, 0);
    assert_near(out.calm_s, reduced_s + close_s(c), 0);
    assert_near(out.mean_s, out.calm_s, 0);
}

static void slower_stage_is_no_gain(ridge_ctx *cx, const step_case *c, int stage,
                                    double step_s)
{
    const int n = c->schedule.pipeline.ranks * c->schedule.pipeline.chunks;
    const ridge_step_trouble calm = jitter_of(0, 1);
    ridge_stage_time *slower =
        ridge_new(ridge_ctx_arena(cx), ridge_stage_time, (size_t)n);
    step_case changed = *c;
    assert_non_null(slower);
    for (int i = 0; i < n; i++)
        slower[i] = c->script.compute[i];
    slower[stage].forward_s += 1 + stage % 3;
    slower[stage].backward_weight_s += stage % 2;
    changed.script.compute = slower;
    assert_true(step_case_play(cx, &changed, &calm).calm_s >= step_s * (1 - 1e-9));
}

/* Nobody waits for all: each rank goes on by itself, and no step is longer for it. */
static void no_barrier(ridge_ctx *cx, const step_case *c, uint64_t seed)
{
    const ridge_step_trouble calm = jitter_of(0, seed);
    const double barred_s = step_case_play(cx, c, &calm).calm_s;
    step_case own = *c;
    own.script.has_barrier = false;
    const ridge_step_outcome out = step_case_play(cx, &own, &calm);
    double longest_s = 0;
    double work_s = 0;
    for (int i = 0; i < c->schedule.pipeline.ranks; i++) {
        const ridge_rank_time *r = &out.timeline.ranks[i];
        const ridge_step_close *k = &c->script.closes[i];
        const double own_s = k->reduce_s + k->update_s + k->gather_s;
        longest_s = fmax(longest_s, r->end_s - r->start_s + own_s);
        work_s = fmax(work_s, r->busy_s + own_s);
    }
    assert_true(out.calm_s <= longest_s * (1 + 1e-12));
    assert_true(out.calm_s >= work_s * (1 - 1e-12));
    assert_true(out.calm_s <= barred_s);
    for (int i = 0; i < c->schedule.pipeline.ranks * c->schedule.pipeline.chunks; i++)
        slower_stage_is_no_gain(cx, &own, i, out.calm_s);
    const ridge_step_trouble jitter = jitter_of(0.1, seed);
    assert_true(step_case_play(cx, &own, &jitter).mean_s >= out.calm_s * 0.97);
}

static void without_a_barrier_each_rank_goes_on_by_itself(void **state)
{
    (void)state;
    each_case(no_barrier);
}

static void a_calm_step_is_the_pipeline_and_its_close(void **state)
{
    (void)state;
    each_case(calm_is_the_pipeline_and_its_close);
}

/* ---- jitter ---------------------------------------------------------------------- */

/* Means over as many steps as are played; where nothing can be late they are equal. */
static void more_is_no_shorter(ridge_ctx *cx, const step_case *c, uint64_t seed)
{
    static const double spreads[] = {0, 0.02, 0.05, 0.1, 0.2, 0.5};
    double last_s = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(spreads); i++) {
        const ridge_step_trouble t = jitter_of(spreads[i], seed);
        const ridge_step_outcome out = step_case_play(cx, c, &t);
        /* Of single chips in single passes the mean stays, but for chance. */
        const double slack = 3 * spreads[i] / sqrt((double)STEPS);
        const bool is_group = c->script.group_chips > 3;
        assert_true(out.mean_s >= last_s * (1 - (is_group ? 0 : slack)));
        assert_true(out.least_s <= out.p50_s && out.p50_s <= out.p90_s &&
                    out.p90_s <= out.p99_s && out.p99_s <= out.most_s);
        last_s = out.mean_s;
    }
}

static void more_jitter_never_shortens_the_mean_step(void **state)
{
    (void)state;
    each_case(more_is_no_shorter);
}

static void losses_sum(ridge_ctx *cx, const step_case *c, uint64_t seed)
{
    ridge_step_trouble t = jitter_of(0.1, seed);
    t.stragglers = (int64_t)(seed % 4);
    t.slowdown = 1.5;
    const ridge_step_outcome out = step_case_play(cx, c, &t);
    const ridge_step_loss *l = &out.loss;
    const double sum_s = l->stragglers_s + l->groups_s + l->stages_s + l->replicas_s;
    assert_true(fabs(out.calm_s + sum_s - out.mean_s) <= 1e-9 * out.mean_s);
    assert_true(l->stragglers_s >= 0 && l->groups_s >= 0 && l->replicas_s >= 0);
    assert_true(l->stages_s >= -1e-9 * out.mean_s); /* rounded sums */
    int64_t chips = 0;
    for (int i = 0; i < out.n_places; i++)
        chips += out.places[i].chips;
    assert_true(chips == t.stragglers);
}

static void losses_sum_to_the_mean(void **state)
{
    (void)state;
    each_case(losses_sum);
}

static void workers_do_not_matter(ridge_ctx *cx, const step_case *c, uint64_t seed)
{
    ridge_step_trouble t = jitter_of(0.1, seed);
    const ridge_step_outcome one = step_case_play(cx, c, &t);
    for (int workers = 2; workers <= 7; workers += 5) {
        t.workers = workers;
        const ridge_step_outcome more = step_case_play(cx, c, &t);
        assert_near(more.mean_s, one.mean_s, 0);
        assert_near(more.p99_s, one.p99_s, 0);
        assert_near(more.timeline.makespan_s, one.timeline.makespan_s, 0);
    }
}

static void steps_do_not_depend_on_workers(void **state)
{
    (void)state;
    each_case(workers_do_not_matter);
}

/* ---- stragglers ------------------------------------------------------------------ */

static void slow_chips(ridge_ctx *cx, const step_case *c, uint64_t seed)
{
    ridge_step_trouble t = jitter_of(0, seed);
    double last_s = 0;
    t.stragglers = 1;
    for (t.slowdown = 1; t.slowdown < 4; t.slowdown *= 1.7) {
        const ridge_step_outcome out = step_case_play(cx, c, &t);
        assert_true(out.mean_s >= last_s);
        assert_true(out.mean_s <= t.slowdown * out.calm_s * (1 + 1e-12));
        last_s = out.mean_s;
    }
    /* All chips slow: compute takes that much longer, whatever it waits for. */
    t.slowdown = 2;
    t.stragglers =
        c->script.group_chips * c->script.replicas * c->schedule.pipeline.ranks;
    assert_true(step_case_play(cx, c, &t).mean_s >= last_s * 2 / 4);
    t.stragglers++;
    ridge_step_outcome out;
    assert_int_equal(ridge_step_play(cx, &c->script, &t, &out), RIDGE_E_ARG);
}

static void slower_chips_never_shorten_a_step(void **state)
{
    (void)state;
    each_case(slow_chips);
}

/* ---- shared processors ----------------------------------------------------------- */

/* While all work a rank has half of what it could use: no step is shorter than half of
 * one on processors of its own, nor than the work of all in turns. */
static void shared(ridge_ctx *cx, const step_case *c, uint64_t seed)
{
    const ridge_step_trouble calm = jitter_of(0, seed);
    step_case own = *c;
    own.script.schedule = &own.schedule;
    own.script.send_s = 0;
    const ridge_step_outcome alone = step_case_play(cx, &own, &calm);
    const double whole_s = alone.timeline.makespan_s;
    own.script.processor_share = 0.5;
    const ridge_step_outcome out = step_case_play(cx, &own, &calm);
    double work_s = 0;
    for (int i = 0; i < own.schedule.pipeline.ranks; i++)
        work_s += alone.timeline.ranks[i].busy_s / own.schedule.pipeline.ranks;
    const double least_s = fmax(work_s, whole_s / 2);
    assert_true(out.timeline.makespan_s >= least_s * (1 - 1e-9));
    assert_true(out.timeline.makespan_s <= whole_s * (1 + 1e-9));
    own.script.processor_share = 1 - 1e-12;
    assert_near(step_case_play(cx, &own, &calm).timeline.makespan_s, whole_s, 1e-9);
}

static void ranks_that_wait_leave_processors_to_others(void **state)
{
    (void)state;
    each_case(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_calm_step_is_the_pipeline_and_its_close),
        cmocka_unit_test(without_a_barrier_each_rank_goes_on_by_itself),
        cmocka_unit_test(more_jitter_never_shortens_the_mean_step),
        cmocka_unit_test(losses_sum_to_the_mean),
        cmocka_unit_test(steps_do_not_depend_on_workers),
        cmocka_unit_test(slower_chips_never_shorten_a_step),
        cmocka_unit_test(ranks_that_wait_leave_processors_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
