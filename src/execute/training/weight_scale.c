/*
 * A program has no operations for the factors of embeddings, residuals, scores and
 * logits that some models have. Each multiplies what a linear map or a norm gives, so
 * the weights take it in: the embedding its own; the last norm those of the logits,
 * less the embedding's where the unembedding is the same table; what writes to the
 * stream that of residuals; queries, or their norm, that of scores.
 */
#include "weight_scale.h"

#include <math.h>
#include <string.h>

static bool is_one_of(const char *base, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(base, names[i]) == 0)
            return true;
    }
    return false;
}

float ridge__weight_scale(const ridge_numerics *n, const ridge__scaled_weight *weight)
{
    static const char *const LAST[] = {"final_norm_weight", "final_norm_bias"};
    static const char *const ONTO_STREAM[] = {
        "wo", "wo_bias", "w_down", "w_down_bias", "expert_down", "shared_down"};
    static const char *const PLAIN[] = {"wq", "wq_bias"};
    static const char *const NORMED[] = {"q_norm_weight", "q_norm_bias"};
    const char *base = weight->base;
    if (strcmp(base, "embedding") == 0)
        return (float)n->embedding_scale;
    if (is_one_of(base, LAST, RIDGE_COUNT_OF(LAST)))
        return (float)(n->logit_scale / (weight->is_tied ? n->embedding_scale : 1.0));
    if (is_one_of(base, ONTO_STREAM, RIDGE_COUNT_OF(ONTO_STREAM)))
        return (float)n->residual_scale;
    const bool is_query = weight->is_query_normed
                              ? is_one_of(base, NORMED, RIDGE_COUNT_OF(NORMED))
                              : is_one_of(base, PLAIN, RIDGE_COUNT_OF(PLAIN));
    if (is_query && n->attention_scale > 0.0)
        return (float)(n->attention_scale * sqrt((double)weight->head_dim));
    return 1.0F;
}
