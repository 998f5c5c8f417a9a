/* Prompts of attention ranks that enter together, and what the rank with the most rows
 * costs. An iteration takes a second, so times are counts. */
#include "listed_requests.h"
#include "near.h"
#include "serving_build.h"

static ridge_serving_speed ranks_speed(void)
{
    ridge_serving_speed s = steady_speed(1);
    s.blocks = 100;
    s.attention_ranks = 2;
    return s;
}

static ridge_serving_deployment deployment_of(const ridge_serving_speed *speed,
                                              int64_t balance, int64_t gather)
{
    ridge_serving_deployment d = {.n_pools = 1, .seed = 1};
    d.pools[0] = (ridge_serving_pool){speed, data_rules("trtllm", 10, 100), 1};
    d.pools[0].rules.balance_iterations = balance;
    d.pools[0].rules.gather_iterations = gather;
    return d;
}

/* Two that decode on a rank each, then one prompt alone. */
static listed_requests one_comes_late(void)
{
    listed_requests l = {0};
    listed_add(&l, 0, 10, 40);
    listed_add(&l, 0, 10, 40);
    listed_add(&l, 2.5, 10, 1);
    return l;
}

static void prompts_enter_at_once_without_a_balance(void **state)
{
    (void)state;
    const ridge_serving_speed s = ranks_speed();
    const ridge_serving_deployment d = deployment_of(&s, 0, 0);
    listed_requests l = one_comes_late();
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[2].first_token_s, 4, 1e-9);
}

/* Let in at 0 s; iterations from 1 s on count: the 6th lets in, done at 7 s. */
static void one_prompt_waits_for_its_iterations(void **state)
{
    (void)state;
    const ridge_serving_speed s = ranks_speed();
    const ridge_serving_deployment d = deployment_of(&s, 6, 0);
    listed_requests l = one_comes_late();
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    assert_near(l.results[2].first_token_s, 7, 1e-9);
    assert_near(l.results[0].end_s, 40, 1e-9);
    assert_int_equal(sum.completed, 3);
}

static void a_prompt_for_each_rank_enters_at_once(void **state)
{
    (void)state;
    const ridge_serving_speed s = ranks_speed();
    const ridge_serving_deployment d = deployment_of(&s, 30, 0);
    listed_requests l = one_comes_late();
    listed_add(&l, 4.5, 10, 1);
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[2].first_token_s, 6, 1e-9);
    assert_near(l.results[3].first_token_s, 6, 1e-9);
}

/* Both ranks have one at 5 s; two iterations more are for those that come meanwhile. */
static void those_that_come_meanwhile_are_gathered(void **state)
{
    (void)state;
    const ridge_serving_speed s = ranks_speed();
    const ridge_serving_deployment d = deployment_of(&s, 30, 2);
    listed_requests l = one_comes_late();
    listed_add(&l, 4.5, 10, 1);
    listed_add(&l, 5.5, 10, 1);
    (void)listed_play(&l, &d, NULL);
    for (int i = 2; i < 5; i++)
        assert_near(l.results[i].first_token_s, 8, 1e-9);
}

/* A second a hundred rows of a rank more than the mean of both. */
static void the_rank_with_the_most_rows_decides(void **state)
{
    (void)state;
    static const double at[] = {0, 100}, takes[] = {0, 1};
    ridge_serving_speed s = ranks_speed();
    s.rank_rows = (ridge_curve_table){2, at, takes};
    const ridge_serving_deployment d = deployment_of(&s, 0, 0);
    listed_requests l = {0};
    listed_add(&l, 0, 80, 1);
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[0].first_token_s, 1.4, 1e-9);
    listed_add(&l, 0, 80, 1);
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[0].first_token_s, 1, 1e-9);
}

/* With a prompt in it an iteration takes as long as its launches; decoding does not. */
static void iterations_with_prompts_take_their_launches(void **state)
{
    (void)state;
    ridge_serving_speed s = ranks_speed();
    s.eager_s = 2.5;
    const ridge_serving_deployment d = deployment_of(&s, 0, 0);
    listed_requests l = {0};
    listed_add(&l, 0, 10, 4);
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[0].first_token_s, 2.5, 1e-9);
    assert_near(l.results[0].end_s, 5.5, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_enter_at_once_without_a_balance),
        cmocka_unit_test(one_prompt_waits_for_its_iterations),
        cmocka_unit_test(a_prompt_for_each_rank_enters_at_once),
        cmocka_unit_test(those_that_come_meanwhile_are_gathered),
        cmocka_unit_test(the_rank_with_the_most_rows_decides),
        cmocka_unit_test(iterations_with_prompts_take_their_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
