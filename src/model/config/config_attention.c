/* Attention of a layer: heads, their dims, biases and norms; MLA; DeepSeek-V4's latent
 * attention; the sparse indexer. Linear and recurrent mixers are config_recurrent.c's.
 */
#include "config.h"

#include <string.h>

/* KV heads: stated, one for all (multi-query), a group count, or as many as heads. */
static ridge_status read_kv_heads(ridge__config *c, const ridge__choice *choice,
                                  int64_t heads, int64_t *out)
{
    bool is_multi_query, is_new_decoder, has_groups;
    RIDGE_TRY(
        ridge__config_switch(c, "multi_query", RIDGE__A_MULTI_QUERY, &is_multi_query));
    RIDGE_TRY(
        ridge__config_flag(c, "new_decoder_architecture", false, &is_new_decoder));
    RIDGE_TRY(ridge__config_flag(c, "multi_query_attention", false, &has_groups));
    if (is_multi_query && !is_new_decoder) {
        *out = 1;
        return RIDGE_OK;
    }
    if (has_groups) {
        ridge_node n = ridge__config_find(c, "multi_query_group_num");
        return ridge_json_want_i64(c->cx, n, 1, heads, out);
    }
    const int64_t of_type = c->arch->dims.kv_heads;
    const bool fits = c->is_nested && of_type > 0 && heads % of_type == 0;
    if (fits) {
        RIDGE_TRY(ridge__config_assume(c, RIDGE__F_KV_HEADS, of_type, out));
    } else {
        RIDGE_TRY(ridge__config_get(c, RIDGE__F_KV_HEADS, heads, out));
    }
    bool are_keys_values; /* Gemma 4's full layers have KV heads of their own */
    RIDGE_TRY(ridge__config_flag(c, "attention_k_eq_v", false, &are_keys_values));
    if (are_keys_values && choice->mix == RIDGE__MIX_FULL)
        RIDGE_TRY(ridge__config_get(c, RIDGE__F_GLOBAL_KV_HEADS, *out, out));
    return RIDGE_OK;
}

static ridge_status read_head_dim(ridge__config *c, const ridge__choice *choice,
                                  int64_t heads, int64_t *out)
{
    RIDGE_TRY(ridge__config_assume(c, RIDGE__F_HEAD_DIM, c->arch->head_dim, out));
    if (*out == 0 && c->model->d_model % heads != 0) {
        return ridge_json_fail(
            c->cx, c->text, "%lld heads do not divide a width of %lld: state head_dim",
            (long long)heads, (long long)c->model->d_model);
    }
    if (*out == 0)
        *out = c->model->d_model / heads;
    if (choice->mix != RIDGE__MIX_FULL)
        return RIDGE_OK;
    if (c->arch->global_head_dim > 0)
        return ridge__config_assume(c, RIDGE__F_GLOBAL_HEAD_DIM,
                                    c->arch->global_head_dim, out);
    return ridge__config_get(c, RIDGE__F_GLOBAL_HEAD_DIM, *out, out);
}

static ridge_status read_heads(ridge__config *c, const ridge__choice *choice,
                               ridge_mixer *m)
{
    ridge__field field =
        ridge__has_encoder(c, choice) ? RIDGE__F_ENCODER_HEADS : RIDGE__F_HEADS;
    RIDGE_TRY(ridge__config_usual(c, field, c->arch->dims.heads, &m->heads));
    if (choice->heads > 0)
        m->heads = choice->heads;
    RIDGE_TRY(read_kv_heads(c, choice, m->heads, &m->kv_heads));
    if (m->heads % m->kv_heads != 0) {
        return ridge_json_fail(c->cx, c->text,
                               "%lld KV heads do not divide %lld query heads",
                               (long long)m->kv_heads, (long long)m->heads);
    }
    RIDGE_TRY(read_head_dim(c, choice, m->heads, &m->head_dim));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_V_DIM, 0, &m->v_head_dim));
    if (m->v_head_dim == 0)
        m->v_head_dim = m->head_dim;
    return RIDGE_OK;
}

/* A window as long as the context is none. */
static ridge_status read_window(ridge__config *c, const ridge__choice *choice,
                                ridge_mixer *m)
{
    enum { LLAMA4_CHUNK_TOKENS = 8192 };
    m->is_window_chunked = choice->mix == RIDGE__MIX_CHUNKED;
    if (m->is_window_chunked)
        return ridge__config_assume(c, RIDGE__F_CHUNK, LLAMA4_CHUNK_TOKENS, &m->window);
    if (choice->mix != RIDGE__MIX_SLIDING)
        return RIDGE_OK;
    if (c->arch->window > 0) {
        RIDGE_TRY(
            ridge__config_assume(c, RIDGE__F_WINDOW, c->arch->window, &m->window));
    } else {
        RIDGE_TRY(ridge__config_need(c, RIDGE__F_WINDOW, &m->window));
    }
    if (c->model->max_positions > 0 && m->window >= c->model->max_positions)
        m->window = 0;
    return RIDGE_OK;
}

static ridge_status read_biases(ridge__config *c, ridge_mixer *m)
{
    const ridge__arch *a = c->arch;
    RIDGE_TRY(
        ridge__config_switch(c, a->qkv_bias_key, RIDGE__A_QKV_BIAS, &m->has_qkv_bias));
    RIDGE_TRY(
        ridge__config_switch(c, a->out_bias_key, RIDGE__A_OUT_BIAS, &m->has_out_bias));
    m->is_key_unbiased = m->has_qkv_bias && ridge__arch_has(c, RIDGE__A_KEY_UNBIASED);
    return RIDGE_OK;
}

static ridge_status read_qk_norm(ridge__config *c, const ridge__choice *choice,
                                 ridge_mixer *m)
{
    bool is_on = true;
    if (c->arch->qk_key != NULL)
        RIDGE_TRY(ridge__config_switch(c, c->arch->qk_key, RIDGE__A_QK_ON, &is_on));
    ridge__qk_norm form = is_on ? c->arch->qk_norm : RIDGE__QK_NONE;
    if (choice->mix == RIDGE__MIX_CROSS)
        form = RIDGE__QK_HEAD;
    switch (form) {
    case RIDGE__QK_NONE:
        break;
    case RIDGE__QK_HEAD: /* shared keys come with their norm */
        m->qk_norm_width = (m->has_shared_kv ? 1 : 2) * m->head_dim;
        break;
    case RIDGE__QK_HEAD_BIAS:
        m->qk_norm_width = 4 * m->head_dim;
        break;
    case RIDGE__QK_EACH:
        m->qk_norm_width = (m->heads + m->kv_heads) * m->head_dim;
        break;
    }
    return RIDGE_OK;
}

static ridge_status read_gates(ridge__config *c, ridge_mixer *m)
{
    bool has_head_gate;
    const char *key =
        ridge__arch_has(c, RIDGE__A_NATIVE) ? "use_q_gate" : "attn_output_gate";
    RIDGE_TRY(ridge__config_switch(c, key, RIDGE__A_OUT_GATE, &m->has_out_gate));
    RIDGE_TRY(ridge__config_switch(c, "use_head_wise_attn_gate", RIDGE__A_HEAD_GATE,
                                   &has_head_gate));
    m->gate_width = has_head_gate ? m->heads : 0;
    return RIDGE_OK;
}

static ridge_status read_index(ridge__config *c, const ridge__choice *choice,
                               ridge_mixer *m)
{
    if (!choice->has_index)
        return RIDGE_OK;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_INDEX_HEADS, &m->index_heads));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_INDEX_DIM, &m->index_head_dim));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_INDEX_TOPK, 0, &m->index_topk));
    if (m->index_topk > 0)
        return RIDGE_OK;
    /* MiniMax M3 chooses blocks of tokens. */
    ridge_node blocks =
        ridge__config_find(c, "sparse_attention_config.sparse_topk_blocks");
    ridge_node size =
        ridge__config_find(c, "sparse_attention_config.sparse_block_size");
    int64_t n, tokens;
    RIDGE_TRY(ridge_json_want_i64(c->cx, blocks, 1, 1000000, &n));
    RIDGE_TRY(ridge_json_want_i64(c->cx, size, 1, 1000000, &tokens));
    m->index_topk = n * tokens;
    return RIDGE_OK;
}

/* Yuan: two convolutions over two tokens, D to D/2 and back, and a norm, before Q and
 * K. */
static int64_t local_filter_params(int64_t d_model)
{
    int64_t half = d_model / 2;
    return 2 * d_model * half + half + 2 * half * d_model + d_model + d_model;
}

static ridge_status read_attention(ridge__config *c, const ridge__choice *choice,
                                   ridge_mixer *m)
{
    bool are_keys_values;
    RIDGE_TRY(read_heads(c, choice, m));
    RIDGE_TRY(read_window(c, choice, m));
    RIDGE_TRY(read_biases(c, m));
    RIDGE_TRY(ridge__config_flag(c, "attention_k_eq_v", false, &are_keys_values));
    m->has_joint_kv = are_keys_values && choice->mix == RIDGE__MIX_FULL;
    m->has_shared_kv = choice->has_shared_kv;
    m->has_sinks = ridge__arch_has(c, RIDGE__A_SINKS);
    m->is_cross = choice->mix == RIDGE__MIX_CROSS;
    if (m->is_cross)
        m->extra_params = 2; /* a gate for attention and one for the feed-forward */
    if (ridge__arch_has(c, RIDGE__A_LOCAL_FILTER))
        m->extra_params = local_filter_params(c->model->d_model);
    RIDGE_TRY(read_qk_norm(c, choice, m));
    RIDGE_TRY(read_gates(c, m));
    return read_index(c, choice, m);
}

/* @source deepseek-v2-2024, section 2.1 */
static ridge_status read_mla(ridge__config *c, const ridge__choice *choice,
                             ridge_mixer *m)
{
    int64_t nope;
    bool has_gate;
    m->kind = RIDGE_MIXER_MLA;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_HEADS, &m->heads));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_NOPE_DIM, &nope));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_ROPE_DIM, &m->rope_head_dim));
    if (c->arch->is_v_even) {
        const int64_t even = c->model->d_model / m->heads;
        RIDGE_TRY(ridge__config_get(c, RIDGE__F_V_DIM, even, &m->v_head_dim));
    } else {
        RIDGE_TRY(ridge__config_need(c, RIDGE__F_V_DIM, &m->v_head_dim));
    }
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_KV_LORA, &m->kv_lora_rank));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_Q_LORA, 0, &m->q_lora_rank));
    m->kv_heads = m->heads;
    m->head_dim = nope + m->rope_head_dim;
    if (m->head_dim == 0 || m->v_head_dim == 0)
        return ridge_json_fail(c->cx, c->text, "head dims of latent attention are 0");
    RIDGE_TRY(read_biases(c, m));
    RIDGE_TRY(ridge__config_flag(c, "mla_use_output_gate", false, &has_gate));
    m->gate_width = has_gate ? m->heads * m->v_head_dim : 0;
    return read_index(c, choice, m);
}

/* Mixing of the residual streams before attention and before the feed-forward part:
 * a map of all streams to (s + 2) s numbers, with their biases and three scales. */
static int64_t stream_params(int64_t streams, int64_t d_model)
{
    int64_t outputs = (streams + 2) * streams;
    return 2 * (outputs * streams * d_model + outputs + 3);
}

/* DeepSeek-V4: one latent is both key and value of all heads; the output projection is
 * low-rank in groups of heads; beyond the window, entries are compressed. */
static ridge_status read_latent(ridge__config *c, const ridge__choice *choice,
                                ridge_mixer *m)
{
    int64_t streams;
    m->kind = RIDGE_MIXER_MLA;
    m->is_latent_only = true;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_HEADS, &m->heads));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_HEAD_DIM, &m->head_dim));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_ROPE_DIM, &m->rope_head_dim));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_Q_LORA, &m->q_lora_rank));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_O_LORA, &m->o_lora_rank));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_O_GROUPS, &m->o_groups));
    if (m->rope_head_dim >= m->head_dim || m->heads % m->o_groups != 0) {
        return ridge_json_fail(c->cx, c->text,
                               "head_dim must exceed qk_rope_head_dim, and o_groups "
                               "divide the heads");
    }
    m->kv_heads = 1;
    m->v_head_dim = m->head_dim;
    m->kv_lora_rank = m->head_dim - m->rope_head_dim;
    m->has_sinks = ridge__arch_has(c, RIDGE__A_SINKS);
    m->compress_ratio = choice->compress_ratio;
    RIDGE_TRY(read_window(c, choice, m));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_STREAMS, 0, &streams));
    if (streams > 0)
        m->extra_params = stream_params(streams, c->model->d_model);
    return read_index(c, choice, m);
}

static ridge_status read_full(ridge__config *c, const ridge__choice *choice,
                              ridge_mixer *m)
{
    int64_t latent, o_latent;
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_KV_LORA, 0, &latent));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_O_LORA, 0, &o_latent));
    m->kind = RIDGE_MIXER_ATTENTION;
    if (latent > 0)
        return read_mla(c, choice, m);
    return o_latent > 0 ? read_latent(c, choice, m) : read_attention(c, choice, m);
}

ridge_status ridge__config_mixer(ridge__config *c, const ridge__choice *choice,
                                 ridge_mixer *out)
{
    memset(out, 0, sizeof *out);
    out->is_causal = !choice->is_encoder;
    switch (choice->mix) {
    case RIDGE__MIX_FULL:
    case RIDGE__MIX_SLIDING:
    case RIDGE__MIX_CHUNKED:
    case RIDGE__MIX_CROSS:
        return read_full(c, choice, out);
    case RIDGE__MIX_LINEAR:
    case RIDGE__MIX_SSM:
    case RIDGE__MIX_CONV:
        return ridge__config_recurrent(c, choice, out);
    case RIDGE__MIX_NONE:
        out->kind = RIDGE_MIXER_NONE;
        return RIDGE_OK;
    }
    return RIDGE_OK;
}
