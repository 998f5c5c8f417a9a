/* Engines by the words of measured rows: of the version that is named, or those that
 * are given to one that nobody knows. */
#include "train_fixture.h"

#include "served_run.h"

#include <string.h>

static served_gaps gaps_of(ridge_ctx *cx)
{
    served_gaps gaps;
    ridge_buf_init(&gaps.text, ridge_ctx_arena(cx));
    return gaps;
}

static void engines_are_found_by_version(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *framework, *engine;
    } cases[] = {
        {"vllm", "vllm-v1"},
        {"vllm 0.12.0", "vllm-v1"},
        {"vLLM 0.6.3", "vllm-v0"},
        {"vllm 0.19.0", "vllm-v1-async"},
        {"vLLM TPU", "vllm-tpu"},
        {"TensorRT-LLM 0.14 / Triton", "trtllm-v0"},
        {"sglang 0.5.9", "sglang"},
        {"llama.cpp CUDA", "llama-cpp"},
        {"Dynamo + SGLang", "sglang"},
        {"TGI 3.0", "tgi"},
        {"LMDeploy 0.7", "lmdeploy"},
        {"Ollama 0.5", "llama-cpp"},
        {"vllm 0.4.2", "vllm-v0"},
        {"vLLM 0.1.7", "vllm-2023"},
        {"vLLM (Oct 2023)", "vllm-2023"},
        {"vLLM (Jul 2024)", "vllm-v0"},
        {"vllm (Mar 2025)", "vllm-v0"},
        {"vLLM (Sep 2025)", "vllm-v1"},
        {"llama.cpp (Dec 2024)", "llama-cpp-2024"},
        {"llama.cpp (x)", "llama-cpp"},
        {"TensorRT LLM v0.16", "trtllm-v0"},
        {"SGLang (Sep 2025)", "sglang"},
    };
    const ridge_catalog *catalog;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_engine *engine;
        const served_run run = {.framework = cases[i].framework};
        served_gaps gaps = gaps_of(cx);
        assert_ok(cx, served_engine_find(cx, catalog, &run, &gaps, &engine));
        assert_string_equal(engine->name, cases[i].engine);
        assert_int_equal(gaps.text.n, 0);
    }
}

/* An engine that nobody knows is given others' rules, which is said. */
static void engines_that_are_not_known_are_assumed(void **state)
{
    ridge_ctx *cx = *state;
    static const char *const frameworks[] = {"something else 3", "DeepSpeed-MII 0.2"};
    const ridge_catalog *catalog;
    const ridge_engine *engine;
    assert_ok(cx, ridge_catalog_open(cx, NULL, &catalog));
    for (size_t i = 0; i < RIDGE_COUNT_OF(frameworks); i++) {
        const served_run run = {.framework = frameworks[i]};
        served_gaps gaps = gaps_of(cx);
        assert_ok(cx, served_engine_find(cx, catalog, &run, &gaps, &engine));
        assert_string_equal(engine->name, "other");
        assert_non_null(strstr(ridge_buf_text(&gaps.text), "not known"));
    }
    const served_run silent = {.framework = " "};
    served_gaps gaps = gaps_of(cx);
    assert_int_equal(served_engine_find(cx, catalog, &silent, &gaps, &engine),
                     RIDGE_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(engines_are_found_by_version, fixture_open,
                                        fixture_close),
        cmocka_unit_test_setup_teardown(engines_that_are_not_known_are_assumed,
                                        fixture_open, fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
