/* Fleets played pass by pass against what is told of them. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_fleet_simulation.h"

#include <math.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

/* What a plan of the search holds. */
static ridge_fleet_plan plan_of(const ridge_fleet_result *r, bool is_replicas)
{
    ridge_fleet_plan plan = {.is_replicas = is_replicas};
    if (!is_replicas) {
        plan.pipeline = r->layouts[0].layout;
        return plan;
    }
    plan.n_shares = r->replicas.n;
    for (int i = 0; i < plan.n_shares; i++)
        plan.shares[i] = r->replicas.shares[i];
    return plan;
}

static ridge_fleet_simulation *play(ridge_ctx *cx, const ridge_train_request *request,
                                    const ridge_fleet_plan *plan, double jitter)
{
    const ridge_simulation_request asked = {
        .trouble = {.jitter = jitter, .steps = 10, .seed = 3}};
    ridge_fleet_simulation *out =
        ridge_new(ridge_ctx_arena(cx), ridge_fleet_simulation, 1);
    assert_non_null(out);
    assert_ok(cx, ridge_fleet_simulate(cx, request, plan, &asked, out));
    return out;
}

static void search(ridge_ctx *cx, const ridge_train_request *request,
                   ridge_fleet_result *out)
{
    assert_ok(cx, ridge_fleet_search(cx, request, out));
    assert_true(out->n_layouts > 0);
}

static void a_pipeline_takes_what_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *fleet;
        int schedule;
    } cases[] = {{"h100:1x8+a100:1x8", RIDGE_KNOB_FREE},
                 {"h100:1x8+a100:1x8", RIDGE_SCHEDULE_GPIPE},
                 {"h100:1x8+a100:1x8", RIDGE_SCHEDULE_ZB_H1},
                 {"h100:1x8+a100:1x8", RIDGE_SCHEDULE_INTERLEAVED},
                 {"v5e:2x4+v5p:2x2x2", RIDGE_SCHEDULE_INTERLEAVED},
                 {"h100:1x8+h200:1x8+a100:1x8", RIDGE_KNOB_FREE},
                 {"h100:1x8+v5e:2x4", RIDGE_KNOB_FREE},
                 {"v5e:2x4+v5p:2x2x2", RIDGE_KNOB_FREE}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_fleet_result result;
        ridge_train_request r =
            train_request(i % 2 == 0 ? train_dense_model(cx) : train_moe_model(cx),
                          train_slice(cx, cases[i].fleet), 48, 2048);
        r.knobs.schedule = cases[i].schedule;
        search(cx, &r, &result);
        const ridge_fleet_plan plan = plan_of(&result, false);
        const ridge_fleet_simulation *s = play(cx, &r, &plan, 0);
        assert_near(s->closed_s, result.layouts[0].price.step_time_s, 1e-12);
        assert_near(s->played_s, s->closed_s, 2e-3);
        if (r.knobs.schedule == RIDGE_SCHEDULE_INTERLEAVED)
            assert_true(s->pools[0].simulation.step.pipeline.chunks > 1);
        ridge_ctx_close(cx);
    }
}

static void stages_are_named_by_their_pools(void **state)
{
    ridge_ctx *cx = *state;
    ridge_fleet_result result;
    const ridge_train_request r = train_request(
        train_dense_model(cx), train_slice(cx, "h100:1x8+a100:1x8"), 24, 2048);
    search(cx, &r, &result);
    const ridge_fleet_plan plan = plan_of(&result, false);
    const ridge_fleet_simulation *s = play(cx, &r, &plan, 0);
    const ridge_fleet_price *p = &result.layouts[0];
    assert_string_equal(s->rank_pools[0], p->pools[0].slice->text);
    assert_string_equal(s->rank_pools[p->layout.common.pp - 1],
                        p->pools[1].slice->text);
}

static void replicas_end_with_their_last_pool(void **state)
{
    ridge_ctx *cx = *state;
    ridge_fleet_result result;
    const ridge_train_request r = train_request(
        train_dense_model(cx), train_slice(cx, "h100:1x8+a100:1x8"), 24, 2048);
    search(cx, &r, &result);
    assert_int_equal(result.replicas.n, 2);
    const ridge_fleet_plan plan = plan_of(&result, true);
    const ridge_fleet_simulation *calm = play(cx, &r, &plan, 0);
    double last_s = 0;
    for (int i = 0; i < calm->n; i++)
        last_s = fmax(last_s, calm->pools[i].simulation.outcome.calm_s);
    assert_near(calm->played_s, last_s, 0);
    assert_near(calm->closed_s, result.replicas.price.step_time_s, 1e-12);
    assert_near(calm->played_s, calm->closed_s, 5e-3);
    assert_near(calm->mean_s, calm->played_s, 1e-12);
    const ridge_fleet_simulation *shaken = play(cx, &r, &plan, 0.1);
    assert_true(shaken->mean_s > shaken->played_s && shaken->p90_s >= shaken->mean_s);
    for (int i = 0; i < shaken->n; i++) {
        const ridge_step_outcome *o = &shaken->pools[i].simulation.outcome;
        double mean_s = 0;
        for (int64_t k = 0; k < o->steps; k++)
            mean_s += o->steps_s[k] / (double)o->steps;
        assert_true(shaken->mean_s >= mean_s * (1 - 1e-12));
    }
}

static void slow_chips_need_a_pool(void **state)
{
    ridge_ctx *cx = *state;
    ridge_fleet_result result;
    ridge_fleet_simulation out;
    const ridge_simulation_request asked = {
        .trouble = {.stragglers = 1, .slowdown = 2, .steps = 1}};
    const ridge_train_request r = train_request(
        train_dense_model(cx), train_slice(cx, "h100:1x8+a100:1x8"), 24, 2048);
    search(cx, &r, &result);
    const ridge_fleet_plan plan = plan_of(&result, true);
    assert_int_equal(ridge_fleet_simulate(cx, &r, &plan, &asked, &out), RIDGE_E_ARG);
    fixture_assert_message(cx, "nothing says which pool");
    const ridge_fleet_plan pipeline = plan_of(&result, false);
    assert_ok(cx, ridge_fleet_simulate(cx, &r, &pipeline, &asked, &out));
    assert_true(out.mean_s > out.played_s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_takes_what_is_told),
        cmocka_unit_test_setup_teardown(stages_are_named_by_their_pools, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(replicas_end_with_their_last_pool, open_ctx,
                                        close_ctx),
        cmocka_unit_test_setup_teardown(slow_chips_need_a_pool, open_ctx, close_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
