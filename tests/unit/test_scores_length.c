/* Where scores outweigh the rest of a model: against worked examples. */
#include "model_fixture.h"

#include "ridge/model_length.h"

#include <math.h>

static const ridge_model *llama(ridge_ctx *cx, int d_model, int kv_heads, int d_ff)
{
    return fixture_model(
        cx,
        "{'model_type': 'llama', 'hidden_size': %d, 'num_hidden_layers': 3, "
        "'num_attention_heads': %d, 'num_key_value_heads': %d, 'intermediate_size': "
        "%d, "
        "'vocab_size': 1000}",
        d_model, d_model / 128, kv_heads, d_ff);
}

/* 12 B T^2 N H = 18 B T D F + 24 B T D N H: T = 8 D at F = 4 D; projections at 2 D. */
static void multi_head_attention_meets_the_book(void **state)
{
    ridge_ctx *cx = *state;
    const ridge_model *m = llama(cx, 4096, 32, 16384);
    const ridge_scores_length full = ridge_model_scores_length(m, false);
    const ridge_scores_length half = ridge_model_scores_length(m, true);
    assert_near(full.matmuls, 8 * 4096, 1e-6);
    assert_near(full.projections, 2 * 4096, 1e-6);
    assert_near(half.matmuls, 16 * 4096, 1e-6);
}

/* (18 D F + 12 D H (N + K)) / 12 N H. */
static void grouped_queries_and_narrow_layers_count(void **state)
{
    ridge_ctx *cx = *state;
    const double d = 5120, f = 13824, n = 40, k = 8, h = 128;
    const ridge_scores_length full =
        ridge_model_scores_length(llama(cx, 5120, 8, 13824), false);
    assert_near(full.matmuls, (18 * d * f + 12 * d * h * (n + k)) / (12 * n * h), 1e-6);
    assert_near(full.projections, d * (n + k) / n, 1e-6);
}

static void windows_never_get_there(void **state)
{
    const ridge_model *m = fixture_model(
        *state,
        "{'model_type': 'mistral', 'hidden_size': 4096, 'num_hidden_layers': 3, "
        "'num_attention_heads': 32, 'intermediate_size': 14336, 'vocab_size': 1000, "
        "'sliding_window': 64}");
    assert_true(isinf(ridge_model_scores_length(m, false).matmuls));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(multi_head_attention_meets_the_book),
        TEST(grouped_queries_and_narrow_layers_count),
        TEST(windows_never_get_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
