/*
 * What layers pay for the tokens that a sequence has behind it: attention over a cache,
 * absorbed or expanded latents, sparse indexers, states of scans. Decoding sequences
 * are one call of a layer; each chunk of a prompt adds its own work to another.
 */
#include "serving_bench.h"

#include <math.h>

/* ---- what is met ----------------------------------------------------------------- */

double serving_met_tokens(const ridge_mixer *m, double context)
{
    const double window = (double)m->window;
    const double topk = (double)m->index_topk;
    if (m->compress_ratio > 0) {
        const double near = fmin(context, window);
        const double far = (context - near) / (double)m->compress_ratio;
        return near + (topk > 0 ? fmin(topk, far) : far);
    }
    if (m->is_window_chunked && window > 0) /* anywhere in a chunk, in the mean */
        return context <= window ? context : (window + 1) / 2;
    if (window > 0)
        return fmin(context, window);
    return topk > 0 ? fmin(context, topk) : context;
}

static bool has_encoder(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].is_encoder)
            return true;
    }
    return false;
}

/* A text decoder's image may be absent; an encoder's output is not. */
double serving_source_tokens(const serving_bench *b)
{
    const ridge_serving_case *about = &b->desk->about;
    const ridge_model *model = b->desk->model;
    if (about->source_tokens > 0 || !has_encoder(model))
        return about->source_tokens;
    return model->max_positions > 0
               ? fmin(about->longest_tokens, (double)model->max_positions)
               : about->longest_tokens;
}

/* ---- attention ------------------------------------------------------------------- */

static ridge_attention formats_set(const serving_bench *b, const ridge_attention *of)
{
    ridge_attention a = *of;
    a.is_engine_call = true;
    a.activation = b->layout->formats.activation;
    a.cache = b->layout->formats.cache;
    a.compute = b->layout->formats.attention;
    return a;
}

/* A cut cache: heads that tp would copy keep to one rank's sequences or tokens, and all
 * query heads of the KV heads come to it. */
static void cut_set(const serving_bench *b, ridge_attention *a)
{
    const double ways = b->batch_ways * b->token_ways;
    a->heads *= ways;
    a->batch = fmax(1, a->batch / b->batch_ways);
    a->context_tokens = fmax(1, a->context_tokens / b->token_ways);
}

/* Queries in and outputs back over the ranks that share a cache: two all-to-alls, or
 * the queries gathered and partial softmaxes (outputs, maximum, sum in fp32) added up.
 * @source scaling-book-2025 chapter 7; pope2022 section 3.3 */
static double price_cut_exchange(const serving_bench *b, const ridge_attention *a,
                                 double rows)
{
    const ridge_group *group = &b->groups.shared;
    const double element = ridge_dtype_bytes(b->layout->formats.activation);
    const double heads = a->heads; /* of all ranks that share */
    if (b->batch_ways > 1)
        return serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_TO_ALL,
                                  rows * heads * a->head_dim * element, group) +
               serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_TO_ALL,
                                  rows * heads * a->v_head_dim * element, group);
    return serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_GATHER,
                              rows * heads * a->head_dim * element, group) +
           serving_exchange_s(b, RIDGE_COLLECTIVE_REDUCE_SCATTER,
                              rows * heads * (a->v_head_dim + 2) * 4, group);
}

static double cut_exchange_s(const serving_bench *b, const ridge_attention *a,
                             double rows)
{
    const ridge_serving_layout *l = b->layout;
    serving_memo *memo = &b->desk->memo;
    const serving_key key = {
        .of = {SERVING_KEY_SCORES + 1, l->tp << 32 | l->pp, l->attention_dp,
               (int64_t)l->placement << 8 | (int64_t)l->kv_cut,
               (int64_t)a->heads << 32 | (int64_t)a->head_dim,
               (int64_t)a->v_head_dim << 8 | (int64_t)l->formats.activation},
        .at = {rows}};
    if (b->batch_ways * b->token_ways <= 1)
        return 0;
    const serving_price *known = serving_memo_find(memo, &key);
    if (known != NULL)
        return known->of[0];
    const serving_price price = {{price_cut_exchange(b, a, rows)}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return price.of[0];
}

static double price_maps(const serving_bench *b, const ridge_matmul *maps, int n,
                         double rows)
{
    const serving_format *f = &b->formats.of[RIDGE_QUANT_ATTENTION];
    double s = 0;
    for (int i = 0; i < n; i++) {
        ridge_matmul p = maps[i];
        p.m = fmax(1, p.m * rows);
        p.activation = p.output = b->layout->formats.activation;
        if (p.batch <= 1) { /* absorbed maps are kept in 16 bits */
            p.weight = f->weight;
            p.compute = f->compute;
            p.scaling = f->scaling;
            p.scale_bytes = f->scale_bytes;
        }
        s += ridge_matmul_cost(b->desk->chip, &p, RIDGE_MEMORY_HBM).expected_s;
    }
    return s;
}

static double known_maps(const serving_bench *b, const ridge_matmul *maps, int n,
                         double rows)
{
    serving_memo *memo = &b->desk->maps;
    const serving_key key = {.of = {SERVING_KEY_SCORES, b->formats_key,
                                    (int64_t)maps[0].k << 32 | (int64_t)maps[0].n,
                                    (int64_t)maps[0].batch << 8 | n},
                             .at = {rows}};
    const serving_price *known = serving_memo_find(memo, &key);
    if (known != NULL)
        return known->of[0];
    const serving_price price = {{price_maps(b, maps, n, rows)}};
    serving_memo_put(ridge_ctx_arena(b->desk->cx), memo, &key, &price);
    return price.of[0];
}

/* Maps of long contexts are priced at whole tiles, and between them in a line. */
static double maps_s(const serving_bench *b, const ridge_matmul *maps, int n,
                     double rows)
{
    enum { LONG_ROWS = 2048, TILE_ROWS = 128 };
    if (n == 0 || rows <= 0)
        return 0;
    if (rows <= LONG_ROWS)
        return known_maps(b, maps, n, rows);
    const double low = floor(rows / TILE_ROWS) * TILE_ROWS;
    const double s = known_maps(b, maps, n, low);
    const double share = (rows - low) / TILE_ROWS;
    return share > 0 ? s + share * (known_maps(b, maps, n, low + TILE_ROWS) - s) : s;
}

/* The indexer scores every token of the context in 8 bits with heads of its own that
 * tp does not cut, then takes the largest: scores written and read twice.
 * @source deepseek-v32-2025 */
static double index_s(const serving_bench *b, const ridge_mixer *m, double batch,
                      double queries, double context)
{
    if (m->index_heads <= 0 || context <= (double)m->index_topk)
        return 0;
    const double keys =
        m->compress_ratio > 0 ? context / (double)m->compress_ratio : context;
    const ridge_attention scores = {.batch = batch,
                                    .query_tokens = queries,
                                    .context_tokens = fmax(1, keys),
                                    .heads = (double)m->index_heads,
                                    .kv_heads = 1,
                                    .head_dim = (double)m->index_head_dim,
                                    .is_causal = queries > 1,
                                    .activation = RIDGE_DTYPE_FP8,
                                    .cache = RIDGE_DTYPE_FP8,
                                    .compute = RIDGE_DTYPE_FP8};
    const ridge_chip *chip = b->desk->chip;
    const double chosen = batch * queries * keys * 4 * 3;
    return ridge_attention_cost(chip, &scores).expected_s +
           ridge_stream_cost(chip, 0, chosen).expected_s;
}

/* ---- states ---------------------------------------------------------------------- */

/* A state is read and written once an iteration for each sequence, or chunk; rows bring
 * their operands. @source dao2024-mamba2 */
static double state_s(const serving_bench *b, const serving_mixer *m, double sequences,
                      double rows)
{
    const double bytes = 2 * m->state_bytes * sequences + m->scan_bytes * rows;
    const ridge_chip *chip = b->desk->chip;
    return ridge_stream_cost(chip, 0, bytes).expected_s +
           (m->scan_calls > 1 ? chip->achievable.launch_s : 0);
}

/* Chunks of a prompt are products of the scan's own chunks. */
static double scan_s(const serving_bench *b, const serving_mixer *m, double tokens)
{
    const ridge_chip *chip = b->desk->chip;
    ridge_layer layer = *m->layer;
    layer.has_cross = false;
    const double flops =
        ridge_layer_scores_flops(&layer, tokens, true) * tokens * m->scan_share;
    const double share =
        chip->achievable.attention > 0 ? chip->achievable.attention : 1;
    const double products_s =
        flops / (ridge_chip_peak(chip, RIDGE_DTYPE_BF16, NULL) * share);
    return fmax(products_s, state_s(b, m, 1, tokens));
}

/* ---- decode ---------------------------------------------------------------------- */

/* Verified rows of a sequence lie beside its query heads: one read of the cache. */
static serving_scores decode_attention(const serving_bench *b, const serving_mixer *m,
                                       double sequences, double context)
{
    const double met =
        m->is_cross ? serving_source_tokens(b) : serving_met_tokens(m->mixer, context);
    ridge_attention a = formats_set(b, &m->decode);
    serving_scores out = {0};
    if (m->is_cross && met <= 0)
        return out;
    a.batch = sequences;
    a.context_tokens = fmax(1, met);
    cut_set(b, &a);
    out.exchange_s = cut_exchange_s(b, &a, sequences * b->verified);
    a.heads *= b->verified;
    out.s = ridge_attention_cost(b->desk->chip, &a).expected_s;
    if (!m->is_cross)
        out.s += index_s(b, m->mixer, sequences, b->verified, context);
    out.s += maps_s(b, m->absorb, m->n_absorb, sequences * b->verified);
    return out;
}

serving_scores serving_decode_price(const serving_bench *b, const serving_mixer *m,
                                    double sequences, double context)
{
    if (sequences <= 0)
        return (serving_scores){0};
    sequences = fmax(fmin(1, sequences), sequences / b->row_ways);
    serving_scores out =
        m->has_scores
            ? decode_attention(b, m, sequences, context)
            : (serving_scores){.s = state_s(b, m, sequences, sequences * b->verified)};
    out.s *= m->count;
    out.exchange_s *= m->count;
    return out;
}

/* ---- prefill --------------------------------------------------------------------- */

/* What an engine's call for prompts costs beside its work. */
static double call_s(const ridge_chip *chip)
{
    return chip->achievable.prefill_call_s > 0 ? chip->achievable.prefill_call_s
                                               : chip->achievable.launch_s;
}

static double beside_call_s(const serving_bench *b, const ridge_attention *a)
{
    const double s = ridge_attention_cost(b->desk->chip, a).expected_s;
    return fmax(0, s - call_s(b->desk->chip));
}

/* Latents of the whole context become keys and values of heads. */
static double expanded_s(const serving_bench *b, const serving_mixer *m,
                         const ridge_attention *a)
{
    return beside_call_s(b, a) + maps_s(b, m->expand, m->n_expand, a->context_tokens);
}

/* Attention to chosen latents, absorbed as in decode. */
static double chosen_s(const serving_bench *b, const serving_mixer *m, double tokens,
                       double context)
{
    ridge_attention a = formats_set(b, &m->decode);
    a.batch = 1;
    a.query_tokens = tokens;
    a.context_tokens = fmax(1, serving_met_tokens(m->mixer, context));
    return beside_call_s(b, &a) + index_s(b, m->mixer, 1, tokens, context) +
           maps_s(b, m->absorb, m->n_absorb, tokens);
}

static double chunk_attention_s(const serving_bench *b, const serving_mixer *m,
                                double tokens, double before)
{
    const ridge_mixer *mixer = m->mixer;
    const double context = before + tokens;
    ridge_attention a = formats_set(b, &m->prefill);
    a.batch = 1;
    a.query_tokens = tokens;
    a.context_tokens = m->is_cross ? serving_source_tokens(b) : context;
    a.is_causal = !m->is_cross && mixer->is_causal;
    if (!m->is_cross && mixer->window > 0 && context > (double)mixer->window)
        a.window = (double)mixer->window / (mixer->is_window_chunked ? 2 : 1);
    if (mixer->compress_ratio > 0) {
        a.window = 0;
        a.is_causal = false;
        a.context_tokens = fmax(1, serving_met_tokens(mixer, context / 2 + before / 2));
    }
    const double whole =
        (m->n_expand > 0 ? expanded_s(b, m, &a) : beside_call_s(b, &a)) +
        serving_stored_scores_s(b, &a);
    if (mixer->compress_ratio > 0)
        return whole + index_s(b, mixer, 1, tokens, context);
    if (mixer->index_topk > 0 && context > (double)mixer->index_topk)
        return mixer->kind == RIDGE_MIXER_MLA
                   ? fmin(whole, chosen_s(b, m, tokens, context))
                   : chosen_s(b, m, tokens, context);
    return whole;
}

serving_scores serving_chunk_price(const serving_bench *b, const serving_mixer *m,
                                   double tokens, double before)
{
    if (tokens <= 0 || (m->is_cross && serving_source_tokens(b) <= 0))
        return (serving_scores){0};
    serving_scores out = {0};
    if (m->has_scores) {
        out.s = chunk_attention_s(b, m, tokens, before);
    } else {
        out.s = fmax(0, scan_s(b, m, tokens) - b->desk->chip->achievable.launch_s);
    }
    out.s /= b->row_ways;
    out.s *= m->count;
    return out;
}

double serving_chunk_call_s(const serving_bench *b)
{
    double s = 0;
    for (int i = 0; i < b->cut->n_mixers; i++) {
        const serving_mixer *m = &b->cut->mixers[i];
        s += m->count * (m->has_scores ? call_s(b->desk->chip)
                                       : b->desk->chip->achievable.launch_s);
    }
    return s;
}
