/* Laws of a model's arithmetic over random valid models. */
#include "model_fixture.h"

#include <string.h>

enum { ROUNDS = 200 };

/* A small generator of its own: the same models everywhere. */
typedef struct dice {
    uint64_t state;
} dice;

static int64_t roll(dice *d, int64_t low, int64_t high)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return low + (int64_t)(d->state % (uint64_t)(high - low + 1));
}

typedef struct shape {
    int64_t d, layers, k, group, h, f, v, experts, window;
    const char *type;
} shape;

static shape random_shape(dice *d)
{
    static const char *const types[] = {"llama",     "mistral", "mixtral", "qwen3",
                                        "qwen3_moe", "gemma2",  "nemotron"};
    shape s = {.d = 16 * roll(d, 1, 64),
               .layers = roll(d, 1, 12),
               .k = roll(d, 1, 8),
               .group = roll(d, 1, 4),
               .h = 8 * roll(d, 1, 16),
               .f = 8 * roll(d, 1, 256),
               .v = roll(d, 1, 5000),
               .experts = roll(d, 2, 16),
               .window = roll(d, 1, 512)};
    s.type = types[roll(d, 0, (int64_t)RIDGE_COUNT_OF(types) - 1)];
    return s;
}

static const ridge_model *build(ridge_ctx *cx, const shape *s, bool is_tied)
{
    return fixture_model(
        cx,
        "{'model_type': '%s', 'hidden_size': %lld, 'num_hidden_layers': %lld,"
        " 'num_attention_heads': %lld, 'num_key_value_heads': %lld, 'head_dim': %lld,"
        " 'intermediate_size': %lld, 'moe_intermediate_size': %lld, 'vocab_size': %lld,"
        " 'num_experts': %lld, 'num_experts_per_tok': 2, 'sliding_window': %lld,"
        " 'tie_word_embeddings': %s}",
        s->type, (long long)s->d, (long long)s->layers, (long long)(s->k * s->group),
        (long long)s->k, (long long)s->h, (long long)s->f, (long long)s->f,
        (long long)s->v, (long long)s->experts, (long long)s->window,
        is_tied ? "true" : "false");
}

/* Run a law on many models, each in a ctx of its own; a failure names the round. */
static void each_model(void (*law)(ridge_ctx *cx, const shape *s, dice *d))
{
    for (int round = 0; round < ROUNDS; round++) {
        dice d = {.state = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)round};
        ridge_ctx *cx = ridge_ctx_open();
        assert_non_null(cx);
        for (int i = 0; i < 8; i++)
            roll(&d, 0, 1);
        const shape s = random_shape(&d);
        law(cx, &s, &d);
        ridge_ctx_close(cx);
    }
}

static void law_breakdown(ridge_ctx *cx, const shape *s, dice *d)
{
    const ridge_model *m = build(cx, s, roll(d, 0, 1) != 0);
    const ridge_flops f = ridge_model_flops_forward(m, (double)roll(d, 1, 9999), true);
    assert_near(f.attention_projections + f.attention_scores + f.mlp + f.router +
                    f.experts + f.unembedding + f.embedding,
                f.total, 1e-14);
    assert_near(f.total - f.attention_scores,
                2.0 * (double)ridge_model_params(m).matmul_active, 1e-12);
}

static void breakdown_sums_to_twice_the_weights(void **state)
{
    (void)state;
    each_model(law_breakdown);
}

static void law_tie(ridge_ctx *cx, const shape *s, dice *d)
{
    const double t = (double)roll(d, 1, 4096);
    const ridge_model *tied = build(cx, s, true), *own = build(cx, s, false);
    assert_near(ridge_model_flops_forward(tied, t, true).total,
                ridge_model_flops_forward(own, t, true).total, 0);
    assert_int_equal(ridge_model_params(own).total - ridge_model_params(tied).total,
                     s->d * s->v);
}

static void tie_leaves_flops_alone(void **state)
{
    (void)state;
    each_model(law_tie);
}

static void law_length(ridge_ctx *cx, const shape *s, dice *d)
{
    const ridge_model *m = build(cx, s, false);
    const double t = (double)roll(d, 1, 4096);
    const ridge_flops once = ridge_model_flops_forward(m, t, true);
    const ridge_flops twice = ridge_model_flops_forward(m, 2 * t, true);
    const double growth = twice.attention_scores / once.attention_scores;
    assert_true(growth >= 1 &&
                growth <= 2 + 1e-12); /* 2 without a window, 1 beyond it */
    assert_near(twice.total - twice.attention_scores,
                once.total - once.attention_scores, 1e-14);
    assert_near(ridge_model_flops_train(m, 2 * t, RIDGE_CONVENTION_PALM) -
                    ridge_model_flops_train(m, t, RIDGE_CONVENTION_PALM),
                ridge_model_flops_train(m, t, RIDGE_CONVENTION_PALM) -
                    ridge_model_flops_train(m, t, RIDGE_CONVENTION_SIX_N),
                1e-6);
}

static void only_scores_grow_with_length(void **state)
{
    (void)state;
    each_model(law_length);
}

/* From the policy that keeps least to the one that keeps most. */
static const ridge_remat by_memory[] = {RIDGE_REMAT_FULL, RIDGE_REMAT_MATMULS,
                                        RIDGE_REMAT_SELECTIVE, RIDGE_REMAT_NONE};

static void law_remat(ridge_ctx *cx, const shape *s, dice *d)
{
    const ridge_model *m = build(cx, s, false);
    const double t = (double)roll(d, 1, 4096);
    const int64_t tp = roll(d, 1, 8);
    const bool has_sp = roll(d, 0, 1) != 0;
    for (size_t i = 1; i < RIDGE_COUNT_OF(by_memory); i++) {
        assert_true(ridge_model_flops_remat(m, t, true, by_memory[i - 1]) >=
                    ridge_model_flops_remat(m, t, true, by_memory[i]));
        for (int k = 0; k < m->n_layers; k++)
            assert_true(ridge_layer_activation_bytes(m, &m->layers[k], by_memory[i - 1],
                                                     tp, has_sp) <=
                        ridge_layer_activation_bytes(m, &m->layers[k], by_memory[i], tp,
                                                     has_sp));
    }
}

static void remat_trades_memory_for_flops(void **state)
{
    (void)state;
    each_model(law_remat);
}

static void law_cache(ridge_ctx *cx, const shape *s, dice *d)
{
    const ridge_model *m = build(cx, s, false);
    const ridge_kv kv = ridge_model_kv(m, RIDGE_DTYPE_BF16);
    double before = 0;
    for (double t = 1; t < 5000; t += (double)roll(d, 1, 700)) {
        const double needed = ridge_model_kv_bytes(m, RIDGE_DTYPE_BF16, t, false);
        const double reserved = ridge_model_kv_bytes(m, RIDGE_DTYPE_BF16, t, true);
        assert_true(needed >= before && needed <= reserved);
        assert_near(reserved, kv.bytes_per_token * t, 1e-14);
        before = needed;
    }
    assert_true(kv.bytes_per_token_long <= kv.bytes_per_token);
    assert_near(ridge_model_kv(m, RIDGE_DTYPE_FP8).bytes_per_token * 2,
                kv.bytes_per_token, 0);
}

static void cache_grows_with_length(void **state)
{
    (void)state;
    each_model(law_cache);
}

static void law_tp(ridge_ctx *cx, const shape *s, dice *d)
{
    (void)d;
    const ridge_model *m = build(cx, s, false);
    assert_int_equal(ridge_model_tp(m, 1), RIDGE_TP_OK);
    for (int64_t tp = 1; tp <= 32; tp++) {
        const char *words = ridge_model_tp_text(ridge_ctx_arena(cx), m, tp);
        assert_non_null(words);
        assert_true(strlen(words) > 0);
        const ridge_tp_verdict v = ridge_model_tp(m, tp);
        if (v == RIDGE_TP_OK)
            assert_true(s->k % tp == 0);
        if (v == RIDGE_TP_REPLICATES_KV)
            assert_true(tp % s->k == 0 && s->k * s->group % tp == 0);
    }
}

static void legal_degrees_divide_heads(void **state)
{
    (void)state;
    each_model(law_tp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breakdown_sums_to_twice_the_weights),
        cmocka_unit_test(tie_leaves_flops_alone),
        cmocka_unit_test(only_scores_grow_with_length),
        cmocka_unit_test(remat_trades_memory_for_flops),
        cmocka_unit_test(cache_grows_with_length),
        cmocka_unit_test(legal_degrees_divide_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
