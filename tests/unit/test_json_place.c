/* Where a complaint about JSON points, and what it says. */
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

/* A hundred levels, each on a line of its own: the place of the deepest that is told.
 */
static void deep_places_are_told_by_an_ancestor(void **state)
{
    enum { DEPTH = 100 };
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    for (int i = 0; i < DEPTH; i++)
        ridge_buf_puts(&b, "[\n");
    ridge_buf_pad(&b, ']', DEPTH);
    ridge_node nodes[DEPTH];
    assert_int_equal(ridge_json_parse(*state, (ridge_str){b.p, b.n}, "f", &nodes[0]),
                     RIDGE_OK);
    for (int i = 1; i < DEPTH; i++)
        nodes[i] = ridge_json_at(&nodes[i - 1], 0);
    assert_int_equal(ridge_json_fail(*state, nodes[40], "here"), RIDGE_E_PARSE);
    assert_non_null(strstr(ridge_ctx_message(*state), "f:41: "));
    assert_int_equal(ridge_json_fail(*state, nodes[DEPTH - 1], "here"), RIDGE_E_PARSE);
    assert_non_null(strstr(ridge_ctx_message(*state), "f:64: "));
    assert_non_null(strstr(ridge_ctx_message(*state), "here"));
}

static const char nested[] = "{\n"
                             "  \"layers\": [\n"
                             "    {\"name\": \"}],\\\"\", \"dim\": 1},\n"
                             "    {\n"
                             "      \"name\": \"mlp\",\n"
                             "      \"dims\": [1, [2, NaN], \"three\",\n"
                             "               4]\n"
                             "    }\n"
                             "  ],\n"
                             "  \"last\": {}\n"
                             "}\n";

static void complaints_name_line_and_path(void **state)
{
    ridge_node root = parse(state, nested);
    ridge_node layers = ridge_json_get(&root, "layers");
    ridge_node first = ridge_json_at(&layers, 0);
    ridge_node second = ridge_json_at(&layers, 1);
    ridge_node dims = ridge_json_get(&second, "dims");
    ridge_node pair = ridge_json_at(&dims, 1);
    ridge_node last = ridge_json_get(&root, "last");
    const struct {
        ridge_node node;
        const char *message;
    } rows[] = {
        {root, "f.json:1: no"},
        {layers, "f.json:2: layers: no"},
        {first, "f.json:3: layers[0]: no"},
        {ridge_json_get(&first, "dim"), "f.json:3: layers[0].dim: no"},
        {second, "f.json:4: layers[1]: no"},
        {ridge_json_get(&second, "name"), "f.json:5: layers[1].name: no"},
        {ridge_json_at(&pair, 1), "f.json:6: layers[1].dims[1][1]: no"},
        {ridge_json_at(&dims, 3), "f.json:7: layers[1].dims[3]: no"},
        {last, "f.json:10: last: no"},
        /* What is missing is told at the place of what should hold it. */
        {ridge_json_get(&last, "depth"), "f.json:10: last.depth: no"},
        {ridge_json_get(&second, "absent"), "f.json:4: layers[1].absent: no"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        assert_int_equal(ridge_json_fail(*state, rows[i].node, "%s", "no"),
                         RIDGE_E_PARSE);
        assert_string_equal(ridge_ctx_message(*state), rows[i].message);
    }
}

static void hostile_keys_do_not_break_the_message(void **state)
{
    ridge_node root = parse(state, "{\"a\\n\\u001b[31m%s%n\": 1}");
    ridge_node member = ridge_json_member(&root, 0);
    assert_int_equal(ridge_json_fail(*state, member, "no"), RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(*state), "f.json:1: a\\n\\x1b[31m%s%n: no");
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(*state));
    ridge_buf_puts(&b, "{\"");
    ridge_buf_pad(&b, 'k', 100000);
    ridge_buf_puts(&b, "\": 1}");
    ridge_node long_key;
    assert_int_equal(ridge_json_parse(*state, (ridge_str){b.p, b.n}, "f", &long_key),
                     RIDGE_OK);
    assert_int_equal(ridge_json_only(*state, long_key, NULL, 0), RIDGE_E_PARSE);
    assert_non_null(strstr(ridge_ctx_message(*state), "unknown key"));
}

static void unknown_keys_are_told_with_the_nearest(void **state)
{
    static const char *const known[] = {"hidden_size", "vocab_size", "head_dim"};
    const size_t n = RIDGE_COUNT_OF(known);
    ridge_node root = parse(state, "{\"hidden_size\": 1,\n\"vocab_sise\": 2}");
    assert_int_equal(ridge_json_only(*state, root, known, n), RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(*state),
                        "f.json:2: vocab_sise: unknown key: did you mean vocab_size?");
    root = parse(state, "{\"zzz\": 1}");
    assert_int_equal(ridge_json_only(*state, root, known, n), RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(*state), "f.json:1: zzz: unknown key");
    assert_int_equal(
        ridge_json_only(*state, parse(state, "{\"head_dim\": 1}"), known, n), RIDGE_OK);
    assert_int_equal(ridge_json_only(*state, parse(state, "{}"), known, n), RIDGE_OK);
    assert_int_equal(ridge_json_only(*state, parse(state, "[]"), known, n),
                     RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(*state),
                        "f.json:1: expected an object, found a list");
}

static const char wanted[] = "{\"n\": 8, \"x\": 0.5, \"z\": \"s\", \"w\": null}";

static void assert_complaint(ridge_ctx *cx, ridge_status st, const char *message)
{
    assert_int_equal(st, RIDGE_E_PARSE);
    assert_string_equal(ridge_ctx_message(cx), message);
}

static void values_within_range_are_given(void **state)
{
    ridge_ctx *cx = *state;
    ridge_node root = parse(state, wanted);
    ridge_node n = ridge_json_get(&root, "n");
    ridge_node x = ridge_json_get(&root, "x");
    ridge_node z = ridge_json_get(&root, "z");
    int64_t i = 0;
    double d = 0;
    const char *text = NULL;
    assert_int_equal(ridge_json_want_i64(cx, n, 8, 8, &i), RIDGE_OK);
    assert_int_equal(i, 8);
    assert_int_equal(ridge_json_want_double(cx, x, 0.5, 0.5, &d), RIDGE_OK);
    assert_near(d, 0.5, 0);
    assert_int_equal(ridge_json_want_text(cx, z, &text), RIDGE_OK);
    assert_string_equal(text, "s");
}

static void unwanted_values_leave_the_output(void **state)
{
    ridge_ctx *cx = *state;
    ridge_node root = parse(state, wanted);
    ridge_node n = ridge_json_get(&root, "n");
    ridge_node x = ridge_json_get(&root, "x");
    ridge_node z = ridge_json_get(&root, "z");
    ridge_node w = ridge_json_get(&root, "w");
    ridge_node none = ridge_json_get(&root, "none");
    int64_t i = 8;
    double d = 0.5;
    const char *text = "s";
    assert_complaint(cx, ridge_json_want_i64(cx, n, 9, 10, &i),
                     "f.json:1: n: 8 is outside 9 to 10");
    assert_complaint(cx, ridge_json_want_i64(cx, n, 9, INT64_MAX, &i),
                     "f.json:1: n: 8 is less than 9");
    assert_complaint(cx, ridge_json_want_i64(cx, x, 0, 9, &i),
                     "f.json:1: x: 0.5 is no whole number within range");
    assert_complaint(cx, ridge_json_want_i64(cx, z, 0, 9, &i),
                     "f.json:1: z: expected a whole number, found a text");
    assert_complaint(cx, ridge_json_want_i64(cx, none, 0, 9, &i),
                     "f.json:1: none: missing: expected a whole number");
    assert_complaint(cx, ridge_json_want_double(cx, x, 1, 2, &d),
                     "f.json:1: x: 0.5 is outside 1 to 2");
    assert_complaint(cx, ridge_json_want_double(cx, x, 1, (double)INFINITY, &d),
                     "f.json:1: x: 0.5 is less than 1");
    assert_complaint(cx, ridge_json_want_double(cx, w, 1, 2, &d),
                     "f.json:1: w: expected a number, found null");
    assert_complaint(cx, ridge_json_want_text(cx, n, &text),
                     "f.json:1: n: expected a text, found a number");
    assert_complaint(cx, ridge_json_want_text(cx, none, &text),
                     "f.json:1: none: missing: expected a text");
    assert_int_equal(i, 8);
    assert_near(d, 0.5, 0);
    assert_string_equal(text, "s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_places_are_told_by_an_ancestor),
        cmocka_unit_test(complaints_name_line_and_path),
        cmocka_unit_test(hostile_keys_do_not_break_the_message),
        cmocka_unit_test(unknown_keys_are_told_with_the_nearest),
        cmocka_unit_test(values_within_range_are_given),
        cmocka_unit_test(unwanted_values_leave_the_output),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
