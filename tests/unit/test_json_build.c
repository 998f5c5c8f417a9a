/* Building and writing JSON: order, numbers, text from outside, memory that is short.
 */
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

static const char *written(ridge_ctx *cx, const ridge_json *value)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    assert_int_equal(ridge_json_write(cx, value, &b), RIDGE_OK);
    return ridge_buf_text(&b);
}

static void members_keep_the_order_of_insertion(void **state)
{
    ridge_json *object = ridge_json_object(*state);
    ridge_json_set_i64(object, "z", 1);
    ridge_json_set_i64(object, "a", 2);
    ridge_json_set_i64(object, "z", 3); /* replaced where it stands */
    ridge_json_set_bool(object, "m", true);
    ridge_json_set_null(object, "n");
    assert_string_equal(written(*state, object), "{\n  \"z\": 3,\n  \"a\": 2,\n"
                                                 "  \"m\": true,\n  \"n\": null\n}\n");
}

static void empty_containers_are_short(void **state)
{
    assert_string_equal(written(*state, ridge_json_object(*state)), "{}\n");
    assert_string_equal(written(*state, ridge_json_array(*state)), "[]\n");
}

static void nested_values_are_indented_by_two(void **state)
{
    ridge_json *root = ridge_json_object(*state);
    ridge_json *list = ridge_json_set_array(*state, root, "list");
    ridge_json *item = ridge_json_push_object(*state, list);
    ridge_json_set_i64(ridge_json_set_object(*state, item, "in"), "n", 1);
    ridge_json_push_text(list, "x");
    ridge_json_set(root, "same", item); /* one value may stand in two places */
    assert_string_equal(written(*state, root),
                        "{\n  \"list\": [\n    {\n      \"in\": {\n"
                        "        \"n\": 1\n      }\n    },\n    \"x\"\n  ],\n"
                        "  \"same\": {\n    \"in\": {\n      \"n\": 1\n    }\n"
                        "  }\n}\n");
}

static void numbers_have_twelve_digits(void **state)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        {0.1, "0.1"},
        {1.0 / 3, "0.333333333333"},
        {1e300, "1e300"},
        {123456789012.0, "123456789012.0"},
        {1e-9, "1e-9"},
        {-0.5, "-0.5"},
        {3, "3.0"},
        {(double)NAN, "null"},
        {(double)INFINITY, "null"},
        {-(double)INFINITY, "null"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        ridge_json *list = ridge_json_array(*state);
        ridge_json_push_double(list, rows[i].v);
        const char *want =
            ridge_sprintf(ridge_ctx_arena(*state), "[\n  %s\n]\n", rows[i].text);
        assert_string_equal(written(*state, list), want);
        ridge_json *object = ridge_json_object(*state);
        ridge_json_set_double(object, "v", rows[i].v);
        assert_non_null(strstr(written(*state, object), rows[i].text));
    }
}

static void a_number_that_is_0_is_not_known(void **state)
{
    ridge_json *object = ridge_json_object(*state);
    ridge_json_set_positive(object, "price", 2.5);
    ridge_json_set_positive(object, "power", 0);
    ridge_json_set_positive(object, "life", (double)INFINITY);
    assert_string_equal(
        written(*state, object),
        "{\n  \"price\": 2.5,\n  \"power\": null,\n  \"life\": null\n}\n");
}

static void whole_numbers_are_exact(void **state)
{
    ridge_json *list = ridge_json_array(*state);
    ridge_json_push_i64(list, INT64_MAX);
    ridge_json_push_i64(list, INT64_MIN);
    assert_string_equal(written(*state, list),
                        "[\n  9223372036854775807,\n  -9223372036854775808\n]\n");
}

static void text_is_escaped(void **state)
{
    ridge_json *list = ridge_json_array(*state);
    ridge_json_push_text(list, "a\"b\\c\n\x01\xc2\xb5");
    assert_string_equal(written(*state, list),
                        "[\n  \"a\\\"b\\\\c\\n\\u0001\xc2\xb5\"\n]\n");
}

static void text_that_is_no_utf8_keeps_its_ascii(void **state)
{
    ridge_json *object = ridge_json_object(*state);
    ridge_json_set_text(object, "file", "dir/\xff\xc2.json");
    ridge_json_set_text(object, "none", NULL);
    assert_string_equal(written(*state, object),
                        "{\n  \"file\": \"dir/??.json\",\n  \"none\": null\n}\n");
}

static void what_was_written_is_read_back_the_same(void **state)
{
    ridge_json *root = ridge_json_object(*state);
    ridge_json *list = ridge_json_set_array(*state, root, "list");
    for (int i = -5; i < 6; i++)
        ridge_json_push_double(list, i * 0.37e9);
    ridge_json_set_text(root, "\xe2\x94\x80 key", "v");
    const char *first = written(*state, root);
    ridge_node again;
    assert_int_equal(ridge_json_parse(*state, ridge_str_of(first), "f", &again),
                     RIDGE_OK);
    assert_string_equal(written(*state, again.value), first);
}

static void nothing_is_set_in_nothing(void **state)
{
    ridge_json_set_i64(NULL, "a", 1);
    ridge_json_set_text(NULL, "a", "z");
    ridge_json_set(NULL, "a", ridge_json_object(*state));
    ridge_json_push_double(NULL, 1);
    ridge_json_push(NULL, NULL);
    assert_non_null(ridge_json_set_object(*state, NULL, "a"));
    ridge_json *object = ridge_json_object(*state);
    ridge_json_set(object, "a", NULL);
    assert_string_equal(written(*state, object), "{\n  \"a\": null\n}\n");
}

static void a_lost_value_is_not_written_as_null(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open_budget(4000);
    ridge_json *root = ridge_json_object(cx);
    assert_non_null(root);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_pad(&b, ' ', 1);
    while (ridge_new(ridge_ctx_arena(cx), char, 1) != NULL)
        continue;
    assert_null(ridge_json_set_object(cx, root, "memory"));
    assert_int_equal(ridge_json_write(cx, root, &b), RIDGE_E_NOMEM);
    assert_non_null(strstr(ridge_ctx_message(cx), "budget"));
    ridge_ctx_clear(cx);
    assert_int_equal(ridge_json_write(cx, root, &b), RIDGE_OK);
    assert_int_equal(ridge_json_write(cx, NULL, &b), RIDGE_E_NOMEM);
    ridge_ctx_close(cx);
}

static void writing_into_a_short_buffer_fails(void **state)
{
    ridge_ctx *cx = ridge_ctx_open_budget(1000);
    ridge_json *list = ridge_json_array(*state);
    for (int i = 0; i < 1000; i++)
        ridge_json_push_i64(list, i);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    assert_int_equal(ridge_json_write(cx, list, &b), RIDGE_E_NOMEM);
    assert_true(b.is_short);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_keep_the_order_of_insertion),
        cmocka_unit_test(empty_containers_are_short),
        cmocka_unit_test(nested_values_are_indented_by_two),
        cmocka_unit_test(numbers_have_twelve_digits),
        cmocka_unit_test(a_number_that_is_0_is_not_known),
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(text_that_is_no_utf8_keeps_its_ascii),
        cmocka_unit_test(what_was_written_is_read_back_the_same),
        cmocka_unit_test(nothing_is_set_in_nothing),
        cmocka_unit_test(a_lost_value_is_not_written_as_null),
        cmocka_unit_test(writing_into_a_short_buffer_fails),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
