/* Formats of a checkpoint's weights: which parts are quantised, how many bits a weight
 * takes with its scales, and that packing changes no count of parameters. */
#include "config.h"
#include "model_fixture.h"

#include <string.h>

#define DENSE                                                                          \
    "'model_type': 'llama', 'hidden_size': 256, 'num_hidden_layers': 4, "              \
    "'num_attention_heads': 4, 'intermediate_size': 512, 'vocab_size': 1000, "         \
    "'torch_dtype': 'bfloat16'"
#define SPARSE                                                                         \
    "'model_type': 'deepseek_v3', 'hidden_size': 256, 'num_hidden_layers': 4, "        \
    "'num_attention_heads': 4, 'intermediate_size': 512, 'vocab_size': 1000, "         \
    "'kv_lora_rank': 32, 'qk_nope_head_dim': 16, 'qk_rope_head_dim': 8, "              \
    "'v_head_dim': 16, 'n_routed_experts': 8, 'n_shared_experts': 1, "                 \
    "'num_experts_per_tok': 2, 'moe_intermediate_size': 128, "                         \
    "'first_k_dense_replace': 1, 'torch_dtype': 'bfloat16'"

static const ridge_model *dense(void **state, const char *section)
{
    return fixture_model(*state, "{" DENSE ", 'quantization_config': %s}", section);
}

static const ridge_model *sparse(void **state, const char *section)
{
    return fixture_model(*state, "{" SPARSE ", 'quantization_config': %s}", section);
}

static void packing_changes_no_count(void **state)
{
    const ridge_model *plain = fixture_model(*state, "{" DENSE "}");
    const ridge_model *packed = dense(
        state,
        "{'quant_method': 'compressed-tensors', 'format': 'pack-quantized', "
        "'ignore': ['lm_head'], 'config_groups': {'group_0': {'targets': ['Linear'], "
        "'weights': {'num_bits': 4, 'type': 'int', 'group_size': 128, "
        "'symmetric': true}}}}");
    assert_int_equal(ridge_model_params(packed).total, ridge_model_params(plain).total);
    assert_near(packed->weight_bits, 4 + 16.0 / 128, 1e-12);
    assert_int_equal(packed->quant_block, 128);
    assert_string_equal(packed->quant_method, "compressed-tensors int4");
}

static void bytes_follow_the_bits_of_each_part(void **state)
{
    const ridge_model *m = dense(state, "{'quant_method': 'gptq', 'bits': 4, "
                                        "'group_size': 128}");
    const ridge_params p = ridge_model_params(m);
    const double linear = (double)(p.attention + p.mlp);
    const double rest = (double)(p.embedding + p.unembedding + p.norm);
    const double bits = 4 + (16 + 4) / 128.0;
    assert_near(ridge_model_weight_bytes(m), linear * bits / 8 + rest * 2, 1e-12);
}

static void caches_have_the_format_that_is_stated(void **state)
{
    static const struct {
        const char *section;
        ridge_dtype cache;
    } cases[] = {
        {"{'quant_method': 'compressed-tensors', 'format': 'float-quantized', "
         "'kv_cache_scheme': {'num_bits': 8, 'type': 'float', 'strategy': 'tensor', "
         "'dynamic': false}, 'config_groups': {'group_0': {'targets': ['Linear'], "
         "'weights': {'num_bits': 8, 'type': 'float'}}}}",
         RIDGE_DTYPE_FP8},
        {"{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', "
         "'kv_cache_scheme': {'dynamic': false, 'num_bits': 8, 'type': 'float'}}",
         RIDGE_DTYPE_FP8},
        {"{'quant_method': 'modelopt', 'quant_algo': 'FP8', "
         "'kv_cache_quant_algo': 'FP8'}",
         RIDGE_DTYPE_FP8},
        {"{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', "
         "'kv_cache_quant_algo': 'NVFP4'}",
         RIDGE_DTYPE_FP4},
        {"{'quant_method': 'modelopt', 'quant_algo': 'FP8', "
         "'kv_cache_quant_algo': null}",
         RIDGE_DTYPE_BF16},
        {"{'quant_method': 'gptq', 'bits': 4, 'kv_cache_scheme': null}",
         RIDGE_DTYPE_BF16},
        {"{'quant_method': 'gptq', 'bits': 4, 'kv_cache_scheme': 'static'}",
         RIDGE_DTYPE_BF16}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(cases); i++)
        assert_int_equal(dense(state, cases[i].section)->cache_dtype, cases[i].cache);
    assert_int_equal(fixture_model(*state, "{" DENSE "}")->cache_dtype,
                     RIDGE_DTYPE_BF16);
}

static void block_scales_count(void **state)
{
    const ridge_model *m = sparse(state, "{'quant_method': 'fp8', 'fmt': 'e4m3', "
                                         "'weight_block_size': [128, 128]}");
    assert_int_equal(m->weight_dtype, RIDGE_DTYPE_FP8);
    assert_int_equal(m->quant_block, 128);
    assert_near(m->weight_bits, 8 + 32.0 / 16384, 1e-12);
    assert_true(m->is_quant_attention && m->is_quant_ffn && m->is_quant_shared);
    assert_false(m->is_quant_head);
}

static void mxfp4_packs_experts_alone(void **state)
{
    const ridge_model *m =
        sparse(state, "{'quant_method': 'mxfp4', "
                      "'modules_to_not_convert': ['model.layers.*.self_attn', "
                      "'model.layers.*.mlp.router', 'lm_head']}");
    assert_false(m->is_quant_attention);
    assert_true(m->is_quant_ffn);
    assert_near(m->quant_bits[RIDGE_QUANT_EXPERTS], 4.25, 1e-12);
    assert_near(m->quant_bits[RIDGE_QUANT_DENSE], 0, 0);
}

static void nf4_has_a_scale_for_64_weights(void **state)
{
    const ridge_model *m = dense(state, "{'quant_method': 'bitsandbytes', "
                                        "'load_in_4bit': true}");
    assert_near(m->weight_bits, 4.5, 1e-12);
    const ridge_model *twice = dense(state, "{'quant_method': 'bitsandbytes', "
                                            "'load_in_4bit': true, "
                                            "'bnb_4bit_use_double_quant': true}");
    assert_near(twice->weight_bits, 4 + 8.0 / 64 + 32.0 / 64 / 256, 1e-12);
}

static void ignored_modules_keep_their_format(void **state)
{
    const ridge_model *m = sparse(
        state,
        "{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', 'ignore': ['lm_head', "
        "'model.layers.0*', 'model.layers.1.self_attn*', "
        "'model.layers.2.self_attn*', 'model.layers.3.self_attn*', "
        "'model.layers.1.mlp.shared_experts*', "
        "'model.layers.2.mlp.shared_experts*', "
        "'model.layers.3.mlp.shared_experts*']}");
    assert_false(m->is_quant_attention);
    assert_false(m->is_quant_shared);
    assert_near(m->quant_bits[RIDGE_QUANT_DENSE], 0, 0);
    assert_near(m->quant_bits[RIDGE_QUANT_EXPERTS], 4.5, 1e-12);
    assert_string_equal(m->quant_method, "modelopt nvfp4");
}

static void an_ignored_norm_ignores_no_attention(void **state)
{
    const ridge_model *m =
        sparse(state, "{'quant_method': 'fp8', 'modules_to_not_convert': "
                      "['model.layers.0.self_attn.kv_a_layernorm', "
                      "'model.layers.1.self_attn.kv_a_layernorm', "
                      "'model.layers.2.self_attn.kv_a_layernorm', "
                      "'model.layers.0.mlp.gate']}");
    assert_true(m->is_quant_attention);
    assert_true(m->is_quant_ffn);
}

static void groups_with_named_targets_differ(void **state)
{
    const ridge_model *m = sparse(
        state, "{'quant_method': 'modelopt', 'quant_algo': 'MIXED_PRECISION', "
               "'config_groups': {'group_0': {'targets': "
               "['model.layers.0.self_attn.q_a_proj'], "
               "'weights': {'num_bits': 8, 'type': 'float'}}, "
               "'group_1': {'targets': ['lm_head', 'model.layers.1.mlp.experts'], "
               "'weights': {'num_bits': 4, 'type': 'float', 'group_size': 16}}}}");
    assert_near(m->quant_bits[RIDGE_QUANT_ATTENTION], 8, 0);
    assert_near(m->quant_bits[RIDGE_QUANT_EXPERTS], 4.5, 1e-12);
    assert_near(m->quant_bits[RIDGE_QUANT_HEAD], 4.5, 1e-12);
    assert_near(m->quant_bits[RIDGE_QUANT_SHARED], 0, 0);
    assert_true(m->is_quant_head);
}

static void the_section_may_lie_in_the_language_part(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'wrapper', 'text_config': {" DENSE
                ", 'quantization_config': {'quant_method': 'awq', 'bits': 4, "
                "'group_size': 64}}}");
    assert_near(m->weight_bits, 4 + 20.0 / 64, 1e-12);
}

static void the_section_may_lie_beside_the_config(void **state)
{
    ridge_ctx *cx = *state;
    const char *quant =
        "{\"quantization\": {\"quant_algo\": \"NVFP4\", \"group_size\": 16, "
        "\"exclude_modules\": [\"lm_head\"]}}";
    ridge_node config, root;
    ridge_model *m = NULL;
    static const char TEXT[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2, "
        "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100}";
    assert_ok(cx, ridge_json_parse(cx, ridge_str_of(TEXT), "config.json", &config));
    assert_ok(cx, ridge_json_parse(cx, ridge_str_of(quant), "quant.json", &root));
    assert_ok(cx, ridge__config_read(cx, config, ridge_json_get(&root, "quantization"),
                                     "it", &m));
    assert_string_equal(m->quant_method, "modelopt nvfp4");
    assert_near(m->weight_bits, 4.5, 1e-12);
}

static void an_unknown_method_is_noted(void **state)
{
    const ridge_model *m = dense(state, "{'quant_method': 'secret'}");
    assert_null(m->quant_method);
    assert_int_equal(m->weight_dtype, RIDGE_DTYPE_BF16);
    assert_true(m->n_notes > 0);
    assert_non_null(strstr(m->notes[m->n_notes - 1], "\"secret\" is unknown"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packing_changes_no_count),
        TEST(bytes_follow_the_bits_of_each_part),
        TEST(caches_have_the_format_that_is_stated),
        TEST(block_scales_count),
        TEST(mxfp4_packs_experts_alone),
        TEST(nf4_has_a_scale_for_64_weights),
        TEST(ignored_modules_keep_their_format),
        TEST(an_ignored_norm_ignores_no_attention),
        TEST(groups_with_named_targets_differ),
        TEST(the_section_may_lie_in_the_language_part),
        TEST(the_section_may_lie_beside_the_config),
        TEST(an_unknown_method_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
