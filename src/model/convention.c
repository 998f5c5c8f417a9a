/*
 * The ways in which papers and frameworks count the FLOPs of a token in training.
 * A reported MFU is only comparable once its convention is known.
 */
#include "scores.h"

#include <string.h>

/* A backward pass multiplies twice for each forward matmul. @source kaplan2020, 2.1 */
enum { TRAIN_OVER_FORWARD = 3 };

typedef struct convention_row {
    const char *text;
    const char *what;
} convention_row;

static const convention_row conventions[] = {
#define CONVENTION_ROW(name, text, what) [RIDGE_CONVENTION_##name] = {text, what},
    RIDGE_CONVENTION_LIST(CONVENTION_ROW)
#undef CONVENTION_ROW
};

_Static_assert(RIDGE_COUNT_OF(conventions) == RIDGE_CONVENTION_COUNT,
               "one row per convention");

const char *ridge_convention_text(ridge_convention c)
{
    return conventions[c].text;
}

const char *ridge_convention_what(ridge_convention c)
{
    return conventions[c].what;
}

ridge_status ridge_convention_parse(ridge_ctx *cx, const char *text,
                                    ridge_convention *out)
{
    const char *names[RIDGE_CONVENTION_COUNT];
    for (int i = 0; i < RIDGE_CONVENTION_COUNT; i++) {
        names[i] = conventions[i].text;
        if (strcmp(text, names[i]) == 0) {
            *out = (ridge_convention)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail_name(cx, RIDGE_E_NOTFOUND, "FLOP convention", text, names,
                           RIDGE_CONVENTION_COUNT);
}

/* 12 L N H T: training FLOPs of scores and values over the whole square. */
static double square_flops(const ridge_model *model, double seq_tokens)
{
    double flops = 0;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        flops += (double)layer->count * ridge__layer_square_flops(layer, seq_tokens);
    }
    return TRAIN_OVER_FORWARD * flops;
}

/* Scores of layers without a square: scans of states. */
static double scan_flops(const ridge_model *model, double seq_tokens)
{
    double flops = 0;
    for (int i = 0; i < model->n_layers; i++) {
        const ridge_layer *layer = &model->layers[i];
        if (!ridge__mixer_has_scores(&layer->mixer)) {
            flops += (double)layer->count *
                     ridge_layer_scores_flops(layer, seq_tokens, false);
        }
    }
    return TRAIN_OVER_FORWARD * flops;
}

/* N without lookup tables. A tied table multiplies as the unembedding, so it counts
 * once: the answer does not depend on the tie. */
static double params_without_lookup(const ridge_model *model)
{
    ridge_params p = ridge_model_params(model);
    double params = (double)(p.active - p.embedding);
    if (model->is_tied && model->has_unembedding)
        params += (double)model->d_model * (double)model->vocab;
    return params;
}

double ridge_model_flops_train(const ridge_model *model, double seq_tokens,
                               ridge_convention convention)
{
    double six_n = 6.0 * (double)ridge_model_params(model).active;
    switch (convention) {
    case RIDGE_CONVENTION_MATMUL_CAUSAL:
        return TRAIN_OVER_FORWARD *
               ridge_model_flops_forward(model, seq_tokens, true).total;
    case RIDGE_CONVENTION_MATMUL_FULL:
        return TRAIN_OVER_FORWARD *
               ridge_model_flops_forward(model, seq_tokens, false).total;
    case RIDGE_CONVENTION_SIX_N:
        return six_n;
    case RIDGE_CONVENTION_SIX_N_NO_EMBED:
        return 6.0 * params_without_lookup(model);
    case RIDGE_CONVENTION_PALM:
        return six_n + square_flops(model, seq_tokens);
    case RIDGE_CONVENTION_PALM_CAUSAL:
        return six_n + square_flops(model, seq_tokens) / 2;
    case RIDGE_CONVENTION_MEGATRON: {
        ridge_flops f = ridge_model_flops_forward(model, seq_tokens, false);
        double matmuls = f.attention_projections + f.mlp + f.experts + f.unembedding;
        return TRAIN_OVER_FORWARD * matmuls + square_flops(model, seq_tokens) +
               scan_flops(model, seq_tokens);
    }
    }
    return 0;
}

double ridge_model_flops_mtp(const ridge_model *model, double seq_tokens,
                             ridge_convention convention)
{
    const double d = (double)model->d_model;
    const bool has_scores = convention != RIDGE_CONVENTION_SIX_N &&
                            convention != RIDGE_CONVENTION_SIX_N_NO_EMBED;
    const bool is_half = convention == RIDGE_CONVENTION_MATMUL_CAUSAL ||
                         convention == RIDGE_CONVENTION_PALM_CAUSAL;
    double flops = 2 * d * (2 * d + (double)model->vocab);
    for (int i = 0; i < model->n_mtp_kinds; i++) {
        const ridge_layer *layer = &model->layers[model->mtp_kinds[i]];
        ridge_weight weights[RIDGE_WEIGHT_MAX];
        const int n = ridge_layer_weights(model, layer, weights);
        for (int k = 0; k < n; k++)
            flops += 2 * (double)weights[k].in * (double)weights[k].out *
                     (double)weights[k].active_copies;
        if (has_scores)
            flops += ridge_layer_scores_flops(layer, seq_tokens, is_half);
    }
    return TRAIN_OVER_FORWARD * flops;
}
