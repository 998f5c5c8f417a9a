/* The values of a sweep from text: a list, or a range by a factor. */
#include "ridge/plan_sweep.h"

#include <math.h>
#include <string.h>

static const char *const axis_texts[] = {[RIDGE_CURVE_CHIPS] = "chips",
                                         [RIDGE_CURVE_BATCH] = "batch",
                                         [RIDGE_CURVE_SEQ] = "seq"};
static const char *const kind_texts[] = {[RIDGE_CURVE_STRONG] = "strong",
                                         [RIDGE_CURVE_WEAK] = "weak",
                                         [RIDGE_CURVE_PLAIN] = "plain"};

static const double VALUE_MOST = 1e15;

const char *ridge_curve_axis_text(ridge_curve_axis axis)
{
    return axis_texts[axis];
}

const char *ridge_curve_kind_text(ridge_curve_kind kind)
{
    return kind_texts[kind];
}

static bool is_whole(double v)
{
    return v >= 1 && v <= VALUE_MOST && floor(v) == v;
}

static ridge_status fail_values(ridge_ctx *cx, const char *text)
{
    return ridge_fail(cx, RIDGE_E_ARG,
                      "'%.60s' is no sweep: write rising whole numbers, at most %d, as "
                      "chips=64,128,512, or a range as chips=64..16384 (doubling) or "
                      "batch=1M..16M*4",
                      text, RIDGE_CURVE_MAX);
}

static bool push(ridge_curve_range *range, double v)
{
    const bool rises = range->n == 0 || v > range->values[range->n - 1];
    if (!is_whole(v) || !rises || range->n == RIDGE_CURVE_MAX)
        return false;
    range->values[range->n++] = v;
    return true;
}

static bool read_list(ridge_str rest, ridge_curve_range *range)
{
    while (rest.p != NULL) {
        double v = 0;
        if (!ridge_parse_count(ridge_str_cut(&rest, ','), &v) || !push(range, v))
            return false;
    }
    return true;
}

/* first..last, or first..last*factor; the last value may fall short of last. */
static bool read_range(ridge_str first, ridge_str rest, ridge_curve_range *range)
{
    double low = 0;
    double high = 0;
    double factor = 2;
    const ridge_str last = ridge_str_cut(&rest, '*');
    if (!ridge_parse_count(first, &low) || !ridge_parse_count(last, &high) ||
        (rest.p != NULL && !ridge_parse_count(rest, &factor)))
        return false;
    if (!is_whole(low) || !is_whole(high) || high < low || !(factor > 1))
        return false;
    for (double v = low; v <= high * (1 + 1e-12); v *= factor) {
        if (!push(range, round(v)))
            return false;
    }
    return true;
}

static const char *find_dots(ridge_str s)
{
    for (size_t i = 0; i + 1 < s.n; i++) {
        if (s.p[i] == '.' && s.p[i + 1] == '.')
            return s.p + i;
    }
    return NULL;
}

ridge_status ridge_curve_parse(ridge_ctx *cx, const char *text, ridge_curve_range *out)
{
    ridge_str rest = ridge_str_of(text);
    const ridge_str axis = ridge_str_trim(ridge_str_cut(&rest, '='));
    ridge_curve_range range = {.n = 0};
    size_t i = 0;
    while (i < RIDGE_COUNT_OF(axis_texts) && !ridge_str_is(axis, axis_texts[i]))
        i++;
    if (i == RIDGE_COUNT_OF(axis_texts) || rest.p == NULL) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "'%.60s' is no sweep: chips, batch or seq can be swept, as "
                          "chips=64..16384",
                          text);
    }
    range.axis = (ridge_curve_axis)i;
    const char *dots = find_dots(rest);
    bool is_good;
    if (dots == NULL) {
        is_good = read_list(rest, &range);
    } else {
        const size_t n = (size_t)(dots - rest.p);
        is_good = read_range((ridge_str){rest.p, n},
                             (ridge_str){dots + 2, rest.n - n - 2}, &range);
    }
    if (!is_good)
        return fail_values(cx, text);
    *out = range;
    return RIDGE_OK;
}
