/* Mixers whose memory does not grow: gated delta nets, linear attention, state spaces
 * and short convolutions. */
#include "config.h"

/* Gated delta net: keys and values have their own heads. @source yang2024-deltanet */
static ridge_status read_delta(ridge__config *c, ridge_mixer *m)
{
    m->kind = RIDGE_MIXER_DELTA;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_LINEAR_KEY_HEADS, &m->key_heads));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_LINEAR_KEY_DIM, &m->key_head_dim));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_LINEAR_VALUE_HEADS, &m->value_heads));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_LINEAR_VALUE_DIM, &m->value_head_dim));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_CONV_KERNEL, &m->conv_kernel));
    if (m->value_heads % m->key_heads != 0) {
        return ridge_json_fail(c->cx, c->text,
                               "%lld key heads do not divide %lld value heads",
                               (long long)m->key_heads, (long long)m->value_heads);
    }
    return RIDGE_OK;
}

/* Kimi delta attention: decay a channel from a low-rank map, a gate of low or full
 * rank. @source kimi-linear-2025 */
static ridge_status read_kimi(ridge__config *c, ridge_mixer *m)
{
    bool is_full_rank;
    RIDGE_TRY(read_delta(c, m));
    m->kind = RIDGE_MIXER_LIGHTNING;
    m->decay_rank = m->key_head_dim;
    RIDGE_TRY(ridge__config_flag(c, "linear_attn_config.use_full_rank_gate", false,
                                 &is_full_rank));
    m->gate_rank = is_full_rank ? 0 : m->key_head_dim;
    return RIDGE_OK;
}

/* Lightning attention: fixed decay by head, a gate as wide as the values.
 * @source minimax-01-2025 */
static ridge_status read_lightning(ridge__config *c, ridge_mixer *m)
{
    m->kind = RIDGE_MIXER_LIGHTNING;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_HEADS, &m->key_heads));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_HEAD_DIM, c->model->d_model / m->key_heads,
                                &m->key_head_dim));
    m->value_heads = m->key_heads;
    m->value_head_dim = m->key_head_dim;
    return RIDGE_OK;
}

static ridge_status read_linear(ridge__config *c, ridge_mixer *m)
{
    if (!ridge_json_is_absent(ridge__config_find(c, "linear_attn_config")))
        return read_kimi(c, m);
    if (!ridge_json_is_absent(ridge__config_find(c, "attn_type_list")))
        return read_lightning(c, m);
    return read_delta(c, m);
}

/* @source dao2024-mamba2 */
static ridge_status read_state_space(ridge__config *c, ridge_mixer *m)
{
    bool has_bias, has_mamba_bias;
    const bool has_conv_bias = ridge__arch_has(c, RIDGE__A_CONV_BIAS);
    m->kind = RIDGE_MIXER_SSM;
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_SSM_HEADS, &m->heads));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_SSM_HEAD_DIM, &m->head_dim));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_SSM_STATE, &m->state_size));
    RIDGE_TRY(ridge__config_get(c, RIDGE__F_SSM_GROUPS, 1, &m->state_groups));
    RIDGE_TRY(ridge__config_need(c, RIDGE__F_CONV_KERNEL, &m->conv_kernel));
    RIDGE_TRY(
        ridge__config_flag(c, "mamba_conv_bias", has_conv_bias, &m->has_conv_bias));
    RIDGE_TRY(
        ridge__config_flag(c, "use_conv_bias", m->has_conv_bias, &m->has_conv_bias));
    RIDGE_TRY(ridge__config_flag(c, "use_bias", false, &has_bias));
    RIDGE_TRY(ridge__config_flag(c, "mamba_proj_bias", false, &has_mamba_bias));
    m->has_proj_bias = has_bias || has_mamba_bias;
    if (ridge__arch_has(c, RIDGE__A_GROUP_NORM) && m->state_groups > 1)
        m->norm_groups = m->state_groups;
    m->v_head_dim = m->head_dim;
    m->kv_heads = m->heads;
    return RIDGE_OK;
}

static ridge_status read_convolution(ridge__config *c, ridge_mixer *m)
{
    enum { LFM2_KERNEL = 3 };
    m->kind = RIDGE_MIXER_CONV;
    RIDGE_TRY(
        ridge__config_assume(c, RIDGE__F_CONV_KERNEL, LFM2_KERNEL, &m->conv_kernel));
    RIDGE_TRY(ridge__config_flag(c, "conv_bias", false, &m->has_conv_bias));
    m->has_proj_bias = m->has_conv_bias;
    return RIDGE_OK;
}

ridge_status ridge__config_recurrent(ridge__config *c, const ridge__choice *choice,
                                     ridge_mixer *out)
{
    if (choice->mix == RIDGE__MIX_LINEAR)
        return read_linear(c, out);
    return choice->mix == RIDGE__MIX_SSM ? read_state_space(c, out)
                                         : read_convolution(c, out);
}
