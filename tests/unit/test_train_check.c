/* Requests that contradict themselves: each is refused with its own message. */
#include "train_fixture.h"

#include <math.h>

/* One knob or two, and what is said about them on eight chips. */
typedef struct contradiction {
    const char *first, *first_value, *second, *second_value, *message;
} contradiction;

static ridge_train_request eight_chips(ridge_ctx *cx)
{
    return train_request(train_dense_model(cx), train_slice(cx, "h100:1x8"), 16, 2048);
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
    };
    const ridge_train_request request = eight_chips(cx);
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++) {
        ridge_train_request r = request;
        assert_ok(cx, ridge_knobs_set(cx, &r.knobs, all[i].first, all[i].first_value));
        if (all[i].second != NULL)
            assert_ok(
                cx, ridge_knobs_set(cx, &r.knobs, all[i].second, all[i].second_value));
        assert_int_equal(ridge_train_check(cx, &r), RIDGE_E_ARG);
        fixture_assert_message(cx, all[i].message);
    }
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
        cmocka_unit_test(tp_must_cut_the_heads),
        cmocka_unit_test(all_degrees_fixed_must_fill_the_slice),
        cmocka_unit_test(tokens_must_be_counts),
        cmocka_unit_test(a_batch_holds_a_sequence),
        cmocka_unit_test(a_mixed_fleet_is_refused),
        cmocka_unit_test(what_check_refuses_the_others_refuse),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
