/* Decimals to nanoseconds and picoseconds. */
#include "instant.h"

#include <math.h>

enum { NS_PER_US = 1000, PS_PER_NS = 1000, PS_PER_US = 1000000 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* With an exponent, as some writers have it for small values: a double is then as exact
 * as what was written. */
static bool of_exponent(ridge_str text, instant *out)
{
    double us;
    if (!ridge_parse_double(text, &us) || fabs(us) > 9e15)
        return false;
    const double ns = floor(us * NS_PER_US);
    *out = (instant){(int64_t)ns, (int32_t)((us * NS_PER_US - ns) * PS_PER_NS)};
    return true;
}

/* @return the position behind the digits */
static size_t read_whole(ridge_str s, size_t i, int64_t *us, bool *fits)
{
    *us = 0;
    *fits = true;
    for (; i < s.n && is_digit(s.p[i]); i++) {
        if (*us > (INT64_MAX / NS_PER_US - 16) / 10)
            *fits = false;
        else
            *us = 10 * *us + (s.p[i] - '0');
    }
    return i;
}

static size_t read_fraction(ridge_str s, size_t i, int64_t *ps)
{
    int64_t unit = PS_PER_US / 10;
    for (; i < s.n && is_digit(s.p[i]); i++) {
        *ps += unit * (s.p[i] - '0');
        unit /= 10;
    }
    return i;
}

bool instant_of_us(ridge_str s, instant *out)
{
    const bool is_negative = s.n > 0 && s.p[0] == '-';
    const size_t first = is_negative ? 1 : 0;
    int64_t us;
    int64_t ps = 0;
    bool fits;
    size_t i = read_whole(s, first, &us, &fits);
    const size_t digits = i - first;
    if (i < s.n && s.p[i] == '.')
        i = read_fraction(s, i + 1, &ps);
    if (i < s.n && digits > 0 && (s.p[i] == 'e' || s.p[i] == 'E'))
        return of_exponent(s, out);
    if (digits == 0 || i < s.n || !fits)
        return false;
    instant t = {us * NS_PER_US + ps / PS_PER_NS, (int32_t)(ps % PS_PER_NS)};
    if (is_negative)
        t = (instant){-t.ns - (t.ps > 0), t.ps > 0 ? PS_PER_NS - t.ps : 0};
    *out = t;
    return true;
}

instant instant_of_ps(int64_t ps)
{
    int64_t ns = ps / PS_PER_NS;
    if (ps % PS_PER_NS < 0)
        ns--;
    return (instant){ns, (int32_t)(ps - ns * PS_PER_NS)};
}

bool instant_add(instant a, instant b, instant *out)
{
    const int32_t ps = a.ps + b.ps;
    int64_t ns;
    if (!ridge_add_i64(a.ns, b.ns, &ns) || !ridge_add_i64(ns, ps / PS_PER_NS, &ns))
        return false;
    *out = (instant){ns, ps % PS_PER_NS};
    return true;
}

int64_t instant_ns(instant t)
{
    return t.ns + (t.ps >= PS_PER_NS / 2 && t.ns < INT64_MAX);
}
