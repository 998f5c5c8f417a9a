/* Serving engines' commands: what is written comes back as it was; existing ones are
 * read; what an engine lacks is refused; what is wrong names its line. */
#include "server_fixture.h"

#include <string.h>

enum {
    VLLM = RIDGE_SERVING_LAUNCHER_VLLM,
    YAML = RIDGE_SERVING_LAUNCHER_VLLM_YAML,
    VTPU = RIDGE_SERVING_LAUNCHER_VLLM_TPU,
    SGL = RIDGE_SERVING_LAUNCHER_SGLANG,
    TRT = RIDGE_SERVING_LAUNCHER_TRTLLM,
    JET = RIDGE_SERVING_LAUNCHER_JETSTREAM,
    MAX = RIDGE_SERVING_LAUNCHER_MAXTEXT
};

/* clang-format off */
static const struct {
    int launcher;
    server_case c;
} rounds[] = {
    {VLLM, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 256, .budget_tokens = 8192, .longest_tokens = 8192}},
    {VLLM, {"llama-3-70b", "h100:8", .replicas = 2, .tp = 4, .sequences = 128, .budget_tokens = 2048, .longest_tokens = 4096, .weight = "fp8", .cache = "fp8"}},
    {VLLM, {"llama-3-70b", "h100:2x8", .tp = 8, .pp = 2, .sequences = 64, .budget_tokens = 4096, .longest_tokens = 8192}},
    {VLLM, {"llama-3-70b", "h100:2x8", .replicas = 2, .tp = 8, .sequences = 64, .budget_tokens = 4096, .longest_tokens = 8192, .weight = "int4"}},
    {VLLM, {"llama-3-70b", "h100:2x8", .tp = 16, .kv_cut = RIDGE_KV_CUT_SEQUENCE, .sequences = 64, .budget_tokens = 4096, .longest_tokens = 8192}},
    {VLLM, {"deepseek-v3", "h200:8", .tp = 8, .ep = 8, .sequences = 256, .budget_tokens = 8192, .longest_tokens = 16384, .cache = "fp8", .draft = RIDGE_DRAFT_MTP, .depth = 1}},
    {VLLM, {"deepseek-v3", "h200:2x8", .tp = 1, .ep = 16, .attention_dp = 16, .sequences = 1024, .budget_tokens = 4096, .longest_tokens = 16384}},
    {VLLM, {"deepseek-v3", "h200:2x8", .replicas = 2, .tp = 2, .ep = 1, .attention_dp = 4, .sequences = 512, .budget_tokens = 4096, .longest_tokens = 16384}},
    {VLLM, {"gpt-oss-120b", "h100:1", .sequences = 64, .budget_tokens = 8192, .longest_tokens = 32768}},
    {VLLM, {"qwen3-32b", "h100:2", .tp = 2, .sequences = 32, .budget_tokens = 2048, .longest_tokens = 8192, .draft = RIDGE_DRAFT_EAGLE, .depth = 3}},
    {VLLM, {"qwen3-32b", "h100:2", .tp = 2, .sequences = 32, .budget_tokens = 2048, .longest_tokens = 8192, .draft = RIDGE_DRAFT_NGRAM, .depth = 5}},
    {VLLM, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 32, .budget_tokens = 2048, .longest_tokens = 8192, .draft = RIDGE_DRAFT_MODEL, .depth = 5}},
    {VLLM, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 32, .budget_tokens = 2048, .longest_tokens = 8192, .draft = RIDGE_DRAFT_MEDUSA, .depth = 4}},
    {YAML, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 256, .budget_tokens = 8192, .longest_tokens = 8192, .weight = "fp8", .draft = RIDGE_DRAFT_EAGLE, .depth = 3}},
    {VTPU, {"llama-3-70b", "v6e:2x4", .tp = 8, .sequences = 256, .budget_tokens = 1024, .longest_tokens = 8192}},
    {VTPU, {"qwen3-235b-a22b", "v6e:4x4", .tp = 4, .ep = 16, .attention_dp = 4, .sequences = 256, .budget_tokens = 1024, .longest_tokens = 8192}},
    {VTPU, {"llama-3-70b", "v7:2x2x1", .tp = 4, .sequences = 256, .budget_tokens = 1024, .longest_tokens = 8192}},
    {SGL, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 256, .budget_tokens = 8192, .longest_tokens = 8192, .cache = "fp8"}},
    {SGL, {"llama-3-70b", "h100:8", .replicas = 4, .tp = 2, .sequences = 256, .budget_tokens = 4096, .longest_tokens = 8192, .weight = "int8"}},
    {SGL, {"deepseek-v3", "h100:4x8", .tp = 1, .ep = 32, .attention_dp = 32, .sequences = 4096, .budget_tokens = 1024, .longest_tokens = 8192, .draft = RIDGE_DRAFT_MTP, .depth = 3}},
    {SGL, {"deepseek-v3", "h200:8", .tp = 2, .ep = 4, .attention_dp = 4, .sequences = 512, .budget_tokens = 2048, .longest_tokens = 8192}},
    {SGL, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 32, .budget_tokens = 8192, .longest_tokens = 8192, .draft = RIDGE_DRAFT_EAGLE, .depth = 5, .nodes = 31}},
    {SGL, {"llama-3-70b", "h100:8", .tp = 8, .sequences = 32, .budget_tokens = 8192, .longest_tokens = 8192, .draft = RIDGE_DRAFT_MODEL, .depth = 4}},
    {TRT, {"llama-3-70b", "b200:8", .tp = 8, .pp = 1, .sequences = 256, .budget_tokens = 8192, .longest_tokens = 8192, .weight = "fp8", .cache = "fp8"}},
    {TRT, {"deepseek-r1-nvfp4", "b200:8", .tp = 1, .ep = 8, .attention_dp = 8, .sequences = 2048, .budget_tokens = 8192, .longest_tokens = 8192, .cache = "fp8", .draft = RIDGE_DRAFT_MTP, .depth = 3}},
    {TRT, {"llama-3.1-405b", "h100:2x8", .tp = 8, .pp = 2, .sequences = 64, .budget_tokens = 8192, .longest_tokens = 8192, .draft = RIDGE_DRAFT_EAGLE, .depth = 3}},
    {TRT, {"llama-3-70b", "b200:8", .tp = 8, .sequences = 16, .budget_tokens = 8192, .longest_tokens = 8192, .draft = RIDGE_DRAFT_NGRAM, .depth = 4}},
    {JET, {"llama-2-70b", "v5e:4x4", .tp = 16, .kv_cut = RIDGE_KV_CUT_BATCH, .sequences = 240, .budget_tokens = 1024, .longest_tokens = 2048, .prompt_tokens = 1024, .cache = "int8"}},
    {JET, {"mixtral-8x7b", "v5e:2x4", .tp = 2, .ep = 4, .attention_dp = 4, .sequences = 96, .budget_tokens = 512, .longest_tokens = 2048, .prompt_tokens = 512, .weight = "int8"}},
    {MAX, {"llama-2-70b", "v7:2x2x1", .tp = 4, .sequences = 32, .budget_tokens = 512, .longest_tokens = 4096, .prompt_tokens = 512}},
    {MAX, {"llama-2-70b", "v5e:4x4", .tp = 16, .kv_cut = RIDGE_KV_CUT_SEQUENCE, .sequences = 32, .budget_tokens = 1024, .longest_tokens = 4096, .prompt_tokens = 1024, .weight = "int8", .cache = "int8"}},
};
/* clang-format on */

static void written_and_read_back_it_is_the_same(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(rounds); i++) {
        ridge_serving_launch back;
        server_fixture_round_trip(*state, (ridge_serving_launcher)rounds[i].launcher,
                                  &rounds[i].c, 1, &back);
    }
}

static void two_pools_come_back(void **state)
{
    static const server_case dense[] = {
        {"llama-3-70b", "h100:4x8", RIDGE_SERVICE_ROLE_PREFILL, .replicas = 2, .tp = 4,
         .sequences = 16, .budget_tokens = 16384, .longest_tokens = 8192},
        {"llama-3-70b", "h100:4x8", RIDGE_SERVICE_ROLE_DECODE, .replicas = 3, .tp = 8,
         .sequences = 256, .budget_tokens = 512, .longest_tokens = 8192}};
    static const server_case sparse[] = {
        {"deepseek-v3", "h200:6x8", RIDGE_SERVICE_ROLE_PREFILL, .replicas = 2, .tp = 1,
         .ep = 8, .attention_dp = 8, .sequences = 64, .budget_tokens = 16384,
         .longest_tokens = 8192, .draft = RIDGE_DRAFT_MTP, .depth = 2},
        {"deepseek-v3", "h200:6x8", RIDGE_SERVICE_ROLE_DECODE, .tp = 1, .ep = 32,
         .attention_dp = 32, .sequences = 4096, .budget_tokens = 512,
         .longest_tokens = 8192, .draft = RIDGE_DRAFT_MTP, .depth = 2}};
    static const int launchers[] = {VLLM, SGL, TRT};
    for (size_t i = 0; i < RIDGE_COUNT_OF(launchers); i++) {
        ridge_serving_launch back;
        const ridge_serving_launcher l = (ridge_serving_launcher)launchers[i];
        server_fixture_round_trip(*state, l, dense, 2, &back);
        server_fixture_round_trip(*state, l, sparse, 2, &back);
    }
}

/* ---- names ----------------------------------------------------------------------- */

static void written_names_are_names_that_engines_know(void **state)
{
    static const char *const lists[] = {
        [VLLM] = "vllm",          [YAML] = "vllm",  [VTPU] = "vllm",
        [SGL] = "sglang",         [TRT] = "trtllm", [JET] = "maxtext-serving",
        [MAX] = "maxtext-serving"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(rounds); i++)
        server_fixture_check_names(*state, (ridge_serving_launcher)rounds[i].launcher,
                                   &rounds[i].c, lists[rounds[i].launcher]);
}

/* ---- what engines lack ----------------------------------------------------------- */

static void what_an_engine_lacks_is_refused(void **state)
{
    /* clang-format off */
    static const struct {
        int launcher;
        const char *message;
        server_case c;
    } cases[] = {
        {VLLM, "deals experts over all 8 ranks", {"deepseek-v3", "h200:8", .tp = 8, .ep = 4, .sequences = 8, .budget_tokens = 64}},
        {VLLM, "plan with attention_dp=1 and more servers", {"llama-3-70b", "h100:8", .tp = 4, .attention_dp = 2, .sequences = 8, .budget_tokens = 64}},
        {VLLM, "does not cut a cache by sequences", {"llama-3-70b", "h100:2x8", .tp = 16, .kv_cut = RIDGE_KV_CUT_BATCH, .sequences = 8, .budget_tokens = 64}},
        {VLLM, "no cache in int8", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .cache = "int8"}},
        {VLLM, "no quantisation to weights in int8", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .weight = "int8"}},
        {VLLM, "drafts chains: plan with nodes=4", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .draft = RIDGE_DRAFT_EAGLE, .depth = 4, .nodes = 16}},
        {VTPU, "makes 4 attention ranks of 16 chips", {"qwen3-235b-a22b", "v6e:4x4", .tp = 8, .ep = 16, .attention_dp = 2, .sequences = 8, .budget_tokens = 64}},
        {VLLM, "does not run on Google TPU v6e (Trillium): export --to vllm-tpu", {"llama-3-70b", "v6e:2x4", .tp = 8, .sequences = 8, .budget_tokens = 64}},
        {TRT, "does not run on AMD Instinct MI300X", {"llama-3-70b", "mi300x:8", .tp = 8, .sequences = 8, .budget_tokens = 64}},
        {JET, "does not run on NVIDIA H100", {"llama-2-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64}},
        {SGL, "has no Medusa heads", {"llama-3-70b", "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64, .draft = RIDGE_DRAFT_MEDUSA, .depth = 4}},
        {TRT, "plan with tp=1 attention_dp=8", {"deepseek-v3", "h200:8", .tp = 2, .ep = 8, .attention_dp = 4, .sequences = 8, .budget_tokens = 64}},
        {TRT, "cuts a cache by heads", {"llama-3-70b", "h100:2x8", .tp = 16, .kv_cut = RIDGE_KV_CUT_SEQUENCE, .sequences = 8, .budget_tokens = 64}},
        {JET, "drafts no tokens", {"llama-2-70b", "v5e:4x4", .tp = 16, .sequences = 16, .budget_tokens = 64, .draft = RIDGE_DRAFT_NGRAM, .depth = 4}},
        {JET, "serves without stages", {"llama-2-70b", "v5e:4x4", .tp = 8, .pp = 2, .sequences = 16, .budget_tokens = 64}},
        {JET, "has no model qwen2.5-7b by name", {"qwen2.5-7b", "v5e:4x4", .tp = 4, .sequences = 16, .budget_tokens = 64}},
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

static void other_engines_shares_are_not_written(void **state)
{
    ridge_ctx *cx = *state;
    ridge_launch_text text;
    const server_case c = {
        "llama-3-70b",         "h100:8", .tp = 8, .sequences = 8, .budget_tokens = 64,
        .longest_tokens = 4096};
    ridge_deployment d =
        server_fixture_deployment(cx, RIDGE_SERVING_LAUNCHER_VLLM, &c, 1);
    assert_ok(cx,
              ridge_serving_launch_write(cx, RIDGE_SERVING_LAUNCHER_SGLANG, &d, &text));
    assert_true(server_fixture_has(&text.notes, "planned for vllm-v1"));
    assert_null(strstr(ridge_buf_text(&text.text), "mem-fraction-static"));
}

/* ---- existing commands ----------------------------------------------------------- */

static void a_command_line_is_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(cx,
              server_fixture_parse(
                  cx, "h100:8", "command line",
                  "vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 -dp 2 "
                  "--max-model-len 32k --kv-cache-dtype fp8 "
                  "--gpu_memory_utilization=0.95 --host 0.0.0.0 "
                  "--no-enable-prefix-caching --frobnicate 7 --cpu-offload-gb 10 "
                  "--speculative-config '{\"method\": \"eagle3\", \"model\": \"x/y\","
                  " \"num_speculative_tokens\": 3}'",
                  &l));
    const ridge_service_pool *p = &l.deployment.choice.pools[0];
    assert_string_equal(l.format, "vllm serve command");
    assert_string_equal(l.deployment.model->name, "llama-3.1-70b");
    assert_int_equal(p->layout.tp, 4);
    assert_int_equal(p->servers, 2);
    assert_int_equal(p->layout.attention_dp, 1);
    assert_int_equal(p->layout.formats.cache, RIDGE_DTYPE_FP8);
    assert_int_equal(p->layout.draft.kind, RIDGE_DRAFT_EAGLE);
    assert_int_equal(p->layout.draft.depth, 3);
    assert_near(l.deployment.longest_tokens, 32000, 0);
    assert_near(l.deployment.engine->memory_share, 0.95, 1e-12);
    assert_false(l.deployment.engine->has_prefix_cache);
    assert_int_equal(p->layout.sequences, 1024);
    assert_int_equal(p->layout.budget_tokens, 8192);
    assert_true(server_fixture_has(&l.unknown, "frobnicate is not known"));
    assert_int_equal(l.unknown.n, 1);
    assert_true(server_fixture_has(&l.differing, "cpu-offload-gb 10"));
    assert_true(server_fixture_has(&l.assumed, "max-num-seqs 1024, of vllm-v1"));
}

static void a_pods_lists_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(
        cx, server_fixture_parse(
                cx, "v6e:2x4", "pod.yaml",
                "spec:\n  containers:\n  - name: a\n    image: vllm/vllm-tpu:1\n"
                "    command: [\"vllm\", \"serve\"]\n    args:\n"
                "    - --host=0.0.0.0\n    - --model=Qwen/Qwen3-235B-A22B\n"
                "    - --tensor-parallel-size=8\n    - --kv-cache-dtype=fp8\n"
                "    - --max-num-seqs=64\n    - --max-num-batched-tokens=1024\n"
                "    - --enable-expert-parallel\n    - --block-size=256\n"
                "    - '--additional-config={\"sharding\": {\"sharding_strategy\": "
                "{\"enable_dp_attention\": true}}}'\n"
                "    env:\n    - name: X\n      value: \"--tensor-parallel-size=9\"\n",
                &l));
    const ridge_serving_layout *p = &l.deployment.choice.pools[0].layout;
    assert_int_equal(l.launcher, RIDGE_SERVING_LAUNCHER_VLLM_TPU);
    assert_int_equal(p->tp, 2); /* 4 KV heads in fp8: two a page */
    assert_int_equal(p->attention_dp, 4);
    assert_int_equal(p->ep, 8);
    assert_int_equal(p->sequences, 256);
    assert_int_equal(l.deployment.engine->block_tokens, 256);
    assert_int_equal(l.unknown.n, 0);
}

static void names_of_checkpoints_say_their_formats(void **state)
{
    static const struct {
        const char *name, *model;
        ridge_dtype weight, compute;
    } cases[] = {
        {"hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "llama-3.1-70b",
         RIDGE_DTYPE_INT4, RIDGE_DTYPE_BF16},
        {"neuralmagic/Meta-Llama-3.1-70B-Instruct-FP8-dynamic", "llama-3.1-70b",
         RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8},
        {"RedHatAI/Llama-3.3-70B-Instruct-quantized.w8a8", "llama-3.3-70b",
         RIDGE_DTYPE_INT8, RIDGE_DTYPE_INT8},
        {"Qwen/Qwen3-32B-FP8", "qwen3-32b-fp8", RIDGE_DTYPE_FP8, RIDGE_DTYPE_FP8},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_launch l;
        const char *text = ridge_sprintf(ridge_ctx_arena(*state), "vllm serve %s -tp 4",
                                         cases[i].name);
        assert_ok(*state, server_fixture_parse(*state, "h100:4", "a.sh", text, &l));
        const ridge_serving_formats *f = &l.deployment.choice.pools[0].layout.formats;
        assert_string_equal(l.deployment.model->name, cases[i].model);
        assert_int_equal(f->weight, cases[i].weight);
        assert_int_equal(f->compute, cases[i].compute);
    }
}

/* Four chips of two devices each. */
static void chips_of_two_devices_are_counted_once(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(cx, server_fixture_parse(cx, "tpu7x:2x2x1", "a.sh",
                                       "vllm serve Qwen/Qwen3-235B-A22B -tp 8 "
                                       "--enable-expert-parallel",
                                       &l));
    assert_int_equal(l.deployment.choice.pools[0].layout.tp, 4);
    assert_int_equal(l.deployment.choice.pools[0].layout.ep, 4);
    assert_int_equal(server_fixture_parse(cx, "tpu7x:2x2x1", "a.sh",
                                          "vllm serve llama-3-8b -tp 3", &l),
                     RIDGE_E_ARG);
    fixture_assert_message(cx, "3 devices are no whole chips of 2");
}

static void scripts_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(
        cx, server_fixture_parse(
                cx, NULL, "run.sh",
                "#!/bin/bash\nMODEL=deepseek-ai/DeepSeek-V3\nTP=16\n"
                "python3 -m sglang.launch_server --model-path $MODEL \\\n"
                "  --tp $TP --dp 2 --enable-dp-attention --moe-a2a-backend deepep \\\n"
                "  --speculative-algorithm EAGLE --speculative-num-steps 3 \\\n"
                "  --speculative-eagle-topk 1 --speculative-num-draft-tokens 4 \\\n"
                "  --chunked-prefill-size 8192 --max-running-requests 128 \\\n"
                "  --trust-remote-code > log.txt 2>&1 &\nsleep 100\n"
                "curl http://localhost:30000 --data --tp 3\n",
                &l));
    const ridge_serving_layout *p = &l.deployment.choice.pools[0].layout;
    assert_int_equal(p->tp, 8);
    assert_int_equal(p->attention_dp, 2);
    assert_int_equal(p->ep, 16);
    assert_int_equal(p->budget_tokens, 4096);
    assert_int_equal(p->sequences, 128);
    assert_int_equal(p->draft.kind, RIDGE_DRAFT_MTP);
    assert_int_equal(l.unknown.n, 0);
}

static void yaml_files_are_read(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(cx, server_fixture_parse(cx, NULL, "values.yaml",
                                       "model:\n  name: deepseek-ai/DeepSeek-R1\n"
                                       "  tp_size: 8\n  pp_size: 2\nvllm:\n"
                                       "  replicaCount: 1\n  serverArgs:\n"
                                       "    max-model-len: 32768\n"
                                       "    max-num-seqs: 128\n"
                                       "    gpu-memory-utilization: 0.85\n"
                                       "    disable-log-requests: True\n",
                                       &l));
    assert_int_equal(l.deployment.choice.pools[0].layout.pp, 2);
    assert_string_equal(l.format, "Helm values");
    assert_ok(cx, server_fixture_parse(
                      cx, NULL, "disagg.yaml",
                      "hostname: localhost\nport: 8000\nbackend: pytorch\n"
                      "model: meta-llama/Llama-3.1-70B\nmax_num_tokens: 8192\n"
                      "context_servers:\n  num_instances: 2\n"
                      "  tensor_parallel_size: 2\n  urls: [\"localhost:8001\"]\n"
                      "generation_servers:\n  num_instances: 1\n"
                      "  tensor_parallel_size: 4\n  max_batch_size: 96\n"
                      "  kv_cache_config:\n    dtype: fp8\n",
                      &l));
    assert_int_equal(l.deployment.choice.n_pools, 2);
    assert_int_equal(l.deployment.choice.pools[0].role, RIDGE_SERVICE_ROLE_PREFILL);
    assert_int_equal(l.deployment.choice.pools[0].servers, 2);
    assert_int_equal(l.deployment.choice.pools[1].layout.tp, 4);
    assert_int_equal(l.deployment.choice.pools[1].layout.sequences, 96);
    assert_int_equal(l.deployment.choice.pools[1].layout.budget_tokens, 8192);
    assert_int_equal(l.deployment.choice.pools[1].layout.formats.cache,
                     RIDGE_DTYPE_FP8);
}

static void commands_again_are_more_servers(void **state)
{
    ridge_ctx *cx = *state;
    ridge_serving_launch l;
    assert_ok(cx, server_fixture_parse(
                      cx, NULL, "two.sh",
                      "CUDA_VISIBLE_DEVICES=0 vllm serve llama-3-8b --port 8000 &\n"
                      "CUDA_VISIBLE_DEVICES=1 vllm serve llama-3-8b --port 8001 &\n",
                      &l));
    assert_int_equal(l.deployment.choice.n_pools, 1);
    assert_int_equal(l.deployment.choice.pools[0].servers, 2);
    assert_ok(cx, server_fixture_parse(
                      cx, NULL, "nodes.sh",
                      "vllm serve deepseek-v3 -dp 16 --data-parallel-size-local 8 "
                      "--data-parallel-address 10.0.0.1 --enable-expert-parallel\n"
                      "vllm serve deepseek-v3 --headless -dp 16 "
                      "--data-parallel-size-local 8 --data-parallel-start-rank 8 "
                      "--data-parallel-address 10.0.0.1 --enable-expert-parallel\n",
                      &l));
    assert_int_equal(l.deployment.choice.n_pools, 1);
    assert_int_equal(l.deployment.choice.pools[0].servers, 1);
    assert_int_equal(l.deployment.choice.pools[0].layout.ep, 16);
    assert_ok(cx, server_fixture_parse(
                      cx, NULL, "dp.sh",
                      "python -m sglang.launch_server --model-path llama-3-8b --dp 4 "
                      "--max-running-requests 128\n",
                      &l));
    assert_int_equal(l.deployment.choice.pools[0].servers, 4);
    assert_int_equal(l.deployment.choice.pools[0].layout.sequences, 32);
}

static const struct {
    const char *text, *message;
} wrong_files[] = {
    {"echo hello", "a.sh: no server is started in it"},
    {"vllm serve\n", "a.sh: no server is started"},
    {"\nvllm serve --tensor-parallel-size 8\n",
     "a.sh: the model is not stated: give it as well, as in ridge serve "
     "llama-3-70b --from FILE"},
    {"vllm serve no-such-model-x", "a.sh:1: model: unknown model"},
    {"vllm serve llama-3-8b \\\n -tp zero", "a.sh:2: tp: 'zero' is no number"},
    {"vllm serve llama-3-8b -tp 16", "it runs on 16 chips, h100:1x8 has 8"},
    {"vllm serve llama-3-8b --kv-cache-dtype q3",
     "a.sh:1: kv-cache-dtype: 'q3' is no format of a cache"},
    {"vllm serve llama-3-8b --speculative-config '{broken'",
     "a.sh:1: speculative-config: no JSON object with num_speculative_tokens"},
    {"vllm serve llama-3-8b --speculative-config "
     "'{\"method\": \"ngram\", \"num_speculative_tokens\": 99}'",
     "expected 1 to 32"},
    {"vllm serve llama-3-8b --kv-transfer-config '{\"kv_role\": \"kv_producer\"}'",
     "give the command of its partner as well"},
    {"vllm serve llama-3-8b -tp 4 --decode-context-parallel-size 3",
     "3 does not divide the 4 ranks that share 8 KV heads"},
    {"vllm serve llama-3-8b & vllm serve llama-3-70b -tp 2 &\n",
     "two models, llama-3-8b and llama-3-70b"},
    {"trtllm-serve llama-3-8b --config nowhere.yaml",
     "a.sh:1: nowhere.yaml is not part of the text"},
    {"trtllm-serve deepseek-v3 --tp_size 8 --ep_size 3",
     "3 does not divide the 8 chips of a stage"},
    {"vllm serve deepseek-v3 -tp 1000000 -pp 1000000 -dp 1000000",
     "its degrees multiply to more than 100000000 chips"},
    {"replicas=many\nvllm serve llama-3-8b", "a.sh:1: replicas=many"},
    {"python -m sglang.launch_server --model llama-3-8b --tp 4 --dp 3 "
     "--enable-dp-attention",
     "3 does not divide tp-size 4"},
};

static void what_is_wrong_names_its_line(void **state)
{
    for (size_t i = 0; i < RIDGE_COUNT_OF(wrong_files); i++) {
        ridge_serving_launch l;
        assert_int_not_equal(
            server_fixture_parse(*state, "h100:8", "a.sh", wrong_files[i].text, &l),
            RIDGE_OK);
        fixture_assert_message(*state, wrong_files[i].message);
    }
}

static void on_a_tpu_engines_are_those_of_tpus(void **state)
{
    static const struct {
        const char *text, *message; /* NULL: is read */
    } cases[] = {
        {"python -m MaxText.maxengine_server base.yml model_name=llama2-7b "
         "ici_fsdp_parallelism=1 ici_tensor_parallelism=3 "
         "ici_autoregressive_parallelism=-1",
         "do not divide 8 devices"},
        {"trtllm-serve llama-3-8b --tp_size 4", "does not run on Google's chips (v5e)"},
        {"vllm serve llama-3-8b -tp 8", NULL},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_launch l;
        const ridge_status st =
            server_fixture_parse(*state, "v5e:2x4", "a.sh", cases[i].text, &l);
        if (cases[i].message == NULL) {
            assert_int_equal(st, RIDGE_OK);
            assert_string_equal(l.deployment.engine->name, "vllm-tpu");
            continue;
        }
        assert_int_equal(st, RIDGE_E_ARG);
        fixture_assert_message(*state, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_and_read_back_it_is_the_same,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(two_pools_come_back, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(written_names_are_names_that_engines_know,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_an_engine_lacks_is_refused, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(other_engines_shares_are_not_written,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(a_command_line_is_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(a_pods_lists_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(names_of_checkpoints_say_their_formats,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(chips_of_two_devices_are_counted_once,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(yaml_files_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(scripts_are_read, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(commands_again_are_more_servers, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(on_a_tpu_engines_are_those_of_tpus,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_is_wrong_names_its_line, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
