/* Parameter counts of published models (tests/golden/published/parameters.jsonl), each
 * from a small config in tests/golden/model-configs with the model's facts. Exact. */
#include "model_fixture.h"

#include <string.h>

enum { PATH_CHARS = 512, LINE_BYTES = 1 << 20, MODELS_LEAST = 90 };

static const ridge_model *read_config(ridge_ctx *cx, const char *id)
{
    char path[PATH_CHARS];
    const ridge_model *model = NULL;
    ridge_node root;
    snprintf(path, sizeof path, "%s/golden/model-configs/%s.json", RIDGE_TEST_DIR, id);
    assert_ok(cx, ridge_json_read(cx, path, &root));
    assert_ok(cx, ridge_model_from_config(cx, root, id, &model));
    return model;
}

static void compare(const char *id, const ridge_node *row, const char *key, int64_t got)
{
    int64_t want;
    if (!ridge_json_i64(ridge_json_get(row, key), &want) || got == want)
        return;
    print_error("%s: %s is %lld, published %lld\n", id, key, (long long)got,
                (long long)want);
    fail();
}

static void check_row(ridge_ctx *cx, ridge_str line)
{
    ridge_node row;
    const char *id = NULL, *source = NULL;
    assert_ok(cx, ridge_json_parse(cx, line, "parameters.jsonl", &row));
    assert_ok(cx, ridge_json_want_text(cx, ridge_json_get(&row, "id"), &id));
    assert_ok(cx, ridge_json_want_text(cx, ridge_json_get(&row, "source"), &source));
    const ridge_params p = ridge_model_params(read_config(cx, id));
    assert_false(ridge_json_is_absent(ridge_json_get(&row, "total")));
    compare(id, &row, "total", p.total);
    compare(id, &row, "active", p.active);
    compare(id, &row, "mtp", p.mtp);
    compare(id, &row, "vision", p.vision);
    assert_int_equal(p.total, p.embedding + p.unembedding + p.attention + p.mlp +
                                  p.router + p.experts + p.norm);
}

static void parameters_are_exactly_those_published(void **state)
{
    ridge_ctx *cx = *state;
    ridge_str text;
    int models = 0;
    assert_ok(cx,
              ridge_file_read(cx, RIDGE_TEST_DIR "/golden/published/parameters.jsonl",
                              LINE_BYTES, &text));
    while (text.p != NULL) {
        ridge_str line = ridge_str_trim(ridge_str_cut(&text, '\n'));
        if (line.n == 0)
            continue;
        check_row(cx, line);
        models++;
    }
    assert_true(models >= MODELS_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parameters_are_exactly_those_published,
                                        fixture_open, fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
