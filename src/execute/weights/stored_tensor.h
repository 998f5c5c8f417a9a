/* A tensor as a file holds it, and copying parts of it. */
#ifndef RIDGE_STORED_TENSOR_H
#define RIDGE_STORED_TENSOR_H

#include "ridge/execute_weights.h"

/* Formats of stored numbers: name, its text in a safetensors file, bytes. */
/* clang-format off */
#define RIDGE__STORED_LIST(X)               \
    X(F32, "F32", 4)                        \
    X(BF16, "BF16", 2)                      \
    X(F16, "F16", 2)                        \
    X(I32, "I32", 4)                        \
    X(F64, "F64", 8)                        \
    X(I64, "I64", 8)                        \
    X(U64, "U64", 8)                        \
    X(U32, "U32", 4)                        \
    X(I16, "I16", 2)                        \
    X(U16, "U16", 2)                        \
    X(I8, "I8", 1)                          \
    X(U8, "U8", 1)                          \
    X(BOOL, "BOOL", 1)                      \
    X(F8_E4M3, "F8_E4M3", 1)                \
    X(F8_E5M2, "F8_E5M2", 1)                \
    X(F8_E8M0, "F8_E8M0", 1)
/* clang-format on */

typedef enum ridge__stored {
#define RIDGE__STORED_ENUM(name, text, bytes) RIDGE__STORED_##name,
    RIDGE__STORED_LIST(RIDGE__STORED_ENUM)
#undef RIDGE__STORED_ENUM
} ridge__stored;

#define RIDGE__STORED_ONE(name, text, bytes) +1
enum { RIDGE__STORED_COUNT = 0 RIDGE__STORED_LIST(RIDGE__STORED_ONE) };
#undef RIDGE__STORED_ONE

const char *ridge__stored_text(ridge__stored stored);
size_t ridge__stored_bytes(ridge__stored stored);
/** @return false: no such format; *out is then untouched */
bool ridge__stored_find(const char *text, ridge__stored *out);
ridge__stored ridge__stored_of(ridge_element element);

/** Row-major, dense. */
typedef struct ridge__stored_tensor {
    const char *name; /* in its file */
    const char *file; /* for messages */
    ridge__stored stored;
    int n_dims;
    int64_t shape[RIDGE_TENSOR_DIM_MAX];
    const unsigned char *data; /* may be unaligned */
    size_t bytes;
    const unsigned char *scales; /* fp32, one for each group of elements in a row, by
                                    which they are multiplied; NULL: none */
    int64_t group;
} ridge__stored_tensor;

int64_t ridge__stored_elements(const ridge__stored_tensor *t);

enum { RIDGE__COPY_DIM_MAX = RIDGE_TENSOR_DIM_MAX + 1 };

/** One dim of a copy: both sides go on by their own steps, in elements. */
typedef struct ridge__copy_dim {
    int64_t count, to, from;
} ridge__copy_dim;

/**
 * Elements from one strided place to another, converted on the way.
 *
 * Pairs that there are: fp32, bf16 and fp16 to fp32 or bf16, and each format to itself.
 * Rounding to bf16 is to the nearest, ties to even.
 */
typedef struct ridge__stored_copy {
    int n;
    ridge__copy_dim dims[RIDGE__COPY_DIM_MAX]; /* in any order */
    ridge__stored to_format, from_format;
    unsigned char *to;
    const unsigned char *from;
} ridge__stored_copy;

bool ridge__stored_converts(ridge__stored to, ridge__stored from);
void ridge__stored_copy_run(const ridge__stored_copy *copy);

/** NULL, or what is wrong with a region of this shape: "its dim 1 ends at 12 of 8". In
 * the scratch arena. */
const char *ridge__region_fault(ridge_ctx *cx, const ridge_region *region);
/** Steps of a dense row-major array. @param strides  [n] */
void ridge__dense_strides(int n, const int64_t *shape, int64_t *strides);

#endif
