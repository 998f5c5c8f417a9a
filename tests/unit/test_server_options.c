/* Options of commands that change the time are told where they are not priced, and
 * those that do not are no noise. */
#include "server_fixture.h"

#define LLAMA "llama-3-8b"

static void what_changes_the_time_is_never_silent(void **state)
{
    static const struct {
        const char *command, *note;
    } cases[] = {
        {"vllm serve " LLAMA " -O0", "O0: nothing compiled"},
        {"vllm serve " LLAMA " --compilation-config '{\"cudagraph_mode\":\"NONE\"}'",
         "cudagraph_mode NONE: kernels launched one by one"},
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
        {"python -m sglang.launch_server --model " LLAMA
         " --num-continuous-decode-steps 4",
         "num-continuous-decode-steps 4"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_changes_the_time_is_never_silent,
                                        fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(what_changes_no_time_is_no_noise, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(sizes_of_graphs_are_read, fixture_open,
                                        fixture_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
