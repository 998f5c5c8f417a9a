/* Tables: columns line up, whatever the cells hold. */
#include "near.h"
#include "ridge/base.h"

#include <string.h>

#define LINE "\u2500"

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_table *two_columns(void **state, const char *left, const char *right)
{
    ridge_table *t = ridge_table_new(ridge_ctx_arena(*state));
    ridge_table_column(t, left, RIDGE_ALIGN_LEFT);
    ridge_table_column(t, right, RIDGE_ALIGN_RIGHT);
    return t;
}

static const char *written(void **state, const ridge_table *t, size_t indent,
                           bool with_colour)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_table_write(t, indent, with_colour, &b);
    assert_false(b.is_short);
    return ridge_buf_text(&b);
}

static void columns_are_aligned_by_characters(void **state)
{
    ridge_table *t = two_columns(state, "name", "time");
    ridge_table_cell(t, "all_gather");
    ridge_table_cellf(t, "%d \xc2\xb5s", 5);
    ridge_table_cell(t, "\xce\xb1");
    ridge_table_cell(t, "12 ms");
    assert_string_equal(written(state, t, 2, false), "  name         time\n"
                                                     "  all_gather   5 \xc2\xb5s\n"
                                                     "  \xce\xb1           12 ms\n");
}

static void no_spaces_trail_a_left_aligned_end(void **state)
{
    ridge_table *t = ridge_table_new(ridge_ctx_arena(*state));
    ridge_table_column(t, "n", RIDGE_ALIGN_RIGHT);
    ridge_table_column(t, "remark", RIDGE_ALIGN_LEFT);
    ridge_table_cell(t, "10");
    ridge_table_cell(t, "a");
    assert_string_equal(written(state, t, 0, false), " n  remark\n10  a\n");
}

static void a_rule_spans_the_table(void **state)
{
    ridge_table *t = two_columns(state, "a", "b");
    ridge_table_cell(t, "x");
    ridge_table_cell(t, "1");
    ridge_table_rule(t);
    ridge_table_cell(t, "y");
    ridge_table_cell(t, "22");
    assert_string_equal(written(state, t, 1, false),
                        " a   b\n x   1\n " LINE LINE LINE LINE LINE "\n y  22\n");
}

static void titles_may_be_left_out_or_bold(void **state)
{
    ridge_table *t = two_columns(state, "", "");
    ridge_table_cell(t, "x");
    ridge_table_cell(t, "1");
    assert_string_equal(written(state, t, 0, true), "x  1\n");
    t = two_columns(state, "a", "b");
    assert_string_equal(written(state, t, 0, true), "\033[1ma  b\033[0m\n");
}

static void missing_cells_are_blank(void **state)
{
    ridge_table *t = two_columns(state, "a", "b");
    ridge_table_cell(t, "x");
    ridge_table_rule(t); /* ends the row */
    ridge_table_cell(t, NULL);
    ridge_table_cell(t, "1");
    ridge_table_cell(t, "y");
    assert_int_equal(ridge_table_rows(t), 4);
    assert_string_equal(ridge_table_get(t, 0, 1), "");
    assert_null(ridge_table_get(t, 1, 0));
    assert_string_equal(ridge_table_get(t, 2, 0), "");
    assert_string_equal(ridge_table_get(t, 3, 0), "y");
    assert_null(ridge_table_get(t, 4, 0));
    assert_string_equal(written(state, t, 0, false),
                        "a  b\nx   \n" LINE LINE LINE LINE "\n   1\ny   \n");
}

static void what_it_holds_can_be_asked(void **state)
{
    ridge_table *t = two_columns(state, "a", "b");
    assert_int_equal(ridge_table_columns(t), 2);
    assert_int_equal(ridge_table_rows(t), 0);
    assert_string_equal(ridge_table_title(t, 1), "b");
    assert_int_equal(ridge_table_alignment(t, 0), RIDGE_ALIGN_LEFT);
    assert_int_equal(ridge_table_alignment(t, 1), RIDGE_ALIGN_RIGHT);
    assert_int_equal(ridge_table_columns(NULL), 0);
    assert_int_equal(ridge_table_rows(NULL), 0);
}

static void cells_are_copied(void **state)
{
    char name[] = "before";
    ridge_table *t = two_columns(state, name, name);
    ridge_table_cell(t, name);
    memcpy(name, "after!", 6);
    assert_string_equal(ridge_table_get(t, 0, 0), "before");
    assert_string_equal(ridge_table_title(t, 0), "before");
}

static void control_characters_do_not_reach_a_terminal(void **state)
{
    ridge_table *t = two_columns(state, "a\n", "b");
    ridge_table_cell(t, "x\033[31m\ny");
    ridge_table_cellf(t, "%s",
                      "\xc2\x9b"
                      "1\t");
    assert_string_equal(written(state, t, 0, false),
                        "a\\n                   b\nx\\x1b[31m\\ny  \\u009b1\\t\n");
}

static void no_table_holds_nothing(void **state)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_table_column(NULL, "a", RIDGE_ALIGN_LEFT);
    ridge_table_cell(NULL, "x");
    ridge_table_cellf(NULL, "%d", 1);
    ridge_table_rule(NULL);
    ridge_table_write(NULL, 0, false, &b);
    assert_true(b.is_short); /* there is none for want of memory */
    ridge_table *bare = ridge_table_new(ridge_ctx_arena(*state));
    ridge_table_cell(bare, "x");
    assert_string_equal(written(state, bare, 0, false), "");
}

static void more_columns_than_there_may_be_are_left_out(void **state)
{
    ridge_table *t = ridge_table_new(ridge_ctx_arena(*state));
    for (int i = 0; i < 40; i++)
        ridge_table_column(t, "c", RIDGE_ALIGN_LEFT);
    for (int i = 0; i < 64; i++)
        ridge_table_cellf(t, "%d", i);
    assert_int_equal(ridge_table_columns(t), 32);
    assert_int_equal(ridge_table_rows(t), 2);
    assert_string_equal(ridge_table_get(t, 1, 31), "63");
}

static void a_table_that_lost_a_cell_says_so(void **state)
{
    ridge_ctx *cx = ridge_ctx_open_budget(4000);
    ridge_table *t = ridge_table_new(ridge_ctx_arena(cx));
    ridge_table_column(t, "a", RIDGE_ALIGN_LEFT);
    for (int i = 0; i < 1000; i++)
        ridge_table_cell(t, "some text");
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_table_write(t, 0, false, &b);
    assert_true(b.is_short);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned_by_characters),
        cmocka_unit_test(no_spaces_trail_a_left_aligned_end),
        cmocka_unit_test(a_rule_spans_the_table),
        cmocka_unit_test(titles_may_be_left_out_or_bold),
        cmocka_unit_test(missing_cells_are_blank),
        cmocka_unit_test(what_it_holds_can_be_asked),
        cmocka_unit_test(cells_are_copied),
        cmocka_unit_test(control_characters_do_not_reach_a_terminal),
        cmocka_unit_test(no_table_holds_nothing),
        cmocka_unit_test(more_columns_than_there_may_be_are_left_out),
        cmocka_unit_test(a_table_that_lost_a_cell_says_so),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
