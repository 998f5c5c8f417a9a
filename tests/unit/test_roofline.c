/* An operation against the roofline: ridge, critical size, sweep. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost_roofline.h"

#include <math.h>
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

static const ridge_formats bf16 = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16,
                                   RIDGE_DTYPE_BF16};

static ridge_roofline roofline_of(void **state, const ridge_chip *chip,
                                  const char *text, const char *dims, const char *range)
{
    const ridge_op_request request = {.text = text, .dims = dims, .formats = bf16};
    ridge_op op;
    ridge_sweep sweep;
    ridge_roofline r = {0};
    if (ridge_op_parse(*state, &request, &op) ||
        (range && ridge_sweep_parse(*state, range, &sweep)) ||
        ridge_roofline_find(*state, chip, &op, range ? &sweep : NULL, &r))
        fail_msg("%s", ridge_ctx_message(*state));
    return r;
}

static void vector_work_is_held_against_the_vector_ridge(void **state)
{
    const ridge_chip chip = plain_gpu();
    const ridge_roofline r = roofline_of(state, &chip, "add:1M", NULL, NULL);
    assert_near(r.ridge_flops_per_byte, 20, 1e-12);
    assert_null(r.critical_dim);
    const ridge_roofline m = roofline_of(state, &chip, "64x64x64", NULL, NULL);
    assert_near(m.ridge_flops_per_byte, 989 / 3.35, 1e-12);
}

static void an_einsums_critical_rows_are_shared_among_its_row_dims(void **state)
{
    const ridge_chip chip = plain_tpu();
    const ridge_roofline r =
        roofline_of(state, &chip, "btd,df->btf", "b=4,t=16,d=8192,f=8192", "t=1..64");
    assert_string_equal(r.critical_dim, "b x t");
    assert_string_equal(r.critical_others, "d and f");
    assert_near(r.sweep_critical, r.critical_size / 4, 1e-12);
    const ridge_roofline k =
        roofline_of(state, &chip, "btd,df->btf", "b=4,t=16,d=8192,f=8192", "d=1..64");
    assert_near(k.sweep_critical, 0, 0);
}

/* A matrix for each batch element, and products with one column: the intensity stays.
 */
static void without_rows_or_columns_nothing_makes_an_einsum_compute_bound(void **state)
{
    static const char *const einsums[][2] = {
        {"bd,bdf->bf", "b=64,d=4096,f=4096"},
        {"bd,bd->b", "b=64,d=4096"},
        {"bd,d->b", "b=64,d=4096"},
        {"d,df->f", "d=4096,f=4096"},
    };
    const ridge_chip chip = plain_tpu();
    for (size_t i = 0; i < RIDGE_COUNT_OF(einsums); i++) {
        const ridge_roofline r =
            roofline_of(state, &chip, einsums[i][0], einsums[i][1], NULL);
        assert_null(r.critical_dim);
    }
    const ridge_roofline heads =
        roofline_of(state, &chip, "bnth,bnsh->bnts", "b=2,n=8,t=64,s=64,h=128", NULL);
    assert_string_equal(heads.critical_dim, "t");
    assert_string_equal(heads.critical_others, "h and s");
}

static void exact_counts_have_no_additions_to_zero(void **state)
{
    const ridge_chip chip = plain_gpu();
    assert_near(roofline_of(state, &chip, "4x8x16", NULL, NULL).flops_exact, 960, 0);
    assert_near(roofline_of(state, &chip, "dot:1000", NULL, NULL).flops_exact, 1999, 0);
    assert_near(roofline_of(state, &chip, "add:1000", NULL, NULL).flops_exact, 1000, 0);
    assert_near(
        roofline_of(state, &chip, "bd,df->bf", "b=4,d=8,f=16", NULL).flops_exact, 960,
        0);
}

/* FLOPs / C and bytes / W; the ridge where both are equal. */
static void work_is_held_against_the_ridge(void **state)
{
    const ridge_chip chip = plain_gpu();
    const ridge_roofline r =
        roofline_of(state, &chip, "flops:1e12", "bytes=2e9", "bytes=1e8..1e12*10");
    assert_near(r.cost.compute_s, 1e12 / 989e12, 1e-12);
    assert_near(r.cost.memory_s, 2e9 / 3.35e12, 1e-12);
    assert_near(r.cost.bound_s, r.cost.compute_s, 0);
    assert_near(r.critical_size, 2e9 * 989 / 3.35, 1e-12);
    assert_near(r.sweep_critical, 1e12 / (989 / 3.35), 1e-12);
    const ridge_roofline moved = roofline_of(state, &chip, "bytes:1GiB", NULL, NULL);
    assert_false(moved.is_matmul);
    assert_null(moved.critical_dim);
    assert_near(moved.cost.bound_s, 0x1p30 / 3.35e12, 1e-12);
}

static void a_sweep_holds_its_ends_and_rises(void **state)
{
    const ridge_chip chip = plain_gpu();
    const ridge_roofline r =
        roofline_of(state, &chip, "1x4096x4096", NULL, "m=1..100*1.5");
    assert_near(r.points[0].size, 1, 0);
    assert_near(r.points[r.n_points - 1].size, 100, 0);
    for (size_t i = 1; i < r.n_points; i++)
        assert_true(r.points[i].size > r.points[i - 1].size);
    const ridge_roofline linear =
        roofline_of(state, &chip, "1x4096x4096", NULL, "m=1..10+4");
    assert_int_equal(linear.n_points, 4);
}

static void the_crossing_of_a_sweep_is_its_critical_size(void **state)
{
    const ridge_chip chip = plain_tpu();
    const ridge_roofline r =
        roofline_of(state, &chip, "1x8192x8192", NULL, "m=200..300+1");
    for (size_t i = 0; i < r.n_points; i++) {
        const ridge_bound want = r.points[i].size < r.sweep_critical
                                     ? RIDGE_BOUND_MEMORY
                                     : RIDGE_BOUND_COMPUTE;
        assert_int_equal(r.points[i].cost.bound_by, want);
    }
}

static void decode_has_no_critical_size(void **state)
{
    const ridge_chip chip = plain_tpu();
    const ridge_roofline r =
        roofline_of(state, &chip, "attention:decode", "s=4096", "s=64..4096");
    assert_null(r.critical_dim);
    assert_near(r.sweep_critical, 0, 0);
    const ridge_roofline p =
        roofline_of(state, &chip, "attention:prefill", "t=4096", "t=64..4096");
    assert_string_equal(p.critical_dim, "t");
    assert_near(p.sweep_critical, p.critical_size, 0);
}

static void what_cannot_be_answered_is_refused(void **state)
{
    const ridge_chip chip = plain_gpu();
    const ridge_op_request matmul = {.text = "1x2x3", .formats = bf16};
    const ridge_op_request decode = {
        .text = "attention:decode", .dims = "s=64", .formats = bf16};
    ridge_op op;
    ridge_sweep sweep;
    ridge_roofline r;
    assert_int_equal(ridge_op_parse(*state, &matmul, &op), RIDGE_OK);
    op.memory = RIDGE_MEMORY_FAST;
    assert_int_equal(ridge_roofline_find(*state, &chip, &op, NULL, &r), RIDGE_E_ARG);
    assert_non_null(
        strstr(ridge_ctx_message(*state), "bandwidth of plain is not known"));
    op.memory = RIDGE_MEMORY_HBM;
    assert_int_equal(ridge_sweep_parse(*state, "q=1..8", &sweep), RIDGE_OK);
    assert_int_equal(ridge_roofline_find(*state, &chip, &op, &sweep, &r), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(*state), "has no dim q"));
    assert_int_equal(ridge_op_parse(*state, &decode, &op), RIDGE_OK);
    op.memory = RIDGE_MEMORY_HOST;
    assert_int_equal(ridge_roofline_find(*state, &chip, &op, NULL, &r), RIDGE_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_work_is_held_against_the_vector_ridge),
        cmocka_unit_test(an_einsums_critical_rows_are_shared_among_its_row_dims),
        cmocka_unit_test(without_rows_or_columns_nothing_makes_an_einsum_compute_bound),
        cmocka_unit_test(exact_counts_have_no_additions_to_zero),
        cmocka_unit_test(work_is_held_against_the_ridge),
        cmocka_unit_test(a_sweep_holds_its_ends_and_rises),
        cmocka_unit_test(the_crossing_of_a_sweep_is_its_critical_size),
        cmocka_unit_test(decode_has_no_critical_size),
        cmocka_unit_test(what_cannot_be_answered_is_refused),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
