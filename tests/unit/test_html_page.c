/* Pages: escaping, tables, bars. */
#include <math.h>
#include <string.h>

#include "near.h"
#include "ridge/report.h"

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static const char *escaped(void **state, const char *text)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    ridge_html_text(&out, text);
    return ridge_buf_text(&out);
}

static void markup_is_escaped(void **state)
{
    assert_string_equal(escaped(state, "a<b> & \"c\""),
                        "a&lt;b&gt; &amp; &quot;c&quot;");
    assert_string_equal(escaped(state, NULL), "");
    assert_string_equal(escaped(state, "µs – ✓ 😀"), "µs – ✓ 😀");
}

static void what_xml_forbids_is_replaced(void **state)
{
    assert_string_equal(escaped(state, "\x01"
                                       "a"),
                        "\xEF\xBF\xBD"
                        "a");
    assert_string_equal(escaped(state, "\xFF"), "\xEF\xBF\xBD");
    assert_string_equal(escaped(state, "\xC3"), "\xEF\xBF\xBD"); /* cut short */
    assert_string_equal(escaped(state, "\xC0\x80"),
                        "\xEF\xBF\xBD\xEF\xBF\xBD"); /* overlong */
    assert_string_equal(escaped(state, "\xED\xA0\x80"),
                        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"); /* surrogate */
}

static void tables_keep_their_alignment(void **state)
{
    ridge_ctx *cx = *state;
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    ridge_table_column(t, "name", RIDGE_ALIGN_LEFT);
    ridge_table_column(t, "bytes", RIDGE_ALIGN_RIGHT);
    ridge_table_cell(t, "<w>");
    ridge_table_cell(t, "12");
    ridge_table_rule(t);
    ridge_table_cell(t, "sum");
    ridge_table_cell(t, "12");
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(cx));
    ridge_html_table(&out, t);
    assert_non_null(strstr(ridge_buf_text(&out), "<th>name</th><th class=\"r\">bytes"));
    assert_non_null(
        strstr(ridge_buf_text(&out),
               "<tr><td>&lt;w&gt;</td><td class=\"r\">12</td></tr>\n<tr><td>sum"));
}

static void bars_share_one_scale(void **state)
{
    const char *const rows[] = {"a", "b"};
    const char *const names[] = {"compute", "network"};
    const double values[] = {1, 3, 1, 1};
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    ridge_html_bars(&out, rows, 2, names, 2, values, "s");
    const char *html = ridge_buf_text(&out);
    assert_non_null(strstr(html, "width:25.000%;background:var(--s0)"));
    assert_non_null(strstr(html, "width:75.000%;background:var(--s1)"));
    assert_non_null(strstr(html, "title=\"network: 3 s\""));
    assert_non_null(strstr(html, ">4 s</span>"));
}

static void bars_leave_out_what_has_no_length(void **state)
{
    const char *const rows[] = {"a"};
    const char *const names[] = {"x", "y", "z"};
    const double values[] = {(double)NAN, -1, (double)INFINITY};
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    ridge_html_bars(&out, rows, 1, names, 3, values, "B");
    assert_null(strstr(ridge_buf_text(&out), "width:"));
}

static void pages_fetch_nothing(void **state)
{
    ridge_buf out;
    ridge_buf_init(&out, ridge_ctx_arena(*state));
    ridge_html_begin(&out, "T", "S");
    ridge_html_heading(&out, "H");
    ridge_html_paragraph(&out, "P");
    ridge_html_end(&out);
    const char *html = ridge_buf_text(&out);
    assert_memory_equal(html, "<!DOCTYPE html>", 15);
    assert_null(strstr(html, "http"));
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "url("));
    assert_non_null(strstr(html, "prefers-color-scheme:dark"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped),
        cmocka_unit_test(what_xml_forbids_is_replaced),
        cmocka_unit_test(tables_keep_their_alignment),
        cmocka_unit_test(bars_share_one_scale),
        cmocka_unit_test(bars_leave_out_what_has_no_length),
        cmocka_unit_test(pages_fetch_nothing),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
