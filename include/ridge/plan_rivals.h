/*
 * Which architecture the hardware likes: the best layout of each of several models on
 * one slice with one batch, and what a token of each costs against the first. What one
 * gains in quality it may lose in efficiency.
 */
#ifndef RIDGE_PLAN_RIVALS_H
#define RIDGE_PLAN_RIVALS_H

#include "ridge/model_scaling.h"
#include "ridge/plan_money.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_RIVAL_MAX = 8 };

/** A model by the name that it was asked by. */
typedef struct ridge_rival {
    const char *name;
    const ridge_model *model;
} ridge_rival;

/** The best layout of one of the models. Ratios are to the first model: 1 of itself,
 * NaN where either does not fit. */
typedef struct ridge_rival_answer {
    ridge_train_request request;
    const char *why_not; /* no layout fits, or knobs contradict the model; else NULL */
    ridge_train_price best;
    ridge_money money;
    double flops_per_token;  /* of training, by the request's convention */
    double work_ratio;       /* FLOPs of a token */
    double efficiency_ratio; /* FLOP/s of a chip */
    double time_ratio;       /* of a token on the slice: work / efficiency */
    /* Of the scaling law, in nats a token, over all tokens of the run and over those
     * that the first's time gives; NaN: no total of tokens, or experts, of which laws
     * of dense models say nothing. */
    double loss, loss_at_time;
    int64_t covered;
} ridge_rival_answer;

/**
 * @param request  its model, top and front are not read
 * @param rivals   n models, 2 to RIDGE_RIVAL_MAX
 * @param money    of the slice's chip
 * @param law      with a loss
 * @param out      n answers. @owner the ctx
 * @errors E_ARG: n out of range; E_NOMEM; E_CANCELLED. What is wrong for one model
 * alone is told by its answer
 */
RIDGE_NODISCARD ridge_status ridge_rivals_compare(ridge_ctx *cx,
                                                  const ridge_train_request *request,
                                                  const ridge_rival *rivals, int n,
                                                  const ridge_money_request *money,
                                                  const ridge_scaling_law *law,
                                                  ridge_rival_answer *out);

#ifdef __cplusplus
}
#endif

#endif
