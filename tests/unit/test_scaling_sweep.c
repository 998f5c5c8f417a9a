/* Scaling curves: each point is the search of its own problem, compared with the first;
 * and the slices and ranges that they are made of. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_sweep.h"

#include <math.h>
#include <string.h>

static const ridge_catalog *catalog_of(void **state)
{
    const ridge_catalog *catalog = NULL;
    assert_ok(*state, ridge_catalog_open(*state, NULL, &catalog));
    return catalog;
}

static const ridge_curve_study *swept(void **state, const char *slice,
                                      const char *sweep)
{
    ridge_ctx *cx = *state;
    const ridge_catalog *catalog = catalog_of(state);
    static const ridge_site site = {.name = "here", .pue = 1};
    const ridge_money_request money = {.site = &site};
    const ridge_slice *on = NULL;
    ridge_curve_range range;
    ridge_curve_study *study = ridge_new(ridge_ctx_arena(cx), ridge_curve_study, 1);
    assert_non_null(study);
    assert_ok(cx, ridge_slice_parse(cx, catalog, slice, &on));
    assert_ok(cx, ridge_curve_parse(cx, sweep, &range));
    const ridge_train_request request =
        train_request(train_dense_model(cx), on, 64, 1024);
    assert_ok(cx, ridge_train_sweep(cx, catalog, &request, &money, &range, study));
    return study;
}

static void points_are_searches_of_their_own(void **state)
{
    const ridge_curve_study *s = swept(state, "h100:1x8", "chips=8..32");
    assert_int_equal(s->n_curves, 2);
    for (int c = 0; c < 2; c++) {
        assert_int_equal(s->curves[c].n, 3);
        for (int i = 0; i < 3; i++) {
            const ridge_curve_point *p = &s->curves[c].points[i];
            ridge_train_result result;
            assert_null(p->why_not);
            assert_ok(*state, ridge_train_search(*state, &p->request, &result));
            assert_near(p->best.step_time_s, result.layouts[0].step_time_s, 0);
            assert_near(p->tokens_per_s * p->best.step_time_s, p->request.batch_tokens,
                        1e-9);
        }
    }
}

static void strong_keeps_the_batch_and_weak_its_share(void **state)
{
    const ridge_curve_study *s = swept(state, "h100:1x8", "chips=8,16,32");
    const ridge_curve *strong = &s->curves[0];
    const ridge_curve *weak = &s->curves[1];
    assert_int_equal(strong->kind, RIDGE_CURVE_STRONG);
    assert_int_equal(weak->kind, RIDGE_CURVE_WEAK);
    for (int i = 0; i < 3; i++) {
        assert_near(strong->points[i].request.batch_tokens, 64 * 1024, 0);
        assert_near(weak->points[i].request.batch_tokens, 64 * 1024 * (1 << i), 0);
        assert_near(strong->points[i].efficiency, strong->points[i].speedup / (1 << i),
                    1e-9);
    }
    assert_near(strong->points[0].efficiency, 1, 0);
    assert_near(strong->points[1].speedup,
                strong->points[0].best.step_time_s / strong->points[1].best.step_time_s,
                1e-9);
}

static void a_batch_is_swept_on_one_slice(void **state)
{
    const ridge_curve_study *s = swept(state, "h100:1x8", "batch=64Ki..1Mi*4");
    assert_int_equal(s->n_curves, 1);
    assert_int_equal(s->curves[0].kind, RIDGE_CURVE_PLAIN);
    assert_int_equal(s->curves[0].n, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s->curves[0].points[i].request.slice->chips, 8);
        assert_near(s->curves[0].points[i].request.batch_tokens, 65536.0 * pow(4, i),
                    0);
    }
}

static void points_without_an_answer_say_why(void **state)
{
    const ridge_curve_study *s = swept(state, "v5p:2x2x1", "chips=4,7,64");
    const ridge_curve *c = &s->curves[0];
    assert_null(c->points[0].why_not);
    assert_non_null(c->points[1].why_not);
    assert_non_null(strstr(c->points[1].why_not, "7 chips"));
    assert_null(c->points[2].why_not);
    assert_near(c->points[0].efficiency, 1, 0);
}

static void assert_unbound_below(const ridge_curve *c, double at)
{
    for (int k = 0; k < c->n; k++) {
        if (c->points[k].value < at)
            assert_false(c->points[k].is_bound);
    }
}

static void marks_lie_where_communication_grows(void **state)
{
    const ridge_curve_study *s = swept(state, "h100:1x8", "chips=8..512");
    const ridge_curve *strong = &s->curves[0];
    bool has_threshold = false;
    bool has_bound = false;
    for (int i = 0; i < strong->n_marks; i++) {
        has_threshold = has_threshold || strong->marks[i].is_threshold;
        if (strstr(strong->marks[i].label, "outweighs") != NULL) {
            has_bound = true;
            assert_unbound_below(strong, strong->marks[i].at);
        }
    }
    assert_true(has_threshold);
    assert_true(has_bound); /* 64 sequences of 1024 on 512 chips */
}

/* ---- ranges -----------------------------------------------------------------------
 */

static void ranges_and_lists_are_read(void **state)
{
    ridge_curve_range r;
    assert_ok(*state, ridge_curve_parse(*state, "chips=64..16384", &r));
    assert_int_equal(r.n, 9);
    assert_near(r.values[8], 16384, 0);
    assert_ok(*state, ridge_curve_parse(*state, "chips=48..100", &r));
    assert_int_equal(r.n, 2);
    assert_ok(*state, ridge_curve_parse(*state, "seq=4Ki, 8192,1M", &r));
    assert_int_equal(r.axis, RIDGE_CURVE_SEQ);
    assert_near(r.values[2], 1e6, 0);
    assert_ok(*state, ridge_curve_parse(*state, "batch=1M", &r));
    assert_int_equal(r.n, 1);
}

static void ranges_of_nonsense_are_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "chips",
                                        "chips=",
                                        "chip=1",
                                        "chips=0",
                                        "chips=8,8",
                                        "chips=16,8",
                                        "chips=8..4",
                                        "chips=1.5",
                                        "chips=..8",
                                        "chips=8..",
                                        "chips=1,,2",
                                        "chips=1..8*1",
                                        "chips=x",
                                        "chips=1..1e15",
                                        "chips=1..8*2*2"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        ridge_curve_range r;
        if (ridge_curve_parse(*state, wrong[i], &r) != RIDGE_E_ARG)
            fail_msg("'%s' was taken", wrong[i]);
    }
}

/* ---- slices ------------------------------------------------------------------------
 */

static void slices_grow_by_their_rules(void **state)
{
    static const struct {
        const char *base;
        int64_t chips;
        const char *want;
    } cases[] = {{"h100:8x8", 128, "h100:16x8"},
                 {"h100:8x8", 4, "h100:1x4"},
                 {"h100:2x4", 16, "h100:4x4"},
                 {"h100:8x8", 64, "h100:8x8"},
                 {"v5p:4x4x4", 128, "v5p:4x4x8"},
                 {"v5p:4x4x4", 512, "v5p:8x8x8"},
                 {"2*v5p:4x4x4", 512, "8*v5p:4x4x4"},
                 {"v5p:4x4x4", 17920, "2*v5p:16x20x28"},
                 {"h100", 64, "h100:8x8"},
                 {"gb200", 144, "gb200:2x72"}};
    const ridge_catalog *catalog = catalog_of(state);
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_slice *base = NULL;
        const ridge_slice *slice = NULL;
        assert_ok(*state, ridge_slice_parse(*state, catalog, cases[i].base, &base));
        assert_ok(*state, ridge_slice_with_chips(*state, catalog, base, cases[i].chips,
                                                 &slice));
        assert_string_equal(slice->text, cases[i].want);
        assert_int_equal(slice->chips, cases[i].chips);
    }
}

static void slices_that_are_not_are_refused(void **state)
{
    const ridge_catalog *catalog = catalog_of(state);
    const ridge_slice *base = NULL;
    const ridge_slice *slice = NULL;
    assert_ok(*state, ridge_slice_parse(*state, catalog, "v5p:4x4x4", &base));
    assert_int_equal(ridge_slice_with_chips(*state, catalog, base, 7, &slice),
                     RIDGE_E_ARG);
    assert_int_equal(ridge_slice_with_chips(*state, catalog, base, 0, &slice),
                     RIDGE_E_ARG);
}

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

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_ctx, close_ctx)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(points_are_searches_of_their_own),
        CASE(strong_keeps_the_batch_and_weak_its_share),
        CASE(a_batch_is_swept_on_one_slice),
        CASE(points_without_an_answer_say_why),
        CASE(marks_lie_where_communication_grows),
        CASE(ranges_and_lists_are_read),
        CASE(ranges_of_nonsense_are_refused),
        CASE(slices_grow_by_their_rules),
        CASE(slices_that_are_not_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
