/* Rows of measured serving: what CSV and JSON say, which degrees, engines and formats
 * follow, which practice stands behind them. */
#include "plain_chip.h"
#include "served_bench.h"
#include "served_price.h"
#include "train_fixture.h"

#include <string.h>

#define HEADER                                                                         \
    "id,model_path,system,backend,backend_version,precision,mode,isl,osl,concurrency," \
    "gemm_quant_mode,moe_quant_mode,batch_size,tp_size,pp_size,attention_dp_size,"     \
    "moe_tp_size,moe_ep_size,prefill_num_workers,prefill_tp_size,decode_num_workers,"  \
    "decode_tp_size,silicon_ttft_ms,silicon_tpot_ms\n"

static served_run read_csv(ridge_ctx *cx, const char *line)
{
    const char *text = ridge_sprintf(ridge_ctx_arena(cx), HEADER "%s\n", line);
    measured_csv csv = {.path = "rows.csv", .rest = ridge_str_of(text)};
    measured_csv_row header, row;
    bool has_row;
    served_run run;
    assert_ok(cx, measured_csv_next(cx, &csv, &header, &has_row));
    assert_true(served_csv_is_header(&header));
    assert_ok(cx, measured_csv_next(cx, &csv, &row, &has_row));
    assert_true(has_row);
    assert_ok(cx, served_run_of_csv(cx, &csv, &header, &row, &run));
    return run;
}

static served_run read_json(ridge_ctx *cx, const char *config, const char *measured)
{
    served_run run;
    const char *text = ridge_sprintf(
        ridge_ctx_arena(cx),
        "{\"id\": \"a\", \"source\": {\"title\": \"A paper\"}, \"model\": {\"name\": "
        "\"Llama-3.1-8B\"}, \"hardware\": {\"chip\": \"H100 SXM 80GB\", \"n_chips\": "
        "4}, \"config\": {%s}, \"measured\": {%s}, \"note\": null}",
        config, measured);
    assert_ok(cx, served_run_of_json(cx, ridge_str_of(text), "rows:1", &run));
    return run;
}

static void csv_has_degrees_and_times(void **state)
{
    ridge_ctx *cx = *state;
    const served_run run = read_csv(
        cx, "a,meta-llama/Llama-3.1-70B,h100_sxm,vllm,0.12.0,fp8,agg,1024,512,16,fp8,"
            "fp8,16,4,1,1,4,1,,,,,121.4,13.19");
    assert_string_equal(run.framework, "vllm 0.12.0");
    assert_int_equal(run.pools[0].tp, 4);
    assert_int_equal(run.chips, 4);
    assert_false(run.is_split);
    assert_near(run.concurrency, 16, 0);
    assert_near(run.measured[RIDGE_SERVING_METRIC_TTFT], 0.1214, 1e-12);
    assert_near(run.measured[RIDGE_SERVING_METRIC_TPOT], 0.01319, 1e-12);
}

static void workers_of_prompts_and_of_generation_stand_apart(void **state)
{
    ridge_ctx *cx = *state;
    const served_run run = read_csv(
        cx, "a,m,b200_sxm,trtllm,,fp8,disagg,1024,1024,64,fp8,fp8,,,,,,,2,4,3,8,9,9");
    assert_true(run.is_split);
    assert_int_equal(run.pools[0].workers, 2);
    assert_int_equal(run.pools[1].tp, 8);
    assert_int_equal(run.chips, 2 * 4 + 3 * 8);
}

static void modes_are_told_by_their_words(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *words;
        served_mode mode;
    } cases[] = {
        {"online, closed loop", SERVED_CLOSED},
        {"online, open loop", SERVED_OPEN},
        {"offline, all requests at once", SERVED_QUEUE},
        {"offline max throughput, in-flight batching", SERVED_QUEUE},
        {"offline static batch", SERVED_BATCH},
        {"decode from empty context", SERVED_DECODE},
        {"prefill", SERVED_PREFILL},
        {"does the run fit in memory", SERVED_FIT},
        {"something new", SERVED_OTHER},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const char *config =
            ridge_sprintf(ridge_ctx_arena(cx), "\"mode\": \"%s\"", cases[i].words);
        assert_int_equal(read_json(cx, config, "").mode, cases[i].mode);
    }
}

static void medians_and_fits_are_read(void **state)
{
    ridge_ctx *cx = *state;
    const served_run run = read_json(cx, "\"mode\": \"closed loop\"",
                                     "\"ttft_ms_median\": 20, \"tpot_ms_p50\": 5");
    assert_near(run.measured[RIDGE_SERVING_METRIC_TTFT_P50], 0.02, 1e-12);
    assert_near(run.measured[RIDGE_SERVING_METRIC_TPOT_P50], 0.005, 1e-12);
    assert_true(run.measured[RIDGE_SERVING_METRIC_TTFT] == 0);
    const char *fit = "\"mode\": \"does the run fit in memory\"";
    assert_true(read_json(cx, fit, "\"fits_in_memory\": true").fits);
    assert_false(read_json(cx, fit, "\"fits_in_memory\": false").fits);
}

static void an_unknown_mode_is_told_by_its_load(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *config;
        served_mode mode;
    } cases[] = {
        {"\"mode\": \"online\", \"concurrency\": 8", SERVED_CLOSED},
        {"\"mode\": null, \"request_rate_per_s\": 2.5", SERVED_OPEN},
        {"\"mode\": \"benchmark\", \"batch\": 4", SERVED_BATCH},
        {"\"mode\": \"does the run fit in memory\", \"batch\": 4", SERVED_FIT},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++)
        assert_int_equal(read_json(cx, cases[i].config, "").mode, cases[i].mode);
}

/* Spellings of vLLM, of Hugging Face's repositories and of papers. */
static void formats_are_known_however_they_are_written(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *words;
        ridge_dtype weight, compute;
    } cases[] = {
        {"bfloat16", RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16},
        {"half", RIDGE_DTYPE_FP16, RIDGE_DTYPE_FP16},
        {"AWQ INT4", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16},
        {"GPTQ-Int8", RIDGE_DTYPE_INT8, RIDGE_DTYPE_BF16},
        {"W4A16 (AWQ)", RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16},
        {"W8A8 INT8", RIDGE_DTYPE_INT8, RIDGE_DTYPE_INT8},
        {"W8A8 (FP8)", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8},
    };
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_formats f;
        const served_run run = {.dtype = cases[i].words,
                                .expert_dtype = "",
                                .cache_dtype = "",
                                .framework = "vllm",
                                .model = "m"};
        assert_ok(cx, served_formats(cx, &run, train_dense_model(cx), &chip, &f));
        assert_int_equal(f.weight, cases[i].weight);
        assert_int_equal(f.compute, cases[i].compute);
    }
}

/* The catalogue's FP8 release of Llama-3.1-8B has one scale a matrix. */
static void engines_make_no_blocks_of_scales(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    const ridge_model *wide = train_dense_model(cx);
    const ridge_model scaled = {.quant_block = 128}, whole = {.quant_block = 0};
    served_run run = {.dtype = "fp8_block",
                      .expert_dtype = "",
                      .cache_dtype = "",
                      .framework = "sglang 0.5.6",
                      .model = "m"};
    ridge_serving_formats f;
    assert_true(served_formats_is_variant(&run, &scaled));
    assert_false(served_formats_is_variant(&run, &whole));
    assert_ok(cx, served_formats(cx, &run, wide, &chip, &f));
    assert_int_equal(f.weight, RIDGE_DTYPE_BF16);
    run.framework = "trtllm";
    assert_ok(cx, served_formats(cx, &run, wide, &chip, &f));
    assert_int_equal(f.weight, RIDGE_DTYPE_FP8);
}

static void rates_are_those_of_all_chips(void **state)
{
    ridge_ctx *cx = *state;
    const char *config =
        "\"mode\": \"offline\", \"input_len\": 100, \"output_len\": 300";
    const int rate = RIDGE_SERVING_METRIC_THROUGHPUT;
    assert_near(read_json(cx, config, "\"output_tokens_per_s\": 50").measured[rate], 50,
                0);
    assert_near(
        read_json(cx, config, "\"output_tokens_per_s_per_chip\": 50").measured[rate],
        200, 0);
    assert_near(read_json(cx, config, "\"total_tokens_per_s\": 400").measured[rate],
                300, 1e-12);
}

static void degrees_multiplied_with_themselves_count_once(void **state)
{
    (void)state;
    served_pool p = {.tp = 64, .moe_tp = 8, .ep = 8};
    assert_true(served_pool_unsquare(&p));
    assert_int_equal(p.tp, 8);
    assert_int_equal(p.ep, 8);
    p = (served_pool){.tp = 2, .attention_dp = 2, .moe_tp = 1, .ep = 4};
    assert_true(served_pool_unsquare(&p));
    assert_int_equal(p.tp, 1);
    assert_int_equal(p.attention_dp, 2);
    assert_int_equal(p.ep, 2);
    p = (served_pool){.tp = 4, .moe_tp = 2, .ep = 2};
    assert_false(served_pool_unsquare(&p));
    p = (served_pool){.tp = 8, .moe_tp = 1, .ep = 8};
    assert_false(served_pool_unsquare(&p));
}

static void chips_follow_from_degrees(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_layout layout;
    const served_run run = {
        .chips = 8, .concurrency = 12, .pools = {{.pp = 2, .ep = 2, .workers = 1}}};
    assert_ok(cx, served_layout(cx, &run, &run.pools[0], train_moe_model(cx), &layout));
    assert_int_equal(layout.tp, 4);
    assert_int_equal(layout.ep, 2);
    assert_int_equal(layout.sequences, 12);
    const served_run silent = {.concurrency = 12};
    assert_int_equal(
        served_layout(cx, &silent, &silent.pools[0], train_moe_model(cx), &layout),
        RIDGE_E_ARG);
    fixture_assert_message(cx, "tp is not stated");
}

static void practice_is_that_of_the_bench(void **state)
{
    ridge_ctx *cx = *state;
    served_practice practice;
    const ridge_node *benches;
    const served_names names = {"llama-3.1-70b", "h200"};
    assert_ok(cx, served_benches_read(cx, &benches));
    served_run run = read_csv(
        cx, "a,meta-llama/Llama-3.1-70B,h200_sxm,trtllm,,fp8,agg,1024,1024,4,fp8,fp8,"
            "4,2,1,1,2,1,,,,,340,12");
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &practice));
    assert_true(practice.is_known);
    assert_near(practice.shortest_share, 0.8, 0);
    assert_near(practice.wait_iterations, 20, 0);
    assert_int_equal(practice.cache, RIDGE_DTYPE_FP8);
    run.source = "Another paper";
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &practice));
    assert_false(practice.is_known);
    assert_near(practice.shortest_share, 1, 0);
}

static void a_publisher_tells_the_release_that_ran(void **state)
{
    ridge_ctx *cx = *state;
    served_practice practice;
    const ridge_node *benches;
    const served_names of_3090 = {"llama-3-8b", "rtx-3090"};
    const served_names of_gb10 = {"gpt-oss-20b", "gb10"};
    assert_ok(cx, served_benches_read(cx, &benches));
    served_run run = read_json(cx, "\"mode\": \"prefill\"", "");
    run.source = "GPU-Benchmarks-on-LLM-Inference (llama.cpp, May 2024)";
    run.framework = "llama.cpp";
    assert_ok(cx, served_practice_find(cx, benches, &run, &of_3090, &practice));
    assert_string_equal(practice.engine, "llama-cpp-2024");
    run.source = "llama.cpp benches: DGX Spark (Nov 2025)";
    assert_ok(cx, served_practice_find(cx, benches, &run, &of_gb10, &practice));
    assert_null(practice.engine);
    assert_int_equal(practice.budget_tokens, 2048);
    assert_true(practice.expert_skew > 0);
    const served_names of_b200 = {"qwen3", "b200"}, of_h200 = {"qwen3", "h200"};
    run.source = "TensorRT-LLM performance overview v1.0";
    run.framework = "TensorRT-LLM 1.0 PyTorch";
    assert_ok(cx, served_practice_find(cx, benches, &run, &of_b200, &practice));
    assert_string_equal(practice.engine, "trtllm-cutlass");
    assert_ok(cx, served_practice_find(cx, benches, &run, &of_h200, &practice));
    assert_null(practice.engine);
}

/* What a README says of the server that its rows leave out: the checkpoint, the longest
 * sequence, steps planned at once, lengths that are means. */
static void recipes_tell_checkpoints_and_lengths(void **state)
{
    ridge_ctx *cx = *state;
    served_practice practice;
    const ridge_node *benches;
    const served_names on_h100 = {"llama-3.1-405b-fp8", "h100"};
    const served_names on_mi300x = {"llama-3.1-405b-fp8", "mi300x"};
    assert_ok(cx, served_benches_read(cx, &benches));
    served_run run =
        read_json(cx,
                  "\"mode\": \"online, open loop\", \"framework\": \"vLLM (Nov "
                  "2024)\", \"dtype\": \"fp8\", \"request_rate_per_s\": 16, "
                  "\"input_len\": 215.2, \"output_len\": 122.2, \"tp\": 8, "
                  "\"scheduler_steps\": 15",
                  "");
    assert_int_equal(run.planned_steps, 15);
    run.source = "Llama-3.1-405B FP8: 8xH100 SXM5 vs 8xMI300X";
    run.note = "ShareGPT-like lengths: means of 1000 requests";
    assert_ok(cx, served_practice_find(cx, benches, &run, &on_h100, &practice));
    assert_string_equal(practice.model, "llama-3.1-405b-fp8-meta");
    assert_string_equal(practice.engine, "vllm-v0-chunked");
    assert_true(practice.input_spread > 1 && practice.output_spread > 0);
    assert_ok(cx, served_practice_find(cx, benches, &run, &on_mi300x, &practice));
    assert_string_equal(practice.engine, "vllm-v0-rocm-unpacked");
    run.output_tokens = 180; /* of the instructed model */
    assert_ok(cx, served_practice_find(cx, benches, &run, &on_mi300x, &practice));
    assert_null(practice.model);
    run.mode_words = "offline, all requests at once";
    run.note = "";
    assert_ok(cx, served_practice_find(cx, benches, &run, &on_h100, &practice));
    assert_int_equal(practice.model_tokens, 91680);
}

/* Lengths that a bench does not describe are those of another. */
static void rows_of_other_lengths_have_another_bench(void **state)
{
    ridge_ctx *cx = *state;
    served_practice practice;
    const ridge_node *benches;
    const served_names names = {"qwen3-32b", "h100"};
    assert_ok(cx, served_benches_read(cx, &benches));
    const served_run run =
        read_csv(cx, "a,Qwen/Qwen3-32B,h100_sxm,trtllm,,fp8,agg,2048,512,4,fp8,fp8,"
                     "4,2,1,1,2,1,,,,,340,12");
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &practice));
    assert_near(practice.shortest_share, 1, 0);
    assert_near(practice.output_share, 0.8, 0);
    assert_true(practice.frontend_s > 0);
    assert_near(practice.expert_skew, 0, 0);
}

/* 4 prompts of 500 tokens at 1000 a second, then 4 tokens an iteration. */
static void batches_time_prompts_and_generation_apart(void **state)
{
    ridge_ctx *cx = *state;
    const char *config = "\"mode\": \"static batch\", \"batch\": 4, "
                         "\"input_len\": 500, \"output_len\": 32";
    const char *both = "\"prefill_tokens_per_s\": 1000, \"decode_tokens_per_s\": 90";
    const served_run run = read_json(cx, config, both);
    assert_true(run.is_decode_rate);
    assert_near(run.measured[RIDGE_SERVING_METRIC_TTFT], 2, 1e-12);
    assert_near(run.measured[RIDGE_SERVING_METRIC_THROUGHPUT], 90, 0);
    assert_false(read_json(cx, config, "\"output_tokens_per_s\": 9").is_decode_rate);
}

static void files_of_llama_cpp_narrow_every_matrix(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *plain = train_moe_model(cx);
    const ridge_model *model = plain;
    assert_ok(cx, served_repack(cx, "bf16", &model));
    assert_ptr_equal(model, plain);
    assert_ok(cx, served_repack(cx, "MXFP4", &model));
    assert_near(model->quant_bits[RIDGE_QUANT_EXPERTS], 4.25, 0);
    assert_near(model->quant_bits[RIDGE_QUANT_HEAD], 8.5, 0);
    assert_null(plain->quant_method);
}

/* Of ten requests' room 95 % counts, but 64 sequences run at least; of a thousand's,
 * 950, in steps of 128; beyond, the limits hold. */
static void a_bench_sizes_its_engine_by_the_room(void **state)
{
    (void)state;
    const served_part part = {.prompt_tokens = 1024, .output_tokens = 1024};
    const double token = 1000;
    priced_part p = {.part = &part};
    p.layout.pp = p.layout.attention_dp = 1;
    p.memory.cache_bytes_per_token = token;
    p.memory.weights = 5e9;
    p.memory.total = p.memory.weights + 10 * 2048 * token;
    served_sizes_tune(&p);
    assert_int_equal(p.layout.sequences, 64);
    assert_int_equal(p.layout.budget_tokens, 2048);
    p.memory.total = p.memory.weights + 1000 * 2048 * token;
    served_sizes_tune(&p);
    assert_int_equal(p.layout.sequences, 1024); /* 950, to steps of 128 */
    assert_int_equal(p.layout.budget_tokens, 2048);
    p.memory.total = p.memory.weights + 1e5 * 2048 * token;
    served_sizes_tune(&p);
    assert_int_equal(p.layout.sequences, 4096);
    assert_int_equal(p.layout.budget_tokens, 8192);
    p.layout.attention_dp = 1;
    p.layout.pp = 4;
    served_sizes_tune(&p);
    assert_int_equal(p.layout.sequences, 4096);
    assert_int_equal(p.layout.budget_tokens, 2048);
}

/* Clients are asked of a deployment; degrees and formats make it. */
static void rows_are_ordered_by_deployment_then_by_load(void **state)
{
    ridge_ctx *cx = *state;
    served_run runs[3];
    const int tp[] = {2, 2, 4}, clients[] = {8, 16, 8};
    for (int i = 0; i < 3; i++) {
        const char *text =
            ridge_sprintf(ridge_ctx_arena(cx),
                          "\"mode\": \"closed loop\", \"tp\": %d, \"concurrency\": %d",
                          tp[i], clients[i]);
        runs[i] = read_json(cx, text, "\"tpot_ms\": 9");
    }
    assert_int_equal(served_run_by_deployment(&runs[0], &runs[1]), 0);
    assert_true(served_run_by_statement(&runs[0], &runs[1]) < 0);
    assert_true(served_run_by_deployment(&runs[1], &runs[2]) < 0);
    assert_true(served_run_by_statement(&runs[1], &runs[2]) < 0);
    assert_int_equal(served_run_by_statement(&runs[2], &runs[2]), 0);
}

/* Where a row states no load, what it completed is one; a cap tells how answers end. */
static void rows_of_other_loads_are_stated_otherwise(void **state)
{
    ridge_ctx *cx = *state;
    const char *server = "\"mode\": \"MLPerf server\"";
    const served_run few = read_json(cx, server, "\"requests_per_s\": 10");
    const served_run many = read_json(cx, server, "\"requests_per_s\": 20");
    const served_run slow = read_json(cx, server, "\"output_tokens_per_s\": 9");
    assert_int_equal(served_run_by_deployment(&few, &many), 0);
    assert_true(served_run_by_statement(&few, &many) < 0);
    assert_int_not_equal(served_run_by_statement(&few, &slow), 0);
    const char *offline = "\"mode\": \"MLPerf offline\"";
    const served_run a = read_json(cx, offline, "\"requests_per_s\": 10");
    const served_run b = read_json(cx, offline, "\"requests_per_s\": 20");
    assert_int_equal(served_run_by_statement(&a, &b), 0);
    const served_run open =
        read_json(cx, "\"mode\": \"closed loop\", \"output_len\": 100", "");
    const served_run capped = read_json(
        cx, "\"mode\": \"closed loop\", \"output_len\": 100, \"output_len_cap\": 200",
        "");
    assert_int_not_equal(served_run_by_statement(&open, &capped), 0);
}

static void malformed_rows_name_their_line(void **state)
{
    ridge_ctx *cx = *state;
    served_run run;
    static const char *const texts[] = {
        "[]", "{\"id\": 3}", "{\"id\": \"a\"}",
        "{\"id\": \"a\", \"source\": {\"title\": \"t\"}, "
        "\"model\": {}, \"hardware\": []}"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(texts); i++) {
        assert_int_equal(
            served_run_of_json(cx, ridge_str_of(texts[i]), "rows.jsonl:7", &run),
            RIDGE_E_PARSE);
        fixture_assert_message(cx, "rows.jsonl:7");
    }
}

static ridge_serving_row silent_row(double tpot_s)
{
    ridge_serving_row row = {.is_predicted = true, .drafting = RIDGE_DRAFTING_UNSTATED};
    row.figures[RIDGE_SERVING_METRIC_TPOT].measured = tpot_s;
    return row;
}

/* Rows 0 to 2 are stated alike, the last has other clients. */
static void rows_much_quicker_than_their_twins_drafted(void **state)
{
    ridge_ctx *cx = *state;
    served_run runs[4];
    for (int i = 0; i < 4; i++) {
        runs[i] =
            read_csv(cx, i < 3 ? "a,m,h100_sxm,trtllm,1.0,fp8,agg,1024,1024,8,,,8,"
                                 "8,1,1,1,8,,,,,100,10"
                               : "b,m,h100_sxm,trtllm,1.0,fp8,agg,1024,1024,4,,,4,"
                                 "8,1,1,1,8,,,,,100,10");
    }
    ridge_serving_row rows[] = {silent_row(0.02), silent_row(0.016), silent_row(0.01),
                                silent_row(0.001)};
    ridge_serving_validation v = {.rows = rows, .n_rows = 4};
    assert_ok(cx, served_twins_mark(cx, runs, &v));
    assert_int_equal(rows[0].drafting, RIDGE_DRAFTING_UNSTATED);
    assert_int_equal(rows[1].drafting, RIDGE_DRAFTING_UNSTATED);
    assert_int_equal(rows[2].drafting, RIDGE_DRAFTING_TWIN);
    assert_int_equal(rows[3].drafting, RIDGE_DRAFTING_UNSTATED);
}

#define SERVED_TEST(name)                                                              \
    cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED_TEST(csv_has_degrees_and_times),
        SERVED_TEST(workers_of_prompts_and_of_generation_stand_apart),
        SERVED_TEST(modes_are_told_by_their_words),
        SERVED_TEST(medians_and_fits_are_read),
        SERVED_TEST(an_unknown_mode_is_told_by_its_load),
        SERVED_TEST(formats_are_known_however_they_are_written),
        SERVED_TEST(engines_make_no_blocks_of_scales),
        SERVED_TEST(rates_are_those_of_all_chips),
        SERVED_TEST(degrees_multiplied_with_themselves_count_once),
        SERVED_TEST(chips_follow_from_degrees),
        SERVED_TEST(a_bench_sizes_its_engine_by_the_room),
        SERVED_TEST(practice_is_that_of_the_bench),
        SERVED_TEST(a_publisher_tells_the_release_that_ran),
        SERVED_TEST(recipes_tell_checkpoints_and_lengths),
        SERVED_TEST(rows_of_other_lengths_have_another_bench),
        SERVED_TEST(batches_time_prompts_and_generation_apart),
        SERVED_TEST(files_of_llama_cpp_narrow_every_matrix),
        SERVED_TEST(rows_are_ordered_by_deployment_then_by_load),
        SERVED_TEST(rows_of_other_loads_are_stated_otherwise),
        SERVED_TEST(malformed_rows_name_their_line),
        SERVED_TEST(rows_much_quicker_than_their_twins_drafted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
