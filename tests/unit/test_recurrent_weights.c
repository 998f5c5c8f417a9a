/*
 * Published weights of recurrent models, as their checkpoints pack them: gated delta
 * nets beside gated attention (Qwen3-Next and Qwen 3.5), Mamba-2 with feed-forward and
 * attention (Nemotron-H), short convolutions (LFM 2). The text that small random ones
 * give must be that of their arithmetic in double precision.
 */
#include "double_layers.h"

#include <math.h>
#include <string.h>

/* ---- Qwen3-Next and 3.5 ---------------------------------------------------------- */

enum { GROUP = HEADS / KEYS, DELTA_ROWS = KEYS * (2 * A + 2 * GROUP * P) };
enum { DELTA_CHANNELS = 2 * KEYS * A + HEADS * P };

static void put_delta(store *s, int l, bool is_heads)
{
    const char *at = "model.layers.%d.linear_attn.%s";
    if (is_heads) {
        store_put(s, DELTA_ROWS, D, 0, 0.6F, at, l, "in_proj_qkvz.weight");
        store_put(s, 2 * HEADS, D, 0, 0.6F, at, l, "in_proj_ba.weight");
    } else {
        store_put(s, DELTA_CHANNELS, D, 0, 0.6F, at, l, "in_proj_qkv.weight");
        store_put(s, HEADS * P, D, 0, 0.6F, at, l, "in_proj_z.weight");
        store_put(s, HEADS, D, 0, 0.6F, at, l, "in_proj_b.weight");
        store_put(s, HEADS, D, 0, 0.6F, at, l, "in_proj_a.weight");
    }
    store_put(s, DELTA_CHANNELS, TAPS, 0, 0.8F, at, l, "conv1d.weight");
    store_put(s, 0, HEADS, 0, 1.0F, at, l, "dt_bias");
    store_put(s, 0, HEADS, 0, 1.0F, at, l, "A_log");
    store_put(s, 0, P, 1.0F, 0.5F, at, l, "norm.weight");
    store_put(s, D, HEADS * P, 0, 0.6F, at, l, "out_proj.weight");
}

/* q, k, v of all heads in channels, z, beta and decay of a token. */
typedef struct delta_token {
    double channels[DELTA_CHANNELS], z[HEADS * P], beta[HEADS], decay[HEADS];
} delta_token;

static void map_delta(const store *s, int l, bool is_heads, const double *h,
                      delta_token *out)
{
    const char *at = "model.layers.%d.linear_attn.%s";
    double all[DELTA_ROWS], steps[2 * HEADS];
    if (!is_heads) {
        mapped(store_get(s, at, l, "in_proj_qkv.weight"), D, DELTA_CHANNELS, h,
               out->channels);
        mapped(store_get(s, at, l, "in_proj_z.weight"), D, HEADS * P, h, out->z);
        mapped(store_get(s, at, l, "in_proj_b.weight"), D, HEADS, h, out->beta);
        mapped(store_get(s, at, l, "in_proj_a.weight"), D, HEADS, h, out->decay);
        return;
    }
    mapped(store_get(s, at, l, "in_proj_qkvz.weight"), D, DELTA_ROWS, h, all);
    mapped(store_get(s, at, l, "in_proj_ba.weight"), D, 2 * HEADS, h, steps);
    for (int g = 0; g < KEYS; g++) {
        const double *own = all + g * DELTA_ROWS / KEYS;
        memcpy(out->channels + g * A, own, A * sizeof *own);
        memcpy(out->channels + (KEYS + g) * A, own + A, A * sizeof *own);
        memcpy(out->channels + 2 * KEYS * A + g * GROUP * P, own + 2 * A,
               GROUP * P * sizeof *own);
        memcpy(out->z + g * GROUP * P, own + 2 * A + GROUP * P,
               GROUP * P * sizeof *own);
        for (int i = 0; i < GROUP; i++) {
            out->beta[g * GROUP + i] = steps[g * 2 * GROUP + i];
            out->decay[g * GROUP + i] = steps[g * 2 * GROUP + GROUP + i];
        }
    }
}

static void delta_head(const store *s, int l, int n, const delta_token *token,
                       double *c, double state[A][P], double *o)
{
    const char *at = "model.layers.%d.linear_attn.%s";
    double q[A], k[A];
    memcpy(q, c + n / GROUP * A, sizeof q);
    memcpy(k, c + (KEYS + n / GROUP) * A, sizeof k);
    unit_vector(q, 1.0 / sqrt(A));
    unit_vector(k, 1.0);
    const double rate = exp((double)store_get(s, at, l, "A_log")[n]);
    const double raw = token->decay[n] + (double)store_get(s, at, l, "dt_bias")[n];
    const double beta = 1.0 / (1.0 + exp(-token->beta[n]));
    recurred(state, q, k, c + 2 * KEYS * A + n * P, exp(-rate * softplus(raw)), beta,
             true, o);
    normed(store_get(s, at, l, "norm.weight"), 0.0, P, 1, 1e-6, o);
    for (int i = 0; i < P; i++)
        o[i] *= silu(token->z[n * P + i]);
}

static void run_delta(const store *s, int l, bool is_heads, int tokens, token_rows h,
                      token_rows y)
{
    static delta_token each[X];
    static token_rows channels;
    double state[HEADS][A][P] = {{{0}}};
    for (int t = 0; t < tokens; t++) {
        map_delta(s, l, is_heads, h[t], &each[t]);
        memcpy(channels[t], each[t].channels, sizeof each[t].channels);
    }
    convolved(store_get(s, "model.layers.%d.linear_attn.conv1d.weight", l), NULL, TAPS,
              DELTA_CHANNELS, true, tokens, channels);
    for (int t = 0; t < tokens; t++) {
        double o[HEADS * P];
        for (int n = 0; n < HEADS; n++)
            delta_head(s, l, n, &each[t], channels[t], state[n], o + n * P);
        mapped(store_get(s, "model.layers.%d.linear_attn.out_proj.weight", l),
               HEADS * P, D, o, y[t]);
    }
}

static void run_gated_attention(const store *s, int l, int tokens, token_rows h,
                                token_rows y)
{
    static token_rows q, k, v, gate;
    const char *at = "model.layers.%d.self_attn.%s";
    for (int t = 0; t < tokens; t++) {
        double both[2 * N * H];
        mapped(store_get(s, at, l, "q_proj.weight"), D, 2 * N * H, h[t], both);
        mapped(store_get(s, at, l, "k_proj.weight"), D, K * H, h[t], k[t]);
        mapped(store_get(s, at, l, "v_proj.weight"), D, K * H, h[t], v[t]);
        for (int n = 0; n < N; n++) {
            memcpy(q[t] + n * H, both + 2 * n * H, H * sizeof *both);
            memcpy(gate[t] + n * H, both + (2 * n + 1) * H, H * sizeof *both);
            normed(store_get(s, at, l, "q_norm.weight"), 1.0, H, 1, 1e-6, q[t] + n * H);
        }
        for (int n = 0; n < K; n++)
            normed(store_get(s, at, l, "k_norm.weight"), 1.0, H, 1, 1e-6, k[t] + n * H);
        heads_turned(q[t], N, TURNED, t);
        heads_turned(k[t], K, TURNED, t);
    }
    for (int t = 0; t < tokens; t++) {
        double o[N * H];
        attended(q, k, v, t, o);
        for (int i = 0; i < N * H; i++)
            o[i] /= 1.0 + exp(-gate[t][i]);
        mapped(store_get(s, at, l, "o_proj.weight"), N * H, D, o, y[t]);
    }
}

static void put_qwen(store *s, bool is_heads)
{
    store_put(s, V, D, 0, 0.6F, "model.embed_tokens.weight");
    for (int l = 0; l < LAYERS; l++) {
        const char *at = "model.layers.%d.self_attn.%s";
        store_put(s, 0, D, 0, 0.4F, "model.layers.%d.input_layernorm.weight", l);
        store_put(s, 0, D, 0, 0.4F, "model.layers.%d.post_attention_layernorm.weight",
                  l);
        if (l % 2 == 0) {
            put_delta(s, l, is_heads);
        } else {
            store_put(s, 2 * N * H, D, 0, 0.6F, at, l, "q_proj.weight");
            store_put(s, K * H, D, 0, 0.6F, at, l, "k_proj.weight");
            store_put(s, K * H, D, 0, 0.6F, at, l, "v_proj.weight");
            store_put(s, D, N * H, 0, 0.6F, at, l, "o_proj.weight");
            store_put(s, 0, H, 0, 0.4F, at, l, "q_norm.weight");
            store_put(s, 0, H, 0, 0.4F, at, l, "k_norm.weight");
        }
        store_put(s, F, D, 0, 0.6F, "model.layers.%d.mlp.gate_proj.weight", l);
        store_put(s, F, D, 0, 0.6F, "model.layers.%d.mlp.up_proj.weight", l);
        store_put(s, D, F, 0, 0.6F, "model.layers.%d.mlp.down_proj.weight", l);
    }
    store_put(s, 0, D, 0, 0.4F, "model.norm.weight");
    store_put(s, V, D, 0, 0.6F, "lm_head.weight");
}

static void run_qwen(const store *s, bool is_heads, int tokens, token_rows x)
{
    static token_rows h, y;
    for (int l = 0; l < LAYERS; l++) {
        const char *at = "model.layers.%d.mlp.%s";
        memcpy(h, x, sizeof h);
        for (int t = 0; t < tokens; t++)
            normed(store_get(s, "model.layers.%d.input_layernorm.weight", l), 1.0, D, 1,
                   1e-6, h[t]);
        if (l % 2 == 0)
            run_delta(s, l, is_heads, tokens, h, y);
        else
            run_gated_attention(s, l, tokens, h, y);
        for (int t = 0; t < tokens; t++) {
            double fed[D];
            stream_add(x[t], y[t]);
            memcpy(fed, x[t], sizeof fed);
            normed(store_get(s, "model.layers.%d.post_attention_layernorm.weight", l),
                   1.0, D, 1, 1e-6, fed);
            gated_feed(store_get(s, at, l, "gate_proj.weight"),
                       store_get(s, at, l, "up_proj.weight"),
                       store_get(s, at, l, "down_proj.weight"), fed, y[t]);
            stream_add(x[t], y[t]);
        }
    }
    normed(store_get(s, "model.norm.weight"), 1.0, D, 1, 1e-6, x[tokens - 1]);
}

static void run_qwen_next(const store *s, int tokens, token_rows x)
{
    run_qwen(s, true, tokens, x);
}

static void run_qwen_plain(const store *s, int tokens, token_rows x)
{
    run_qwen(s, false, tokens, x);
}

/* ---- Nemotron-H ------------------------------------------------------------------ */

enum { INNER = HEADS * P, STATE = KEYS * A, IN = 2 * INNER + 2 * STATE + HEADS };
static const char PATTERN[] = "M-*M";

static void put_nemotron(store *s)
{
    const char *at = "backbone.layers.%d.mixer.%s";
    store_put(s, V, D, 0, 0.6F, "backbone.embeddings.weight");
    for (int l = 0; l < LAYERS; l++) {
        store_put(s, 0, D, 1.0F, 0.4F, "backbone.layers.%d.norm.weight", l);
        if (PATTERN[l] == 'M') {
            store_put(s, IN, D, 0, 0.6F, at, l, "in_proj.weight");
            store_put(s, INNER + 2 * STATE, TAPS, 0, 0.8F, at, l, "conv1d.weight");
            store_put(s, 0, INNER + 2 * STATE, 0, 0.5F, at, l, "conv1d.bias");
            store_put(s, 0, HEADS, 0, 1.0F, at, l, "dt_bias");
            store_put(s, 0, HEADS, 0, 1.0F, at, l, "A_log");
            store_put(s, 0, HEADS, 1.0F, 0.5F, at, l, "D");
            store_put(s, 0, INNER, 1.0F, 0.5F, at, l, "norm.weight");
            store_put(s, D, INNER, 0, 0.6F, at, l, "out_proj.weight");
        } else if (PATTERN[l] == '-') {
            store_put(s, F, D, 0, 0.6F, at, l, "up_proj.weight");
            store_put(s, D, F, 0, 0.6F, at, l, "down_proj.weight");
        } else {
            store_put(s, N * H, D, 0, 0.6F, at, l, "q_proj.weight");
            store_put(s, K * H, D, 0, 0.6F, at, l, "k_proj.weight");
            store_put(s, K * H, D, 0, 0.6F, at, l, "v_proj.weight");
            store_put(s, D, N * H, 0, 0.6F, at, l, "o_proj.weight");
        }
    }
    store_put(s, 0, D, 1.0F, 0.4F, "backbone.norm_f.weight");
    store_put(s, V, D, 0, 0.6F, "lm_head.weight");
}

static void run_state_space(const store *s, int l, int tokens, token_rows h,
                            token_rows y)
{
    const char *at = "backbone.layers.%d.mixer.%s";
    static token_rows all, c;
    double state[HEADS][A][P] = {{{0}}};
    for (int t = 0; t < tokens; t++) {
        mapped(store_get(s, at, l, "in_proj.weight"), D, IN, h[t], all[t]);
        memcpy(c[t], all[t] + INNER, (INNER + 2 * STATE) * sizeof *c[t]);
    }
    convolved(store_get(s, at, l, "conv1d.weight"), store_get(s, at, l, "conv1d.bias"),
              TAPS, INNER + 2 * STATE, true, tokens, c);
    for (int t = 0; t < tokens; t++) {
        double o[INNER];
        for (int n = 0; n < HEADS; n++) {
            const double dt = softplus(all[t][IN - HEADS + n] +
                                       (double)store_get(s, at, l, "dt_bias")[n]);
            const double keep = exp(-dt * exp((double)store_get(s, at, l, "A_log")[n]));
            const double *b = c[t] + INNER + n / GROUP * A;
            recurred(state[n], b + STATE, b, c[t] + n * P, keep, dt, false, o + n * P);
            for (int i = n * P; i < (n + 1) * P; i++) {
                o[i] += (double)store_get(s, at, l, "D")[n] * c[t][i];
                o[i] *= silu(all[t][i]);
            }
        }
        normed(store_get(s, at, l, "norm.weight"), 0.0, INNER, KEYS, 1e-5, o);
        mapped(store_get(s, at, l, "out_proj.weight"), INNER, D, o, y[t]);
    }
}

static void run_plain_attention(const store *s, const char *at, int l, int tokens,
                                token_rows h, token_rows y)
{
    static token_rows q, k, v;
    for (int t = 0; t < tokens; t++) {
        double o[N * H];
        mapped(store_get(s, at, l, "q_proj.weight"), D, N * H, h[t], q[t]);
        mapped(store_get(s, at, l, "k_proj.weight"), D, K * H, h[t], k[t]);
        mapped(store_get(s, at, l, "v_proj.weight"), D, K * H, h[t], v[t]);
        attended(q, k, v, t, o);
        mapped(store_get(s, at, l, "o_proj.weight"), N * H, D, o, y[t]);
    }
}

static void run_squared_feed(const store *s, int l, int tokens, token_rows h,
                             token_rows y)
{
    const char *at = "backbone.layers.%d.mixer.%s";
    for (int t = 0; t < tokens; t++) {
        double a[F];
        mapped(store_get(s, at, l, "up_proj.weight"), D, F, h[t], a);
        for (int i = 0; i < F; i++)
            a[i] = fmax(a[i], 0.0) * fmax(a[i], 0.0);
        mapped(store_get(s, at, l, "down_proj.weight"), F, D, a, y[t]);
    }
}

static void run_nemotron(const store *s, int tokens, token_rows x)
{
    static token_rows h, y;
    for (int l = 0; l < LAYERS; l++) {
        memcpy(h, x, sizeof h);
        for (int t = 0; t < tokens; t++)
            normed(store_get(s, "backbone.layers.%d.norm.weight", l), 0.0, D, 1, 1e-5,
                   h[t]);
        if (PATTERN[l] == 'M')
            run_state_space(s, l, tokens, h, y);
        else if (PATTERN[l] == '-')
            run_squared_feed(s, l, tokens, h, y);
        else
            run_plain_attention(s, "backbone.layers.%d.mixer.%s", l, tokens, h, y);
        for (int t = 0; t < tokens; t++)
            stream_add(x[t], y[t]);
    }
    normed(store_get(s, "backbone.norm_f.weight"), 0.0, D, 1, 1e-5, x[tokens - 1]);
}

/* ---- LFM 2: convolutions alone --------------------------------------------------- */

enum { SHORT = 3 };

static void put_lfm(store *s)
{
    store_put(s, V, D, 0, 0.6F, "model.embed_tokens.weight");
    for (int l = 0; l < LAYERS; l++) {
        const char *at = "model.layers.%d.%s";
        store_put(s, 0, D, 1.0F, 0.4F, at, l, "operator_norm.weight");
        store_put(s, 0, D, 1.0F, 0.4F, at, l, "ffn_norm.weight");
        store_put(s, 3 * D, D, 0, 0.6F, at, l, "conv.in_proj.weight");
        store_put(s, D, SHORT, 0, 0.8F, at, l, "conv.conv.weight");
        store_put(s, D, D, 0, 0.6F, at, l, "conv.out_proj.weight");
        store_put(s, F, D, 0, 0.6F, at, l, "feed_forward.w1.weight");
        store_put(s, D, F, 0, 0.6F, at, l, "feed_forward.w2.weight");
        store_put(s, F, D, 0, 0.6F, at, l, "feed_forward.w3.weight");
    }
    store_put(s, 0, D, 1.0F, 0.4F, "model.embedding_norm.weight");
}

static void run_lfm(const store *s, int tokens, token_rows x)
{
    static token_rows all, c;
    const char *at = "model.layers.%d.%s";
    for (int l = 0; l < LAYERS; l++) {
        for (int t = 0; t < tokens; t++) {
            double h[D];
            memcpy(h, x[t], sizeof h);
            normed(store_get(s, at, l, "operator_norm.weight"), 0.0, D, 1, 1e-5, h);
            mapped(store_get(s, at, l, "conv.in_proj.weight"), D, 3 * D, h, all[t]);
            for (int i = 0; i < D; i++)
                c[t][i] = all[t][i] * all[t][2 * D + i];
        }
        convolved(store_get(s, at, l, "conv.conv.weight"), NULL, SHORT, D, false,
                  tokens, c);
        for (int t = 0; t < tokens; t++) {
            double y[D], h[D];
            for (int i = 0; i < D; i++)
                c[t][i] *= all[t][D + i];
            mapped(store_get(s, at, l, "conv.out_proj.weight"), D, D, c[t], y);
            stream_add(x[t], y);
            memcpy(h, x[t], sizeof h);
            normed(store_get(s, at, l, "ffn_norm.weight"), 0.0, D, 1, 1e-5, h);
            gated_feed(store_get(s, at, l, "feed_forward.w1.weight"),
                       store_get(s, at, l, "feed_forward.w3.weight"),
                       store_get(s, at, l, "feed_forward.w2.weight"), h, y);
            stream_add(x[t], y);
        }
    }
    normed(store_get(s, "model.embedding_norm.weight"), 0.0, D, 1, 1e-5, x[tokens - 1]);
}

/* ---- texts ----------------------------------------------------------------------- */

#define QWEN                                                                           \
    "\"hidden_size\":16,\"num_hidden_layers\":4,\"num_attention_heads\":4,"            \
    "\"num_key_value_heads\":2,\"head_dim\":8,\"intermediate_size\":24,"               \
    "\"vocab_size\":40,\"rope_theta\":100,\"partial_rotary_factor\":0.75,"             \
    "\"rms_norm_eps\":1e-6,\"linear_num_key_heads\":2,\"linear_num_value_heads\":4,"   \
    "\"linear_key_head_dim\":6,\"linear_value_head_dim\":5,"                           \
    "\"linear_conv_kernel_dim\":4,\"tie_word_embeddings\":false,"                      \
    "\"hidden_act\":\"silu\",\"max_position_embeddings\":64,"                          \
    "\"layer_types\":[\"linear_attention\",\"full_attention\",\"linear_attention\","   \
    "\"full_attention\"]"

static void delta_nets_of_key_heads_in_turn(void **state)
{
    (void)state;
    store s = store_open(21);
    put_qwen(&s, true);
    store_check_text(&s, run_qwen_next,
                     "{\"model_type\":\"qwen3_next\",\"num_experts\":0,"
                     "\"mlp_only_layers\":[0,1,2,3]," QWEN "}");
}

static void delta_nets_of_plain_maps(void **state)
{
    (void)state;
    store s = store_open(22);
    put_qwen(&s, false);
    store_check_text(&s, run_qwen_plain, "{\"model_type\":\"qwen3_5_text\"," QWEN "}");
}

static void state_spaces_between_other_layers(void **state)
{
    (void)state;
    store s = store_open(23);
    put_nemotron(&s);
    store_check_text(
        &s, run_nemotron,
        "{\"model_type\":\"nemotron_h\",\"hidden_size\":16,"
        "\"num_hidden_layers\":4,\"hybrid_override_pattern\":\"M-*M\","
        "\"num_attention_heads\":4,\"num_key_value_heads\":2,"
        "\"attention_head_dim\":8,\"intermediate_size\":24,\"vocab_size\":40,"
        "\"mamba_num_heads\":4,\"mamba_head_dim\":5,\"n_groups\":2,"
        "\"ssm_state_size\":6,\"conv_kernel\":4,\"use_conv_bias\":true,"
        "\"mlp_hidden_act\":\"relu2\",\"layer_norm_epsilon\":1e-5,"
        "\"tie_word_embeddings\":false,\"max_position_embeddings\":64}");
}

static void short_convolutions(void **state)
{
    (void)state;
    store s = store_open(24);
    put_lfm(&s);
    store_check_text(
        &s, run_lfm,
        "{\"model_type\":\"lfm2\",\"hidden_size\":16,\"num_hidden_layers\":4,"
        "\"full_attn_idxs\":[],\"num_attention_heads\":4,"
        "\"num_key_value_heads\":4,\"intermediate_size\":24,"
        "\"block_auto_adjust_ff_dim\":false,\"conv_L_cache\":3,"
        "\"conv_bias\":false,\"norm_eps\":1e-5,\"vocab_size\":40,"
        "\"max_position_embeddings\":64}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delta_nets_of_key_heads_in_turn),
        cmocka_unit_test(delta_nets_of_plain_maps),
        cmocka_unit_test(state_spaces_between_other_layers),
        cmocka_unit_test(short_convolutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
