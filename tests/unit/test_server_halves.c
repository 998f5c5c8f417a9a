/* Iterations in halves as commands of serving engines say them. */
#include "server_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(halves_are_told, fixture_open, fixture_close)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
