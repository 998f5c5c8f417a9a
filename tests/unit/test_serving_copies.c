/* Copies of hot experts: how many fit, what they weigh, and what they even out. */
#include "serving_fixture.h"

#include "ridge/cost.h"

#include <math.h>
#include <string.h>

typedef struct bench {
    ridge_serving_desk *desk;
    ridge_serving_layout layout;
} bench;

static void open_bench(ridge_ctx *cx, const char *model_name, const char *slice_text,
                       int64_t ranks, double skew, bench *b)
{
    const ridge_model *model = fixture_named(cx, model_name);
    const ridge_slice *slice = train_slice(cx, slice_text);
    const ridge_serving_case about = {.model = model,
                                      .slice = slice,
                                      .engine = serving_engine(cx, "sglang"),
                                      .expert_skew = skew,
                                      .longest_tokens = 8192};
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &b->desk));
    b->layout = serving_layout_of(model, slice, 1);
    b->layout.attention_dp = ranks;
    b->layout.ep = ranks;
}

/* DeepSeek's own units: decoding on 144 chips with two slots each, prompts on 32 with
 * nine. @source deepseek-v3-2024, section 3.4 */
static void published_units_are_legal(void **state)
{
    static const struct {
        const char *slice;
        int64_t chips, copies;
    } cases[] = {{"h800:18x8", 144, 32}, {"h800:4x8", 32, 32}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        bench b;
        open_bench(*state, "deepseek-v3", cases[i].slice, cases[i].chips, 0, &b);
        b.layout.redundant_experts = cases[i].copies;
        assert_null(ridge_serving_layout_fault(b.desk, &b.layout));
    }
}

static void counts_that_do_not_fit_are_told(void **state)
{
    static const struct {
        const char *model;
        int64_t ep, copies;
        const char *says;
    } cases[] = {{"deepseek-v3", 72, 0, "redundant=32"},
                 {"deepseek-v3", 72, 8, "redundant=32"},
                 {"deepseek-v3", 8, 2048, "have at most 768 copies"},
                 {"deepseek-v3", 1, 8, "have at most 0 copies"},
                 {"llama-3-8b", 1, 8, "has no experts"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        bench b;
        const bool is_dense = strcmp(cases[i].model, "llama-3-8b") == 0;
        open_bench(*state, cases[i].model, "gb200:1x72", is_dense ? 1 : 72, 0, &b);
        b.layout.ep = cases[i].ep;
        b.layout.redundant_experts = cases[i].copies;
        const char *fault = ridge_serving_layout_fault(b.desk, &b.layout);
        assert_non_null(fault);
        assert_non_null(strstr(fault, cases[i].says));
    }
}

/* 58 layers of 256 experts of 3 x 7168 x 2048 in 8 bits with a scale of 4 bytes for
 * each block of 128 x 128. */
static void copies_weigh_as_experts_do(void **state)
{
    bench b;
    ridge_serving_memory once, more;
    open_bench(*state, "deepseek-v3", "h200:2x8", 16, 0, &b);
    assert_ok(*state, ridge_serving_memory_find(b.desk, &b.layout, &once));
    b.layout.redundant_experts = 32;
    assert_ok(*state, ridge_serving_memory_find(b.desk, &b.layout, &more));
    const double expert = 3.0 * 7168 * 2048 * (1 + 4.0 / (128 * 128));
    assert_near(more.weights - once.weights, 58 * 32 / 16 * expert, 1e-6);
    assert_true(more.blocks < once.blocks);
}

static double experts_s(ridge_ctx *cx, double skew, int64_t copies, double sequences)
{
    bench b;
    const ridge_serving_load load = serving_decoding(sequences, 1024);
    open_bench(cx, "deepseek-v3", "h200:2x8", 16, skew, &b);
    b.layout.redundant_experts = copies;
    return serving_step_of(cx, b.desk, &b.layout, &load)
        .parts_s[RIDGE_SERVING_PART_EXPERTS];
}

/* Of unequal loads the fullest chip has less to do; of equal ones copies are only more
 * weights to read. */
static void copies_even_out_unequal_loads(void **state)
{
    assert_true(experts_s(*state, 1, 16, 512) < 0.8 * experts_s(*state, 1, 0, 512));
    assert_true(experts_s(*state, 0, 16, 512) >= experts_s(*state, 0, 0, 512));
}

/* Two chips, three experts with loads of 6, 3 and 2 parts of 11, and one copy: the
 * first expert is halved, and 3 + 3 stand against 3 + 2. */
static void places_by_hand(void **state)
{
    const ridge_chip *chip = train_slice(*state, "h100:1x1")->chip;
    ridge_experts op = {.tokens = 1e6,
                        .experts_per_token = 1,
                        .experts = 3,
                        .ways = 2,
                        .redundant = 1,
                        .d_model = 4096,
                        .d_ff = 4096,
                        .skew = 1,
                        .activation = RIDGE_DTYPE_BF16,
                        .weight = RIDGE_DTYPE_BF16,
                        .compute = RIDGE_DTYPE_BF16,
                        .waits_for_fullest = true,
                        .rate_share = 1};
    const double copied = ridge_experts_cost(chip, &op).expected_s;
    op.tokens *= 12.0 / 11; /* equal loads as large as the fullest of those */
    op.experts = 4;
    op.redundant = 0;
    op.skew = 0;
    assert_near(copied, ridge_experts_cost(chip, &op).expected_s, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(published_units_are_legal, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(counts_that_do_not_fit_are_told, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(copies_weigh_as_experts_do, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(copies_even_out_unequal_loads, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(places_by_hand, fixture_open, fixture_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
