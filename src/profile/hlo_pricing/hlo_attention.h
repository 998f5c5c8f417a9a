/* Attention: calls of fused kernels, and softmaxes between two products.
 * Layer-internal.
 */
#ifndef RIDGE_HLO_ATTENTION_H
#define RIDGE_HLO_ATTENTION_H

#include "hlo_kernel.h"
#include "ridge/cost.h"

/** A fused attention that a custom call runs. */
typedef struct hlo_attention_call {
    ridge_attention attention;
    double flops;      /* of products, forward or backward */
    double passes;     /* of the forward's work: 1, or 2.5 backward */
    bool is_mask_told; /* otherwise the whole square is counted */
} hlo_attention_call;

/** @param operands  shapes. @return false: it is none that is known */
bool hlo_attention_call_find(ridge_ctx *cx, const ridge_hlo_instruction *i,
                             const ridge_hlo_shape *const *operands,
                             hlo_attention_call *out);

/** An attention in pieces: scores, softmax, weighted sum. */
typedef struct hlo_attention_pieces {
    int scores, output; /* nodes: the two products */
    double score_elements;
    int64_t query_tokens, context_tokens;
} hlo_attention_pieces;

/**
 * Mark the kernels of each attention in pieces.
 * @param is_attention  [kernels->n]; out
 * @param pieces        room for @p most
 * @return how many there are
 */
int hlo_attention_mark(const hlo_kernels *kernels, bool *is_attention,
                       hlo_attention_pieces *pieces, int most);

#endif
