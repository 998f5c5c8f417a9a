/* Goals, aims and knobs of services as words. */
#include "service_fixture.h"

#include <math.h>
#include <string.h>

static void goals_are_times_and_a_percentile(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_goals g;
    assert_ok(cx, ridge_service_goals_parse(cx, "ttft=500ms, tpot=30ms,p99", &g));
    assert_near(g.most_s[RIDGE_SERVICE_TTFT], 0.5, 1e-12);
    assert_near(g.most_s[RIDGE_SERVICE_TPOT], 0.03, 1e-12);
    assert_true(isinf(g.most_s[RIDGE_SERVICE_E2E]));
    assert_near(g.quantile, 0.99, 1e-12);
    assert_ok(cx, ridge_service_goals_parse(cx, "e2e=20s", &g));
    assert_near(g.quantile, 0, 0);
    assert_ok(cx, ridge_service_goals_parse(cx, "itl=20ms,p99.9", &g));
    assert_near(g.most_s[RIDGE_SERVICE_TPOT], 0.02, 1e-12);
    ridge_ctx_close(cx);
}

static void goals_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        "ttft",       "ttft=", "ttft=0",          "ttft=-1s",
        "ttfb=1s", "tpot=1s,p1", "p100",  "ttft=1s,ttft=2s", "ttft=nan",
        "p",       ",",          "=",     "tpot=1e300y",     "p50,p99",
        "tpot=30"};
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_goals g;
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        if (ridge_service_goals_parse(cx, bad[i], &g) != RIDGE_E_ARG)
            fail_msg("'%s' is taken", bad[i]);
        assert_true(ridge_ctx_message(cx)[0] != '\0');
    }
    ridge_ctx_close(cx);
}

static void knobs_are_of_one_pool_or_all(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_knobs k = ridge_service_knobs_free();
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "tp", "4"));
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "decode_tp", "8"));
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "servers", "2"));
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "prefill_kv_cut", "sequence"));
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_BOTH].tp, 4);
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_PREFILL].tp, 4);
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_DECODE].tp, 8);
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_BOTH].servers, 2);
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_DECODE].servers, 0);
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_PREFILL].kv_cut, RIDGE_KV_CUT_SEQUENCE);
    assert_int_equal(k.pools[RIDGE_SERVICE_ROLE_DECODE].kv_cut, RIDGE_SERVICE_FREE);
    ridge_ctx_close(cx);
}

static void knobs_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"tpp", "4"},    {"tp", "0"},           {"tp", "x"},      {"kv_cut", "tails"},
        {"mode", "x"},   {"gathered", "2"},     {"batch", "1.5"}, {"budget", "0"},
        {"depth", "33"}, {"decode_batch", "2"}, {"", ""}};
    ridge_ctx *cx = ridge_ctx_open();
    ridge_service_knobs k = ridge_service_knobs_free();
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        if (ridge_service_knobs_set(cx, &k, bad[i][0], bad[i][1]) != RIDGE_E_ARG)
            fail_msg("%s=%s is taken", bad[i][0], bad[i][1]);
    }
    ridge_ctx_close(cx);
}

static void formats_multiply(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_slice *slice = train_slice(cx, "h100:1x8");
    const ridge_model *model = train_dense_model(cx);
    ridge_service_knobs k = ridge_service_knobs_free();
    assert_ok(cx, ridge_service_knobs_close(cx, model, slice->chip, NULL, &k));
    assert_int_equal(k.n_formats, 1);
    assert_int_equal(k.formats[0].weight, model->weight_dtype);
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "weights", "int4"));
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "cache", "any"));
    assert_ok(cx, ridge_service_knobs_close(cx, model, slice->chip, NULL, &k));
    assert_int_equal(k.n_formats, 2); /* bf16, fp8; int8 is as wide, and no quicker */
    assert_int_equal(k.formats[1].compute, RIDGE_DTYPE_BF16);
    assert_int_equal(k.formats[1].cache, RIDGE_DTYPE_FP8);
    const ridge_chip *older = train_slice(cx, "a100:1x8")->chip;
    assert_ok(cx, ridge_service_knobs_close(cx, model, older, NULL, &k));
    assert_int_equal(k.n_formats, 2); /* bf16, int8: it has no fp8 */
    assert_int_equal(k.formats[1].cache, RIDGE_DTYPE_INT8);
    assert_ok(cx, ridge_service_knobs_set(cx, &k, "compute", "any"));
    assert_int_equal(ridge_service_knobs_close(cx, model, slice->chip, NULL, &k),
                     RIDGE_E_ARG);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goals_are_times_and_a_percentile),
        cmocka_unit_test(goals_that_are_none_are_refused),
        cmocka_unit_test(knobs_are_of_one_pool_or_all),
        cmocka_unit_test(knobs_that_are_none_are_refused),
        cmocka_unit_test(formats_multiply)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
