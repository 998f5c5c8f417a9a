/* Commands of TGI and LMDeploy, which divide a model over chips in one way alone: what
 * is written comes back, existing ones are read, contradictions are told. */
#include "server_fixture.h"

enum { TGI = RIDGE_SERVING_LAUNCHER_TGI, LMD = RIDGE_SERVING_LAUNCHER_LMDEPLOY };

/* clang-format off */
static const struct {
    int launcher;
    server_case c;
} rounds[] = {
    {TGI, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 128, .budget_tokens = 4096, .longest_tokens = 8192}},
    {TGI, {"llama-3-70b", "h100:8", .replicas = 2, .tp = 4, .sequences = 64, .budget_tokens = 4096, .longest_tokens = 4096, .prompt_tokens = 2048, .weight = "fp8", .cache = "fp8"}},
    {TGI, {"llama-3-70b", "mi300x:8", .tp = 8, .sequences = 300, .budget_tokens = 16384, .longest_tokens = 8192}},
    {TGI, {"qwen3-32b", "h100:2", .tp = 2, .sequences = 32, .budget_tokens = 2048, .longest_tokens = 8192, .weight = "int4", .draft = RIDGE_DRAFT_NGRAM, .depth = 3}},
    {LMD, {"llama-3-70b", "a100:8", .tp = 4, .sequences = 256, .budget_tokens = 8192, .longest_tokens = 8192, .cache = "int8"}},
    {LMD, {"qwen3-32b", "h100:2", .replicas = 2, .tp = 1, .sequences = 64, .budget_tokens = 4096, .longest_tokens = 8192, .weight = "int4", .cache = "int4"}},
};
/* clang-format on */

static void written_and_read_back_it_is_the_same(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(rounds); i++) {
        ridge_serving_launch back;
        const ridge_serving_launcher l = (ridge_serving_launcher)rounds[i].launcher;
        server_fixture_round_trip(*state, l, &rounds[i].c, 1, &back);
        server_fixture_check_names(*state, l, &rounds[i].c,
                                   ridge_serving_launcher_text(l));
    }
}

static void what_they_lack_is_refused(void **state)
{
    /* clang-format off */
    static const struct {
        int launcher;
        const char *message;
        server_case c;
    } cases[] = {
        {TGI, "divides a model by tp alone", {"llama-3-70b", "h100:2x8", .tp = 8, .pp = 2, .sequences = 8, .budget_tokens = 64}},
        {TGI, "drafts by n-grams or Medusa's heads", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .draft = RIDGE_DRAFT_EAGLE, .depth = 3}},
        {TGI, "does not run on Google TPU v6e", {"llama-3-70b", "v6e:2x4", .tp = 8, .sequences = 8, .budget_tokens = 64}},
        {LMD, "divides a model by tp alone", {"deepseek-v3", "h200:8", .tp = 1, .ep = 8, .attention_dp = 8, .sequences = 8, .budget_tokens = 64}},
        {LMD, "does not run on AMD Instinct MI300X", {"llama-3-70b", "mi300x:8", .tp = 8, .sequences = 8, .budget_tokens = 64}},
        {LMD, "drafts nothing", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .draft = RIDGE_DRAFT_NGRAM, .depth = 3}},
        {LMD, "no cache in fp8", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .cache = "fp8"}},
    };
    /* clang-format on */
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_launch_text text;
        const ridge_serving_launcher l = (ridge_serving_launcher)cases[i].launcher;
        const ridge_deployment d = server_fixture_deployment(*state, l, &cases[i].c, 1);
        assert_int_equal(ridge_serving_launch_write(*state, l, &d, &text), RIDGE_E_ARG);
        fixture_assert_message(*state, cases[i].message);
    }
}

static void launchers_of_tgi_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(cx, server_fixture_parse(
                      cx, "h100:8", "command line",
                      "text-generation-launcher --model-id "
                      "meta-llama/Llama-3.1-70B-Instruct --num-shard 4 "
                      "--max-concurrent-requests 256 --max_batch_size=96 "
                      "--max-input-tokens 4095 --max-total-tokens 8192 "
                      "--max-batch-prefill-tokens 8192 --quantize fp8 "
                      "--kv-cache-dtype fp8_e5m2 --waiting-served-ratio 1.2 "
                      "--max-waiting-tokens 10 --cuda-graphs 1,2,4,64 "
                      "--cuda-memory-fraction 0.5 --speculate 3 "
                      "--max-batch-total-tokens 90000 --json-output --port 80",
                      &l));
    const ridge_serving_layout *p = &l.deployment.choice.pools[0].layout;
    const ridge_engine *e = l.deployment.engine;
    assert_string_equal(l.format, "text-generation-launcher command");
    assert_string_equal(e->name, "tgi");
    assert_int_equal(p->tp, 4);
    assert_int_equal(p->sequences, 96);
    assert_int_equal(p->budget_tokens, 8192);
    assert_int_equal(p->formats.weight, RIDGE_DTYPE_FP8);
    assert_int_equal(p->formats.cache, RIDGE_DTYPE_FP8);
    assert_int_equal(p->draft.kind, RIDGE_DRAFT_NGRAM);
    assert_int_equal(p->draft.depth, 3);
    assert_near(l.deployment.longest_tokens, 8192, 0);
    assert_near(l.deployment.prompt_tokens, 4095, 0);
    assert_near(e->waiting_share, 1.2, 1e-12);
    assert_int_equal(e->waiting_steps, 10);
    assert_near(e->graph_sequences, 64, 0);
    assert_near(e->memory_share, 0.475, 1e-12);
    assert_int_equal(l.unknown.n, 0);
    assert_int_equal(l.differing.n, 1);
    assert_true(server_fixture_has(&l.differing, "max-batch-total-tokens 90000"));
}

/* Images take options as variables; the command's own come last. */
static void images_and_pods_of_tgi_are_read(void **state)
{
    static const struct {
        const char *text;
        int tp, sequences;
    } cases[] = {
        {"docker run --gpus all -e HF_TOKEN=x -e NUM_SHARD=4 -e MODEL_ID=llama-3-8b "
         "-p 8080:80 ghcr.io/huggingface/text-generation-inference:3.0.0",
         4, 128},
        {"docker run -e NUM_SHARD=4 ghcr.io/huggingface/text-generation-inference:3.0 "
         "--model-id llama-3-8b --num-shard 2 --max-concurrent-requests 9",
         2, 9},
        {"CUDA_VISIBLE_DEVICES=0,1 text-generation-launcher --model-id llama-3-8b "
         "--sharded true",
         2, 128},
        {"text-generation-launcher --model-id llama-3-8b", 1, 128},
        {"spec:\n  containers:\n  - name: a\n"
         "    image: ghcr.io/huggingface/text-generation-inference:2.4.0\n"
         "    env:\n    - name: MODEL_ID\n      value: llama-3-8b\n"
         "    - name: NUM_SHARD\n      value: \"4\"\n"
         "    - name: MAX_CONCURRENT_REQUESTS\n      value: \"64\"\n",
         4, 64},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_launch l;
        assert_ok(*state,
                  server_fixture_parse(*state, "h100:8", "a.sh", cases[i].text, &l));
        assert_string_equal(l.deployment.model->name, "llama-3-8b");
        assert_int_equal(l.deployment.choice.pools[0].layout.tp, cases[i].tp);
        assert_int_equal(l.deployment.choice.pools[0].layout.sequences,
                         cases[i].sequences);
        assert_int_equal(l.unknown.n, 0);
    }
}

static void servers_of_lmdeploy_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(cx,
              server_fixture_parse(
                  cx, "a100:8", "a.sh",
                  "lmdeploy serve proxy --server-port 8000 &\n"
                  "lmdeploy serve api_server meta-llama/Meta-Llama-3-70B-Instruct \\\n"
                  "  --tp 4 --cache-max-entry-count 0.5 --session-len 16384 \\\n"
                  "  --max-batch-size 64 --quant-policy 8 --model-format hf \\\n"
                  "  --enable-prefix-caching --max-prefill-token-num 4096 \\\n"
                  "  --cache-block-seq-len 128 --server-port 23333 --log-level INFO\n",
                  &l));
    const ridge_serving_layout *p = &l.deployment.choice.pools[0].layout;
    const ridge_engine *e = l.deployment.engine;
    assert_string_equal(e->name, "lmdeploy");
    assert_string_equal(l.deployment.model->name, "llama-3-70b");
    assert_int_equal(p->tp, 4);
    assert_int_equal(p->sequences, 64);
    assert_int_equal(p->budget_tokens, 4096);
    assert_int_equal(p->formats.cache, RIDGE_DTYPE_INT8);
    assert_int_equal(p->formats.weight, RIDGE_DTYPE_BF16);
    assert_near(l.deployment.longest_tokens, 16384, 0);
    assert_near(e->memory_share, 0.5, 1e-12);
    assert_int_equal(e->block_tokens, 128);
    assert_true(e->has_prefix_cache);
    assert_int_equal(l.unknown.n + l.differing.n, 0);
    assert_ok(cx, server_fixture_parse(cx, "a100:8", "a.sh",
                                       "python3 -m lmdeploy.serve.openai.api_server "
                                       "llama-3-8b --tp 2 --model-format awq "
                                       "--backend pytorch",
                                       &l));
    assert_int_equal(l.deployment.choice.pools[0].layout.formats.weight,
                     RIDGE_DTYPE_INT4);
    assert_true(server_fixture_has(&l.differing, "backend pytorch"));
}

static void contradictions_name_their_option(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"text-generation-launcher --model-id llama-3-8b --num-shard 4 --sharded false",
         "contradicts --sharded false"},
        {"text-generation-launcher --model-id llama-3-8b --cuda-graphs 1,x",
         "expected counts of sequences"},
        {"lmdeploy serve api_server llama-3-8b --quant-policy 3", "expected 0, 4 or 8"},
        {"lmdeploy serve api_server llama-3-8b --role Both", "expected Hybrid"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_launch l;
        assert_int_not_equal(
            server_fixture_parse(*state, "h100:8", "a.sh", cases[i].text, &l),
            RIDGE_OK);
        fixture_assert_message(*state, cases[i].message);
    }
}

/* An image's own program may be said again behind it. */
static void images_of_vllm_may_name_their_program(void **state)
{
    static const char *const commands[] = {
        "docker run vllm/vllm-openai:latest vllm serve llama-3-8b -tp 2",
        "docker run --entrypoint vllm vllm/vllm-openai:v0.9 serve llama-3-8b -tp 2",
        "docker run vllm/vllm-openai:v0.9 --model llama-3-8b --tensor_parallel_size=2"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(commands); i++) {
        ridge_serving_launch l;
        assert_ok(*state,
                  server_fixture_parse(*state, "h100:8", "a.sh", commands[i], &l));
        assert_string_equal(l.deployment.model->name, "llama-3-8b");
        assert_int_equal(l.deployment.choice.pools[0].layout.tp, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_and_read_back_it_is_the_same,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_they_lack_is_refused, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(launchers_of_tgi_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(images_and_pods_of_tgi_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(servers_of_lmdeploy_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(contradictions_name_their_option, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(images_of_vllm_may_name_their_program,
                                        fixture_open, fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
