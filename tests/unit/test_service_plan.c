/* Serving plans: what is written is read back, what is wrong is refused. */
#include "service_fixture.h"

#include "ridge/plan_service_file.h"

#include <math.h>
#include <string.h>

static ridge_str written(ridge_ctx *cx, const ridge_service_request *r,
                         const ridge_service_price *p)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    assert_ok(cx, ridge_json_write(
                      cx, ridge_service_plan_to_json(cx, r, "small", NULL, p), &b));
    return (ridge_str){b.p, b.n};
}

static ridge_status read_text(ridge_ctx *cx, ridge_str text, ridge_service_plan *out)
{
    ridge_node root;
    assert_ok(cx, ridge_json_parse(cx, text, "plan.json", &root));
    return ridge_service_plan_from_json(cx, root, out);
}

static void assert_same_layout(const ridge_serving_layout *a,
                               const ridge_serving_layout *b)
{
    assert_int_equal(a->tp, b->tp);
    assert_int_equal(a->pp, b->pp);
    assert_int_equal(a->ep, b->ep);
    assert_int_equal(a->attention_dp, b->attention_dp);
    assert_int_equal(a->kv_cut, b->kv_cut);
    assert_int_equal(a->is_weight_gathered, b->is_weight_gathered);
    assert_int_equal(a->has_two_batches, b->has_two_batches);
    assert_int_equal(a->redundant_experts, b->redundant_experts);
    assert_int_equal(a->sequences, b->sequences);
    assert_int_equal(a->budget_tokens, b->budget_tokens);
    assert_int_equal(a->formats.weight, b->formats.weight);
    assert_int_equal(a->formats.cache, b->formats.cache);
    assert_int_equal(a->formats.group, b->formats.group);
    assert_int_equal(a->draft.kind, b->draft.kind);
    assert_int_equal(a->draft.depth, b->draft.depth);
    for (int64_t i = 0; i < a->draft.depth; i++)
        assert_near(a->draft.accept[i], b->draft.accept[i], 1e-9);
}

static void check_round_trip(ridge_ctx *cx, const ridge_service_request *r,
                             const ridge_service_price *p)
{
    ridge_service_plan plan;
    ridge_service_price again;
    assert_ok(cx, read_text(cx, written(cx, r, p), &plan));
    assert_string_equal(plan.model_name, "small");
    assert_string_equal(plan.slice_text, r->slice->text);
    assert_string_equal(plan.engine_name, r->engine->name);
    assert_near(plan.work.prompt_tokens, r->work.prompt_tokens, 0);
    assert_near(plan.goals.most_s[RIDGE_SERVICE_TPOT],
                r->goals.most_s[RIDGE_SERVICE_TPOT], 1e-9);
    assert_true(isinf(plan.goals.most_s[RIDGE_SERVICE_E2E]));
    assert_int_equal(plan.choice.n_pools, p->choice.n_pools);
    for (int i = 0; i < p->choice.n_pools; i++) {
        assert_int_equal(plan.choice.pools[i].role, p->choice.pools[i].role);
        assert_int_equal(plan.choice.pools[i].servers, p->choice.pools[i].servers);
        assert_near(plan.choice.pools[i].batch, p->choice.pools[i].batch, 1e-9);
        assert_same_layout(&plan.choice.pools[i].layout, &p->choice.pools[i].layout);
    }
    assert_ok(cx, ridge_service_price_one(cx, r, &plan.choice, &again));
    assert_near(again.tokens_per_s, p->tokens_per_s, 1e-6);
    assert_near(again.latency_s[RIDGE_SERVICE_TTFT], p->latency_s[RIDGE_SERVICE_TTFT],
                1e-6);
}

static void plans_are_read_as_written(void **state)
{
    (void)state;
    static const ridge_service_mode modes[] = {RIDGE_SERVICE_MODE_AGGREGATED,
                                               RIDGE_SERVICE_MODE_DISAGGREGATED};
    for (size_t i = 0; i < RIDGE_COUNT_OF(modes); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge_service_request r =
            service_request(cx, train_dense_model(cx), "h100:1x4");
        r.goals.most_s[RIDGE_SERVICE_TPOT] = 0.05;
        r.knobs.mode = modes[i];
        const ridge_service_price p = service_best(cx, &r);
        assert_int_equal(p.choice.mode, modes[i]);
        check_round_trip(cx, &r, &p);
        ridge_ctx_close(cx);
    }
}

static void drafts_are_kept(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x2");
    r.knobs.draft.kind = RIDGE_DRAFT_NGRAM;
    r.knobs.depth = 3;
    for (int i = 0; i < RIDGE_DRAFT_DEPTH_MAX; i++)
        r.knobs.draft.accept[i] = 0.7;
    const ridge_service_price p = service_best(cx, &r);
    assert_near(p.yield, 1 + 0.7 + 0.49 + 0.343, 1e-9);
    check_round_trip(cx, &r, &p);
    ridge_ctx_close(cx);
}

static void copies_of_experts_are_kept(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_plan plan;
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x2");
    r.knobs.mode = RIDGE_SERVICE_MODE_AGGREGATED;
    ridge_service_price p = service_best(cx, &r);
    p.choice.pools[0].layout.redundant_experts = 8;
    assert_ok(cx, read_text(cx, written(cx, &r, &p), &plan));
    assert_same_layout(&plan.choice.pools[0].layout, &p.choice.pools[0].layout);
    ridge_ctx_close(cx);
}

/* One part of a good plan replaced: what is said of it. */
static void spoil(const char *part, const char *with, const char *says)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_plan plan;
    ridge_buf b;
    const ridge_service_request r =
        service_request(cx, train_dense_model(cx), "h100:1x4");
    const ridge_service_price p = service_best(cx, &r);
    const ridge_str good = written(cx, &r, &p);
    const char *at = strstr(good.p, part);
    assert_non_null(at);
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_add(&b, (ridge_str){good.p, (size_t)(at - good.p)});
    ridge_buf_puts(&b, with);
    ridge_buf_puts(&b, at + strlen(part));
    assert_int_equal(read_text(cx, (ridge_str){b.p, b.n}, &plan), RIDGE_E_PARSE);
    if (strstr(ridge_ctx_message(cx), says) == NULL)
        fail_msg("'%s' says: %s", with, ridge_ctx_message(cx));
    ridge_ctx_close(cx);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    spoil("\"kind\": \"serve\"", "\"kind\": \"bake\"", "no serving plan");
    spoil("\"version\": 1", "\"version\": 2", "newer");
    spoil("\"kv_cut\": \"heads\"", "\"kv_cut\": \"tails\"", "tails");
    spoil("\"attention_dp\": 1", "\"attention_dp\": 0", "plan.json:");
    spoil("\"weights\": \"bf16\"", "\"weights\": \"bf17\"", "bf17");
    spoil("\"output_tokens\": 64", "\"output_tokens\": -1", "plan.json:");
    spoil("\"role\": \"server\"", "\"role\": \"decode\"", "expected one pool");
    spoil("\"mode\": \"aggregated\"", "\"mode\": \"disaggregated\"", "aggregated");
    spoil("\"chips_per_server\": 1", "\"chips_per_server\": 3", "of the mesh is 1");
    spoil("\"aim\": \"throughput\"", "\"aim\": \"throughputs\"", "throughput");
}

static void servers_have_room_on_the_slice(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_plan plan = {.choice = {.n_pools = 1}};
    plan.choice.pools[0] = (ridge_service_pool){
        .servers = 3, .layout = {.tp = 2, .pp = 1, .attention_dp = 1}};
    assert_ok(cx, ridge_service_plan_check(cx, &plan, train_slice(cx, "h100:1x8")));
    assert_int_equal(ridge_service_plan_check(cx, &plan, train_slice(cx, "h100:1x4")),
                     RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "take 6 chips, and h100:1x4 has 4"));
    ridge_ctx_close(cx);
}

/* Text alone says why a layout cannot serve. */
static void an_illegal_layout_is_told_why(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_service_request r =
        service_request(cx, train_dense_model(cx), "h100:1x8");
    ridge_service_choice c = service_best(cx, &r).choice;
    assert_ok(cx, ridge_service_check_layouts(cx, &r, &c));
    c.pools[0].layout.tp = 3;
    assert_int_equal(ridge_service_check_layouts(cx, &r, &c), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "this layout cannot serve: "));
    assert_non_null(strstr(ridge_ctx_message(cx), "tp=3"));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_read_as_written),
        cmocka_unit_test(drafts_are_kept),
        cmocka_unit_test(copies_of_experts_are_kept),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(servers_have_room_on_the_slice),
        cmocka_unit_test(an_illegal_layout_is_told_why)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
