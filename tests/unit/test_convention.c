/* Conventions of training FLOPs, and what remat computes again. */
#include "model_fixture.h"

/* GPT with F = 4 D, without biases to count: L 4, D 128, V 512. */
#define GPT                                                                            \
    "{'model_type': 'mpt', 'd_model': 128, 'n_layers': 4, 'n_heads': 8,"               \
    " 'vocab_size': 512, 'no_bias': true, 'attn_config': {'alibi': true}}"

#define LLAMA                                                                          \
    "{'model_type': 'llama', 'hidden_size': 64, 'vocab_size': 1000,"                   \
    " 'num_hidden_layers': 2, 'num_attention_heads': 4, 'intermediate_size': 256,"     \
    " 'tie_word_embeddings': %s}"

static const double L = 4, D = 128, V = 512, T = 256;

static double train(const ridge_model *m, ridge_convention c)
{
    return ridge_model_flops_train(m, T, c);
}

static void megatron_form_is_the_printed_one(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    assert_near(train(m, RIDGE_CONVENTION_MEGATRON),
                72 * L * D * D * (1 + T / (6 * D) + V / (12 * D * L)), 1e-14);
}

static void megatron_equals_full_for_a_dense_model(void **state)
{
    const ridge_model *m = fixture_named(*state, "llama-3-70b");
    assert_near(train(m, RIDGE_CONVENTION_MEGATRON),
                train(m, RIDGE_CONVENTION_MATMUL_FULL), 1e-14);
}

static void megatron_leaves_the_router_out(void **state)
{
    const ridge_model *m = fixture_named(*state, "mixtral-8x7b");
    const ridge_flops f = ridge_model_flops_forward(m, T, false);
    assert_near(train(m, RIDGE_CONVENTION_MATMUL_FULL) -
                    train(m, RIDGE_CONVENTION_MEGATRON),
                3 * f.router, 1e-9);
}

static void backward_is_twice_the_forward(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    assert_near(train(m, RIDGE_CONVENTION_MATMUL_CAUSAL),
                3 * ridge_model_flops_forward(m, T, true).total, 0);
}

static void six_n_counts_a_tied_table_once(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    assert_near(train(m, RIDGE_CONVENTION_SIX_N),
                6 * (V * D + L * (12 * D * D + 2 * D) + D), 0);
}

static void no_embed_does_not_depend_on_the_tie(void **state)
{
    const ridge_model *tied = fixture_model(*state, LLAMA, "true");
    const ridge_model *own = fixture_model(*state, LLAMA, "false");
    assert_near(train(tied, RIDGE_CONVENTION_SIX_N_NO_EMBED),
                train(own, RIDGE_CONVENTION_SIX_N_NO_EMBED), 0);
    assert_near(train(own, RIDGE_CONVENTION_SIX_N) -
                    train(own, RIDGE_CONVENTION_SIX_N_NO_EMBED),
                6 * 64 * 1000, 0);
}

static void palm_adds_the_whole_square(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    const double six_n = train(m, RIDGE_CONVENTION_SIX_N);
    assert_near(train(m, RIDGE_CONVENTION_PALM) - six_n, 12 * L * D * T, 1e-12);
    assert_near(train(m, RIDGE_CONVENTION_PALM_CAUSAL) - six_n, 6 * L * D * T, 1e-12);
}

static void palm_ignores_windows_as_printed(void **state)
{
    const ridge_model *m = fixture_named(*state, "gemma-3-1b");
    const double square = 12.0 * 26 * 4 * 256 * T;
    assert_near(train(m, RIDGE_CONVENTION_PALM) - train(m, RIDGE_CONVENTION_SIX_N),
                square, 1e-9);
}

static void names_parse_and_misspellings_are_answered(void **state)
{
    for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
        ridge_convention c;
        const char *text = ridge_convention_text((ridge_convention)i);
        assert_ok(*state, ridge_convention_parse(*state, text, &c));
        assert_int_equal(c, i);
        assert_non_null(ridge_convention_what(c));
    }
    ridge_convention c;
    assert_int_equal(ridge_convention_parse(*state, "palmcausal", &c),
                     RIDGE_E_NOTFOUND);
    fixture_assert_message(*state, "palm-causal");
}

/* ---- remat ----------------------------------------------------------------------- */

static double again(const ridge_model *m, ridge_remat remat)
{
    return ridge_model_flops_remat(m, T, false, remat);
}

static void remat_costs_what_it_forgets(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    const double scores = 4 * D * T * L; /* the book's 4 T N H a layer and token */
    assert_near(again(m, RIDGE_REMAT_NONE), 0, 0);
    assert_near(again(m, RIDGE_REMAT_SELECTIVE), scores, 0);
    assert_near(again(m, RIDGE_REMAT_MATMULS), scores, 0);
    assert_near(again(m, RIDGE_REMAT_FULL), 24 * D * D * L + scores, 0);
}

static void full_remat_leaves_the_unembedding(void **state)
{
    const ridge_model *m = fixture_named(*state, "llama-3-8b");
    const ridge_flops f = ridge_model_flops_forward(m, T, false);
    assert_near(again(m, RIDGE_REMAT_FULL), f.total - f.unembedding, 0);
}

static void remat_names_parse(void **state)
{
    for (int i = 0; i < RIDGE_REMAT_COUNT; i++) {
        ridge_remat remat;
        const char *text = ridge_remat_text((ridge_remat)i);
        assert_ok(*state, ridge_remat_parse(*state, text, &remat));
        assert_int_equal(remat, i);
        assert_non_null(ridge_remat_what(remat));
    }
    ridge_remat remat;
    assert_int_equal(ridge_remat_parse(*state, "selektive", &remat), RIDGE_E_NOTFOUND);
    fixture_assert_message(*state, "selective");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(megatron_form_is_the_printed_one),
        cmocka_unit_test(megatron_equals_full_for_a_dense_model),
        cmocka_unit_test(megatron_leaves_the_router_out),
        cmocka_unit_test(backward_is_twice_the_forward),
        cmocka_unit_test(six_n_counts_a_tied_table_once),
        cmocka_unit_test(no_embed_does_not_depend_on_the_tie),
        cmocka_unit_test(palm_adds_the_whole_square),
        cmocka_unit_test(palm_ignores_windows_as_printed),
        cmocka_unit_test(names_parse_and_misspellings_are_answered),
        cmocka_unit_test(remat_costs_what_it_forgets),
        cmocka_unit_test(full_remat_leaves_the_unembedding),
        cmocka_unit_test(remat_names_parse),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
