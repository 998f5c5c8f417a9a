/* Knobs that contradict each other, the model or the slice are refused, by name. */
#include "service_fixture.h"

#include "near.h"

#include "ridge/plan_service_play.h"
#include "ridge/plan_service_reasons.h"

#include <string.h>

typedef struct knob {
    const char *key, *value;
} knob;

enum { KNOBS_MOST = 5 };

/* A search of a small dense model on eight chips under knobs, and what it says. */
static void refuse(bool has_experts, const knob knobs[KNOBS_MOST], const char *says)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_model *model =
        has_experts ? train_moe_model(cx) : train_dense_model(cx);
    ridge_service_request r = service_request(cx, model, "h100:1x8");
    ridge_service_result *out = ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    for (int i = 0; i < KNOBS_MOST && knobs[i].key != NULL; i++)
        assert_ok(cx,
                  ridge_service_knobs_set(cx, &r.knobs, knobs[i].key, knobs[i].value));
    const ridge_status st = ridge_service_search(cx, &r, out);
    if (says == NULL) {
        assert_ok(cx, st);
        assert_true(out->n_layouts > 0);
    } else {
        if (st != RIDGE_E_ARG || strstr(ridge_ctx_message(cx), says) == NULL)
            fail_msg("%s=%s says: %s", knobs[0].key, knobs[0].value,
                     ridge_ctx_message(cx));
    }
    ridge_ctx_close(cx);
}

#define KNOBS(...) ((const knob[KNOBS_MOST]){__VA_ARGS__})

static void knobs_of_two_pools_need_two(void **state)
{
    (void)state;
    refuse(false, KNOBS({"mode", "aggregated"}, {"prefill_tp", "2"}), "prefill_tp=");
    refuse(false, KNOBS({"decode_pp", "2"}, {"mode", "aggregated"}), "decode_pp=");
    refuse(false, KNOBS({"mode", "aggregated"}, {"tp", "2"}), NULL);
    refuse(false, KNOBS({"tp", "2"}, {"servers", "2"}), NULL);
}

static void drafts_and_experts_have_to_be_there(void **state)
{
    (void)state;
    refuse(false, KNOBS({"depth", "2"}), "depth=2 is of drafts");
    refuse(false, KNOBS({"depth", "0"}), NULL);
    refuse(false, KNOBS({"ep", "2"}), "ep= is of experts");
    refuse(true, KNOBS({"ep", "2"}), NULL);
}

/* What an engine has not is neither searched nor priced on request. */
static void an_engine_does_what_it_can(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_moe_model(cx), "h100:1x8");
    ridge_service_result *out = ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    ridge_engine engine = *r.engine;
    r.engine = &engine;
    engine.lacks_stages = engine.lacks_pools = engine.lacks_attention_dp = true;
    assert_ok(cx, ridge_service_search(cx, &r, out));
    assert_true(out->n_layouts > 0);
    for (int i = 0; i < out->n_layouts; i++) {
        const ridge_service_choice *c = &out->layouts[i].choice;
        assert_int_equal(c->n_pools, 1);
        assert_int_equal(c->pools[0].layout.pp, 1);
        assert_int_equal(c->pools[0].layout.attention_dp, 1);
    }
    static const knob asked[] = {
        {"pp", "2"}, {"decode_attention_dp", "2"}, {"mode", "disaggregated"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(asked); i++) {
        ridge_service_request one = r;
        assert_ok(
            cx, ridge_service_knobs_set(cx, &one.knobs, asked[i].key, asked[i].value));
        assert_int_equal(ridge_service_search(cx, &one, out), RIDGE_E_ARG);
        assert_non_null(strstr(ridge_ctx_message(cx), "name another --engine"));
    }
    ridge_ctx_close(cx);
}

static void drafts_are_of_the_same_tokens(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x8");
    ridge_service_result *out = ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    ridge_model draft = *train_dense_model(cx);
    r.knobs.draft.kind = RIDGE_DRAFT_MODEL;
    r.knobs.draft.model = &draft;
    draft.vocab = 32100; /* padded */
    assert_ok(cx, ridge_service_search(cx, &r, out));
    draft.vocab = 50257;
    assert_int_equal(ridge_service_search(cx, &r, out), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "another vocabulary"));
    ridge_ctx_close(cx);
}

static void the_knob_that_leaves_nothing_is_named(void **state)
{
    (void)state;
    refuse(false, KNOBS({"pp", "2"}, {"tp", "3"}), "the tp= that is asked for");
    refuse(false, KNOBS({"tp", "2"}, {"pp", "16"}), "the pp= that is asked for");
    refuse(true, KNOBS({"ep", "3"}), "the ep= that is asked for");
    refuse(false, KNOBS({"mode", "aggregated"}, {"servers", "9"}),
           "the servers= that is asked for");
    refuse(false, KNOBS({"tp", "4"}, {"pp", "4"}), "together");
}

static void two_pools_need_room_beside_each_other(void **state)
{
    (void)state;
    const knob two = {"mode", "disaggregated"};
    refuse(false, KNOBS(two, {"prefill_tp", "8"}), "no prefill servers beside");
    refuse(false, KNOBS(two, {"decode_tp", "8"}), "no decode servers beside");
    refuse(false,
           KNOBS(two, {"prefill_tp", "4"}, {"decode_tp", "4"}, {"decode_servers", "2"}),
           "prefill servers take 4 chips at least and decode servers 8");
    refuse(false, KNOBS(two, {"prefill_tp", "4"}, {"decode_tp", "4"}), NULL);
}

/* What would do, of a request that nothing does. */
static const ridge_service_relaxation *
relaxed(ridge_ctx *cx, const ridge_service_request *r, const char *what, int *n)
{
    const ridge_catalog *catalog = NULL;
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    ridge_service_relaxation *all = ridge_new(
        ridge_ctx_arena(cx), ridge_service_relaxation, RIDGE_SERVICE_RELAXATION_MAX);
    const ridge_service_relaxation *found = NULL;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_service_search(cx, r, result));
    assert_int_equal(result->n_layouts, 0);
    assert_ok(cx, ridge_service_relax(cx, catalog, r, result, all, n));
    for (int i = 0; i < *n; i++) {
        if (strcmp(all[i].what, what) != 0)
            continue;
        assert_null(found); /* one alone */
        found = &all[i];
    }
    return found;
}

static void a_rate_that_is_too_high_is_told_what_is_not(void **state)
{
    (void)state;
    int n = 0;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x2");
    r.requests_per_s = 1e8;
    r.aim = RIDGE_SERVICE_AIM_CHIPS;
    const ridge_service_relaxation *x = relaxed(cx, &r, "fewer requests", &n);
    assert_non_null(x);
    assert_true(x->best.requests_per_s > 0 && x->best.requests_per_s < 1e8);
    ridge_ctx_close(cx);
}

static double tokens_of(const char *name)
{
    double tokens = 0;
    assert_true(ridge_parse_double(ridge_str_of(name + strlen("prompt=")), &tokens));
    return tokens;
}

/* The longest of the halves that has room. */
static void a_prompt_that_is_too_long_is_told_what_is_not(void **state)
{
    (void)state;
    int n = 0;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x1");
    r.work.prompt_tokens = 5e8;
    const ridge_service_relaxation *x = relaxed(cx, &r, "a shorter prompt", &n);
    assert_non_null(x);
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    r.work.prompt_tokens = 2 * tokens_of(x->name);
    assert_ok(cx, ridge_service_search(cx, &r, result));
    assert_int_equal(result->n_layouts, 0);
    assert_int_equal(result->refusals[0].fit, RIDGE_SERVICE_FIT_WEIGHTS);
    assert_true(result->refusals[0].nearest > 0);
    ridge_ctx_close(cx);
}

/* Room for one sequence and not for two: as played by one client, whose longest prompts
 * have none. */
static void room_for_one_serves_one_at_a_time(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_request r = service_request(cx, train_dense_model(cx), "h100:1x1");
    ridge_service_result *result =
        ridge_new(ridge_ctx_arena(cx), ridge_service_result, 1);
    ridge_service_price last = {.requests_per_s = 0};
    r.top = 1;
    for (r.work.prompt_tokens = 1e6; r.work.prompt_tokens < 1e8;
         r.work.prompt_tokens *= 1.3) {
        assert_ok(cx, ridge_service_search(cx, &r, result));
        if (result->n_layouts == 0)
            break;
        last = result->layouts[0];
    }
    assert_true(last.choice.pools[0].batch < 1);
    assert_near(last.concurrency, 1, 1e-9);
    r.work.prompt_tokens /= 1.3;
    assert_ok(cx, ridge_service_search(cx, &r, result));
    assert_ok(cx, ridge_service_play(cx, &r, result));
    assert_near(result->layouts[0].played.requests_per_s, last.requests_per_s, 0.1);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knobs_of_two_pools_need_two),
        cmocka_unit_test(drafts_and_experts_have_to_be_there),
        cmocka_unit_test(an_engine_does_what_it_can),
        cmocka_unit_test(drafts_are_of_the_same_tokens),
        cmocka_unit_test(the_knob_that_leaves_nothing_is_named),
        cmocka_unit_test(a_rate_that_is_too_high_is_told_what_is_not),
        cmocka_unit_test(a_prompt_that_is_too_long_is_told_what_is_not),
        cmocka_unit_test(room_for_one_serves_one_at_a_time),
        cmocka_unit_test(two_pools_need_room_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
