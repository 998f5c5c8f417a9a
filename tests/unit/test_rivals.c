/* Models compared: each answer is the search's own, ratios are to the first and hang
 * together, and what is wrong for one model is told by its answer alone. */
#include "near.h"
#include "train_fixture.h"

#include "ridge/plan_rivals.h"

#include <math.h>
#include <string.h>

static const ridge_site site = {.name = "here", .pue = 1};
static const ridge_money_request money = {.site = &site};

static ridge_scaling_law law_of(void **state)
{
    ridge_scaling_law law;
    assert_ok(*state, ridge_scaling_law_find(*state, RIDGE_SCALING_LAW_DEFAULT, &law));
    return law;
}

static void answers_are_the_searches_own(void **state)
{
    const ridge_model *dense = train_dense_model(*state),
                      *moe = train_moe_model(*state);
    const ridge_rival rivals[] = {{"dense", dense}, {"moe", moe}, {"again", dense}};
    ridge_train_request request =
        train_request(dense, train_slice(*state, "h100:1x8"), 64, 1024);
    ridge_rival_answer answers[3];
    const ridge_scaling_law law = law_of(state);
    request.total_tokens = 1e11;
    assert_ok(*state,
              ridge_rivals_compare(*state, &request, rivals, 3, &money, &law, answers));
    for (int i = 0; i < 3; i++) {
        const ridge_rival_answer *a = &answers[i];
        ridge_train_result result;
        request.model = rivals[i].model;
        assert_ok(*state, ridge_train_search(*state, &request, &result));
        assert_near(a->best.step_time_s, result.layouts[0].step_time_s, 1e-12);
        assert_near(a->time_ratio, a->best.step_time_s / answers[0].best.step_time_s,
                    1e-9);
        assert_near(a->time_ratio, a->work_ratio / a->efficiency_ratio, 1e-12);
    }
    assert_near(answers[2].time_ratio, 1, 1e-12);
    assert_near(answers[2].loss_at_time, answers[0].loss, 1e-12);
    assert_near(
        answers[0].loss,
        ridge_sizing_of(&law, (double)ridge_model_params(dense).total, 1e11).loss,
        1e-12);
    assert_true(isnan(answers[1].loss)); /* laws of dense models */
}

static void what_is_wrong_for_one_is_told_by_it(void **state)
{
    const ridge_model *dense = train_dense_model(*state);
    const ridge_rival rivals[] = {{"dense", dense}, {"moe", train_moe_model(*state)}};
    ridge_train_request request =
        train_request(dense, train_slice(*state, "h100:1x8"), 64, 1024);
    ridge_rival_answer answers[2];
    const ridge_scaling_law law = law_of(state);
    request.knobs.ep = 8; /* a dense model has no experts */
    assert_ok(*state,
              ridge_rivals_compare(*state, &request, rivals, 2, &money, &law, answers));
    assert_non_null(answers[0].why_not);
    assert_null(answers[1].why_not);
    assert_true(isnan(answers[1].time_ratio));
    assert_int_equal(
        ridge_rivals_compare(*state, &request, rivals, 1, &money, &law, answers),
        RIDGE_E_ARG);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)
    const struct CMUnitTest tests[] = {
        TEST(answers_are_the_searches_own),
        TEST(what_is_wrong_for_one_is_told_by_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
