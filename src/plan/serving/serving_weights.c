/*
 * Weights and caches on one chip, exactly: each matrix by how tp, ep and what is left
 * of them cut it, in its own format; each kind of layer by what it keeps of a token.
 */
#include "serving_weights.h"

#include <math.h>
#include <string.h>

/* Where stage s begins. */
static int64_t stage_begins(const serving_bench *b, int64_t s)
{
    const int64_t pp = b->layout->pp, layers = b->desk->model->layer_count;
    if (!b->desk->about.engine->splits_layers)
        return layers * s / pp;
    const int64_t at = ridge_ceil_div((layers + 1) * s, pp);
    return at < layers ? at : layers;
}

serving_stage serving_stage_of(const serving_bench *b, int64_t s)
{
    const ridge_model *model = b->desk->model;
    serving_stage stage = {.is_first = s == 0, .is_last = s == b->layout->pp - 1};
    const int64_t first = stage_begins(b, s);
    const int64_t end = stage_begins(b, s + 1);
    int64_t at = 0;
    for (int r = 0; r < model->n_runs; r++) {
        const int64_t count = model->runs[r].count;
        const int64_t low = at > first ? at : first;
        const int64_t high = at + count < end ? at + count : end;
        if (high > low)
            stage.layers[model->runs[r].layer] += (double)(high - low);
        at += count;
    }
    return stage;
}

/* ---- weights --------------------------------------------------------------------- */

static int format_of(const ridge_weight *w)
{
    switch (w->part) {
    case RIDGE_PART_ATTENTION:
        return RIDGE_QUANT_ATTENTION;
    case RIDGE_PART_MLP:
        return strncmp(w->name, "shared", 6) == 0 ? RIDGE_QUANT_SHARED
                                                  : RIDGE_QUANT_DENSE;
    case RIDGE_PART_EXPERTS:
        return RIDGE_QUANT_EXPERTS;
    case RIDGE_PART_ROUTER:
    case RIDGE_PART_NORM:
        break;
    }
    return SERVING_FORMAT_REST;
}

static double kv_ways(const serving_bench *b, const ridge_layer *layer)
{
    const double tp = (double)b->layout->tp;
    const ridge_mixer *m = &layer->mixer;
    int64_t heads = m->kv_heads;
    if (m->kind == RIDGE_MIXER_DELTA || m->kind == RIDGE_MIXER_LIGHTNING)
        heads = m->key_heads;
    else if (m->kind == RIDGE_MIXER_SSM)
        heads = m->state_groups;
    return heads > 0 ? fmin(tp, (double)heads) : tp;
}

/* Copies are as large as what they copy. */
static double experts_ways(const serving_bench *b, const ridge_ffn *ffn)
{
    const double experts = (double)ffn->experts;
    return (double)b->layout->ep * b->expert_width * experts /
           (experts + (double)b->layout->redundant_experts);
}

static double ways_of(const serving_bench *b, const ridge_layer *layer,
                      const ridge_weight *w)
{
    if (w->part == RIDGE_PART_EXPERTS)
        return experts_ways(b, &layer->ffn);
    switch (w->split) {
    case RIDGE_SPLIT_NONE:
        return 1;
    case RIDGE_SPLIT_KV:
        return kv_ways(b, layer);
    case RIDGE_SPLIT_HEADS:
    case RIDGE_SPLIT_OUT:
    case RIDGE_SPLIT_IN:
        break;
    }
    return (double)b->layout->tp;
}

static double format_bytes(const serving_format *f)
{
    return ridge_dtype_bytes(f->weight) + f->scale_bytes;
}

/* Narrow key and value maps of a latent are kept a second time, in the 16 bits in which
 * decode absorbs them. @source vllm-source-2025 */
static double absorbed_bytes(const serving_bench *b, const ridge_mixer *m)
{
    const double stored = format_bytes(&b->formats.of[RIDGE_QUANT_ATTENTION]);
    if (m->kind != RIDGE_MIXER_MLA || m->is_latent_only || stored >= 2)
        return 0;
    const double dims = (double)(m->head_dim - m->rope_head_dim + m->v_head_dim);
    return 2 * (double)m->heads * dims * (double)m->kv_lora_rank /
           (double)b->layout->tp;
}

double serving_layer_bytes(const serving_bench *b, int kind)
{
    const ridge_serving_desk *desk = b->desk;
    const ridge_layer *layer = &desk->model->layers[kind];
    const double rest = format_bytes(&b->formats.of[SERVING_FORMAT_REST]);
    double bytes = absorbed_bytes(b, &layer->mixer);
    for (int i = 0; i < desk->n_weights[kind]; i++) {
        const ridge_weight *w = &desk->weights[kind][i];
        const double matrix = (double)w->in * (double)w->out * (double)w->copies;
        const double ways = ways_of(b, layer, w);
        bytes += matrix / ways * format_bytes(&b->formats.of[format_of(w)]);
        bytes += (double)w->vector_params / ways * rest;
    }
    return layer->weight_sets > 0 && layer->weight_sets < layer->count
               ? bytes * (double)layer->weight_sets / (double)layer->count
               : bytes;
}

double serving_stage_bytes(const serving_bench *b, const serving_stage *stage)
{
    const ridge_model *m = b->desk->model;
    const double tp = (double)b->layout->tp;
    const double rest = format_bytes(&b->formats.of[SERVING_FORMAT_REST]);
    const double head = format_bytes(&b->formats.of[RIDGE_QUANT_HEAD]);
    double bytes = 0;
    for (int k = 0; k < m->n_layers; k++) {
        if (stage->layers[k] > 0)
            bytes += stage->layers[k] * serving_layer_bytes(b, k);
    }
    const bool has_embedding =
        stage->is_first && !b->desk->about.engine->hosts_embedding;
    if (has_embedding)
        bytes += (double)m->embedding_params / tp * rest;
    if (stage->is_first)
        bytes += (double)m->vision_params / tp * rest;
    if (stage->is_last) {
        const bool has_copy = m->is_tied && !has_embedding;
        bytes += (double)(has_copy ? m->embedding_params : m->unembedding_params) / tp *
                     head +
                 (double)(m->final_norm_params + m->head_params) * rest;
        if (b->layout->draft.kind == RIDGE_DRAFT_MTP)
            bytes += (double)m->mtp_params / (tp * b->ranks) *
                     format_bytes(&b->formats.of[RIDGE_QUANT_EXPERTS]);
    }
    return bytes;
}

/* ---- caches ---------------------------------------------------------------------- */

/* Bytes of an indexer's key: 8 bits, and a scale for each 128. Of latents beside it in
 * 8 bits: four scales, and the rotary part in 16 bits. @source vllm-source-2025 */
static double index_key_bytes(const ridge_mixer *m)
{
    const double dims = (double)m->index_head_dim;
    return m->index_heads > 0 ? dims + 4 * ceil(dims / 128) : 0;
}

static double latent_bytes(const serving_bench *b, const ridge_mixer *m)
{
    const double element = ridge_dtype_bytes(b->layout->formats.cache);
    const double rank = (double)m->kv_lora_rank, rope = (double)m->rope_head_dim;
    if (m->index_heads > 0 && element <= 1)
        return rank + 4 * ceil(rank / 128) + 2 * rope;
    return (rank + rope) * element;
}

/* A KV head that tp does not cut is held by every rank that shares it, unless these
 * share its sequences or its tokens. */
static double heads_bytes(const serving_bench *b, const ridge_mixer *m)
{
    const double hv = (double)(m->v_head_dim > 0 ? m->v_head_dim : m->head_dim);
    const double heads = (double)m->kv_heads;
    return ceil(heads / fmin(heads, (double)b->layout->tp)) *
           ((double)m->head_dim + hv) * ridge_dtype_bytes(b->layout->formats.cache);
}

static double token_bytes(const serving_bench *b, const ridge_mixer *m)
{
    if (m->is_cross || m->has_shared_kv)
        return 0;
    double bytes = 0;
    if (m->kind == RIDGE_MIXER_MLA)
        bytes = latent_bytes(b, m) + index_key_bytes(m);
    else if (m->kind == RIDGE_MIXER_ATTENTION)
        bytes = heads_bytes(b, m) + index_key_bytes(m);
    /* gathered weights: each rank of tp has sequences of its own */
    const double ways = b->layout->is_weight_gathered ? (double)b->layout->tp
                                                      : b->batch_ways * b->token_ways;
    return bytes / ways;
}

/* States by heads, as tp cuts them. */
static double state_bytes(const serving_bench *b, const ridge_layer *layer)
{
    ridge_layer one = *layer;
    one.count = 1;
    ridge_model m = *b->desk->model;
    m.n_layers = 1;
    m.layers = &one;
    return ridge_model_kv(&m, b->layout->formats.cache).state_bytes_per_sequence /
           (double)b->layout->tp;
}

/* Keys and values of the source, made once for a sequence. */
static double source_bytes(const serving_bench *b, const ridge_layer *layer)
{
    const ridge_mixer *m = &layer->mixer;
    if (!m->is_cross && !layer->has_cross)
        return 0;
    const double tokens = serving_source_tokens(b);
    return tokens * heads_bytes(b, m);
}

serving_kept serving_layer_kept(const serving_bench *b, int kind)
{
    const ridge_layer *layer = &b->desk->model->layers[kind];
    if (layer->is_encoder)
        return (serving_kept){0};
    const ridge_mixer *m = &layer->mixer;
    const double token = token_bytes(b, m);
    double grow = m->window > 0 ? 0 : token;
    if (m->compress_ratio > 0)
        grow = token / (double)m->compress_ratio;
    return (serving_kept){
        .token_bytes = token,
        .grow_bytes = grow,
        .window = (double)m->window,
        .state_bytes = state_bytes(b, layer) + source_bytes(b, layer),
    };
}

double serving_token_bytes(const serving_bench *b)
{
    double bytes = 0;
    for (int k = 0; k < b->desk->model->n_layers; k++) {
        const ridge_layer *layer = &b->desk->model->layers[k];
        const ridge_mixer *m = &layer->mixer;
        if (layer->is_encoder || m->is_cross || m->has_shared_kv)
            continue;
        const double hv = (double)(m->v_head_dim > 0 ? m->v_head_dim : m->head_dim);
        if (m->kind == RIDGE_MIXER_MLA)
            bytes += (double)layer->count * (latent_bytes(b, m) + index_key_bytes(m));
        else if (m->kind == RIDGE_MIXER_ATTENTION)
            bytes += (double)layer->count *
                     ((double)m->kv_heads * ((double)m->head_dim + hv) *
                          ridge_dtype_bytes(b->layout->formats.cache) +
                      index_key_bytes(m));
    }
    return bytes;
}

double serving_kept_bytes(const serving_bench *b)
{
    double bytes = 0;
    for (int k = 0; k < b->desk->model->n_layers; k++)
        bytes += (double)b->desk->model->layers[k].count *
                 serving_layer_kept(b, k).token_bytes;
    return bytes;
}
