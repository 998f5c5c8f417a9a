/* Shape efficiency: padding to a systolic array, tiles and waves over SMs. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

static ridge_matmul shape_of(double m, double k, double n)
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

static void dims_are_padded_to_the_array_and_rows_to_eight(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = shape_of(9, 100, 300);
    const ridge_matmul_shape s = ridge_matmul_shape_find(&chip, &op);
    assert_near(s.padded_m, 16, 0);
    assert_near(s.padded_k, 128, 0);
    assert_near(s.padded_n, 384, 0);
    assert_near(s.tile_efficiency, 9.0 * 100 * 300 / (16.0 * 128 * 384), 1e-12);
}

static void one_pass_is_mostly_the_pipeline_filling(void **state)
{
    (void)state;
    ridge_chip chip = plain_tpu();
    chip.matmul_units = 1;
    const ridge_matmul op = shape_of(8, 128, 128);
    double tile = 0, wave = 0;
    ridge_matmul_shape_efficiency(&chip, &op, &tile, &wave);
    assert_near(tile, 1, 0);
    assert_near(wave, 8.0 / (3 * 128 + 8), 1e-12);
}

static void a_single_weight_tile_keeps_one_array_of_four_busy(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = shape_of(8, 128, 128);
    double one_of_four = 0, alone = 0;
    ridge_matmul_shape_efficiency(&chip, &op, NULL, &one_of_four);
    ridge_chip single = chip;
    single.matmul_units = 1;
    ridge_matmul_shape_efficiency(&single, &op, NULL, &alone);
    assert_near(one_of_four, alone / 4, 1e-12);
}

static void a_large_product_fills_the_arrays(void **state)
{
    (void)state;
    const ridge_chip chip = plain_tpu();
    const ridge_matmul op = shape_of(8192, 8192, 8192);
    assert_true(ridge_matmul_shape_efficiency(&chip, &op, NULL, NULL) > 0.999);
}

static void tiles_just_beyond_a_full_wave_cost_a_second_one(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_matmul full = shape_of(128 * 12, 8192, 256 * 11);
    const ridge_matmul over = shape_of(128 * 13, 8192, 256 * 11);
    double full_wave = 0, over_wave = 0;
    ridge_matmul_shape_efficiency(&chip, &full, NULL, &full_wave);
    ridge_matmul_shape_efficiency(&chip, &over, NULL, &over_wave);
    assert_true(full_wave > 0.95);
    /* smaller tiles make up for some of it */
    assert_true(over_wave < 0.9 * full_wave);
}

static void few_tiles_split_a_deep_k_over_idle_sms(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_matmul deep = shape_of(128, 16384, 1024);
    const ridge_matmul shallow = shape_of(128, 256, 1024);
    assert_true(ridge_matmul_shape_find(&chip, &deep).split_k > 1);
    assert_near(ridge_matmul_shape_find(&chip, &shallow).split_k, 1, 0);
}

static void block_scales_keep_k_whole(void **state)
{
    (void)state;
    ridge_chip chip = plain_gpu();
    ridge_matmul deep = shape_of(128, 16384, 1024);
    deep.scaling = RIDGE_SCALING_BLOCK;
    assert_near(ridge_matmul_shape_find(&chip, &deep).split_k, 1, 0);
    chip.has_peak[RIDGE_DTYPE_FP4] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_FP4] = 9e15;
    deep.compute = RIDGE_DTYPE_FP4;
    const ridge_matmul_shape s = ridge_matmul_shape_find(&chip, &deep);
    assert_near(s.tile_m * s.tile_n, 128 * 128, 1); /* or 128 x 256, never less */
}

static void few_rows_of_fp4_wait_for_their_weights(void **state)
{
    (void)state;
    ridge_chip chip = plain_gpu();
    chip.has_peak[RIDGE_DTYPE_FP4] = true;
    chip.peak_flops_per_s[RIDGE_DTYPE_FP4] = 9e15;
    ridge_matmul few = shape_of(1, 65536, 128 * 100);
    few.compute = few.weight = RIDGE_DTYPE_FP4;
    const double free_of_it = ridge_matmul_shape_find(&chip, &few).efficiency;
    chip.achievable.fp4_sm_bytes_per_s = 3.7e10;
    const double limited = ridge_matmul_shape_find(&chip, &few).efficiency;
    assert_true(limited < 0.5 * free_of_it);
    few.m = 4096; /* tiles read them again: from the L2 */
    const double many = ridge_matmul_shape_find(&chip, &few).efficiency;
    chip.achievable.fp4_sm_bytes_per_s = 0;
    assert_near(many, ridge_matmul_shape_find(&chip, &few).efficiency, 1e-12);
}

static void a_short_k_pays_for_the_start_of_each_tile(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_matmul deep = shape_of(8192, 8192, 8192);
    const ridge_matmul shallow = shape_of(8192, 128, 8192);
    double deep_wave = 0, shallow_wave = 0;
    ridge_matmul_shape_efficiency(&chip, &deep, NULL, &deep_wave);
    ridge_matmul_shape_efficiency(&chip, &shallow, NULL, &shallow_wave);
    assert_true(shallow_wave < 0.8 * deep_wave);
}

static void a_chip_of_unknown_tiles_counts_as_perfect(void **state)
{
    (void)state;
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    const ridge_matmul op = shape_of(3, 5, 7);
    double tile = 0, wave = 0;
    assert_near(ridge_matmul_shape_efficiency(&chip, &op, &tile, &wave), 1, 0);
    assert_near(tile, 1, 0);
    assert_near(wave, 1, 0);
}

/* fp32 at a sixteenth of the rate asks an eighth of the bytes: tiles of a quarter of
 * the size feed it as well, and idle SMs need not be. */
static void slow_formats_are_fed_by_small_tiles(void **state)
{
    (void)state;
    ridge_chip chip = plain_gpu();
    double tile, wave;
    chip.peak_flops_per_s[RIDGE_DTYPE_FP32] =
        chip.peak_flops_per_s[RIDGE_DTYPE_BF16] / 16;
    ridge_matmul op = shape_of(chip.tile_m / 2, 65536, chip.tile_n / 2 * chip.cores);
    op.compute = op.weight = RIDGE_DTYPE_FP32;
    ridge_matmul_shape_efficiency(&chip, &op, &tile, &wave);
    assert_near(tile, 1, 1e-9);
    op.compute = op.weight = RIDGE_DTYPE_BF16;
    ridge_matmul_shape_efficiency(&chip, &op, &tile, &wave);
    assert_true(tile < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dims_are_padded_to_the_array_and_rows_to_eight),
        cmocka_unit_test(one_pass_is_mostly_the_pipeline_filling),
        cmocka_unit_test(a_single_weight_tile_keeps_one_array_of_four_busy),
        cmocka_unit_test(a_large_product_fills_the_arrays),
        cmocka_unit_test(tiles_just_beyond_a_full_wave_cost_a_second_one),
        cmocka_unit_test(few_tiles_split_a_deep_k_over_idle_sms),
        cmocka_unit_test(block_scales_keep_k_whole),
        cmocka_unit_test(few_rows_of_fp4_wait_for_their_weights),
        cmocka_unit_test(a_short_k_pays_for_the_start_of_each_tile),
        cmocka_unit_test(a_chip_of_unknown_tiles_counts_as_perfect),
        cmocka_unit_test(slow_formats_are_fed_by_small_tiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
