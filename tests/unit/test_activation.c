/* Arrays kept for the backward pass, against counts by hand. */
#include "model_fixture.h"

/* GPT of the paper: MHA, F = 4 D, GELU, D 128, 8 heads. */
#define GPT                                                                            \
    "{'model_type': 'mpt', 'd_model': 128, 'n_layers': 2, 'n_heads': 8,"               \
    " 'vocab_size': 512, 'no_bias': true, 'attn_config': {'alibi': true}}"

static const double D = 128, N = 8;

static double bytes(const ridge_model *m, ridge_remat remat, int64_t tp, bool has_sp)
{
    return ridge_layer_activation_bytes(m, &m->layers[0], remat, tp, has_sp);
}

static void gpt_keeps_34_d_less_two_masks(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    const double masks = 2 * D, softmax = 4 * N;
    assert_near(bytes(m, RIDGE_REMAT_NONE, 1, false), 34 * D - masks + softmax, 0);
    assert_near(bytes(m, RIDGE_REMAT_SELECTIVE, 1, false), 34 * D - masks, 0);
}

static void tensor_parallel_splits_24_of_them(void **state)
{
    /* (10 + 24/t) without masks: 8 + 24/t; with sequence parallelism all of it */
    const ridge_model *m = fixture_model(*state, GPT);
    assert_near(bytes(m, RIDGE_REMAT_SELECTIVE, 4, false), 8 * D + 24 * D / 4, 0);
    assert_near(bytes(m, RIDGE_REMAT_SELECTIVE, 4, true), 32 * D / 4, 0);
}

static void full_remat_keeps_the_layer_input(void **state)
{
    const ridge_model *m = fixture_model(*state, GPT);
    assert_near(bytes(m, RIDGE_REMAT_FULL, 4, false), 2 * D, 0);
    assert_near(bytes(m, RIDGE_REMAT_FULL, 4, true), 2 * D / 4, 0);
}

static void matmuls_keep_their_outputs(void **state)
{
    /* input, q, k, v, output projection, up (the down projection is the next input) */
    const ridge_model *m = fixture_model(*state, GPT);
    assert_near(bytes(m, RIDGE_REMAT_MATMULS, 1, false), 2 * (5 * D + 4 * D), 0);
}

static void gated_mlp_with_grouped_queries(void **state)
{
    const ridge_model *m = fixture_named(*state, "llama-3-8b");
    const double d = 4096, kv = 1024, f = 14336;
    assert_near(bytes(m, RIDGE_REMAT_SELECTIVE, 1, false),
                2 * (4 * d + 2 * d + 2 * kv + 3 * f), 0);
    assert_near(bytes(m, RIDGE_REMAT_MATMULS, 1, false),
                2 * (2 * d + d + 2 * kv + 2 * f), 0);
}

static void kv_heads_are_replicated_beyond_their_number(void **state)
{
    const ridge_model *m = fixture_named(*state, "llama-3-8b");
    const double d = 4096, kv = 1024, f = 14336;
    assert_near(bytes(m, RIDGE_REMAT_SELECTIVE, 16, false),
                2 * (4 * d + 2 * d / 16 + 2 * kv / 8 + 3 * f / 16), 1e-15);
}

static void experts_keep_k_rows(void **state)
{
    const ridge_model *m = fixture_named(*state, "mixtral-8x7b");
    const double d = 4096, kv = 1024, f = 14336, k = 2, experts = 8;
    const double attention = 2 * (4 * d + 2 * d + 2 * kv);
    assert_near(bytes(m, RIDGE_REMAT_SELECTIVE, 1, false),
                attention + 4 * experts + 2 * k * (2 * d + 3 * f), 0);
}

static void latents_are_not_split(void **state)
{
    const ridge_model *m = fixture_named(*state, "deepseek-v3");
    const double one = bytes(m, RIDGE_REMAT_SELECTIVE, 1, false);
    const double split = bytes(m, RIDGE_REMAT_SELECTIVE, 8, false);
    /* D-wide arrays and the latents of 1536 (twice) and 576 + 512 stay whole */
    const double whole = 2 * (4 * 7168.0 + 2 * 1536 + 576 + 512);
    assert_near(split - whole, (one - whole) / 8, 1e-12);
}

static void every_array_fits_the_room(void **state)
{
    const ridge_library *library = NULL;
    assert_ok(*state, ridge_library_open(*state, NULL, &library));
    for (size_t i = 0; i < ridge_library_count(library); i++) {
        const ridge_model *m = NULL;
        assert_ok(*state, ridge_model_load(*state, library,
                                           ridge_library_name(library, i), &m));
        for (int k = 0; k < m->n_layers; k++) {
            ridge_saved saved[RIDGE_SAVED_MAX];
            const int n = ridge_layer_saved(m, &m->layers[k], saved);
            assert_in_range(n, 1, RIDGE_SAVED_MAX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt_keeps_34_d_less_two_masks),
        cmocka_unit_test(tensor_parallel_splits_24_of_them),
        cmocka_unit_test(full_remat_keeps_the_layer_input),
        cmocka_unit_test(matmuls_keep_their_outputs),
        cmocka_unit_test(gated_mlp_with_grouped_queries),
        cmocka_unit_test(kv_heads_are_replicated_beyond_their_number),
        cmocka_unit_test(experts_keep_k_rows),
        cmocka_unit_test(latents_are_not_split),
        cmocka_unit_test(every_array_fits_the_room),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
