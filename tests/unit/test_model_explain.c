/* Derivations of models: every line is made of the lines under it, for every model of
 * the catalogue. */
#include "model_fixture.h"
#include "ridge/plan_model.h"

#include <ctype.h>
#include <string.h>

/* "70,553,706,496" as a number; -1: some other text. */
static int64_t exact_of(const char *text)
{
    int64_t v = 0;
    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text == ',')
            continue;
        if (!isdigit((unsigned char)*text))
            return -1;
        v = 10 * v + (*text - '0');
    }
    return v;
}

static bool is_sum(const ridge_reason *r)
{
    return strncmp(r->formula, "sum", 3) == 0;
}

/* Fails unless lines one deeper add up to line i; @return whether there are any. */
static bool check_sum(const ridge_explanation *e, int i, const char *model)
{
    const ridge_reason *parent = &e->reasons[i];
    int64_t sum = 0;
    int n = 0;
    for (int k = i + 1; k < e->n_reasons && e->reasons[k].depth > parent->depth; k++) {
        const ridge_reason *r = &e->reasons[k];
        if (r->depth != parent->depth + 1 || strncmp(r->formula, "not in", 6) == 0)
            continue;
        sum += exact_of(r->result);
        n++;
    }
    if (n > 0 && sum != exact_of(parent->result))
        fail_msg("%s: lines under %s add up to %lld, not to %s", model, parent->name,
                 (long long)sum, parent->result);
    return n > 0;
}

static void explain(ridge_ctx *cx, const ridge_model *model, const char *quantity,
                    ridge_explanation *out)
{
    assert_ok(cx, ridge_model_explain(cx, model, 4096, quantity, out));
    assert_in_range(out->n_reasons, 1, RIDGE_REASON_MAX - 1);
}

static void parameters_add_up_in_every_model(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_library *library;
    ridge_explanation e;
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    for (size_t m = 0; m < ridge_library_count(library); m++) {
        const char *name = ridge_library_name(library, m);
        int sums = 0;
        explain(cx, fixture_named(cx, name), "parameters", &e);
        for (int i = 0; i < e.n_reasons; i++)
            sums += is_sum(&e.reasons[i]) && check_sum(&e, i, name);
        assert_true(sums >= 1);
    }
}

static void every_quantity_is_told_of_every_model(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_library *library;
    ridge_explanation e;
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    for (size_t m = 0; m < ridge_library_count(library); m++) {
        const ridge_model *model = fixture_named(cx, ridge_library_name(library, m));
        for (const char *const *q = ridge_model_quantities(); *q != NULL; q++) {
            explain(cx, model, *q, &e);
            assert_int_equal(e.reasons[0].depth, 0);
            for (int i = 0; i < e.n_reasons; i++) {
                assert_true(e.reasons[i].name[0] != '\0');
                assert_true(e.reasons[i].formula[0] != '\0');
            }
        }
    }
}

static const ridge_reason *line_named(const ridge_explanation *e, const char *name)
{
    for (int i = 0; i < e->n_reasons; i++) {
        if (strcmp(e->reasons[i].name, name) == 0)
            return &e->reasons[i];
    }
    fail_msg("no line %s", name);
    return NULL;
}

static void a_dense_model_by_hand(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = fixture_named(cx, "llama-3-70b");
    ridge_explanation e;
    explain(cx, model, "attention", &e);
    assert_string_equal(line_named(&e, "wq")->values, "(8,192 x 8,192) x 80 layers");
    assert_string_equal(line_named(&e, "wq")->result, "5,368,709,120");
    explain(cx, model, "flops_attention_scores", &e);
    assert_string_equal(e.reasons[1].values,
                        "2 x 64 x (128 + 128) x 2,048: 67.1 MFLOP, x 80 layers");
    explain(cx, model, "kv", &e);
    assert_string_equal(e.reasons[1].values, "8 x (128 + 128) x 2 x 80 layers");
    assert_string_equal(e.reasons[0].result, "320 KiB");
}

static void an_unknown_quantity_is_answered_with_the_nearest(void **state)
{
    ridge_ctx *cx = *state;
    ridge_explanation e;
    const ridge_status st =
        ridge_model_explain(cx, fixture_named(cx, "llama-3-8b"), 4096, "flop", &e);
    assert_int_equal(st, RIDGE_E_NOTFOUND);
    fixture_assert_message(cx, "unknown quantity 'flop'");
    fixture_assert_message(cx, "flops");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parameters_add_up_in_every_model, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(every_quantity_is_told_of_every_model,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_dense_model_by_hand, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(
            an_unknown_quantity_is_answered_with_the_nearest, fixture_open,
            fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
