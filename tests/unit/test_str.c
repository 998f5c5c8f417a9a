/* Views of text, copies, and text that grows. */
#include "near.h"
#include "ridge/base.h"

#include <string.h>

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

static void views_compare_by_content(void **state)
{
    (void)state;
    assert_true(ridge_str_equal(ridge_str_of("ab"), (ridge_str){"abc", 2}));
    assert_false(ridge_str_equal(ridge_str_of("ab"), ridge_str_of("aB")));
    assert_true(ridge_str_equal((ridge_str){NULL, 0}, ridge_str_of("")));
    assert_true(ridge_str_is((ridge_str){"v5p:8", 3}, "v5p"));
    assert_false(ridge_str_is((ridge_str){"v5p", 2}, "v5p"));
    assert_int_equal(ridge_str_of(NULL).n, 0);
}

static void trimming_takes_white_space_of_both_ends(void **state)
{
    (void)state;
    assert_true(ridge_str_is(ridge_str_trim(ridge_str_of(" \t\r\na b\n ")), "a b"));
    assert_int_equal(ridge_str_trim(ridge_str_of(" \n")).n, 0);
    assert_int_equal(ridge_str_trim((ridge_str){NULL, 0}).n, 0);
}

static void a_cut_leaves_what_follows(void **state)
{
    (void)state;
    ridge_str rest = ridge_str_of("a,,b,");
    assert_true(ridge_str_is(ridge_str_cut(&rest, ','), "a"));
    assert_true(ridge_str_is(ridge_str_cut(&rest, ','), ""));
    assert_true(ridge_str_is(ridge_str_cut(&rest, ','), "b"));
    /* A separator at the end is followed by an empty part, not by nothing. */
    assert_non_null(rest.p);
    assert_true(ridge_str_is(ridge_str_cut(&rest, ','), ""));
    assert_null(rest.p);
    assert_int_equal(ridge_str_cut(&rest, ',').n, 0);
    assert_null(rest.p);
}

static void copies_end_in_nul_and_stand_alone(void **state)
{
    char text[] = "v5p:8x8";
    const char *copy = ridge_str_dup(ridge_ctx_arena(*state), (ridge_str){text, 3});
    text[0] = 'x';
    assert_string_equal(copy, "v5p");
    assert_string_equal(ridge_str_dup(ridge_ctx_arena(*state), (ridge_str){NULL, 0}),
                        "");
}

static void formatted_text_has_any_length(void **state)
{
    for (int width = 0; width < 5000; width += 613) {
        const char *z = ridge_sprintf(ridge_ctx_arena(*state), "<%*s>", width, "");
        assert_int_equal(strlen(z), (size_t)width + 2);
        assert_int_equal(z[width + 1], '>');
    }
}

static void a_buffer_grows_by_every_way_of_appending(void **state)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    assert_string_equal(ridge_buf_text(&b), "");
    ridge_buf_puts(&b, "");
    ridge_buf_pad(&b, 'x', 0);
    assert_string_equal(ridge_buf_text(&b), "");
    ridge_buf_add(&b, (ridge_str){"abc", 2});
    ridge_buf_puts(&b, "cd");
    ridge_buf_pad(&b, '.', 3);
    ridge_buf_printf(&b, "%d", 42);
    assert_string_equal(ridge_buf_text(&b), "abcd...42");
    assert_int_equal(b.n, 9);
    assert_false(b.is_short);
}

static void a_buffer_keeps_its_text_while_growing(void **state)
{
    enum { LINES = 5000 };
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    for (int i = 0; i < LINES; i++)
        ridge_buf_printf(&b, "%05d", i);
    assert_int_equal(b.n, 5 * LINES);
    for (size_t i = 0; i < LINES; i++) {
        int64_t v = -1;
        assert_true(ridge_parse_i64((ridge_str){b.p + 5 * i, 5}, &v));
        assert_int_equal(v, i);
    }
}

static void a_buffer_may_append_its_own_text(void **state)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_buf_pad(&b, 'a', 200);
    ridge_buf_add(&b, (ridge_str){b.p, b.n});
    assert_int_equal(b.n, 400);
    assert_int_equal(strspn(b.p, "a"), 400);
}

static void a_short_buffer_says_so_and_stays_whole(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open_budget(1000);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, "kept");
    ridge_buf_pad(&b, 'x', 5000);
    assert_true(b.is_short);
    ridge_buf_puts(&b, "not appended");
    assert_string_equal(ridge_buf_text(&b), "kept");
    ridge_buf huge;
    ridge_buf_init(&huge, ridge_ctx_arena(cx));
    ridge_buf_pad(&huge, 'x', SIZE_MAX - 1);
    assert_true(huge.is_short);
    assert_string_equal(ridge_buf_text(&huge), "");
    ridge_ctx_close(cx);
}

/* What a terminal obeys, what hides or turns text, and what is no UTF-8 (a lone
 * continuation, cut off, longer than need be, a surrogate, beyond the last code). */
static void foreign_text_is_spelt_where_a_terminal_would_obey(void **state)
{
    static const struct {
        const char *text, *spelt;
    } rows[] = {
        {"", ""},
        {"plain \\ \xc2\xb5s \xf0\x9d\x91\x93", "plain \\ \xc2\xb5s \xf0\x9d\x91\x93"},
        {"\n\r\t\x01\x7f", "\\n\\r\\t\\x01\\x7f"},
        {"\xc2\x9bm", "\\u009bm"},
        {"gpj.\xe2\x80\xaeh", "gpj.\\u202eh"},
        {"\xef\xbb\xbf{", "\\ufeff{"},
        {"\x9b \xff", "\\x9b \\xff"},
        {"\xe2\x80", "\\xe2\\x80"},
        {"\xc0\x8a", "\\xc0\\x8a"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_buf b, again;
        ridge_buf_init(&b, ridge_ctx_arena(*state));
        ridge_buf_init(&again, ridge_ctx_arena(*state));
        ridge_buf_printable(&b, rows[i].text);
        assert_string_equal(ridge_buf_text(&b), rows[i].spelt);
        ridge_buf_printable(&again, rows[i].spelt);
        assert_string_equal(ridge_buf_text(&again), rows[i].spelt);
    }
}

static void width_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(ridge_text_width(""), 0);
    assert_int_equal(ridge_text_width("abc"), 3);
    assert_int_equal(ridge_text_width("\xc2\xb5s"), 2);
    assert_int_equal(ridge_text_width("\xe2\x94\x80\xe2\x94\x80"), 2);
    assert_int_equal(ridge_text_width("\xf0\x9d\x91\x93"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_compare_by_content),
        cmocka_unit_test(trimming_takes_white_space_of_both_ends),
        cmocka_unit_test(a_cut_leaves_what_follows),
        cmocka_unit_test(copies_end_in_nul_and_stand_alone),
        cmocka_unit_test(formatted_text_has_any_length),
        cmocka_unit_test(a_buffer_grows_by_every_way_of_appending),
        cmocka_unit_test(a_buffer_keeps_its_text_while_growing),
        cmocka_unit_test(a_buffer_may_append_its_own_text),
        cmocka_unit_test(a_short_buffer_says_so_and_stays_whole),
        cmocka_unit_test(foreign_text_is_spelt_where_a_terminal_would_obey),
        cmocka_unit_test(width_counts_characters),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
