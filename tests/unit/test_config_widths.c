/* Reading a config: layers that differ in their widths, and widths that a type implies.
 */
#include "model_fixture.h"

#include <string.h>

#define SMALL                                                                          \
    "'hidden_size': 64, 'num_hidden_layers': 4, 'num_attention_heads': 4, "            \
    "'intermediate_size': 128, 'vocab_size': 100, 'torch_dtype': 'bfloat16'"

static void layers_may_state_their_own_query_heads(void **state)
{
    const ridge_model *laguna = fixture_model(
        *state,
        "{'model_type': 'laguna', " SMALL ", 'head_dim': 16, 'num_key_value_heads': 2, "
        "'sliding_window': 8, 'num_attention_heads_per_layer': [4, 6, 6, 4], "
        "'layer_types': ['full_attention', 'sliding_attention', "
        "'sliding_attention', 'full_attention']}");
    assert_int_equal(laguna->n_layers, 2);
    assert_int_equal(laguna->layers[1].mixer.window, 8);
    assert_int_equal(laguna->layers[0].mixer.heads, 4);
    assert_int_equal(laguna->layers[1].mixer.heads, 6);
    assert_int_equal(laguna->layers[1].mixer.gate_width, 6);
    const ridge_model *step = fixture_model(
        *state, "{'model_type': 'step3p5', " SMALL ", 'num_attention_groups': 2, "
                "'head_dim': 16, 'sliding_window': 8, 'attention_other_setting': "
                "{'attention_type': 'sliding_attention', 'num_attention_heads': 6}, "
                "'layer_types': ['full_attention', 'sliding_attention', "
                "'sliding_attention', 'full_attention']}");
    assert_int_equal(step->layers[0].mixer.heads, 4);
    assert_int_equal(step->layers[1].mixer.heads, 6);
}

static void layers_that_borrow_keys_may_be_twice_as_wide(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'gemma4_text', " SMALL ", 'num_key_value_heads': 1, "
                "'num_kv_shared_layers': 2, 'use_double_wide_mlp': true, "
                "'sliding_window': 8, 'layer_types': ['sliding_attention', "
                "'full_attention', 'sliding_attention', 'full_attention']}");
    assert_int_equal(m->n_layers, 4);
    assert_int_equal(m->layers[1].ffn.d_ff, 128);
    assert_int_equal(m->layers[2].ffn.d_ff, 256);
    /* Full layers have heads of 512 where the file does not say. */
    assert_int_equal(m->layers[0].mixer.head_dim, 256);
    assert_int_equal(m->layers[1].mixer.head_dim, 512);
    bool is_told = false;
    for (int i = 0; i < m->n_notes; i++)
        is_told = is_told || strstr(m->notes[i], "global_head_dim is absent") != NULL;
    assert_true(is_told);
}

static void branches_of_falcon_may_share_a_norm(void **state)
{
#define FALCON                                                                         \
    "{'model_type': 'falcon', 'hidden_size': 64, 'num_hidden_layers': 4, "             \
    "'num_attention_heads': 4, 'vocab_size': 100, 'new_decoder_architecture': true, "  \
    "'num_kv_heads': 2"
    const ridge_model *two = fixture_model(*state, FALCON "}");
    const ridge_model *one =
        fixture_model(*state, FALCON ", 'num_ln_in_parallel_attn': 1}");
    assert_int_equal(ridge_model_params(two).total - ridge_model_params(one).total,
                     4 * 2 * 64);
#undef FALCON
}

static void latent_values_may_be_the_share_of_a_head(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'minicpm3', " SMALL ", 'qk_nope_head_dim': 8, "
                "'qk_rope_head_dim': 4, 'q_lora_rank': 16, 'kv_lora_rank': 8}");
    assert_int_equal(m->layers[0].mixer.v_head_dim, 16);
    assert_true(m->is_tied);
}

static void layers_may_lend_keys_and_values(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'hunyuan', " SMALL ", 'num_key_value_heads': 2, "
                "'use_cla': true, 'cla_share_factor': 2}");
    assert_int_equal(m->n_layers, 2);
    assert_false(m->layers[0].mixer.has_shared_kv);
    assert_true(m->layers[1].mixer.has_shared_kv);
    assert_int_equal(m->layers[1].count, 2);
}

static void a_dense_branch_may_be_as_wide_as_the_model(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'arctic', " SMALL ", 'num_local_experts': 4, "
                "'num_experts_per_tok': 2, 'parallel_attn_mlp_res': true, "
                "'moe_layer_frequency': 1}");
    assert_int_equal(m->layers[0].ffn.kind, RIDGE_FFN_MOE);
    assert_int_equal(m->layers[0].ffn.expert_d_ff, 128);
    assert_int_equal(m->layers[0].ffn.d_ff, 64);
    assert_int_equal(m->layers[0].norm_params, 3 * 64);
}

static void apertus_has_two_matrices_and_norms_of_heads(void **state)
{
    const ridge_model *m =
        fixture_model(*state, "{'model_type': 'apertus', " SMALL "}");
    assert_false(m->layers[0].ffn.is_gated);
    assert_int_equal(m->layers[0].mixer.qk_norm_width, 2 * 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(layers_may_state_their_own_query_heads),
        TEST(layers_that_borrow_keys_may_be_twice_as_wide),
        TEST(branches_of_falcon_may_share_a_norm),
        TEST(latent_values_may_be_the_share_of_a_head),
        TEST(layers_may_lend_keys_and_values),
        TEST(a_dense_branch_may_be_as_wide_as_the_model),
        TEST(apertus_has_two_matrices_and_norms_of_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
