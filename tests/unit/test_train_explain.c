/* Derivations: every quantity is told, with the numbers of the price. */
#include "train_fixture.h"

#include <string.h>

typedef struct told {
    ridge_train_request request;
    ridge_train_price price;
    ridge_explanation story;
} told;

static void price_moe(ridge_ctx *cx, told *t)
{
    t->request =
        train_request(train_moe_model(cx), train_slice(cx, "h100:4x8"), 64, 4096);
    t->request.total_tokens = 1e12;
    ridge_layout layout = train_layout(2, 2, 2, 2, 2);
    layout.ep = 2;
    layout.has_sp = true;
    layout.remat = RIDGE_REMAT_FULL;
    t->price = train_price_of(cx, &t->request, &layout);
    assert_int_equal(t->price.fit, RIDGE_FIT_OK);
}

static void explain(ridge_ctx *cx, told *t, const char *quantity)
{
    assert_ok(cx, ridge_train_explain(cx, &t->request, &t->price, quantity, &t->story));
}

static void every_quantity_tells_something(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    const char *const *names = ridge_explain_quantities();
    int n = 0;
    for (; names[n] != NULL; n++) {
        explain(cx, &t, names[n]);
        assert_true(t.story.n_reasons >= 1);
        assert_true(t.story.n_reasons < RIDGE_REASON_MAX);
        assert_int_equal(t.story.reasons[0].depth, 0);
        assert_string_equal(t.story.reasons[0].name, names[n]);
        for (int i = 0; i < t.story.n_reasons; i++) {
            const ridge_reason *r = &t.story.reasons[i];
            assert_true(r->name[0] != '\0' && r->formula[0] != '\0');
            assert_non_null(r->values);
            assert_non_null(r->result);
            assert_true(i == 0 || r->depth >= 1);
        }
    }
    assert_true(n > RIDGE_STEP_COUNT);
}

static void every_part_of_the_step_is_a_quantity(void **state)
{
    (void)state;
    const char *const *names = ridge_explain_quantities();
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        int k = 0;
        while (names[k] != NULL && strcmp(names[k], ridge_step_text(i)) != 0)
            k++;
        assert_non_null(names[k]);
    }
}

static void results_are_those_of_the_price(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    for (int i = 0; i < RIDGE_STEP_COUNT; i++) {
        explain(cx, &t, ridge_step_text(i));
        assert_string_equal(t.story.reasons[0].result,
                            ridge_format_seconds(ridge_step_get(&t.price.parts, i)).s);
    }
    explain(cx, &t, "step_time");
    assert_string_equal(t.story.reasons[0].result,
                        ridge_format_seconds(t.price.step_time_s).s);
    explain(cx, &t, "memory");
    assert_string_equal(t.story.reasons[0].result,
                        ridge_format_bytes(t.price.peak_memory_bytes).s);
    explain(cx, &t, "mfu");
    assert_string_equal(t.story.reasons[0].result, ridge_format_percent(t.price.mfu).s);
    explain(cx, &t, "bound_step_time");
    assert_string_equal(t.story.reasons[0].result,
                        ridge_format_seconds(t.price.bound_step_time_s).s);
    explain(cx, &t, "usd");
    assert_string_equal(t.story.reasons[0].result, ridge_format_usd(t.price.usd).s);
}

static void without_a_total_days_and_dollars_say_so(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    t.request.total_tokens = 0;
    t.price = train_price_of(cx, &t.request, &t.price.layout);
    explain(cx, &t, "days");
    assert_string_equal(t.story.reasons[0].result, "not asked");
    explain(cx, &t, "usd");
    assert_string_equal(t.story.reasons[0].result, "not known");
}

static void facts_of_the_chip_name_their_source(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    explain(cx, &t, "matmul");
    bool has_peak = false;
    for (int i = 0; i < t.story.n_reasons; i++) {
        const ridge_reason *r = &t.story.reasons[i];
        if (strcmp(r->name, "peak_flops_per_s.bf16") == 0)
            has_peak = strstr(r->values, "h100, ") != NULL;
    }
    assert_true(has_peak);
}

static void one_chip_can_be_explained(void **state)
{
    ridge_ctx *cx = *state;
    told t = {.request = train_request(train_dense_model(cx), train_slice(cx, "h100"),
                                       4, 2048)};
    const ridge_layout layout = train_layout(1, 1, 1, 1, 1);
    t.price = train_price_of(cx, &t.request, &layout);
    const char *const *names = ridge_explain_quantities();
    for (int n = 0; names[n] != NULL; n++) {
        explain(cx, &t, names[n]);
        assert_true(t.story.n_reasons >= 1);
    }
}

static void an_unknown_quantity_suggests(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    assert_int_equal(
        ridge_train_explain(cx, &t.request, &t.price, "step_tim", &t.story),
        RIDGE_E_NOTFOUND);
    fixture_assert_message(cx, "unknown quantity 'step_tim'");
    fixture_assert_message(cx, "did you mean step_time");
}

static void a_layout_that_does_not_lie_on_the_slice_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    t.price.layout.dp = 5;
    assert_int_equal(
        ridge_train_explain(cx, &t.request, &t.price, "step_time", &t.story),
        RIDGE_E_ARG);
    fixture_assert_message(cx, "does not lie on h100:4x8");
}

/* Every lever of the sensitivity makes something larger: none slows the step. */
static void faster_hardware_is_never_slower_nor_more_work_faster(void **state)
{
    ridge_ctx *cx = *state;
    told t;
    price_moe(cx, &t);
    ridge_sensitivity levers[RIDGE_SENSITIVITY_MAX];
    int n = 0;
    assert_ok(cx, ridge_train_sensitivity(cx, &t.request, &t.price, levers, &n));
    assert_true(n > 3);
    double sum = 0;
    double work = 0;
    for (int i = 0; i < n; i++) {
        const double change = levers[i].step_change;
        assert_true(levers[i].is_hardware ? change <= 1e-9 : change >= -1e-9);
        sum += levers[i].is_hardware ? change : 0;
        work += levers[i].is_hardware ? 0 : change;
    }
    assert_true(sum < -0.02);
    assert_true(work > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_quantity_tells_something),
        cmocka_unit_test(every_part_of_the_step_is_a_quantity),
        cmocka_unit_test(results_are_those_of_the_price),
        cmocka_unit_test(without_a_total_days_and_dollars_say_so),
        cmocka_unit_test(facts_of_the_chip_name_their_source),
        cmocka_unit_test(one_chip_can_be_explained),
        cmocka_unit_test(an_unknown_quantity_suggests),
        cmocka_unit_test(a_layout_that_does_not_lie_on_the_slice_is_refused),
        cmocka_unit_test(faster_hardware_is_never_slower_nor_more_work_faster),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
