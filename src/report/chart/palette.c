/*
 * The colours of pages and charts, as CSS custom properties. Those of series are
 * distinct in hue and lightness, so that they differ for colour-blind readers too.
 */
#include "html_text.h"

#include "ridge/report.h"

/* clang-format off */
static const char *const light_colours[] = {
    "#2563a8", "#d9730d", "#1b8a5a", "#b3261e", "#7048b6", "#8a6d1d",
    "#c2418c", "#4d5a68", "#0f8b9d", "#9ab000", "#5b3a1e", "#e0a100"};
static const char *const dark_colours[] = {
    "#6aa9ee", "#f3a35c", "#58c795", "#f0817a", "#b197ec", "#d3b863",
    "#ee8fc4", "#a9b6c4", "#5cc8d8", "#cde04d", "#c49a76", "#ffd35c"};
/* clang-format on */
_Static_assert(RIDGE_COUNT_OF(light_colours) == RIDGE_SERIES_MAX, "one a series");
_Static_assert(RIDGE_COUNT_OF(dark_colours) == RIDGE_SERIES_MAX, "one a series");

void ridge__palette_write(ridge_buf *out, bool is_dark)
{
    ridge_buf_puts(out, is_dark ? "--fg:#e6eaf0;--dim:#9aa5b1;--grid:#2c333d;"
                                  "--ground:#14181e;--hover:#1c222b;"
                                : "--fg:#1d2430;--dim:#5c6673;--grid:#e3e7ec;"
                                  "--ground:#ffffff;--hover:#f4f6f9;");
    for (int i = 0; i < RIDGE_SERIES_MAX; i++) {
        ridge_buf_printf(out, "--s%d:%s;", i,
                         is_dark ? dark_colours[i] : light_colours[i]);
    }
}
