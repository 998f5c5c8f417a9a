/*
 * Published weights with OLMo 2's arithmetic: no norm before a part but one behind it,
 * and norms of queries and keys over all heads. The text that a small random model
 * gives must be that of its arithmetic in double precision.
 */
#include "double_layers.h"

#define AT "model.layers.%d."

static const random_part parts[] = {
    {"self_attn.q_proj.weight", N *H, D},
    {"self_attn.k_proj.weight", K *H, D},
    {"self_attn.v_proj.weight", K *H, D},
    {"self_attn.o_proj.weight", D, N *H},
    {"self_attn.q_norm.weight", 0, N *H},
    {"self_attn.k_norm.weight", 0, K *H},
    {"post_attention_layernorm.weight", 0, D},
    {"mlp.gate_proj.weight", F, D},
    {"mlp.up_proj.weight", F, D},
    {"mlp.down_proj.weight", D, F},
    {"post_feedforward_layernorm.weight", 0, D},
};

static void put_olmo(store *s)
{
    store_put(s, V, D, 0, 0.6F, "model.embed_tokens.weight");
    for (int l = 0; l < LAYERS; l++) {
        for (size_t i = 0; i < RIDGE_COUNT_OF(parts); i++) {
            const random_part *p = &parts[i];
            store_put(s, p->rows, p->columns, p->rows > 0 ? 0.0F : 1.0F, 0.6F, AT "%s",
                      l, p->name);
        }
    }
    store_put(s, 0, D, 1, 0.6F, "model.norm.weight");
    store_put(s, V, D, 0, 0.6F, "lm_head.weight");
}

static void run_attention(const store *s, int l, int tokens, token_rows x, token_rows y)
{
    static token_rows q, k, v;
    const char *at = AT "self_attn.%s";
    for (int t = 0; t < tokens; t++) {
        mapped(store_get(s, at, l, "q_proj.weight"), D, N * H, x[t], q[t]);
        mapped(store_get(s, at, l, "k_proj.weight"), D, K * H, x[t], k[t]);
        mapped(store_get(s, at, l, "v_proj.weight"), D, K * H, x[t], v[t]);
        normed(store_get(s, at, l, "q_norm.weight"), 0, N * H, 1, 1e-5, q[t]);
        normed(store_get(s, at, l, "k_norm.weight"), 0, K * H, 1, 1e-5, k[t]);
        heads_turned(q[t], N, H, t);
        heads_turned(k[t], K, H, t);
    }
    for (int t = 0; t < tokens; t++) {
        double o[N * H];
        attended(q, k, v, t, o);
        mapped(store_get(s, at, l, "o_proj.weight"), N * H, D, o, y[t]);
    }
}

static void run_olmo(const store *s, int tokens, token_rows x)
{
    static token_rows y;
    for (int l = 0; l < LAYERS; l++) {
        run_attention(s, l, tokens, x, y);
        for (int t = 0; t < tokens; t++) {
            normed(store_get(s, AT "post_attention_layernorm.weight", l), 0, D, 1, 1e-5,
                   y[t]);
            stream_add(x[t], y[t]);
            gated_feed(store_get(s, AT "mlp.gate_proj.weight", l),
                       store_get(s, AT "mlp.up_proj.weight", l),
                       store_get(s, AT "mlp.down_proj.weight", l), x[t], y[t]);
            normed(store_get(s, AT "post_feedforward_layernorm.weight", l), 0, D, 1,
                   1e-5, y[t]);
            stream_add(x[t], y[t]);
        }
    }
    for (int t = 0; t < tokens; t++)
        normed(store_get(s, "model.norm.weight"), 0, D, 1, 1e-5, x[t]);
}

static void text_is_that_of_double_precision(void **state)
{
    (void)state;
    store s = store_open(12);
    put_olmo(&s);
    store_check_text(
        &s, run_olmo,
        "{\"model_type\":\"olmo2\",\"hidden_size\":16,\"num_attention_heads\":4,"
        "\"num_key_value_heads\":2,\"head_dim\":8,\"num_hidden_layers\":4,"
        "\"intermediate_size\":24,\"vocab_size\":40,\"rope_theta\":100,"
        "\"rms_norm_eps\":1e-5,\"hidden_act\":\"silu\",\"tie_word_embeddings\":false,"
        "\"max_position_embeddings\":64}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_that_of_double_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
