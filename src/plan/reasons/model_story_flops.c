/* Derivations of FLOPs: two for each weight that a token meets, and the scores. */
#include "model_story.h"

#define EXACT(x) ridge_format_exact(x).s
#define FLOPS(x) ridge_format_si(x, "FLOP").s

enum { LINES_MOST = 80 };

/* ---- products with weights ------------------------------------------------------- */

static double weight_flops(const ridge_weight *w, double layers)
{
    return 2.0 * (double)w->in * (double)w->out * (double)w->active_copies * layers;
}

static const char *part_name(ridge_part part)
{
    switch (part) {
    case RIDGE_PART_ATTENTION:
        return "attention_projections";
    case RIDGE_PART_MLP:
        return "mlp";
    case RIDGE_PART_ROUTER:
        return "router";
    case RIDGE_PART_EXPERTS:
        return "experts";
    case RIDGE_PART_NORM:
        break;
    }
    return "norm";
}

static double part_flops(const model_story *s, ridge_part part)
{
    switch (part) {
    case RIDGE_PART_ATTENTION:
        return s->flops.attention_projections;
    case RIDGE_PART_MLP:
        return s->flops.mlp;
    case RIDGE_PART_ROUTER:
        return s->flops.router;
    case RIDGE_PART_EXPERTS:
        return s->flops.experts;
    case RIDGE_PART_NORM:
        break;
    }
    return 0;
}

static void tell_weight(model_story *s, int depth, const ridge_weight *w,
                        int64_t layers)
{
    char copies[64] = "";
    if (w->active_copies > 1)
        snprintf(copies, sizeof copies, " x %s experts", EXACT(w->active_copies));
    model_story_add(s, depth, w->name, "2 x in x out, in every layer",
                    FLOPS(weight_flops(w, (double)layers)), "2 x %s x %s%s x %s layers",
                    EXACT(w->in), EXACT(w->out), copies, EXACT(layers));
}

static void tell_kind(model_story *s, int depth, int kind, ridge_part part)
{
    ridge_weight weights[RIDGE_WEIGHT_MAX];
    const ridge_layer *layer = &s->model->layers[kind];
    const int n = ridge_layer_weights(s->model, layer, weights);
    for (int i = 0; i < n; i++) {
        if (weights[i].part == part && weights[i].in > 0 && weights[i].out > 0)
            tell_weight(s, depth, &weights[i], layer->count);
    }
}

void model_story_flops_part(model_story *s, int depth, ridge_part part)
{
    const double flops = part_flops(s, part);
    model_story_add(s, depth, part_name(part),
                    "of a token, forward: a product and a sum for each weight it meets",
                    FLOPS(flops), "%s of the forward pass",
                    ridge_format_percent(flops / s->flops.total).s);
    for (int k = 0; k < s->model->n_layers; k++)
        tell_kind(s, depth + 1, k, part);
}

void model_story_head(model_story *s, int depth)
{
    model_story_add(s, depth, "unembedding",
                    s->model->has_unembedding ? "2 D V, whether tied or not"
                                              : "0: the model has none",
                    FLOPS(s->flops.unembedding), "2 x %s x %s",
                    EXACT(s->model->d_model), EXACT(s->model->vocab));
}

/* ---- scores ---------------------------------------------------------------------- */

static const char *scores_formula(const ridge_mixer *m)
{
    switch (m->kind) {
    case RIDGE_MIXER_ATTENTION:
    case RIDGE_MIXER_MLA:
        return m->index_topk > 0
                   ? "2 N (H + Hv) x tokens that a query meets, + 2 Ni Hi T of the "
                     "indexer"
                   : "2 N (H + Hv) x tokens that a query meets";
    case RIDGE_MIXER_DELTA:
        return "heads (6 Hk Hv + (6 Hk + 4 Hv) c), c: tokens of a chunk";
    case RIDGE_MIXER_LIGHTNING:
        return "heads (4 Hk Hv + (2 Hk + 2 Hv) c), c: tokens of a chunk";
    case RIDGE_MIXER_SSM:
        return "4 heads P N + (2 N groups + 2 P heads) c, c: tokens of a chunk";
    case RIDGE_MIXER_NONE:
    case RIDGE_MIXER_CONV:
        break;
    }
    return "no matmul";
}

/* In numbers, where a query meets tokens; a scan's cost does not hang on T. */
static void tell_scores(model_story *s, int depth, const ridge_layer *l)
{
    const ridge_mixer *m = &l->mixer;
    char window[64] = "";
    const double one = ridge_layer_scores_flops(l, s->seq_tokens, true);
    const double context = ridge_mixer_context_tokens(m, s->seq_tokens, true);
    const char *kind = ridge_mixer_kind_text(m->kind);
    if (m->window > 0)
        snprintf(window, sizeof window, " (window %s)", EXACT(m->window));
    if (context > 0)
        model_story_add(
            s, depth, kind, scores_formula(m), FLOPS(one * (double)l->count),
            "2 x %s x (%s + %s) x %s%s: %s, x %s layers", EXACT(m->heads),
            EXACT(m->head_dim), EXACT(m->v_head_dim > 0 ? m->v_head_dim : m->head_dim),
            ridge_format_count(context).s, window, FLOPS(one), EXACT(l->count));
    else
        model_story_add(s, depth, kind, scores_formula(m),
                        FLOPS(one * (double)l->count), "%s, x %s layers", FLOPS(one),
                        EXACT(l->count));
}

void model_story_scores(model_story *s, int depth)
{
    const double share = s->flops.attention_scores / s->flops.total;
    model_story_add(s, depth, "attention_scores",
                    "of a token, forward: QK and AV, on average over a sequence",
                    FLOPS(s->flops.attention_scores),
                    "%s of the forward pass at %s tokens",
                    ridge_format_percent(share).s, EXACT((int64_t)s->seq_tokens));
    for (int k = 0; k < s->model->n_layers; k++)
        tell_scores(s, depth + 1, &s->model->layers[k]);
}

/* ---- totals ---------------------------------------------------------------------- */

/* Parts alone where their weights are too many lines. */
static void tell_parts(model_story *s, int depth)
{
    const bool is_long = s->model->n_layers * (RIDGE_WEIGHT_MAX / 2) > LINES_MOST;
    for (int part = 0; part < RIDGE_PART_COUNT; part++) {
        const double flops = part_flops(s, (ridge_part)part);
        if (flops <= 0)
            continue;
        if (is_long)
            model_story_add(s, depth, part_name((ridge_part)part),
                            "2 x in x out, of every weight that a token meets",
                            FLOPS(flops), "%s of it",
                            ridge_format_percent(flops / s->flops.total).s);
        else
            model_story_flops_part(s, depth, (ridge_part)part);
    }
    model_story_scores(s, depth);
    model_story_head(s, depth);
}

void model_story_flops(model_story *s, int depth)
{
    model_story_add(s, depth, "flops", "of a token, forward: sum of the parts",
                    FLOPS(s->flops.total), "at sequences of %s tokens",
                    EXACT((int64_t)s->seq_tokens));
    tell_parts(s, depth + 1);
    model_story_add(s, depth + 1, "vector",
                    "not in the sum: norms, activations, rotary",
                    FLOPS(s->flops.vector), "%s of it",
                    ridge_format_percent(s->flops.vector / s->flops.total).s);
}

void model_story_train(model_story *s, int depth)
{
    const double train = ridge_model_flops_train(s->model, s->seq_tokens,
                                                 RIDGE_CONVENTION_MATMUL_CAUSAL);
    model_story_add(s, depth, "flops_train", "3 x forward: backward is two for one",
                    FLOPS(train), "3 x %s", FLOPS(s->flops.total));
    model_story_flops(s, depth + 1);
}

void model_story_conventions(model_story *s, int depth)
{
    model_story_add(s, depth, "conventions", "a token in training, as sources count it",
                    "", "N active = %s, T = %s, L = %s, D = %s",
                    EXACT(s->params.active), EXACT((int64_t)s->seq_tokens),
                    EXACT(s->model->layer_count), EXACT(s->model->d_model));
    for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
        const ridge_convention c = (ridge_convention)i;
        const double flops = ridge_model_flops_train(s->model, s->seq_tokens, c);
        model_story_add(s, depth + 1, ridge_convention_text(c),
                        ridge_convention_what(c), FLOPS(flops),
                        "%s of 6 x active parameters",
                        ridge_format_percent(flops / 6 / (double)s->params.active).s);
    }
}
