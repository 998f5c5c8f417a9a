/*
 * Laws of JSON over random documents: what is written is read back as the same values,
 * written once more it is the same text, and each value is found at its own line.
 */
#include "near.h"
#include "random_json.h"

#include <string.h>

enum { TRIALS = 1500, DEPTH = 5 };

static const char *written(ridge_ctx *cx, const ridge_json *value)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    if (ridge_json_write(cx, value, &b) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return ridge_buf_text(&b);
}

static bool is_same_scalar(ridge_node a, ridge_node b)
{
    double da = 0, db = 0;
    int64_t ia = 0, ib = 0;
    bool ba = false, bb = false;
    const char *ta = "", *tb = "";
    if (ridge_json_double(a, &da) != ridge_json_double(b, &db) || da != db)
        return false;
    if (ridge_json_i64(a, &ia) != ridge_json_i64(b, &ib) || ia != ib)
        return false;
    if (ridge_json_bool(a, &ba) != ridge_json_bool(b, &bb) || ba != bb)
        return false;
    return ridge_json_text(a, &ta) == ridge_json_text(b, &tb) && strcmp(ta, tb) == 0;
}

/* Recursion ends: documents have at most DEPTH + 1 levels. */
static bool is_same(ridge_node a, ridge_node b)
{
    const size_t n = ridge_json_size(a);
    if (ridge_json_kind_of(a) != ridge_json_kind_of(b) || ridge_json_size(b) != n)
        return false;
    const bool is_object = ridge_json_kind_of(a) == RIDGE_JSON_OBJECT;
    for (size_t i = 0; i < n; i++) {
        ridge_node x = is_object ? ridge_json_member(&a, i) : ridge_json_at(&a, i);
        ridge_node y = is_object ? ridge_json_member(&b, i) : ridge_json_at(&b, i);
        if (is_object && strcmp(x.key, y.key) != 0)
            return false;
        if (!is_same(x, y))
            return false;
    }
    return is_same_scalar(a, b);
}

static void what_is_written_is_read_as_the_same_values(void **state)
{
    (void)state;
    for (seeded seed = 0; seed < TRIALS; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        ridge_json *document = random_json(cx, &at, DEPTH);
        const char *text = written(cx, document);
        ridge_node again;
        if (ridge_json_parse(cx, ridge_str_of(text), "again", &again) != RIDGE_OK)
            fail_msg("seed %llu: %s", (unsigned long long)seed, ridge_ctx_message(cx));
        if (!is_same((ridge_node){.value = document}, again))
            fail_msg("seed %llu: another value:\n%s", (unsigned long long)seed, text);
        assert_string_equal(written(cx, again.value), text);
        ridge_ctx_close(cx);
    }
}

/* Lines of a written document: one for each value that is no container, one for each
 * empty container, two for the others. Counted on the way, so that each value's own
 * line is known. */
static int64_t check_lines(ridge_ctx *cx, const ridge_node *node, int64_t line)
{
    char want[32];
    if (ridge_json_fail(cx, *node, "x") != RIDGE_E_PARSE)
        fail();
    snprintf(want, sizeof want, "again:%lld: ", (long long)line);
    if (strncmp(ridge_ctx_message(cx), want, strlen(want)) != 0)
        fail_msg("want %s, got %s", want, ridge_ctx_message(cx));
    const size_t n = ridge_json_size(*node);
    const bool is_object = ridge_json_kind_of(*node) == RIDGE_JSON_OBJECT;
    for (size_t i = 0; i < n; i++) {
        ridge_node child =
            is_object ? ridge_json_member(node, i) : ridge_json_at(node, i);
        line = check_lines(cx, &child, line + 1);
    }
    return n > 0 ? line + 1 : line;
}

/* Keys without escapes: those are told at their object's line. */
static ridge_json *plain_document(ridge_ctx *cx, seeded *at, int depth)
{
    ridge_json *object = ridge_json_object(cx);
    for (int i = (int)seeded_pick(at, 0, 4); i > 0; i--) {
        const char *key = ridge_sprintf(ridge_ctx_arena(cx), "key%d", i);
        ridge_json *list = ridge_json_set_array(cx, object, key);
        for (int k = (int)seeded_pick(at, 0, 3); k > 0; k--) {
            ridge_json_push_text(list, random_text(cx, at));
            if (depth > 0)
                ridge_json_push(list, plain_document(cx, at, depth - 1));
        }
    }
    return object;
}

static void each_value_is_told_at_its_line(void **state)
{
    (void)state;
    for (seeded seed = 0; seed < TRIALS / 10; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        const char *text = written(cx, plain_document(cx, &at, 2));
        ridge_node root;
        assert_int_equal(ridge_json_parse(cx, ridge_str_of(text), "again", &root),
                         RIDGE_OK);
        check_lines(cx, &root, 1);
        ridge_ctx_close(cx);
    }
}

static void members_are_walked_as_they_are_counted(void **state)
{
    (void)state;
    for (seeded seed = 0; seed < TRIALS; seed++) {
        seeded at = seed;
        ridge_ctx *cx = ridge_ctx_open();
        const ridge_node root = {.value = random_json(cx, &at, 0)};
        ridge_node walked = ridge_json_member(&root, 0);
        for (size_t i = 0; walked.key != NULL; i++) {
            assert_ptr_equal(walked.key, ridge_json_member(&root, i).key);
            assert_ptr_equal(walked.value, ridge_json_get(&root, walked.key).value);
            walked = ridge_json_member_after(&root, walked);
        }
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_as_the_same_values),
        cmocka_unit_test(each_value_is_told_at_its_line),
        cmocka_unit_test(members_are_walked_as_they_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
