/* Models by name, alias and path; overrides; what is said of unknown names. */
#include "model_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const ridge_library *open_library(ridge_ctx *cx, const char *dir)
{
    const ridge_library *library = NULL;
    assert_ok(cx, ridge_library_open(cx, dir, &library));
    return library;
}

static void assert_loads(ridge_ctx *cx, const char *spelling, const char *name)
{
    const ridge_model *m = NULL;
    assert_ok(cx, ridge_model_load(cx, open_library(cx, NULL), spelling, &m));
    assert_string_equal(m->name, name);
}

static void names_are_spelt_loosely(void **state)
{
    assert_loads(*state, "llama-3-70b", "llama-3-70b");
    assert_loads(*state, "LLAMA_3_70B", "llama-3-70b");
    assert_loads(*state, "Llama 3 70B", "llama-3-70b");
    assert_loads(*state, "llama3-70b", "llama-3-70b");
    assert_loads(*state, "meta-llama/Meta-Llama-3-70B", "llama-3-70b");
    assert_loads(*state, "meta-llama/Meta-Llama-3-70B-Instruct", "llama-3-70b");
    assert_loads(*state, "some-mirror/Llama-2-7b-chat-hf", "llama-2-7b");
    assert_loads(*state, "GPT-3 175B", "gpt3-175b");
    assert_loads(*state, "llama-3-405b", "llama-3.1-405b");
}

static void entry_builds_on_its_base(void **state)
{
    const ridge_model *base = fixture_named(*state, "deepseek-v3");
    const ridge_model *m = fixture_named(*state, "deepseek-r1");
    assert_string_equal(m->name, "deepseek-r1");
    assert_string_equal(m->source, "deepseek-r1-2025");
    assert_int_equal(ridge_model_params(m).total, ridge_model_params(base).total);
    const ridge_model *sparse = fixture_named(*state, "deepseek-v3.2");
    assert_int_equal(sparse->layers[0].mixer.index_topk, 2048);
    assert_int_equal(sparse->d_model, base->d_model);
}

static void unknown_name_is_answered_with_the_nearest(void **state)
{
    const ridge_model *m = NULL;
    const ridge_library *library = open_library(*state, NULL);
    assert_int_equal(ridge_model_load(*state, library, "llama-3-71b", &m),
                     RIDGE_E_NOTFOUND);
    fixture_assert_message(*state, "llama-3-70b");
    fixture_assert_message(*state, "a path to a config.json");
    assert_int_equal(ridge_model_load(*state, library, "", &m), RIDGE_E_NOTFOUND);
    assert_int_equal(ridge_model_load(*state, library, "---hf-hf-hf-hf", &m),
                     RIDGE_E_NOTFOUND);
    assert_null(m);
}

static void a_release_that_is_unknown_is_told_of_its_model(void **state)
{
    static const char *const RELEASES[] = {
        "Qwen/Qwen2.5-72B-Instruct-AWQ", "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4",
        "neuralmagic/qwen2.5-72b-instruct-quantized.w8a8", "qwen2.5-72b-fp8-dynamic"};
    const ridge_model *m = NULL;
    const ridge_library *library = open_library(*state, NULL);
    for (size_t i = 0; i < RIDGE_COUNT_OF(RELEASES); i++) {
        assert_int_equal(ridge_model_load(*state, library, RELEASES[i], &m),
                         RIDGE_E_NOTFOUND);
        fixture_assert_message(*state, "qwen2.5-72b is known");
    }
    static const char *const dated[] = {"Qwen3-235B-A22B-Instruct-2507",
                                        "Qwen/Qwen3-235B-A22B-Thinking-2507",
                                        "qwen3-235b-a22b-2507-FP8"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(dated); i++) {
        assert_int_equal(ridge_model_load(*state, library, dated[i], &m),
                         RIDGE_E_NOTFOUND);
        fixture_assert_message(*state, "qwen3-235b-a22b is known");
    }
    assert_int_equal(ridge_model_load(*state, library, "no-such-model-awq", &m),
                     RIDGE_E_NOTFOUND);
    fixture_assert_message(*state, "a path to a config.json or to its");
}

/* ---- files ----------------------------------------------------------------------- */

static const char *write_file(ridge_ctx *cx, const char *folder, const char *name,
                              const char *text)
{
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/%s", folder, name);
    assert_ok(cx, ridge_file_write(cx, path, ridge_str_of(text)));
    return path;
}

static const char *make_folder(ridge_ctx *cx, const char *name)
{
    const char *path = ridge_sprintf(ridge_ctx_arena(cx), "%s/model-library-%s",
                                     RIDGE_BUILD_DIR, name);
    mkdir(path, 0777);
    return path;
}

#define SMALL                                                                          \
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2,"       \
    " \"num_attention_heads\": 4, \"intermediate_size\": 256, \"vocab_size\": 1000}"

static void path_to_a_config_or_its_folder(void **state)
{
    ridge_ctx *cx = *state;
    const char *folder = make_folder(cx, "path");
    const char *path = write_file(cx, folder, "config.json", SMALL);
    const ridge_library *library = open_library(cx, NULL);
    const ridge_model *m = NULL;
    assert_ok(cx, ridge_model_load(cx, library, path, &m));
    assert_int_equal(m->d_model, 64);
    assert_ok(cx, ridge_model_load(cx, library, folder, &m));
    assert_int_equal(m->d_model, 64);
}

static void folder_adds_and_overrides(void **state)
{
    ridge_ctx *cx = *state;
    const char *dir = make_folder(cx, "data");
    const char *models = ridge_sprintf(ridge_ctx_arena(cx), "%s/models", dir);
    mkdir(models, 0777);
    write_file(cx, models, "llama-3-8b.json", "{\"config\": " SMALL "}");
    write_file(cx, models, "my-model.json",
               "{\"aliases\": [\"mine\"], \"base\": \"llama-3-8b\","
               " \"config\": {\"hidden_size\": 128}}");
    const ridge_library *library = open_library(cx, dir);
    assert_int_equal(ridge_library_count(library),
                     ridge_library_count(open_library(cx, NULL)) + 1);
    const ridge_model *m = NULL;
    assert_ok(cx, ridge_model_load(cx, library, "llama-3-8b", &m));
    assert_int_equal(m->d_model, 64);
    assert_ok(cx, ridge_model_load(cx, library, "Mine", &m));
    assert_int_equal(m->d_model, 128);
    assert_int_equal(m->layer_count, 2);
}

static void bad_entries_say_where(void **state)
{
    ridge_ctx *cx = *state;
    const char *dir = make_folder(cx, "bad");
    const char *models = ridge_sprintf(ridge_ctx_arena(cx), "%s/models", dir);
    mkdir(models, 0777);
    write_file(cx, models, "loop.json", "{\"base\": \"loop\", \"config\": {}}");
    write_file(cx, models, "orphan.json", "{\"base\": \"nobody\", \"config\": {}}");
    write_file(cx, models, "typo.json", "{\"alias\": [], \"config\": {}}");
    write_file(cx, models, "broken.json", "{\"config\":");
    const ridge_library *library = open_library(cx, dir);
    const ridge_model *m = NULL;
    assert_int_equal(ridge_model_load(cx, library, "loop", &m), RIDGE_E_PARSE);
    fixture_assert_message(cx, "bases deep");
    assert_int_equal(ridge_model_load(cx, library, "orphan", &m), RIDGE_E_PARSE);
    fixture_assert_message(cx, "no model \"nobody\"");
    assert_int_equal(ridge_model_load(cx, library, "typo", &m), RIDGE_E_PARSE);
    fixture_assert_message(cx, "alias");
    assert_int_equal(ridge_model_load(cx, library, "broken", &m), RIDGE_E_PARSE);
    fixture_assert_message(cx, "broken.json:1");
    assert_ok(cx, ridge_model_load(cx, library, "llama3-8b", &m));
}

static void the_hub_has_names_of_its_own(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_library *library = open_library(cx, NULL);
    assert_string_equal(ridge_library_hub_name(cx, library, "deepseek-v3"),
                        "deepseek-ai/DeepSeek-V3");
    assert_null(ridge_library_hub_name(cx, library, "chinchilla-70b"));
    assert_null(ridge_library_hub_name(cx, library, "no-such-model"));
}

int main(void)
{
    unsetenv("HOME");
    unsetenv("XDG_CONFIG_HOME");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_spelt_loosely),
        cmocka_unit_test(entry_builds_on_its_base),
        cmocka_unit_test(unknown_name_is_answered_with_the_nearest),
        cmocka_unit_test(a_release_that_is_unknown_is_told_of_its_model),
        cmocka_unit_test(path_to_a_config_or_its_folder),
        cmocka_unit_test(folder_adds_and_overrides),
        cmocka_unit_test(bad_entries_say_where),
        cmocka_unit_test_setup_teardown(the_hub_has_names_of_its_own, fixture_open,
                                        fixture_close),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
