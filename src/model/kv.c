/*
 * What generation keeps of earlier tokens: keys and values, MLA latents, and the states
 * of layers whose memory does not grow.
 */
#include "ridge/model.h"

/* Engines hold scan states in float32 whatever the cache's format. */
enum { STATE_BYTES = 4 };

/* A product of dims, in floating point: no overflow to check. */
static double times(int64_t a, int64_t b)
{
    return (double)a * (double)b;
}

/* Elements that one token adds in one layer. The latent of MLA is stored once, with its
 * rotary part, and is not split by heads. Cross-attention holds the source's keys, not
 * one more each token: left out. */
static double token_elements(const ridge_mixer *m)
{
    int64_t v_head_dim = m->v_head_dim > 0 ? m->v_head_dim : m->head_dim;
    int64_t index = m->index_heads > 0 ? m->index_head_dim : 0;
    if (m->is_cross || m->has_shared_kv)
        return 0;
    if (m->kind == RIDGE_MIXER_MLA)
        return (double)(m->kv_lora_rank + m->rope_head_dim + index);
    if (m->kind == RIDGE_MIXER_ATTENTION)
        return times(m->kv_heads, m->head_dim + v_head_dim) + (double)index;
    return 0;
}

/* Bytes of one layer's state: the scan's matrix and the convolution's last inputs. */
static double state_bytes(const ridge_model *model, const ridge_mixer *m,
                          double element_bytes)
{
    double taps = m->conv_kernel > 1 ? (double)(m->conv_kernel - 1) : 0;
    double k_width = times(m->key_heads, m->key_head_dim);
    double v_width = times(m->value_heads, m->value_head_dim);
    double inner = times(m->heads, m->head_dim);
    switch (m->kind) {
    case RIDGE_MIXER_NONE:
    case RIDGE_MIXER_ATTENTION:
    case RIDGE_MIXER_MLA:
        return 0;
    case RIDGE_MIXER_DELTA:
    case RIDGE_MIXER_LIGHTNING:
        return v_width * (double)m->key_head_dim * STATE_BYTES +
               taps * (2 * k_width + v_width) * element_bytes;
    case RIDGE_MIXER_SSM:
        return inner * (double)m->state_size * STATE_BYTES +
               taps * (inner + 2 * times(m->state_groups, m->state_size)) *
                   element_bytes;
    case RIDGE_MIXER_CONV:
        return taps * (double)model->d_model * element_bytes;
    }
    return 0;
}

/* Entries that a layer holds of a context: all of it, its window, or the window and the
 * compressed rest. */
static double held_tokens(const ridge_mixer *m, double tokens)
{
    double window = (double)m->window;
    double near = window > 0 && window < tokens ? window : tokens;
    if (m->compress_ratio > 0)
        return near + (tokens - near) / (double)m->compress_ratio;
    return near;
}

ridge_kv ridge_model_kv(const ridge_model *model, ridge_dtype dtype)
{
    ridge_kv kv = {0};
    double element_bytes = ridge_dtype_bytes(dtype);
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        const ridge_mixer *m = &layer->mixer;
        if (layer->is_encoder)
            continue;
        double count = (double)layer->count;
        double bytes = count * token_elements(m) * element_bytes;
        kv.bytes_per_token += bytes;
        if (m->compress_ratio > 0) {
            kv.bytes_per_token_long += bytes / (double)m->compress_ratio;
        } else if (m->window == 0) {
            kv.bytes_per_token_long += bytes;
        }
        kv.state_bytes_per_sequence += count * state_bytes(model, m, element_bytes);
    }
    return kv;
}

double ridge_model_kv_bytes(const ridge_model *model, ridge_dtype dtype, double tokens,
                            bool is_unified)
{
    double element_bytes = ridge_dtype_bytes(dtype);
    double bytes = ridge_model_kv(model, dtype).state_bytes_per_sequence;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        const ridge_mixer *m = &layer->mixer;
        if (layer->is_encoder)
            continue;
        double held = is_unified ? tokens : held_tokens(m, tokens);
        bytes += (double)layer->count * token_elements(m) * element_bytes * held;
    }
    return bytes;
}
