/* Which tensor-parallel degrees are legal, and the words for those that are not. */
#include "model_fixture.h"

#include <string.h>

static void assert_words(const ridge_model *m, ridge_ctx *cx, int64_t tp,
                         const char *part)
{
    const char *text = ridge_model_tp_text(ridge_ctx_arena(cx), m, tp);
    if (strstr(text, part) == NULL) {
        print_error("no \"%s\" in: %s\n", part, text);
        fail();
    }
}

static void ten_kv_heads_split_or_are_replicated(void **state)
{
    const ridge_model *m = fixture_named(*state, "phi-4");
    const int64_t even[] = {1, 2, 5, 10}, copies[] = {20, 40}, neither[] = {4, 8};
    for (size_t i = 0; i < RIDGE_COUNT_OF(even); i++)
        assert_int_equal(ridge_model_tp(m, even[i]), RIDGE_TP_OK);
    for (size_t i = 0; i < RIDGE_COUNT_OF(copies); i++)
        assert_int_equal(ridge_model_tp(m, copies[i]), RIDGE_TP_REPLICATES_KV);
    for (size_t i = 0; i < RIDGE_COUNT_OF(neither); i++)
        assert_int_equal(ridge_model_tp(m, neither[i]), RIDGE_TP_KV_HEADS);
    assert_int_equal(ridge_model_tp(m, 3), RIDGE_TP_HEADS);
    assert_words(m, *state, 4, "10 KV heads neither divide by 4 nor divide it");
    assert_words(m, *state, 4,
                 "possible: 1, 2, 5, 10; with replicated KV heads: 20, 40");
    assert_words(m, *state, 20, "each of 10 KV heads is held by 2 ranks");
    assert_words(m, *state, 3, "query heads 40 does not divide by 3");
}

static void blocks_of_a_format_are_not_cut(void **state)
{
    const ridge_model *m = fixture_named(*state, "deepseek-r1");
    assert_int_equal(ridge_model_tp(m, 16), RIDGE_TP_OK);
    assert_int_equal(ridge_model_tp(m, 32), RIDGE_TP_BLOCK);
    assert_words(m, *state, 32, "18432 / 32 = 576 is 4.5 blocks of 128");
}

#define QWEN_72B                                                                       \
    "{'model_type': 'qwen2', 'hidden_size': 8192, 'num_hidden_layers': 80,"            \
    " 'num_attention_heads': 64, 'num_key_value_heads': 8, 'vocab_size': 152064,"      \
    " 'intermediate_size': 29568, 'tie_word_embeddings': false %s}"

static void groups_of_4_bit_weights_are_not_cut(void **state)
{
    const ridge_model *plain = fixture_model(*state, QWEN_72B, "");
    const ridge_model *packed =
        fixture_model(*state, QWEN_72B,
                      ", 'quantization_config': {'quant_method': 'gptq', 'bits': 4, "
                      "'group_size': 128}");
    const int64_t ways[] = {2, 4, 8};
    for (size_t i = 0; i < RIDGE_COUNT_OF(ways); i++) {
        assert_int_equal(ridge_model_tp(plain, ways[i]), RIDGE_TP_OK);
        assert_int_equal(ridge_model_tp(packed, ways[i]), RIDGE_TP_BLOCK);
    }
    assert_words(packed, *state, 2, "231 blocks in all");
}

static void vision_heads_do_not_limit(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'llava', 'text_config': {'model_type': 'llama',"
                " 'hidden_size': 8192, 'num_hidden_layers': 2, 'vocab_size': 1000,"
                " 'num_attention_heads': 64, 'intermediate_size': 28672},"
                " 'vision_config': {'hidden_size': 3200, 'num_hidden_layers': 2,"
                " 'num_attention_heads': 25, 'intermediate_size': 12800,"
                " 'patch_size': 14, 'image_size': 336}}");
    assert_int_equal(ridge_model_tp(m, 64), RIDGE_TP_OK);
}

static void experts_may_be_dealt_out_whole(void **state)
{
    /* width 1536 = 12 blocks: 8 ways cut a block, but 128 experts divide by 8 */
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'qwen3_moe', 'hidden_size': 4096, 'num_hidden_layers': 2,"
        " 'num_attention_heads': 64, 'num_key_value_heads': 4, 'head_dim': 128,"
        " 'num_experts': 128, 'num_experts_per_tok': 8, 'moe_intermediate_size': 1536,"
        " 'intermediate_size': 12288, 'vocab_size': 151936,"
        " 'quantization_config': {'quant_method': 'fp8', 'weight_block_size': [128, "
        "128]}}");
    assert_int_equal(ridge_model_tp(m, 8), RIDGE_TP_REPLICATES_KV);
    assert_int_equal(ridge_model_expert_tp(m, 8), RIDGE_TP_BLOCK);
    assert_int_equal(ridge_model_expert_tp(m, 4), RIDGE_TP_OK);
}

static void small_gates_are_no_obstacle(void **state)
{
    const ridge_model *m = fixture_named(*state, "qwen3.5-397b-a17b-fp8");
    assert_int_equal(ridge_model_tp(m, 8), RIDGE_TP_REPLICATES_KV);
}

static void odd_width_does_not_divide(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'llama', 'hidden_size': 64, 'num_hidden_layers': 2,"
        " 'num_attention_heads': 8, 'intermediate_size': 100, 'vocab_size': 10}");
    assert_int_equal(ridge_model_tp(m, 4), RIDGE_TP_OK);
    assert_int_equal(ridge_model_tp(m, 8), RIDGE_TP_WIDTH);
    assert_words(m, *state, 8, "feed-forward width 100 does not divide by 8");
}

static void state_space_groups_are_replicated(void **state)
{
    const ridge_model *m = fixture_named(*state, "nemotron-h-56b");
    assert_int_equal(ridge_model_tp(m, 8), RIDGE_TP_OK);
    assert_int_equal(ridge_model_tp(m, 16), RIDGE_TP_REPLICATES_KV);
}

static void degree_zero_is_refused(void **state)
{
    const ridge_model *m = fixture_named(*state, "llama-3-8b");
    assert_int_equal(ridge_model_tp(m, 0), RIDGE_TP_HEADS);
    assert_int_equal(ridge_model_expert_tp(m, 0), RIDGE_TP_WIDTH);
    assert_words(m, *state, 0, "at least 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_kv_heads_split_or_are_replicated),
        cmocka_unit_test(blocks_of_a_format_are_not_cut),
        cmocka_unit_test(groups_of_4_bit_weights_are_not_cut),
        cmocka_unit_test(vision_heads_do_not_limit),
        cmocka_unit_test(experts_may_be_dealt_out_whole),
        cmocka_unit_test(small_gates_are_no_obstacle),
        cmocka_unit_test(odd_width_does_not_divide),
        cmocka_unit_test(state_space_groups_are_replicated),
        cmocka_unit_test(degree_zero_is_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
