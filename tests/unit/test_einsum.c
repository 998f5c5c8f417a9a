/* Einsums: roles of dims, FLOPs, the matmul behind them, and hostile notation. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state ? 0 : -1;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_einsum einsum_of(void **state, const char *text, const char *dims)
{
    ridge_einsum e;
    assert_int_equal(ridge_einsum_parse(*state, text, dims, &e), RIDGE_OK);
    return e;
}

static const ridge_formats bf16 = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16,
                                   RIDGE_DTYPE_BF16};

static void a_layer_matmul_multiplies_tokens_into_rows(void **state)
{
    const ridge_einsum e = einsum_of(state, "btd,df->btf", "b=4,t=16,d=8,f=32");
    const ridge_matmul m = ridge_einsum_matmul(&e, &bf16);
    assert_near(m.batch, 1, 0);
    assert_near(m.m, 64, 0);
    assert_near(m.k, 8, 0);
    assert_near(m.n, 32, 0);
    assert_near(ridge_einsum_flops(&e), 2 * 64 * 8 * 32, 0);
}

static void dims_in_all_arrays_are_batching(void **state)
{
    const ridge_einsum e = einsum_of(state, "bij,bjk->bik", "b=2,i=3,j=4,k=5");
    assert_int_equal(ridge_einsum_role(&e, 0), RIDGE_DIM_BATCHING);
    assert_int_equal(ridge_einsum_role(&e, 1), RIDGE_DIM_FREE);
    assert_int_equal(ridge_einsum_role(&e, 2), RIDGE_DIM_CONTRACTING);
    assert_near(ridge_einsum_matmul(&e, &bf16).batch, 2, 0);
}

static void letter_case_makes_different_dims(void **state)
{
    const ridge_einsum e = einsum_of(state, "aA,Ab->ab", "a=2,A=3,b=5");
    assert_int_equal(e.n_dims, 3);
    assert_near(ridge_einsum_flops(&e), 2 * 30, 0);
}

static void a_product_without_contraction_has_no_factor_two(void **state)
{
    const ridge_einsum outer = einsum_of(state, "i,j->ij", "i=3,j=5");
    assert_near(ridge_einsum_flops(&outer), 15, 0);
    assert_false(ridge_einsum_is_matmul(&outer));
    const ridge_einsum copy = einsum_of(state, "ij->ji", "i=3,j=5");
    assert_near(ridge_einsum_flops(&copy), 0, 0);
    const ridge_einsum sum = einsum_of(state, "ij->i", "i=3,j=5");
    assert_near(ridge_einsum_flops(&sum), 15, 0);
}

static void bytes_follow_each_operands_format(void **state)
{
    const ridge_chip chip = plain_gpu();
    const ridge_einsum e = einsum_of(state, "md,df->mf", "m=2,d=10,f=100");
    ridge_formats formats = bf16;
    formats.weight = RIDGE_DTYPE_INT8;
    const ridge_op_cost c = ridge_einsum_cost(&chip, &e, &formats, RIDGE_MEMORY_HBM);
    assert_near(c.bytes, 2 * 10 * 2 + 1000 + 200 * 2, 0);
    const ridge_einsum copy = einsum_of(state, "ij->ji", "i=100,j=100");
    assert_near(ridge_einsum_cost(&chip, &copy, &bf16, RIDGE_MEMORY_HBM).bytes, 40000,
                0);
}

/* b is summed, and in one operand alone: many products are added to one element. */
static void what_is_summed_is_not_written(void **state)
{
    const ridge_chip chip = plain_gpu();
    static const char *const texts[] = {"fi,icb->fc", "icb,fi->fc"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        const ridge_einsum e = einsum_of(state, texts[i], "f=3,i=7,c=31,b=64");
        const ridge_op_cost c = ridge_einsum_cost(&chip, &e, &bf16, RIDGE_MEMORY_HBM);
        assert_near(c.bytes, 2 * (3 * 7 + 7 * 31 * 64 + 3 * 31), 0);
        assert_near(c.matmul_flops, 2.0 * 3 * 7 * 31 * 64, 0);
    }
}

static void a_dim_can_be_resized_within_reach(void **state)
{
    ridge_einsum e = einsum_of(state, "mk,kn->mn", "m=1,k=4,n=8");
    assert_true(ridge_einsum_resize(&e, 'm', 100));
    assert_near(ridge_einsum_flops(&e), 2 * 3200, 0);
    assert_false(ridge_einsum_resize(&e, 'z', 2));
    assert_false(ridge_einsum_resize(&e, 'm', 0));
    assert_false(ridge_einsum_resize(&e, 'm', INT64_MAX));
    assert_near(ridge_einsum_flops(&e), 2 * 3200, 0);
}

static void complaints_name_the_column(void **state)
{
    static const struct {
        const char *text, *dims, *want;
        ridge_status status;
    } cases[] = {
        {"btd,df->btx", "", "column 11: this output dim is in no input", RIDGE_E_PARSE},
        {"ij,jk", "", "column 6: the output is missing", RIDGE_E_PARSE},
        {"ii,ij->j", "", "column 2: a dim twice", RIDGE_E_PARSE},
        {"a,b,c->abc", "", "column 4: at most two inputs", RIDGE_E_PARSE},
        {"i1,ij->j", "", "column 2: expected dim letters", RIDGE_E_PARSE},
        {"ij-jk", "", "column 3: expected dim letters", RIDGE_E_PARSE},
        {"ij->i->j", "", "column 6: expected", RIDGE_E_PARSE},
        {"", "", "column 1: the output is missing", RIDGE_E_PARSE},
        {",->", "", "column 1: no dims", RIDGE_E_PARSE},
        {"ij,jk->ik", "i=1,j=2", "dim 'k' has no size", RIDGE_E_ARG},
        {"ij,jk->ik", "i=1,j=2,k=0", "a whole number from 1", RIDGE_E_ARG},
        {"ij,jk->ik", "i=1,j=2,k=1.5", "a whole number from 1", RIDGE_E_ARG},
        {"ij,jk->ik", "i=1,i=2,j=2", "'i' is given twice", RIDGE_E_ARG},
        {"ij,jk->ik", "q=1", "'q' is no dim", RIDGE_E_ARG},
        {"ij,jk->ik", "i", "'i' is not a size", RIDGE_E_ARG},
        {"ij,jk->ik", "i=4e9,j=4e9,k=4e9", "beyond 2^63", RIDGE_E_ARG},
        {"abcdefghijklmnopqrstuvwxyzABCDEFG->", "", "more than 32", RIDGE_E_PARSE},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_einsum e;
        assert_int_equal(ridge_einsum_parse(*state, cases[i].text, cases[i].dims, &e),
                         cases[i].status);
        if (!strstr(ridge_ctx_message(*state), cases[i].want))
            fail_msg("'%s': %s", cases[i].text, ridge_ctx_message(*state));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_matmul_multiplies_tokens_into_rows),
        cmocka_unit_test(dims_in_all_arrays_are_batching),
        cmocka_unit_test(letter_case_makes_different_dims),
        cmocka_unit_test(a_product_without_contraction_has_no_factor_two),
        cmocka_unit_test(bytes_follow_each_operands_format),
        cmocka_unit_test(what_is_summed_is_not_written),
        cmocka_unit_test(a_dim_can_be_resized_within_reach),
        cmocka_unit_test(complaints_name_the_column),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
