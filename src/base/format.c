/* Numbers as people read them: few digits, a unit, the same in every locale. */
#include "ridge/base.h"

#include <math.h>
#include <string.h>

/* The host program may have set a locale with a decimal comma. */
static void fix_point(char *z)
{
    for (; *z != '\0'; z++) {
        if (*z == ',')
            *z = '.';
    }
}

/* Three significant digits, at most two of them decimals; with an exponent where that
 * would be too long or would lose the value. */
static void write_short(char *out, size_t size, double v)
{
    if (v != 0 && (fabs(v) >= 1e6 || fabs(v) < 0.005)) {
        snprintf(out, size, "%.2e", v);
        fix_point(out);
        return;
    }
    v = v == 0 ? 0 : v; /* no "-0" */
    double a = fabs(v);
    int decimals = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
    snprintf(out, size, "%.*f", decimals, v);
    fix_point(out);
    char *point = strchr(out, '.');
    if (point == NULL)
        return;
    char *end = out + strlen(out);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

static ridge_text text_of(const char *number, const char *unit)
{
    ridge_text t;
    snprintf(t.s, sizeof t.s, "%.30s%s%.12s", number, unit[0] == '\0' ? "" : " ", unit);
    return t;
}

/* NaN and infinities have a text of their own. */
static bool is_special(double v, ridge_text *out)
{
    if (isfinite(v))
        return false;
    *out = text_of(isnan(v) ? "n/a" : v > 0 ? "inf" : "-inf", "");
    return true;
}

typedef struct scale {
    double from; /* applies to |v| >= from */
    double unit;
    const char *name;
} scale;

/* The first row that applies; the last one otherwise. A value that would round up to
 * the next row's start is shown there. */
static ridge_text by_scale(double v, const scale *scales, size_t n)
{
    size_t i = 0;
    while (i + 1 < n && fabs(v) < scales[i].from * 0.9995)
        i++;
    char number[40];
    write_short(number, sizeof number, v / scales[i].unit);
    return text_of(number, scales[i].name);
}

ridge_text ridge_format_seconds(double s)
{
    static const scale scales[] = {
        {RIDGE_DAY_S * 2, RIDGE_DAY_S, "d"},
        {2 * RIDGE_HOUR_S, RIDGE_HOUR_S, "h"},
        {120, 60, "min"},
        {1, 1, "s"},
        {1e-3, 1e-3, "ms"},
        {1e-6, 1e-6, "us"},
        {0, 1e-9, "ns"},
    };
    ridge_text t;
    if (is_special(s, &t))
        return t;
    if (s == 0)
        return text_of("0", "s");
    return by_scale(s, scales, RIDGE_COUNT_OF(scales));
}

ridge_text ridge_format_bytes(double bytes)
{
    static const scale scales[] = {
        {RIDGE_GIB * RIDGE_MIB, RIDGE_GIB * RIDGE_MIB, "PiB"},
        {RIDGE_GIB * RIDGE_KIB, RIDGE_GIB * RIDGE_KIB, "TiB"},
        {RIDGE_GIB, RIDGE_GIB, "GiB"},
        {RIDGE_MIB, RIDGE_MIB, "MiB"},
        {RIDGE_KIB, RIDGE_KIB, "KiB"},
        {0, 1, "B"},
    };
    ridge_text t;
    if (is_special(bytes, &t))
        return t;
    return by_scale(bytes, scales, RIDGE_COUNT_OF(scales));
}

ridge_text ridge_format_si(double v, const char *unit)
{
    static const struct {
        double from;
        const char *prefix;
    } prefixes[] = {
        {1e24, "Y"}, {1e21, "Z"}, {1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"},
        {1e6, "M"},  {1e3, "k"},  {1, ""},     {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"},
    };
    ridge_text t;
    if (is_special(v, &t))
        return t;
    size_t i = 0;
    while (i + 1 < RIDGE_COUNT_OF(prefixes) && fabs(v) < prefixes[i].from * 0.9995)
        i++;
    if (v == 0)
        i = 8;
    char number[40];
    char name[16];
    write_short(number, sizeof number, v / prefixes[i].from);
    snprintf(name, sizeof name, "%s%.12s", prefixes[i].prefix, unit);
    return text_of(number, name);
}

ridge_text ridge_format_exact(int64_t v)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)v);
    ridge_text t = {{0}};
    size_t n = strlen(digits);
    size_t sign = digits[0] == '-' ? 1 : 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > sign && (n - i) % 3 == 0)
            t.s[at++] = ',';
        t.s[at++] = digits[i];
    }
    return t;
}

ridge_text ridge_format_count(double v)
{
    static const scale scales[] = {
        {1e15, 1e15, "Q"}, {1e12, 1e12, "T"}, {1e9, 1e9, "B"}, {0, 1e6, "M"}};
    ridge_text t;
    if (is_special(v, &t))
        return t;
    if (fabs(v) < 1e6 && v == floor(v))
        return ridge_format_exact((int64_t)v);
    if (fabs(v) < 1000)
        return ridge_format_double(v);
    if (fabs(v) < 1e6)
        return ridge_format_exact((int64_t)round(v));
    return by_scale(v, scales, RIDGE_COUNT_OF(scales));
}

ridge_text ridge_format_sci(double v)
{
    ridge_text t;
    if (is_special(v, &t))
        return t;
    if (v == 0)
        return text_of("0", "");
    char number[40];
    snprintf(number, sizeof number, "%.2e", v);
    fix_point(number);
    char *e = strchr(number, 'e'); /* always there with %e */
    int64_t exponent = 0;
    if (e == NULL || !ridge_parse_i64(ridge_str_of(e + 1), &exponent))
        return text_of(number, "");
    *e = '\0';
    snprintf(t.s, sizeof t.s, "%.20se%d", number, (int)exponent);
    return t;
}

ridge_text ridge_format_percent(double fraction)
{
    ridge_text t;
    if (is_special(fraction, &t))
        return t;
    char number[40];
    double v = fraction == 0 ? 0 : 100 * fraction;
    if (fabs(v) < 0.05)
        v = fabs(v); /* no "-0.0" */
    if (fabs(v) < 1e6) {
        snprintf(number, sizeof number, "%.*f", fabs(v) < 99.95 ? 1 : 0, v);
    } else {
        snprintf(number, sizeof number, "%.2e", v);
    }
    fix_point(number);
    return text_of(number, "%");
}

/* Cents below a thousand, and what there is of them below one. */
static ridge_text usd_amount(double usd)
{
    char cents[40];
    if (usd >= 999.995)
        return ridge_format_count(round(usd));
    if (usd > 0 && usd < 0.00995) {
        snprintf(cents, sizeof cents, "%.2g", usd);
    } else {
        snprintf(cents, sizeof cents, "%.2f", usd);
    }
    fix_point(cents);
    return text_of(cents, "");
}

ridge_text ridge_format_usd(double usd)
{
    ridge_text t;
    if (is_special(usd, &t))
        return t;
    snprintf(t.s, sizeof t.s, "%s$%.40s", usd < 0 ? "-" : "", usd_amount(fabs(usd)).s);
    return t;
}

ridge_text ridge_format_double(double v)
{
    ridge_text t;
    if (is_special(v, &t))
        return t;
    snprintf(t.s, sizeof t.s, "%.4g", v == 0 ? 0 : v); /* no "-0" */
    fix_point(t.s);
    return t;
}
