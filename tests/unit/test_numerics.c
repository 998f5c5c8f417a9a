/* Constants of a model from config.json, and rotary frequencies: as they are, and
 * stretched in each way, against formulas written another way. */
#include "near.h"

#include "own_folder.h"

#include "ridge/execute_weights.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586;

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static ridge_numerics numerics_of(ridge_ctx *cx, const char *config)
{
    ridge_node root;
    ridge_numerics n;
    assert_done(cx, ridge_json_parse(cx, ridge_str_of(config), "config.json", &root));
    assert_done(cx, ridge_numerics_read(cx, root, &n));
    return n;
}

static void assert_refused(ridge_ctx *cx, const char *config, const char *message)
{
    ridge_node root;
    ridge_numerics n;
    assert_done(cx, ridge_json_parse(cx, ridge_str_of(config), "config.json", &root));
    assert_failed(cx, ridge_numerics_read(cx, root, &n), RIDGE_E_PARSE, message);
}

static const char *lack_of(ridge_ctx *cx, const char *config)
{
    const char *lacks = numerics_of(cx, config).lacks;
    return lacks == NULL ? "" : lacks;
}

static void what_no_operation_does_is_named(void **state)
{
    assert_string_equal(lack_of(*state, "{\"scoring_func\": \"sigmoid\"}"),
                        "scoring_func");
    assert_string_equal(lack_of(*state, "{\"scoring_func\": \"softmax\"}"), "");
    assert_string_equal(lack_of(*state, "{\"routed_scaling_factor\": 2.5}"),
                        "routed_scaling_factor");
    assert_string_equal(lack_of(*state, "{\"clip_qkv\": 8.0}"), "clip_qkv");
    assert_string_equal(lack_of(*state, "{\"clip_qkv\": null}"), "");
    assert_string_equal(lack_of(*state, "{\"scale_attn_weights\": true}"), "");
    assert_string_equal(lack_of(*state, "{\"scale_attn_weights\": false}"),
                        "scale_attn_weights");
    assert_string_equal(lack_of(*state, "{\"do_layer_norm_before\": false}"),
                        "do_layer_norm_before");
    assert_string_equal(lack_of(*state, "{\"model_type\": \"phimoe\"}"),
                        "model_type phimoe");
}

static void factors_are_taken_in(void **state)
{
    ridge_numerics n = numerics_of(*state, "{\"attention_multiplier\": 0.015, "
                                           "\"logits_scaling\": 8, "
                                           "\"residual_multiplier\": 0.22, "
                                           "\"embedding_multiplier\": 12}");
    assert_null(n.lacks);
    assert_near(n.attention_scale, 0.015, 1e-12);
    assert_near(n.logit_scale, 0.125, 0.0);
    assert_near(n.residual_scale, 0.22, 1e-12);
    assert_near(n.embedding_scale, 12.0, 0.0);
    n = numerics_of(*state, "{\"scale_emb\": 12, \"scale_depth\": 1.4, "
                            "\"dim_model_base\": 256, \"num_hidden_layers\": 49, "
                            "\"hidden_size\": 2304}");
    assert_near(n.residual_scale, 0.2, 1e-12);
    assert_near(n.logit_scale, 256.0 / 2304.0, 1e-12);
    n = numerics_of(*state, "{\"model_type\": \"gemma3_text\", \"hidden_size\": 64, "
                            "\"query_pre_attn_scalar\": 256}");
    assert_near(n.embedding_scale, 8.0, 1e-12);
    assert_near(n.attention_scale, 1.0 / 16.0, 1e-12);
    assert_near(n.local_rope_theta, 10000.0, 0.0);
    assert_true(numerics_of(*state, "{\"model_type\": \"qwen2_moe\"}").is_gate_whole);
    n = numerics_of(*state,
                    "{\"model_type\": \"qwen3_moe\", \"norm_topk_prob\": true}");
    assert_false(n.is_gate_whole);
}

static void a_config_says_epsilon_and_theta(void **state)
{
    ridge_numerics n = numerics_of(*state, "{}");
    assert_near((double)n.norm_epsilon, 1e-6, 1e-6);
    assert_near(n.rope_theta, 10000.0, 0.0);
    assert_int_equal(n.rope, RIDGE_ROPE_NONE);
    assert_near(n.embedding_scale, 1.0, 0.0);
    n = numerics_of(*state, "{\"rms_norm_eps\": 1e-5, \"rope_theta\": 500000.0}");
    assert_near((double)n.norm_epsilon, 1e-5, 1e-6);
    assert_near(n.rope_theta, 5e5, 0.0);
    n = numerics_of(*state, "{\"text_config\": {\"rope_parameters\": {\"rope_type\": "
                            "\"default\", \"rope_theta\": 1e6}}}");
    assert_near(n.rope_theta, 1e6, 0.0);
    n = numerics_of(*state, "{\"model_type\": \"gemma\", \"hidden_size\": 2048}");
    assert_true(n.has_plus_one_norm);
    assert_near(n.embedding_scale, sqrt(2048.0), 1e-12);
    n = numerics_of(*state, "{\"model_type\": \"gpt2\"}");
    assert_near((double)n.norm_epsilon, 1e-5, 1e-6);
    assert_int_equal(n.position_offset, 0);
    n = numerics_of(*state, "{\"model_type\": \"opt\"}");
    assert_int_equal(n.position_offset, 2);
    assert_true(
        numerics_of(*state, "{\"model_type\": \"nemotron\"}").has_plus_one_norm);
    assert_false(
        numerics_of(*state, "{\"model_type\": \"nemotron_h\"}").has_plus_one_norm);
    assert_true(numerics_of(*state, "{\"model_type\": \"cohere\"}").has_paired_rope);
    assert_false(numerics_of(*state, "{\"model_type\": \"llama\"}").has_paired_rope);
}

static void what_cannot_be_is_refused(void **state)
{
    assert_refused(
        *state, "{\"rope_scaling\": {\"type\": \"pose\"}}",
        "rotary scaling \"pose\": Ridge has linear, llama3, yarn and longrope");
    assert_refused(*state, "{\"rope_theta\": 0}", "rope_theta");
    assert_refused(*state, "{\"rms_norm_eps\": \"small\"}", "rms_norm_eps");
    assert_refused(*state, "{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 0}}",
                   "factor");
    assert_refused(*state,
                   "{\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, "
                   "\"low_freq_factor\": 4, \"high_freq_factor\": 1}}",
                   "high_freq_factor must not be below low_freq_factor");
    const ridge_numerics n = numerics_of(
        *state, "{\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2}}");
    assert_int_equal(n.rope, RIDGE_ROPE_NONE);
    assert_non_null(n.notes);
}

static void frequencies_fall_by_powers_of_theta(void **state)
{
    (void)state;
    ridge_numerics n = ridge_numerics_default();
    float f[4];
    assert_near((double)ridge_numerics_frequencies(&n, 8, f), 1.0, 0.0);
    assert_near((double)f[0], 1.0, 0.0);
    assert_near((double)f[1], 0.1, 1e-6);
    assert_near((double)f[3], 0.001, 1e-6);
    n.rope_fraction = 0.5;
    ridge_numerics_frequencies(&n, 8, f);
    assert_near((double)f[1], 0.01, 1e-6);
    assert_near((double)f[2], 0.0, 0.0);
    n = ridge_numerics_default();
    n.rope = RIDGE_ROPE_LINEAR;
    n.rope_factor = 4.0;
    ridge_numerics_frequencies(&n, 8, f);
    assert_near((double)f[0], 0.25, 0.0);
}

/* By wavelengths, as the model's own code has it. */
static void llama3_stretches_long_waves(void **state)
{
    enum { H = 128 };
    const ridge_numerics n = numerics_of(
        *state,
        "{\"rope_theta\": 500000.0, \"max_position_embeddings\": 131072, "
        "\"rope_scaling\": {\"factor\": 8.0, \"low_freq_factor\": 1.0, "
        "\"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 8192, "
        "\"rope_type\": \"llama3\"}}");
    float f[H / 2];
    int kept = 0, stretched = 0;
    assert_near((double)ridge_numerics_frequencies(&n, H, f), 1.0, 0.0);
    for (int i = 0; i < H / 2; i++) {
        const double plain = pow(500000.0, -i / 64.0), wave = TURN / plain;
        const double smooth = (8192.0 / wave - 1.0) / (4.0 - 1.0);
        double want = (1.0 - smooth) * plain / 8.0 + smooth * plain;
        want = wave < 8192.0 / 4.0 ? plain : wave > 8192.0 ? plain / 8.0 : want;
        kept += want == plain ? 1 : 0;
        stretched += want == plain / 8.0 ? 1 : 0;
        assert_near((double)f[i], want, 1e-6);
    }
    assert_true(kept > 20 && stretched > 20 && kept + stretched < H / 2);
}

static void yarn_keeps_fast_pairs_and_stretches_slow_ones(void **state)
{
    enum { H = 128 };
    const ridge_numerics n = numerics_of(
        *state, "{\"rope_theta\": 1000000.0, \"rope_scaling\": {\"type\": \"yarn\", "
                "\"factor\": 4.0, \"original_max_position_embeddings\": 32768}}");
    float f[H / 2];
    const float magnitude = ridge_numerics_frequencies(&n, H, f);
    assert_near((double)magnitude, 0.1 * log(4.0) + 1.0, 1e-6);
    for (int i = 0; i < H / 2; i++) {
        const double plain = pow(1e6, -i / 64.0);
        const double turns = 32768.0 * plain / TURN;
        if (turns > 40.0) /* beta_fast is 32; bounds are whole pairs */
            assert_near((double)f[i], plain, 1e-6);
        else if (turns < 0.75)
            assert_near((double)f[i], plain / 4.0, 1e-6);
        else
            assert_true((double)f[i] < plain * 1.000001 &&
                        (double)f[i] > plain * 0.249999);
    }
}

static void yarn_magnitude_may_be_stated(void **state)
{
    float f[32];
    ridge_numerics n = numerics_of(
        *state, "{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 40, "
                "\"mscale\": 1.0, \"mscale_all_dim\": 1.0, \"beta_fast\": 32, "
                "\"beta_slow\": 1, \"original_max_position_embeddings\": 4096}}");
    assert_near((double)ridge_numerics_frequencies(&n, 64, f), 1.0, 0.0);
    n.mscale_all_dim = 0.0;
    assert_near((double)ridge_numerics_frequencies(&n, 64, f), 0.1 * log(40.0) + 1.0,
                1e-6);
    n.attention_factor = 1.25;
    assert_near((double)ridge_numerics_frequencies(&n, 64, f), 1.25, 0.0);
}

static void longrope_has_a_factor_for_each_pair(void **state)
{
    float f[4];
    ridge_numerics n = numerics_of(
        *state, "{\"max_position_embeddings\": 1024, "
                "\"original_max_position_embeddings\": 64, \"rope_scaling\": {"
                "\"type\": \"longrope\", \"short_factor\": [1, 1, 2, 4], "
                "\"long_factor\": [1, 5, 10, 20]}}");
    n.context_tokens = 64.0;
    const double by = sqrt(1.0 + log(16.0) / log(64.0));
    assert_near((double)ridge_numerics_frequencies(&n, 8, f), by, 1e-6);
    assert_near((double)f[1], 0.1, 1e-6);
    assert_near((double)f[3], 1e-3 / 4.0, 1e-6);
    n.context_tokens = 65.0;
    assert_near((double)ridge_numerics_frequencies(&n, 8, f), by, 1e-6);
    assert_near((double)f[1], 0.1 / 5.0, 1e-6);
    assert_near((double)f[3], 1e-3 / 20.0, 1e-6);
    assert_refused(*state,
                   "{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1], "
                   "\"long_factor\": [1, 2]}}",
                   "long_factor is as long as short_factor");
}

static void a_folder_or_an_entry_has_a_config(void **state)
{
    static const char ENTRY[] = "{\"name\": \"x\", \"config\": {\"rope_theta\": 7.0}}";
    const char *dir = own_folder(*state, "test_numerics.dir");
    ridge_numerics n;
    own_file(*state, dir, "config.json", "{\"rope_theta\": 5.0}", 19);
    assert_done(*state, ridge_numerics_load(*state, dir, &n));
    assert_near(n.rope_theta, 5.0, 0.0);
    const char *path = own_file(*state, dir, "x.json", ENTRY, strlen(ENTRY));
    assert_done(*state, ridge_numerics_load(*state, path, &n));
    assert_near(n.rope_theta, 7.0, 0.0);
    own_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_config_says_epsilon_and_theta),
        cmocka_unit_test(what_no_operation_does_is_named),
        cmocka_unit_test(factors_are_taken_in),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(frequencies_fall_by_powers_of_theta),
        cmocka_unit_test(llama3_stretches_long_waves),
        cmocka_unit_test(yarn_keeps_fast_pairs_and_stretches_slow_ones),
        cmocka_unit_test(yarn_magnitude_may_be_stated),
        cmocka_unit_test(longrope_has_a_factor_for_each_pair),
        cmocka_unit_test(a_folder_or_an_entry_has_a_config),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
