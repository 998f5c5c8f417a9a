/*
 * How the numbers of a model come about: parameters and FLOPs weight by weight, bytes
 * of its checkpoint, of training and of generation. The counting itself is model.h's.
 */
#ifndef RIDGE_PLAN_MODEL_H
#define RIDGE_PLAN_MODEL_H

#include "ridge/model.h"
#include "ridge/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Quantities of a model that can be explained; NULL-terminated: parameters, active and
 *  each part of them, flops, flops_train and each part, conventions, weights, training,
 *  activations, kv. */
const char *const *ridge_model_quantities(void);

/**
 * The derivation of a number of a model down to its widths, layer kind by layer kind;
 * lines of one depth add up to the line that they stand under, where its formula says
 * that it is a sum.
 *
 * @param seq_tokens  T >= 1: what attention scores are averaged over
 * @owner the ctx. @errors E_NOTFOUND with the nearest quantity; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_model_explain(ridge_ctx *cx,
                                                 const ridge_model *model,
                                                 double seq_tokens,
                                                 const char *quantity,
                                                 ridge_explanation *out);

#ifdef __cplusplus
}
#endif

#endif
