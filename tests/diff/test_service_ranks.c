/* Attention ranks in closed form against the same deployment played at random arrivals:
 * prompts come each by itself, and all ranks wait for the one that has them. */
#include "service_fixture.h"

#include "ridge/plan_requests.h"

typedef struct problem {
    const char *engine;
    double requests_per_s;
    double near; /* of TPOT */
} problem;

static const problem problems[] = {
    {"vllm-v1", 5, 0.1}, {"vllm-v1", 40, 0.1}, {"vllm-v1", 100, 0.15},
    {"trtllm", 5, 0.1},  {"trtllm", 40, 0.2},  {"trtllm", 100, 0.15},
    {"sglang", 5, 0.15},
};

static ridge_service_request request_of(ridge_ctx *cx, const problem *p)
{
    const ridge_catalog *catalog = NULL;
    ridge_service_request r =
        service_request(cx, fixture_named(cx, "deepseek-v2-lite"), "h100:1x8");
    ridge_service_pool_knobs *k = &r.knobs.pools[RIDGE_SERVICE_ROLE_BOTH];
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_engine_find(cx, catalog, p->engine, &r.engine));
    r.work = (ridge_service_work){.prompt_tokens = 1024, .output_tokens = 256};
    r.requests_per_s = p->requests_per_s;
    r.knobs.mode = RIDGE_SERVICE_MODE_AGGREGATED;
    r.knobs.budget_tokens = 8192;
    k->tp = k->pp = k->servers = 1;
    k->attention_dp = k->ep = 8;
    return r;
}

static void check(const problem *p)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_service_request r = request_of(cx, p);
    const ridge_service_price best = service_best(cx, &r);
    const ridge_request_draws draws = {
        .rate_per_s = p->requests_per_s,
        .requests = 4000,
        .prompt = {RIDGE_LENGTH_UNIFORM, 1024, 0.1, 0, 0},
        .output = {RIDGE_LENGTH_UNIFORM, 256, 0.1, 0, 0},
        .seed = 3};
    ridge_service_choice choice = best.choice;
    choice.pools[0].layout.sequences = 8 * 512;
    ridge_service_deployment d;
    ridge_request_source source;
    ridge_serving_summary s;
    assert_ok(cx, ridge_service_deploy(cx, &r, &choice, 2048, &d));
    assert_ok(cx, ridge_request_draws_open(cx, &draws, &source));
    assert_ok(cx, ridge_serving_play(cx, &d.play, &source, NULL, NULL, &s));
    assert_near(best.latency_s[RIDGE_SERVICE_TPOT], s.tpot.mean, p->near);
    assert_near(best.latency_s[RIDGE_SERVICE_TTFT], s.ttft.mean, 0.25);
    ridge_ctx_close(cx);
}

static void ranks_are_near_what_is_played(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(problems); i++)
        check(&problems[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_are_near_what_is_played)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
