/* Small safetensors files for tests, written by hand: not by the code under test. */
#ifndef RIDGE_TEST_WEIGHTS_BUILD_H
#define RIDGE_TEST_WEIGHTS_BUILD_H

#include "ridge/base.h"

/** A tensor of counting numbers: first, first + 1, ... */
typedef struct built_weight {
    const char *name;
    const char *dtype; /* "F32", "BF16" or "F16" (numbers below 2048) */
    int n_dims;
    int64_t shape[4];
    int first;
} built_weight;

/** Write them one behind another. @return the file's path */
const char *weights_file(ridge_ctx *cx, const char *folder, const char *name,
                         const built_weight *weights, size_t n);
/** Any header with any bytes behind it. */
const char *weights_raw_file(ridge_ctx *cx, const char *folder, const char *name,
                             const char *header, size_t data_bytes);

/** A header with these bytes behind it. */
const char *weights_bytes_file(ridge_ctx *cx, const char *folder, const char *name,
                               const char *header, ridge_str data);

/* ---- random ones ----------------------------------------------------------------- */

typedef struct random_part {
    const char *name;
    int rows, columns; /* rows 0: a vector */
} random_part;

/** fp32 parts one behind another, as a struct of arrays holds them. */
typedef struct random_weights {
    ridge_buf header;
    float *at;      /* where the next part's numbers go */
    int64_t offset; /* bytes so far */
    uint64_t random;
} random_weights;

/** @param model  room for all parts; stays the caller's */
random_weights random_weights_of(ridge_ctx *cx, void *model, uint64_t seed);
/** A part of numbers from centre - size to centre + size. */
void random_weights_add(random_weights *w, const char *prefix, const random_part *p,
                        float centre, float size);
/** Write model.safetensors; fails the test unless the parts fill the model. */
const char *random_weights_write(ridge_ctx *cx, const char *folder, random_weights *w,
                                 const void *model, size_t bytes);

#endif
