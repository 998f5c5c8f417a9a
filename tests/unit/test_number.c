/* Integers that say when they overflow; numbers read from text, whole or not at all. */
#include "near.h"
#include "ridge/base.h"
#include "seeded.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void products_and_sums_say_when_they_overflow(void **state)
{
    (void)state;
    int64_t out = 7;
    assert_true(ridge_mul_i64(INT64_MAX, 1, &out));
    assert_int_equal(out, INT64_MAX);
    assert_true(ridge_mul_i64(INT64_C(3037000499), INT64_C(3037000499), &out));
    assert_int_equal(out, INT64_C(9223372030926249001));
    assert_false(ridge_mul_i64(INT64_C(3037000500), INT64_C(3037000500), &out));
    assert_false(ridge_mul_i64(INT64_MIN, -1, &out));
    assert_false(ridge_add_i64(INT64_MAX, 1, &out));
    assert_false(ridge_add_i64(INT64_MIN, -1, &out));
    assert_int_equal(out, INT64_C(9223372030926249001)); /* untouched */
    assert_true(ridge_add_i64(INT64_MIN, INT64_MAX, &out));
    assert_int_equal(out, -1);
}

static void division_rounds_up(void **state)
{
    (void)state;
    assert_int_equal(ridge_ceil_div(0, 5), 0);
    assert_int_equal(ridge_ceil_div(1, 5), 1);
    assert_int_equal(ridge_ceil_div(5, 5), 1);
    assert_int_equal(ridge_ceil_div(6, 5), 2);
    assert_int_equal(ridge_ceil_div(INT64_MAX, 2), INT64_MAX / 2 + 1);
}

static void whole_numbers_are_read_to_the_last_one(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"+17", 17},
        {"0042", 42},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"00000000000000000000000000000001", 1},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(good); i++) {
        int64_t v = 99;
        assert_true(ridge_parse_i64(ridge_str_of(good[i].text), &v));
        assert_int_equal(v, good[i].value);
    }
}

static void what_is_no_whole_number_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "+",
                                      "-",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x10",
                                      "--1",
                                      "+-1",
                                      "1_000",
                                      "1,000",
                                      "\xd9\xa1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        int64_t v = 99;
        assert_false(ridge_parse_i64(ridge_str_of(bad[i]), &v));
        assert_int_equal(v, 99);
    }
    int64_t v = 99;
    assert_false(ridge_parse_i64((ridge_str){NULL, 0}, &v));
    assert_false(ridge_parse_i64((ridge_str){"1\0002", 3}, &v));
}

static void decimals_of_every_shape_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},
        {"1.", 1},
        {".5", 0.5},
        {"+1.5", 1.5},
        {"-2.5e-3", -2.5e-3},
        {"1E+3", 1000},
        {"0.1", 0.1},
        {"1e0", 1},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1.7976931348623157e308", DBL_MAX},
        {"2.2250738585072014e-308", DBL_MIN},
        {"0e999999999999999999999", 0},
        {"1e-400", 0},
        {"1e-99999999999999999999", 0},
        {"0.000000000000000000000000000001e30", 1},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(good); i++) {
        double v = 99;
        assert_true(ridge_parse_double(ridge_str_of(good[i].text), &v));
        assert_near(v, good[i].value, DBL_EPSILON);
    }
}

static void what_is_no_finite_decimal_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",         "+",     "-",
                                      ".",        "-.",    "e5",
                                      ".e5",      "1e",    "1e+",
                                      "1e-",      " 1",    "1 ",
                                      "0x10",     "0x1p3", "1..2",
                                      "1.2.3",    "1e5.",  "nan",
                                      "NaN",      "inf",   "-inf",
                                      "Infinity", "1e400", "-1e400",
                                      "1,5",      "1f",    "1e9999999999999999999",
                                      "1.8e308"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        double v = 99;
        if (ridge_parse_double(ridge_str_of(bad[i]), &v))
            fail_msg("'%s' was taken as %g", bad[i], v);
        assert_near(v, 99, 0);
    }
    double v = 99;
    assert_false(ridge_parse_double((ridge_str){NULL, 0}, &v));
    assert_false(ridge_parse_double((ridge_str){"1\0", 2}, &v));
}

/* Doubles as ordered integers, so that neighbours differ by one. */
static int64_t order_of(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static void assert_within_one_ulp_of_strtod(const char *text)
{
    double want = strtod(text, NULL); /* banned: allow strtod, the other side */
    double got = 0;
    bool is_taken = ridge_parse_double(ridge_str_of(text), &got);
    if (!isfinite(want)) /* at the very edge one ulp decides */
        return;
    int64_t apart = is_taken ? order_of(got) - order_of(want) : INT64_MAX;
    if (apart > 1 || apart < -1)
        fail_msg("%s: got %a, strtod %a", text, got, want);
}

static void long_decimals_agree_with_the_c_library(void **state)
{
    (void)state;
    seeded at = 20240501;
    for (int trial = 0; trial < 20000; trial++) {
        char text[80];
        size_t n = 0;
        int digits = (int)seeded_pick(&at, 1, 40);
        int point = (int)seeded_pick(&at, 0, digits);
        for (int i = 0; i < digits; i++) {
            if (i == point)
                text[n++] = '.';
            text[n++] = (char)('0' + seeded_pick(&at, 0, 9));
        }
        snprintf(text + n, sizeof text - n, "e%d", (int)seeded_pick(&at, -345, 300));
        assert_within_one_ulp_of_strtod(text);
    }
}

static void printed_doubles_are_read_back(void **state)
{
    (void)state;
    seeded at = 7;
    for (int trial = 0; trial < 20000; trial++) {
        char text[40];
        snprintf(text, sizeof text, "%.17g", seeded_double(&at));
        assert_within_one_ulp_of_strtod(text);
    }
}

static void counts_take_suffixes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"4096", 4096},   {"16e6", 16e6}, {"4M", 4e6},           {"15T", 15e12},
        {"4Mi", 4194304}, {"1.5k", 1500}, {" 2 B ", 2e9},        {"1P", 1e15},
        {"1Ki", 1024},    {"1ki", 1024},  {"2Gi", 2147483648.0}, {"0", 0},
        {"1e3k", 1e6},    {"+3G", 3e9},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(good); i++) {
        double v = 99;
        assert_true(ridge_parse_count(ridge_str_of(good[i].text), &v));
        assert_near(v, good[i].value, 0);
    }
    static const char *const bad[] = {"",   "M",   "-1",  "-1M", "1m",    "4 MB",
                                      "1e", "1MM", "1 2", "nan", "1e400", "1e300T"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        double v = 99;
        if (ridge_parse_count(ridge_str_of(bad[i]), &v))
            fail_msg("'%s' was taken as %g", bad[i], v);
    }
}

static void sizes_take_decimal_and_binary_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"512", 512},         {"1GiB", 1073741824.0}, {"16MB", 16e6}, {"64KiB", 65536},
        {"1 kB", 1000},       {"1KB", 1000},          {"3B", 3},      {"1TB", 1e12},
        {"0.5MiB", 524288.0}, {"2PB", 2e15},          {"0B", 0},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(good); i++) {
        double v = 99;
        assert_true(ridge_parse_bytes(ridge_str_of(good[i].text), &v));
        assert_near(v, good[i].value, 0);
    }
    static const char *const bad[] = {"",   "GB",      "-1GB", "1Gb",
                                      "1G", "1 GB GB", "1e309"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        double v = 99;
        if (ridge_parse_bytes(ridge_str_of(bad[i]), &v))
            fail_msg("'%s' was taken as %g", bad[i], v);
    }
}

static void shares_are_read_with_a_sign_or_without(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"5%", 0.05}, {"0.05", 0.05}, {"2.5 %", 0.025}, {"0", 0}, {"300%", 3}};
    static const char *const bad[] = {"", "%", "-5%", "5%%", "5 percent", "1e309"};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(good); i++) {
        double v = 99;
        assert_true(ridge_parse_fraction(ridge_str_of(good[i].text), &v));
        assert_near(v, good[i].value, 1e-15);
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(bad); i++) {
        double v = 99;
        if (ridge_parse_fraction(ridge_str_of(bad[i]), &v))
            fail_msg("'%s' was taken as %g", bad[i], v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_read_with_a_sign_or_without),
        cmocka_unit_test(products_and_sums_say_when_they_overflow),
        cmocka_unit_test(division_rounds_up),
        cmocka_unit_test(whole_numbers_are_read_to_the_last_one),
        cmocka_unit_test(what_is_no_whole_number_is_refused),
        cmocka_unit_test(decimals_of_every_shape_are_read),
        cmocka_unit_test(what_is_no_finite_decimal_is_refused),
        cmocka_unit_test(long_decimals_agree_with_the_c_library),
        cmocka_unit_test(printed_doubles_are_read_back),
        cmocka_unit_test(counts_take_suffixes),
        cmocka_unit_test(sizes_take_decimal_and_binary_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
