/* Options of commands that change the time are told where they are not priced, and
 * those that do not are no noise. */
#include "server_fixture.h"

#define LLAMA "llama-3-8b"

static void what_changes_the_time_is_never_silent(void **state)
{
    static const struct {
        const char *command, *note;
    } cases[] = {
        {"vllm serve " LLAMA " --compilation-config '{\"level\":0}'", "level 0"},
        {"vllm serve " LLAMA " --enable-lora --max-loras 4 --max-lora-rank 32",
         "enable-lora"},
        {"vllm serve " LLAMA " --hf-overrides '{\"num_hidden_layers\":10}'",
         "hf-overrides"},
        {"vllm serve " LLAMA " --swap-space 16", "swap-space 16"},
        {"vllm serve " LLAMA " --num-gpu-blocks-override 100",
         "num-gpu-blocks-override"},
        {"python -m sglang.launch_server --model " LLAMA " --max-total-tokens 9000",
         "max-total-tokens 9000"},
        {"trtllm-serve " LLAMA " --cp_size 2", "cp_size 2"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_launch l;
        assert_ok(*state, server_fixture_parse(*state, "h100:1x8", "a.sh",
                                               cases[i].command, &l));
        if (!server_fixture_has(&l.differing, cases[i].note))
            fail_msg("%s: no note of %s", cases[i].command, cases[i].note);
        assert_int_equal(l.unknown.n, 0);
    }
}

static void what_changes_no_time_is_no_noise(void **state)
{
    static const char *const commands[] = {
        "vllm serve " LLAMA " -O3 --compilation-config '{\"cudagraph_mode\":\"FULL\"}' "
        "--seed 1 --disable-log-requests --served-model-name x --trust-remote-code",
        "python -m sglang.launch_server --model " LLAMA
        " --schedule-policy lpm --enable-metrics --host 0.0.0.0",
        "trtllm-serve " LLAMA " --host 0.0.0.0 --log_level info",
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(commands); i++) {
        ridge_serving_launch l;
        assert_ok(*state,
                  server_fixture_parse(*state, "h100:1x8", "a.sh", commands[i], &l));
        assert_int_equal(l.differing.n, 0);
        assert_int_equal(l.unknown.n, 0);
    }
}

/* Graphs as large as told; beyond, each kernel is launched. */
static void sizes_of_graphs_are_read(void **state)
{
    static const char *const commands[] = {
        "vllm serve " LLAMA " --max-cudagraph-capture-size 64",
        "vllm serve " LLAMA
        " --compilation-config '{\"max_cudagraph_capture_size\":64}'",
        "python -m sglang.launch_server --model " LLAMA " --cuda-graph-max-bs 64"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(commands); i++) {
        ridge_serving_launch l;
        assert_ok(*state,
                  server_fixture_parse(*state, "h100:1x8", "a.sh", commands[i], &l));
        assert_int_equal((int)l.deployment.engine->graph_sequences, 64);
    }
}

static const ridge_engine *engine_of(ridge_ctx *cx, const char *command)
{
    ridge_serving_launch *l = ridge_new(ridge_ctx_arena(cx), ridge_serving_launch, 1);
    assert_non_null(l);
    assert_ok(cx, server_fixture_parse(cx, "h100:1x8", "a.sh", command, l));
    assert_int_equal(l->differing.n, 0);
    assert_int_equal(l->unknown.n, 0);
    return l->deployment.engine;
}

static void eager_is_eager_however_it_is_said(void **state)
{
    static const char *const commands[] = {
        "vllm serve " LLAMA " -O0", "vllm serve " LLAMA " --enforce-eager",
        "vllm serve " LLAMA " --compilation-config '{\"cudagraph_mode\":\"NONE\"}'",
        "vllm serve " LLAMA " --compilation-config.cudagraph_mode=NONE"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(commands); i++)
        assert_int_equal((int)engine_of(*state, commands[i])->graph_sequences, 0);
}

/* vLLM's first engine planned several iterations at once, and was chosen by a variable.
 */
static void first_engines_are_known_by_what_they_alone_do(void **state)
{
    const ridge_engine *e =
        engine_of(*state, "vllm serve " LLAMA " --num-scheduler-steps=8");
    assert_string_equal(e->name, "vllm-v0");
    assert_int_equal(e->planned_steps, 8);
    e = engine_of(*state, "vllm serve " LLAMA " --num-scheduler-steps 1");
    assert_int_equal(e->planned_steps, 0);
    assert_string_equal(e->name, "vllm-v1");
    static const char *const commands[] = {
        "VLLM_USE_V1=0 vllm serve " LLAMA, "export VLLM_USE_V1=0\nvllm serve " LLAMA,
        "docker run -e VLLM_USE_V1=0 vllm/vllm-openai --model " LLAMA};
    for (size_t i = 0; i < RIDGE_COUNT_OF(commands); i++)
        assert_string_equal(engine_of(*state, commands[i])->name, "vllm-v0");
}

static double longest_of(ridge_ctx *cx, const char *command)
{
    ridge_serving_launch *l = ridge_new(ridge_ctx_arena(cx), ridge_serving_launch, 1);
    assert_non_null(l);
    assert_ok(cx, server_fixture_parse(cx, "h100:1x8", "a.sh", command, l));
    assert_int_equal(l->differing.n, 0);
    return l->deployment.longest_tokens;
}

static void counts_and_overrides_are_read_as_vllm_reads_them(void **state)
{
    static const struct {
        const char *options;
        double longest;
    } cases[] = {
        {"--max-model-len 4k", 4000},
        {"--max-model-len=4K", 4096},
        {"--max_model_len 2.5k", 2500},
        {"--hf-overrides '{\"max_position_embeddings\": 2048}'", 2048},
        {"--hf-overrides.max_position_embeddings=1024", 1024},
        {"--hf-overrides '{\"rope_scaling\": {\"type\": \"yarn\"}}' --max-model-len 9",
         9},
        {"--max-model-len 512;", 512},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        char command[256];
        snprintf(command, sizeof command, "M=" LLAMA "; vllm serve $M %s",
                 cases[i].options);
        assert_near(longest_of(*state, command), cases[i].longest, 0);
    }
    const ridge_engine *e =
        engine_of(*state, "vllm serve " LLAMA " --max-num-batched-tokens 16K "
                          "-cc.cudagraph_mode=NONE");
    assert_int_equal(e->graph_sequences, 0);
}

/* Whatever the spelling, a model that is not the one priced is told. */
static void overrides_are_never_silent(void **state)
{
    static const char *const commands[] = {
        "vllm serve " LLAMA " --hf-overrides.num_hidden_layers=16",
        "vllm serve " LLAMA " --hf_overrides.num_hidden_layers 16",
        "vllm serve " LLAMA " --hf-overrides '{\"text_config\": {\"num_experts\": 8}}'",
        "vllm serve " LLAMA " --hf-overrides '{nothing'"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(commands); i++) {
        ridge_serving_launch l;
        assert_ok(*state,
                  server_fixture_parse(*state, "h100:1x8", "a.sh", commands[i], &l));
        assert_true(server_fixture_has(&l.differing, "differs from its configuration"));
    }
}

static void schedulers_are_read(void **state)
{
    const char *sglang = "python -m sglang.launch_server --model " LLAMA
                         " --num-continuous-decode-steps 4 --prefill-max-requests 2 "
                         "--schedule-conservativeness 0.5";
    const ridge_engine *e = engine_of(*state, sglang);
    assert_int_equal(e->planned_steps, 4);
    assert_int_equal(e->prompts, 2);
    assert_near(e->reserve_share, 0.35, 1e-12);
    e = engine_of(*state, "python -m sglang.launch_server --model " LLAMA
                          " --enable-mixed-chunk");
    assert_int_equal(e->batching, RIDGE_BATCHING_MIXED);
    e = engine_of(*state, "vllm serve " LLAMA " --long-prefill-token-threshold 512");
    assert_int_equal(e->chunk_tokens, 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_changes_the_time_is_never_silent,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(eager_is_eager_however_it_is_said, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(first_engines_are_known_by_what_they_alone_do,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(
            counts_and_overrides_are_read_as_vllm_reads_them, fixture_open,
            fixture_close),
        cmocka_unit_test_setup_teardown(overrides_are_never_silent, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(schedulers_are_read, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(what_changes_no_time_is_no_noise, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(sizes_of_graphs_are_read, fixture_open,
                                        fixture_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
