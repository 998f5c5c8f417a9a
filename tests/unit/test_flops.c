/* FLOPs of a token by part, against hand counts of small models. */
#include "model_fixture.h"

/* Two layers of D 64, 4 heads of 16, F 256, V 1000: a GPT without biases to count. */
#define PLAIN                                                                          \
    "{'model_type': 'llama', 'hidden_size': 64, 'num_hidden_layers': 2,"               \
    " 'num_attention_heads': 4, 'intermediate_size': 256, 'vocab_size': 1000,"         \
    " 'tie_word_embeddings': %s}"

static void parts_follow_the_shapes(void **state)
{
    const ridge_model *m = fixture_model(*state, PLAIN, "false");
    const ridge_flops f = ridge_model_flops_forward(m, 128, false);
    assert_near(f.attention_projections, 2 * 2 * 4 * 64 * 64, 0);
    assert_near(f.mlp, 2 * 2 * 3 * 64 * 256, 0);
    assert_near(f.unembedding, 2 * 64 * 1000, 0);
    assert_near(f.attention_scores, 2 * 4 * 64 * 128, 0);
    assert_near(f.router + f.experts + f.embedding, 0, 0);
}

static void parts_sum_to_the_total(void **state)
{
    const ridge_model *m = fixture_named(*state, "mixtral-8x7b");
    const ridge_flops f = ridge_model_flops_forward(m, 4096, true);
    const double sum = f.attention_projections + f.attention_scores + f.mlp + f.router +
                       f.experts + f.unembedding + f.embedding;
    assert_near(f.total, sum, 1e-15);
    assert_true(f.router > 0 && f.experts > 0);
}

static void causal_half_is_half_of_the_square(void **state)
{
    const ridge_model *m = fixture_model(*state, PLAIN, "false");
    const ridge_flops full = ridge_model_flops_forward(m, 512, false);
    const ridge_flops half = ridge_model_flops_forward(m, 512, true);
    assert_near(half.attention_scores, full.attention_scores / 2, 0);
    assert_near(half.mlp, full.mlp, 0);
}

static void tied_head_still_multiplies(void **state)
{
    const ridge_model *tied = fixture_model(*state, PLAIN, "true");
    const ridge_model *own = fixture_model(*state, PLAIN, "false");
    const ridge_params a = ridge_model_params(tied), b = ridge_model_params(own);
    assert_near(ridge_model_flops_forward(tied, 128, true).total,
                ridge_model_flops_forward(own, 128, true).total, 0);
    assert_int_equal(b.total - a.total, 64 * 1000);
}

static void token_meets_its_active_experts_only(void **state)
{
    const ridge_model *m = fixture_model(
        *state, "{'model_type': 'mixtral', 'hidden_size': 64, 'num_hidden_layers': 1,"
                " 'num_attention_heads': 4, 'num_key_value_heads': 2,"
                " 'intermediate_size': 96, 'vocab_size': 10, 'num_local_experts': 8,"
                " 'num_experts_per_tok': 2}");
    const ridge_flops f = ridge_model_flops_forward(m, 1, false);
    assert_near(f.experts, 2 * 2 * 3 * 64 * 96, 0);
    assert_near(f.router, 2 * 64 * 8, 0);
}

static void window_averages_over_positions(void **state)
{
    (void)state;
    const ridge_mixer m = {.kind = RIDGE_MIXER_ATTENTION,
                           .heads = 1,
                           .head_dim = 1,
                           .v_head_dim = 1,
                           .window = 4,
                           .is_causal = true};
    /* min(t, 4) over t = 0..16: the triangle 4 * 4 / 2, then 12 positions of 4 */
    assert_near(ridge_mixer_context_tokens(&m, 16, true), (8.0 + 48.0) / 16, 1e-15);
    assert_near(ridge_mixer_context_tokens(&m, 16, false), 4, 0);
    assert_near(ridge_mixer_context_tokens(&m, 4, true), 2, 0);
    assert_near(ridge_mixer_context_tokens(&m, 2, true), 1, 0);
}

static void chunk_starts_anew(void **state)
{
    (void)state;
    const ridge_mixer m = {.kind = RIDGE_MIXER_ATTENTION,
                           .window = 4,
                           .is_window_chunked = true,
                           .is_causal = true};
    assert_near(ridge_mixer_context_tokens(&m, 16, true), 2, 0);
}

static void encoder_sees_both_sides(void **state)
{
    (void)state;
    const ridge_mixer m = {.kind = RIDGE_MIXER_ATTENTION};
    assert_near(ridge_mixer_context_tokens(&m, 16, true), 16, 0);
}

static void sparse_attention_meets_the_chosen_and_scores_all(void **state)
{
    (void)state;
    ridge_layer layer = {.mixer = {.kind = RIDGE_MIXER_MLA,
                                   .heads = 2,
                                   .head_dim = 3,
                                   .v_head_dim = 5,
                                   .is_causal = true,
                                   .index_heads = 7,
                                   .index_head_dim = 11,
                                   .index_topk = 10}};
    assert_near(ridge_layer_scores_flops(&layer, 1000, false),
                2 * 2 * (3 + 5) * 10 + 2 * 7 * 11 * 1000, 0);
}

static void latent_attention_has_two_widths(void **state)
{
    const ridge_model *m = fixture_named(*state, "deepseek-v3");
    const ridge_flops f = ridge_model_flops_forward(m, 4096, false);
    assert_near(f.attention_scores, 61.0 * 2 * 128 * (192 + 128) * 4096, 1e-15);
}

static void delta_rule_pays_for_its_state(void **state)
{
    (void)state;
    ridge_layer layer = {.mixer = {.kind = RIDGE_MIXER_DELTA,
                                   .key_heads = 2,
                                   .key_head_dim = 128,
                                   .value_heads = 4,
                                   .value_head_dim = 128}};
    /* three products with the state; in a chunk of 64: 6 Hk + 4 Hv for each token met
     */
    assert_near(ridge_layer_scores_flops(&layer, 4096, false),
                4 * (6.0 * 128 * 128 + 64.0 * (6 * 128 + 4 * 128)), 0);
    assert_near(ridge_layer_scores_flops(&layer, 8192, true),
                ridge_layer_scores_flops(&layer, 4096, true), 0);
}

static void state_space_pays_for_its_state(void **state)
{
    (void)state;
    ridge_layer layer = {.mixer = {.kind = RIDGE_MIXER_SSM,
                                   .heads = 8,
                                   .head_dim = 64,
                                   .state_size = 128,
                                   .state_groups = 2}};
    assert_near(ridge_layer_scores_flops(&layer, 4096, false),
                4.0 * 8 * 64 * 128 + 256.0 * (2 * 128 * 2 + 2 * 64 * 8), 0);
}

static void image_attention_may_be_absent(void **state)
{
    (void)state;
    ridge_layer layer = {.mixer = {.kind = RIDGE_MIXER_ATTENTION,
                                   .heads = 4,
                                   .head_dim = 8,
                                   .is_cross = true}};
    assert_near(ridge_layer_scores_flops(&layer, 64, false), 0, 0);
}

static void decoder_attends_to_the_source_too(void **state)
{
    (void)state;
    ridge_layer layer = {.mixer = {.kind = RIDGE_MIXER_ATTENTION,
                                   .heads = 4,
                                   .head_dim = 8,
                                   .v_head_dim = 8,
                                   .is_causal = true},
                         .has_cross = true};
    assert_near(ridge_layer_scores_flops(&layer, 64, true), 4.0 * 4 * 8 * (32 + 64), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_follow_the_shapes),
        cmocka_unit_test(parts_sum_to_the_total),
        cmocka_unit_test(causal_half_is_half_of_the_square),
        cmocka_unit_test(tied_head_still_multiplies),
        cmocka_unit_test(token_meets_its_active_experts_only),
        cmocka_unit_test(window_averages_over_positions),
        cmocka_unit_test(chunk_starts_anew),
        cmocka_unit_test(encoder_sees_both_sides),
        cmocka_unit_test(sparse_attention_meets_the_chosen_and_scores_all),
        cmocka_unit_test(latent_attention_has_two_widths),
        cmocka_unit_test(delta_rule_pays_for_its_state),
        cmocka_unit_test(state_space_pays_for_its_state),
        cmocka_unit_test(image_attention_may_be_absent),
        cmocka_unit_test(decoder_attends_to_the_source_too),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
