/* Streaming operations, and the choice of what bounds one. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

static void a_vector_add_is_bound_by_memory(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_op_cost c = ridge_stream_cost(&chip, 1e9, 12e9);
    assert_near(c.bound_s, 12e9 / 3.35e12, 1e-12);
    assert_int_equal(c.bound_by, RIDGE_BOUND_MEMORY);
    assert_near(c.intensity_flops_per_byte, 1.0 / 12, 1e-12);
}

static void much_vector_work_on_few_bytes_is_bound_by_the_vector_unit(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_op_cost c = ridge_stream_cost(&chip, 1e13, 1e9);
    assert_int_equal(c.bound_by, RIDGE_BOUND_VECTOR);
    assert_near(c.bound_s, 1e13 / 67e12, 1e-12);
}

static void the_sum_of_the_parts_is_the_upper_bound(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_op_cost c = ridge_stream_cost(&chip, 1e12, 1e10);
    assert_near(c.serial_s, 1e12 / 67e12 + 1e10 / 3.35e12, 1e-12);
}

static void streaming_reaches_the_achievable_share_after_the_launch(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_op_cost c = ridge_stream_cost(&chip, 0, 1e9);
    assert_near(c.expected_s, 4e-6 + 1e9 / (0.86 * 3.35e12), 1e-12);
}

static void unknown_vector_rates_cost_nothing(void **state)
{
    (void)state;
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    const ridge_op_cost c = ridge_stream_cost(&chip, 1e15, 1e6);
    assert_near(c.vector_s, 0, 0);
    assert_near(c.expected_s, 1e-6, 1e-12);
}

static void memories_are_known_by_several_names(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_memory memory = RIDGE_MEMORY_HBM;
    assert_int_equal(ridge_memory_parse(cx, "vmem", &memory), RIDGE_OK);
    assert_int_equal(memory, RIDGE_MEMORY_FAST);
    assert_int_equal(ridge_memory_parse(cx, "pcie", &memory), RIDGE_OK);
    assert_int_equal(memory, RIDGE_MEMORY_HOST);
    assert_int_equal(ridge_memory_parse(cx, "tape", &memory), RIDGE_E_NOTFOUND);
    assert_string_equal(ridge_ctx_message(cx),
                        "unknown memory 'tape': it is hbm, fast or pcie");
    ridge_ctx_close(cx);
}

static void a_coherent_link_to_the_host_goes_before_pcie(void **state)
{
    (void)state;
    ridge_chip chip = plain_tpu();
    assert_near(ridge_memory_bytes_per_s(&chip, RIDGE_MEMORY_HOST), 16e9, 0);
    chip.host_link_bytes_per_s = 450e9;
    assert_near(ridge_memory_bytes_per_s(&chip, RIDGE_MEMORY_HOST), 450e9, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vector_add_is_bound_by_memory),
        cmocka_unit_test(much_vector_work_on_few_bytes_is_bound_by_the_vector_unit),
        cmocka_unit_test(the_sum_of_the_parts_is_the_upper_bound),
        cmocka_unit_test(streaming_reaches_the_achievable_share_after_the_launch),
        cmocka_unit_test(unknown_vector_rates_cost_nothing),
        cmocka_unit_test(memories_are_known_by_several_names),
        cmocka_unit_test(a_coherent_link_to_the_host_goes_before_pcie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
