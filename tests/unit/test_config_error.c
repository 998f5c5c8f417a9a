/* Configs that are refused: each with one line that names the place and the cause. */
#include "config.h"
#include "model_fixture.h"

#include <string.h>

typedef struct refusal {
    const char *config; /* ' stands for " */
    const char *says;   /* part of the message */
} refusal;

#define LLAMA "'model_type': 'llama', "
#define SIZES                                                                          \
    "'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 4, "            \
    "'intermediate_size': 128, 'vocab_size': 100"

/* clang-format off */
static const refusal REFUSALS[] = {
    {"[]", "a model's config is an object"},
    {"{}", "missing hidden_size"},
    {"{'hidden_size': 64}", "model_type is absent"},
    {"{" LLAMA "'hidden_size': 64}", "missing vocab_size"},
    {"{" LLAMA "'num_hidden_layers': 2, 'vocab_size': 9}", "missing hidden_size (or n_embd"},
    {"{" LLAMA "'hidden_size': 64, 'vocab_size': 9}", "missing num_hidden_layers"},
    {"{" LLAMA "'hidden_size': 64, 'vocab_size': 9, 'num_hidden_layers': 2}", "num_attention_heads"},
    {"{" LLAMA "'hidden_size': '64', 'vocab_size': 9}", "hidden_size: expected a whole number"},
    {"{" LLAMA "'hidden_size': -64, 'vocab_size': 9}", "-64 is outside"},
    {"{" LLAMA "'hidden_size': 0, 'vocab_size': 9}", "0 is outside"},
    {"{" LLAMA "'hidden_size': 64.5, 'vocab_size': 9}", "64.5 is no whole number"},
    {"{" LLAMA "'hidden_size': 64, 'vocab_size': 9, 'num_hidden_layers': 1e30}", "num_hidden_layers"},
    {"{" LLAMA "'hidden_size': 64, 'vocab_size': 9, 'num_hidden_layers': 1000001}", "1000001 is outside"},
    {"{" LLAMA "'hidden_size': 64, 'vocab_size': 0, 'num_hidden_layers': 2}", "no vocabulary"},
    {"{" LLAMA "'hidden_size': 64, 'vocab_size': -1, 'num_hidden_layers': 2}", "no vocabulary"},
    {"{" LLAMA SIZES ", 'num_key_value_heads': 3}", "3 KV heads do not divide 4"},
    {"{" LLAMA "'hidden_size': 65, 'num_hidden_layers': 2, 'num_attention_heads': 4, 'intermediate_size': 128, 'vocab_size': 9}", "state head_dim"},
    {"{" LLAMA SIZES ", 'tie_word_embeddings': 'yes'}", "tie_word_embeddings: expected true or false"},
    {"{" LLAMA SIZES ", 'attention_bias': 1}", "attention_bias: expected true or false"},
    {"{'model_type': 'llama', 'hidden_size': 100000000, 'num_hidden_layers': 1000000, 'num_attention_heads': 1, 'intermediate_size': 100000000, 'vocab_size': 9}", "63-bit"},
    {"{'model_type': 'mixtral', " SIZES ", 'num_local_experts': 2, 'num_experts_per_tok': 3}", "3 of 2 experts"},
    {"{'model_type': 'mixtral', " SIZES ", 'num_local_experts': 2}", "missing num_experts_per_tok"},
    {"{'model_type': 'gpt_oss', " SIZES ", 'layer_types': ['full_attention']}", "1 types for 2 layers"},
    {"{'model_type': 'gpt_oss', " SIZES ", 'layer_types': ['full_attention', 'fancy']}", "layer_types[1]: unknown type of layer \"fancy\""},
    {"{'model_type': 'gpt_oss', " SIZES ", 'layer_types': ['full_attention', 7]}", "layer_types[1]"},
    {"{'model_type': 'nemotron_h', " SIZES ", 'hybrid_override_pattern': 'M'}", "1 letters for 2 layers"},
    {"{'model_type': 'nemotron_h', " SIZES ", 'hybrid_override_pattern': '?*'}", "unknown letter '?'"},
    {"{'model_type': 'nemotron_h', " SIZES ", 'hybrid_override_pattern': 'M*'}", "missing mamba_num_heads"},
    {"{'model_type': 'deepseek_v3', " SIZES ", 'kv_lora_rank': 16}", "missing qk_nope_head_dim"},
    {"{'model_type': 'qwen3_next', " SIZES ", 'full_attention_interval': 0}", "full_attention_interval"},
    {"{'model_type': 'brand_new', 'hidden_size': 64}", "unknown model_type \"brand_new\""},
    {"{'model_type': 'lama', 'hidden_size': 64}", "did you mean llama"},
    {"{'model_type': 'brand_new', " SIZES ", 'mamba_d_state': 16}", "no plain transformer"},
    {"{'model_type': 'brand_new', " SIZES "}", "unknown model_type \"brand_new\": what its layers hold is not known"},
    {"{'model_type': 'quen3', " SIZES "}", "did you mean qwen3"},
    {"{" LLAMA SIZES ", 'quantization_config': {'quant_method': 'gptq', 'bits': 40}}", "weights of 40 bits"},
    {"{" LLAMA SIZES ", 'quantization_config': {'quant_method': 'fp8', 'weight_block_size': [0, 0]}}", "weight_block_size[0]"},
};
/* clang-format on */

static char *with_quotes(ridge_ctx *cx, const char *text)
{
    char *copy = ridge_new(ridge_ctx_arena(cx), char, strlen(text) + 1);
    assert_non_null(copy);
    for (size_t i = 0; text[i] != '\0'; i++)
        copy[i] = text[i];
    for (char *p = copy; *p != '\0'; p++) {
        if (*p == '\'')
            *p = '"';
    }
    return copy;
}

static void each_refusal_names_its_cause(void **state)
{
    ridge_ctx *cx = *state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(REFUSALS); i++) {
        const ridge_model *model = NULL;
        ridge_node root;
        ridge_str text = ridge_str_of(with_quotes(cx, REFUSALS[i].config));
        assert_ok(cx, ridge_json_parse(cx, text, "model.json", &root));
        ridge_status st = ridge_model_from_config(cx, root, "it", &model);
        if (st != RIDGE_E_PARSE)
            print_error("not refused: %s\n", REFUSALS[i].config);
        assert_int_equal(st, RIDGE_E_PARSE);
        assert_null(model);
        fixture_assert_message(cx, "model.json:1");
        fixture_assert_message(cx, REFUSALS[i].says);
        assert_null(strchr(ridge_ctx_message(cx), '\n'));
    }
}

static void a_missing_file_is_an_io_error(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = NULL;
    assert_int_equal(ridge__config_read_path(cx, "/no/such/config.json", &model),
                     RIDGE_E_IO);
    assert_null(model);
    fixture_assert_message(cx, "/no/such/config.json");
}

static void a_folder_without_a_config_is_an_io_error(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = NULL;
    assert_int_equal(ridge__config_read_path(cx, RIDGE_TEST_DIR "/unit", &model),
                     RIDGE_E_IO);
    fixture_assert_message(cx, "holds no config.json");
}

static void write_file(ridge_ctx *cx, const char *path, const char *text)
{
    assert_ok(cx, ridge_file_write(cx, path, ridge_str_of(with_quotes(cx, text))));
}

static void a_catalogue_entry_brings_its_name_and_source(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = NULL;
    const char *path = RIDGE_BUILD_DIR "/test_config_entry.json";
    write_file(cx, path,
               "{'name': 'tiny', 'source': 'ours', 'published_params': 7, "
               "'config': {" LLAMA SIZES "}}");
    assert_ok(cx, ridge__config_read_path(cx, path, &model));
    assert_string_equal(model->name, "tiny");
    assert_string_equal(model->source, "ours");
    assert_int_equal(model->published_params, 7);
}

static void a_file_names_its_model(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *model = NULL;
    const char *path = RIDGE_BUILD_DIR "/test_config_named.json";
    write_file(cx, path, "{" LLAMA SIZES "}");
    assert_ok(cx, ridge__config_read_path(cx, path, &model));
    assert_string_equal(model->name, "test_config_named");
}

/* Every allocation may be the one that fails: a status, no crash, the ctx still usable.
 */
static void a_spent_budget_is_a_status(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"model_type\": \"mixtral\", \"hidden_size\": 64, "
                               "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
                               "\"intermediate_size\": 128, \"vocab_size\": 100, "
                               "\"num_local_experts\": 4, \"num_experts_per_tok\": 2}";
    bool succeeded = false;
    for (size_t budget = 4096; budget < (1u << 20) && !succeeded; budget += 512) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        ridge_node root;
        const ridge_model *model = NULL;
        if (cx == NULL)
            continue;
        ridge_status st = ridge_json_parse(cx, ridge_str_of(TEXT), "model.json", &root);
        if (st == RIDGE_OK)
            st = ridge_model_from_config(cx, root, "it", &model);
        assert_true(st == RIDGE_OK || st == RIDGE_E_NOMEM);
        succeeded = st == RIDGE_OK;
        ridge_ctx_close(cx);
    }
    assert_true(succeeded);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_refusal_names_its_cause),
        TEST(a_missing_file_is_an_io_error),
        TEST(a_folder_without_a_config_is_an_io_error),
        TEST(a_catalogue_entry_brings_its_name_and_source),
        TEST(a_file_names_its_model),
        TEST(a_spent_budget_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
