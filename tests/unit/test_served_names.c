/* What rows say in words: checkpoints whose names tell their formats, formats that are
 * named anywhere, bits of a weight; and how long their requests are. */
#include "plain_chip.h"
#include "served_bench.h"
#include "serving_desk.h"
#include "train_fixture.h"

#include <string.h>

static served_run read_row(ridge_ctx *cx, const char *model, const char *config)
{
    served_run run;
    const char *text = ridge_sprintf(
        ridge_ctx_arena(cx),
        "{\"id\": \"a\", \"source\": {\"title\": \"A paper\"}, \"model\": {\"name\": "
        "\"%s\"}, \"hardware\": {\"chip\": \"H100\", \"n_chips\": 4}, \"config\": "
        "{\"mode\": \"closed loop\"%s}, \"measured\": {}, \"note\": null}",
        model, config);
    assert_ok(cx, served_run_of_json(cx, ridge_str_of(text), "rows:1", &run));
    return run;
}

static void names_of_checkpoints_tell_their_formats(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *name, *bare, *dtype, *cache;
    } cases[] = {
        {"amd/Llama-3.3-70B-Instruct-FP8-KV", "amd/Llama-3.3-70B-Instruct", "fp8",
         "fp8"},
        {"Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "Meta-Llama-3.1-70B-Instruct", "awq",
         ""},
        {"Llama-3.1-8B-Instruct-quantized.w8a8", "Llama-3.1-8B-Instruct", "w8a8", ""},
        {"Qwen2.5-7B-Instruct-GPTQ-Int8", "Qwen2.5-7B-Instruct", "gptq-int8", ""},
        {"Mistral-7B_awq", "Mistral-7B", "awq", ""},
        {"Llama-3.1-405B-Instruct-FP4", "Llama-3.1-405B-Instruct", "nvfp4", ""},
        {"DeepSeek-V3", "DeepSeek-V3", "", ""},
        {"fp8", "fp8", "", ""},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const served_run run = read_row(cx, cases[i].name, "");
        const ridge_str bare = served_name_bare(cases[i].name);
        assert_string_equal(run.dtype, cases[i].dtype);
        assert_string_equal(run.cache_dtype, cases[i].cache);
        assert_int_equal(bare.n, strlen(cases[i].bare));
        assert_memory_equal(bare.p, cases[i].bare, bare.n);
    }
    const served_run stated =
        read_row(cx, "Llama-3.1-8B-AWQ", ", \"dtype\": \"int4 g32\"");
    assert_string_equal(stated.dtype, "int4 g32");
}

static void models_are_found_without_words_for_formats(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_library *library;
    const ridge_model *model;
    served_run run =
        read_row(cx, "hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "");
    assert_ok(cx, ridge_library_open(cx, NULL, &library));
    assert_ok(cx, served_model_find(cx, library, &run, &model));
    assert_string_equal(model->name, "llama-3.1-70b");
    run.model = "Qwen3-235B-A22B-Instruct-2507-FP8";
    assert_ok(cx, served_model_find(cx, library, &run, &model));
    assert_string_equal(model->name, "qwen3-235b-a22b");
    run.model = "Llama-9.9-70B-AWQ";
    assert_int_equal(served_model_find(cx, library, &run, &model), RIDGE_E_NOTFOUND);
    fixture_assert_message(cx, "no model 'Llama-9.9-70B-AWQ'");
}

static void formats_are_words_anywhere(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *words;
        ridge_dtype weight;
    } cases[] = {
        {"Meta's FP8", RIDGE_DTYPE_FP8},
        {"quantised to int4, cache fp8", RIDGE_DTYPE_INT4},
        {"exl2 4.0 bpw", RIDGE_DTYPE_INT4},
        {"bnb-nf4", RIDGE_DTYPE_INT4},
        {"weights in 8-bit", RIDGE_DTYPE_INT8},
    };
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    served_run run = read_row(cx, "m", ", \"framework\": \"vllm\"");
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_serving_formats f;
        run.dtype = cases[i].words;
        assert_ok(cx, served_formats(cx, &run, train_dense_model(cx), &chip, &f));
        assert_int_equal(f.weight, cases[i].weight);
    }
    ridge_serving_formats f;
    run.dtype = "unfp8ed"; /* within a word it is none */
    assert_int_equal(served_formats(cx, &run, train_dense_model(cx), &chip, &f),
                     RIDGE_E_NOTFOUND);
}

static void bits_of_a_weight_are_told(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *format;
        double bits;
    } cases[] = {{"exl2 2.5 bpw", 2.5}, {"EXL2 4.25bpw", 4.25}, {"exl2 8 bpw", 8}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_model *model = train_dense_model(cx);
        assert_ok(cx, served_repack(cx, cases[i].format, &model));
        assert_near(model->quant_bits[RIDGE_QUANT_DENSE], cases[i].bits, 0);
        assert_string_equal(model->quant_method, "exl2");
    }
    const ridge_model *plain = train_dense_model(cx), *same = plain;
    assert_ok(cx, served_repack(cx, "bpw", &same));
    assert_ptr_equal(same, plain);
}

/* Also where a weight has fewer bits than the narrowest type. */
static void weights_are_read_in_the_bits_that_are_told(void **state)
{
    ridge_ctx *cx = *state;
    static const struct {
        const char *format;
        double bits;
    } cases[] = {{"exl2 2.5 bpw", 2.5}, {"Q3_K_S", 3.4375}, {"Q5_K_S", 5.5}};
    const ridge_chip chip = plain_chip(RIDGE_DTYPE_BF16, 1e12, 1e12);
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_model *model = train_dense_model(cx);
        assert_ok(cx, served_repack(cx, cases[i].format, &model));
        const ridge_serving_formats formats = ridge_serving_formats_of(model, &chip);
        const serving_format_set set = serving_formats_find(model, &formats);
        const serving_format *f = &set.of[RIDGE_QUANT_DENSE];
        assert_near(ridge_dtype_bytes(f->weight) + f->scale_bytes, cases[i].bits / 8,
                    1e-12);
    }
}

/* Clients that draw lengths and send so many requests say so themselves. */
static void rows_state_their_ranges_and_requests(void **state)
{
    ridge_ctx *cx = *state;
    const served_names names = {"llama-3.1-8b", "h100"};
    const ridge_node *benches;
    served_practice p;
    assert_ok(cx, served_benches_read(cx, &benches));
    served_run run = read_row(cx, "Llama-3.1-8B",
                              ", \"length_range_ratio\": 0, \"num_prompts\": 80");
    assert_true(run.is_ranged);
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &p));
    assert_true(p.is_known);
    assert_near(p.shortest_share, 0, 0);
    assert_near(p.requests, 80, 0);
    run = read_row(cx, "Llama-3.1-8B", ", \"length_range_ratio\": 1.5");
    assert_false(run.is_ranged);
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &p));
    assert_near(p.shortest_share, 1, 0);
    assert_near(p.requests, 0, 0);
}

/* Between pools goes what the router that was used takes, not the engine's usual one.
 */
static void routers_are_those_of_the_publisher(void **state)
{
    ridge_ctx *cx = *state;
    const served_names names = {"gpt-oss-120b", "h200"};
    const ridge_node *benches;
    served_practice p;
    assert_ok(cx, served_benches_read(cx, &benches));
    served_run run = read_row(cx, "gpt-oss-120b", ", \"framework\": \"SGLang\"");
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &p));
    assert_near(p.handoff_s, 0, 0);
    run.source = "Prefill/decode ratio of gpt-oss-120b";
    assert_ok(cx, served_practice_find(cx, benches, &run, &names, &p));
    assert_near(p.handoff_s, 0.05, 0);
}

#define NAMES_TEST(name)                                                               \
    cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NAMES_TEST(names_of_checkpoints_tell_their_formats),
        NAMES_TEST(models_are_found_without_words_for_formats),
        NAMES_TEST(formats_are_words_anywhere),
        NAMES_TEST(bits_of_a_weight_are_told),
        NAMES_TEST(weights_are_read_in_the_bits_that_are_told),
        NAMES_TEST(rows_state_their_ranges_and_requests),
        NAMES_TEST(routers_are_those_of_the_publisher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
