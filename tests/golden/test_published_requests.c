/*
 * A measured run of vLLM, played: 300 requests of ShareGPT at 10 a second to Llama 3.1
 * 8B on an RTX 4090, which is far more than it serves, so that queue, cache and
 * preemption all count. Nothing is fitted to this run; the tolerance is that of LLMs'
 * simulators on deployments that they have not seen.
 *
 * @source llmservingsim-rtx4090-2026
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "ridge/plan_requests.h"

static const double TOLERANCE = 0.1;

static void open_request(ridge_ctx *cx, ridge_service_request *r)
{
    const ridge_catalog *catalog = NULL;
    const ridge_library *library = NULL;
    r->knobs = ridge_service_knobs_free();
    assert_int_equal(ridge_catalog_open(cx, NULL, &catalog), RIDGE_OK);
    assert_int_equal(ridge_library_open(cx, NULL, &library), RIDGE_OK);
    assert_int_equal(ridge_model_load(cx, library, "llama-3.1-8b", &r->model),
                     RIDGE_OK);
    assert_int_equal(ridge_slice_parse(cx, catalog, "rtx-4090:1x1", &r->slice),
                     RIDGE_OK);
    assert_int_equal(ridge_engine_find(cx, catalog, "vllm-v1", &r->engine), RIDGE_OK);
    assert_int_equal(
        ridge_service_knobs_close(cx, r->model, r->slice->chip, r->engine, &r->knobs),
        RIDGE_OK);
}

static void an_overloaded_vllm_is_met(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    static const ridge_request_file_options plain;
    ridge_service_request request = {0};
    ridge_service_choice choice;
    ridge_service_deployment deployment;
    ridge_request_file *file;
    ridge_serving_summary played;
    (void)state;
    open_request(cx, &request);
    assert_int_equal(ridge_service_choice_of_knobs(cx, &request, &choice), RIDGE_OK);
    assert_int_equal(ridge_service_deploy(cx, &request, &choice, 8192, &deployment),
                     RIDGE_OK);
    assert_int_equal(
        ridge_request_file_open(
            cx, RIDGE_TEST_DIR "/golden/published/vllm-rtx4090-llama-3.1-8b.jsonl",
            &plain, &file),
        RIDGE_OK);
    const ridge_request_source source = ridge_request_file_source(file);
    assert_int_equal(
        ridge_serving_play(cx, &deployment.play, &source, NULL, NULL, &played),
        RIDGE_OK);
    const ridge_request_file_note *note = ridge_request_file_about(file);
    assert_int_equal(played.completed, 300);
    assert_int_equal(note->measured, 300);
    assert_near(played.ttft.mean, ridge_latency_mean(note->measured_ttft), TOLERANCE);
    assert_near(played.tpot.mean, ridge_latency_mean(note->measured_tpot), TOLERANCE);
    assert_near(played.e2e.mean, ridge_latency_mean(note->measured_e2e), TOLERANCE);
    assert_near(played.e2e.p99, ridge_latency_quantile(note->measured_e2e, 0.99),
                TOLERANCE);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_overloaded_vllm_is_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
