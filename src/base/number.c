/* Integers that do not overflow in silence, and numbers read without a locale. */
#include "ridge/base.h"

#include <math.h>
#include <string.h>

bool ridge_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

bool ridge_add_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

int64_t ridge_ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool ridge_parse_i64(ridge_str s, int64_t *out)
{
    size_t i = 0;
    bool is_negative = s.n > 0 && s.p[0] == '-';
    if (is_negative || (s.n > 0 && s.p[0] == '+'))
        i = 1;
    if (i == s.n)
        return false;
    int64_t value = 0;
    for (; i < s.n; i++) {
        if (!is_digit(s.p[i]))
            return false;
        int64_t digit = s.p[i] - '0';
        if (!ridge_mul_i64(value, 10, &value) ||
            !ridge_add_i64(value, is_negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* Length of the longest prefix that looks like a decimal number. */
static size_t decimal_prefix(ridge_str s)
{
    size_t i = 0;
    size_t digits = 0;
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    for (; i < s.n && is_digit(s.p[i]); i++)
        digits++;
    if (i < s.n && s.p[i] == '.')
        i++;
    for (; i < s.n && is_digit(s.p[i]); i++)
        digits++;
    if (digits == 0)
        return 0;
    size_t end = i;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        if (i < s.n && is_digit(s.p[i])) {
            while (i < s.n && is_digit(s.p[i]))
                i++;
            end = i;
        }
    }
    return end;
}

/* Value of a checked decimal. strtod follows the locale of the host program, so the
 * digits are gathered here: mantissa as an integer, then one scaling by a power of ten
 * in extended precision, exact to the last place for what people type. */
static double decimal_value(ridge_str s)
{
    long double mantissa = 0;
    int scale = 0;
    bool is_fraction = false;
    size_t i = 0;
    bool is_negative = s.p[0] == '-';
    if (s.p[0] == '-' || s.p[0] == '+')
        i = 1;
    for (; i < s.n && s.p[i] != 'e' && s.p[i] != 'E'; i++) {
        if (s.p[i] == '.') {
            is_fraction = true;
            continue;
        }
        mantissa = mantissa * 10 + (long double)(s.p[i] - '0');
        scale -= is_fraction ? 1 : 0;
    }
    int64_t exponent = 0;
    if (i < s.n && !ridge_parse_i64((ridge_str){s.p + i + 1, s.n - i - 1}, &exponent))
        exponent = s.p[i + 1] == '-' ? -100000 : 100000;
    exponent += scale;
    if (exponent > 100000)
        exponent = 100000;
    if (exponent < -100000)
        exponent = -100000;
    long double value = mantissa;
    if (mantissa != 0) {
        value = exponent < 0 ? mantissa / powl(10, (long double)-exponent)
                             : mantissa * powl(10, (long double)exponent);
    }
    return (double)(is_negative ? -value : value);
}

bool ridge_parse_double(ridge_str s, double *out)
{
    if (s.n == 0 || decimal_prefix(s) != s.n)
        return false;
    double value = decimal_value(s);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

typedef struct suffix {
    const char *text;
    double factor;
} suffix;

/* A number >= 0 followed by one of the suffixes, or by nothing. */
static bool parse_with_suffix(ridge_str s, const suffix *suffixes, size_t n,
                              double *out)
{
    s = ridge_str_trim(s);
    size_t end = decimal_prefix(s);
    if (end == 0)
        return false;
    double value = decimal_value((ridge_str){s.p, end});
    ridge_str rest = ridge_str_trim((ridge_str){s.p + end, s.n - end});
    if (rest.n > 0) {
        size_t i = 0;
        while (i < n && !ridge_str_is(rest, suffixes[i].text))
            i++;
        if (i == n)
            return false;
        value *= suffixes[i].factor;
    }
    if (!isfinite(value) || value < 0)
        return false;
    *out = value;
    return true;
}

bool ridge_parse_count(ridge_str s, double *out)
{
    static const suffix suffixes[] = {
        {"k", 1e3},        {"K", 1e3},        {"M", 1e6},
        {"B", 1e9},        {"G", 1e9},        {"T", 1e12},
        {"P", 1e15},       {"Ki", RIDGE_KIB}, {"ki", RIDGE_KIB},
        {"Mi", RIDGE_MIB}, {"Gi", RIDGE_GIB}, {"Ti", RIDGE_GIB * RIDGE_KIB},
    };
    return parse_with_suffix(s, suffixes, RIDGE_COUNT_OF(suffixes), out);
}

bool ridge_parse_bytes(ridge_str s, double *out)
{
    static const suffix suffixes[] = {
        {"B", 1},
        {"kB", 1e3},
        {"KB", 1e3},
        {"MB", 1e6},
        {"GB", 1e9},
        {"TB", 1e12},
        {"PB", 1e15},
        {"KiB", RIDGE_KIB},
        {"MiB", RIDGE_MIB},
        {"GiB", RIDGE_GIB},
        {"TiB", RIDGE_GIB * RIDGE_KIB},
        {"PiB", RIDGE_GIB * RIDGE_MIB},
    };
    return parse_with_suffix(s, suffixes, RIDGE_COUNT_OF(suffixes), out);
}

bool ridge_parse_fraction(ridge_str s, double *out)
{
    static const suffix suffixes[] = {{"%", 0.01}};
    return parse_with_suffix(s, suffixes, RIDGE_COUNT_OF(suffixes), out);
}
