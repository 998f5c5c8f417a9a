/* YAML as nodes: values as JSON would have them, complaints by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "near.h"
#include "ridge/base_yaml.h"

static int set_up(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_node parse(ridge_ctx *cx, const char *text)
{
    ridge_node root = {0};
    if (ridge_yaml_parse(cx, ridge_str_of(text), "f.yaml", &root) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return root;
}

static void scalars_are_what_json_has(void **state)
{
    const ridge_node root = parse(*state, "a: 8\nb: 1.5e3\nc: true\nd: null\n"
                                          "e: node[1-2]\nf: \"8\"\n'g\"': x\n");
    int64_t whole = 0;
    double real = 0;
    bool flag = false;
    const char *text = NULL;
    assert_true(ridge_json_i64(ridge_json_get(&root, "a"), &whole) && whole == 8);
    assert_true(ridge_json_double(ridge_json_get(&root, "b"), &real));
    assert_near(real, 1500, 0);
    assert_true(ridge_json_bool(ridge_json_get(&root, "c"), &flag) && flag);
    assert_true(ridge_json_is_absent(ridge_json_get(&root, "d")));
    assert_true(ridge_json_text(ridge_json_get(&root, "e"), &text));
    assert_string_equal(text, "node[1-2]");
    assert_true(ridge_json_text(ridge_json_get(&root, "f"), &text));
    assert_string_equal(text, "8");
    assert_true(ridge_json_text(ridge_json_get(&root, "g\""), &text));
}

static void lists_nest_in_both_styles(void **state)
{
    const ridge_node root = parse(*state, "a: [1, [2, 3], {b: 4}]\nc:\n- x\n- d: y\n");
    const ridge_node a = ridge_json_get(&root, "a"), c = ridge_json_get(&root, "c");
    const ridge_node inner = ridge_json_at(&a, 1), last = ridge_json_at(&c, 1);
    assert_int_equal(ridge_json_size(a), 3);
    assert_int_equal(ridge_json_size(inner), 2);
    assert_int_equal(ridge_json_size(c), 2);
    assert_false(ridge_json_is_absent(ridge_json_get(&last, "d")));
}

static void complaints_name_the_line(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_node root = parse(cx, "# a comment\n\na: 1\nlist:\n- 1\n\n- wrong\n");
    const ridge_node list = ridge_json_get(&root, "list");
    int64_t n;
    assert_int_equal(ridge_json_want_i64(cx, ridge_json_at(&list, 1), 0, 9, &n),
                     RIDGE_E_PARSE);
    assert_non_null(strstr(ridge_ctx_message(cx), "f.yaml:7:"));
}

static void assert_refused(ridge_ctx *cx, const char *text, const char *message)
{
    ridge_node root;
    assert_int_equal(ridge_yaml_parse(cx, ridge_str_of(text), "f", &root),
                     RIDGE_E_PARSE);
    if (strstr(ridge_ctx_message(cx), message) == NULL)
        fail_msg("'%s' lacks '%s'", ridge_ctx_message(cx), message);
    ridge_ctx_clear(cx);
}

static void what_json_lacks_is_refused(void **state)
{
    static const char deep[] = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1";
    assert_refused(*state, "a: &x 1\nb: *x\n", "f:2: no YAML: anchors");
    assert_refused(*state, "? [1]\n: 2\n", "f:1: no YAML: a key");
    assert_refused(*state, "", "nothing stands in it");
    assert_refused(*state, "# only a comment\n", "nothing stands in it");
    assert_refused(*state, "a: [1\nb: }", "f:2:");
    assert_refused(*state, deep, "nested too deeply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_what_json_has),
        cmocka_unit_test(lists_nest_in_both_styles),
        cmocka_unit_test(complaints_name_the_line),
        cmocka_unit_test(what_json_lacks_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
