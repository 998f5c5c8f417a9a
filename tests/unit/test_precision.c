/* Precision policies: their names and what they keep for each parameter. */
#include "train_fixture.h"

static void every_name_is_read_back(void **state)
{
    ridge_ctx *cx = *state;
    for (int i = 0; i < RIDGE_PRECISION_COUNT; i++) {
        const ridge_policy *p = ridge_precision_policy((ridge_precision)i);
        ridge_precision out;
        assert_ok(cx, ridge_precision_parse(cx, p->text, &out));
        assert_int_equal(out, i);
    }
}

static void mixed_precision_keeps_sixteen_bytes_with_its_gradient(void **state)
{
    (void)state;
    const ridge_policy *p = ridge_precision_policy(RIDGE_PRECISION_FP16);
    assert_near(ridge_policy_state_bytes(p) + p->gradient_bytes, 16, 0);
    p = ridge_precision_policy(RIDGE_PRECISION_BF16);
    assert_near(ridge_policy_state_bytes(p), 14, 0);
    assert_near(p->gradient_bytes, 4, 0);
    p = ridge_precision_policy(RIDGE_PRECISION_BF16_PURE);
    assert_near(ridge_policy_state_bytes(p), 10, 0);
}

static void gradients_are_kept_no_narrower_than_they_are_reduced(void **state)
{
    (void)state;
    for (int i = 0; i < RIDGE_PRECISION_COUNT; i++) {
        const ridge_policy *p = ridge_precision_policy((ridge_precision)i);
        assert_true(p->gradient_bytes >= p->reduce_bytes);
        assert_true(p->weight_bytes >= 1 && p->moment_bytes > 0);
        assert_true(p->what[0] != '\0');
    }
}

static void an_unknown_name_suggests(void **state)
{
    ridge_ctx *cx = *state;
    ridge_precision out;
    assert_int_equal(ridge_precision_parse(cx, "bf16-puer", &out), RIDGE_E_ARG);
    fixture_assert_message(cx, "unknown precision 'bf16-puer'");
    fixture_assert_message(cx, "did you mean bf16-pure");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_read_back),
        cmocka_unit_test(mixed_precision_keeps_sixteen_bytes_with_its_gradient),
        cmocka_unit_test(gradients_are_kept_no_narrower_than_they_are_reduced),
        cmocka_unit_test(an_unknown_name_suggests),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
