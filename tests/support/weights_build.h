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

#endif
