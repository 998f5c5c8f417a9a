/* Reading a config: which layers there are, what absent fields mean, what is said of
 * assumptions. Counts of whole models are golden tests. */
#include "model_fixture.h"

#include <string.h>

#define SMALL                                                                          \
    "'hidden_size': 64, 'num_hidden_layers': 4, 'num_attention_heads': 4, "            \
    "'intermediate_size': 128, 'vocab_size': 100, 'torch_dtype': 'bfloat16'"

static const ridge_layer *layer_at(const ridge_model *m, int64_t index)
{
    for (int i = 0; i < m->n_runs; i++) {
        if (index < m->runs[i].count)
            return &m->layers[m->runs[i].layer];
        index -= m->runs[i].count;
    }
    fail_msg("no layer of this index");
    return NULL;
}

static const char *mixers(const ridge_model *m, char *text, size_t n)
{
    static const char LETTERS[] = {
        [RIDGE_MIXER_NONE] = '-',      [RIDGE_MIXER_ATTENTION] = 'A',
        [RIDGE_MIXER_MLA] = 'L',       [RIDGE_MIXER_DELTA] = 'D',
        [RIDGE_MIXER_LIGHTNING] = 'N', [RIDGE_MIXER_SSM] = 'S',
        [RIDGE_MIXER_CONV] = 'C'};
    size_t i = 0;
    for (; i + 1 < n && (int64_t)i < m->layer_count; i++) {
        const ridge_layer *layer = layer_at(m, (int64_t)i);
        text[i] = LETTERS[layer->mixer.kind];
        if (layer->mixer.kind == RIDGE_MIXER_ATTENTION && layer->mixer.window > 0)
            text[i] = 'w';
    }
    text[i] = '\0';
    return text;
}

static void assert_mixers(const ridge_model *m, const char *want)
{
    char text[64];
    assert_string_equal(mixers(m, text, sizeof text), want);
}

static void assert_note(const ridge_model *m, const char *part)
{
    for (int i = 0; i < m->n_notes; i++) {
        if (strstr(m->notes[i], part) != NULL)
            return;
    }
    fail_msg("no note says: %s", part);
}

static int64_t total_of(const ridge_model *m)
{
    return ridge_model_params(m).total;
}

static void a_stated_head_dim_is_not_derived(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'mistral', 'hidden_size': 5120, 'num_hidden_layers': 40, "
        "'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': 128, "
        "'intermediate_size': 14336, 'vocab_size': 131072}");
    assert_int_equal(m->layers[0].mixer.head_dim, 128);
    assert_int_equal(total_of(m), 12247782400);
}

static void an_absent_head_dim_is_the_share_of_a_head(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'llama', " SMALL "}");
    assert_int_equal(m->layers[0].mixer.head_dim, 16);
    assert_int_equal(m->layers[0].mixer.kv_heads, 4);
}

static void tying_saves_one_table_and_no_matmul(void **state)
{
    const ridge_model *tied = fixture_model(*state, "{'model_type': 'llama', " SMALL
                                                    ", 'tie_word_embeddings': true}");
    const ridge_model *untied = fixture_model(
        *state, "{'model_type': 'llama', " SMALL ", 'tie_word_embeddings': false}");
    assert_int_equal(total_of(untied) - total_of(tied), 100 * 64);
    assert_int_equal(ridge_model_params(untied).matmul_active,
                     ridge_model_params(tied).matmul_active);
}

static void the_type_decides_tying_where_the_file_is_silent(void **state)
{
    const ridge_model *llama =
        fixture_model(*state, "{'model_type': 'llama', " SMALL "}");
    const ridge_model *smollm3 =
        fixture_model(*state, "{'model_type': 'smollm3', " SMALL "}");
    assert_false(llama->is_tied);
    assert_true(smollm3->is_tied);
    assert_note(smollm3, "tie_word_embeddings is absent");
}

static void the_language_part_decides_tying_before_the_whole(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'qwen3_vl', 'tie_word_embeddings': false, 'text_config': "
        "{'model_type': 'qwen3_vl_text', " SMALL ", 'tie_word_embeddings': true}}");
    assert_true(m->is_tied);
}

static void biases_are_those_that_the_config_switches_on(void **state)
{
    const ridge_model *none =
        fixture_model(*state, "{'model_type': 'llama', " SMALL "}");
    const ridge_model *both =
        fixture_model(*state, "{'model_type': 'llama', " SMALL
                              ", 'attention_bias': true, 'mlp_bias': true}");
    /* Four of D, and two of F with one of D, in each of four layers. */
    assert_int_equal(total_of(both) - total_of(none), 4 * (4 * 64 + 2 * 128 + 64));
}

static void windows_alternate_as_the_list_says(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'gpt_oss', " SMALL ", 'sliding_window': 8, "
                "'num_local_experts': 4, 'num_experts_per_tok': 2, 'layer_types': "
                "['sliding_attention', 'full_attention', 'sliding_attention', "
                "'full_attention']}");
    assert_mixers(m, "wAwA");
    assert_int_equal(m->n_layers, 2);
    assert_int_equal(m->layers[0].mixer.window, 8);
    assert_true(m->layers[0].mixer.has_sinks);
}

static void windows_follow_the_pattern_of_the_type(void **state)
{
    const ridge_model *gemma = fixture_model(
        *state,
        "{'model_type': 'gemma3_text', 'hidden_size': 64, 'num_hidden_layers': 8, "
        "'num_attention_heads': 4, 'intermediate_size': 128, 'vocab_size': 100}");
    assert_mixers(gemma, "wwwwwAww");
    const ridge_model *cohere =
        fixture_model(*state, "{'model_type': 'cohere2', " SMALL "}");
    assert_mixers(cohere, "wwwA");
}

static void a_window_needs_its_switch_in_qwen(void **state)
{
    const ridge_model *off =
        fixture_model(*state, "{'model_type': 'qwen2', " SMALL ", 'sliding_window': 8, "
                              "'max_window_layers': 1, 'use_sliding_window': false}");
    const ridge_model *on =
        fixture_model(*state, "{'model_type': 'qwen2', " SMALL ", 'sliding_window': 8, "
                              "'max_window_layers': 1, 'use_sliding_window': true}");
    assert_mixers(off, "AAAA");
    assert_mixers(on, "Awww");
}

static void a_window_of_the_whole_context_is_none(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'phi3', " SMALL
                                                 ", 'sliding_window': 4096, "
                                                 "'max_position_embeddings': 4096}");
    assert_mixers(m, "AAAA");
}

static void an_explicit_null_window_is_none(void **state)
{
    const ridge_model *null = fixture_model(*state, "{'model_type': 'mistral', " SMALL
                                                    ", 'sliding_window': null}");
    const ridge_model *absent =
        fixture_model(*state, "{'model_type': 'mistral', " SMALL "}");
    assert_mixers(null, "AAAA");
    assert_int_equal(absent->layers[0].mixer.window, 4096);
    assert_note(absent, "sliding_window is absent: 4096 taken");
}

static void letters_make_layers_of_one_part(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'nemotron_h', " SMALL ", 'hybrid_override_pattern': 'M-*E', "
        "'mamba_num_heads': 4, 'mamba_head_dim': 8, 'ssm_state_size': 16, "
        "'conv_kernel': 4, 'n_groups': 2, 'n_routed_experts': 4, "
        "'num_experts_per_tok': 2, 'moe_intermediate_size': 32}");
    assert_mixers(m, "S-A-");
    assert_int_equal(layer_at(m, 0)->ffn.kind, RIDGE_FFN_NONE);
    assert_int_equal(layer_at(m, 1)->ffn.kind, RIDGE_FFN_DENSE);
    assert_int_equal(layer_at(m, 3)->ffn.kind, RIDGE_FFN_MOE);
    assert_int_equal(layer_at(m, 0)->norm_params, 64);
}

static void linear_layers_come_at_an_interval(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'qwen3_next', " SMALL ", 'full_attention_interval': 4, "
                "'linear_num_key_heads': 2, 'linear_key_head_dim': 8, "
                "'linear_num_value_heads': 4, 'linear_value_head_dim': 8, "
                "'linear_conv_kernel_dim': 4}");
    assert_mixers(m, "DDDA");
    assert_true(layer_at(m, 3)->mixer.has_out_gate);
    assert_int_equal(layer_at(m, 0)->mixer.value_heads, 4);
}

static void linear_layers_are_listed_from_one(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'kimi_linear', " SMALL ", 'kv_lora_rank': 16, "
        "'qk_nope_head_dim': 8, 'qk_rope_head_dim': 4, 'v_head_dim': 8, "
        "'linear_attn_config': {'kda_layers': [1, 2, 4], 'full_attn_layers': [3], "
        "'num_heads': 4, 'head_dim': 8, 'short_conv_kernel_size': 4}}");
    assert_mixers(m, "NNLN");
}

static void convolutions_fill_the_gaps_of_a_list(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'lfm2', " SMALL
                                                 ", 'full_attn_idxs': [2], "
                                                 "'conv_L_cache': 3}");
    assert_mixers(m, "CCAC");
}

static void dense_layers_come_first(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'deepseek_v3', " SMALL ", 'kv_lora_rank': 16, "
                "'q_lora_rank': 24, 'qk_nope_head_dim': 8, 'qk_rope_head_dim': 4, "
                "'v_head_dim': 8, 'first_k_dense_replace': 1, 'n_routed_experts': 8, "
                "'num_experts_per_tok': 2, 'moe_intermediate_size': 32, "
                "'n_shared_experts': 1, 'topk_method': 'noaux_tc'}");
    assert_mixers(m, "LLLL");
    assert_int_equal(layer_at(m, 0)->ffn.kind, RIDGE_FFN_DENSE);
    assert_int_equal(layer_at(m, 1)->ffn.kind, RIDGE_FFN_MOE);
    assert_int_equal(layer_at(m, 1)->count, 3);
    assert_int_equal(layer_at(m, 1)->ffn.shared_d_ff, 32);
    assert_true(layer_at(m, 1)->ffn.has_router_bias);
}

static void experts_come_every_second_layer(void **state)
{
    static const char *const KEYS[] = {
        "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"};
    for (size_t i = 0; i < RIDGE_COUNT_OF(KEYS); i++) {
        const ridge_model *m = fixture_model(
            *state,
            "{'model_type': 'qwen3_moe', " SMALL ", '%s': 2, 'num_experts': 8, "
            "'num_experts_per_tok': 2, 'moe_intermediate_size': 32}",
            KEYS[i]);
        assert_int_equal(layer_at(m, 0)->ffn.kind, RIDGE_FFN_DENSE);
        assert_int_equal(layer_at(m, 1)->ffn.kind, RIDGE_FFN_MOE);
        assert_int_equal(layer_at(m, 3)->ffn.kind, RIDGE_FFN_MOE);
    }
}

static void listed_layers_are_dense(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'qwen3_moe', " SMALL ", 'mlp_only_layers': [2], "
                "'num_experts': 8, 'num_experts_per_tok': 2, "
                "'moe_intermediate_size': 32}");
    assert_int_equal(layer_at(m, 1)->ffn.kind, RIDGE_FFN_MOE);
    assert_int_equal(layer_at(m, 2)->ffn.kind, RIDGE_FFN_DENSE);
}

static void only_chosen_experts_are_active(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'mixtral', " SMALL
                                                 ", 'num_local_experts': 8, "
                                                 "'num_experts_per_tok': 2}");
    ridge_params p = ridge_model_params(m);
    assert_int_equal(p.experts, 4 * 8 * 3 * 64 * 128);
    assert_int_equal(p.experts_active, p.experts / 4);
    assert_int_equal(p.total - p.active, p.experts - p.experts_active);
    assert_int_equal(p.router, 4 * 8 * 64);
}

static void parts_left_silent_take_the_usual_sizes_with_a_note(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'llava', 'text_config': {'model_type': 'llama'}}");
    assert_int_equal(total_of(m), 6738415616);
    assert_note(m, "hidden_size is absent: 4096 taken");
}

static void a_tower_that_is_not_described_is_left_out_with_a_note(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'mystery_vl', 'text_config': {'model_type': 'llama', " SMALL
        "}, 'vision_config': {'hidden_size': 8}}");
    assert_int_equal(m->vision_params, 0);
    assert_note(m, "vision tower is left out");
}

static void a_tower_without_a_type_is_left_out(void **state)
{
    const ridge_model *m =
        fixture_model(*state, "{'text_config': {'model_type': 'llama', " SMALL
                              "}, 'vision_config': {}}");
    assert_note(m, "vision tower is left out");
}

static void the_class_names_a_type_that_is_unknown(void **state)
{
    const ridge_model *m =
        fixture_model(*state, "{'model_type': 'company_internal', 'architectures': "
                              "['Qwen3ForCausalLM'], " SMALL "}");
    assert_int_equal(m->layers[0].mixer.qk_norm_width, 2 * 128);
}

static void usual_keys_without_a_type_are_read_with_a_note(void **state)
{
    const ridge_model *m = fixture_model(*state, "{" SMALL "}");
    assert_note(m, "model_type is absent: read as Llama-like");
    assert_int_equal(m->guesses & 1u, 1);
}

static void shared_layers_are_counted_once(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'albert', " SMALL
                                                 ", 'max_position_embeddings': 16, "
                                                 "'embedding_size': 32}");
    assert_int_equal(m->layers[0].count, 4);
    assert_int_equal(m->layers[0].weight_sets, 1);
    assert_note(m, "share");
}

static void an_encoder_stands_before_its_decoder(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 't5', 'd_model': 64, 'd_kv': 16, 'd_ff': 128, "
                "'num_layers': 2, 'num_decoder_layers': 3, 'num_heads': 4, "
                "'vocab_size': 100}");
    assert_int_equal(m->layer_count, 5);
    assert_true(layer_at(m, 0)->is_encoder);
    assert_false(layer_at(m, 0)->mixer.is_causal);
    assert_false(layer_at(m, 2)->is_encoder);
    assert_true(layer_at(m, 2)->has_cross);
    assert_int_equal(layer_at(m, 2)->norm_params, 3 * 64);
}

static void prediction_layers_stand_apart_from_the_total(void **state)
{
    const ridge_model *without =
        fixture_model(*state, "{'model_type': 'mimo', " SMALL "}");
    const ridge_model *with = fixture_model(*state, "{'model_type': 'mimo', " SMALL
                                                    ", 'num_nextn_predict_layers': 2}");
    assert_int_equal(total_of(with), total_of(without));
    assert_int_equal(ridge_model_params(without).mtp, 0);
    assert_int_equal(ridge_model_params(with).mtp % 2, 0);
    assert_true(ridge_model_params(with).mtp > 2 * 2 * 64 * 64);
}

static void weights_of_a_layer_carry_their_shapes(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'llama', " SMALL
                                                 ", 'num_key_value_heads': 2}");
    ridge_weight w[RIDGE_WEIGHT_MAX];
    int n = ridge_layer_weights(m, &m->layers[0], w);
    assert_int_equal(n, 8);
    assert_string_equal(w[0].name, "norms");
    assert_int_equal(w[0].vector_params, 2 * 64);
    assert_string_equal(w[2].name, "wk");
    assert_int_equal(w[2].out, 32);
    assert_int_equal(w[2].split, RIDGE_SPLIT_KV);
    assert_string_equal(w[7].name, "w_down");
    assert_int_equal(w[7].in, 128);
    assert_int_equal(w[7].split, RIDGE_SPLIT_IN);
}

static void bytes_are_those_of_the_checkpoint(void **state)
{
    const ridge_model *m = fixture_model(*state, "{'model_type': 'llama', " SMALL "}");
    const double params = (double)total_of(m);
    assert_near(ridge_model_weight_bytes(m), 2 * params, 0);
    assert_near(ridge_model_weight_bytes_as(m, RIDGE_DTYPE_FP4), params / 2, 0);
}

static void checkpoint_keys_are_read_without_a_type(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'dim': 4096, 'n_layers': 32, 'n_heads': 32, 'multiple_of': 256, "
                "'vocab_size': -1}");
    assert_int_equal(m->layers[0].ffn.d_ff, 11008);
    assert_int_equal(m->vocab, 32000);
    assert_note(m, "vocab_size -1");
}

static void a_longer_list_is_cut_with_a_note(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'olmo3', 'hidden_size': 64, 'num_hidden_layers': 2, "
        "'num_attention_heads': 4, 'intermediate_size': 128, 'vocab_size': 100, "
        "'layer_types': ['full_attention', 'sliding_attention', "
        "'full_attention']}");
    assert_mixers(m, "Aw");
    assert_note(m, "the first 2 taken");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stated_head_dim_is_not_derived),
        TEST(an_absent_head_dim_is_the_share_of_a_head),
        TEST(tying_saves_one_table_and_no_matmul),
        TEST(the_type_decides_tying_where_the_file_is_silent),
        TEST(the_language_part_decides_tying_before_the_whole),
        TEST(biases_are_those_that_the_config_switches_on),
        TEST(windows_alternate_as_the_list_says),
        TEST(windows_follow_the_pattern_of_the_type),
        TEST(a_window_needs_its_switch_in_qwen),
        TEST(a_window_of_the_whole_context_is_none),
        TEST(an_explicit_null_window_is_none),
        TEST(letters_make_layers_of_one_part),
        TEST(linear_layers_come_at_an_interval),
        TEST(linear_layers_are_listed_from_one),
        TEST(convolutions_fill_the_gaps_of_a_list),
        TEST(dense_layers_come_first),
        TEST(experts_come_every_second_layer),
        TEST(listed_layers_are_dense),
        TEST(only_chosen_experts_are_active),
        TEST(parts_left_silent_take_the_usual_sizes_with_a_note),
        TEST(a_tower_that_is_not_described_is_left_out_with_a_note),
        TEST(a_tower_without_a_type_is_left_out),
        TEST(the_class_names_a_type_that_is_unknown),
        TEST(usual_keys_without_a_type_are_read_with_a_note),
        TEST(shared_layers_are_counted_once),
        TEST(an_encoder_stands_before_its_decoder),
        TEST(prediction_layers_stand_apart_from_the_total),
        TEST(weights_of_a_layer_carry_their_shapes),
        TEST(bytes_are_those_of_the_checkpoint),
        TEST(checkpoint_keys_are_read_without_a_type),
        TEST(a_longer_list_is_cut_with_a_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
