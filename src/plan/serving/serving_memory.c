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
 * probability; engines that measure their peak do so with a nucleus, which sorts:
 * values, 64-bit places, cumulated probabilities, a mask. @source vllm-source-2025 */
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
    const double most = (double)b->layout->sequences / b->ranks *
                        b->desk->about.longest_tokens; /* all that may come at once */
    const double rows = fmin((double)b->layout->budget_tokens, most) / b->row_ways;
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
    return ridge_chip_memory_bytes(b->desk->chip);
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

/* ---- pages ----------------------------------------------------------------------- */

/* What a stage's layers keep of one sequence. */
typedef struct stage_kept {
    double token_bytes; /* all layers keep it */
    double grow_bytes;  /* of a token that windows have left */
    double fixed_bytes; /* of windows that are full, and states */
    double state_bytes;
} stage_kept;

/* What drafting keeps of a token: the keys of a smaller model's layers, or of one more
 * like the last. It lies where the head is. */
static double draft_token_bytes(const serving_bench *b)
{
    const ridge_model *model = b->desk->model;
    const ridge_draft *d = &b->layout->draft;
    if (d->kind == RIDGE_DRAFT_EAGLE || d->kind == RIDGE_DRAFT_MTP)
        return serving_layer_kept(b, model->runs[model->n_runs - 1].layer).token_bytes;
    if (d->kind != RIDGE_DRAFT_MODEL)
        return 0;
    const int64_t heads = serving_kv_heads(d->model);
    const double ways =
        fmin((double)b->layout->tp, heads > 0 ? (double)heads : (double)b->layout->tp);
    return ridge_model_kv(d->model, b->layout->formats.cache).bytes_per_token / ways;
}

/* Engines whose cache is shorter for windows that slide alone keep all of a chunk's. */
static serving_kept layer_kept(const serving_bench *b, int k)
{
    serving_kept kept = serving_layer_kept(b, k);
    if (b->desk->about.engine->keeps_chunks &&
        b->desk->model->layers[k].mixer.is_window_chunked)
        kept.grow_bytes = kept.token_bytes;
    return kept;
}

static stage_kept kept_of(const serving_bench *b, const serving_stage *stage)
{
    const double longest = b->desk->about.longest_tokens;
    stage_kept all = {0};
    for (int k = 0; k < b->desk->model->n_layers; k++) {
        const double layers = stage->layers[k];
        if (layers <= 0)
            continue;
        const serving_kept kept = layer_kept(b, k);
        const double window = fmin(longest, kept.window);
        all.token_bytes += layers * kept.token_bytes;
        all.grow_bytes += layers * kept.grow_bytes;
        all.state_bytes += layers * kept.state_bytes;
        all.fixed_bytes +=
            layers * (kept.state_bytes + window * (kept.token_bytes - kept.grow_bytes));
    }
    if (stage->is_last) {
        const double drafted = draft_token_bytes(b);
        all.token_bytes += drafted;
        all.grow_bytes += drafted;
    }
    return all;
}

static int64_t whole(double x)
{
    return x < 9e15 ? (int64_t)floor(fmax(0, x)) : (int64_t)9e15;
}

/* Those of every sequence that may run, and no less than the engine's own share. */
static double states_bytes(const serving_bench *b, const stage_kept *kept, double cache)
{
    const double ratio = b->desk->about.engine->state_ratio;
    const double own = kept->state_bytes > 0 ? cache * ratio / (1 + ratio) : 0;
    return fmax(own, kept->state_bytes * (double)b->layout->sequences / b->ranks);
}

/* All layers alike: a page holds block_tokens tokens of each. States are set aside. */
static void unified_pages(const serving_bench *b, const stage_kept *kept,
                          bool is_bounded, ridge_serving_memory *m)
{
    const double states = is_bounded ? 0 : states_bytes(b, kept, m->cache);
    const double block = kept->token_bytes * (double)m->block_tokens;
    m->blocks = block > 0 ? whole((m->cache - states) / block) : 0;
    m->page_bytes = block;
    m->page_tokens = m->block_tokens;
    m->pages = m->blocks;
    m->sequence_pages = 0;
}

/* Pages of the layers that keep everything; where there are none a sequence is a page.
 */
static void hybrid_pages(const serving_bench *b, const stage_kept *kept,
                         ridge_serving_memory *m)
{
    if (kept->grow_bytes > 0) {
        m->page_bytes = kept->grow_bytes * (double)m->block_tokens;
        m->sequence_pages = (int64_t)ceil(kept->fixed_bytes / m->page_bytes);
    } else {
        m->page_tokens = (int64_t)ceil(b->desk->about.longest_tokens);
        m->page_bytes = kept->fixed_bytes;
    }
    m->pages = m->page_bytes > 0 ? whole(m->cache / m->page_bytes) : 0;
}

static void pages_find(const serving_bench *b, const serving_stage *stage,
                       ridge_serving_memory *m)
{
    const stage_kept kept = kept_of(b, stage);
    const bool is_bounded = kept.fixed_bytes > 0 &&
                            (b->desk->about.engine->is_hybrid || kept.token_bytes <= 0);
    m->cache_bytes_per_token = kept.token_bytes;
    m->state_bytes = kept.state_bytes;
    unified_pages(b, &kept, is_bounded, m);
    if (is_bounded)
        hybrid_pages(b, &kept, m);
    const double longest =
        ceil(b->desk->about.longest_tokens / (double)m->page_tokens) +
        (double)m->sequence_pages;
    m->longest_sequences = (double)m->pages / longest;
    m->fits = m->longest_sequences >= 1;
}

static double reserve_bytes(const serving_bench *b)
{
    const ridge_engine *e = b->desk->about.engine;
    const bool is_alone = ridge_serving_layout_chips(b->layout) == 1;
    return e->reserve_bytes + (is_alone ? 0 : e->group_bytes);
}

static ridge_serving_memory stage_memory(const serving_bench *b, int64_t s)
{
    const serving_stage stage = serving_stage_of(b, s);
    const ridge_engine *e = b->desk->about.engine;
    ridge_serving_memory m = {.weights = serving_stage_bytes(b, &stage),
                              .activations = activation_bytes(b, &stage),
                              .reserve = reserve_bytes(b),
                              .draft = draft_bytes(b),
                              .total = total_room(b),
                              .block_tokens = e->block_tokens};
    m.cache = fmax(0, cache_room(b, &m));
    pages_find(b, &stage, &m);
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
        if (s == 0 || m.longest_sequences < fullest.longest_sequences)
            fullest = m;
    }
    *out = fullest;
    return RIDGE_OK;
}
