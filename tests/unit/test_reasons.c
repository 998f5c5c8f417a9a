/* What if, limits, sensitivity and the front of time and memory. */
#include "train_fixture.h"

#include "ridge/plan_reasons.h"

#include <string.h>

typedef struct answered {
    ridge_ctx *cx;
    ridge_train_request request;
    ridge_train_result result;
} answered;

static void ask(answered *a, const char *slice)
{
    a->cx = ridge_ctx_open();
    a->request =
        train_request(train_dense_model(a->cx), train_slice(a->cx, slice), 32, 2048);
    a->request.front = 16;
    assert_ok(a->cx, ridge_train_search(a->cx, &a->request, &a->result));
}

static void changes_are_read_from_words(void **state)
{
    (void)state;
    answered a;
    ridge_what_if w;
    ask(&a, "h100:2x8");
    assert_ok(a.cx, ridge_what_if_parse(a.cx, "hbm=2x,nvlink=x0.5,flops=+10%,leaf=3",
                                        a.request.slice, &w));
    assert_int_equal(w.n, 4);
    assert_string_equal(w.changes[1].name, "nvlink");
    assert_true(w.changes[1].factor == 0.5 && w.changes[3].factor == 3);
    assert_true(w.changes[2].factor > 1.0999 && w.changes[2].factor < 1.1001);
    const char *const wrong[] = {"",        "hbn=2x",  "hbm", "hbm=0",   "hbm=-1x",
                                 "hbm=nan", "hbm=1e9", "=2",  "hbm=2x,,"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        assert_int_equal(ridge_what_if_parse(a.cx, wrong[i], a.request.slice, &w),
                         RIDGE_E_ARG);
        ridge_ctx_clear(a.cx);
    }
    assert_int_equal(ridge_what_if_parse(a.cx, "hbn=2x", a.request.slice, &w),
                     RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(a.cx), "hbm"));
    ridge_ctx_close(a.cx);
}

static void changed_hardware_is_another_machine(void **state)
{
    (void)state;
    answered a;
    ridge_what_if w;
    ridge_what_if_answer b;
    ask(&a, "h100:1x8");
    const ridge_train_price *best = &a.result.layouts[0];
    assert_ok(a.cx, ridge_what_if_parse(a.cx, "flops=2x", a.request.slice, &w));
    assert_ok(a.cx, ridge_train_what_if(a.cx, &a.request, best, &w, &b));
    assert_true(b.has_best && b.best.step_time_s <= b.same.step_time_s);
    assert_true(b.same.step_time_s < best->step_time_s);
    assert_true(a.request.slice->chip->peak_flops_per_s[RIDGE_DTYPE_BF16] < 1e15);
    assert_ok(a.cx, ridge_what_if_parse(a.cx, "hbm=1x", a.request.slice, &w));
    assert_ok(a.cx, ridge_train_what_if(a.cx, &a.request, best, &w, &b));
    assert_true(b.best.step_time_s == best->step_time_s);
    ridge_ctx_close(a.cx);
}

/* The answer is that of a search that knows nothing of the layout as it was. */
static void what_is_known_only_saves_time(void **state)
{
    (void)state;
    static const char *const changes[] = {"hbm=3x",    "hbm_bytes=4x", "hbm_bytes=0.5x",
                                          "flops=4x",  "inner=0.1x",   "inner=8x",
                                          "flops=0.2x"};
    answered a;
    int better = 0;
    ask(&a, "h100:1x8");
    for (size_t i = 0; i < RIDGE_COUNT_OF(changes); i++) {
        ridge_what_if w;
        ridge_what_if_answer known;
        ridge_train_request plain = a.request;
        ridge_train_result result;
        assert_ok(a.cx, ridge_what_if_parse(a.cx, changes[i], plain.slice, &w));
        assert_ok(a.cx, ridge_train_what_if(a.cx, &a.request, &a.result.layouts[0], &w,
                                            &known));
        plain.top = 1;
        assert_ok(a.cx, ridge_slice_change(a.cx, a.request.slice, &w, &plain.slice));
        assert_ok(a.cx, ridge_train_search(a.cx, &plain, &result));
        assert_int_equal(known.has_best, result.n_layouts > 0);
        if (!known.has_best)
            continue;
        assert_near(known.best.step_time_s, result.layouts[0].step_time_s, 1e-9);
        better += known.best.step_time_s < 0.999 * known.same.step_time_s;
    }
    assert_true(better > 0);
    ridge_ctx_close(a.cx);
}

/* A limit taken away leaves every layout of before. */
static bool is_freedom(const ridge_relaxation *x)
{
    return strstr(x->name, "hbm") != NULL || strcmp(x->name, "schedule=any") == 0 ||
           strcmp(x->name, "offload=any") == 0 || strcmp(x->name, "tp") == 0 ||
           strcmp(x->name, "remat") == 0;
}

static void a_limit_taken_away_never_hurts(void **state)
{
    (void)state;
    ridge_relaxation all[RIDGE_RELAXATION_MAX];
    answered a;
    int n = 0;
    int freedoms = 0;
    const ridge_catalog *catalog;
    ask(&a, "h100:1x8");
    a.request.knobs.tp = 4;
    a.request.knobs.remat = RIDGE_REMAT_FULL;
    assert_ok(a.cx, ridge_train_search(a.cx, &a.request, &a.result));
    assert_ok(a.cx, ridge_catalog_open(a.cx, NULL, &catalog));
    assert_ok(a.cx, ridge_train_relax(a.cx, catalog, &a.request, &a.result.layouts[0],
                                      all, &n));
    for (int i = 0; i < n; i++) {
        if (i > 0)
            assert_true(all[i].step_change >= all[i - 1].step_change);
        if (!is_freedom(&all[i]))
            continue;
        freedoms++;
        assert_true(all[i].step_change <= 1e-9);
    }
    assert_true(freedoms >= 5);
    ridge_ctx_close(a.cx);
}

static void what_does_not_fit_is_mended(void **state)
{
    (void)state;
    ridge_relaxation all[RIDGE_RELAXATION_MAX];
    answered a;
    int n = 0;
    bool has_slice = false;
    const ridge_catalog *catalog;
    ask(&a, "h100:1x8");
    ridge_chip chip = *a.request.slice->chip;
    ridge_slice slice = *a.request.slice;
    chip.hbm_bytes = chip.visible_bytes = 2.3e9;
    slice.chip = &chip;
    a.request.slice = &slice;
    a.request.batch_tokens = 256 * 2048;
    assert_ok(a.cx, ridge_train_search(a.cx, &a.request, &a.result));
    assert_int_equal(a.result.n_layouts, 0);
    assert_ok(a.cx, ridge_catalog_open(a.cx, NULL, &catalog));
    assert_ok(a.cx, ridge_train_relax(a.cx, catalog, &a.request, NULL, all, &n));
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        assert_true(all[i].has_best && all[i].best.fit == RIDGE_FIT_OK);
        has_slice = has_slice || strcmp(all[i].what, "a larger slice") == 0;
    }
    assert_true(has_slice);
    ridge_ctx_close(a.cx);
}

static void differences_are_the_largest_first(void **state)
{
    (void)state;
    ridge_train_price one = {.step_time_s = 10};
    ridge_train_price other = {.step_time_s = 11};
    ridge_difference d[RIDGE_DIFFERENCE_MAX];
    one.parts.matmul_s = 9;
    one.parts.tp_s = 1;
    other.parts.matmul_s = 6;
    other.parts.tp_s = 3;
    other.parts.bubble_s = 1.9;
    other.parts.pp_s = 0.1;
    assert_int_equal(ridge_train_differences(&one, &other, d), 3);
    assert_string_equal(ridge_step_text(d[0].part), "matmul");
    assert_true(d[0].change_s == -3 && d[1].change_s == 2);
    assert_string_equal(ridge_step_text(d[2].part), "bubble");
    assert_int_equal(ridge_train_differences(&one, &one, d), 0);
    assert_false(ridge_train_is_tie(&one, &other));
    assert_true(ridge_train_is_tie(&one, &one));
}

static void a_front_has_nothing_that_another_beats(void **state)
{
    (void)state;
    answered a;
    ask(&a, "h100:2x8");
    assert_true(a.result.n_front >= 2);
    assert_true(a.result.front[0].step_time_s == a.result.layouts[0].step_time_s);
    for (int i = 1; i < a.result.n_front; i++) {
        const ridge_train_price *p = &a.result.front[i];
        assert_true(p->step_time_s > p[-1].step_time_s);
        assert_true(p->peak_memory_bytes < p[-1].peak_memory_bytes);
        assert_true(p->step_time_s <= 2 * a.result.front[0].step_time_s);
    }
    ridge_ctx_close(a.cx);
}

static void room_that_stays_free_stays_free(void **state)
{
    (void)state;
    answered a;
    ask(&a, "h100:1x8");
    a.request.headroom = 0.5;
    assert_ok(a.cx, ridge_train_search(a.cx, &a.request, &a.result));
    assert_true(a.result.n_layouts > 0);
    for (int i = 0; i < a.result.n_layouts; i++)
        assert_true(a.result.layouts[i].peak_memory_bytes <=
                    0.5 * ridge_chip_memory_bytes(a.request.slice->chip));
    a.request.headroom = 1;
    assert_int_equal(ridge_train_search(a.cx, &a.request, &a.result), RIDGE_E_ARG);
    ridge_ctx_close(a.cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_read_from_words),
        cmocka_unit_test(changed_hardware_is_another_machine),
        cmocka_unit_test(what_is_known_only_saves_time),
        cmocka_unit_test(a_limit_taken_away_never_hurts),
        cmocka_unit_test(what_does_not_fit_is_mended),
        cmocka_unit_test(differences_are_the_largest_first),
        cmocka_unit_test(a_front_has_nothing_that_another_beats),
        cmocka_unit_test(room_that_stays_free_stays_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
