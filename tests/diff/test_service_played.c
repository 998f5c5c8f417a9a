/* The steady state in closed form against the same deployment played request by
 * request in a closed loop: rates and latencies in the mean. */
#include "service_fixture.h"

#include "ridge/plan_service_play.h"

#include <math.h>

typedef struct problem {
    const char *engine;
    double prompt_tokens, output_tokens;
    ridge_service_mode mode;
    double batch;  /* 0: the best */
    int64_t nodes; /* of trees of drafts, three levels deep; 0: no drafts */
} problem;

static const problem problems[] = {
    {"vllm-v1", 512, 128, RIDGE_SERVICE_MODE_AGGREGATED, 8, 0},
    {"vllm-v1", 4096, 256, RIDGE_SERVICE_MODE_AGGREGATED, 16, 0},
    {"vllm-v1", 128, 512, RIDGE_SERVICE_MODE_AGGREGATED, 64, 0},
    {"vllm-v1", 1024, 256, RIDGE_SERVICE_MODE_AGGREGATED, 0, 0},
    {"sglang", 1024, 256, RIDGE_SERVICE_MODE_AGGREGATED, 32, 0},
    {"trtllm", 1024, 256, RIDGE_SERVICE_MODE_AGGREGATED, 32, 0},
    {"jetstream", 1024, 256, RIDGE_SERVICE_MODE_AGGREGATED, 16, 0},
    {"vllm-v1", 1024, 256, RIDGE_SERVICE_MODE_DISAGGREGATED, 16, 0},
    {"vllm-v1", 1024, 256, RIDGE_SERVICE_MODE_AGGREGATED, 16, 3},
    {"sglang", 1024, 256, RIDGE_SERVICE_MODE_AGGREGATED, 8, 12},
    {"trtllm", 256, 512, RIDGE_SERVICE_MODE_AGGREGATED, 0, 16},
};

static void draft(int64_t nodes, ridge_service_knobs *k)
{
    k->draft = (ridge_draft){
        .kind = RIDGE_DRAFT_EAGLE, .nodes = nodes, .accept = {0.8, 0.7, 0.6}};
    k->tree_next = 0.3;
    k->depth = 3;
}

static void check(const problem *p)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    ridge_service_result result;
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x2");
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_engine_find(cx, catalog, p->engine, &r.engine));
    r.work.prompt_tokens = p->prompt_tokens;
    r.work.output_tokens = p->output_tokens;
    r.knobs.mode = p->mode;
    r.knobs.batch = p->batch;
    if (p->nodes > 0)
        draft(p->nodes, &r.knobs);
    r.top = 1;
    assert_ok(cx, ridge_service_search(cx, &r, &result));
    assert_true(result.n_layouts > 0);
    assert_ok(cx, ridge_service_play(cx, &r, &result));
    const ridge_service_price *best = &result.layouts[0];
    const ridge_service_played *d = &best->played;
    assert_true(d->is_played);
    /* The play begins with all clients at once: its first wave of prompts waits, and
     * its time holds the filling and the draining of the service. */
    assert_near(d->requests_per_s, best->requests_per_s, 0.08);
    assert_near(d->mean_s[RIDGE_SERVICE_TPOT], best->latency_s[RIDGE_SERVICE_TPOT],
                0.1);
    assert_true(d->mean_s[RIDGE_SERVICE_TTFT] >
                0.9 * best->latency_s[RIDGE_SERVICE_TTFT]);
    assert_int_equal(d->preemptions, 0);
    ridge_ctx_close(cx);
}

static void closed_forms_are_near_what_is_played(void **state)
{
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(problems); i++)
        check(&problems[i]);
}

/* What keeps its goals when it is played comes first, at a rate that does. */
static void plays_rank_by_what_keeps_the_goals(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_result result;
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x4");
    r.goals.most_s[RIDGE_SERVICE_TTFT] = 0.1;
    r.goals.most_s[RIDGE_SERVICE_TPOT] = 0.004;
    r.goals.quantile = 0.95;
    assert_ok(cx, ridge_service_search(cx, &r, &result));
    assert_ok(cx, ridge_service_play(cx, &r, &result));
    for (int i = 0; i < result.n_layouts; i++) {
        const ridge_service_played *d = &result.layouts[i].played;
        assert_true(d->is_played);
        if (d->is_kept)
            assert_true(d->good_share >= 0.95);
        if (i > 0 && d->is_kept)
            assert_true(result.layouts[i - 1].played.requests_per_s >=
                        d->requests_per_s * (1 - 1e-9));
    }
    ridge_ctx_close(cx);
}

/* Layouts of unlike last pools are played beside the ranked ones: what comes first is
 * no worse for it. */
static void more_layouts_are_played_than_shown(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_result few, more;
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x4");
    r.goals.most_s[RIDGE_SERVICE_TTFT] = 0.1;
    r.goals.most_s[RIDGE_SERVICE_TPOT] = 0.004;
    r.goals.quantile = 0.95;
    r.top = 2;
    assert_ok(cx, ridge_service_search(cx, &r, &few));
    assert_int_equal(few.n_varied, 0);
    assert_ok(cx, ridge_service_play(cx, &r, &few));
    r.varied = 6;
    assert_ok(cx, ridge_service_search(cx, &r, &more));
    assert_true(more.n_varied > 0 && more.n_varied <= 6);
    assert_ok(cx, ridge_service_play(cx, &r, &more));
    assert_int_equal(more.n_layouts, few.n_layouts);
    assert_true(more.layouts[0].played.is_kept);
    assert_true(more.layouts[0].played.requests_per_s >=
                few.layouts[0].played.requests_per_s * (1 - 1e-9));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_are_near_what_is_played),
        cmocka_unit_test(plays_rank_by_what_keeps_the_goals),
        cmocka_unit_test(more_layouts_are_played_than_shown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
