/*
 * Drafting: what it takes beside the model's own pass. A smaller model runs as many
 * decode steps as there are positions; a layer behind the model's features (EAGLE, MTP)
 * as many passes of that layer and of the head; Medusa's heads one pass of all. The
 * engine's own work for it comes on top.
 * @source leviathan2023; medusa-2024; eagle-2024; deepseek-v3-2024 section 2.2
 */
#include "serving_bench.h"

#include <math.h>

/* The decoder layer that features are drafted by: the last kind's, with its dense
 * width. */
static const ridge_layer *last_layer(const ridge_model *model)
{
    return &model->layers[model->runs[model->n_runs - 1].layer];
}

/* A layer of EAGLE: a map of feature and token to D, attention, feed-forward. */
static double eagle_params(const ridge_model *model)
{
    const ridge_layer *layer = last_layer(model);
    const double d = (double)model->d_model;
    const double width =
        layer->ffn.d_ff > 0
            ? (double)layer->ffn.d_ff
            : (double)(layer->ffn.experts_per_token * layer->ffn.expert_d_ff +
                       layer->ffn.shared_d_ff);
    const double heads = (double)(layer->mixer.heads * layer->mixer.head_dim);
    const double kv = (double)(layer->mixer.kv_heads * layer->mixer.head_dim);
    return 2 * d * d + d * (2 * heads + 2 * kv) + 3 * d * width;
}

double serving_draft_params(const ridge_model *model, const ridge_draft *draft)
{
    const double d = (double)model->d_model;
    switch (draft->kind) {
    case RIDGE_DRAFT_NONE:
    case RIDGE_DRAFT_NGRAM:
    case RIDGE_DRAFT_MODEL:
        return 0;
    case RIDGE_DRAFT_MEDUSA: /* a residual map and an unembedding for each position */
        return (double)draft->depth * (d * d + d * (double)model->vocab);
    case RIDGE_DRAFT_EAGLE:
        return eagle_params(model);
    case RIDGE_DRAFT_MTP:
        return (double)model->mtp_params;
    }
    return 0;
}

/* One pass of a layer like the model's last, with its call of attention and its
 * exchanges: a share of what the model's rows and scores take. */
static double layer_pass_s(const serving_bench *b, double sequences, double context)
{
    const double rows = sequences * b->ranks;
    const double layers = (double)b->desk->model->layer_count;
    const serving_rows r = serving_rows_price(b, rows);
    const serving_mixer *m = &b->cut->mixers[b->cut->n_mixers - 1];
    const serving_scores scores = serving_decode_price(b, m, sequences, context);
    const double map = 2 * (double)b->desk->model->d_model *
                       (double)b->desk->model->d_model / (double)b->layout->tp *
                       ridge_dtype_bytes(RIDGE_DTYPE_BF16);
    return (r.dense_s + r.vector_s + r.experts_s + r.tp_s + r.ep_s) / layers +
           (scores.s + scores.exchange_s) / fmax(1, m->count) +
           ridge_stream_cost(b->desk->chip, 0, map).expected_s;
}

/* EAGLE's layer: its maps as wide as they are together, six more kernels, one call of
 * attention, two reductions. */
static double eagle_pass_s(const serving_bench *b, double sequences, double context)
{
    enum { MORE_KERNELS = 6, REDUCTIONS = 2 };
    const double d = (double)b->desk->model->d_model;
    const double tp = (double)b->layout->tp;
    const ridge_chip *chip = b->desk->chip;
    const serving_mixer *m = &b->cut->mixers[b->cut->n_mixers - 1];
    const serving_scores scores = serving_decode_price(b, m, sequences, context);
    const ridge_matmul maps = {.batch = 1,
                               .m = fmax(1, sequences),
                               .k = d,
                               .n = fmax(1, eagle_params(b->desk->model) / d / tp),
                               .activation = RIDGE_DTYPE_BF16,
                               .weight = RIDGE_DTYPE_BF16,
                               .output = RIDGE_DTYPE_BF16,
                               .compute = RIDGE_DTYPE_BF16};
    return ridge_matmul_cost(chip, &maps, RIDGE_MEMORY_HBM).expected_s +
           MORE_KERNELS * chip->achievable.launch_s +
           (scores.s + scores.exchange_s) / fmax(1, m->count) +
           REDUCTIONS * serving_exchange_s(b, RIDGE_COLLECTIVE_ALL_REDUCE,
                                           sequences * d * 2, &b->groups.tp);
}

/* Nodes of a level in the mean: from the second pass on so many rows of a sequence go
 * through what drafts, and share the sequence's cache. 1 of a chain. */
static double width_of(const ridge_draft *d)
{
    return fmax(1, (double)d->nodes / (double)d->depth);
}

static double pass_s(const serving_bench *b, double sequences, double context)
{
    return serving_head_price(b, sequences * b->ranks) +
           (b->layout->draft.kind == RIDGE_DRAFT_EAGLE
                ? eagle_pass_s(b, sequences, context)
                : layer_pass_s(b, sequences, context));
}

static double chained_s(const serving_bench *b, double sequences, double context)
{
    const ridge_draft *d = &b->layout->draft;
    const double width = width_of(d);
    const double first_s = pass_s(b, sequences, context);
    const double next_s =
        width > 1 ? pass_s(b, sequences * width, context / width) : first_s;
    return first_s + (double)(d->depth - 1) * next_s;
}

/* All positions at once: products as wide as there are positions. */
static double medusa_s(const serving_bench *b, double sequences)
{
    const double d = (double)b->desk->model->d_model;
    const double tp = (double)b->layout->tp;
    const double depth = (double)b->layout->draft.depth;
    const ridge_matmul maps = {.batch = 1,
                               .m = fmax(1, sequences),
                               .k = d,
                               .n = depth * d / tp,
                               .activation = RIDGE_DTYPE_BF16,
                               .weight = RIDGE_DTYPE_BF16,
                               .output = RIDGE_DTYPE_BF16,
                               .compute = RIDGE_DTYPE_BF16};
    return ridge_matmul_cost(b->desk->chip, &maps, RIDGE_MEMORY_HBM).expected_s +
           depth * serving_head_price(b, sequences * b->ranks);
}

/* ---- another model --------------------------------------------------------------- */

static ridge_status open_draft(const serving_bench *b)
{
    ridge_serving_desk *desk = b->desk;
    const ridge_model *model = b->layout->draft.model;
    if (desk->draft != NULL && desk->draft->model == model)
        return RIDGE_OK;
    ridge_serving_case about = desk->about;
    about.model = model;
    return ridge_serving_desk_open(desk->cx, &about, &desk->draft);
}

/* The draft runs on the same ranks, as far as its heads allow. */
static ridge_serving_layout draft_layout(const serving_bench *b)
{
    const ridge_model *model = b->layout->draft.model;
    ridge_serving_layout l = *b->layout;
    l.draft = (ridge_draft){.kind = RIDGE_DRAFT_NONE};
    l.kv_cut = RIDGE_KV_CUT_HEADS;
    l.is_weight_gathered = false;
    l.has_two_batches = false;
    l.pp = l.ep = l.attention_dp = 1;
    l.formats = ridge_serving_formats_of(model, b->desk->chip);
    while (l.tp > 1 && (b->layout->tp % l.tp != 0 ||
                        (ridge_model_tp(model, l.tp) != RIDGE_TP_OK &&
                         ridge_model_tp(model, l.tp) != RIDGE_TP_REPLICATES_KV)))
        l.tp--;
    return l;
}

static ridge_status model_s(const serving_bench *b, double sequences, double context,
                            double *out)
{
    RIDGE_TRY(open_draft(b));
    const ridge_serving_layout layout = draft_layout(b);
    const ridge_draft *d = &b->layout->draft;
    *out = 0;
    for (int pass = 0; pass < (width_of(d) > 1 && d->depth > 1 ? 2 : 1); pass++) {
        const double width = pass == 0 ? 1 : width_of(d);
        const ridge_serving_load load = {.decode_sequences = sequences * width,
                                         .decode_context = context / width};
        ridge_serving_step step;
        RIDGE_TRY(ridge_serving_step_price(b->desk->draft, &layout, &load, &step));
        const double times =
            width_of(d) > 1 ? pass == 0 ? 1 : (double)(d->depth - 1) : (double)d->depth;
        *out += times * (step.expected_s - step.parts_s[RIDGE_SERVING_PART_HOST]);
    }
    return RIDGE_OK;
}

/* ---- the engine ------------------------------------------------------------------ */

/* Passes of what drafts: one of heads that draft all positions at once, none where
 * tokens are copied. */
static double passes_of(const ridge_draft *d)
{
    if (d->kind == RIDGE_DRAFT_NGRAM)
        return 0;
    return d->kind == RIDGE_DRAFT_MEDUSA ? 1 : (double)d->depth;
}

/* Its own work for it, which nothing hides: the host of an iteration that drafts,
 * passes that are launched one behind the other, tokens that are drafted and refused.
 * @source specdecode-bench-2026; sglang-spec-overlap-2025 */
double serving_draft_engine_s(const ridge_engine *e, const ridge_draft *d,
                              double sequences)
{
    const double nodes = d->nodes > d->depth ? (double)d->nodes : (double)d->depth;
    return e->draft_s + e->draft_pass_s * passes_of(d) +
           e->draft_token_s * nodes * sequences;
}

static ridge_status kernels_s(const serving_bench *b, double sequences, double context,
                              double *out)
{
    *out = 0;
    switch (b->layout->draft.kind) {
    case RIDGE_DRAFT_NONE:
    case RIDGE_DRAFT_NGRAM:
        return RIDGE_OK;
    case RIDGE_DRAFT_MODEL:
        return model_s(b, sequences, context, out);
    case RIDGE_DRAFT_MEDUSA:
        *out = medusa_s(b, sequences);
        return RIDGE_OK;
    case RIDGE_DRAFT_EAGLE:
    case RIDGE_DRAFT_MTP:
        *out = chained_s(b, sequences, context);
        return RIDGE_OK;
    }
    return RIDGE_OK;
}

ridge_status serving_draft_price(const serving_bench *b, double sequences,
                                 double context, double *out)
{
    const ridge_draft *d = &b->layout->draft;
    *out = 0;
    if (sequences <= 0 || b->cut->n_mixers == 0 || d->kind == RIDGE_DRAFT_NONE ||
        d->depth <= 0)
        return RIDGE_OK;
    RIDGE_TRY(kernels_s(b, sequences, context, out));
    *out += serving_draft_engine_s(b->desk->about.engine, d, sequences * b->ranks);
    return RIDGE_OK;
}
