/* Suggestions for misspelt names. */
#include "near.h"
#include "ridge/base.h"

#include <string.h>

static const char *const chips[] = {"h100", "h200", "h800",   NULL,     "gb200",
                                    "v5p",  "v5e",  "mi300x", "mi325x", "a100"};

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

static const char *suggest(void **state, const char *name)
{
    return ridge_suggestion(ridge_ctx_arena(*state), name, chips,
                            RIDGE_COUNT_OF(chips));
}

static void an_edit_or_a_swap_is_near(void **state)
{
    assert_string_equal(suggest(state, "mi30x"), "did you mean mi300x or mi325x?");
    assert_string_equal(suggest(state, "gb20"), "did you mean gb200?");
    assert_string_equal(suggest(state, "v5p_"), "did you mean v5p or v5e?");
    assert_string_equal(suggest(state, "m3i00x"), "did you mean mi300x or mi325x?");
}

static void case_does_not_matter(void **state)
{
    assert_string_equal(suggest(state, "GB200"), "did you mean gb200 or h200?");
}

static void a_beginning_is_near(void **state)
{
    assert_string_equal(suggest(state, "mi"), "did you mean mi300x or mi325x?");
}

static void at_most_three_are_suggested_best_first(void **state)
{
    assert_string_equal(suggest(state, "h10"), "did you mean h100?");
    assert_string_equal(suggest(state, "x100"), "did you mean h100, a100 or h200?");
}

static void nothing_near_suggests_nothing(void **state)
{
    assert_string_equal(suggest(state, "trainium"), "");
    assert_string_equal(suggest(state, ""), "");
    char long_name[300];
    memset(long_name, 'h', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_string_equal(suggest(state, long_name), "");
}

static void names_too_long_to_compare_are_passed_over(void **state)
{
    char long_name[66];
    memset(long_name, 'h', 65);
    long_name[65] = '\0';
    const char *names[] = {long_name, long_name + 1};
    assert_string_equal(
        ridge_suggestion(ridge_ctx_arena(*state), long_name + 1, names, 2),
        ridge_sprintf(ridge_ctx_arena(*state), "did you mean %s?", long_name + 1));
}

static void the_nearest_come_first_and_no_more_than_asked(void **state)
{
    (void)state;
    const char *names[] = {"abcdef", "abcde", "abcd", "abcdex", "abxxex"};
    const char *out[5] = {NULL};
    assert_int_equal(ridge_nearest_names("abcdex", names, 5, 5, out), 5);
    assert_string_equal(out[0], "abcdex");
    assert_string_equal(out[1], "abcdef"); /* among equals the order of the list */
    assert_string_equal(out[2], "abcde");
    assert_int_equal(ridge_nearest_names("abcdex", names, 5, 1, out), 1);
    assert_string_equal(out[0], "abcdex");
    assert_int_equal(ridge_nearest_names("abcdex", names, 5, 0, out), 0);
}

static void a_wrong_name_is_answered_with_all_that_would_do(void **state)
{
    static const char *const names[] = {"ring", "gather", "all-to-all"};
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    assert_int_equal(ridge_fail_name(cx, RIDGE_E_ARG, "exchange", "gathre", names, 3),
                     RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "unknown exchange 'gathre': use ring, gather or all-to-all; "
                        "did you mean gather?");
    assert_int_equal(ridge_fail_name(cx, RIDGE_E_NOTFOUND, "exchange", "", names, 1),
                     RIDGE_E_NOTFOUND);
    assert_string_equal(ridge_ctx_message(cx), "unknown exchange '': use ring");
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edit_or_a_swap_is_near),
        cmocka_unit_test(case_does_not_matter),
        cmocka_unit_test(a_beginning_is_near),
        cmocka_unit_test(at_most_three_are_suggested_best_first),
        cmocka_unit_test(nothing_near_suggests_nothing),
        cmocka_unit_test(names_too_long_to_compare_are_passed_over),
        cmocka_unit_test(the_nearest_come_first_and_no_more_than_asked),
        cmocka_unit_test(a_wrong_name_is_answered_with_all_that_would_do),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
