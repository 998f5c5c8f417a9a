/* Iterations in halves, and copies of experts, as commands of serving engines say them.
 */
#include "server_fixture.h"

#include <string.h>

enum {
    VLLM = RIDGE_SERVING_LAUNCHER_VLLM,
    SGL = RIDGE_SERVING_LAUNCHER_SGLANG,
    TRT = RIDGE_SERVING_LAUNCHER_TRTLLM
};

/* vLLM's --enable-dbo, SGLang's --enable-two-batch-overlap; others have no such. */
static void halves_are_told(void **state)
{
    static const server_case halves = {"deepseek-v3",
                                       "h200:2x8",
                                       .replicas = 2,
                                       .tp = 1,
                                       .ep = 8,
                                       .attention_dp = 8,
                                       .has_two_batches = true,
                                       .sequences = 64,
                                       .budget_tokens = 8192,
                                       .longest_tokens = 8192};
    static const int launchers[] = {VLLM, SGL};
    for (size_t i = 0; i < RIDGE_COUNT_OF(launchers); i++) {
        ridge_serving_launch back;
        server_fixture_round_trip(*state, (ridge_serving_launcher)launchers[i], &halves,
                                  1, &back);
    }
    ridge_launch_text text;
    ridge_deployment d =
        server_fixture_deployment(*state, (ridge_serving_launcher)TRT, &halves, 1);
    assert_int_equal(
        ridge_serving_launch_write(*state, (ridge_serving_launcher)TRT, &d, &text),
        RIDGE_E_ARG);
    fixture_assert_message(*state, "overlap=0");
}

/* Copies of hot experts: vLLM's --eplb-config, SGLang's --ep-num-redundant-experts,
 * TensorRT-LLM's num_slots, which counts the experts too. */
static void copies_are_told(void **state)
{
    static const server_case copies = {"deepseek-v3",
                                       "h200:2x8",
                                       .replicas = 2,
                                       .tp = 1,
                                       .ep = 8,
                                       .attention_dp = 8,
                                       .redundant_experts = 32,
                                       .sequences = 64,
                                       .budget_tokens = 8192,
                                       .longest_tokens = 8192};
    static const struct {
        ridge_serving_launcher launcher;
        const char *says;
    } cases[] = {{RIDGE_SERVING_LAUNCHER_VLLM,
                  "--eplb-config '{\"num_redundant_experts\": 32}'"},
                 {RIDGE_SERVING_LAUNCHER_SGLANG, "--ep-num-redundant-experts 32"},
                 {RIDGE_SERVING_LAUNCHER_TRTLLM, "num_slots: 288"}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_launch back;
        ridge_launch_text text;
        server_fixture_round_trip(*state, cases[i].launcher, &copies, 1, &back);
        ridge_deployment d =
            server_fixture_deployment(*state, cases[i].launcher, &copies, 1);
        assert_ok(*state,
                  ridge_serving_launch_write(*state, cases[i].launcher, &d, &text));
        assert_non_null(strstr(ridge_buf_text(&text.text), cases[i].says));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_are_told, fixture_open, fixture_close),
        cmocka_unit_test_setup_teardown(halves_are_told, fixture_open, fixture_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
