/* The scanner of traces: values as they stand, and what is forgiven. */
#include "near.h"

#include <string.h>

#include "json_scan.h"

static json_scan scan_of(const char *text)
{
    return (json_scan){text, text + strlen(text)};
}

static scan_value one(const char *text, char kind, const char *raw)
{
    json_scan s = scan_of(text);
    scan_value v = {0};
    assert_int_equal(scan_any(&s, &v), SCAN_OK);
    assert_int_equal(v.kind, kind);
    assert_int_equal(v.raw.n, strlen(raw));
    assert_memory_equal(v.raw.p, raw, v.raw.n);
    return v;
}

static void values_stand_as_they_are(void **state)
{
    (void)state;
    one("  12.5e3,", '0', "12.5e3");
    one("-1]", '0', "-1");
    one("null,", 'n', "null");
    one("true}", 't', "true");
    one("\"a text\"", '"', "a text");
    one("\"a text of more than two words of eight bytes\",", '"',
        "a text of more than two words of eight bytes");
    one("{\"a\": [1, {\"b\": \"]}\"}]}, 7", '{', "{\"a\": [1, {\"b\": \"]}\"}]}");
    one("[[], [[1]], \"\\\"]\"] ", '[', "[[], [[1]], \"\\\"]\"]");
}

/* Every byte may be where the next word of eight begins. */
static void texts_end_where_they_end_at_any_offset(void **state)
{
    (void)state;
    char text[64];
    for (size_t before = 0; before < 20; before++) {
        for (size_t n = 0; n < 24; n++) {
            memset(text, ' ', sizeof text);
            text[before] = '"';
            memset(text + before + 1, 'x', n);
            text[before + 1 + n] = '"';
            json_scan s = {text, text + sizeof text};
            scan_value v;
            assert_int_equal(scan_any(&s, &v), SCAN_OK);
            assert_int_equal(v.raw.n, n);
            s.end = text + before + 1 + n;
            s.p = text;
            assert_int_equal(scan_any(&s, &v), SCAN_MORE);
        }
    }
}

static void what_is_cut_off_wants_more(void **state)
{
    (void)state;
    static const char *const cut[] = {"",          "  ",      "\"abc", "\"abc\\",
                                      "{\"a\": 1", "[1, [2]", "12",    "{\"a\": \"}"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        json_scan s = scan_of(cut[i]);
        scan_value v;
        assert_int_equal(scan_any(&s, &v), SCAN_MORE);
    }
}

static void what_is_no_value_is_bad(void **state)
{
    (void)state;
    json_scan s = scan_of(", 1");
    scan_value v;
    assert_int_equal(scan_any(&s, &v), SCAN_BAD);
    s = scan_of("{\"a\" 1}");
    bool is_end;
    scan_value key;
    assert_int_equal(scan_mark(&s, '{'), SCAN_OK);
    assert_int_equal(scan_member(&s, &is_end, &key, &v), SCAN_BAD);
}

static void control_characters_and_foreign_bytes_stay(void **state)
{
    (void)state;
    const scan_value v = one("\"a\x01\xff\x80z\"", '"', "a\x01\xff\x80z");
    assert_false(v.has_escape);
}

static void escapes_are_undone(void **state)
{
    (void)state;
    char room[64];
    const ridge_str raw = ridge_str_of("a\\\"b\\\\c\\n\\u0041\\u20ac\\ud800x\\u12");
    const size_t n = scan_unescape(raw, room);
    const char want[] = "a\"b\\c\nA\xe2\x82\xacud800xu12";
    assert_int_equal(n, sizeof want - 1);
    assert_memory_equal(room, want, n);
}

static void integers_beyond_64_bits_are_not_guessed(void **state)
{
    (void)state;
    int64_t n = 5;
    const scan_value v = one("10159970886766084423,", '0', "10159970886766084423");
    assert_false(scan_i64(&v, &n));
    assert_int_equal(n, 5);
    const scan_value text = one("\"42\"", '"', "42");
    assert_true(scan_i64(&text, &n));
    assert_int_equal(n, 42);
}

static void members_follow_each_other(void **state)
{
    (void)state;
    json_scan s = scan_of(" {\"a\" : 1 ,\n \"b\":\"x\" } ");
    bool is_end;
    scan_value key;
    scan_value v;
    assert_int_equal(scan_mark(&s, '{'), SCAN_OK);
    assert_int_equal(scan_member(&s, &is_end, &key, &v), SCAN_OK);
    assert_true(SCAN_IS(key.raw, "a"));
    assert_int_equal(scan_member(&s, &is_end, &key, &v), SCAN_OK);
    assert_true(SCAN_IS(key.raw, "b"));
    assert_int_equal(scan_member(&s, &is_end, &key, &v), SCAN_OK);
    assert_true(is_end);
    s = scan_of("{\"a\": 1, \"b\": {\"c\": \"}\"}} x");
    assert_int_equal(scan_mark(&s, '{'), SCAN_OK);
    assert_int_equal(scan_rest(&s), SCAN_OK);
    assert_string_equal(s.p, " x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_stand_as_they_are),
        cmocka_unit_test(texts_end_where_they_end_at_any_offset),
        cmocka_unit_test(what_is_cut_off_wants_more),
        cmocka_unit_test(what_is_no_value_is_bad),
        cmocka_unit_test(control_characters_and_foreign_bytes_stay),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(integers_beyond_64_bits_are_not_guessed),
        cmocka_unit_test(members_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
