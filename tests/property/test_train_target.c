/* What is found for a launcher can be told to it, and nothing faster that is known
 * could be. */
#include "train_fixture.h"

#include "ridge/plan_launch.h"

#include <math.h>

enum { PROBLEMS = 40 };

static const char NAME[] = "llama-3-8b";

static bool takes(const train_problem *p, ridge_launcher launcher,
                  const ridge_layout *layout)
{
    ridge_launch_text text;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_status st =
        ridge_launch_write(cx, launcher, &p->request, NAME, layout, &text);
    ridge_ctx_close(cx);
    return st == RIDGE_OK;
}

/* The fastest of what is found without a launcher, and which it takes. */
static double fastest_s(train_problem *p, ridge_launcher launcher)
{
    static const char *const remats[] = {NULL, "none", "selective", "matmuls", "full"};
    const ridge_knobs knobs = p->request.knobs;
    double least_s = (double)INFINITY;
    p->request.top = RIDGE_TRAIN_TOP_MAX;
    for (size_t i = 0; i < RIDGE_COUNT_OF(remats); i++) {
        ridge_train_result found;
        if (remats[i] != NULL && knobs.remat >= 0)
            break;
        if (remats[i] != NULL)
            assert_ok(p->cx,
                      ridge_knobs_set(p->cx, &p->request.knobs, "remat", remats[i]));
        assert_ok(p->cx, ridge_train_search(p->cx, &p->request, &found));
        for (int k = 0; k < found.n_layouts; k++) {
            if (takes(p, launcher, &found.layouts[k].layout))
                least_s = fmin(least_s, found.layouts[k].step_time_s);
        }
    }
    p->request.knobs = knobs;
    return least_s;
}

static int check(uint64_t seed, ridge_launcher launcher)
{
    train_problem p;
    ridge_train_result found;
    train_problem_open(seed, &p);
    const ridge_launch_target target = {launcher, NAME};
    const double known_s = fastest_s(&p, launcher);
    p.request.target = &target;
    p.request.top = 5;
    assert_ok(p.cx, ridge_train_search(p.cx, &p.request, &found));
    if (isfinite(known_s)) {
        assert_true(found.n_layouts > 0);
        assert_true(found.layouts[0].step_time_s <= known_s * (1 + 1e-9));
    }
    for (int i = 0; i < found.n_layouts; i++)
        assert_true(takes(&p, launcher, &found.layouts[i].layout));
    const int n = found.n_layouts > 0;
    ridge_ctx_close(p.cx);
    return n;
}

static void what_is_found_for_a_launcher_it_takes(void **state)
{
    static const ridge_launcher launchers[] = {
        RIDGE_LAUNCHER_MEGATRON, RIDGE_LAUNCHER_MAXTEXT, RIDGE_LAUNCHER_DEEPSPEED,
        RIDGE_LAUNCHER_JAX};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(launchers); i++) {
        int n = 0;
        for (uint64_t seed = 1; seed <= PROBLEMS; seed++)
            n += check(seed, launchers[i]);
        assert_true(n >= 5);
    }
}

/* What the best of all recomputes Megatron-LM cannot be told. */
static void the_best_of_megatron_is_written(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_launch_target target = {RIDGE_LAUNCHER_MEGATRON, "llama-3-70b"};
    ridge_launch_text text;
    ridge_train_result any;
    ridge_train_result found;
    ridge_train_request r =
        train_request(fixture_named(cx, "llama-3-70b"), train_slice(cx, "h100:16x8"),
                      2.0 * 1048576, 8192);
    r.top = 1;
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "tp", "4"));
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "pp", "4"));
    assert_ok(cx, ridge_train_search(cx, &r, &any));
    assert_int_equal(ridge_launch_write(cx, target.launcher, &r, target.model_name,
                                        &any.layouts[0].layout, &text),
                     RIDGE_E_ARG);
    r.target = &target;
    assert_ok(cx, ridge_train_search(cx, &r, &found));
    assert_int_equal(found.n_layouts, 1);
    assert_true(found.layouts[0].step_time_s >= any.layouts[0].step_time_s);
    assert_ok(cx, ridge_launch_write(cx, target.launcher, &r, target.model_name,
                                     &found.layouts[0].layout, &text));
}

/* MaxText recomputes in all layers or in none: the fewest that fit, which are kept of
 * each policy otherwise, are nothing to it. */
static void a_policy_on_all_layers_is_found(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_launch_target target = {RIDGE_LAUNCHER_MAXTEXT, "llama-3-70b"};
    ridge_train_result free;
    ridge_train_result fixed;
    ridge_train_request r =
        train_request(fixture_named(cx, "llama-3-70b"), train_slice(cx, "h100:16x8"),
                      2.0 * 1048576, 8192);
    r.top = 1;
    r.target = &target;
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "pp", "1"));
    assert_ok(cx, ridge_train_search(cx, &r, &free));
    assert_int_equal(free.n_layouts, 1);
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "remat", "matmuls"));
    assert_ok(cx, ridge_train_search(cx, &r, &fixed));
    assert_int_equal(fixed.n_layouts, 1);
    assert_int_equal(fixed.layouts[0].layout.remat_layers, 0);
    assert_true(free.layouts[0].step_time_s <=
                fixed.layouts[0].step_time_s * (1 + 1e-9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_for_a_launcher_it_takes),
        cmocka_unit_test(the_best_of_megatron_is_written),
        cmocka_unit_test(a_policy_on_all_layers_is_found),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
