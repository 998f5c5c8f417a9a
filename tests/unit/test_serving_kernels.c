/* Kernels of an engine's own in the price of an iteration: what each fact adds. */
#include "serving_fixture.h"

typedef struct bench {
    ridge_ctx *cx;
    const ridge_model *model;
    const ridge_slice *slice;
    ridge_engine engine;
    ridge_serving_layout layout;
} bench;

static bench bench_of(ridge_ctx *cx, const char *model, const char *slice, int64_t tp)
{
    bench b = {.cx = cx,
               .model = fixture_named(cx, model),
               .slice = train_slice(cx, slice),
               .engine = *serving_engine(cx, "vllm-v1")};
    b.layout = serving_layout_of(b.model, b.slice, tp);
    return b;
}

/* With the engine's facts as they stand in the bench. */
static ridge_serving_step price(const bench *b, ridge_serving_load load)
{
    const ridge_serving_case about = {.model = b->model,
                                      .slice = b->slice,
                                      .engine = &b->engine,
                                      .longest_tokens = 16384};
    ridge_serving_desk *desk;
    assert_ok(b->cx, ridge_serving_desk_open(b->cx, &about, &desk));
    return serving_step_of(b->cx, desk, &b->layout, &load);
}

static void layers_take_their_time_whatever_their_rows(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100:8", 4);
    b.engine.layer_s = b.engine.peer_layer_s = 0;
    const double none = price(&b, serving_decoding(16, 1000)).expected_s;
    b.engine.layer_s = 1e-5;
    b.engine.peer_layer_s = 1e-6;
    const double more = price(&b, serving_decoding(16, 1000)).expected_s;
    assert_near(more - none, 32 * (1e-5 + 3 * 1e-6), 1e-9);
}

static void streams_that_are_not_fused_grow_with_rows(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100", 1);
    const double one = price(&b, serving_chunk(1000, 0)).expected_s;
    b.engine.stream_bytes = 100;
    const double more = price(&b, serving_chunk(1000, 0)).expected_s - one;
    const double bytes = 100 * 1000 * 32.0 * (4096 + 14336);
    assert_true(more > bytes / b.slice->chip->hbm_bytes_per_s);
    assert_true(more < 1.5 * bytes / b.slice->chip->hbm_bytes_per_s);
}

static void stored_scores_grow_with_the_square_of_a_prompt(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100", 1);
    double more[2];
    for (int i = 0; i < 2; i++) {
        b.engine.score_bytes = 0;
        const double none = price(&b, serving_chunk(1024 << i, 0)).expected_s;
        b.engine.score_bytes = 24;
        more[i] = price(&b, serving_chunk(1024 << i, 0)).expected_s - none;
    }
    assert_near(more[1] / more[0], 4, 0.15);
}

/* Weights narrower than 16 bits are written out, wider ones are not. */
static void unpacking_costs_narrow_weights_alone(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100", 1);
    const ridge_serving_load load = serving_chunk(512, 0);
    const double wide = price(&b, load).expected_s;
    b.engine.unpack_cycle_weights = 1e-3;
    assert_near(price(&b, load).expected_s, wide, 1e-12);
    b.layout.formats.weight = RIDGE_DTYPE_INT4;
    b.layout.formats.group = 128;
    const ridge_chip *chip = b.slice->chip;
    const double cycles = chip->cores * chip->boost_clock_hz * 1e-3;
    const double dense = 32.0 * (4096.0 * (2 * 4096 + 2 * 1024) + 3 * 4096.0 * 14336);
    const double slow = price(&b, load).expected_s;
    b.engine.unpack_cycle_weights = 2e-3;
    assert_near(slow - price(&b, load).expected_s, dense / cycles / 2, 1e-6);
}

static void few_rows_draw_what_cores_ask_for(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100", 1);
    const double all = price(&b, serving_decoding(1, 100)).expected_s;
    b.engine.cycle_bytes = 1000;
    assert_near(price(&b, serving_decoding(1, 100)).expected_s, all, 1e-12);
    b.engine.cycle_bytes = 1;
    assert_true(price(&b, serving_decoding(1, 100)).expected_s > 4 * all);
    const double many = price(&b, serving_decoding(64, 100)).expected_s;
    b.engine.cycle_bytes = 0;
    assert_near(price(&b, serving_decoding(64, 100)).expected_s, many, 1e-12);
}

static void experts_have_a_share_for_each_format(void **state)
{
    bench b = bench_of(*state, "qwen3-30b-a3b", "h100", 1);
    const ridge_serving_load load = serving_chunk(8000, 0);
    b.engine.experts_share = 1;
    b.engine.experts_share_fp8 = 0.5;
    const double wide = price(&b, load).parts_s[RIDGE_SERVING_PART_EXPERTS];
    b.engine.experts_share_fp8 = 0.25;
    assert_near(price(&b, load).parts_s[RIDGE_SERVING_PART_EXPERTS], wide, 1e-12);
    b.layout.formats.expert = b.layout.formats.expert_compute = RIDGE_DTYPE_FP8;
    const double slow = price(&b, load).parts_s[RIDGE_SERVING_PART_EXPERTS];
    b.engine.experts_share_fp8 = 0.5;
    assert_true(price(&b, load).parts_s[RIDGE_SERVING_PART_EXPERTS] < 0.7 * slow);
}

/* gpt-oss's experts are in 4 bits; a chip without products of 8 bits by 4 unpacks them
 * to 16. */
static void unpacked_experts_have_kernels_of_their_own(void **state)
{
    bench b = bench_of(*state, "gpt-oss-120b", "h100:2", 2);
    const ridge_serving_load few = serving_decoding(8, 1000);
    const ridge_serving_load many = serving_chunk(8000, 0);
    const int experts = RIDGE_SERVING_PART_EXPERTS;
    b.engine.experts_share_narrow = b.engine.experts_narrow_s = 0;
    const double plain = price(&b, few).parts_s[experts];
    const double loaded = price(&b, many).parts_s[experts];
    b.engine.experts_narrow_s = 4e-5;
    assert_near(price(&b, few).parts_s[experts] - plain, 36 * 4e-5, 1e-9);
    b.engine.experts_narrow_s = 0;
    b.engine.experts_share_narrow = 0.25;
    assert_near(price(&b, few).parts_s[experts], plain, 1e-12);
    assert_true(price(&b, many).parts_s[experts] > 1.5 * loaded);
}

/* Graphs that hold decoding alone: with a prompt, all kernels are launched. */
static void prompts_take_at_least_their_launches(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100", 1);
    b.engine.launch_s = 1e-4;
    b.engine.graph_sequences = 512;
    b.engine.captures_decoding = false;
    const double captured = price(&b, serving_chunk(16, 0)).expected_s;
    const double decoding = price(&b, serving_decoding(16, 100)).expected_s;
    b.engine.captures_decoding = true;
    const ridge_serving_step step = price(&b, serving_chunk(16, 0));
    assert_true(step.expected_s > captured);
    assert_true(step.expected_s > 32 * 8 * 1e-4);
    assert_true(step.expected_s < 32 * 20 * 1e-4);
    assert_near(price(&b, serving_decoding(16, 100)).expected_s, decoding, 1e-12);
}

/* Where each stage has a host that prepares nothing ahead, a pipeline of few sequences
 * goes as fast as they do. */
static void stages_wait_for_their_hosts(void **state)
{
    bench b = bench_of(*state, "llama-3.1-8b", "h100:2", 1);
    b.layout.pp = 2;
    b.engine.stage_host_s = 0.1;
    b.engine.stage_sequence_s = 1e-3;
    assert_near(price(&b, serving_decoding(4, 100)).expected_s, 2 * (0.1 + 4e-3), 1e-9);
    b.layout.pp = 1;
    assert_true(price(&b, serving_decoding(4, 100)).expected_s < 0.05);
}

static void shared_experts_beside_routed_ones_save_their_calls(void **state)
{
    bench b = bench_of(*state, "deepseek-v3", "h100:8", 8);
    b.engine.overlaps_shared = false;
    const ridge_serving_step after = price(&b, serving_decoding(8, 1000));
    b.engine.overlaps_shared = true;
    const ridge_serving_step beside = price(&b, serving_decoding(8, 1000));
    const double saved = after.parts_s[RIDGE_SERVING_PART_DENSE] -
                         beside.parts_s[RIDGE_SERVING_PART_DENSE];
    assert_true(saved > 58 * b.slice->chip->achievable.launch_s);
    assert_true(beside.expected_s > beside.bound_s);
}

/* Queries of 6144 elements are not gathered to be normalised: what goes over tp hardly
 * grows with the rows beyond two all-reduces of a layer. */
static void norms_over_all_heads_sum_squares(void **state)
{
    bench b = bench_of(*state, "minimax-m2", "h100:8", 8);
    const double own =
        price(&b, serving_decoding(8, 1000)).parts_s[RIDGE_SERVING_PART_TP];
    bench plain = bench_of(*state, "qwen3-235b-a22b", "h100:8", 8);
    const double other =
        price(&plain, serving_decoding(8, 1000)).parts_s[RIDGE_SERVING_PART_TP];
    const double ratio = own / 62 / (other / 94);
    assert_true(ratio > 1.1 && ratio < 1.6);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(layers_take_their_time_whatever_their_rows),
        CASE(streams_that_are_not_fused_grow_with_rows),
        CASE(stored_scores_grow_with_the_square_of_a_prompt),
        CASE(unpacking_costs_narrow_weights_alone),
        CASE(few_rows_draw_what_cores_ask_for),
        CASE(experts_have_a_share_for_each_format),
        CASE(unpacked_experts_have_kernels_of_their_own),
        CASE(prompts_take_at_least_their_launches),
        CASE(stages_wait_for_their_hosts),
        CASE(shared_experts_beside_routed_ones_save_their_calls),
        CASE(norms_over_all_heads_sum_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
