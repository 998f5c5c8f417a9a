/* The steady state by hand: chunks, shares of iterations, waits, slots. */
#include "steady_state.h"

#include "near.h"

#include <math.h>

static const ridge_service_work work = {.prompt_tokens = 1000, .output_tokens = 101};

static ridge_engine engine_of(ridge_engine_batching batching)
{
    return (ridge_engine){.batching = batching, .is_chunked = true};
}

static steady_case case_of(const ridge_engine *engine, double budget)
{
    return (steady_case){.work = &work,
                         .engine = engine,
                         .role = RIDGE_SERVICE_ROLE_BOTH,
                         .budget_tokens = budget,
                         .verified = 1,
                         .yield = 1,
                         .attention_ranks = 1,
                         .stages = 1};
}

static void prompts_come_as_fast_as_sequences_end(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    const steady_case c = case_of(&e, 2000);
    steady_shape s;
    steady_shape_of(&c, 10, &s); /* 100 iterations each: a prompt in every tenth */
    assert_false(s.is_saturated);
    assert_near(s.iterations, 100, 1e-12);
    assert_near(s.chunks, 1, 0);
    assert_near(s.prefill_weight, 0.1, 1e-12);
    assert_near(s.decode_weight, 0.9, 1e-12);
    assert_near(s.prefill.chunk_tokens, 1000, 1e-12);
    assert_near(s.prefill.decode_sequences, 10, 0);
    assert_near(s.decode.decode_context, 1050.5, 1e-12);
}

/* At random arrivals a sequence comes on top of those that are there. */
static void sequences_meet_others_and_themselves(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    steady_case c = case_of(&e, 2000);
    steady_shape s;
    c.is_open = true;
    steady_shape_of(&c, 1.2, &s);
    assert_near(s.decode.decode_sequences, 2.2, 1e-12);
    assert_near(s.prefill.decode_sequences, 2.2, 1e-12);
    steady_shape_of(&c, 0.01, &s);
    assert_near(s.decode.decode_sequences, 1.01, 1e-12);
    c.attention_ranks = 4;
    steady_shape_of(&c, 1.2, &s);
    assert_near(s.decode.decode_sequences, 1.45, 1e-12);
    c.is_open = false;
    steady_shape_of(&c, 1.2, &s);
    assert_near(s.decode.decode_sequences, 1.2, 1e-12);
}

/* Of n that come at random about a mean, each to the rank that has fewest. */
static double fullest_of(double mean, double ranks)
{
    double at = exp(-mean);
    double sum = 0;
    for (int n = 1; n < 2000; n++) {
        at *= mean / n;
        sum += at * ceil(n / ranks);
    }
    return sum;
}

static void the_fullest_rank_has_what_is_left_over(void **state)
{
    static const double means[] = {0.1, 1, 5, 20, 64, 65, 300};
    static const double ranks[] = {2, 8, 16, 72};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(means); i++) {
        for (size_t k = 0; k < RIDGE_COUNT_OF(ranks); k++)
            assert_near(steady_fullest(means[i], ranks[k]),
                        fullest_of(means[i], ranks[k]), 2e-3);
    }
}

static void attention_ranks_wait_for_prompts_of_one(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    steady_case c = case_of(&e, 2000);
    steady_shape s;
    c.attention_ranks = 8;
    steady_shape_of(&c, 10, &s); /* a tenth of a prompt each, eight tenths in all */
    const double any = 1 - exp(-0.8);
    assert_near(s.prefill_weight, any, 1e-12);
    assert_near(s.prefill_weight * s.prefill.chunk_tokens, 100, 1e-12);
    assert_near(s.prefill.fullest, 1, 1e-3);
    assert_near(s.decode_weight, 1 - any, 1e-12);
    c.budget_tokens = 8000;
    steady_shape_of(&c, 160, &s); /* 1.6 prompts each: some rank has two, or three */
    assert_near(s.prefill_weight * s.prefill.chunk_tokens, 1600, 1e-9);
    assert_near(s.prefill.fullest, fullest_of(12.8, 8), 1e-5);
    assert_true(s.prefill.fullest > s.prefill.chunks);
}

static void prompts_that_are_gathered_fill_all_ranks(void **state)
{
    (void)state;
    ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    e.balance_iterations = 50;
    steady_case c = case_of(&e, 2000);
    steady_shape s;
    c.attention_ranks = 8;
    steady_shape_of(&c, 10, &s);
    assert_near(s.prefill_weight, 0.1, 1e-12);
    assert_near(s.prefill.chunk_tokens, 1000, 1e-12);
    assert_near(s.prefill.fullest, 0, 0);
}

static void long_prompts_are_cut(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    const steady_case c = case_of(&e, 260);
    steady_shape s;
    steady_shape_of(&c, 10, &s); /* room for 250: four chunks */
    assert_near(s.chunks, 4, 0);
    assert_near(s.prefill_weight, 0.4, 1e-12);
    assert_near(s.prefill.chunk_tokens, 250, 1e-12);
    assert_near(s.prefill.chunk_context, 375, 1e-12);
    assert_near(s.prefill.finishing, 0.25, 1e-12);
    steady_shape_of(&c, 20, &s); /* room for 240: five chunks in each iteration */
    assert_near(s.chunks, 5, 0);
    assert_near(s.prefill_weight, 1, 1e-9);
    steady_shape_of(&c, 21, &s);
    assert_true(s.is_saturated);
}

static void short_prompts_share_an_iteration(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    const steady_case c = case_of(&e, 8192);
    steady_shape s;
    steady_shape_of(&c, 300, &s); /* three end in an iteration */
    assert_near(s.prompts, 3, 1e-12);
    assert_near(s.prefill.chunk_tokens, 3000, 1e-12);
    assert_near(s.prefill.chunks, 3, 1e-12);
    assert_near(s.prefill_weight, 1, 1e-12);
    assert_near(s.most, 7, 0);
}

static void prefill_first_adds_iterations(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_PREFILL);
    const steady_case c = case_of(&e, 2000);
    steady_shape s;
    steady_times t;
    steady_shape_of(&c, 10, &s);
    assert_near(s.decode_weight, 1, 0);
    assert_near(s.prefill_weight, 0.1, 1e-12);
    assert_near(s.prefill.decode_sequences, 0, 0);
    steady_times_of(&c, &s, 10, &(steady_seconds){0.01, 0.05, 0.09}, &t);
    assert_near(t.iteration_s, 0.015, 1e-12);
    assert_near(t.tpot_s, 0.015, 1e-12);
    assert_near(t.requests_per_s, 10 / (100 * 0.015), 1e-12);
    assert_near(t.use, 1.0 / 3, 1e-12);
}

static void times_follow_from_both_kinds(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    steady_case c = case_of(&e, 2000);
    steady_shape s;
    steady_times t;
    c.yield = 2; /* 50 iterations each: a prompt in every fifth */
    steady_shape_of(&c, 10, &s);
    assert_near(s.prefill_weight, 0.2, 1e-12);
    steady_times_of(&c, &s, 10, &(steady_seconds){0.01, 0.03, 0.05}, &t);
    assert_near(t.iteration_s, 0.014, 1e-12);
    assert_near(t.tpot_s, 0.007, 1e-12);
    assert_near(t.decode_s, 0.7, 1e-12);
    assert_near(t.requests_per_s, 10 / (50 * 0.014), 1e-12);
    const double square = 0.8 * 1e-4 + 0.2 * 9e-4;
    assert_near(t.residual_s, square / (2 * 0.014), 1e-12);
    assert_near(t.use, 0.2, 1e-12);
}

/* Batches of a pipeline wait for the one with a prompt: a mean that all stages share
 * would not. */
static void stages_wait_for_prompts(void **state)
{
    (void)state;
    const ridge_engine_batching kinds[] = {RIDGE_BATCHING_MIXED,
                                           RIDGE_BATCHING_PREFILL};
    for (size_t i = 0; i < RIDGE_COUNT_OF(kinds); i++) {
        const ridge_engine e = engine_of(kinds[i]);
        steady_case c = case_of(&e, 2000);
        steady_shape s;
        steady_times one;
        steady_times four;
        steady_shape_of(&c, 10, &s);
        steady_times_of(&c, &s, 10, &(steady_seconds){0.01, 0.05, 0.09}, &one);
        c.stages = 4;
        steady_times_of(&c, &s, 10, &(steady_seconds){0.01, 0.05, 0.09}, &four);
        assert_near(one.wait_s, 0, 0);
        assert_near(four.iteration_s, one.iteration_s + four.wait_s, 1e-12);
        assert_true(four.iteration_s > 1.3 * one.iteration_s);
        assert_true(four.iteration_s < 4 * one.iteration_s);
        assert_near(four.requests_per_s, 4 * 10 / (100 * four.iteration_s), 1e-12);
        steady_times_of(&c, &s, 10, &(steady_seconds){0.01, 0.01, 0.01},
                        &four); /* prompts cost nothing */
        if (kinds[i] == RIDGE_BATCHING_MIXED)
            assert_near(four.wait_s, 0, 1e-15);
    }
}

static void one_token_ends_with_the_prefill(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    const ridge_service_work one = {.prompt_tokens = 1000, .output_tokens = 1};
    steady_case c = case_of(&e, 4000);
    steady_shape s;
    steady_times t;
    c.work = &one;
    steady_shape_of(&c, 3, &s);
    assert_false(s.is_saturated);
    assert_near(s.prefill.chunk_tokens, 3000, 1e-12);
    steady_times_of(&c, &s, 3, &(steady_seconds){0, 0.1, 0.2}, &t);
    assert_near(t.requests_per_s, 30, 1e-12);
    assert_near(t.tpot_s, 0, 0);
    steady_shape_of(&c, 5, &s);
    assert_true(s.is_saturated);
}

static void waits_are_those_of_one_server(void **state)
{
    (void)state;
    assert_near(steady_queue_s(true, 0.5, 2, 1, 0), 1, 1e-12); /* rho S / 2(1 - rho) */
    assert_near(steady_queue_s(false, 0.5, 2, 1, 0), 0.5, 1e-12);
    assert_near(steady_queue_s(true, 0.5, 2, 1, 0.75), 2 * log(2), 1e-12);
    assert_near(steady_queue_s(true, 0.09, 2, 1, 0.9), 0, 0);
    assert_true(isinf(steady_queue_s(true, 1, 2, 1, 0)));
}

static void drafts_yield_what_is_accepted_in_a_row(void **state)
{
    (void)state;
    const double accept[] = {0.8, 0.8, 0.8};
    assert_near(steady_yield(accept, 3), (1 - pow(0.8, 4)) / (1 - 0.8), 1e-12);
    assert_near(steady_yield(accept, 0), 1, 0);
}

static void quantiles_are_those_of_the_normal(void **state)
{
    (void)state;
    assert_near(steady_normal_quantile(0.975), 1.959964, 5e-4);
    assert_near(steady_normal_quantile(0.99), 2.326348, 5e-4);
}

static void caches_hold_prompts_and_half_of_answers(void **state)
{
    (void)state;
    const ridge_engine e = engine_of(RIDGE_BATCHING_MIXED);
    steady_case c = case_of(&e, 2000);
    const ridge_serving_memory m = {.cache_bytes_per_token = 2, .block_tokens = 16};
    const double spread = 3 * sqrt(4 * 101.0 * 101.0 / 12);
    assert_near(steady_cache_bytes(&c, &m, 4, 0, false),
                2 * (4 * (1050.5 + 8) + spread), 1e-12);
    assert_near(steady_cache_bytes(&c, &m, 4, 0, true), 2 * 4 * 1104, 1e-12);
    assert_near(steady_cache_bytes(&c, &m, 4, 1, true), 2 * (4 * 1104 + 1000), 1e-12);
    c.verified = 25; /* a tree of 24 nodes holds a slot for each, of each sequence */
    assert_near(steady_cache_bytes(&c, &m, 4, 0, false),
                2 * (4 * (1050.5 + 24 + 8) + spread), 1e-12);
    assert_near(steady_cache_bytes(&c, &m, 4, 0, true), 2 * 4 * 1136, 1e-12);
}

/* By hand: four chunks of a second each, then a hundred tokens of 10 ms. */
static void one_at_a_time_waits_for_nothing(void **state)
{
    (void)state;
    const ridge_engine engine = engine_of(RIDGE_BATCHING_MIXED);
    steady_case c = case_of(&engine, 250);
    steady_shape s;
    steady_times t;
    const steady_seconds seconds = {.decode_s = 0.01, .prefill_s = 1};
    steady_shape_of(&c, 0.5, &s);
    assert_true(s.is_alone);
    assert_near(s.chunks, 4, 0);
    assert_near(s.prefill.decode_sequences, 0, 0);
    assert_near(s.decode.decode_sequences, 1, 0);
    c.request_s = 0.5;
    steady_times_of(&c, &s, 0.5, &seconds, &t);
    assert_near(t.tpot_s, 0.01, 1e-12);
    assert_near(t.prefill_s, 4, 1e-12);
    assert_near(t.queue_s + t.residual_s, 0, 0);
    assert_near(t.requests_per_s, 1 / 5.5, 1e-12);
    c.is_open = true;
    steady_shape_of(&c, 0.5, &s);
    assert_false(s.is_alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_come_as_fast_as_sequences_end),
        cmocka_unit_test(sequences_meet_others_and_themselves),
        cmocka_unit_test(the_fullest_rank_has_what_is_left_over),
        cmocka_unit_test(attention_ranks_wait_for_prompts_of_one),
        cmocka_unit_test(prompts_that_are_gathered_fill_all_ranks),
        cmocka_unit_test(long_prompts_are_cut),
        cmocka_unit_test(short_prompts_share_an_iteration),
        cmocka_unit_test(prefill_first_adds_iterations),
        cmocka_unit_test(times_follow_from_both_kinds),
        cmocka_unit_test(stages_wait_for_prompts),
        cmocka_unit_test(one_at_a_time_waits_for_nothing),
        cmocka_unit_test(one_token_ends_with_the_prefill),
        cmocka_unit_test(waits_are_those_of_one_server),
        cmocka_unit_test(drafts_yield_what_is_accepted_in_a_row),
        cmocka_unit_test(quantiles_are_those_of_the_normal),
        cmocka_unit_test(caches_hold_prompts_and_half_of_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
