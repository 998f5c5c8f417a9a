/* Numbers as people read them, at the edges of every scale. */
#include "near.h"
#include "ridge/base.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct row {
    double v;
    const char *text;
} row;

static void check(ridge_text (*format)(double), const row *rows, size_t n)
{
    bool is_same = true;
    for (size_t i = 0; i < n; i++) {
        ridge_text got = format(rows[i].v);
        if (strcmp(got.s, rows[i].text) != 0) {
            print_error("%.17g: got \"%s\", want \"%s\"\n", rows[i].v, got.s,
                        rows[i].text);
            is_same = false;
        }
    }
    assert_true(is_same);
}

static void seconds_scale_from_ns_to_days(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0 s"},
        {-0.0, "0 s"},
        {1e-12, "1.00e-03 ns"},
        {1e-9, "1 ns"},
        {1.234e-6, "1.23 us"},
        {999.4e-6, "999 us"},
        {999.9e-6, "1 ms"},
        {1.2e-3, "1.2 ms"},
        {0.9999, "1 s"},
        {1, "1 s"},
        {59.9, "59.9 s"},
        {119, "119 s"},
        {120, "2 min"},
        {7199, "2 h"},
        {7100, "118 min"},
        {7200, "2 h"},
        {47 * 3600.0, "47 h"},
        {3 * 86400.0, "3 d"},
        {1e6 * 86400.0, "1.00e+06 d"},
        {-1.5e-3, "-1.5 ms"},
        {(double)NAN, "n/a"},
        {(double)INFINITY, "inf"},
        {-(double)INFINITY, "-inf"},
    };
    check(ridge_format_seconds, rows, RIDGE_COUNT_OF(rows));
}

static void bytes_scale_by_1024(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0 B"},
        {-0.0, "0 B"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1023.9, "1 KiB"},
        {1024, "1 KiB"},
        {1536, "1.5 KiB"},
        {3.4 * RIDGE_GIB, "3.4 GiB"},
        {80 * RIDGE_GIB, "80 GiB"},
        {1023.9 * RIDGE_GIB, "1 TiB"},
        {2 * RIDGE_GIB * RIDGE_MIB, "2 PiB"},
        {1e300, "8.88e+284 PiB"},
        {(double)NAN, "n/a"},
        {(double)INFINITY, "inf"},
    };
    check(ridge_format_bytes, rows, RIDGE_COUNT_OF(rows));
}

static ridge_text format_flops(double v)
{
    return ridge_format_si(v, "FLOP/s");
}

static void rates_take_si_prefixes(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0 FLOP/s"},
        {-0.0, "0 FLOP/s"},
        {459e12, "459 TFLOP/s"},
        {1e15, "1 PFLOP/s"},
        {999.4, "999 FLOP/s"},
        {999.95, "1 kFLOP/s"},
        {1.979e15, "1.98 PFLOP/s"},
        {0.001, "1 mFLOP/s"},
        {1e-12, "1.00e-03 nFLOP/s"},
        {2e24, "2 YFLOP/s"},
        {1e300, "1.00e+276 YFLOP/s"},
        {-5e9, "-5 GFLOP/s"},
        {DBL_MIN, "2.23e-299 nFLOP/s"},
        {(double)NAN, "n/a"},
    };
    check(format_flops, rows, RIDGE_COUNT_OF(rows));
    assert_string_equal(ridge_format_si(1e3, "").s, "1 k");
}

static void counts_are_exact_below_a_million(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0"},
        {-0.0, "0"},
        {7, "7"},
        {8960, "8,960"},
        {-8960, "-8,960"},
        {0.5, "0.5"},
        {123.456, "123.5"},
        {8960.4, "8,960"},
        {999999, "999,999"},
        {1e6, "1 M"},
        {70.553e9, "70.6 B"},
        {999.4e6, "999 M"},
        {999.95e6, "1 B"},
        {15e12, "15 T"},
        {2.5e15, "2.5 Q"},
        {1e300, "1.00e+285 Q"},
        {(double)NAN, "n/a"},
        {(double)INFINITY, "inf"},
    };
    check(ridge_format_count, rows, RIDGE_COUNT_OF(rows));
}

static void whole_numbers_have_separators(void **state)
{
    (void)state;
    static const struct {
        int64_t v;
        const char *text;
    } rows[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {-999, "-999"},
        {-1000, "-1,000"},
        {INT64_C(70553706496), "70,553,706,496"},
        {INT64_MAX, "9,223,372,036,854,775,807"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++)
        assert_string_equal(ridge_format_exact(rows[i].v).s, rows[i].text);
}

static void exponents_are_short(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0"},
        {4.59e14, "4.59e14"},
        {1, "1.00e0"},
        {-1e-9, "-1.00e-9"},
        {9.999e9, "1.00e10"},
        {DBL_MAX, "1.80e308"},
        {(double)NAN, "n/a"},
        {-(double)INFINITY, "-inf"},
    };
    check(ridge_format_sci, rows, RIDGE_COUNT_OF(rows));
}

static void percents_have_one_decimal_below_a_hundred(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0.0 %"},
        {-0.0, "0.0 %"},
        {0.431, "43.1 %"},
        {-1e-9, "0.0 %"},
        {0.0004, "0.0 %"},
        {-0.01, "-1.0 %"},
        {0.9994, "99.9 %"},
        {0.99951, "100 %"},
        {1, "100 %"},
        {12.5, "1250 %"},
        {1e300, "1.00e+302 %"},
        {(double)NAN, "n/a"},
        {(double)INFINITY, "inf"},
    };
    check(ridge_format_percent, rows, RIDGE_COUNT_OF(rows));
}

static void money_has_cents_then_separators_then_words(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "$0.00"},
        {-0.0, "$0.00"},
        {1.23, "$1.23"},
        {0.0042, "$0.0042"},
        {0.01, "$0.01"},
        {999.99, "$999.99"},
        {999.999, "$1,000"},
        {1234.5, "$1,235"},
        {999999.4, "$999,999"},
        {999999.7, "$1 M"},
        {4.5e6, "$4.5 M"},
        {-1.23, "-$1.23"},
        {-4.5e6, "-$4.5 M"},
        {(double)NAN, "n/a"},
        {(double)INFINITY, "inf"},
        {1e300, "$1.00e+285 Q"},
    };
    check(ridge_format_usd, rows, RIDGE_COUNT_OF(rows));
}

static void plain_numbers_have_four_digits(void **state)
{
    (void)state;
    const row rows[] = {
        {0, "0"},
        {-0.0, "0"},
        {1.5, "1.5"},
        {1234.56, "1235"},
        {1e-5, "1e-05"},
        {1e10, "1e+10"},
        {DBL_MAX, "1.798e+308"},
        {(double)NAN, "n/a"},
    };
    check(ridge_format_double, rows, RIDGE_COUNT_OF(rows));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_scale_from_ns_to_days),
        cmocka_unit_test(bytes_scale_by_1024),
        cmocka_unit_test(rates_take_si_prefixes),
        cmocka_unit_test(counts_are_exact_below_a_million),
        cmocka_unit_test(whole_numbers_have_separators),
        cmocka_unit_test(exponents_are_short),
        cmocka_unit_test(percents_have_one_decimal_below_a_hundred),
        cmocka_unit_test(money_has_cents_then_separators_then_words),
        cmocka_unit_test(plain_numbers_have_four_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
