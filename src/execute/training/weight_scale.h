/* Factors of a model's arithmetic that weights take in as they are read. */
#ifndef RIDGE_WEIGHT_SCALE_H
#define RIDGE_WEIGHT_SCALE_H

#include "ridge/execute_weights.h"

typedef struct ridge__scaled_weight {
    const char *base;
    int64_t head_dim; /* of queries: the last dim of wq, its bias or its norm */
    bool is_tied;     /* the unembedding is the embedding */
    bool is_query_normed;
} ridge__scaled_weight;

/** What the elements of a weight are multiplied by; 1 for nearly all. */
float ridge__weight_scale(const ridge_numerics *n, const ridge__scaled_weight *weight);

#endif
