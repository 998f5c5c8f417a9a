/* Replicas, pools, failures, limits and results by hand: an iteration takes a second.
 */
#include "listed_requests.h"
#include "near.h"
#include "serving_build.h"

#include <string.h>

/* A second an iteration, pages of 10 tokens. */
static ridge_serving_speed speed_of(int64_t blocks)
{
    ridge_serving_speed s = steady_speed(1);
    s.blocks = blocks;
    return s;
}

static ridge_serving_deployment deployment_of(const ridge_serving_speed *speed,
                                              const char *rules)
{
    ridge_serving_deployment d = {.n_pools = 1, .seed = 1};
    d.pools[0] = (ridge_serving_pool){speed, built_rules(rules), 1};
    d.pools[0].rules.block_tokens = 10;
    d.pools[0].rules.budget_tokens = 100;
    return d;
}

/* ---- replicas -------------------------------------------------------------------- */

static void routers_spread_requests(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    d.pools[0].rules.block_tokens = 16;
    d.pools[0].replicas = 2;
    static const struct {
        ridge_router router;
        int64_t replica[4];
    } cases[] = {{RIDGE_ROUTER_ROUND_ROBIN, {0, 1, 0, 1}},
                 {RIDGE_ROUTER_LEAST_LOADED, {0, 1, 1, 1}},
                 {RIDGE_ROUTER_PREFIX, {0, 1, 1, 0}}};
    for (size_t c = 0; c < RIDGE_COUNT_OF(cases); c++) {
        listed_requests l = {0};
        d.router = cases[c].router;
        listed_add(&l, 0, 64, 20);
        listed_add(&l, 0, 64, 2);
        listed_add(&l, 5, 64, 2);  /* like the second */
        listed_add(&l, 10, 64, 2); /* like the first */
        const uint64_t groups[] = {1, 2, 2, 1};
        for (int i = 0; i < 4; i++) {
            l.of[i].group = groups[i];
            l.of[i].group_tokens = 64;
        }
        (void)listed_play(&l, &d, NULL);
        for (int i = 0; i < 4; i++)
            assert_int_equal(l.results[i].replica, cases[c].replica[i]);
    }
}

static void caches_move_between_pools(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(20);
    s.block_bytes = 100;
    s.transfer_bytes_per_s = 1000;
    s.transfer_s = 0.05;
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    d.n_pools = 2;
    d.pools[1] = d.pools[0];
    listed_add(&l, 0, 50, 4); /* 5 pages: 0.5 s on the way */
    listed_add(&l, 0, 50, 4); /* behind it on the link, joins at a boundary */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    /* the decoding server passes the first token on */
    listed_assert_times(&l, 0, 1 + 0.55, 1 + 0.55 + 3);
    listed_assert_times(&l, 1, 1 + 0.55 + 1, 1 + 0.55 + 1 + 3);
    assert_int_equal(l.results[0].replica, 1);
    assert_near(listed_part(&l.results[0].e2e, RIDGE_LATENCY_PART_TRANSFER), 0.55,
                1e-9);
    assert_near(listed_part(&l.results[0].ttft, RIDGE_LATENCY_PART_TRANSFER), 0.55,
                1e-9);
    assert_near(sum.transferred_bytes, 1000, 0);
}

static void a_decoding_server_may_make_the_first_token(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(20);
    s.block_bytes = 100;
    s.transfer_bytes_per_s = 1000;
    s.transfer_s = 0.05;
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    d.pools[0].rules.decodes_first = true;
    d.n_pools = 2;
    d.pools[1] = d.pools[0];
    listed_add(&l, 0, 50, 4);
    listed_add(&l, 0, 50, 4);
    listed_add(&l, 20, 50, 1); /* a prompt alone has its token where it is made */
    (void)listed_play(&l, &d, NULL);
    /* an iteration more than where the prompt's own token counts */
    listed_assert_times(&l, 0, 1 + 0.55 + 1, 1 + 0.55 + 4);
    listed_assert_times(&l, 1, 1 + 0.55 + 1 + 1, 1 + 0.55 + 1 + 4);
    listed_assert_times(&l, 2, 21, 21);
    assert_near(listed_part(&l.results[0].ttft, RIDGE_LATENCY_PART_DECODE), 1, 1e-9);
}

static void a_full_pool_holds_prompts_back(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(7);
    s.block_bytes = 100;
    s.transfer_bytes_per_s = 1e9;
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    d.n_pools = 2;
    d.pools[1] = d.pools[0];
    for (int i = 0; i < 3; i++)
        listed_add(&l, 0, 50, 10);
    (void)listed_play(&l, &d, NULL);
    /* one cache fits where decoding is done, one more where prompts are */
    assert_near(l.results[0].first_token_s, 1, 1e-6);
    assert_near(l.results[1].first_token_s, 10, 1e-6);
    assert_near(l.results[2].first_token_s, 19, 1e-5);
    assert_true(listed_part(&l.results[1].ttft, RIDGE_LATENCY_PART_QUEUE) > 7);
}

static void requests_of_a_failed_replica_begin_again(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    d.n_outages = 1;
    d.outages[0] = (ridge_serving_outage){0, 4.5, 2};
    listed_add(&l, 0, 10, 10);
    listed_add(&l, 5, 10, 1); /* nobody is there: waits for the repair */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    /* four tokens by 4 s; back at 6.5 s, with 14 tokens to compute, and six to make */
    listed_assert_times(&l, 0, 1, 12.5);
    listed_assert_times(&l, 1, 7.5, 7.5);
    assert_int_equal(sum.failures, 1);
    assert_near(sum.recomputed_tokens, 14, 0);
    d.pools[0].replicas = 2;
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 10.5);
    assert_int_equal(l.results[0].replica, 1);
}

static void ranks_work_in_step(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(100);
    s.attention_ranks = 2;
    const ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    listed_add(&l, 0, 100, 5); /* the whole budget of a rank */
    listed_add(&l, 0, 100, 5); /* the other's */
    listed_add(&l, 0, 100, 1);
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 5);
    listed_assert_times(&l, 1, 1, 5);
    listed_assert_times(&l, 2, 3, 3); /* 99 beside a decoding token, then one */
    assert_int_equal(sum.iterations, 5);
}

static void stages_hold_several_batches(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(100);
    s.stages = 2;
    const ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    listed_add(&l, 0, 10, 4);
    listed_add(&l, 0.2, 10, 4); /* enters half an iteration behind the first */
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 4);
    listed_assert_times(&l, 1, 1.5, 4.5);
}

/* A batch of decoding behind one with a prompt, which takes four times as long, leaves
 * each stage after it. */
static void batches_do_not_overtake_in_stages(void **state)
{
    (void)state;
    static const double at[] = {1, 10, 100};
    static const double takes[] = {1, 1, 4};
    ridge_serving_speed s = speed_of(100);
    s.stages = 2;
    s.rows = (ridge_curve_table){3, at, takes};
    const ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    listed_add(&l, 0, 10, 4);    /* a second each: ends at 1, and then decodes */
    listed_add(&l, 0.1, 100, 1); /* stages from 0.5 and 2.5 to 4.5 */
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[0].first_token_s, 1, 1e-12);
    assert_near(l.results[1].first_token_s, 4.5, 1e-12);
    /* its second token waits for the first stage until 2.5, for the next until 4.5 */
    assert_near(l.results[0].end_s, 5 + 2, 1e-12);
    double sum = 0;
    for (int i = 0; i < RIDGE_LATENCY_PART_COUNT; i++)
        sum += listed_part(&l.results[0].e2e, (ridge_latency_part)i);
    assert_near(sum, 7, 1e-12);
    assert_near(listed_part(&l.results[0].e2e, RIDGE_LATENCY_PART_OTHERS), 3, 1e-9);
}

static void drafts_make_several_tokens_an_iteration(void **state)
{
    (void)state;
    static const double sure[] = {1, 1, 1};
    ridge_serving_speed s = speed_of(100);
    s.draft.verified = 4;
    s.draft.lookahead = 3;
    s.draft.n_accept = 3;
    s.draft.accept = sure;
    const ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    listed_add(&l, 0, 10, 9);
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 3); /* eight tokens in two iterations */
}

/* ---- limits and results ---------------------------------------------------------- */

static void what_can_never_be_served_is_refused(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(10);
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    listed_add(&l, 0, 90, 11); /* 101 tokens, the cache holds 100 */
    listed_add(&l, 0, 40, 11);
    listed_add(&l, 0, 40, 10);
    d.longest_tokens = 50;
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    assert_int_equal(sum.refused, 2);
    assert_int_equal(sum.completed, 1);
}

static void a_full_queue_refuses(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(10);
    ridge_serving_deployment d = deployment_of(&s, "vllm");
    listed_requests l = {0};
    d.pools[0].rules.sequences = 1;
    d.queue_most = 2;
    for (int i = 0; i < 5; i++)
        listed_add(&l, i == 0 ? 0 : 0.5, 10, 5);
    assert_int_equal(listed_play(&l, &d, NULL).refused, 2);
}

static void goals_are_counted_request_by_request(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(100);
    s.usd_per_hour = 3600;
    const ridge_serving_deployment d = deployment_of(&s, "vllm");
    const ridge_serving_goals goals = {.ttft_s = 1.5};
    listed_requests l = {0};
    listed_add(&l, 0, 100, 5);
    listed_add(&l, 0, 100, 2);
    const ridge_serving_summary sum = listed_play(&l, &d, &goals);
    assert_int_equal(sum.good, 1);
    assert_near(sum.goodput_requests_per_s, 0.2, 1e-12);
    assert_near(sum.output_tokens_per_s, 7.0 / 5, 1e-12);
    assert_near(sum.usd, 5, 1e-12);
    assert_near(sum.usd_per_million_tokens, 5e6 / 7, 1e-12);
    assert_near(sum.ttft.p50, 2, 1e-12); /* 1 and 3 */
    assert_near(sum.ttft_p99.total_s, 3, 1e-12);
}

static void the_host_is_hidden_or_not(void **state)
{
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        ridge_serving_speed s = speed_of(100);
        s.host_s = 0.25;
        s.request_s = 0.5;
        s.is_host_hidden = hidden == 1;
        const ridge_serving_deployment d = deployment_of(&s, "vllm");
        listed_requests l = {0};
        listed_add(&l, 0, 10, 3);
        (void)listed_play(&l, &d, NULL);
        const double step = hidden ? 1 : 1.25;
        listed_assert_times(&l, 0, 0.5 + step, 0.5 + 3 * step);
        assert_near(listed_part(&l.results[0].e2e, RIDGE_LATENCY_PART_HOST),
                    0.5 + 3 * (step - 1), 1e-9);
    }
}

static void memory_does_not_grow_with_the_stream(void **state)
{
    (void)state;
    enum { BUDGET = 12 << 20, REQUESTS = 40000 };
    built_speed speed;
    built_speed_open(&speed);
    const ridge_serving_deployment d = built_deployment(&speed, "vllm");
    const ridge_request_draws draws = {.rate_per_s = 5,
                                       .requests = REQUESTS,
                                       .prompt = {RIDGE_LENGTH_FIXED, 100, 0, 0, 0},
                                       .output = {RIDGE_LENGTH_FIXED, 3, 0, 0, 0}};
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET);
    ridge_request_source source;
    ridge_serving_summary sum;
    for (int i = 0; i < 2; i++) { /* and all of it comes back */
        assert_int_equal(ridge_request_draws_open(cx, &draws, &source), RIDGE_OK);
        if (ridge_serving_play(cx, &d, &source, NULL, NULL, &sum) != RIDGE_OK)
            fail_msg("%s", ridge_ctx_message(cx));
        assert_int_equal(sum.completed, REQUESTS);
    }
    ridge_ctx_close(cx);
}

static void every_short_memory_is_a_status(void **state)
{
    (void)state;
    built_speed speed;
    built_speed_open(&speed);
    const ridge_serving_deployment d = built_deployment(&speed, "vllm");
    const ridge_request_draws draws = {.arrivals = RIDGE_ARRIVAL_ATONCE,
                                       .requests = 300,
                                       .prompt = {RIDGE_LENGTH_FIXED, 100, 0, 0, 0},
                                       .output = {RIDGE_LENGTH_FIXED, 3, 0, 0, 0}};
    ridge_status st = RIDGE_E_NOMEM;
    for (size_t kib = 64; st == RIDGE_E_NOMEM; kib += kib / 8) {
        ridge_ctx *cx = ridge_ctx_open_budget(kib << 10);
        ridge_request_source source;
        ridge_serving_summary sum;
        st = ridge_request_draws_open(cx, &draws, &source);
        if (st == RIDGE_OK)
            st = ridge_serving_play(cx, &d, &source, NULL, NULL, &sum);
        assert_true(st == RIDGE_OK || st == RIDGE_E_NOMEM);
        assert_true(kib < 1 << 20);
        ridge_ctx_close(cx);
    }
}

static void gaps_between_tokens_are_all_counted(void **state)
{
    (void)state;
    static const char *const engines[] = {"vllm-v1", "sglang", "trtllm", "vllm-v0"};
    for (size_t e = 0; e < RIDGE_COUNT_OF(engines); e++) {
        ridge_serving_speed s = speed_of(300);
        s.block_bytes = 1;
        s.transfer_bytes_per_s = 100;
        ridge_serving_deployment d = deployment_of(&s, "vllm");
        listed_requests l = {0};
        d.pools[0].rules = data_rules(engines[e], 10, 100);
        for (int i = 0; i < 20; i++)
            listed_add(&l, 0.7 * i, 30 + i, 1 + i);
        for (d.n_pools = 1; d.n_pools <= 2; d.n_pools++) {
            d.pools[1] = d.pools[0];
            const ridge_serving_summary sum = listed_play(&l, &d, NULL);
            double gaps = 0, long_s = 0;
            for (int i = 0; i < 20; i++) {
                gaps += i;
                long_s += l.results[i].end_s - l.results[i].first_token_s;
            }
            assert_near(sum.itl.n, gaps, 0);
            assert_near(sum.itl.mean * sum.itl.n, long_s, 1e-9);
            assert_true(sum.itl.deviation < sum.itl.most);
        }
    }
}

static void what_cannot_serve_is_an_error(void **state)
{
    (void)state;
    ridge_serving_speed good = speed_of(10), none = speed_of(0);
    const struct {
        ridge_serving_deployment d;
        const char *message;
    } cases[] = {
        {{.n_pools = 0}, "one pool or two"},
        {deployment_of(&none, "vllm"), "holds no block"},
        {{.n_pools = 2,
          .pools = {{&good, built_rules("vllm"), 1}, {&good, built_rules("vllm"), 1}}},
         "network between"},
        {{.n_pools = 1, .pools = {{&good, built_rules("vllm"), 0}}}, "replicas"},
        {{.n_pools = 1,
          .pools = {{&good, built_rules("vllm"), 1}},
          .n_outages = 1,
          .outages = {{1, 0, 0}}},
         "outage"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_serving_summary sum;
        const ridge_request_draws draws = {.rate_per_s = 1,
                                           .requests = 1,
                                           .prompt = {RIDGE_LENGTH_FIXED, 1, 0, 0, 0},
                                           .output = {RIDGE_LENGTH_FIXED, 1, 0, 0, 0}};
        ridge_request_source source;
        assert_int_equal(ridge_request_draws_open(cx, &draws, &source), RIDGE_OK);
        assert_int_equal(ridge_serving_play(cx, &cases[i].d, &source, NULL, NULL, &sum),
                         RIDGE_E_ARG);
        if (strstr(ridge_ctx_message(cx), cases[i].message) == NULL)
            fail_msg("%s", ridge_ctx_message(cx));
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routers_spread_requests),
        cmocka_unit_test(caches_move_between_pools),
        cmocka_unit_test(a_decoding_server_may_make_the_first_token),
        cmocka_unit_test(a_full_pool_holds_prompts_back),
        cmocka_unit_test(requests_of_a_failed_replica_begin_again),
        cmocka_unit_test(ranks_work_in_step),
        cmocka_unit_test(stages_hold_several_batches),
        cmocka_unit_test(batches_do_not_overtake_in_stages),
        cmocka_unit_test(drafts_make_several_tokens_an_iteration),
        cmocka_unit_test(what_can_never_be_served_is_refused),
        cmocka_unit_test(a_full_queue_refuses),
        cmocka_unit_test(goals_are_counted_request_by_request),
        cmocka_unit_test(the_host_is_hidden_or_not),
        cmocka_unit_test(memory_does_not_grow_with_the_stream),
        cmocka_unit_test(every_short_memory_is_a_status),
        cmocka_unit_test(gaps_between_tokens_are_all_counted),
        cmocka_unit_test(what_cannot_serve_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
