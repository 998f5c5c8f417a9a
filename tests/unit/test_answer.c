/* The program as a function: the same answers in memory, and nothing printed. */
#include "ridge/cli_answer.h"

#include "near.h"

#include <string.h>

static ridge_answer answer_of(ridge_ctx *cx, int argc, const char *const *argv)
{
    ridge_answer a = {.code = -1};
    assert_int_equal(ridge_answer_line(cx, argc, argv, &a), RIDGE_OK);
    assert_non_null(a.out.p);
    assert_non_null(a.err.p);
    assert_int_equal(strlen(a.out.p), a.out.n);
    assert_int_equal(strlen(a.err.p), a.err.n);
    return a;
}

static void an_object_comes_back(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const char *const words[] = {"model", "llama-3-8b", "--json"};
    const ridge_answer a = answer_of(cx, 3, words);
    ridge_node root;
    const char *verb = NULL;
    assert_int_equal(a.code, 0);
    assert_int_equal(a.err.n, 0);
    assert_int_equal(ridge_json_parse(cx, a.out, "answer", &root), RIDGE_OK);
    assert_true(ridge_json_text(ridge_json_get(&root, "verb"), &verb));
    assert_string_equal(verb, "model");
    ridge_ctx_close(cx);
}

static void complaints_are_answers(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const char *const misspelt[] = {"modle"};
    ridge_answer a = answer_of(cx, 1, misspelt);
    assert_int_equal(a.code, 2);
    assert_int_equal(a.out.n, 0);
    assert_non_null(strstr(a.err.p, "model"));
    const char *const absent[] = {"model", "no-such-model"};
    a = answer_of(cx, 2, absent);
    assert_int_equal(a.code, 2);
    a = answer_of(cx, 0, absent);
    assert_int_equal(a.code, 2);
    ridge_ctx_close(cx);
}

static void verbs_that_print_while_they_work_are_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const char *const words[] = {"calibrate"};
    const ridge_answer a = answer_of(cx, 1, words);
    assert_int_equal(a.code, 2);
    assert_non_null(strstr(a.err.p, "call the program"));
    ridge_ctx_close(cx);
}

static void answers_are_the_same_each_time(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const char *const words[] = {"collective", "all-reduce", "64MiB", "--on",
                                 "h100:1x8"};
    const ridge_answer a = answer_of(cx, 5, words);
    const ridge_answer b = answer_of(cx, 5, words);
    assert_int_equal(a.code, 0);
    assert_string_equal(a.out.p, b.out.p);
    assert_null(strchr(a.out.p, '\033')); /* no colour */
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_comes_back),
        cmocka_unit_test(complaints_are_answers),
        cmocka_unit_test(verbs_that_print_while_they_work_are_refused),
        cmocka_unit_test(answers_are_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
