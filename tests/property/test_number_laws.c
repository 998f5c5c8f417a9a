/* Laws of numbers over random values: what is formatted is read back, scales agree with
 * the value, products agree with wider ones. */
#include "near.h"
#include "ridge/base.h"
#include "seeded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 50000 };

static int64_t random_whole(seeded *at)
{
    const int bits = (int)seeded_pick(at, 0, 63);
    const int64_t v = (int64_t)(seeded_next(at) >> 1) >> bits;
    return seeded_pick(at, 0, 1) == 0 ? v : -v - 1;
}

static ridge_str without(char *text, char c)
{
    size_t n = 0;
    for (const char *z = text; *z != '\0'; z++) {
        if (*z != c)
            text[n++] = *z;
    }
    return (ridge_str){text, n};
}

static void exact_text_is_read_back(void **state)
{
    (void)state;
    seeded at = 1;
    for (int i = 0; i < TRIALS; i++) {
        const int64_t v = random_whole(&at);
        ridge_text text = ridge_format_exact(v);
        int64_t again = v + 1;
        assert_true(ridge_parse_i64(without(text.s, ','), &again));
        assert_int_equal(again, v);
    }
}

static void whole_numbers_of_any_sign_are_read_as_printed(void **state)
{
    (void)state;
    seeded at = 2;
    for (int i = 0; i < TRIALS; i++) {
        const int64_t v = random_whole(&at);
        char text[40];
        int64_t again = v + 1;
        double d = 0;
        snprintf(text, sizeof text, "%s%lld", v >= 0 && i % 2 == 0 ? "+" : "",
                 (long long)v);
        assert_true(ridge_parse_i64(ridge_str_of(text), &again));
        assert_int_equal(again, v);
        assert_true(ridge_parse_double(ridge_str_of(text), &d));
        assert_near(d, (double)v, 1e-15);
    }
}

/* "1.23 GiB" as a number of its unit, times the unit. */
static double value_of(const char *text, const char *const *units,
                       const double *factors, size_t n)
{
    ridge_str rest = ridge_str_of(text);
    ridge_str number = ridge_str_cut(&rest, ' ');
    double v = (double)NAN;
    assert_true(ridge_parse_double(number, &v));
    for (size_t i = 0; i < n; i++) {
        if (ridge_str_is(rest, units[i]))
            return v * factors[i];
    }
    fail_msg("no unit in \"%s\"", text);
    return (double)NAN;
}

static void a_formatted_size_is_near_its_value(void **state)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static const double factors[] = {1,
                                     RIDGE_KIB,
                                     RIDGE_MIB,
                                     RIDGE_GIB,
                                     RIDGE_GIB * RIDGE_KIB,
                                     RIDGE_GIB * RIDGE_MIB};
    (void)state;
    seeded at = 3;
    for (int i = 0; i < TRIALS; i++) {
        const double v = fabs(seeded_double(&at));
        if (v >= 1) {
            assert_near(value_of(ridge_format_bytes(v).s, units, factors, 6), v, 6e-3);
        }
    }
}

static void a_formatted_time_is_near_its_value(void **state)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "min", "h", "d"};
    static const double factors[] = {1e-9, 1e-6,         1e-3,       1,
                                     60,   RIDGE_HOUR_S, RIDGE_DAY_S};
    (void)state;
    seeded at = 4;
    for (int i = 0; i < TRIALS; i++) {
        const double v = seeded_double(&at);
        if (fabs(v) >= 1e-9) {
            assert_near(value_of(ridge_format_seconds(v).s, units, factors, 7), v,
                        6e-3);
        }
    }
}

static void every_text_ends_and_says_something(void **state)
{
    (void)state;
    seeded at = 5;
    for (int i = 0; i < TRIALS; i++) {
        uint64_t bits = seeded_next(&at);
        double v; /* NaN and infinities among them */
        memcpy(&v, &bits, sizeof v);
        const ridge_text texts[] = {ridge_format_seconds(v),
                                    ridge_format_bytes(v),
                                    ridge_format_si(v, "FLOP/s and more"),
                                    ridge_format_count(v),
                                    ridge_format_sci(v),
                                    ridge_format_percent(v),
                                    ridge_format_usd(v),
                                    ridge_format_double(v)};
        for (size_t k = 0; k < RIDGE_COUNT_OF(texts); k++) {
            const size_t n = strnlen(texts[k].s, sizeof texts[k].s);
            assert_in_range(n, 1, sizeof texts[k].s - 1);
        }
    }
}

static void a_product_that_fits_is_exact(void **state)
{
    (void)state;
    seeded at = 6;
    for (int i = 0; i < TRIALS; i++) {
        const int64_t a = random_whole(&at);
        const int64_t b = random_whole(&at);
        const long double wide = (long double)a * (long double)b;
        int64_t product = 0;
        int64_t sum = 0;
        if (ridge_mul_i64(a, b, &product)) {
            assert_true(b == 0 || (product / b == a && product % b == 0));
        } else {
            assert_true(fabsl(wide) >= 9.2e18L);
        }
        if (ridge_add_i64(a, b, &sum)) {
            assert_true((sum >= a) == (b >= 0));
        } else {
            assert_true(fabsl((long double)a + (long double)b) >= 9.2e18L);
        }
        if (a >= 0 && b > 0) {
            const int64_t quotient = ridge_ceil_div(a, b);
            assert_true(quotient - a / b == (a % b == 0 ? 0 : 1));
        }
    }
}

static void suffixes_multiply(void **state)
{
    (void)state;
    seeded at = 7;
    for (int i = 0; i < TRIALS; i++) {
        const double v = (double)seeded_pick(&at, 0, 1000000) / 64;
        char text[40];
        double plain = 0, kilo = 0, mebi = 0;
        snprintf(text, sizeof text, "%.6f", v);
        assert_true(ridge_parse_count(ridge_str_of(text), &plain));
        snprintf(text, sizeof text, "%.6fk", v);
        assert_true(ridge_parse_count(ridge_str_of(text), &kilo));
        snprintf(text, sizeof text, "%.6f MiB", v);
        assert_true(ridge_parse_bytes(ridge_str_of(text), &mebi));
        assert_near(plain, v, 1e-15);
        assert_near(kilo, 1000 * v, 1e-15);
        assert_near(mebi, RIDGE_MIB * v, 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_text_is_read_back),
        cmocka_unit_test(whole_numbers_of_any_sign_are_read_as_printed),
        cmocka_unit_test(a_formatted_size_is_near_its_value),
        cmocka_unit_test(a_formatted_time_is_near_its_value),
        cmocka_unit_test(every_text_ends_and_says_something),
        cmocka_unit_test(a_product_that_fits_is_exact),
        cmocka_unit_test(suffixes_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
