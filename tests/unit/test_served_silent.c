/* Rows that are silent on lengths, formats and degrees: what their publisher's practice
 * tells of them, and what is told to be assumed where nobody does. */
#include "served_run.h"
#include "train_fixture.h"

#include <string.h>

typedef struct completed {
    served_deployment deployment;
    const char *assumed;
} completed;

static ridge_status find(ridge_ctx *cx, const char *row, completed *out)
{
    served_run run;
    served_gaps gaps;
    served_shared *shared = ridge_new(ridge_ctx_arena(cx), served_shared, 1);
    assert_non_null(shared);
    ridge_buf_init(&gaps.text, ridge_ctx_arena(cx));
    assert_ok(cx, ridge_catalog_open(cx, NULL, &shared->catalog));
    assert_ok(cx, ridge_library_open(cx, NULL, &shared->library));
    assert_ok(cx, served_run_of_json(cx, ridge_str_of(row), "rows:1", &run));
    const ridge_status st =
        served_deployment_find(cx, shared, &run, &gaps, &out->deployment);
    out->assumed = gaps.text.n > 0 ? ridge_buf_text(&gaps.text) : "";
    return st;
}

static completed complete(ridge_ctx *cx, const char *row)
{
    completed out;
    assert_ok(cx, find(cx, row, &out));
    return out;
}

static const char *row_of(ridge_ctx *cx, const char *title, const char *model,
                          const char *hardware, const char *config,
                          const char *measured)
{
    return ridge_sprintf(ridge_ctx_arena(cx),
                         "{\"id\": \"a\", \"source\": {\"title\": \"%s\"}, \"model\": "
                         "{\"name\": \"%s\"}, \"hardware\": {%s}, \"config\": {%s}, "
                         "\"measured\": {%s}, \"note\": null}",
                         title, model, hardware, config, measured);
}

/* Lengths of its data set, 8 bits, NVIDIA's degrees; the load is what was completed. */
static void mlperf_rows_are_told_by_its_rules(void **state)
{
    ridge_ctx *cx = *state;
    const completed c = complete(
        cx, row_of(cx, "MLPerf Inference v9.9 results: performance logs", "Llama 2 70B",
                   "\"chip\": \"H100 SXM 80GB\", \"n_chips\": 8",
                   "\"framework\": \"TensorRT-LLM\", \"mode\": \"MLPerf server\"",
                   "\"requests_per_s\": 74.4, \"output_tokens_per_s\": 21606"));
    const served_deployment *d = &c.deployment;
    assert_int_equal(d->run.mode, SERVED_OPEN);
    assert_near(d->run.request_rate, 74.4, 0);
    assert_near(d->run.output_tokens, 294, 0);
    assert_true(d->run.input_tokens > 200 && d->run.input_tokens < 400);
    assert_int_equal(d->parts[0].layout.tp, 2);
    assert_int_equal(d->parts[0].replicas, 4);
    assert_int_equal(d->parts[0].layout.formats.weight, RIDGE_DTYPE_FP8);
    assert_near(d->practice.ttft_s, 2, 0);
    assert_string_equal(c.assumed, "");
}

static void what_is_not_simulated_is_said(void **state)
{
    ridge_ctx *cx = *state;
    completed out;
    const char *row =
        row_of(cx, "MLPerf Inference v9.9 results: performance logs", "GPT-J 6B",
               "\"chip\": \"H100 SXM 80GB\", \"n_chips\": 8",
               "\"framework\": \"TensorRT-LLM\", \"mode\": \"MLPerf offline\"",
               "\"output_tokens_per_s\": 19740");
    assert_int_equal(find(cx, row, &out), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(cx), "beam search"));
}

/* Rows of the same bench that state what they ran keep it. */
static void what_a_row_states_stands(void **state)
{
    ridge_ctx *cx = *state;
    const completed c = complete(
        cx, row_of(cx, "MLPerf Inference v9.9 results: performance logs", "Llama 2 70B",
                   "\"chip\": \"H100 SXM 80GB\", \"n_chips\": 8",
                   "\"framework\": \"TensorRT-LLM\", \"mode\": \"MLPerf offline\", "
                   "\"tp\": 8, \"dtype\": \"bf16\", \"input_len\": 500, "
                   "\"output_len\": 100",
                   "\"output_tokens_per_s\": 21606"));
    const served_deployment *d = &c.deployment;
    assert_int_equal(d->run.mode, SERVED_QUEUE);
    assert_near(d->run.input_tokens, 500, 0);
    assert_near(d->run.output_tokens, 100, 0);
    assert_int_equal(d->parts[0].layout.tp, 8);
    assert_int_equal(d->parts[0].layout.formats.weight, RIDGE_DTYPE_BF16);
}

/* 48 heads do not lie on 64 chips: the paper padded them. Tokens a second and times of
 * prompts follow from how long it took. */
static void heads_are_padded_as_the_paper_did(void **state)
{
    ridge_ctx *cx = *state;
    const char *paper = "Efficiently Scaling Transformer Inference (Pope et al. 2022)";
    const char *chips = "\"chip\": \"TPU v4\", \"n_chips\": 64";
    const completed decode =
        complete(cx, row_of(cx, paper, "PaLM 540B", chips,
                            "\"framework\": \"JAX\", \"mode\": \"decode\", \"batch\": "
                            "64, \"input_len\": 2048, \"output_len\": 64",
                            "\"elapsed_s\": 2"));
    const served_part *part = &decode.deployment.parts[0];
    assert_string_equal(part->about.model->name, "palm-540b-64-heads");
    assert_int_equal(part->layout.tp, 64);
    assert_int_equal(part->layout.tp_d, 4);
    assert_int_equal(part->layout.kv_cut, RIDGE_KV_CUT_BATCH);
    assert_int_equal(part->batch_tokens, 64);
    assert_near(decode.deployment.run.measured[RIDGE_SERVING_METRIC_THROUGHPUT], 2048,
                0);
    const completed prefill =
        complete(cx, row_of(cx, paper, "PaLM 62B", chips,
                            "\"framework\": \"JAX\", \"mode\": \"prefill\", \"batch\": "
                            "512, \"input_len\": 2048",
                            "\"elapsed_s\": 20"));
    assert_true(prefill.deployment.parts[0].layout.is_weight_gathered);
    assert_near(prefill.deployment.run.measured[RIDGE_SERVING_METRIC_TTFT], 20, 0);
}

/* Eight chips shared by four servers, or by two; how replies spread nobody says. */
static void servers_share_the_chips_of_a_node(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        int prefill, decode, tp;
    } cases[] = {{1, 1, 4}, {1, 3, 2}, {2, 2, 2}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const char *config = ridge_sprintf(
            ridge_ctx_arena(cx),
            "\"framework\": \"SGLang (Sep 2025)\", \"mode\": \"online, closed loop\", "
            "\"concurrency\": 64, \"input_len\": 128, \"output_len\": 700, "
            "\"output_len_cap\": 2048, \"prefill\": {\"workers\": %d}, \"decode\": "
            "{\"workers\": %d}",
            cases[i].prefill, cases[i].decode);
        const completed c = complete(
            cx, row_of(cx, "Prefill/decode ratio of gpt-oss-120b", "gpt-oss-120b",
                       "\"chip\": \"H200 SXM 141GB\", \"n_chips\": null", config,
                       "\"tpot_ms_mean\": 10"));
        assert_int_equal(c.deployment.parts[1].layout.tp, cases[i].tp);
        assert_true(c.deployment.practice.output_spread > 0);
        assert_near(c.deployment.practice.output_most, 2048, 0);
        assert_non_null(strstr(c.assumed, "spread of answers"));
    }
}

static void a_single_request_may_hide_how_long_it_went_on(void **state)
{
    ridge_ctx *cx = *state;
    const completed c =
        complete(cx, row_of(cx, "A blog", "GPT-J 6B",
                            "\"chip\": \"H100 SXM 80GB\", \"n_chips\": 1",
                            "\"framework\": \"TensorRT-LLM v0.5\", \"mode\": \"single "
                            "request\", \"tp\": 1, \"batch\": 1, \"input_len\": 128, "
                            "\"dtype\": \"fp8\"",
                            "\"output_tokens_per_s\": 185, \"ttft_ms\": 7.1"));
    assert_near(c.deployment.run.output_tokens, 128, 0);
    assert_non_null(strstr(c.assumed, "length of the answer"));
}

#define SILENT_TEST(name)                                                              \
    cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SILENT_TEST(mlperf_rows_are_told_by_its_rules),
        SILENT_TEST(what_is_not_simulated_is_said),
        SILENT_TEST(what_a_row_states_stands),
        SILENT_TEST(heads_are_padded_as_the_paper_did),
        SILENT_TEST(servers_share_the_chips_of_a_node),
        SILENT_TEST(a_single_request_may_hide_how_long_it_went_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
