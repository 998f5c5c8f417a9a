/* Measured rates in place of computed ones: products and collectives. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

static const double one[] = {100};
static const double product_rate[] = {2e9};
static const ridge_named_grid products[] = {
    {"bf16", {3, {1, 1, 1}, {one, one, one}, product_rate}}};
static const ridge_measured_chip measured = {
    .source = "calibrate", .date = "2025", .matmul = {1, products}};

static ridge_matmul matmul_of(ridge_dtype compute)
{
    return (ridge_matmul){.batch = 3,
                          .m = 200,
                          .k = 300,
                          .n = 400,
                          .activation = compute,
                          .weight = compute,
                          .output = compute,
                          .compute = compute};
}

static void a_measured_product_has_its_rate_and_its_launch(void **state)
{
    ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e10, 1e12);
    chip.measured = &measured;
    chip.achievable.launch_s = 1e-3;
    const ridge_matmul op = matmul_of(RIDGE_DTYPE_BF16);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    (void)state;
    assert_near(c.expected_s, 1e-3 + c.matmul_flops / 2e9, 1e-12);
    assert_near(c.bound_s, c.matmul_flops / 1e10, 1e-12);
}

static void other_formats_are_computed(void **state)
{
    ridge_chip chip = plain_chip(RIDGE_DTYPE_FP32, 1e10, 1e12);
    chip.measured = &measured;
    const ridge_matmul op = matmul_of(RIDGE_DTYPE_FP32);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    (void)state;
    assert_near(c.expected_s, c.matmul_flops / 1e10, 1e-12);
}

static void a_rate_above_the_peak_stays_at_the_peak(void **state)
{
    ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e9, 1e12);
    chip.measured = &measured;
    const ridge_matmul op = matmul_of(RIDGE_DTYPE_BF16);
    const ridge_op_cost c = ridge_matmul_cost(&chip, &op, RIDGE_MEMORY_HBM);
    (void)state;
    assert_near(c.expected_s, c.bound_s, 1e-12);
}

/* What-if on a machine that was measured: by the fact that bound the product. */
static void a_changed_chip_goes_in_proportion(void **state)
{
    ridge_chip then = plain_chip(RIDGE_DTYPE_BF16, 1e10, 1e12);
    then.measured = &measured;
    ridge_chip now = then;
    now.as_measured = &then;
    const ridge_matmul op = matmul_of(RIDGE_DTYPE_BF16);
    const double usual_s = ridge_matmul_cost(&now, &op, RIDGE_MEMORY_HBM).expected_s;
    (void)state;
    now.hbm_bytes_per_s *= 2;
    assert_near(ridge_matmul_cost(&now, &op, RIDGE_MEMORY_HBM).expected_s, usual_s,
                1e-12);
    now.peak_flops_per_s[RIDGE_DTYPE_BF16] *= 2;
    assert_near(ridge_matmul_cost(&now, &op, RIDGE_MEMORY_HBM).expected_s, usual_s / 2,
                1e-12);
    then.hbm_bytes_per_s = 1e7; /* it was memory that bound it */
    now.hbm_bytes_per_s = 4e7;
    assert_near(ridge_matmul_cost(&now, &op, RIDGE_MEMORY_HBM).expected_s,
                ridge_matmul_cost(&then, &op, RIDGE_MEMORY_HBM).expected_s / 4, 1e-12);
}

/* ---- collectives ----------------------------------------------------------------- */

static const double ranks[] = {2, 4};
static const double bytes[] = {1e3, 1e6};
static const double gather_rates[] = {1e8, 1e9, 1e8, 4e8};
static const ridge_named_grid collectives[] = {
    {"all-gather", {2, {2, 2}, {ranks, bytes}, gather_rates}}};
static const ridge_measured_level level = {
    .source = "calibrate", .date = "2025", .collective = {1, collectives}};

static ridge_slice four_ranks(const ridge_chip *chip)
{
    ridge_slice slice = {.text = "four", .chip = chip, .chips = 4, .n_axes = 1};
    slice.axes[0] = (ridge_axis){.name = "ranks",
                                 .kind = RIDGE_AXIS_SWITCH,
                                 .size = 4,
                                 .bytes_per_s = 1e10,
                                 .efficiency = 1,
                                 .measured = &level};
    return slice;
}

static void a_measured_collective_is_expected(void **state)
{
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e10, 1e12);
    const ridge_slice slice = four_ranks(&chip);
    const ridge_group group = {.n_spans = 1, .spans = {{0, 4, 1}}, .ranks = 4};
    const ridge_collective_cost c =
        ridge_collective_price(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1e6, &group);
    (void)state;
    assert_int_equal(c.algorithm, RIDGE_ALGORITHM_MEASURED);
    assert_near(c.expected_s, 1e6 / 4e8, 1e-12);
    assert_true(c.bound_s <= c.expected_s);
    assert_true(c.n_algorithms > 1); /* the others bound it */
    const ridge_time t =
        ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1e6, &group);
    assert_near(t.expected_s, c.expected_s, 1e-12);
}

static void a_part_of_the_ranks_has_its_own_rate(void **state)
{
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e10, 1e12);
    const ridge_slice slice = four_ranks(&chip);
    const ridge_group pair = {.n_spans = 1, .spans = {{0, 2, 2}}, .ranks = 2};
    const ridge_time t =
        ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1e6, &pair);
    (void)state;
    assert_near(t.expected_s, 1e6 / 1e9, 1e-12);
}

static void an_unmeasured_kind_is_computed(void **state)
{
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e10, 1e12);
    const ridge_slice slice = four_ranks(&chip);
    const ridge_group group = {.n_spans = 1, .spans = {{0, 4, 1}}, .ranks = 4};
    const ridge_collective_cost c =
        ridge_collective_price(&slice, RIDGE_COLLECTIVE_ALL_REDUCE, 1e6, &group);
    (void)state;
    assert_true(c.algorithm != RIDGE_ALGORITHM_MEASURED);
}

static void a_changed_level_goes_in_proportion(void **state)
{
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e10, 1e12);
    const ridge_group group = {.n_spans = 1, .spans = {{0, 4, 1}}, .ranks = 4};
    ridge_measured_level then = level;
    ridge_slice slice = four_ranks(&chip);
    then.bytes_per_s = slice.axes[0].bytes_per_s;
    then.latency_s = 1e-6;
    slice.axes[0].measured = &then;
    slice.axes[0].latency_s = then.latency_s;
    const double start_s = 1e3 / 1e8; /* below the smallest size the time stays */
    const double rest_s = 1e6 / 4e8 - start_s;
    slice.axes[0].bytes_per_s *= 2;
    const double faster_s =
        ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1e6, &group)
            .expected_s;
    slice.axes[0].latency_s /= 10;
    const double both_s =
        ridge_collective_time(&slice, RIDGE_COLLECTIVE_ALL_GATHER, 1e6, &group)
            .expected_s;
    (void)state;
    assert_near(faster_s, start_s + rest_s / 2, 1e-12);
    assert_near(both_s, start_s / 10 + rest_s / 2, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measured_product_has_its_rate_and_its_launch),
        cmocka_unit_test(other_formats_are_computed),
        cmocka_unit_test(a_rate_above_the_peak_stays_at_the_peak),
        cmocka_unit_test(a_changed_chip_goes_in_proportion),
        cmocka_unit_test(a_changed_level_goes_in_proportion),
        cmocka_unit_test(a_measured_collective_is_expected),
        cmocka_unit_test(a_part_of_the_ranks_has_its_own_rate),
        cmocka_unit_test(an_unmeasured_kind_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
