/* What a call costs beside its work: quantisation, the start of a stream, products that
 * overlap, experts' kernels. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

#include <math.h>

static ridge_chip quantising_gpu(void)
{
    ridge_chip chip = plain_gpu();
    chip.achievable.quantise_tensor_s = 10e-6;
    chip.achievable.quantise_row_s = 3e-6;
    chip.achievable.quantise_block_s = 2.5e-6;
    return chip;
}

static ridge_matmul fp8_call(double m, double k, double n, ridge_scaling scaling)
{
    return (ridge_matmul){.batch = 1,
                          .m = m,
                          .k = k,
                          .n = n,
                          .activation = RIDGE_DTYPE_BF16,
                          .weight = RIDGE_DTYPE_FP8,
                          .output = RIDGE_DTYPE_BF16,
                          .compute = RIDGE_DTYPE_FP8,
                          .scaling = scaling};
}

static double call_s(const ridge_chip *chip, const ridge_matmul *op)
{
    return ridge_matmul_cost(chip, op, RIDGE_MEMORY_HBM).expected_s;
}

static void quantising_costs_its_kernels_and_its_bytes(void **state)
{
    (void)state;
    const ridge_chip chip = quantising_gpu();
    ridge_matmul ready = fp8_call(4096, 8192, 1024, RIDGE_SCALING_TENSOR);
    ready.activation = RIDGE_DTYPE_FP8;
    const double ready_s = call_s(&chip, &ready);
    const double elements = 4096.0 * 8192;
    const double rate = 3.35e12 * 0.86 * 0.7;
    const ridge_matmul tensor = fp8_call(4096, 8192, 1024, RIDGE_SCALING_TENSOR);
    assert_near(call_s(&chip, &tensor) - ready_s, 10e-6 + 5 * elements / rate, 1e-6);
    const ridge_matmul row = fp8_call(4096, 8192, 1024, RIDGE_SCALING_ROW);
    assert_near(call_s(&chip, &row) - ready_s, 3e-6 + 3 * elements / rate, 1e-6);
}

static void without_scales_nothing_is_quantised(void **state)
{
    (void)state;
    const ridge_chip chip = quantising_gpu();
    const ridge_matmul op = fp8_call(16, 4096, 4096, RIDGE_SCALING_NONE);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(c.bytes, 16.0 * 4096 * 2 + 4096.0 * 4096 + 16.0 * 4096 * 2, 0);
}

static void activations_quantised_in_the_call_move_narrow(void **state)
{
    (void)state;
    const ridge_chip chip = quantising_gpu();
    const ridge_matmul op = fp8_call(16, 4096, 4096, RIDGE_SCALING_TENSOR);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(c.bytes, 16.0 * 4096 + 4096.0 * 4096 + 16.0 * 4096 * 2, 0);
}

static void a_stream_starts_once(void **state)
{
    (void)state;
    ridge_chip chip = plain_gpu();
    const double small_s = ridge_stream_cost(&chip, 0, 4e4).expected_s;
    const double large_s = ridge_stream_cost(&chip, 0, 4e9).expected_s;
    chip.achievable.stream_start_s = 2e-6;
    assert_near(ridge_stream_cost(&chip, 0, 4e9).expected_s - large_s, 2e-6, 1e-4);
    assert_near(ridge_stream_cost(&chip, 0, 4e4).expected_s - small_s, 2e-8, 1e-4);
}

static void equal_arithmetic_and_loads_do_not_hide_whole(void **state)
{
    (void)state;
    ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e15, 1e12);
    const ridge_matmul op = {.batch = 1,
                             .m = 1000,
                             .k = 1e6,
                             .n = 1e6,
                             .activation = RIDGE_DTYPE_BF16,
                             .weight = RIDGE_DTYPE_BF16,
                             .output = RIDGE_DTYPE_BF16,
                             .compute = RIDGE_DTYPE_BF16};
    /* 2 s of arithmetic beside about 2 s of loads */
    const ridge_op_cost ahead = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(ahead.expected_s, fmax(ahead.compute_s, ahead.memory_s), 1e-9);
    chip.kind = RIDGE_CHIP_GPU;
    const ridge_op_cost gpu = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    assert_near(gpu.expected_s, cbrt(pow(gpu.compute_s, 3) + pow(gpu.memory_s, 3)),
                1e-9);
}

static ridge_experts experts_of(double tokens)
{
    return (ridge_experts){.tokens = tokens,
                           .experts_per_token = 8,
                           .experts = 128,
                           .ways = 1,
                           .d_model = 4096,
                           .d_ff = 1536,
                           .is_gated = true,
                           .activation = RIDGE_DTYPE_BF16,
                           .weight = RIDGE_DTYPE_BF16,
                           .compute = RIDGE_DTYPE_BF16};
}

static void one_token_reads_its_experts_and_many_read_all(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const double expert_bytes = 3.0 * 4096 * 1536 * 2;
    const ridge_experts one = experts_of(1);
    const ridge_experts many = experts_of(4096);
    assert_near(ridge_experts_cost(&chip, &one).bytes, 8 * expert_bytes, 1e-3);
    const double all = 128 * expert_bytes + 2 * 4096.0 * 4096 * 2;
    assert_near(ridge_experts_cost(&chip, &many).bytes, all, 1e-6);
    assert_near(ridge_experts_cost(&chip, &many).matmul_flops,
                2 * 4096.0 * 8 * 3 * 4096 * 1536, 1e-12);
}

static void skewed_experts_make_the_busiest_chip_wait(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_experts op = experts_of(16384);
    op.ways = 16;
    const double equal_s = ridge_experts_cost(&chip, &op).expected_s;
    op.skew = 1.2;
    const ridge_op_cost skewed = ridge_experts_cost(&chip, &op);
    assert_true(skewed.expected_s > 1.5 * equal_s);
    assert_true(skewed.bound_s <= skewed.expected_s);
}

static void activations_that_come_quantised_cost_no_kernel(void **state)
{
    (void)state;
    const ridge_chip chip = quantising_gpu();
    ridge_matmul op = fp8_call(16, 8192, 1024, RIDGE_SCALING_BLOCK);
    const double in_call_s = call_s(&chip, &op);
    op.comes_quantised = true;
    assert_true(call_s(&chip, &op) < in_call_s - 2.4e-6);
    op.comes_quantised = false;
    op.activation = RIDGE_DTYPE_FP8;
    const double narrow_s = call_s(&chip, &op);
    op.comes_quantised = true;
    assert_near(call_s(&chip, &op), narrow_s, 1e-12);
}

/* Four tokens hit 29 of 128 experts: 3.6 on each of eight chips in the mean, and about
 * two more on the fullest. With all experts hit there is no fullest chip. */
static void chips_wait_for_the_one_with_most_experts(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_experts op = experts_of(4);
    op.ways = 8;
    const ridge_op_cost mean = ridge_experts_cost(&chip, &op);
    op.waits_for_fullest = true;
    const ridge_op_cost full = ridge_experts_cost(&chip, &op);
    assert_true(full.expected_s > 1.3 * mean.expected_s);
    assert_true(full.expected_s < 2 * mean.expected_s);
    assert_near(full.bound_s, mean.bound_s, 1e-12);
    op.tokens = 4096;
    const double all_s = ridge_experts_cost(&chip, &op).expected_s;
    op.waits_for_fullest = false;
    assert_near(all_s, ridge_experts_cost(&chip, &op).expected_s, 1e-3);
}

/* A hundredth more tokens, which fill another tile of the mean expert, take a few
 * hundredths more time: experts' rows vary, so that they do not all step at once. */
static void experts_time_has_no_steps(void **state)
{
    (void)state;
    ridge_chip chip = plain_gpu();
    chip.tile_m = 128;
    chip.tile_n = 256;
    double last_s = 0;
    for (double tokens = 64; tokens < 16384; tokens *= 1.01) {
        const ridge_experts op = experts_of(tokens);
        const double s = ridge_experts_cost(&chip, &op).expected_s;
        assert_true(s >= last_s * (1 - 1e-9));
        assert_true(last_s == 0 || s < 1.04 * last_s);
        last_s = s;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantising_costs_its_kernels_and_its_bytes),
        cmocka_unit_test(without_scales_nothing_is_quantised),
        cmocka_unit_test(activations_quantised_in_the_call_move_narrow),
        cmocka_unit_test(a_stream_starts_once),
        cmocka_unit_test(equal_arithmetic_and_loads_do_not_hide_whole),
        cmocka_unit_test(one_token_reads_its_experts_and_many_read_all),
        cmocka_unit_test(skewed_experts_make_the_busiest_chip_wait),
        cmocka_unit_test(activations_that_come_quantised_cost_no_kernel),
        cmocka_unit_test(chips_wait_for_the_one_with_most_experts),
        cmocka_unit_test(experts_time_has_no_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
