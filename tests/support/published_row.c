#include "published_row.h"

#include <math.h>
#include <string.h>

double in(const row *r, const char *key)
{
    double v = (double)NAN;
    if (!ridge_json_double(ridge_json_get(&r->inputs, key), &v))
        fail_msg("%s: no number '%s'", r->id, key);
    return v;
}

/* A number, or true and false as 1 and 0. */
static double wanted(const row *r, const char *key)
{
    const ridge_node n = ridge_json_get(&r->expected, key);
    double v = (double)NAN;
    bool flag = false;
    if (ridge_json_bool(n, &flag))
        return flag;
    if (!ridge_json_double(n, &v))
        fail_msg("%s: nothing expected of '%s'", r->id, key);
    return v;
}

void want(row *r, const char *key, double got)
{
    ridge_assert_near(got, wanted(r, key), r->rel_tol, key, r->id, 0);
    r->checked++;
}

void want_text(row *r, const char *key, const char *got)
{
    const char *text = NULL;
    assert_true(ridge_json_text(ridge_json_get(&r->expected, key), &text));
    assert_string_equal(got, text);
    r->checked++;
}

ridge_thresholds thresholds_of(row *r, const char *model, const char *slice,
                               double batch_tokens)
{
    const ridge_train_request request = train_request(
        fixture_named(r->cx, model), train_slice(r->cx, slice), batch_tokens, 1);
    return ridge_train_thresholds(&request);
}

static void check_row(ridge_ctx *cx, const ridge_node *node,
                      const published_kind *kinds, size_t n)
{
    row r = {.cx = cx,
             .inputs = ridge_json_get(node, "inputs"),
             .expected = ridge_json_get(node, "expected")};
    assert_true(ridge_json_text(ridge_json_get(node, "id"), &r.id));
    assert_true(ridge_json_double(ridge_json_get(node, "rel_tol"), &r.rel_tol));
    size_t i = 0;
    while (i < n && strncmp(r.id, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
        i++;
    if (i == n)
        fail_msg("%s: no function computes it", r.id);
    kinds[i].compute(&r);
    if (r.checked != (int)ridge_json_size(r.expected))
        fail_msg("%s: %d of %d numbers computed", r.id, r.checked,
                 (int)ridge_json_size(r.expected));
}

int published_rows_check(const char *name, const published_kind *kinds, size_t n)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge_str rest;
    int rows = 0;
    assert_non_null(cx);
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/golden/published/%s",
                                     RIDGE_TEST_DIR, name);
    assert_ok(cx, ridge_file_read(cx, path, 1 << 20, &rest));
    while (rest.p != NULL && rest.n > 0) {
        const ridge_str line = ridge_str_cut(&rest, '\n');
        ridge_node node;
        assert_ok(cx, ridge_json_parse(cx, line, path, &node));
        check_row(cx, &node, kinds, n);
        rows++;
    }
    ridge_ctx_close(cx);
    return rows;
}
