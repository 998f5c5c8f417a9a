/* Chips and number formats: names, sizes, which peak a format runs at. */
#include "near.h"
#include "ridge/hardware.h"

#include <string.h>

static ridge_chip chip_with(const ridge_dtype *dtypes, int n)
{
    ridge_chip chip = {.vector_flops_per_s = 1e13, .hbm_bytes_per_s = 1e12};
    for (int i = 0; i < n; i++) {
        chip.has_peak[dtypes[i]] = true;
        chip.peak_flops_per_s[dtypes[i]] = 1e14 * (1 + (int)dtypes[i]);
    }
    return chip;
}

static void assert_runs_in(const ridge_chip *chip, ridge_dtype asked, ridge_dtype want)
{
    ridge_dtype used = RIDGE_DTYPE_INT4;
    const double peak = ridge_chip_peak(chip, asked, &used);
    assert_string_equal(ridge_dtype_text(used), ridge_dtype_text(want));
    assert_true(peak > 0.0);
    assert_near(ridge_chip_peak(chip, asked, NULL), peak, 0.0);
}

static void a_format_runs_at_its_own_peak(void **state)
{
    (void)state;
    const ridge_dtype all[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP4};
    const ridge_chip chip = chip_with(all, 3);
    for (int i = 0; i < 3; i++)
        assert_runs_in(&chip, all[i], all[i]);
    assert_near(ridge_chip_ridge_point(&chip, RIDGE_DTYPE_BF16),
                chip.peak_flops_per_s[RIDGE_DTYPE_BF16] / 1e12, 1e-15);
}

static void a_missing_format_runs_in_the_nearest_wider_one(void **state)
{
    (void)state;
    const ridge_dtype hopper[] = {RIDGE_DTYPE_FP64, RIDGE_DTYPE_TF32, RIDGE_DTYPE_BF16,
                                  RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP8,  RIDGE_DTYPE_INT8};
    const ridge_chip h = chip_with(hopper, 6);
    assert_runs_in(&h, RIDGE_DTYPE_FP4, RIDGE_DTYPE_FP8);
    assert_runs_in(&h, RIDGE_DTYPE_FP6, RIDGE_DTYPE_FP8);
    assert_runs_in(&h, RIDGE_DTYPE_INT4, RIDGE_DTYPE_INT8);
    const ridge_dtype volta[] = {RIDGE_DTYPE_FP16};
    const ridge_chip v = chip_with(volta, 1);
    assert_runs_in(&v, RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP16);
    assert_runs_in(&v, RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP16);
    const ridge_dtype tpu[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_INT8};
    const ridge_chip t = chip_with(tpu, 2);
    assert_runs_in(&t, RIDGE_DTYPE_FP8, RIDGE_DTYPE_BF16);
    assert_runs_in(&t, RIDGE_DTYPE_FP16, RIDGE_DTYPE_BF16);
}

static void a_wide_format_falls_back_to_the_vector_unit(void **state)
{
    (void)state;
    const ridge_dtype tpu[] = {RIDGE_DTYPE_BF16};
    const ridge_chip t = chip_with(tpu, 1);
    assert_runs_in(&t, RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32);
    assert_runs_in(&t, RIDGE_DTYPE_TF32, RIDGE_DTYPE_FP32);
    assert_runs_in(&t, RIDGE_DTYPE_FP64, RIDGE_DTYPE_FP32);
    assert_near(ridge_chip_peak(&t, RIDGE_DTYPE_FP32, NULL), 1e13, 0.0);
}

static void sizes_follow_the_bits(void **state)
{
    (void)state;
    assert_near(ridge_dtype_bytes(RIDGE_DTYPE_FP64), 8.0, 0.0);
    assert_near(ridge_dtype_bytes(RIDGE_DTYPE_BF16), 2.0, 0.0);
    assert_near(ridge_dtype_bytes(RIDGE_DTYPE_INT8), 1.0, 0.0);
    assert_near(ridge_dtype_bytes(RIDGE_DTYPE_FP6), 0.75, 0.0);
    assert_near(ridge_dtype_bytes(RIDGE_DTYPE_INT4), 0.5, 0.0);
}

static void formats_are_known_by_the_names_of_frameworks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ridge_dtype want;
    } rows[] = {
        {"bf16", RIDGE_DTYPE_BF16},    {"BFloat16", RIDGE_DTYPE_BF16},
        {"float32", RIDGE_DTYPE_FP32}, {"f32", RIDGE_DTYPE_FP32},
        {"e4m3", RIDGE_DTYPE_FP8},     {"float8_e4m3fn", RIDGE_DTYPE_FP8},
        {"nvfp4", RIDGE_DTYPE_FP4},    {"mxfp4", RIDGE_DTYPE_FP4},
        {"s8", RIDGE_DTYPE_INT8},      {"half", RIDGE_DTYPE_FP16},
    };
    ridge_ctx *cx = ridge_ctx_open();
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_dtype got = RIDGE_DTYPE_FP64;
        assert_int_equal(ridge_dtype_parse(cx, rows[i].text, &got), RIDGE_OK);
        assert_int_equal(got, rows[i].want);
    }
    for (int i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        ridge_dtype got = RIDGE_DTYPE_FP64;
        assert_int_equal(ridge_dtype_parse(cx, ridge_dtype_text((ridge_dtype)i), &got),
                         RIDGE_OK);
        assert_int_equal(got, i);
    }
    ridge_ctx_close(cx);
}

static void an_unknown_format_is_answered_with_the_nearest(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_dtype got = RIDGE_DTYPE_FP64;
    assert_int_equal(ridge_dtype_parse(cx, "bf61", &got), RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(cx), "bf16"));
    assert_int_equal(ridge_dtype_parse(cx, "", &got), RIDGE_E_NOTFOUND);
    assert_int_equal(ridge_dtype_parse(cx, "xxxxxxxxxx", &got), RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(cx), "use fp64"));
    assert_int_equal(got, RIDGE_DTYPE_FP64);
    ridge_ctx_close(cx);
}

/* Shares of memory and products as priced for these loads, draws as published.
 * @source power-fit-2026 */
static void draws_are_near_published_ones(void **state)
{
    (void)state;
    const struct {
        double rating, memory, flops, published;
    } cases[] = {
        {700, 0.60, 0.003, 300},  /* H100, Llama 3.1 8B, a sequence */
        {700, 0.52, 0.182, 600},  /* 128 of them */
        {700, 0.47, 0.002, 267},  /* H100, Phi-3-mini, a sequence */
        {700, 0.47, 0.076, 517},  /* H200, 128 of them */
        {1000, 0.48, 0.058, 606}, /* B200, 128 of them */
        {1000, 0.30, 0.001, 452}, /* B200, a sequence */
        {400, 0.62, 0.018, 237},  /* A100, Llama 2 13B, 0.25 requests a second */
        {400, 0.53, 0.046, 201},  /* A100, Llama 3 8B, one a second */
        {400, 0.51, 0.077, 203},  /* A100, Llama 2 7B, two a second */
    };
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog = NULL;
    const ridge_chip *h100 = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &catalog), RIDGE_OK);
    assert_int_equal(ridge_chip_find(cx, catalog, "h100", &h100), RIDGE_OK);
    assert_true(ridge_chip_has_draw(h100));
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_chip chip = *h100;
        chip.power_watts = cases[i].rating;
        assert_near(ridge_chip_draw_watts(&chip, 1, cases[i].memory, cases[i].flops),
                    cases[i].published, 0.2);
    }
    assert_near(ridge_chip_draw_watts(h100, 0, 1, 1), 80.5, 1e-9);
    assert_near(ridge_chip_draw_watts(h100, 1, 1, 1), 700, 1e-9);
    ridge_ctx_close(cx);
}

/* Published lanes and products of a clock, where vector peaks are rounded (GB200), or a
 * chip is sold slower (H20). */
static void alus_and_products_are_those_of_the_cores(void **state)
{
    (void)state;
    const struct {
        const char *name;
        double alus, flops;
    } cases[] = {{"v100", 5120, 1024},    {"a100", 6912, 2048},  {"h100", 16896, 4096},
                 {"h20", 9984, 1024},     {"b200", 18944, 8192}, {"gb200", 19456, 8192},
                 {"v4", 4096, 131072},    {"v5e", 4096, 131072}, {"v5p", 8192, 131072},
                 {"mi300x", 38912, 2048}, {"gaudi3", 0, 0}};
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_catalog *catalog;
    assert_int_equal(ridge_catalog_open(cx, NULL, &catalog), RIDGE_OK);
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_chip *chip;
        assert_int_equal(ridge_chip_find(cx, catalog, cases[i].name, &chip), RIDGE_OK);
        assert_near(ridge_chip_fp32_alus(chip), cases[i].alus, 0);
        if (cases[i].flops > 0)
            assert_near(ridge_chip_core_flops_per_clock(chip, RIDGE_DTYPE_BF16),
                        cases[i].flops, 0);
    }
    ridge_ctx_close(cx);
}

static void memory_is_what_drivers_report(void **state)
{
    (void)state;
    ridge_chip chip = {.hbm_bytes = 80e9};
    assert_near(ridge_chip_memory_bytes(&chip), 80e9, 0);
    chip.visible_bytes = 79e9;
    assert_near(ridge_chip_memory_bytes(&chip), 79e9, 0);
}

static void kinds_have_texts(void **state)
{
    (void)state;
    assert_string_equal(ridge_chip_kind_text(RIDGE_CHIP_TPU), "tpu");
    assert_string_equal(ridge_chip_kind_text(RIDGE_CHIP_CPU), "cpu");
    assert_string_equal(ridge_axis_kind_text(RIDGE_AXIS_TORUS), "torus");
    assert_string_equal(ridge_axis_kind_text(RIDGE_AXIS_DCN), "dcn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_runs_at_its_own_peak),
        cmocka_unit_test(a_missing_format_runs_in_the_nearest_wider_one),
        cmocka_unit_test(a_wide_format_falls_back_to_the_vector_unit),
        cmocka_unit_test(sizes_follow_the_bits),
        cmocka_unit_test(formats_are_known_by_the_names_of_frameworks),
        cmocka_unit_test(an_unknown_format_is_answered_with_the_nearest),
        cmocka_unit_test(draws_are_near_published_ones),
        cmocka_unit_test(alus_and_products_are_those_of_the_cores),
        cmocka_unit_test(memory_is_what_drivers_report),
        cmocka_unit_test(kinds_have_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
