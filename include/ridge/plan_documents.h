/*
 * Documents of unlike lengths packed into training sequences, with attention inside of
 * each document alone: fewer scores than whole sequences have, and more in some
 * sequences than in others, so that replicas wait for each other.
 */
#ifndef RIDGE_PLAN_DOCUMENTS_H
#define RIDGE_PLAN_DOCUMENTS_H

#include "ridge/model.h"
#include "ridge/simulate_requests.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cp of 2, 4, ... 1024 */
enum { RIDGE_DOCUMENTS_CP = 10 };

/** What packing makes of attention. All zero: whole sequences. */
typedef struct ridge_documents {
    double
        tokens; /* equal documents of so many have as many scores; at most a sequence */
    double spread; /* standard deviation over mean of the scores of a sequence */
    /* by how much the busiest of 2^(i + 1) ranks of cp has more scores than the mean */
    double cp_wait[RIDGE_DOCUMENTS_CP];
} ridge_documents;

/**
 * Documents one behind the other, cut where sequences end. Of a document of L tokens in
 * sequences of T that begin anywhere, a token at age a of it and place u of its
 * sequence sees min(a, u) tokens before it: summed over a document H(L) = L^2 / 2 - L^3
 * / 6T up to T, and T^2 / 3 + (L - T) T / 2 beyond. A token sees E[H] / E[L] in the
 * mean, half of what @p out calls tokens. The spread is that of up to 4,096 sequences
 * drawn from a fixed seed; so are the loads of cp ranks, of 256 of them. Of a sequence
 * in 2 cp chunks rank r has chunks r and 2 cp - 1 - r, which is even for one document
 * and for no other (llama3-2024, section 3.3.2).
 * @param length  of documents; spread and mean as ridge_length says
 * @param seq_tokens  T, >= 1
 * @errors E_ARG a mean outside 1 .. 1e9, or a spread outside 0 .. 10 (uniform: 0 .. 1)
 */
RIDGE_NODISCARD ridge_status ridge_documents_of(ridge_ctx *cx,
                                                const ridge_length *length,
                                                double seq_tokens,
                                                ridge_documents *out);

/**
 * The model whose self-attention sees documents of so many tokens alone: causal layers
 * without a narrower window get chunks. Layers with compressed caches stay.
 * @owner the ctx. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_model_with_documents(ridge_ctx *cx,
                                                        const ridge_model *model,
                                                        double tokens,
                                                        const ridge_model **out);

/**
 * How much longer the attention of the busiest of some replicas takes than the mean,
 * where each has @p seqs sequences to a wait: the mean of the largest of as many normal
 * variables. @return 0 for one replica. @source blom1958
 */
double ridge_documents_wait(const ridge_documents *documents, double replicas,
                            double seqs);

/**
 * The same of the ranks of cp where each has its chunks of @p seqs sequences at a time.
 * Software that cuts each document by itself, and exchanges of heads, have none of it.
 * @param cp  between the powers of two that are known along their logarithm
 * @return 0 for one rank
 */
double ridge_documents_cp_wait(const ridge_documents *documents, double cp,
                               double seqs);

#ifdef __cplusplus
}
#endif

#endif
