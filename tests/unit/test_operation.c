/* Operations as people write them, and ranges of sizes. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost_roofline.h"

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

static ridge_op op_of(void **state, const char *text, const char *dims)
{
    const ridge_op_request request = {.text = text, .dims = dims, .formats = bf16};
    ridge_op op;
    if (ridge_op_parse(*state, &request, &op) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(*state));
    return op;
}

static void a_matmul_is_three_counts(void **state)
{
    const ridge_op op = op_of(state, "8kx8192x28672", NULL);
    assert_int_equal(op.kind, RIDGE_OP_MATMUL);
    assert_near(op.matmul.m, 8000, 0);
    assert_near(op.matmul.k, 8192, 0);
    assert_near(op.matmul.n, 28672, 0);
}

static void adding_fp32_vectors_moves_twelve_bytes_an_element(void **state)
{
    const ridge_chip chip = plain_gpu();
    const ridge_op op = op_of(state, "add:65536", NULL);
    const ridge_op_cost c = ridge_op_price(&chip, &op);
    assert_near(c.bytes, 12 * 65536, 0);
    assert_near(c.vector_flops, 65536, 0);
    const ridge_op_request half = {
        .text = "add:100", .formats = bf16, .is_format_given = true};
    ridge_op narrow;
    assert_int_equal(ridge_op_parse(*state, &half, &narrow), RIDGE_OK);
    assert_near(ridge_op_price(&chip, &narrow).bytes, 600, 0);
}

static void decode_has_one_query_and_prefill_a_square(void **state)
{
    const ridge_op decode = op_of(state, "attention:decode", "b=8,s=4096,n=64,k=8");
    assert_true(decode.is_decode);
    assert_near(decode.attention.query_tokens, 1, 0);
    assert_near(decode.attention.context_tokens, 4096, 0);
    const ridge_op prefill = op_of(state, "attention:prefill", "t=2048,h=64,causal=0");
    assert_near(prefill.attention.context_tokens, 2048, 0);
    assert_near(prefill.attention.kv_heads, 32, 0);
    assert_near(prefill.attention.v_head_dim, 64, 0);
    assert_false(prefill.attention.is_causal);
}

static void resizing_keeps_a_prefill_square(void **state)
{
    ridge_op op = op_of(state, "attention:prefill", "t=2048");
    assert_true(ridge_op_resize(&op, "t", 128));
    assert_near(op.attention.context_tokens, 128, 0);
    ridge_op decode = op_of(state, "attention:decode", "s=2048");
    assert_true(ridge_op_resize(&decode, "s", 128));
    assert_near(decode.attention.query_tokens, 1, 0);
    ridge_op matmul = op_of(state, "1x2x3", NULL);
    assert_true(ridge_op_resize(&matmul, "m", 9));
    assert_near(matmul.matmul.m, 9, 0);
    assert_false(ridge_op_resize(&matmul, "mm", 9));
    assert_false(ridge_op_resize(&matmul, "m", 0.5));
}

static void bad_operations_are_explained(void **state)
{
    static const struct {
        const char *text, *dims, *want;
    } cases[] = {
        {"", NULL, "unknown operation ''"},
        {"8192x8192", NULL, "an operation is MxKxN"},
        {"1x2x3x4", NULL, "three dims"},
        {"1x0x3", NULL, "an operation is MxKxN"},
        {"1x2.5x3", NULL, "an operation is MxKxN"},
        {"1x2x1e300", NULL, "an operation is MxKxN"},
        {"conv:3", NULL, "unknown operation 'conv'"},
        {"add:-3", NULL, "whole number of elements, not '-3'"},
        {"add:", NULL, "whole number of elements"},
        {"add:3", "b=4", "have no meaning here"},
        {"attention:train", "t=3", "attention:prefill or attention:decode"},
        {"attention:decode", NULL, "wants s=TOKENS"},
        {"attention:prefill", "b=2", "wants t=TOKENS"},
        {"attention:prefill", "t=9,q=3", "unknown dim 'q'"},
        {"attention:prefill", "t=x", "t wants a whole number, not 'x'"},
        {"attention:prefill", "t=64,s=32", "do not fit in a causal context"},
        {"attention:decode", "s=64,n=6,k=4", "must divide"},
        {"flops:0", NULL, "expected a number above 0, not '0'"},
        {"flops:", NULL, "expected a number above 0"},
        {"flops:nan", NULL, "expected a number above 0"},
        {"flops:1e31", NULL, "expected a number above 0"},
        {"flops:1e9", "tokens=4", "no 'tokens'"},
        {"flops:1e9", "bytes", "bytes: expected a number above 0"},
        {"bytes:1GiB", "flops=1,bytes=2", "bytes is given twice"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_op_request request = {
            .text = cases[i].text, .dims = cases[i].dims, .formats = bf16};
        ridge_op op;
        assert_int_not_equal(ridge_op_parse(*state, &request, &op), RIDGE_OK);
        if (!strstr(ridge_ctx_message(*state), cases[i].want))
            fail_msg("'%s': %s", cases[i].text, ridge_ctx_message(*state));
    }
}

static void a_range_doubles_unless_it_says_how(void **state)
{
    ridge_sweep s;
    assert_int_equal(ridge_sweep_parse(*state, "m=1..8192", &s), RIDGE_OK);
    assert_string_equal(s.dim, "m");
    assert_true(s.is_factor);
    assert_near(s.step, 2, 0);
    assert_near(s.to, 8192, 0);
    assert_int_equal(ridge_sweep_parse(*state, "t=1k..64k*4", &s), RIDGE_OK);
    assert_near(s.step, 4, 0);
    assert_int_equal(ridge_sweep_parse(*state, "n=128..4096+128", &s), RIDGE_OK);
    assert_false(s.is_factor);
    assert_near(s.step, 128, 0);
}

static void bad_ranges_are_explained(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "write m=1..8192"},
        {"m", "write m=1..8192"},
        {"m=4", "no '..'"},
        {"m=..", "not a number"},
        {"m=1..x", "not a number"},
        {"m=1..8*", "not a number"},
        {"m=8..1", "must start at 1 or above and rise"},
        {"m=0..8", "must start at 1 or above and rise"},
        {"m=1..8*1", "must start at 1 or above and rise"},
        {"m=1..1e9+1", "more than 512 sizes"},
        {"m=1..1e9*1.000001", "more than 512 sizes"},
        {"averylongname=1..8", "write m=1..8192"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_sweep s;
        assert_int_not_equal(ridge_sweep_parse(*state, cases[i].text, &s), RIDGE_OK);
        if (!strstr(ridge_ctx_message(*state), cases[i].want))
            fail_msg("'%s': %s", cases[i].text, ridge_ctx_message(*state));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matmul_is_three_counts),
        cmocka_unit_test(adding_fp32_vectors_moves_twelve_bytes_an_element),
        cmocka_unit_test(decode_has_one_query_and_prefill_a_square),
        cmocka_unit_test(resizing_keeps_a_prefill_square),
        cmocka_unit_test(bad_operations_are_explained),
        cmocka_unit_test(a_range_doubles_unless_it_says_how),
        cmocka_unit_test(bad_ranges_are_explained),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
