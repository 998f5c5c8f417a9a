/* Ranges of expected times. */
#include "near.h"

#include "ridge/cost_range.h"

#include <string.h>

static void a_range_holds_its_expected_time_and_its_bound(void **state)
{
    (void)state;
    for (int i = 0; i < RIDGE_MEASURED_COUNT; i++) {
        const ridge_range r = ridge_range_of((ridge_measured)i, (ridge_time){0.5, 1});
        assert_true(0.5 <= r.low_s && r.low_s < 1 && 1 < r.high_s);
        const ridge_range at = ridge_range_of((ridge_measured)i, (ridge_time){1, 1});
        assert_true(at.low_s == 1 && at.high_s > 1);
    }
}

static void ranges_of_parts_add_up(void **state)
{
    (void)state;
    const ridge_range sum = ridge_range_sum((ridge_range){1, 2}, (ridge_range){10, 20});
    assert_true(sum.low_s == 11 && sum.high_s == 22);
}

static void operations_find_their_measurements(void **state)
{
    (void)state;
    ridge_op op = {.kind = RIDGE_OP_ATTENTION};
    assert_int_equal(ridge_measured_of_op(&op), RIDGE_MEASURED_ATTENTION_PREFILL);
    op.is_decode = true;
    assert_int_equal(ridge_measured_of_op(&op), RIDGE_MEASURED_ATTENTION_DECODE);
    op.kind = RIDGE_OP_EINSUM;
    assert_int_equal(ridge_measured_of_op(&op), RIDGE_MEASURED_MATMUL);
    op.kind = RIDGE_OP_STREAM;
    assert_int_equal(ridge_measured_of_op(&op), RIDGE_MEASURED_STREAM);
    assert_int_equal(ridge_measured_of_collective(RIDGE_COLLECTIVE_ALL_TO_ALL),
                     RIDGE_MEASURED_ALL_TO_ALL);
    assert_int_equal(ridge_measured_of_collective(RIDGE_COLLECTIVE_BROADCAST),
                     RIDGE_MEASURED_ALL_GATHER);
}

static void the_text_names_what_was_measured(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    const ridge_range r = {1e-3, 2e-3};
    const char *text = ridge_range_text(cx, RIDGE_MEASURED_ALL_REDUCE, r);
    assert_non_null(strstr(text, "Range 1 ms to 2 ms: of 527 measured all-reduces"));
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_holds_its_expected_time_and_its_bound),
        cmocka_unit_test(ranges_of_parts_add_up),
        cmocka_unit_test(operations_find_their_measurements),
        cmocka_unit_test(the_text_names_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
