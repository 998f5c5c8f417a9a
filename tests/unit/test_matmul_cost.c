/* Matmul time on one chip: FLOPs, bytes by format, bound, expectation. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

static ridge_matmul bf16_matmul(double m, double k, double n)
{
    return (ridge_matmul){.batch = 1,
                          .m = m,
                          .k = k,
                          .n = n,
                          .activation = RIDGE_DTYPE_BF16,
                          .weight = RIDGE_DTYPE_BF16,
                          .output = RIDGE_DTYPE_BF16,
                          .compute = RIDGE_DTYPE_BF16};
}

static void each_operand_moves_once_in_its_own_format(void **state)
{
    (void)state;
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    ridge_matmul op = bf16_matmul(2, 10, 100);
    op.weight = RIDGE_DTYPE_INT8;
    op.output = RIDGE_DTYPE_FP32;
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(c.matmul_flops, 4000, 0);
    assert_near(c.bytes, 2 * 10 * 2 + 10 * 100 * 1 + 2 * 100 * 4, 0);
}

static void a_batch_is_so_many_products(void **state)
{
    (void)state;
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    ridge_matmul op = bf16_matmul(8, 16, 32);
    const ridge_op_cost one = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    op.batch = 5;
    const ridge_op_cost five = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(five.matmul_flops, 5 * one.matmul_flops, 1e-12);
    assert_near(five.bytes, 5 * one.bytes, 1e-12);
}

static void few_rows_are_bound_by_memory_and_many_by_compute(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul few = bf16_matmul(16, 8192, 8192);
    const ridge_matmul many = bf16_matmul(4096, 8192, 8192);
    assert_int_equal(ridge_matmul_cost(&chip, &few, RIDGE_MEMORY_HBM).bound_by,
                     RIDGE_BOUND_MEMORY);
    assert_int_equal(ridge_matmul_cost(&chip, &many, RIDGE_MEMORY_HBM).bound_by,
                     RIDGE_BOUND_COMPUTE);
}

/* A card with little matrix rate: a tile of 128 rows for one takes longer than weights
 * take to come, vector units do not. */
static void few_rows_of_integers_need_no_tiles(void **state)
{
    (void)state;
    ridge_chip chip = plain_gpu();
    chip.peak_flops_per_s[RIDGE_DTYPE_BF16] = 30e12;
    chip.hbm_bytes_per_s = 1e12;
    ridge_matmul op = bf16_matmul(1, 8192, 8192);
    op.weight = RIDGE_DTYPE_INT4;
    const double memory_s = 8192.0 * 8192 / 2 / 1e12;
    const double one_s = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).expected_s;
    assert_true(one_s < 1.4 * memory_s + chip.achievable.launch_s);
    op.m = 9;
    assert_true(ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).expected_s > 2 * one_s);
}

static void a_tiny_product_is_expected_to_wait_for_its_launch(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_matmul op = bf16_matmul(1, 64, 64);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_int_equal(c.expected_bound_by, RIDGE_BOUND_LATENCY);
    assert_true(c.expected_s >= chip.achievable.launch_s);
}

static void a_large_product_reaches_the_achievable_share(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_matmul op = bf16_matmul(16384, 16384, 16384);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    const double share = c.compute_s / c.expected_s;
    assert_true(share > 0.75 && share < 0.78);
}

static void arithmetic_runs_at_the_peak_of_its_own_format(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_matmul op = bf16_matmul(4096, 4096, 4096);
    op.activation = op.weight = op.compute = RIDGE_DTYPE_FP8;
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(c.compute_s, c.matmul_flops / 1979e12, 1e-12);
}

static void fast_memory_shortens_the_memory_time_alone(void **state)
{
    (void)state;
    ridge_chip chip = plain_tpu();
    const ridge_matmul op = bf16_matmul(64, 8192, 8192);
    const ridge_op_cost hbm = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    chip.fast_bytes_per_s = 22 * chip.hbm_bytes_per_s;
    const ridge_op_cost fast = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_FAST);
    assert_near(fast.memory_s, hbm.memory_s / 22, 1e-12);
    assert_near(fast.compute_s, hbm.compute_s, 0);
}

static void an_unknown_fast_memory_counts_as_hbm(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = bf16_matmul(64, 8192, 8192);
    assert_near(ridge_memory_bytes_per_s(&chip, RIDGE_MEMORY_FAST), 0, 0);
    assert_near(ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_FAST).memory_s,
                ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM).memory_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operand_moves_once_in_its_own_format),
        cmocka_unit_test(a_batch_is_so_many_products),
        cmocka_unit_test(few_rows_are_bound_by_memory_and_many_by_compute),
        cmocka_unit_test(few_rows_of_integers_need_no_tiles),
        cmocka_unit_test(a_tiny_product_is_expected_to_wait_for_its_launch),
        cmocka_unit_test(a_large_product_reaches_the_achievable_share),
        cmocka_unit_test(arithmetic_runs_at_the_peak_of_its_own_format),
        cmocka_unit_test(fast_memory_shortens_the_memory_time_alone),
        cmocka_unit_test(an_unknown_fast_memory_counts_as_hbm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
