/* Ranges of sizes, as people write them: m=1..8192, m=1..4096*4, m=128..4096+128. */
#include "ridge/cost_roofline.h"

#include <math.h>
#include <string.h>

static const char how[] =
    "write m=1..8192 (powers of two), m=1..4096*4 or m=128..4096+128";

/* "8192", "4096*4", "4096+128": the end and what leads there. */
static bool read_end(ridge_str text, ridge_sweep *s)
{
    char sign = 0;
    size_t at = 0;
    while (at < text.n && text.p[at] != '*' && text.p[at] != '+')
        at++;
    if (at < text.n)
        sign = text.p[at];
    s->is_factor = sign != '+';
    s->step = 2;
    const ridge_str step = {text.p + at + 1, sign ? text.n - at - 1 : 0};
    if (sign && !ridge_parse_count(ridge_str_trim(step), &s->step))
        return false;
    return ridge_parse_count(ridge_str_trim((ridge_str){text.p, at}), &s->to);
}

static double sweep_count(const ridge_sweep *s)
{
    if (s->is_factor)
        return floor(log(s->to / s->from) / log(s->step)) + 2;
    return floor((s->to - s->from) / s->step) + 2;
}

ridge_status ridge_sweep_parse(ridge_ctx *cx, const char *text, ridge_sweep *out)
{
    ridge_sweep s = {.from = 1};
    ridge_str range = ridge_str_of(text);
    const ridge_str name = ridge_str_trim(ridge_str_cut(&range, '='));
    if (!range.p || name.n == 0 || name.n >= sizeof s.dim)
        return ridge_fail(cx, RIDGE_E_PARSE, "sweep '%.60s': %s", text, how);
    memcpy(s.dim, name.p, name.n);
    size_t dots = 0;
    while (dots + 1 < range.n && !(range.p[dots] == '.' && range.p[dots + 1] == '.'))
        dots++;
    if (dots + 1 >= range.n)
        return ridge_fail(cx, RIDGE_E_PARSE, "sweep '%.60s': no '..': %s", text, how);
    const ridge_str from = {range.p, dots};
    const ridge_str end = {range.p + dots + 2, range.n - dots - 2};
    if (!ridge_parse_count(ridge_str_trim(from), &s.from) || !read_end(end, &s)) {
        return ridge_fail(cx, RIDGE_E_PARSE, "sweep '%.60s': not a number: %s", text,
                          how);
    }
    if (s.from < 1 || s.to < s.from || s.to > 0x1p53 ||
        (s.is_factor ? s.step <= 1 : s.step <= 0)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sweep '%.60s': it must start at 1 or above and rise", text);
    }
    if (!(sweep_count(&s) <= RIDGE_SWEEP_MAX)) {
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sweep '%.60s': more than %d sizes: take a larger step", text,
                          RIDGE_SWEEP_MAX);
    }
    *out = s;
    return RIDGE_OK;
}
