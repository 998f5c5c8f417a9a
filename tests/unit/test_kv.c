/* KV cache per token and per sequence. */
#include "model_fixture.h"

static double per_token(const ridge_model *m, ridge_dtype dtype)
{
    return ridge_model_kv(m, dtype).bytes_per_token;
}

static void head_dim_is_read_not_derived(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'mistral', 'hidden_size': 5120, 'num_hidden_layers': 40,"
        " 'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': 128,"
        " 'intermediate_size': 14336, 'vocab_size': 131072,"
        " 'sliding_window': null}");
    assert_near(per_token(m, RIDGE_DTYPE_BF16), 163840, 0);
    /* a window of null is none */
    assert_near(ridge_model_kv(m, RIDGE_DTYPE_BF16).bytes_per_token_long, 163840, 0);
}

static void latent_is_stored_once(void **state)
{
    const ridge_model *m = fixture_named(*state, "deepseek-v3");
    assert_near(per_token(m, RIDGE_DTYPE_BF16), 70272, 0);
    assert_near(per_token(m, RIDGE_DTYPE_FP8), 35136, 0);
}

static void grouped_queries_save_by_their_ratio(void **state)
{
    const ridge_model *m = fixture_named(*state, "llama-3-70b");
    assert_near(per_token(m, RIDGE_DTYPE_BF16), 2.0 * 80 * 8 * 128 * 2, 0);
}

static void windows_cap_what_is_needed(void **state)
{
    const ridge_model *m = fixture_named(*state, "gpt-oss-120b");
    const ridge_kv kv = ridge_model_kv(m, RIDGE_DTYPE_BF16);
    assert_near(kv.bytes_per_token, 73728, 0);
    assert_near(kv.bytes_per_token_long, 36864, 0);
    const double contexts[] = {1, 128, 129, 8192};
    for (size_t i = 0; i < RIDGE_COUNT_OF(contexts); i++) {
        const double t = contexts[i], held = t < 128 ? t : 128;
        assert_near(ridge_model_kv_bytes(m, RIDGE_DTYPE_BF16, t, false),
                    36864 * t + 36864 * held, 0);
        assert_near(ridge_model_kv_bytes(m, RIDGE_DTYPE_BF16, t, true), 73728 * t, 0);
    }
}

static void linear_layers_hold_a_state(void **state)
{
    const ridge_model *m = fixture_named(*state, "qwen3-next-80b-a3b");
    const ridge_kv kv = ridge_model_kv(m, RIDGE_DTYPE_BF16);
    /* every fourth of 48 layers caches 2 heads of 256; the others hold 32 x 128 x 128
     * in float32 and 3 inputs of a convolution over 2 x 16 x 128 + 32 x 128 channels */
    assert_near(kv.bytes_per_token, 12.0 * 2 * 2 * 256 * 2, 0);
    assert_near(kv.state_bytes_per_sequence,
                36 * (32.0 * 128 * 128 * 4 + 3 * 8192.0 * 2), 0);
    assert_near(ridge_model_kv_bytes(m, RIDGE_DTYPE_BF16, 10, false),
                10 * kv.bytes_per_token + kv.state_bytes_per_sequence, 0);
}

static void state_space_layers_hold_a_state(void **state)
{
    const ridge_model *m = fixture_named(*state, "nemotron-h-56b");
    const ridge_kv kv = ridge_model_kv(m, RIDGE_DTYPE_BF16);
    const double inner = 256 * 64, conv = inner + 2 * 8 * 256;
    int ssm = 0;
    for (int i = 0; i < m->n_layers; i++)
        if (m->layers[i].mixer.kind == RIDGE_MIXER_SSM)
            ssm += (int)m->layers[i].count;
    assert_int_equal(ssm, 54);
    assert_near(kv.state_bytes_per_sequence, ssm * (inner * 256 * 4 + 3 * conv * 2), 0);
}

static void shared_keys_are_cached_once(void **state)
{
    (void)state;
    ridge_layer layers[] = {
        {.mixer = {.kind = RIDGE_MIXER_ATTENTION, .kv_heads = 2, .head_dim = 8},
         .count = 1},
        {.mixer = {.kind = RIDGE_MIXER_ATTENTION,
                   .kv_heads = 2,
                   .head_dim = 8,
                   .has_shared_kv = true},
         .count = 3}};
    const ridge_model m = {.n_layers = 2, .layers = layers};
    assert_near(per_token(&m, RIDGE_DTYPE_BF16), 2 * 2 * 8 * 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_dim_is_read_not_derived),
        cmocka_unit_test(latent_is_stored_once),
        cmocka_unit_test(grouped_queries_save_by_their_ratio),
        cmocka_unit_test(windows_cap_what_is_needed),
        cmocka_unit_test(linear_layers_hold_a_state),
        cmocka_unit_test(state_space_layers_hold_a_state),
        cmocka_unit_test(shared_keys_are_cached_once),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
