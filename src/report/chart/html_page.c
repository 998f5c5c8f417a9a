/*
 * Self-contained HTML pages: headings, paragraphs, tables and charts in one style,
 * light and dark by the reader's preference. Nothing is fetched.
 */
#include "html_text.h"

#include "ridge/report.h"

static const char page_style[] =
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--ground);color:var(--fg);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif}"
    "main{max-width:78rem;margin:0 auto;padding:2rem 1.25rem 4rem}"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .25rem}"
    "h2{font-size:1.15rem;margin:2.2rem 0 .6rem}"
    "h1,p{overflow-wrap:anywhere}p{max-width:44rem;margin:.5rem "
    "0}.sub{color:var(--dim);margin-bottom:1.5rem}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;"
    "margin:.6rem 0}"
    "th,td{padding:.32rem .8rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--grid)}"
    "th{color:var(--dim);font-weight:600}tbody tr:hover{background:var(--hover)}"
    "th:first-child,td:first-child{padding-left:0}"
    ".r,th,td:first-child{white-space:nowrap}.r{text-align:right}"
    "figure{margin:1rem 0}"
    ".bars{display:grid;grid-template-columns:max-content 1fr max-content;"
    "gap:.4rem .9rem;align-items:center;font-size:.9rem;margin:.8rem 0}"
    ".bar{display:flex;height:1.35rem;border-radius:4px;overflow:hidden}"
    ".bar span{display:block;height:100%}"
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.85rem;"
    "color:var(--dim)}"
    ".legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;"
    "margin-right:.4rem;vertical-align:-.08rem}"
    "footer{margin-top:3rem;color:var(--dim);font-size:.8rem}"
    ".listing{overflow-x:auto;padding:.8rem 1rem;border:1px solid var(--grid);"
    "border-radius:6px;font:.82rem/1.5 ui-monospace,monospace}"
    "@media print{body{background:#fff;color:#000}main{max-width:none;padding:0}"
    ".wide,.listing{overflow:visible}.listing{white-space:pre-wrap;border:0;padding:0}"
    "figure,tr,.bars{break-inside:avoid}h2{break-after:avoid}"
    ".bar span,.legend i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

static void write_style(ridge_buf *out)
{
    ridge_buf_puts(out, "<style>:root{color-scheme:light dark;");
    ridge__palette_write(out, false);
    ridge_buf_puts(out, "}@media screen and (prefers-color-scheme:dark){:root{");
    ridge__palette_write(out, true);
    ridge_buf_puts(out, "}}");
    ridge_buf_puts(out, page_style);
    ridge_buf_puts(out, "</style>\n");
}

void ridge_html_begin(ridge_buf *out, const char *title, const char *subtitle)
{
    ridge_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                        "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                        "content=\"width=device-width,initial-scale=1\"/>\n");
    ridge__html_element(out, "<title>", title, "</title>\n");
    write_style(out);
    ridge__html_element(out, "</head>\n<body>\n<main>\n<h1>", title, "</h1>\n");
    ridge__html_element(out, "<p class=\"sub\">", subtitle, "</p>\n");
}

void ridge_html_heading(ridge_buf *out, const char *text)
{
    ridge__html_element(out, "<h2>", text, "</h2>\n");
}

void ridge_html_paragraph(ridge_buf *out, const char *text)
{
    ridge__html_element(out, "<p>", text, "</p>\n");
}

void ridge_html_listing(ridge_buf *out, const char *text)
{
    /* scrolled by the keyboard where it is wider than the page */
    ridge__html_element(out, "<pre class=\"listing\" tabindex=\"0\">", text,
                        "</pre>\n");
}

static const char *open_cell(const ridge_table *table, size_t column, bool is_head)
{
    bool is_right = ridge_table_alignment(table, column) == RIDGE_ALIGN_RIGHT;
    if (is_head)
        return is_right ? "<th class=\"r\">" : "<th>";
    return is_right ? "<td class=\"r\">" : "<td>";
}

void ridge_html_table(ridge_buf *out, const ridge_table *table)
{
    size_t columns = ridge_table_columns(table);
    bool has_titles = false;
    for (size_t c = 0; c < columns; c++) {
        const char *title = ridge_table_title(table, c);
        has_titles = has_titles || (title && *title);
    }
    ridge_buf_puts(out, "<div class=\"wide\" tabindex=\"0\"><table>\n");
    if (has_titles) {
        ridge_buf_puts(out, "<thead><tr>");
        for (size_t c = 0; c < columns; c++) {
            const char *title = ridge_table_title(table, c);
            if (title == NULL || *title == '\0')
                ridge_buf_puts(out, "<td></td>"); /* heads nothing */
            else
                ridge__html_element(out, open_cell(table, c, true), title, "</th>");
        }
        ridge_buf_puts(out, "</tr></thead>\n");
    }
    ridge_buf_puts(out, "<tbody>\n");
    for (size_t row = 0; row < ridge_table_rows(table); row++) {
        if (!ridge_table_get(table, row, 0))
            continue; /* a rule: every row has its line here */
        ridge_buf_puts(out, "<tr>");
        for (size_t c = 0; c < columns; c++) {
            ridge__html_element(out, open_cell(table, c, false),
                                ridge_table_get(table, row, c), "</td>");
        }
        ridge_buf_puts(out, "</tr>\n");
    }
    ridge_buf_puts(out, "</tbody>\n</table></div>\n");
}

void ridge_html_chart(ridge_buf *out, const ridge_chart *chart)
{
    enum { CHART_WIDTH = 820, CHART_HEIGHT = 420 };
    ridge_buf_puts(out, "<figure>\n");
    ridge_chart_write_svg(chart, CHART_WIDTH, CHART_HEIGHT, out);
    ridge_buf_puts(out, "</figure>\n");
}

void ridge_html_end(ridge_buf *out)
{
    ridge_buf_puts(out, "<footer>ridge " RIDGE_VERSION
                        "</footer>\n</main>\n</body>\n</html>\n");
}
