/* Attention on one chip: masks, windows, grouped heads, prefill against decode. */
#include "near.h"
#include "plain_chip.h"
#include "ridge/cost.h"

static ridge_attention attention_of(double batch, double queries, double context)
{
    return (ridge_attention){.batch = batch,
                             .query_tokens = queries,
                             .context_tokens = context,
                             .heads = 32,
                             .kv_heads = 8,
                             .head_dim = 128,
                             .v_head_dim = 128,
                             .is_causal = true,
                             .activation = RIDGE_DTYPE_BF16,
                             .cache = RIDGE_DTYPE_BF16,
                             .compute = RIDGE_DTYPE_BF16};
}

/* Scores of brute force: what query i of T sees, counted one by one. */
static double scores_counted(const ridge_attention *op)
{
    double scores = 0;
    for (double i = 0; i < op->query_tokens; i++) {
        double sees = op->context_tokens - op->query_tokens + i + 1;
        if (!op->is_causal)
            sees = op->context_tokens;
        if (op->window > 0 && sees > op->window)
            sees = op->window;
        scores += sees;
    }
    return scores;
}

static void scores_are_those_that_the_mask_leaves(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const double windows[] = {0, 1, 17, 64, 100, 5000};
    const double queries[] = {1, 2, 60, 100};
    for (size_t w = 0; w < 6; w++) {
        for (size_t q = 0; q < 4; q++) {
            ridge_attention op = attention_of(3, queries[q], 100);
            op.window = windows[w];
            const double flops = 2 * 3 * 32 * scores_counted(&op) * 256;
            assert_near(ridge_attention_cost(&chip, &op).matmul_flops, flops, 1e-12);
        }
    }
}

static void a_full_square_is_twice_a_long_causal_one(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_attention op = attention_of(1, 8192, 8192);
    const double causal = ridge_attention_cost(&chip, &op).matmul_flops;
    op.is_causal = false;
    const double full = ridge_attention_cost(&chip, &op).matmul_flops;
    assert_near(full / causal, 2 * 8192.0 / 8193, 1e-12);
}

static void keys_are_read_once_for_each_kv_head(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_attention op = attention_of(4, 1, 1000);
    const double want = 4 * (32 * 256 * 2) + 4 * 1000 * 8 * 256 * 2.0;
    assert_near(ridge_attention_cost(&chip, &op).bytes, want, 1e-12);
}

static void a_window_bounds_the_keys_that_decode_reads(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_attention windowed = attention_of(4, 1, 100000);
    windowed.window = 128;
    const ridge_attention brief = attention_of(4, 1, 128);
    assert_near(ridge_attention_cost(&chip, &windowed).bytes,
                ridge_attention_cost(&chip, &brief).bytes, 1e-12);
}

static void decode_intensity_tends_to_the_heads_of_a_group(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_attention op = attention_of(16, 1, 1e6);
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    assert_near(c.intensity_flops_per_byte, 4, 1e-4);
    assert_int_equal(c.bound_by, RIDGE_BOUND_MEMORY);
}

static void a_long_prefill_reaches_the_achievable_share(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    const ridge_attention op = attention_of(4, 32768, 32768);
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    assert_near(c.compute_s / c.expected_s, 0.55, 0.02);
}

/* The exponentials of a score do not get cheaper with the head. */
static void small_heads_reach_a_smaller_share(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_attention op = attention_of(4, 32768, 32768);
    op.head_dim = op.v_head_dim = 64;
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    const double share = c.compute_s / c.expected_s;
    assert_true(share > 0.35 && share < 0.45);
}

static void a_systolic_array_computes_padded_heads(void **state)
{
    (void)state;
    ridge_chip chip = plain_tpu();
    chip.vector_flops_per_s = 0;
    ridge_attention op = attention_of(4, 32768, 32768);
    const ridge_op_cost whole = ridge_attention_cost(&chip, &op);
    op.head_dim = op.v_head_dim = 64;
    const ridge_op_cost half = ridge_attention_cost(&chip, &op);
    assert_near(half.matmul_flops, whole.matmul_flops / 2, 1e-12);
    assert_near(half.expected_s, whole.expected_s, 1e-9);
}

static void one_long_sequence_is_split_over_the_sms(void **state)
{
    (void)state;
    const ridge_chip chip = plain_gpu();
    ridge_attention op = attention_of(1, 1, 131072);
    op.heads = op.kv_heads = 1;
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    /* one SM alone draws a few times its 132nd of HBM's bandwidth */
    const double alone = 3 * 3.35e12 / 132;
    assert_true(c.expected_s < c.bytes / alone / 20);
    op.context_tokens = 256;
    const ridge_op_cost brief = ridge_attention_cost(&chip, &op);
    assert_true(brief.expected_s - 4e-6 >= brief.bytes / alone);
}

static ridge_chip engine_gpu(void)
{
    ridge_chip chip = plain_gpu();
    chip.achievable.decode = 0.8;
    chip.achievable.decode_call_s = 10e-6;
    chip.achievable.decode_block_s = 2e-6;
    chip.achievable.prefill_call_s = 14e-6;
    chip.achievable.prefill_block_s = 1e-6;
    return chip;
}

static void an_engines_call_costs_its_floor(void **state)
{
    (void)state;
    const ridge_chip chip = engine_gpu();
    ridge_attention op = attention_of(1, 1, 16);
    const double kernel_s = ridge_attention_cost(&chip, &op).expected_s;
    op.is_engine_call = true;
    const double call_s = ridge_attention_cost(&chip, &op).expected_s;
    /* the call instead of the launch, and a round of one block */
    assert_near(call_s - kernel_s, (10e-6 - 4e-6) + 2e-6, 1e-6);
}

static void many_short_sequences_pay_for_every_block(void **state)
{
    (void)state;
    const ridge_chip chip = engine_gpu();
    ridge_attention op = attention_of(1, 1, 16);
    op.is_engine_call = true;
    op.heads = op.kv_heads = 1;
    op.batch = 132;
    const double one_round_s = ridge_attention_cost(&chip, &op).expected_s;
    op.batch = 1320;
    const double ten_rounds_s = ridge_attention_cost(&chip, &op).expected_s;
    assert_true(ten_rounds_s - one_round_s >= 9 * 2e-6);
}

/* A step of the kernel's grid is a KV head of a sequence: a chip that has one of eight
 * starts an eighth of them. */
static void a_systolic_array_starts_a_block_for_each_kv_head(void **state)
{
    (void)state;
    ridge_chip chip = plain_tpu();
    ridge_attention op = attention_of(64, 1, 16);
    op.is_engine_call = true;
    const double all_s = ridge_attention_cost(&chip, &op).expected_s;
    chip.achievable.decode_block_s = 1e-6;
    assert_near(ridge_attention_cost(&chip, &op).expected_s - all_s, 64 * 8 * 1e-6,
                1e-6);
    chip.achievable.decode_block_s = 0;
    op.heads = 4;
    op.kv_heads = 1;
    const double one_s = ridge_attention_cost(&chip, &op).expected_s;
    chip.achievable.decode_block_s = 1e-6;
    assert_near(ridge_attention_cost(&chip, &op).expected_s - one_s, 64 * 1e-6, 1e-6);
}

static void long_caches_stream_at_the_engines_share(void **state)
{
    (void)state;
    const ridge_chip chip = engine_gpu();
    ridge_attention op = attention_of(64, 1, 65536);
    op.is_engine_call = true;
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    assert_near(c.expected_s, c.bytes / (0.8 * 3.35e12), 0.02);
}

static void an_engines_prefill_stores_keys_and_rotates(void **state)
{
    (void)state;
    const ridge_chip chip = engine_gpu();
    ridge_attention op = attention_of(8, 4096, 4096);
    op.is_engine_call = true;
    const double stored_s = ridge_attention_cost(&chip, &op).expected_s;
    op.rotates = true;
    const double rotated_s = ridge_attention_cost(&chip, &op).expected_s;
    /* queries read and written once more, at 0.7 of a stream's rate */
    const double bytes = 2.0 * 8 * 4096 * op.heads * op.head_dim * 2;
    assert_near(rotated_s - stored_s, bytes / (3.35e12 * 0.86 * 0.7), 1e-6);
}

static void a_latent_is_read_once(void **state)
{
    (void)state;
    const ridge_chip chip = engine_gpu();
    ridge_attention op = attention_of(16, 1, 8192);
    op.kv_heads = 1;
    op.head_dim = 576;
    op.v_head_dim = 512;
    op.is_latent = true;
    const ridge_op_cost c = ridge_attention_cost(&chip, &op);
    const double queries = 16.0 * op.heads * (576 + 512) * 2;
    assert_near(c.bytes, queries + 16.0 * 8192 * 576 * 2, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_that_the_mask_leaves),
        cmocka_unit_test(a_full_square_is_twice_a_long_causal_one),
        cmocka_unit_test(keys_are_read_once_for_each_kv_head),
        cmocka_unit_test(a_window_bounds_the_keys_that_decode_reads),
        cmocka_unit_test(decode_intensity_tends_to_the_heads_of_a_group),
        cmocka_unit_test(a_long_prefill_reaches_the_achievable_share),
        cmocka_unit_test(small_heads_reach_a_smaller_share),
        cmocka_unit_test(a_systolic_array_computes_padded_heads),
        cmocka_unit_test(one_long_sequence_is_split_over_the_sms),
        cmocka_unit_test(an_engines_call_costs_its_floor),
        cmocka_unit_test(many_short_sequences_pay_for_every_block),
        cmocka_unit_test(a_systolic_array_starts_a_block_for_each_kv_head),
        cmocka_unit_test(long_caches_stream_at_the_engines_share),
        cmocka_unit_test(an_engines_prefill_stores_keys_and_rotates),
        cmocka_unit_test(a_latent_is_read_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
