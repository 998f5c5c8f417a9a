/* Any text as a number: taken whole and within its range, or refused; every value can
 * be formatted, every name can be suggested for. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_formats(double v)
{
    const ridge_text texts[] = {
        ridge_format_seconds(v), ridge_format_bytes(v),  ridge_format_si(v, "FLOP/s"),
        ridge_format_count(v),   ridge_format_sci(v),    ridge_format_percent(v),
        ridge_format_usd(v),     ridge_format_double(v),
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        const size_t n = strnlen(texts[i].s, sizeof texts[i].s);
        require(n > 0 && n < sizeof texts[i].s);
    }
}

/* The C library agrees, but for the last digit; it takes what is no decimal too. */
static void check_double(ridge_str s, const char *z, double v)
{
    char *end = NULL;
    const double want = strtod(z, &end); /* banned: allow strtod, the other side */
    require(isfinite(v) && strlen(z) == s.n && *end == '\0');
    require(fabs(v - want) <= 3 * DBL_EPSILON * fabs(want) + DBL_TRUE_MIN ||
            !isfinite(want));
}

static void check_names(ridge_ctx *cx, const char *z)
{
    static const char *const names[] = {"h100", "h200", "gb200", "v5p", "mi300x", NULL};
    const char *out[3];
    require(ridge_nearest_names(z, names, RIDGE_COUNT_OF(names), 3, out) <= 3);
    require(strlen(ridge_suggestion(ridge_ctx_arena(cx), z, names,
                                    RIDGE_COUNT_OF(names))) < 64);
    require(ridge_text_width(z) <= strlen(z));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ridge_str s = {(const char *)data, size};
    ridge_ctx *cx = ridge_ctx_open();
    const char *z = cx == NULL ? NULL : ridge_str_dup(ridge_ctx_arena(cx), s);
    double v = 0;
    int64_t whole = 0;
    if (z == NULL)
        return 0;
    if (ridge_parse_i64(s, &whole)) {
        require(ridge_parse_double(s, &v));
        require(fabs(v - (double)whole) <= DBL_EPSILON * fabs(v));
        require(ridge_format_exact(whole).s[0] != '\0');
    }
    if (ridge_parse_double(s, &v)) {
        check_double(s, z, v);
        check_formats(v);
    }
    if (ridge_parse_count(s, &v) || ridge_parse_bytes(s, &v) ||
        ridge_parse_fraction(s, &v))
        require(isfinite(v) && v >= 0);
    double bits;
    if (size >= sizeof bits) {
        memcpy(&bits, data, sizeof bits);
        check_formats(bits);
    }
    check_names(cx, z);
    ridge_ctx_close(cx);
    return 0;
}
