/* Names and values of plain rooflines, as their keys say. */
#include "roofline_cell.h"

#include <math.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text);
    const size_t m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

ridge_text ridge__roofline_value(const char *key, double v)
{
    const ridge_text never = {"never"};
    if (!isfinite(v))
        return never;
    if (ends_with(key, "_per_s_per_chip"))
        return ridge_format_count(v);
    if (ends_with(key, "_s"))
        return ridge_format_seconds(v);
    if (ends_with(key, "_bytes"))
        return ridge_format_bytes(v);
    if (ends_with(key, "_share"))
        return ridge_format_percent(v);
    if (strstr(key, "_flops") != NULL && !ends_with(key, "_over_network") &&
        strncmp(key, "tp_", 3) != 0 && strncmp(key, "attention_", 10) != 0)
        return ridge_format_si(v, "FLOP");
    return v >= 1000 ? ridge_format_exact((int64_t)round(v)) : ridge_format_double(v);
}

const char *ridge__roofline_name(ridge_ctx *cx, const char *key)
{
    ridge_str name = ridge_str_of(key);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (ends_with(key, "_s") && !ends_with(key, "per_s"))
        name.n -= 2;
    for (size_t i = 0; i < name.n; i++)
        ridge_buf_printf(&b, "%c", name.p[i] == '_' ? ' ' : name.p[i]);
    return ridge_buf_text(&b);
}
