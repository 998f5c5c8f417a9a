/* Requests that contradict themselves: each is refused with its own message. */
#include "train_fixture.h"

#include "ridge/plan_fleet.h"

#include <math.h>

/* One knob or two, and what is said about them on eight chips. */
typedef struct contradiction {
    const char *first, *first_value, *second, *second_value, *message;
} contradiction;

static ridge_train_request eight_chips(ridge_ctx *cx)
{
    return train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 16, 2048);
}

static void assert_refused(ridge_ctx *cx, ridge_train_request request,
                           const contradiction *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ridge_train_request r = request;
        assert_ok(cx, ridge_knobs_set(cx, &r.knobs, all[i].first, all[i].first_value));
        if (all[i].second != NULL)
            assert_ok(
                cx, ridge_knobs_set(cx, &r.knobs, all[i].second, all[i].second_value));
        assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
        fixture_assert_message(cx, all[i].message);
    }
}

static void knobs_that_contradict_each_other(void **state)
{
    ridge_ctx *cx = *state;
    static const contradiction all[] = {
        {"tp", "3", NULL, NULL, "tp=3 does not divide the 8 chips of h100:1x8"},
        {"dp", "16", NULL, NULL, "dp=16 does not divide the 8 chips"},
        {"tp", "4", "pp", "4", "multiply to 16, which does not divide the 8 chips"},
        {"zero", "0", "fsdp", "2", "zero=0 shards nothing, so fsdp=2 contradicts it"},
        {"sp", "1", "tp", "1", "so tp=1 contradicts it"},
        {"pp", "8", NULL, NULL, "pp=8 needs a layer for each stage; inline has 4"},
        {"vpp", "2", "pp", "1", "so pp=1 contradicts it"},
        {"ep", "2", NULL, NULL, "ep=2 deals out experts and inline has none"},
        {"ep_dispatch", "once", NULL, NULL, "the model has none, leave it out"},
        {"ep_overlap", "1", NULL, NULL, "inline has none: leave it out"},
        {"pp_overlap", "1", "pp", "1", "so pp=1 contradicts it"},
        {"tp_overlap", "1", "tp", "1", "so tp=1 contradicts it"},
        {"cp_exchange", "gather", "cp", "1", "so cp=1 contradicts it"},
        {"remat", "none", "remat_layers", "2", "so remat_layers=2 contradicts it"},
        {"remat_layers", "5", NULL, NULL, "counts layers of a stage and inline has 4"},
        {"precision", "fp4", NULL, NULL, "have no fp4, use precision=fp8"},
    };
    assert_refused(cx, eight_chips(cx), all, RIDGE_COUNT_OF(all));
}

static void experts_must_be_dealt_out_evenly(void **state)
{
    ridge_ctx *cx = *state;
    static const contradiction all[] = {
        {"ep", "3", NULL, NULL,
         "ep=3 does not divide the 8 experts of inline: use 2 or 4"},
        {"ep", "16", NULL, NULL,
         "ep=16 does not divide the 8 experts of inline: use 8"},
        {"ep", "8", NULL, NULL, "ep=8 does not divide the 4 chips of h100:1x4"},
        {"ep_overlap", "1", "ep", "1", "so ep=1 contradicts it"},
        {"ep_dispatch", "once-fp8", "ep", "1", "so ep=1 contradicts it"},
    };
    const ridge_train_request request =
        train_request(train_moe_model(cx), train_slice(cx, "h100:1x4"), 16, 2048);
    assert_refused(cx, request, all, RIDGE_COUNT_OF(all));
}

static void a_chip_has_the_arithmetic_of_the_precision(void **state)
{
    ridge_ctx *cx = *state;
    static const contradiction all[] = {
        {"precision", "fp8", NULL, NULL, "have no fp8, use precision=bf16"},
        {"precision", "fp4", NULL, NULL, "have no fp4, use precision=bf16"},
    };
    static const contradiction older[] = {
        {"precision", "mxfp8", NULL, NULL, "have no fp8, use precision=fp16"},
    };
    const ridge_model *model = train_dense_model(cx);
    assert_refused(cx, train_request(model, train_slice(cx, "a100:1x8"), 16, 2048), all,
                   RIDGE_COUNT_OF(all));
    assert_refused(cx, train_request(model, train_slice(cx, "v100:1x8"), 16, 2048),
                   older, RIDGE_COUNT_OF(older));
}

static const ridge_stack *stack_of(ridge_ctx *cx, const char *name)
{
    const ridge_catalog *catalog;
    const ridge_stack *stack;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    assert_ok(cx, ridge_stack_find(cx, catalog, name, &stack));
    return stack;
}

static void software_runs_on_chips_of_its_vendors(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r = eight_chips(cx);
    r.stack = stack_of(cx, "xla-tpu");
    assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
    fixture_assert_message(cx, "stack xla-tpu runs on chips of Google, not on NVIDIA");
    r.slice = train_slice(cx, "v5p:2x2x2");
    assert_ok(cx, ridge_train_check(cx, &r));
    r.stack = stack_of(cx, "megatron-core-2026"); /* of its base */
    assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
    fixture_assert_message(cx, "runs on chips of NVIDIA or AMD, not on Google TPU v5p");
    r.stack = stack_of(cx, "well-tuned");
    assert_ok(cx, ridge_train_check(cx, &r));
}

static void fleets_refuse_what_slices_refuse(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r = train_request(
        train_dense_model(cx), train_slice(cx, "h100:1x8+a100:1x8"), 16, 2048);
    ridge_fleet_result result;
    r.knobs.zero_stage = 0;
    r.knobs.fsdp = 2;
    assert_int_equal(ridge_fleet_search(cx, &r, &result), RIDGE_E_ARG);
    fixture_assert_message(cx, "zero=0 shards nothing, so fsdp=2 contradicts it");
    r.knobs = ridge_knobs_free();
    r.knobs.pp = 1;
    assert_int_equal(ridge_fleet_search(cx, &r, &result), RIDGE_E_ARG);
    fixture_assert_message(cx, "stages of one pipeline: use pp=2 or more");
    r.knobs = ridge_knobs_free();
    r.knobs.tp = 7;
    assert_int_equal(ridge_fleet_search(cx, &r, &result), RIDGE_E_ARG);
    fixture_assert_message(cx, "tp=7:");
    r.knobs = ridge_knobs_free();
    r.stack = stack_of(cx, "primus");
    assert_int_equal(ridge_fleet_search(cx, &r, &result), RIDGE_E_ARG);
    fixture_assert_message(cx, "stack primus runs on chips of AMD, not on NVIDIA");
}

static void tp_must_cut_the_heads(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r =
        train_request(train_dense_model(cx), train_slice(cx, "h100:3x8"), 48, 2048);
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "tp", "3"));
    assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
    fixture_assert_message(cx, "tp=3:");
    assert_ok(cx, ridge_knobs_set(cx, &r.knobs, "tp", "8")); /* replicates KV heads */
    assert_ok(cx, ridge_train_check(cx, &r));
}

static void all_degrees_fixed_must_fill_the_slice(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r = eight_chips(cx);
    r.knobs.dp = r.knobs.fsdp = r.knobs.cp = r.knobs.pp = 1;
    r.knobs.tp = 4;
    assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
    fixture_assert_message(cx, "dp x fsdp x tp x cp x pp = 4, but h100:1x8 has 8");
}

static void tokens_must_be_counts(void **state)
{
    ridge_ctx *cx = *state;
    const double wrong[] = {0, -1, 1e300, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        ridge_train_request r = eight_chips(cx);
        r.seq_tokens = wrong[i];
        assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
        fixture_assert_message(cx, "expected 1 to 1e9 (--seq)");
        r = eight_chips(cx);
        r.batch_tokens = wrong[i];
        assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
        fixture_assert_message(cx, "expected 1 to 1e15 (--batch)");
        r = eight_chips(cx);
        r.total_tokens = wrong[i];
        if (wrong[i] == 0)
            continue;
        assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
        fixture_assert_message(cx, "training tokens");
    }
}

static void a_batch_holds_a_sequence(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r = eight_chips(cx);
    r.batch_tokens = 1000;
    assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
    fixture_assert_message(cx,
                           "a batch of 1000 tokens holds no whole sequence of 2048");
}

static void a_mixed_fleet_is_refused(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_train_request r = train_request(
        train_dense_model(cx), train_slice(cx, "h100:1x8+a100:1x8"), 16, 2048);
    assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
    fixture_assert_message(cx, "mixes kinds of chips");
}

static void what_check_refuses_the_others_refuse(void **state)
{
    ridge_ctx *cx = *state;
    ridge_train_request r = eight_chips(cx);
    r.knobs.tp = 3;
    ridge_train_result result;
    ridge_train_price price;
    const ridge_layout layout = train_layout(8, 1, 1, 1, 1);
    assert_int_equal(ridge_train_search(cx, &r, &result), RIDGE_E_ARG);
    assert_int_equal(ridge_train_price_one(cx, &r, &layout, &price), RIDGE_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knobs_that_contradict_each_other),
        cmocka_unit_test(experts_must_be_dealt_out_evenly),
        cmocka_unit_test(a_chip_has_the_arithmetic_of_the_precision),
        cmocka_unit_test(software_runs_on_chips_of_its_vendors),
        cmocka_unit_test(fleets_refuse_what_slices_refuse),
        cmocka_unit_test(tp_must_cut_the_heads),
        cmocka_unit_test(all_degrees_fixed_must_fill_the_slice),
        cmocka_unit_test(tokens_must_be_counts),
        cmocka_unit_test(a_batch_holds_a_sequence),
        cmocka_unit_test(a_mixed_fleet_is_refused),
        cmocka_unit_test(what_check_refuses_the_others_refuse),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
