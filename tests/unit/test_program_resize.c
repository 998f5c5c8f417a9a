/* Programs with a dim of another size. */
#include "program_fixture.h"

static const ridge_program *resized(ridge_ctx *cx, const ridge_program *p,
                                    const char *dim, int64_t size)
{
    const ridge_program *out = NULL;
    assert_ok(cx, ridge_program_resize(cx, p, dim, size, &out));
    return out;
}

/* Of a causal mask half the square, whatever the length: as if lowered again. */
static void resizing_is_lowering_again(void **state)
{
    const ridge_model *model = fixture_named(*state, "mixtral-8x7b");
    const ridge_program *small =
        fixture_lower(*state, model, RIDGE_PHASE_TRAIN, 1, 1000);
    const ridge_program *large =
        fixture_lower(*state, model, RIDGE_PHASE_TRAIN, 7, 1003);
    const ridge_program *made =
        resized(*state, resized(*state, small, "T", 1003), "B", 7);
    assert_true(ridge_program_equal(made, large));
    assert_false(ridge_program_equal(small, large));
}

static void a_capacity_that_was_set_stays(void **state)
{
    const ridge_program *p =
        fixture_parse(*state, "program p train\ndims B=4 E=2 C=8 D=3\nblock b\n"
                              "input x[B,D] bf16\ninput g[B,E] bf16\n"
                              "r[E,C,D] bf16 = dispatch x, g  k=1\n");
    const ridge_program *made = resized(*state, p, "B", 64);
    assert_int_equal(made->dims[ridge_program_dim_find(made, "C")].size, 8);
}

static void bad_sizes_are_refused(void **state)
{
    const ridge_program *p = fixture_lower(*state, fixture_named(*state, "llama-3-8b"),
                                           RIDGE_PHASE_TRAIN, 1, 64);
    const ridge_program *out = NULL;
    assert_int_equal(ridge_program_resize(*state, p, "T", 0, &out), RIDGE_E_ARG);
    fixture_assert_message(*state, "dim T of size 0: at least 1");
    assert_int_equal(ridge_program_resize(*state, p, "Z", 1, &out), RIDGE_E_ARG);
    fixture_assert_message(*state, "the program has no dim 'Z'");
    assert_int_equal(ridge_program_resize(*state, p, "T", INT64_MAX, &out),
                     RIDGE_E_ARG);
    fixture_assert_message(*state, "more than 2^63 elements");
    /* 8 KV heads, and 9 query heads */
    assert_int_equal(ridge_program_resize(*state, p, "N", 9, &out), RIDGE_E_ARG);
    fixture_assert_message(*state, "the KV heads must divide the query heads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resizing_is_lowering_again),
        cmocka_unit_test(a_capacity_that_was_set_stays),
        cmocka_unit_test(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
