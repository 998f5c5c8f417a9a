/* Prices as tables, and batches that graphs pad. */
#include "serving_fixture.h"

#include "service_source.h"

/* Steps of tiles ask for more knots than a table has: its last one stays. */
static void tables_reach_the_largest_iteration(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "llama-4-scout", "h100:4", 1);
    const ridge_serving_case about = {.model = b.model,
                                      .slice = b.slice,
                                      .engine = serving_engine(cx, "trtllm"),
                                      .longest_tokens = 2176,
                                      .expert_skew = 0.5};
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &b.desk));
    b.layout.attention_dp = b.layout.ep = 4;
    b.layout.budget_tokens = 15360;
    b.layout.sequences = 896;
    b.layout.formats.weight = b.layout.formats.expert = RIDGE_DTYPE_FP8;
    b.layout.formats.compute = b.layout.formats.expert_compute = RIDGE_DTYPE_FP8;
    ridge_serving_speed speed;
    assert_ok(cx, ridge_serving_speed_build(b.desk, &b.layout, &speed));
    assert_true(speed.rows.x[speed.rows.n - 1] >= 4 * 15360);
    assert_near(ridge_curve_table_at(&speed.rows, 57344) /
                    ridge_curve_table_at(&speed.rows, 28672),
                2, 0.05);
}

static void batches_are_padded_to_sizes_of_graphs(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "qwen3-30b-a3b", "h100", 1);
    ridge_engine engine = *serving_engine(cx, "trtllm");
    engine.graph_sizes = (ridge_graph_sizes){.n = 2, .of = {64, 256}};
    engine.graph_sequences = 256;
    const ridge_serving_case about = {
        .model = b.model, .slice = b.slice, .engine = &engine, .longest_tokens = 4096};
    assert_ok(cx, ridge_serving_desk_open(cx, &about, &b.desk));
    const ridge_serving_step small = serving_price(&b, serving_decoding(64, 100));
    const ridge_serving_step padded = serving_price(&b, serving_decoding(65, 100));
    const ridge_serving_step whole = serving_price(&b, serving_decoding(256, 100));
    const ridge_serving_step beyond = serving_price(&b, serving_decoding(257, 100));
    assert_true(serving_part(&small, RIDGE_SERVING_PART_EXPERTS) <
                serving_part(&padded, RIDGE_SERVING_PART_EXPERTS));
    assert_near(serving_part(&padded, RIDGE_SERVING_PART_EXPERTS),
                serving_part(&whole, RIDGE_SERVING_PART_EXPERTS), 1e-12);
    assert_true(serving_part(&beyond, RIDGE_SERVING_PART_EXPERTS) >
                serving_part(&whole, RIDGE_SERVING_PART_EXPERTS));
}

/* One rank has the prompt of eight: its attention and products are waited for, experts
 * have one prompt's rows; from tables as step by step. */
static void ranks_wait_for_the_fullest(void **state)
{
    ridge_ctx *cx = *state;
    serving_fixture b = serving_fixture_of(cx, "deepseek-v2-lite", "h100:1x8", 1);
    b.layout.attention_dp = b.layout.ep = 8;
    b.layout.sequences = 8 * 32;
    ridge_serving_load load = serving_decoding(32, 2048);
    load.chunk_tokens = 1024.0 / 8;
    load.chunks = 1.0 / 8;
    load.finishing = 1.0 / 8;
    const ridge_serving_step even = serving_price(&b, load);
    load.fullest = 1;
    const ridge_serving_step one = serving_price(&b, load);
    double sum = 0;
    for (int i = 0; i < RIDGE_SERVING_PART_COUNT; i++)
        sum += one.parts_s[i];
    assert_near(sum, one.expected_s, 1e-12);
    assert_true(serving_part(&one, RIDGE_SERVING_PART_PREFILL_ATTENTION) >
                serving_part(&even, RIDGE_SERVING_PART_PREFILL_ATTENTION));
    assert_true(serving_part(&one, RIDGE_SERVING_PART_DENSE) >
                1.1 * serving_part(&even, RIDGE_SERVING_PART_DENSE));
    assert_near(serving_part(&one, RIDGE_SERVING_PART_EXPERTS),
                serving_part(&even, RIDGE_SERVING_PART_EXPERTS), 1e-12);
    ridge_serving_speed speed;
    assert_ok(cx, ridge_serving_speed_build(b.desk, &b.layout, &speed));
    assert_near(service_speed_iteration_s(&speed, &load), one.expected_s, 0.02);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(tables_reach_the_largest_iteration),
        CASE(batches_are_padded_to_sizes_of_graphs),
        CASE(ranks_wait_for_the_fullest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
