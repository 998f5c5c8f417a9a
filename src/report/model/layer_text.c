/*
 * Kinds of layers in a few words.
 */
#include "model_section.h"

static void add_attention(const ridge_mixer *m, ridge_buf *b)
{
    ridge_buf_printf(b, " %lld heads, %lld KV, head %lld", (long long)m->heads,
                     (long long)m->kv_heads, (long long)m->head_dim);
    if (m->v_head_dim != m->head_dim)
        ridge_buf_printf(b, " (values %lld)", (long long)m->v_head_dim);
}

static void add_mla(const ridge_mixer *m, ridge_buf *b)
{
    ridge_buf_printf(b, " %lld heads of %lld (rope %lld, values %lld), KV rank %lld",
                     (long long)m->heads, (long long)m->head_dim,
                     (long long)m->rope_head_dim, (long long)m->v_head_dim,
                     (long long)m->kv_lora_rank);
    if (m->q_lora_rank)
        ridge_buf_printf(b, ", query rank %lld", (long long)m->q_lora_rank);
}

static void add_linear(const ridge_mixer *m, ridge_buf *b)
{
    ridge_buf_printf(b, " %lld key heads of %lld, %lld value heads of %lld",
                     (long long)m->key_heads, (long long)m->key_head_dim,
                     (long long)m->value_heads, (long long)m->value_head_dim);
}

static void add_kind(const ridge_mixer *m, ridge_buf *b)
{
    switch (m->kind) {
    case RIDGE_MIXER_NONE:
        break;
    case RIDGE_MIXER_ATTENTION:
        add_attention(m, b);
        break;
    case RIDGE_MIXER_MLA:
        add_mla(m, b);
        break;
    case RIDGE_MIXER_DELTA:
    case RIDGE_MIXER_LIGHTNING:
        add_linear(m, b);
        break;
    case RIDGE_MIXER_SSM:
        ridge_buf_printf(b, " %lld heads of %lld, state %lld", (long long)m->heads,
                         (long long)m->head_dim, (long long)m->state_size);
        break;
    case RIDGE_MIXER_CONV:
        ridge_buf_printf(b, " kernel %lld", (long long)m->conv_kernel);
        break;
    }
}

const char *ridge__mixer_text(ridge_ctx *cx, const ridge_mixer *mixer)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    ridge_buf_puts(&b, ridge_mixer_kind_text(mixer->kind));
    add_kind(mixer, &b);
    if (mixer->window)
        ridge_buf_printf(&b, ", window %s", ridge_format_exact(mixer->window).s);
    if (mixer->index_topk) {
        ridge_buf_printf(&b, ", top %s tokens",
                         ridge_format_exact(mixer->index_topk).s);
    }
    if (mixer->is_cross)
        ridge_buf_puts(&b, ", cross");
    if (mixer->has_shared_kv)
        ridge_buf_puts(&b, ", KV of an earlier layer");
    return ridge_buf_text(&b);
}

const char *ridge__ffn_text(ridge_ctx *cx, const ridge_ffn *ffn)
{
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(cx));
    const char *gated = ffn->is_gated ? ", gated" : "";
    if (ffn->kind == RIDGE_FFN_NONE)
        return "none";
    if (ffn->kind == RIDGE_FFN_DENSE) {
        ridge_buf_printf(&b, "dense %s%s", ridge_format_exact(ffn->d_ff).s, gated);
        return ridge_buf_text(&b);
    }
    ridge_buf_printf(&b, "%s of %s experts of %s%s",
                     ridge_format_exact(ffn->experts_per_token).s,
                     ridge_format_exact(ffn->experts).s,
                     ridge_format_exact(ffn->expert_d_ff).s, gated);
    if (ffn->shared_experts)
        ridge_buf_printf(&b, ", %s shared", ridge_format_exact(ffn->shared_experts).s);
    if (ffn->d_ff)
        ridge_buf_printf(&b, ", dense %s", ridge_format_exact(ffn->d_ff).s);
    return ridge_buf_text(&b);
}
