/* Deployments by knobs, their tables and rules, and the most that they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "ridge/plan_requests.h"

#include <string.h>

typedef struct asked {
    ridge_ctx *cx;
    ridge_service_request request;
} asked;

static asked ask(const char *model, const char *slice, const char *engine)
{
    asked a = {.cx = ridge_ctx_open()};
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    ridge_service_request *r = &a.request;
    assert_int_equal(ridge_catalog_open(a.cx, NULL, &catalog), RIDGE_OK);
    assert_int_equal(ridge_library_open(a.cx, NULL, &library), RIDGE_OK);
    assert_int_equal(ridge_model_load(a.cx, library, model, &r->model), RIDGE_OK);
    assert_int_equal(ridge_slice_parse(a.cx, catalog, slice, &r->slice), RIDGE_OK);
    assert_int_equal(ridge_engine_find(a.cx, catalog, engine, &r->engine), RIDGE_OK);
    r->knobs = ridge_service_knobs_free();
    return a;
}

static void set_knob(asked *a, const char *key, const char *value)
{
    assert_int_equal(ridge_service_knobs_set(a->cx, &a->request.knobs, key, value),
                     RIDGE_OK);
}

static ridge_status choose(asked *a, ridge_service_choice *out)
{
    ridge_service_request *r = &a->request;
    RIDGE_TRY(ridge_service_knobs_close(a->cx, r->model, r->slice->chip, r->engine,
                                        &r->knobs));
    return ridge_service_choice_of_knobs(a->cx, r, out);
}

static void tp_takes_what_servers_leave(void **state)
{
    static const struct {
        const char *knob, *value;
        int64_t servers, tp;
    } cases[] = {{"tp", "2", 4, 2}, {"servers", "2", 2, 4}, {"budget", "512", 1, 8}};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        asked a = ask("llama-3-8b", "h100:1x8", "vllm-v1");
        ridge_service_choice c;
        set_knob(&a, cases[i].knob, cases[i].value);
        assert_int_equal(choose(&a, &c), RIDGE_OK);
        assert_int_equal(c.pools[0].servers, cases[i].servers);
        assert_int_equal(c.pools[0].layout.tp, cases[i].tp);
        assert_int_equal(c.pools[0].layout.sequences, 1024);
        ridge_ctx_close(a.cx);
    }
}

static void pools_share_the_slice(void **state)
{
    asked a = ask("llama-3-8b", "h100:1x8", "sglang");
    ridge_service_choice c;
    (void)state;
    set_knob(&a, "mode", "disaggregated");
    set_knob(&a, "tp", "2");
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(c.n_pools, 2);
    assert_int_equal(c.pools[0].servers, 2);
    assert_int_equal(c.pools[1].servers, 2);
    set_knob(&a, "servers", "5");
    assert_int_equal(ridge_service_choice_of_knobs(a.cx, &a.request, &c), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(a.cx), "do not fit"));
    ridge_ctx_close(a.cx);
}

static void tables_and_rules_are_those_of_the_layout(void **state)
{
    asked a = ask("llama-3-8b", "h100:1x2", "vllm-v1");
    ridge_service_choice c;
    ridge_service_deployment d;
    (void)state;
    set_knob(&a, "tp", "1");
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    if (ridge_service_deploy(a.cx, &a.request, &c, 8192, &d) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(a.cx));
    assert_int_equal(d.play.pools[0].replicas, 2);
    assert_int_equal(d.play.pools[0].speed->blocks, d.memory[0].pages);
    assert_int_equal(d.play.pools[0].rules.block_tokens, 16);
    assert_int_equal(d.play.pools[0].rules.sequences, 1024);
    assert_true(d.speeds[0].blocks > 20000 && d.speeds[0].blocks < 35000);
    ridge_ctx_close(a.cx);
}

/* SGLang gives states nine tenths of what the other layers' cache has, and a sequence
 * three of them beside a prefix cache. @source sglang-source-2025 */
static void states_bound_the_sequences_of_sglang(void **state)
{
    asked a = ask("qwen3-next-80b-a3b", "h100:1x4", "sglang");
    ridge_service_choice c;
    ridge_service_deployment d;
    (void)state;
    set_knob(&a, "tp", "4");
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(a.cx, &a.request, &c, 4096, &d), RIDGE_OK);
    const ridge_serving_memory *m = &d.memory[0];
    const double n = (double)d.choice.pools[0].layout.sequences;
    assert_true(3 * (n - 1) * m->state_bytes <= 0.9 / 1.9 * m->cache &&
                3 * (n + 1) * m->state_bytes > 0.9 / 1.9 * m->cache);
    assert_near((double)m->pages * m->page_bytes, m->cache / 1.9, 1e-4);
    ridge_ctx_close(a.cx);
}

static void states_without_room_are_told(void **state)
{
    asked a = ask("qwen3-next-80b-a3b", "h100:1x4", "sglang");
    ridge_service_choice c;
    ridge_service_deployment d;
    (void)state;
    set_knob(&a, "tp", "4");
    set_knob(&a, "batch", "2000");
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(a.cx, &a.request, &c, 4096, &d), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(a.cx), "states of 2000 sequences"));
    ridge_ctx_close(a.cx);
}

static void what_has_no_room_for_a_cache_is_an_error(void **state)
{
    asked a = ask("llama-3-70b", "h100:1x1", "vllm-v1");
    ridge_service_choice c;
    ridge_service_deployment d;
    (void)state;
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(a.cx, &a.request, &c, 8192, &d), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(a.cx), "no room for a cache"));
    ridge_ctx_close(a.cx);
}

static double share_at(asked *a, const ridge_service_deployment *d,
                       ridge_request_draws draws, double rate)
{
    const ridge_serving_goals goals = {.ttft_s = 0.3, .tpot_s = 0.025};
    ridge_request_source source;
    ridge_serving_summary s;
    draws.rate_per_s = rate;
    assert_int_equal(ridge_request_draws_open(a->cx, &draws, &source), RIDGE_OK);
    assert_int_equal(ridge_serving_play(a->cx, &d->play, &source, &goals, NULL, &s),
                     RIDGE_OK);
    return (double)s.good / (double)s.requests;
}

static void capacity_is_where_goals_begin_to_be_missed(void **state)
{
    asked a = ask("llama-3-8b", "h100:1x1", "vllm-v1");
    const ridge_serving_goals goals = {.ttft_s = 0.3, .tpot_s = 0.025};
    const ridge_serving_goals none = {0, 0, 0}, never = {.ttft_s = 1e-6};
    ridge_request_draws draws = {.rate_per_s = 1,
                                 .requests = 800,
                                 .prompt = {RIDGE_LENGTH_UNIFORM, 1000, 0.5, 0, 0},
                                 .output = {RIDGE_LENGTH_UNIFORM, 100, 0.5, 0, 0},
                                 .seed = 5};
    ridge_service_choice c;
    ridge_service_deployment d;
    ridge_service_capacity found;
    const ridge_capacity_aim aim = {.share = 0.99, .precision = 1e-4};
    (void)state;
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(a.cx, &a.request, &c, 8192, &d), RIDGE_OK);
    assert_int_equal(
        ridge_service_capacity_find(a.cx, &d.play, &draws, &goals, &aim, &found),
        RIDGE_OK);
    assert_true(found.share >= 0.99);
    assert_near(share_at(&a, &d, draws, found.requests_per_s), found.share, 1e-12);
    assert_true(found.next_requests_per_s <= found.requests_per_s * 1.0001);
    assert_true(found.next_share < 0.99);
    assert_near(share_at(&a, &d, draws, found.next_requests_per_s), found.next_share,
                1e-12);
    const double rate = found.requests_per_s; /* wherever the search begins */
    draws.rate_per_s = 100;
    assert_int_equal(
        ridge_service_capacity_find(a.cx, &d.play, &draws, &goals, &aim, &found),
        RIDGE_OK);
    assert_near(found.requests_per_s, rate, 5e-3); /* few requests: steps of 1/800 */
    draws.rate_per_s = 1;
    assert_int_equal(
        ridge_service_capacity_find(a.cx, &d.play, &draws, &never, &aim, &found),
        RIDGE_OK);
    assert_near(found.requests_per_s, 0, 0);
    assert_int_equal(
        ridge_service_capacity_find(a.cx, &d.play, &draws, &none, &aim, &found),
        RIDGE_E_ARG);
    draws.arrivals = RIDGE_ARRIVAL_CLOSED;
    assert_int_equal(
        ridge_service_capacity_find(a.cx, &d.play, &draws, &goals, &aim, &found),
        RIDGE_E_ARG);
    ridge_ctx_close(a.cx);
}

/* A thousand whole prompts at once have activations of more than a chip. */
static void static_engines_start_a_batch_that_has_room(void **state)
{
    asked a = ask("llama-3-8b", "h100:1x1", "exllama");
    ridge_service_choice c;
    ridge_service_deployment d;
    (void)state;
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(a.cx, &a.request, &c, 1408, &d), RIDGE_OK);
    assert_true(d.choice.pools[0].layout.sequences >= 64);
    assert_true(d.choice.pools[0].layout.sequences < c.pools[0].layout.sequences);
    assert_true(d.memory[0].cache > 0);
    set_knob(&a, "batch", "1024"); /* asked for, it is not made smaller */
    assert_int_equal(choose(&a, &c), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(a.cx, &a.request, &c, 1408, &d), RIDGE_E_ARG);
    ridge_ctx_close(a.cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tp_takes_what_servers_leave),
        cmocka_unit_test(pools_share_the_slice),
        cmocka_unit_test(tables_and_rules_are_those_of_the_layout),
        cmocka_unit_test(states_bound_the_sequences_of_sglang),
        cmocka_unit_test(states_without_room_are_told),
        cmocka_unit_test(what_has_no_room_for_a_cache_is_an_error),
        cmocka_unit_test(static_engines_start_a_batch_that_has_room),
        cmocka_unit_test(capacity_is_where_goals_begin_to_be_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
