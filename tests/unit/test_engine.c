/* Serving engines: members, bases, limits by chip, and what they print of their cache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "ridge/hardware_engine.h"

#include <string.h>

#define ORIGIN     "\"source\":\"s\",\"date\":\"2025\""
#define FACT(text) "{\"value\":" #text "," ORIGIN "}"
#define WHOLE                                                                          \
    "\"full_name\":\"A\",\"version\":\"1\",\"rules\":{" ORIGIN                         \
    "},\"block_tokens\":16,\"budget_tokens\":" FACT(8192) ",\"sequences\":256,"        \
                                                          "\"memory_share\":" FACT(    \
                                                              0.9)

static ridge_status read_text(ridge_ctx *cx, const char *text,
                              const ridge_engine **engine)
{
    const ridge_embedded file = {"engines/a.json", text, strlen(text)};
    const ridge_embedded_set set = {&file, 1};
    const ridge_catalog *catalog = NULL;
    RIDGE_TRY(ridge_catalog_open_data(cx, &set, NULL, &catalog));
    return ridge_engine_find(cx, catalog, "a", engine);
}

static const ridge_engine *built_in(ridge_ctx *cx, const char *name)
{
    const ridge_catalog *c = NULL;
    const ridge_engine *engine = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    if (ridge_engine_find(cx, c, name, &engine) != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(cx));
    return engine;
}

static void wrong_files_say_what_is_wrong(void **state)
{
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"name\":\"a\"," WHOLE ",\"batch\":1}", "batch"},
        {"{\"name\":\"a\"," WHOLE ",\"batching\":\"mix\"}", "mixed"},
        {"{\"name\":\"a\"," WHOLE ",\"watermark\":0.1}", "sourced number"},
        {"{\"name\":\"a\"," WHOLE ",\"is_chunked\":1}", "true or false"},
        {"{\"name\":\"a\"," WHOLE ",\"limits\":{}}", "array"},
        {"{\"name\":\"a\"," WHOLE ",\"limits\":[{\"sequences\":0}]}", "limits"},
        {"{\"name\":\"a\"," WHOLE ",\"reserve_share\":" FACT(0.5) "}", "reserve_steps"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"version\":\"1\"}", "rules"},
        {"{\"name\":\"a\",\"full_name\":\"A\",\"version\":\"1\",\"rules\":{" ORIGIN
         "}}",
         "block_tokens"},
        {"{\"name\":\"a\",\"full_name\":\"A\"}", "version"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_ctx *cx = ridge_ctx_open();
        const ridge_engine *engine = NULL;
        assert_int_equal(read_text(cx, cases[i].text, &engine), RIDGE_E_PARSE);
        if (strstr(ridge_ctx_message(cx), cases[i].message) == NULL)
            fail_msg("%s", ridge_ctx_message(cx));
        ridge_ctx_close(cx);
    }
}

static void limits_hold_on_small_chips_and_named_ones(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_engine *vllm = built_in(cx, "vLLM");
    const struct {
        ridge_chip chip;
        int64_t budget, sequences;
    } cases[] = {{{.name = "h100", .hbm_bytes = 80e9}, 8192, 1024},
                 {{.name = "a100", .hbm_bytes = 80e9}, 2048, 256},
                 {{.name = "a100-40gb", .hbm_bytes = 40e9}, 2048, 256},
                 {{.name = "l4", .hbm_bytes = 24e9}, 2048, 256}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_engine_room room = ridge_engine_room_on(vllm, &cases[i].chip);
        assert_int_equal(room.budget_tokens, cases[i].budget);
        assert_int_equal(room.sequences, cases[i].sequences);
    }
    ridge_ctx_close(cx);
}

/* As in their start-up logs. */
static void the_cache_is_printed_as_each_engine_prints_it(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const struct {
        const char *engine;
        int64_t block_tokens;
        const char *text;
    } cases[] = {
        {"vllm-v1", 16,
         "GPU KV cache size: 434,528 tokens\n"
         "Maximum concurrency for 8,192 tokens per request: 53.04x"},
        {"vllm-v0", 16,
         "# GPU blocks: 27158\n"
         "Maximum concurrency for 8192 tokens per request: 53.04x"},
        {"sglang", 16,
         "KV Cache is allocated. #tokens: 434528\nmax_total_num_tokens=434528"},
        {"trtllm", 32,
         "Max KV cache blocks per sequence: 256 [window size=8192], tokens per "
         "block=32, primary blocks=27158, secondary blocks=0\n"
         "max tokens in paged KV cache (869056)"},
    };
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        ridge_buf text;
        ridge_buf_init(&text, ridge_ctx_arena(cx));
        ridge_engine_cache_write(built_in(cx, cases[i].engine), 27158,
                                 cases[i].block_tokens, 8192, &text);
        assert_string_equal(ridge_buf_text(&text), cases[i].text);
    }
    ridge_ctx_close(cx);
}

static void a_variant_keeps_what_it_does_not_say(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_engine *async = built_in(cx, "vllm-v1-async");
    const ridge_engine *tpu = built_in(cx, "vllm-tpu");
    const ridge_chip v5e = {.name = "v5e", .hbm_bytes = 16e9};
    assert_true(async->is_host_hidden && async->is_chunked);
    assert_int_equal(async->block_tokens, 16);
    assert_int_equal(ridge_engine_room_on(tpu, &v5e).budget_tokens, 512);
    ridge_ctx_close(cx);
}

static void engines_run_on_the_chips_of_their_vendors(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_chip nvidia = {.name = "h100", .vendor = "NVIDIA"};
    const ridge_chip amd = {.name = "mi300x", .vendor = "AMD"};
    const ridge_chip google = {.name = "v5e", .vendor = "Google"};
    const ridge_chip apple = {.name = "m4", .vendor = "Apple"};
    const ridge_chip other = {.name = "x1", .vendor = "Acme"};
    const ridge_chip unknown = {.name = "x2"};
    const struct {
        const char *asked; /* NULL: vLLM's */
        const ridge_chip *chip;
        const char *found; /* NULL: none */
    } cases[] = {
        {"vllm", &nvidia, "vllm-v1"},
        {"vllm", &google, "vllm-tpu"},
        {NULL, &google, "vllm-tpu"},
        {NULL, &amd, "vllm-v1"},
        {"trtllm", &nvidia, "trtllm"},
        {"trtllm", &amd, NULL},
        {"trtllm", &google, NULL},
        {"jetstream", &nvidia, NULL},
        {"jetstream", &google, "jetstream"},
        {"sglang", &amd, "sglang"},
        {"trtllm", &other, "trtllm"},
        {"static", &google, "static"},
        {NULL, &unknown, "vllm-v1"},
        {"vllm-tpu", &nvidia, NULL},
        {NULL, &apple, "llama-cpp-metal"},
        {"vllm", &apple, NULL},
        {"llama-cpp", &apple, "llama-cpp-metal"},
    };
    const ridge_catalog *c = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++) {
        const ridge_engine *e = NULL;
        const ridge_status st =
            ridge_engine_find_on(cx, c, cases[i].asked, cases[i].chip, &e);
        if (cases[i].found == NULL) {
            assert_int_equal(st, RIDGE_E_ARG);
            assert_non_null(strstr(ridge_ctx_message(cx), "use --engine"));
        } else {
            assert_int_equal(st, RIDGE_OK);
            assert_string_equal(e->name, cases[i].found);
        }
    }
    ridge_ctx_close(cx);
}

/* An engine that states no vendors runs on all. */
static void engines_run_on_chips_of_their_vendors(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_chip nvidia = {.name = "h100", .vendor = "NVIDIA"};
    const ridge_chip google = {.name = "v5e", .vendor = "Google"};
    const ridge_engine any = {.name = "any"};
    assert_true(ridge_engine_runs_on(built_in(cx, "trtllm"), &nvidia));
    assert_false(ridge_engine_runs_on(built_in(cx, "trtllm"), &google));
    assert_true(ridge_engine_runs_on(&any, &google));
    ridge_ctx_close(cx);
}

/* Ranges hold for the chips that were measured. */
static void ranges_are_those_of_measured_chips(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_chip nvidia = {.name = "h100", .vendor = "NVIDIA"};
    const ridge_chip amd = {.name = "mi300x", .vendor = "AMD"};
    const ridge_chip google = {.name = "v5e", .vendor = "Google"};
    assert_true(ridge_engine_is_measured_on(built_in(cx, "vllm-v1"), &nvidia));
    assert_false(ridge_engine_is_measured_on(built_in(cx, "vllm-v1"), &amd));
    assert_false(ridge_engine_is_measured_on(built_in(cx, "vllm-tpu"), &google));
    assert_false(ridge_engine_is_measured_on(built_in(cx, "jetstream"), &google));
    ridge_ctx_close(cx);
}

static void built_in_engines_can_be_read(void **state)
{
    ridge_ctx *cx = ridge_ctx_open();
    (void)state;
    const ridge_catalog *c = NULL;
    const ridge_engine *none = NULL;
    assert_int_equal(ridge_catalog_open(cx, NULL, &c), RIDGE_OK);
    assert_true(ridge_catalog_engine_count(c) >= 8);
    for (size_t i = 0; i < ridge_catalog_engine_count(c); i++) {
        const ridge_engine *engine = ridge_catalog_engine(c, i);
        assert_non_null(engine);
        assert_true(engine->n_facts > 3);
        assert_true(engine->version[0] != '\0');
    }
    assert_null(ridge_catalog_engine(c, ridge_catalog_engine_count(c)));
    assert_int_equal(ridge_engine_find(cx, c, "vlm-v1", &none), RIDGE_E_NOTFOUND);
    assert_non_null(strstr(ridge_ctx_message(cx), "vllm-v1"));
    ridge_ctx_close(cx);
}

static void each_choice_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(ridge_engine_batching_text(RIDGE_BATCHING_PREFILL), "prefill");
    assert_string_equal(ridge_engine_preemption_text(RIDGE_PREEMPTION_RESERVE),
                        "reserve");
    assert_string_equal(ridge_engine_victim_text(RIDGE_VICTIM_SHORTEST), "shortest");
    assert_string_equal(ridge_engine_memory_text(RIDGE_MEMORY_STATIC), "static");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files_say_what_is_wrong),
        cmocka_unit_test(limits_hold_on_small_chips_and_named_ones),
        cmocka_unit_test(the_cache_is_printed_as_each_engine_prints_it),
        cmocka_unit_test(a_variant_keeps_what_it_does_not_say),
        cmocka_unit_test(engines_run_on_the_chips_of_their_vendors),
        cmocka_unit_test(engines_run_on_chips_of_their_vendors),
        cmocka_unit_test(ranges_are_those_of_measured_chips),
        cmocka_unit_test(built_in_engines_can_be_read),
        cmocka_unit_test(each_choice_has_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
