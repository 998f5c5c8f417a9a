/*
 * Scaling laws: which size of model and how many tokens a budget of FLOPs is best spent
 * on, and the loss that is to be expected. Constants come from data/scaling_laws.
 * Dense models; FLOPs are 6 N D. Knows nothing of chips.
 */
#ifndef RIDGE_MODEL_SCALING_H
#define RIDGE_MODEL_SCALING_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One published law, in one of two forms. */
typedef struct ridge_scaling_law {
    const char *name; /* "besiroglu-2024" */
    const char *full_name;
    const char *source; /* key of docs/sources.md */
    const char *date;
    const char *note; /* "" for none */
    bool has_loss;
    /* L(N, D) = floor + a / N^alpha + b / D^beta, in nats a token */
    double floor, a, alpha, b, beta;
    /* has_loss false: the best N at C FLOPs is params (C / flops)^exponent */
    double flops, params, exponent;
} ridge_scaling_law;

/** The law that is taken when none is named. */
#define RIDGE_SCALING_LAW_DEFAULT "besiroglu-2024"

/** Number of built-in laws, and one by position in order of names. @errors E_NOMEM,
 *  E_PARSE. @owner the ctx */
size_t ridge_scaling_law_count(void);
RIDGE_NODISCARD ridge_status ridge_scaling_law_at(ridge_ctx *cx, size_t index,
                                                  ridge_scaling_law *out);
/** By name or alias, or a path of a file that ends in ".json".
 * @owner the ctx
 * @errors E_NOTFOUND with the nearest names; E_PARSE with file:line; E_IO */
RIDGE_NODISCARD ridge_status ridge_scaling_law_find(ridge_ctx *cx, const char *name,
                                                    ridge_scaling_law *out);
/** A law that is already parsed. @errors E_PARSE with file:line */
RIDGE_NODISCARD ridge_status ridge_scaling_law_from_json(ridge_ctx *cx, ridge_node root,
                                                         ridge_scaling_law *out);

/** A model of N parameters trained on D tokens. */
typedef struct ridge_sizing {
    double params, tokens;
    double flops; /* of training: 6 N D */
    bool has_loss;
    double loss; /* nats a token */
} ridge_sizing;

/** N and D as they are, with the law's loss. N, D > 0. */
ridge_sizing ridge_sizing_of(const ridge_scaling_law *law, double params,
                             double tokens);
/**
 * The lowest loss that C FLOPs can buy: alpha a / N^alpha = beta b / D^beta.
 * @param flops  > 0
 * @source hoffmann2022, equation 4
 */
ridge_sizing ridge_sizing_of_flops(const ridge_scaling_law *law, double flops);
/** C FLOPs at a chosen number of tokens a parameter. */
ridge_sizing ridge_sizing_of_ratio(const ridge_scaling_law *law, double flops,
                                   double tokens_per_param);
/** The tokens for which N is the best size, and the other way round. */
ridge_sizing ridge_sizing_of_params(const ridge_scaling_law *law, double params);
ridge_sizing ridge_sizing_of_tokens(const ridge_scaling_law *law, double tokens);
/** The fewest FLOPs that reach a loss. @errors E_ARG: the law tells no loss, or the
 * loss lies at or below its floor */
RIDGE_NODISCARD ridge_status ridge_sizing_of_loss(ridge_ctx *cx,
                                                  const ridge_scaling_law *law,
                                                  double loss, ridge_sizing *out);

/**
 * The fewest FLOPs of training and of a lifetime of inference, 6 N D + 2 N served, that
 * reach a loss: smaller and trained longer than the best for training alone.
 * @param served_tokens  prompt and generated, >= 0
 * @errors as ridge_sizing_of_loss
 * @source sardana2023, equation 2
 */
RIDGE_NODISCARD ridge_status ridge_sizing_of_service(ridge_ctx *cx,
                                                     const ridge_scaling_law *law,
                                                     double loss, double served_tokens,
                                                     ridge_sizing *out);

/** FLOPs of forward passes over the served tokens: 2 N each. */
double ridge_sizing_service_flops(const ridge_sizing *sizing, double served_tokens);

#ifdef __cplusplus
}
#endif

#endif
