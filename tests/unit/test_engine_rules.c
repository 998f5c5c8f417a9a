/* The rules of data/engines by hand: an iteration takes a second, so times are counts.
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
    d.pools[0] = (ridge_serving_pool){speed, data_rules(rules, 10, 100), 1};
    return d;
}

/* ---- vLLM v1 --------------------------------------------------------------------- */

static void vllm_decodes_first_and_chunks_what_is_left(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    const ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    listed_add(&l, 0, 50, 6);  /* 50 in the first iteration, then decoding */
    listed_add(&l, 0, 247, 2); /* 50, then 99, then 98: one token less for decoding */
    listed_add(&l, 0.5, 1, 1); /* behind the second: enters with it in the third */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 6);
    listed_assert_times(&l, 1, 3, 4);
    listed_assert_times(&l, 2, 3, 3);
    assert_int_equal(sum.iterations, 6);
    assert_int_equal(sum.completed, 3);
}

static void vllm_takes_what_arrived_by_the_start_of_an_iteration(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    const ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    listed_add(&l, 0, 10, 10);
    listed_add(&l, 3, 10, 1);     /* at the boundary: in */
    listed_add(&l, 4.001, 10, 1); /* a moment late: waits for the next */
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 1, 4, 4);
    listed_assert_times(&l, 2, 6, 6);
    assert_near(listed_part(&l.results[2].ttft, RIDGE_LATENCY_PART_QUEUE), 0.999, 1e-9);
}

static void vllm_lets_the_last_admitted_give_way(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(5); /* 50 tokens */
    const ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    listed_add(&l, 0, 20, 12); /* 2 pages, a third from its first step of decoding on */
    listed_add(&l, 0, 18, 12); /* 2 pages, a third once 20 tokens are in */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    /* at 3 s the second needs its third page and there is none: it gives way, waits
     * until the first is done, and makes its 21 known tokens again */
    listed_assert_times(&l, 0, 1, 12);
    assert_int_equal(sum.preemptions, 1);
    assert_int_equal(l.results[1].preemptions, 1);
    listed_assert_times(&l, 1, 1, 21);
    assert_near(sum.recomputed_tokens, 21, 0);
    assert_near(listed_part(&l.results[1].e2e, RIDGE_LATENCY_PART_PREEMPTION), 10,
                1e-9);
    assert_near(l.results[1].e2e.total_s, 21, 1e-9);
}

static void vllm_finds_blocks_of_those_that_gave_way(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(6);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    d.pools[0].rules.block_tokens = 16;
    listed_add(&l, 0, 48, 4);  /* 3 blocks, a fourth for its second token */
    listed_add(&l, 0, 47, 10); /* 3 blocks: gives way at 1 s */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    assert_int_equal(sum.preemptions, 1);
    listed_assert_times(&l, 0, 1, 4);
    /* of its 48 known tokens a block's worth were taken and the last is computed
     * anyway: 32 are found, 16 made again */
    assert_near(sum.recomputed_tokens, 16, 0);
    d.pools[0].rules.has_prefix_cache = false;
    assert_near(listed_play(&l, &d, NULL).recomputed_tokens, 48, 0);
}

static void vllm_finds_prefixes_again(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    d.pools[0].rules.block_tokens = 16;
    for (int i = 0; i < 2; i++) {
        listed_add(&l, 10.0 * i, 96, 1);
        l.of[i].group = 5;
        l.of[i].group_tokens = 96;
    }
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    /* the last piece is computed again: a pass needs a token */
    assert_int_equal(l.results[1].cached_tokens, 80);
    assert_near(sum.hit_rate, 80.0 / 192, 1e-12);
    d.pools[0].rules.has_prefix_cache = false;
    assert_near(listed_play(&l, &d, NULL).hit_rate, 0, 0);
}

static void no_more_than_its_sequences_run_at_once(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    d.pools[0].rules.sequences = 2;
    for (int i = 0; i < 3; i++)
        listed_add(&l, 0, 10, 4);
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 1, 1, 4);
    listed_assert_times(&l, 2, 5, 8);
}

/* ---- other engines --------------------------------------------------------------- */

static void sglang_computes_prompts_before_it_decodes(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(1000);
    const ridge_serving_deployment d = deployment_of(&s, "sglang");
    listed_requests l = {0};
    listed_add(&l, 0, 50, 3);
    listed_add(&l, 1.5, 250, 2); /* three chunks, in which the first stands still */
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 6);
    listed_assert_times(&l, 1, 5, 6);
    assert_near(listed_part(&l.results[0].e2e, RIDGE_LATENCY_PART_OTHERS), 3, 1e-9);
    assert_near(listed_part(&l.results[0].e2e, RIDGE_LATENCY_PART_DECODE), 2, 1e-9);
}

static void sglang_keeps_room_for_a_share_of_outputs(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(20); /* 200 tokens */
    ridge_serving_deployment d = deployment_of(&s, "sglang");
    listed_requests l = {0};
    listed_add(&l, 0, 50, 60);
    /* 149 free, less 0.7 of the 58 that the first may make yet: 60 + 60 do not fit
     * below 108.4, though 60 do */
    listed_add(&l, 2, 60, 60);
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[1].start_s, l.results[0].end_s, 1e-12);
    d.pools[0].rules.reserve_share = d.pools[0].rules.reserve_share_least = 0;
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[1].start_s, 2, 1e-12);
}

static void sglang_retracts_who_has_made_least(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(10);
    ridge_serving_deployment d = deployment_of(&s, "sglang");
    listed_requests l = {0};
    d.pools[0].rules.reserve_share = d.pools[0].rules.reserve_share_least = 0;
    listed_add(&l, 0, 30, 40);
    listed_add(&l, 5, 30, 40);
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    assert_int_equal(sum.preemptions, 1);
    assert_int_equal(l.results[0].preemptions, 0);
    assert_int_equal(l.results[1].preemptions, 1);
}

static void trtllm_admits_what_fits_to_its_last_token(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(10);
    const ridge_serving_deployment d = deployment_of(&s, "trtllm");
    listed_requests l = {0};
    listed_add(&l, 0, 30, 30); /* 6 pages */
    listed_add(&l, 0, 30, 20); /* 5 pages: waits for the end of the first */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 30);
    listed_assert_times(&l, 1, 31, 50);
    assert_int_equal(sum.preemptions, 0);
}

static void trtllm_takes_whole_prompts(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    const ridge_serving_deployment d = deployment_of(&s, "trtllm");
    listed_requests l = {0};
    listed_add(&l, 0, 60, 1);
    listed_add(&l, 0, 60, 1);  /* does not fit beside it: the next iteration */
    listed_add(&l, 0, 101, 1); /* never fits in one */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 1);
    listed_assert_times(&l, 1, 2, 2);
    assert_int_equal(sum.refused, 1);
}

static void jetstream_prefills_one_prompt_at_a_time(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "jetstream");
    listed_requests l = {0};
    d.longest_tokens = 100;
    d.pools[0].rules.sequences = 2;
    for (int i = 0; i < 3; i++)
        listed_add(&l, 0, 33, 3);
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 4);
    listed_assert_times(&l, 1, 2, 4);
    listed_assert_times(&l, 2, 5, 7); /* a slot was free only then */
    assert_near(sum.padding_share, 31.0 / 64, 1e-12);
}

static void a_static_batch_runs_to_its_last_token(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "static");
    listed_requests l = {0};
    d.longest_tokens = 100;
    listed_add(&l, 0, 40, 10);
    listed_add(&l, 0, 20, 3);
    listed_add(&l, 0.5, 10, 1);
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 10);
    listed_assert_times(&l, 1, 1, 3);
    listed_assert_times(&l, 2, 11,
                        11); /* a slot was free at 3 s, but the batch was not */
    assert_near(sum.padding_share, 20.0 / 90, 1e-12);
}

static void swapped_caches_come_back_from_the_host(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(5);
    s.block_bytes = 100;
    s.swap_bytes_per_s = 1000; /* a page takes 0.1 s */
    ridge_serving_deployment d = deployment_of(&s, "vllm-v0");
    listed_requests l = {0};
    d.pools[0].rules.preemption = RIDGE_PREEMPTION_SWAP;
    d.pools[0].rules.watermark = 0;
    listed_add(&l, 0, 20, 12);
    listed_add(&l, 0, 18, 12);
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    assert_int_equal(sum.preemptions, 1);
    assert_near(sum.recomputed_tokens, 0, 0);
    /* two pages out at 3 s; back at 12.2 s, when the first is done, and 9 more tokens
     */
    listed_assert_times(&l, 0, 1, 12.2);
    listed_assert_times(&l, 1, 1, 12.2 + 0.2 + 9);
}

static void vllm_v0_computes_whole_prompts_first_and_keeps_a_watermark(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    const ridge_serving_deployment d = deployment_of(&s, "vllm-v0");
    listed_requests l = {0};
    listed_add(&l, 0, 60, 5);
    listed_add(&l, 1.5, 60, 1); /* together more than an iteration: one by one, */
    listed_add(&l, 1.5, 60, 1); /* while the first stands still */
    listed_add(&l, 20, 99, 5);  /* 10 pages; later 88 of 100 are asked beside them */
    listed_add(&l, 21.5, 99, 1);
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 7);
    listed_assert_times(&l, 1, 3, 3);
    listed_assert_times(&l, 2, 4, 4);
    listed_assert_times(&l, 4, 23, 23);
}

static void iterations_planned_at_once_let_no_prompt_in_between(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v0");
    listed_requests l = {0};
    d.pools[0].rules.planned_steps = 4;
    listed_add(&l, 0, 60, 10);   /* decodes from 1 to 5 s, from 6 to 10, and to 12 */
    listed_add(&l, 1.5, 60, 1);  /* waits for 5 s */
    listed_add(&l, 6.5, 60, 1);  /* waits for 10 s */
    listed_add(&l, 11.2, 60, 1); /* the only one left to decode ends at 12 s */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 12);
    listed_assert_times(&l, 1, 6, 6);
    listed_assert_times(&l, 2, 11, 11);
    listed_assert_times(&l, 3, 13, 13);
    assert_int_equal(sum.iterations, 13);
}

/* One that waits alone does so for four iterations; two are twice the one that decodes.
 */
static void prompts_wait_for_more_but_not_for_ever(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v0");
    listed_requests l = {0};
    d.pools[0].rules.waiting_share = 2;
    d.pools[0].rules.waiting_steps = 4;
    listed_add(&l, 0, 60, 20);  /* decodes from 1 s on */
    listed_add(&l, 1.5, 60, 1); /* enters at 4 s */
    listed_add(&l, 5.5, 20, 1);
    listed_add(&l, 5.6, 20, 1); /* both enter at 6 s */
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 22);
    listed_assert_times(&l, 1, 5, 5);
    listed_assert_times(&l, 2, 7, 7);
    listed_assert_times(&l, 3, 7, 7);
}

static void a_plan_of_many_iterations_costs_the_host_once(void **state)
{
    (void)state;
    ridge_serving_speed s = speed_of(100);
    s.host_s = 0.4;
    s.is_host_hidden = false;
    ridge_serving_deployment d = deployment_of(&s, "vllm-v0");
    listed_requests l = {0};
    d.pools[0].rules.planned_steps = 4;
    listed_add(&l, 0, 60, 9); /* a prompt and two plans */
    (void)listed_play(&l, &d, NULL);
    assert_near(l.results[0].first_token_s, 1.4, 1e-12);
    assert_near(l.results[0].end_s, 1.4 + 8 * 1.1, 1e-12);
}

static void a_watermark_of_blocks_stays_free(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(20);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v0");
    listed_requests l = {0};
    d.pools[0].rules.watermark = 0.55; /* 11 blocks */
    listed_add(&l, 0, 50, 4);
    listed_add(&l, 0, 50, 1); /* five blocks more would leave ten */
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 4);
    listed_assert_times(&l, 1, 5, 5);
}

static void trtllm_pauses_the_last_where_it_packs_as_many_as_it_can(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(10);
    const ridge_serving_deployment d = deployment_of(&s, "trtllm-max-utilization");
    listed_requests l = {0};
    listed_add(&l, 0, 30, 30);
    listed_add(&l, 0, 30, 30); /* 12 blocks in all, 10 are there */
    const ridge_serving_summary sum = listed_play(&l, &d, NULL);
    listed_assert_times(&l, 0, 1, 30);
    assert_near(l.results[1].first_token_s, 1, 1e-12);
    assert_int_equal(l.results[1].preemptions, 1);
    assert_int_equal(sum.preemptions, 1);
}

static void versions_name_the_rules(void **state)
{
    static const struct {
        const char *name;
        ridge_engine_batching batching;
        ridge_engine_preemption preemption;
        ridge_engine_victim victim;
        bool is_chunked, has_prefix_cache, keeps_order, is_host_hidden;
    } rows[] = {
        {"vllm-v1", RIDGE_BATCHING_MIXED, RIDGE_PREEMPTION_RECOMPUTE,
         RIDGE_VICTIM_LATEST, true, true, true, false},
        {"vllm-v1-async", RIDGE_BATCHING_MIXED, RIDGE_PREEMPTION_RECOMPUTE,
         RIDGE_VICTIM_LATEST, true, true, true, true},
        {"vllm-tpu", RIDGE_BATCHING_MIXED, RIDGE_PREEMPTION_RECOMPUTE,
         RIDGE_VICTIM_LATEST, true, true, true, false},
        {"vllm-v0", RIDGE_BATCHING_PREFILL, RIDGE_PREEMPTION_RECOMPUTE,
         RIDGE_VICTIM_LATEST, false, false, false, false},
        {"sglang", RIDGE_BATCHING_PREFILL, RIDGE_PREEMPTION_RECOMPUTE,
         RIDGE_VICTIM_SHORTEST, true, true, false, true},
        {"trtllm", RIDGE_BATCHING_MIXED, RIDGE_PREEMPTION_RESERVE, RIDGE_VICTIM_LATEST,
         false, true, false, true},
        {"jetstream", RIDGE_BATCHING_PREFILL, RIDGE_PREEMPTION_RESERVE,
         RIDGE_VICTIM_LATEST, false, false, false, true},
        {"static", RIDGE_BATCHING_STATIC, RIDGE_PREEMPTION_RESERVE, RIDGE_VICTIM_LATEST,
         false, false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        const ridge_engine e = data_rules(rows[i].name, 16, 2048);
        assert_int_equal(e.batching, rows[i].batching);
        assert_int_equal(e.preemption, rows[i].preemption);
        assert_int_equal(e.victim, rows[i].victim);
        assert_int_equal(e.is_chunked, rows[i].is_chunked);
        assert_int_equal(e.has_prefix_cache, rows[i].has_prefix_cache);
        assert_int_equal(e.keeps_order, rows[i].keeps_order);
        assert_int_equal(e.is_host_hidden, rows[i].is_host_hidden);
    }
}

/* ---- queues ---------------------------------------------------------------------- */

static void queues_choose_who_enters_next(void **state)
{
    static const struct {
        ridge_queue_policy queue;
        double first_s[3];
    } cases[] = {{RIDGE_QUEUE_FCFS, {11, 21, 31}},
                 {RIDGE_QUEUE_SHORTEST, {31, 11, 21}},
                 {RIDGE_QUEUE_PRIORITY, {21, 31, 11}}};
    (void)state;
    for (size_t c = 0; c < RIDGE_COUNT_OF(cases); c++) {
        const ridge_serving_speed s = speed_of(100);
        ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
        listed_requests l = {0};
        d.queue = cases[c].queue;
        d.pools[0].rules.sequences = 1;
        listed_add(&l, 0, 10, 10);
        listed_add(&l, 1, 90, 10);
        listed_add(&l, 2, 20, 10);
        listed_add(&l, 3, 50, 10);
        l.of[1].priority = 1;
        l.of[2].priority = 2;
        (void)listed_play(&l, &d, NULL);
        for (int i = 0; i < 3; i++)
            assert_near(l.results[i + 1].first_token_s, cases[c].first_s[i], 1e-12);
    }
}

static void decode_first_lets_no_prompt_in_between(void **state)
{
    (void)state;
    const ridge_serving_speed s = speed_of(100);
    ridge_serving_deployment d = deployment_of(&s, "vllm-v1");
    listed_requests l = {0};
    d.queue = RIDGE_QUEUE_DECODE_FIRST;
    listed_add(&l, 0, 10, 5);
    listed_add(&l, 1.5, 10, 1);
    (void)listed_play(&l, &d, NULL);
    listed_assert_times(&l, 1, 6, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vllm_decodes_first_and_chunks_what_is_left),
        cmocka_unit_test(vllm_takes_what_arrived_by_the_start_of_an_iteration),
        cmocka_unit_test(vllm_lets_the_last_admitted_give_way),
        cmocka_unit_test(vllm_finds_blocks_of_those_that_gave_way),
        cmocka_unit_test(vllm_finds_prefixes_again),
        cmocka_unit_test(no_more_than_its_sequences_run_at_once),
        cmocka_unit_test(sglang_computes_prompts_before_it_decodes),
        cmocka_unit_test(sglang_keeps_room_for_a_share_of_outputs),
        cmocka_unit_test(sglang_retracts_who_has_made_least),
        cmocka_unit_test(trtllm_admits_what_fits_to_its_last_token),
        cmocka_unit_test(trtllm_takes_whole_prompts),
        cmocka_unit_test(jetstream_prefills_one_prompt_at_a_time),
        cmocka_unit_test(a_static_batch_runs_to_its_last_token),
        cmocka_unit_test(swapped_caches_come_back_from_the_host),
        cmocka_unit_test(vllm_v0_computes_whole_prompts_first_and_keeps_a_watermark),
        cmocka_unit_test(iterations_planned_at_once_let_no_prompt_in_between),
        cmocka_unit_test(a_plan_of_many_iterations_costs_the_host_once),
        cmocka_unit_test(prompts_wait_for_more_but_not_for_ever),
        cmocka_unit_test(a_watermark_of_blocks_stays_free),
        cmocka_unit_test(trtllm_pauses_the_last_where_it_packs_as_many_as_it_can),
        cmocka_unit_test(versions_name_the_rules),
        cmocka_unit_test(queues_choose_who_enters_next),
        cmocka_unit_test(decode_first_lets_no_prompt_in_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
