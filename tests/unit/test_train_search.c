/* What a search finds depends on no bound that it starts from, nor on how it is run. */
#include "train_fixture.h"

#include <math.h>

enum { SEEDS = 60 };

static double best_s(ridge_ctx *cx, const ridge_train_request *request)
{
    ridge_train_result result;
    assert_ok(cx, ridge_train_search(cx, request, &result));
    return result.n_layouts > 0 ? result.layouts[0].step_time_s : (double)INFINITY;
}

/* Experts' exchanges that one schedule exposes and another hides were once part of a
 * bound on both; and one stage, which no schedule folds, taught those of many. */
static void a_freed_knob_makes_no_step_longer(void **state)
{
    static const char *const schedules[] = {"any", "dualpipe", "1f1b"};
    static const int64_t eps[] = {32, 64};
    ridge_ctx *cx = *state;
    ridge_train_request r = train_request(fixture_named(cx, "deepseek-v3"),
                                          train_slice(cx, "h800:256x8"), 15360, 4096);
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "tp", "2"));
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "cp", "1"));
    for (size_t i = 0; i < RIDGE_COUNT_OF(schedules) * RIDGE_COUNT_OF(eps); i++) {
        assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "schedule", schedules[i / 2]));
        r.knobs.ep = eps[i % 2];
        r.knobs.pp = 0;
        const double free_s = best_s(cx, &r);
        for (r.knobs.pp = 2; r.knobs.pp <= 32; r.knobs.pp *= 2)
            assert_true(free_s <= best_s(cx, &r) * (1 + 1e-9));
    }
}

static void a_known_layout_hides_no_better_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        train_problem p;
        train_problem_open(seed, &p);
        p.request.top = 1;
        const double step_s = best_s(p.cx, &p.request);
        p.request.top = 20;
        assert_true(best_s(p.cx, &p.request) == step_s);
        p.request.top = 1;
        p.request.known_step_s = isinf(step_s) ? 0 : step_s;
        assert_true(best_s(p.cx, &p.request) == step_s);
        p.request.known_step_s *= 1.5;
        assert_true(best_s(p.cx, &p.request) == step_s);
        ridge_ctx_close(p.cx);
    }
}

static void any_number_of_workers_counts_alike(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
        train_problem p;
        ridge_train_result one;
        ridge_train_result three;
        train_problem_open(seed, &p);
        p.request.top = 5;
        p.request.workers = 1;
        assert_ok(p.cx, ridge_train_search(p.cx, &p.request, &one));
        p.request.workers = 3;
        assert_ok(p.cx, ridge_train_search(p.cx, &p.request, &three));
        assert_int_equal(one.covered, three.covered);
        assert_int_equal(one.priced, three.priced);
        assert_int_equal(one.n_layouts, three.n_layouts);
        for (int i = 0; i < one.n_layouts; i++)
            assert_true(one.layouts[i].step_time_s == three.layouts[i].step_time_s);
        ridge_ctx_close(p.cx);
    }
}

/* What a host makes layers wait for hides what is computed again: a bound that added
 * both once dropped every layout. */
static void a_slow_host_hides_no_layout(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_stack slow = {.practice = {-1, -1, -1, -1, -1, NULL},
                              .stream_passes = 1,
                              .kept_passes = 1,
                              .experts_host_s = 0.5};
    ridge_train_request r =
        train_request(train_moe_model(cx), train_slice(cx, "h100:1x8"), 64, 2048);
    r.stack = &slow;
    r.top = 1;
    for (int remat = 0; remat < RIDGE_REMAT_COUNT; remat++) {
        r.knobs.remat = remat;
        const double step_s = best_s(cx, &r);
        assert_true(isfinite(step_s));
        r.known_step_s = step_s;
        assert_true(best_s(cx, &r) == step_s);
        r.known_step_s = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freed_knob_makes_no_step_longer),
        cmocka_unit_test(a_known_layout_hides_no_better_one),
        cmocka_unit_test(any_number_of_workers_counts_alike),
        cmocka_unit_test(a_slow_host_hides_no_layout),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
