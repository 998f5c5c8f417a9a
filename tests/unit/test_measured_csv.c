/* CSV as RFC 4180 has it: quotes, line ends, and what is refused. */
#include "near.h"

#include <string.h>

#include "measured_csv.h"

typedef struct reader {
    ridge_ctx *cx;
    measured_csv csv;
    measured_csv_row row;
    bool has_row;
} reader;

static reader open_text(const char *text)
{
    return (reader){.cx = ridge_ctx_open(),
                    .csv = {.path = "f.csv", .rest = ridge_str_of(text)}};
}

static ridge_status next(reader *r)
{
    return measured_csv_next(r->cx, &r->csv, &r->row, &r->has_row);
}

static void fields_lie_between_commas(void **state)
{
    (void)state;
    reader r = open_text("a,b,,d\n1,2,3,4\n");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.n, 4);
    assert_string_equal(r.row.fields[0], "a");
    assert_string_equal(r.row.fields[2], "");
    assert_string_equal(r.row.fields[3], "d");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.line, 2);
    assert_string_equal(r.row.fields[3], "4");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_false(r.has_row);
    ridge_ctx_close(r.cx);
}

static void quotes_hold_commas_quotes_and_lines(void **state)
{
    (void)state;
    reader r = open_text("\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"\"\r\nnext\r\n");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.n, 4);
    assert_string_equal(r.row.fields[0], "a,b");
    assert_string_equal(r.row.fields[1], "say \"x\"");
    assert_string_equal(r.row.fields[2], "two\nlines");
    assert_string_equal(r.row.fields[3], "");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.line, 3); /* the quoted line end counts */
    assert_string_equal(r.row.fields[0], "next");
    ridge_ctx_close(r.cx);
}

static void line_ends_may_be_of_either_kind_or_lack(void **state)
{
    (void)state;
    reader r = open_text("a,b\r\n\r\n\nc,d");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_string_equal(r.row.fields[1], "b");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.line, 4);
    assert_string_equal(r.row.fields[1], "d");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_false(r.has_row);
    ridge_ctx_close(r.cx);
}

static void a_comma_at_the_end_is_an_empty_field(void **state)
{
    (void)state;
    reader r = open_text("a,\n,");
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.n, 2);
    assert_int_equal(next(&r), RIDGE_OK);
    assert_int_equal(r.row.n, 2);
    assert_string_equal(r.row.fields[1], "");
    ridge_ctx_close(r.cx);
}

static void refused(ridge_str text, const char *message)
{
    reader r = open_text("");
    r.csv.rest = text;
    ridge_status st = RIDGE_OK;
    r.has_row = true;
    while (st == RIDGE_OK && r.has_row)
        st = next(&r);
    assert_int_equal(st, RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(r.cx), message);
    ridge_ctx_close(r.cx);
}

static void malformed_text_is_refused_with_its_line(void **state)
{
    (void)state;
    refused(ridge_str_of("ok\n\"open\n"), "f.csv:2: the quote is not closed");
    refused(ridge_str_of("\"a\"b,c"),
            "f.csv:1: text behind a closing quote: double the quotes inside");
    refused((ridge_str){"a\0b\n", 4}, "f.csv:1: a NUL byte: not a text file");
    char wide[2 * MEASURED_CSV_FIELD_MAX + 2];
    memset(wide, ',', sizeof wide);
    refused((ridge_str){wide, sizeof wide}, "f.csv:1: more than 64 fields");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_lie_between_commas),
        cmocka_unit_test(quotes_hold_commas_quotes_and_lines),
        cmocka_unit_test(line_ends_may_be_of_either_kind_or_lack),
        cmocka_unit_test(a_comma_at_the_end_is_an_empty_field),
        cmocka_unit_test(malformed_text_is_refused_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
