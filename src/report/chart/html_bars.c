/*
 * Stacked horizontal bars of a page: a breakdown per row, all rows on one scale.
 */
#include "html_text.h"

#include "ridge/report.h"

#include <math.h>
#include <string.h>

/** What is drawn of a value: nothing of what is negative or not finite. */
static double drawn(double v)
{
    return isfinite(v) && v > 0 ? v : 0;
}

static double row_total(const double *values, size_t n)
{
    double total = 0;
    for (size_t part = 0; part < n; part++)
        total += drawn(values[part]);
    return total;
}

static ridge_text value_text(double v, const char *unit)
{
    if (strcmp(unit, "s") == 0)
        return ridge_format_seconds(v);
    if (strcmp(unit, "B") == 0 || strcmp(unit, "bytes") == 0)
        return ridge_format_bytes(v);
    if (strcmp(unit, "$") == 0 || strcmp(unit, "usd") == 0)
        return ridge_format_usd(v);
    return *unit ? ridge_format_si(v, unit) : ridge_format_count(v);
}

/** What all rows share. */
typedef struct bar_parts {
    const char *const *names;
    size_t n;
    const char *unit;
    double scale; /* value of the full width */
} bar_parts;

static void write_legend(ridge_buf *out, const char *const *names, size_t n)
{
    ridge_buf_puts(out, "<div class=\"legend\">");
    for (size_t part = 0; part < n; part++) {
        ridge_buf_printf(out, "<span><i style=\"background:var(--s%zu)\"></i>",
                         part % RIDGE_SERIES_MAX);
        ridge__html_element(out, "", names[part], "</span>");
    }
    ridge_buf_puts(out, "</div>\n");
}

static void write_row(ridge_buf *out, const bar_parts *parts, const double *values)
{
    ridge_buf_puts(out, "<div class=\"bar\">");
    for (size_t part = 0; part < parts->n; part++) {
        double share = parts->scale > 0 ? drawn(values[part]) / parts->scale : 0;
        if (share <= 0)
            continue;
        ridge_buf_printf(out,
                         "<span style=\"width:%.3f%%;background:var(--s%zu)\" title=\"",
                         100 * share, part % RIDGE_SERIES_MAX);
        ridge_html_text(out, parts->names[part]);
        ridge__html_element(out, ": ", value_text(values[part], parts->unit).s,
                            "\"></span>");
    }
    ridge__html_element(out, "</div><span class=\"r\">",
                        value_text(row_total(values, parts->n), parts->unit).s,
                        "</span>\n");
}

void ridge_html_bars(ridge_buf *out, const char *const *rows, size_t n_rows,
                     const char *const *names, size_t n, const double *values,
                     const char *unit)
{
    bar_parts parts = {names, n, unit, 0};
    for (size_t row = 0; row < n_rows; row++)
        parts.scale = fmax(parts.scale, row_total(values + row * n, n));
    write_legend(out, names, n);
    ridge_buf_puts(out, "<div class=\"bars\">\n");
    for (size_t row = 0; row < n_rows; row++) {
        ridge__html_element(out, "<span>", rows[row], "</span>");
        write_row(out, &parts, values + row * n);
    }
    ridge_buf_puts(out, "</div>\n");
}
