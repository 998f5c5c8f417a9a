/* Budgets on a slice: dollars, hours and days become FLOPs, sizes become days. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_sizing.h"

#include <math.h>
#include <string.h>

typedef struct budget {
    ridge_scaling_law law;
    ridge_site site;
    ridge_money_request money;
    ridge_sizing_request request;
    ridge_sizing_study study;
} budget;

static void open_budget(void **state, ridge_sizing_given given, double amount,
                        budget *b)
{
    *b = (budget){.site = {.name = "here", .pue = 1}};
    assert_ok(*state,
              ridge_scaling_law_find(*state, RIDGE_SCALING_LAW_DEFAULT, &b->law));
    b->money = (ridge_money_request){.site = &b->site, .has_price = true};
    b->money.price.usd_per_chip_hour = 2;
    b->request = (ridge_sizing_request){.law = &b->law,
                                        .given = given,
                                        .amount = amount,
                                        .slice = train_slice(*state, "h100:4x8"),
                                        .mfu = 0.5,
                                        .batch_tokens = 1e6,
                                        .seq_tokens = 4096,
                                        .money = &b->money};
}

static const ridge_sizing_study *filled(void **state, budget *b)
{
    assert_ok(*state, ridge_sizing_study_fill(*state, &b->request, &b->study));
    return &b->study;
}

static void time_and_money_buy_the_same_flops(void **state)
{
    budget b;
    const double flops = 32 * 9.894e14 * 0.5 * 10 * 86400;
    open_budget(state, RIDGE_GIVEN_DAYS, 10, &b);
    assert_near(filled(state, &b)->best.size.flops, flops, 1e-9);
    assert_near(b.study.best.days, 10, 1e-9);
    open_budget(state, RIDGE_GIVEN_CHIP_HOURS, 240 * 32, &b);
    assert_near(filled(state, &b)->best.size.flops, flops, 1e-9);
    open_budget(state, RIDGE_GIVEN_USD, 240 * 32 * 2, &b);
    assert_near(filled(state, &b)->best.size.flops, flops, 1e-9);
    assert_near(b.study.best.usd, 240 * 32 * 2, 1e-9);
}

static void a_book_case_of_days(void **state)
{
    /* scaling-book-2025, chapter 6: 6.3e24 FLOPs on a full pod at 40 %: 44.3 days */
    budget b;
    open_budget(state, RIDGE_GIVEN_FLOPS, 6.3e24, &b);
    b.request.slice = train_slice(*state, "v5p:16x20x28");
    b.request.mfu = 0.4;
    assert_near(filled(state, &b)->best.days, 44.3247, 1e-3);
    assert_near(b.study.best.chip_hours, 9531590, 1e-3);
}

static void the_table_keeps_the_flops(void **state)
{
    budget b;
    open_budget(state, RIDGE_GIVEN_FLOPS, 1e23, &b);
    filled(state, &b);
    for (int i = 0; i < b.study.n_ratios; i++) {
        assert_near(b.study.ratios[i].size.flops, 1e23, 1e-9);
        assert_true(b.study.ratios[i].size.loss >= b.study.best.size.loss);
        assert_true(b.study.ratios[i].waste >= 0);
    }
    assert_near(b.study.best.waste, 0, 0);
    assert_int_equal(b.study.n_laws, ridge_scaling_law_count());
}

static void a_chosen_ratio_is_kept(void **state)
{
    budget b;
    open_budget(state, RIDGE_GIVEN_FLOPS, 1e23, &b);
    b.request.tokens_per_param = 100;
    filled(state, &b);
    assert_near(b.study.best.size.tokens / b.study.best.size.params, 100, 1e-9);
    open_budget(state, RIDGE_GIVEN_PARAMS, 8e9, &b);
    b.request.tokens_per_param = 100;
    assert_near(filled(state, &b)->best.size.tokens, 8e11, 1e-9);
}

static void the_planner_tells_the_speed(void **state)
{
    budget b;
    const ridge_library *library = NULL;
    assert_ok(*state, ridge_library_open(*state, NULL, &library));
    open_budget(state, RIDGE_GIVEN_DAYS, 3, &b);
    b.request.mfu = 0;
    b.request.library = library;
    filled(state, &b);
    assert_non_null(b.study.speed.model_name);
    assert_true(b.study.speed.mfu > 0.1 && b.study.speed.mfu < 0.8);
    assert_near(b.study.best.days, 3, 1e-9);
}

static void what_cannot_be_asked_is_refused(void **state)
{
    budget b;
    open_budget(state, RIDGE_GIVEN_USD, 1e6, &b);
    b.money.has_price = false;
    assert_int_equal(ridge_sizing_study_fill(*state, &b.request, &b.study),
                     RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(*state), "--price"));
    open_budget(state, RIDGE_GIVEN_DAYS, 1, &b);
    b.request.slice = NULL;
    assert_int_equal(ridge_sizing_study_fill(*state, &b.request, &b.study),
                     RIDGE_E_ARG);
    open_budget(state, RIDGE_GIVEN_FLOPS, 0, &b);
    assert_int_equal(ridge_sizing_study_fill(*state, &b.request, &b.study),
                     RIDGE_E_ARG);
    open_budget(state, RIDGE_GIVEN_LOSS, 1, &b);
    assert_int_equal(ridge_sizing_study_fill(*state, &b.request, &b.study),
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
        CASE(time_and_money_buy_the_same_flops), CASE(a_book_case_of_days),
        CASE(the_table_keeps_the_flops),         CASE(a_chosen_ratio_is_kept),
        CASE(the_planner_tells_the_speed),       CASE(what_cannot_be_asked_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
