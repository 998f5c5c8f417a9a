/*
 * Memory of a chip under an engine: weights, the largest iteration's activations, what
 * the engine keeps, and the blocks that the rest makes, counted as the engine counts
 * them. The fullest stage decides.
 */
#include "serving_weights.h"

#include <math.h>

/* ---- activations ----------------------------------------------------------------- */

/* Widest moment of a row in one layer, on a chip: the stream and its sum, and what a
 * product makes beside what it reads. */
static double row_bytes(const serving_bench *b, const ridge_layer *layer)
{
    const double tp = (double)b->layout->tp;
    const double d = (double)b->desk->model->d_model;
    const ridge_mixer *m = &layer->mixer;
    const ridge_ffn *f = &layer->ffn;
    const double gates = f->is_gated ? 2 : 1;
    const double qkv = ((double)(m->heads * m->head_dim) * 2 +
                        2 * (double)(m->kv_heads * m->head_dim)) /
                       tp;
    const double dense = (gates + 1) * (double)(f->d_ff + f->shared_d_ff) / tp;
    const double k = (double)f->experts_per_token;
    const double routed = k *
                          ((gates + 1) * (double)f->expert_d_ff / b->expert_width + d) /
                          fmax(1, (double)b->layout->ep / b->ranks);
    return (2 * d + fmax(qkv, fmax(dense, routed))) *
           ridge_dtype_bytes(b->layout->formats.activation);
}

/* Bytes of a logit while a full batch samples: gathered in 16 bits, in 32, and its
 * probability; engines that measure their peak do so with a nucleus, which sorts: values,
 * 64-bit places, cumulated probabilities, a mask. @source vllm-source-2025 */
enum { LOGIT_BYTES = 2 + 4 + 4, SORTED_BYTES = LOGIT_BYTES + 4 + 8 + 4 + 1 };

static double logits_bytes(const serving_bench *b)
{
    const bool is_profiled = b->desk->about.engine->memory == RIDGE_MEMORY_ALL;
    const double rows = fmin((double)b->layout->budget_tokens,
                             (double)b->layout->sequences / b->ranks * b->verified);
    return rows * (double)b->desk->model->vocab *
           (is_profiled ? (double)SORTED_BYTES : (double)LOGIT_BYTES);
}

static double activation_bytes(const serving_bench *b, const serving_stage *stage)
{
    double widest = 0;
    for (int k = 0; k < b->desk->model->n_layers; k++) {
        if (stage->layers[k] > 0)
            widest = fmax(widest, row_bytes(b, &b->desk->model->layers[k]));
    }
    double rows = (double)b->layout->budget_tokens;
    if (b->layout->is_weight_gathered)
        rows /= (double)b->layout->tp;
    /* the head comes when layers are done */
    return fmax(rows * widest, stage->is_last ? logits_bytes(b) : 0);
}

/* ---- what the engine leaves ------------------------------------------------------ */

static double draft_bytes(const serving_bench *b)
{
    const ridge_draft *d = &b->layout->draft;
    const double tp = (double)b->layout->tp;
    if (d->kind == RIDGE_DRAFT_MODEL)
        return ridge_model_weight_bytes(d->model) / tp;
    if (d->kind == RIDGE_DRAFT_NONE || d->kind == RIDGE_DRAFT_MTP ||
        d->kind == RIDGE_DRAFT_NGRAM)
        return 0;
    return serving_draft_params(b->desk->model, d) * 2 / tp;
}

/* What programs can have of HBM. */
static double hbm_of(const serving_bench *b)
{
    const ridge_chip *chip = b->desk->chip;
    return chip->visible_bytes > 0 ? chip->visible_bytes : chip->hbm_bytes;
}

/* Bytes for pages, as the engine's own share is meant. */
static double cache_room(const serving_bench *b, const ridge_serving_memory *m)
{
    const ridge_engine *e = b->desk->about.engine;
    const double hbm = hbm_of(b);
    const double held = m->weights + m->draft + m->reserve;
    switch (e->memory) {
    case RIDGE_MEMORY_ALL:
        return e->memory_share * hbm - held - m->activations;
    case RIDGE_MEMORY_STATIC:
        return fmin(e->memory_share * hbm - held, hbm - held - m->activations);
    case RIDGE_MEMORY_FREE:
        return e->memory_share * (hbm - held - m->activations);
    }
    return 0;
}

static double total_room(const serving_bench *b)
{
    const ridge_engine *e = b->desk->about.engine;
    return (e->memory == RIDGE_MEMORY_ALL ? e->memory_share : 1) * hbm_of(b);
}

static void add_kept(const serving_bench *b, const serving_stage *stage,
                     ridge_serving_memory *m)
{
    for (int k = 0; k < b->desk->model->n_layers; k++) {
        if (stage->layers[k] <= 0)
            continue;
        const serving_kept kept = serving_layer_kept(b, k);
        m->cache_bytes_per_token += stage->layers[k] * kept.token_bytes;
        m->state_bytes += stage->layers[k] * kept.state_bytes;
    }
}

static ridge_serving_memory stage_memory(const serving_bench *b, int64_t s)
{
    const serving_stage stage = serving_stage_of(b->desk->model, b->layout->pp, s);
    const ridge_engine *e = b->desk->about.engine;
    ridge_serving_memory m = {.weights = serving_stage_bytes(b, &stage),
                              .activations = activation_bytes(b, &stage),
                              .reserve = e->reserve_bytes,
                              .draft = draft_bytes(b),
                              .total = total_room(b),
                              .block_tokens = e->block_tokens};
    add_kept(b, &stage, &m);
    m.cache = cache_room(b, &m);
    const double states = m.state_bytes * (double)b->layout->sequences / b->ranks;
    const double block = m.cache_bytes_per_token * (double)m.block_tokens;
    const double left = m.cache - states;
    if (left > 0)
        m.blocks = block > 0 ? (int64_t)floor(left / block) : INT64_MAX;
    m.cache = fmax(0, m.cache);
    const double longest = ceil(b->desk->about.longest_tokens / (double)m.block_tokens);
    m.fits = left > 0 && (double)m.blocks >= longest;
    return m;
}

ridge_status ridge_serving_memory_find(ridge_serving_desk *desk,
                                       const ridge_serving_layout *layout,
                                       ridge_serving_memory *out)
{
    serving_bench b;
    RIDGE_TRY(serving_bench_open(desk, layout, &b));
    ridge_serving_memory fullest = {0};
    for (int64_t s = 0; s < layout->pp; s++) {
        const ridge_serving_memory m = stage_memory(&b, s);
        if (s == 0 || m.blocks < fullest.blocks)
            fullest = m;
    }
    *out = fullest;
    return RIDGE_OK;
}
