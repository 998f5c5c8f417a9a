/* Tokens to train on, as they lie in memory. */
#ifndef RIDGE_TOKEN_DATA_H
#define RIDGE_TOKEN_DATA_H

#include "ridge/execute_text.h"

/** Tokens in a row: ids in memory, or as a file holds them. */
typedef struct ridge__token_segment {
    int64_t first; /* of all tokens before it */
    int64_t n;     /* > 0 */
    const int32_t *ids;
    const unsigned char *stored; /* ids NULL: little endian, width bytes each */
    int width;                   /* 2 or 4 */
} ridge__token_segment;

struct ridge_token_data {
    size_t n_segments;
    ridge__token_segment *segments;
    int64_t n, n_train;
    double bytes[2]; /* of text, by part */
};

/** @param index  below s->n */
int32_t ridge__token_segment_id(const ridge__token_segment *s, int64_t index);

#endif
