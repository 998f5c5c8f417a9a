/*
 * FLOPs of mixing tokens: QK and AV of attention, the indexer of sparse attention, and
 * the chunked scans of linear attention and state space layers.
 */
#include "scores.h"

bool ridge__mixer_has_scores(const ridge_mixer *mixer)
{
    return mixer->kind == RIDGE_MIXER_ATTENTION || mixer->kind == RIDGE_MIXER_MLA;
}

/* Tokens seen by one query on average. With the causal half, position t sees min(t, W)
 * tokens; over t = 0..T that is W - W^2/2T, and T/2 without a window. A chunk starts
 * anew every W tokens: W/2. */
static double mean_context_tokens(double reach, double seq_tokens, bool is_half,
                                  bool is_chunked)
{
    double seen = reach > 0 && reach < seq_tokens ? reach : seq_tokens;
    if (!is_half)
        return seen;
    return is_chunked ? seen / 2 : seen - seen * seen / (2 * seq_tokens);
}

/* Compressed caches: the window's own tokens, and beyond it one entry per ratio tokens,
 * of which a sparse indexer chooses at most topk. */
static double compressed_context_tokens(const ridge_mixer *m, double seq_tokens,
                                        bool is_half)
{
    double entries = seq_tokens / (double)m->compress_ratio;
    double far = mean_context_tokens((double)m->index_topk, entries, is_half, false);
    double near = m->window > 0 ? mean_context_tokens((double)m->window, seq_tokens,
                                                      is_half, false)
                                : 0;
    return near + far;
}

double ridge_mixer_context_tokens(const ridge_mixer *mixer, double seq_tokens,
                                  bool is_causal_half)
{
    if (!ridge__mixer_has_scores(mixer) || mixer->is_cross)
        return 0;
    bool is_half = is_causal_half && mixer->is_causal;
    if (mixer->compress_ratio > 0)
        return compressed_context_tokens(mixer, seq_tokens, is_half);
    int64_t reach = mixer->window;
    if (mixer->index_topk > 0 && (reach == 0 || mixer->index_topk < reach))
        reach = mixer->index_topk;
    return mean_context_tokens((double)reach, seq_tokens, is_half,
                               mixer->is_window_chunked);
}

/* FLOPs of one query against one key and value, all heads: 2 N (H + Hv). */
static double pair_flops(const ridge_mixer *m)
{
    int64_t v_head_dim = m->v_head_dim > 0 ? m->v_head_dim : m->head_dim;
    return 2.0 * (double)m->heads * (double)(m->head_dim + v_head_dim);
}

static double attention_flops(const ridge_mixer *m, double seq_tokens, bool is_half)
{
    double flops = pair_flops(m) * ridge_mixer_context_tokens(m, seq_tokens, is_half);
    /* The indexer of sparse attention scores every earlier token, or compressed entry.
     */
    double entries =
        seq_tokens / (double)(m->compress_ratio > 0 ? m->compress_ratio : 1);
    double indexed = mean_context_tokens(0, entries, is_half && m->is_causal, false);
    flops += 2.0 * (double)m->index_heads * (double)m->index_head_dim * indexed;
    return flops;
}

/* Linear attention in chunks of C: the state of Hk x Hv is written and read once a
 * token, and within the chunk each token meets the C (half of them: causal) others.
 * Delta rule: one more read of the state (the value to be replaced), and the products
 * K K^T and T K, T V of the WY form. */
static double linear_flops(const ridge_mixer *m, double seq_tokens, bool is_half)
{
    bool is_delta = m->kind == RIDGE_MIXER_DELTA;
    double chunk = is_delta ? RIDGE__DELTA_CHUNK : RIDGE__LIGHTNING_CHUNK;
    double met =
        mean_context_tokens(0, chunk < seq_tokens ? chunk : seq_tokens, is_half, false);
    double heads = (double)m->value_heads;
    double k = (double)m->key_head_dim, v = (double)m->value_head_dim;
    double state = (is_delta ? 6 : 4) * k * v;
    double inside = is_delta ? 6 * k + 4 * v : 2 * k + 2 * v;
    return heads * (state + inside * met);
}

/* Mamba-2 as structured state space duality: per head of P channels, the state of N x P
 * is written and read; within a chunk C B^T once a group and its product with X. */
static double ssm_flops(const ridge_mixer *m, double seq_tokens, bool is_half)
{
    double chunk = RIDGE__SSM_CHUNK;
    double met =
        mean_context_tokens(0, chunk < seq_tokens ? chunk : seq_tokens, is_half, false);
    double heads = (double)m->heads, p = (double)m->head_dim;
    double n = (double)m->state_size;
    return 4 * heads * p * n + met * (2 * n * (double)m->state_groups + 2 * p * heads);
}

double ridge_layer_scores_flops(const ridge_layer *layer, double seq_tokens,
                                bool is_causal_half)
{
    const ridge_mixer *m = &layer->mixer;
    double flops = 0;
    switch (m->kind) {
    case RIDGE_MIXER_ATTENTION:
    case RIDGE_MIXER_MLA:
        flops = attention_flops(m, seq_tokens, is_causal_half);
        break;
    case RIDGE_MIXER_DELTA:
    case RIDGE_MIXER_LIGHTNING:
        flops = linear_flops(m, seq_tokens, is_causal_half);
        break;
    case RIDGE_MIXER_SSM:
        flops = ssm_flops(m, seq_tokens, is_causal_half);
        break;
    case RIDGE_MIXER_CONV:
    case RIDGE_MIXER_NONE:
        break;
    }
    if (layer->has_cross)
        flops += pair_flops(m) * seq_tokens;
    return flops;
}

double ridge__layer_square_flops(const ridge_layer *layer, double seq_tokens)
{
    if (!ridge__mixer_has_scores(&layer->mixer) || layer->mixer.is_cross)
        return 0;
    double flops = pair_flops(&layer->mixer) * seq_tokens;
    return layer->has_cross ? 2 * flops : flops;
}
