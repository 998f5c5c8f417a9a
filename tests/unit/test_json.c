/* Reading JSON: what is taken, and what is refused. */
#include "near.h"
#include "ridge/base.h"

#include <math.h>
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

static ridge_node parse(void **state, const char *text)
{
    ridge_node root = {0};
    ridge_status st = ridge_json_parse(*state, ridge_str_of(text), "f.json", &root);
    if (st != RIDGE_OK)
        fail_msg("%s: %s", text, ridge_ctx_message(*state));
    return root;
}

static void assert_refused(void **state, ridge_str text, const char *message)
{
    ridge_node root = {0};
    assert_int_equal(ridge_json_parse(*state, text, "f.json", &root), RIDGE_E_PARSE);
    if (strstr(ridge_ctx_message(*state), message) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", ridge_ctx_message(*state), message);
    assert_null(root.value);
}

static void each_kind_is_told(void **state)
{
    ridge_node root = parse(state, "[null, true, false, 1, -2.5e3, \"x\", [], {}]");
    const ridge_json_kind want[] = {
        RIDGE_JSON_NULL,   RIDGE_JSON_BOOL,   RIDGE_JSON_BOOL,  RIDGE_JSON_NUMBER,
        RIDGE_JSON_NUMBER, RIDGE_JSON_STRING, RIDGE_JSON_ARRAY, RIDGE_JSON_OBJECT};
    assert_int_equal(ridge_json_size(root), RIDGE_COUNT_OF(want));
    for (size_t i = 0; i < RIDGE_COUNT_OF(want); i++)
        assert_int_equal(ridge_json_kind_of(ridge_json_at(&root, i)), want[i]);
    assert_int_equal(ridge_json_kind_of(root), RIDGE_JSON_ARRAY);
}

static void a_document_may_be_one_scalar(void **state)
{
    double v = 0;
    assert_true(ridge_json_double(parse(state, " 42 \n"), &v));
    assert_near(v, 42, 0);
    assert_true(ridge_json_is_absent(parse(state, "null")));
}

static void what_is_not_there_is_absent(void **state)
{
    ridge_node root = parse(state, "{\"a\": null, \"b\": [1]}");
    ridge_node list = ridge_json_get(&root, "b");
    ridge_node none = ridge_json_get(&root, "c");
    assert_true(ridge_json_is_absent(none));
    assert_true(ridge_json_is_absent(ridge_json_get(&root, "a")));
    assert_true(ridge_json_is_absent(ridge_json_at(&list, 1)));
    assert_true(ridge_json_is_absent(ridge_json_get(&list, "a")));
    assert_true(ridge_json_is_absent(ridge_json_at(&root, 0)));
    assert_true(ridge_json_is_absent(ridge_json_get(&none, "deeper")));
    assert_true(ridge_json_is_absent(ridge_json_member(&root, 2)));
    assert_true(ridge_json_is_absent(ridge_json_member(&list, 0)));
    assert_null(ridge_json_member(&none, 0).key);
    assert_int_equal(ridge_json_size(none), 0);
    assert_int_equal(ridge_json_size(ridge_json_at(&list, 0)), 0);
}

static void values_of_another_kind_leave_the_output(void **state)
{
    ridge_node text = parse(state, "\"1\"");
    ridge_node number = parse(state, "1");
    double d = 9;
    int64_t i = 9;
    bool b = true;
    const char *z = "kept";
    assert_false(ridge_json_double(text, &d));
    assert_false(ridge_json_i64(text, &i));
    assert_false(ridge_json_bool(number, &b));
    assert_false(ridge_json_text(number, &z));
    assert_near(d, 9, 0);
    assert_int_equal(i, 9);
    assert_true(b);
    assert_string_equal(z, "kept");
    assert_false(ridge_json_double(ridge_json_at(&number, 0), &d));
}

static void integral_reals_are_whole_numbers(void **state)
{
    ridge_node root = parse(state, "[9223372036854775807, -9223372036854775808, 4.0, "
                                   "1e15, 4.5, 1e300, 9007199254740992.0, 1e17]");
    const bool is_whole[] = {true, true, true, true, false, false, true, false};
    for (size_t i = 0; i < RIDGE_COUNT_OF(is_whole); i++) {
        int64_t v = 0;
        assert_int_equal(ridge_json_i64(ridge_json_at(&root, i), &v), is_whole[i]);
    }
    int64_t v = 0;
    assert_true(ridge_json_i64(ridge_json_at(&root, 0), &v));
    assert_int_equal(v, INT64_MAX);
    assert_true(ridge_json_i64(ridge_json_at(&root, 3), &v));
    assert_int_equal(v, INT64_C(1000000000000000));
}

static void integers_beyond_64_bits_are_reals(void **state)
{
    ridge_node root = parse(
        state, "{\"model_max_length\": 1000000000000000019884624838656, \"n\": 7, "
               "\"most\": 9223372036854775807, \"s\": \"99999999999999999999\", "
               "\"x\": 99999999999999999999e-10, \"y\": -99999999999999999999}");
    double v = 0;
    int64_t n = 0;
    assert_true(ridge_json_double(ridge_json_get(&root, "model_max_length"), &v));
    assert_near(v, 1e30, 1e-15);
    assert_false(ridge_json_i64(ridge_json_get(&root, "model_max_length"), &n));
    assert_true(ridge_json_i64(ridge_json_get(&root, "n"), &n));
    assert_int_equal(n, 7);
    assert_true(ridge_json_i64(ridge_json_get(&root, "most"), &n));
    assert_int_equal(n, INT64_MAX); /* the others stay as they are */
    const char *z = NULL;
    assert_true(ridge_json_text(ridge_json_get(&root, "s"), &z));
    assert_string_equal(z, "99999999999999999999");
    assert_true(ridge_json_double(ridge_json_get(&root, "x"), &v));
    assert_near(v, 1e10, 1e-15);
    assert_true(ridge_json_double(ridge_json_get(&root, "y"), &v));
    assert_near(v, -1e20, 1e-15);
}

static void bare_words_of_python_are_null(void **state)
{
    ridge_node root = parse(state, "[NaN,Infinity, -Infinity,{\"a\":NaN},-1]");
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(ridge_json_at(&root, i).value);
        assert_true(ridge_json_is_absent(ridge_json_at(&root, i)));
    }
    int64_t v = 0;
    assert_true(ridge_json_i64(ridge_json_at(&root, 4), &v));
    assert_int_equal(v, -1);
    assert_refused(state, ridge_str_of("[NaNa]"), "not valid JSON");
    assert_refused(state, ridge_str_of("[-NaN]"), "not valid JSON");
    assert_refused(state, ridge_str_of("[Infinit]"), "not valid JSON");
}

static void bare_words_in_strings_are_text(void **state)
{
    ridge_node root = parse(state, "[\"NaN\", \"a\\\"-Infinity\", \"\\\\\", NaN, "
                                   "{\"Infinity\": \"NaN\"}]");
    const char *z = NULL;
    assert_true(ridge_json_text(ridge_json_at(&root, 0), &z));
    assert_string_equal(z, "NaN");
    assert_true(ridge_json_text(ridge_json_at(&root, 1), &z));
    assert_string_equal(z, "a\"-Infinity");
    assert_true(ridge_json_is_absent(ridge_json_at(&root, 3)));
    ridge_node object = ridge_json_at(&root, 4);
    assert_true(ridge_json_text(ridge_json_get(&object, "Infinity"), &z));
    assert_string_equal(z, "NaN");
}

static void the_last_of_equal_keys_counts(void **state)
{
    ridge_node root = parse(state, "{\"a\": 1, \"b\": 2,\n\"a\": \"x\"}");
    assert_int_equal(ridge_json_size(root), 2);
    int64_t v = 0;
    assert_int_equal(ridge_json_want_i64(*state, ridge_json_get(&root, "a"), 0, 9, &v),
                     RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(*state),
                        "f.json:2: a: expected a whole number, found a text");
}

static void members_come_in_file_order(void **state)
{
    static const char *const keys[] = {"z", "a", "m", "b"};
    ridge_node root = parse(state, "{\"z\": 0, \"a\": 1, \"m\": 2, \"b\": 3}");
    ridge_node walked = ridge_json_member(&root, 0);
    for (size_t i = 0; i < RIDGE_COUNT_OF(keys); i++) {
        int64_t v = -1;
        assert_string_equal(ridge_json_member(&root, i).key, keys[i]);
        assert_string_equal(walked.key, keys[i]);
        assert_true(ridge_json_i64(walked, &v));
        assert_int_equal(v, i);
        walked = ridge_json_member_after(&root, walked);
    }
    assert_null(walked.key);
    assert_null(ridge_json_member_after(&root, walked).key);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    ridge_node root = parse(state, "\xef\xbb\xbf{\n\"a\": \"x\"}");
    assert_int_equal(ridge_json_fail(*state, ridge_json_get(&root, "a"), "no"),
                     RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(*state), "f.json:2: a: no");
    assert_refused(state, ridge_str_of("\xef\xbb\xbf"), "empty");
    assert_refused(state, ridge_str_of("\xef\xbb"), "not valid JSON");
}

static const struct {
    const char *text;
    const char *message;
} malformed[] = {
    {"", "f.json: empty: expected a JSON document"},
    {" \n\t", "f.json: empty"},
    {"{\"a\": 1,\n \"b\" 2}", "f.json:2:"},
    {"{\"a\": 1", "the file ends too early"},
    {"[1, 2", "the file ends too early"},
    {"{} {}", "not valid JSON"},
    {"{} x", "not valid JSON"},
    {"[1,]", "not valid JSON"},
    {"{\"a\": 1,}", "not valid JSON"},
    {"{'a': 1}", "not valid JSON"},
    {"[01]", "not valid JSON"},
    {"[+1]", "not valid JSON"},
    {"[.5]", "not valid JSON"},
    {"[1.]", "not valid JSON"},
    {"[0x10]", "not valid JSON"},
    {"[1e400]", "not valid JSON"},
    {"[tru]", "not valid JSON"},
    {"[\"a\nb\"]", "not valid JSON"},
    {"[\"\\x\"]", "not valid JSON"},
    {"[\"\\ud800\"]", "not valid JSON"},
    {"[\"\xff\"]", "not valid JSON"},
    {"[\"\xc0\xaf\"]", "not valid JSON"},
    {"[\"\xed\xa0\x80\"]", "not valid JSON"},
    {"[\"\\u0000\"]", "the character \\u0000: leave it out"},
    {"{\"\\u0000\": 1}", "the character \\u0000: leave it out"},
    {"[99999999999999999999, 1e400]", "not valid JSON"},
    {"[099999999999999999999]", "not valid JSON"},
    {"[99999999999999999999x]", "not valid JSON"},
    {"[\"a\\", "not valid JSON"},
    {"[99999999999999999999, \"a\\", "not valid JSON"},
    {"// no comments\n1", "not valid JSON"},
    {"]", "not valid JSON"},
    {"\"", "f.json:1:"},
    {"\\", "not valid JSON"},
};

static void malformed_text_is_refused_with_its_place(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(malformed); i++)
        assert_refused(state, ridge_str_of(malformed[i].text), malformed[i].message);
    assert_refused(state, (ridge_str){"[1]\0", 4}, "not valid JSON");
    assert_refused(state, (ridge_str){"[\"a\0b\"]", 7}, "not valid JSON");
    assert_refused(state, (ridge_str){NULL, 0}, "empty");
}

static void the_text_ends_where_its_view_ends(void **state)
{
    ridge_node root;
    assert_int_equal(ridge_json_parse(*state, (ridge_str){"[1]garbage", 3}, "f", &root),
                     RIDGE_OK);
    assert_int_equal(ridge_json_size(root), 1);
}

static void depth_is_bounded(void **state)
{
    enum { DEPTH = 100000 };
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_buf_pad(&b, '[', DEPTH);
    assert_refused(state, (ridge_str){b.p, b.n}, "nested too deeply");
    ridge_buf_pad(&b, ']', DEPTH);
    assert_refused(state, (ridge_str){b.p, b.n}, "nested too deeply");
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    for (int i = 0; i < DEPTH; i++)
        ridge_buf_puts(&b, "{\"a\":");
    assert_refused(state, (ridge_str){b.p, b.n}, "nested too deeply");
}

static void what_a_document_takes_is_charged_to_the_budget(void **state)
{
    enum { BRACKETS = 20000, BUDGET_BYTES = 1 << 20 };
    ridge_buf b;
    ridge_node root = {0};
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_buf_puts(&b, "[0");
    for (int i = 0; i < BRACKETS; i++)
        ridge_buf_puts(&b, ",[]");
    ridge_ctx *cx = ridge_ctx_open_budget(BUDGET_BYTES);
    /* A text that is refused gives back what it was charged. */
    for (int i = 0; i < 10; i++) {
        assert_int_equal(ridge_json_parse(cx, (ridge_str){b.p, 4000}, "f", &root),
                         RIDGE_E_PARSE);
    }
    ridge_buf_puts(&b, "]");
    assert_int_equal(ridge_json_parse(cx, (ridge_str){b.p, b.n}, "f", &root),
                     RIDGE_E_NOMEM);
    assert_non_null(strstr(ridge_ctx_message(cx), "memory budget of 1048576 bytes"));
    assert_int_equal(ridge_json_parse(cx, ridge_str_of("[1]"), "f", &root), RIDGE_OK);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_told),
        cmocka_unit_test(a_document_may_be_one_scalar),
        cmocka_unit_test(what_is_not_there_is_absent),
        cmocka_unit_test(values_of_another_kind_leave_the_output),
        cmocka_unit_test(integral_reals_are_whole_numbers),
        cmocka_unit_test(integers_beyond_64_bits_are_reals),
        cmocka_unit_test(bare_words_of_python_are_null),
        cmocka_unit_test(bare_words_in_strings_are_text),
        cmocka_unit_test(the_last_of_equal_keys_counts),
        cmocka_unit_test(members_come_in_file_order),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(malformed_text_is_refused_with_its_place),
        cmocka_unit_test(the_text_ends_where_its_view_ends),
        cmocka_unit_test(what_a_document_takes_is_charged_to_the_budget),
        cmocka_unit_test(depth_is_bounded),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
