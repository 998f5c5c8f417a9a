/* Knobs from "key=value": every key, every wrong value with its message. */
#include "train_fixture.h"

static void free_knobs_fix_nothing(void **state)
{
    (void)state;
    const ridge_knobs k = ridge_knobs_free();
    const int64_t degrees[] = {k.dp, k.fsdp, k.tp,  k.cp,
                               k.pp, k.ep,   k.vpp, k.microbatch_seqs};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++)
        assert_int_equal(degrees[i], 0);
    assert_int_equal(k.zero_stage, RIDGE_ZERO_FREE);
    assert_int_equal(k.remat, RIDGE_REMAT_FREE);
    assert_int_equal(k.has_sp, RIDGE_FLAG_FREE);
    assert_int_equal(k.overlap[RIDGE_OVERLAP_TP], RIDGE_FLAG_FREE);
    assert_int_equal(k.precision, RIDGE_PRECISION_BF16);
}

static void each_key_sets_its_field(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const pairs[][2] = {
        {"dp", "2"},          {"fsdp", "3"},       {"tp", "4"},
        {"cp", "5"},          {"pp", "6"},         {"ep", "7"},
        {"vpp", "8"},         {"microbatch", "9"}, {"zero", "2"},
        {"sp", "1"},          {"tp_overlap", "0"}, {"remat", "full"},
        {"precision", "fp8"}, {"lora_rank", "32"}, {"lora_targets", "qkv"}};
    ridge_knobs k = ridge_knobs_free();
    for (size_t i = 0; i < RIDGE_COUNT_OF(pairs); i++)
        assert_ok(cx, ridge_knobs_set(cx, &k, pairs[i][0], pairs[i][1]));
    const int64_t degrees[] = {k.dp, k.fsdp, k.tp,  k.cp,
                               k.pp, k.ep,   k.vpp, k.microbatch_seqs};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++)
        assert_int_equal(degrees[i], i + 2);
    assert_int_equal(k.zero_stage, 2);
    assert_int_equal(k.has_sp, 1);
    assert_int_equal(k.overlap[RIDGE_OVERLAP_TP], 0);
    assert_int_equal(k.remat, RIDGE_REMAT_FULL);
    assert_int_equal(k.precision, RIDGE_PRECISION_FP8);
    assert_int_equal(k.lora.rank, 32);
    assert_int_equal(k.lora.targets, RIDGE_LORA_QKV);
}

/* Sets, single products, and the names that libraries give them; what is written is
 * read as the same products. */
static void products_with_adapters_are_listed(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *text, *written;
        ridge_lora_targets products;
    } rows[] = {
        {"all", "all", RIDGE_LORA_ALL},
        {"attention+mlp", "all", RIDGE_LORA_ALL},
        {"q+v", "q+v", RIDGE_LORA_Q | RIDGE_LORA_V},
        {"q_proj, v_proj", "q+v", RIDGE_LORA_Q | RIDGE_LORA_V},
        {"linear_qkv,linear_proj", "qkv+o", RIDGE_LORA_QKV | RIDGE_LORA_O},
        {"gate_proj+up_proj+down_proj", "mlp", RIDGE_LORA_MLP},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_lora_targets got = 0;
        assert_ok(cx, ridge_lora_parse(cx, rows[i].text, &got));
        assert_int_equal(got, rows[i].products);
        assert_string_equal(ridge_lora_text(cx, got), rows[i].written);
    }
    for (ridge_lora_targets t = 1; t <= RIDGE_LORA_EACH; t++) {
        ridge_lora_targets got = 0;
        assert_ok(cx, ridge_lora_parse(cx, ridge_lora_text(cx, t), &got));
        assert_int_equal(ridge_lora_products(got), t);
    }
}

static void wrong_values_are_refused_and_change_nothing(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"tp", "0", "tp=0: expected a whole number from 1"},
        {"tp", "-4", "tp=-4"},
        {"tp", "eight", "tp=eight"},
        {"tp", "", "tp="},
        {"tp", "8x", "tp=8x"},
        {"dp", "99999999999999999999", "dp=9999"},
        {"dp", "100000001", "100000000"},
        {"zero", "4", "zero=4: expected a whole number from 0 to 3"},
        {"sp", "2", "sp=2: expected a whole number from 0 to 1"},
        {"tp_overlap", "yes", "tp_overlap=yes"},
        {"remat", "some", "some"},
        {"precision", "bf61", "unknown precision 'bf61'"},
        {"lora_rank", "0", "lora_rank=0: expected a whole number from 1"},
        {"lora_targets", "kqv", "did you mean qkv"},
        {"lora_targets", "q+x", "unknown targets of adapters 'x'"},
        {"lora_targets", "", "unknown targets of adapters"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong); i++) {
        ridge_knobs k = ridge_knobs_free();
        assert_int_not_equal(ridge_knobs_set(cx, &k, wrong[i].key, wrong[i].value),
                             RIDGE_OK);
        fixture_assert_message(cx, wrong[i].message);
        const ridge_knobs free_knobs = ridge_knobs_free();
        assert_memory_equal(&k, &free_knobs, sizeof k);
    }
}

static void a_misspelt_key_is_answered_with_the_nearest(void **state)
{
    ridge_ctx *cx = *state;
    ridge_knobs k = ridge_knobs_free();
    assert_int_equal(ridge_knobs_set(cx, &k, "microbach", "2"), RIDGE_E_ARG);
    fixture_assert_message(cx, "unknown knob 'microbach'");
    fixture_assert_message(cx, "did you mean microbatch");
    assert_int_equal(ridge_knobs_set(cx, &k, "", "2"), RIDGE_E_ARG);
    fixture_assert_message(cx, "unknown knob ''");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_knobs_fix_nothing),
        cmocka_unit_test(each_key_sets_its_field),
        cmocka_unit_test(products_with_adapters_are_listed),
        cmocka_unit_test(wrong_values_are_refused_and_change_nothing),
        cmocka_unit_test(a_misspelt_key_is_answered_with_the_nearest),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
