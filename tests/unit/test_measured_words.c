/* Words of published plans, as different sources write them. */
#include "measured_words.h"
#include "near.h"

#include "ridge/base.h"
#include "ridge/hardware_stack.h"
#include "ridge/plan_layout.h"

static void zero_stages_are_known_however_they_are_written(void **state)
{
    static const struct {
        const char *text;
        int stage;
    } rows[] = {
        {"zero-1", 1},
        {"ZeRO-1", 1},
        {"ZeRO 1 (distributed optimizer)", 1},
        {"distributed optimizer", 1},
        {"Distributed_Optimizer", 1},
        {"DeepSpeed stage 2", 2},
        {"fsdp SHARD_GRAD_OP (zero-2)", 2},
        {"fsdp (zero-1/2 style, as published)", 2},
        {"FSDP2", 3},
        {"HSDP over 8 ranks", 3},
        {"zero_stage=3", 3},
        {"ddp", 0},
        {"none", 0},
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        int stage = -1;
        assert_true(measured_zero_word(rows[i].text, &stage));
        assert_int_equal(stage, rows[i].stage);
    }
}

static void unknown_words_are_not_guessed(void **state)
{
    int value = -7;
    bool is_on;
    measured_rate rate;
    (void)state;
    assert_false(measured_zero_word("sharded somehow", &value));
    assert_false(measured_zero_word(NULL, &value));
    assert_false(measured_remat_word("custom", &value));
    assert_false(measured_precision_word("int8 quantized training", &value));
    assert_false(measured_switch_word("not stated", &is_on));
    assert_false(measured_rate_words("EFA", &rate));
    assert_false(measured_rate_words(NULL, &rate));
    assert_int_equal(value, -7);
}

static void recomputation_is_a_word_or_a_switch(void **state)
{
    static const struct {
        const char *text;
        int remat;
    } rows[] = {{"Full", RIDGE_REMAT_FULL},
                {"full (uniform, 1 layer)", RIDGE_REMAT_FULL},
                {"true", RIDGE_REMAT_FULL},
                {"off", RIDGE_REMAT_NONE},
                {"None", RIDGE_REMAT_NONE},
                {"Selective (core attention)", RIDGE_REMAT_SELECTIVE},
                {"core_attn", RIDGE_REMAT_SELECTIVE},
                {"minimal_flash", RIDGE_REMAT_MATMULS}};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        int remat = -1;
        assert_true(measured_remat_word(rows[i].text, &remat));
        assert_int_equal(remat, rows[i].remat);
    }
}

static void formats_of_any_spelling(void **state)
{
    static const struct {
        const char *text;
        int precision;
    } rows[] = {{"BF16 mixed", RIDGE_PRECISION_BF16},
                {"bfloat16", RIDGE_PRECISION_BF16},
                {"bf16 (PURE)", RIDGE_PRECISION_BF16_PURE},
                {"FP8-MX", RIDGE_PRECISION_MXFP8},
                {"float8 with float8 all-gather", RIDGE_PRECISION_FP8_WEIGHTS},
                {"half", RIDGE_PRECISION_FP16},
                {"NVFP4 (bf16 tail)", RIDGE_PRECISION_FP4}};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        int precision = -1;
        assert_true(measured_precision_word(rows[i].text, &precision));
        assert_int_equal(precision, rows[i].precision);
    }
}

static void optimizers_of_any_spelling(void **state)
{
    static const struct {
        const char *text;
        int optimizer;
    } rows[] = {{"decoupled AdamW", RIDGE_OPTIMIZER_ADAMW},
                {"adam", RIDGE_OPTIMIZER_ADAMW},
                {"AdamW (hybrid ZeRO)", RIDGE_OPTIMIZER_ADAMW},
                {"Muon", RIDGE_OPTIMIZER_MUON},
                {"8-bit AdamW", RIDGE_OPTIMIZER_ADAMW_8BIT},
                {"AdamW, moments in bf16", RIDGE_OPTIMIZER_ADAMW_BF16},
                {"Adafactor", RIDGE_OPTIMIZER_ADAFACTOR},
                {"SGD with momentum", RIDGE_OPTIMIZER_MOMENTUM},
                {"sgd", RIDGE_OPTIMIZER_SGD}};
    int value = -7;
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        assert_true(measured_optimizer_word(rows[i].text, &value));
        assert_int_equal(value, rows[i].optimizer);
    }
    assert_false(measured_optimizer_word("Lion", &value));
    assert_false(measured_optimizer_word(NULL, &value));
}

static void kernels_of_attention_are_said_to_be_there_or_not(void **state)
{
    int value = -7;
    (void)state;
    assert_true(measured_attention_word("FlashAttention 2", &value));
    assert_int_equal(value, RIDGE_ATTENTION_FLASH);
    assert_true(measured_attention_word("no flash attention", &value));
    assert_int_equal(value, RIDGE_ATTENTION_UNFUSED);
    assert_false(
        measured_attention_word("alternating sliding window 128 / full", &value));
}

static void rates_of_links_and_of_nodes(void **state)
{
    static const struct {
        const char *text;
        double bytes_per_s;
        bool is_of_node;
    } rows[] = {
        {"8x HDR InfiniBand 200 Gbit/s per node", 200e9, true},
        {"RoCE/IB, 8x 200 Gbit/s per node", 200e9, true},
        {"8x 400 Gb/s NDR", 400e9, true},
        {"RDMA 400 Gbit/s per GPU", 50e9, false},
        {"InfiniBand 400 Gb/s", 50e9, false},
        {"EFA 3200 Gbps", 400e9, true},
        {"3.2 Tbps EFAv2", 400e9, true},
        {"Slingshot 25 GB/s per GPU", 25e9, false},
        {"NDR InfiniBand", 50e9, false},
        {"Omni-Path (4x 100 Gbit/s per node)", 50e9, true},
    };
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(rows); i++) {
        measured_rate rate = {0};
        assert_true(measured_rate_words(rows[i].text, &rate));
        assert_near(rate.bytes_per_s, rows[i].bytes_per_s, 1e-12);
        assert_int_equal(rate.is_of_node, rows[i].is_of_node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_stages_are_known_however_they_are_written),
        cmocka_unit_test(unknown_words_are_not_guessed),
        cmocka_unit_test(recomputation_is_a_word_or_a_switch),
        cmocka_unit_test(formats_of_any_spelling),
        cmocka_unit_test(optimizers_of_any_spelling),
        cmocka_unit_test(kernels_of_attention_are_said_to_be_there_or_not),
        cmocka_unit_test(rates_of_links_and_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
