/*
 * Lengths of sequences at which attention weighs as much as the rest of a model.
 */
#ifndef RIDGE_MODEL_LENGTH_H
#define RIDGE_MODEL_LENGTH_H

#include "ridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tokens of a sequence; INFINITY: never, as with windows and states. */
typedef struct ridge_scores_length {
    double projections; /* scores take as many FLOPs as attention's own projections */
    double matmuls;     /* as all matmuls of the layers; the unembedding apart */
} ridge_scores_length;

/**
 * Where the scores of attention reach the FLOPs of what does not grow with T. For
 * multi-head attention, F = 4 D and a gate these are 2 D and 8 D over the full square,
 * twice that over its causal half.
 * @source scaling-book-2025, chapter 4
 */
ridge_scores_length ridge_model_scores_length(const ridge_model *model,
                                              bool is_causal_half);

#ifdef __cplusplus
}
#endif

#endif
