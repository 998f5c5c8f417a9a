/* The header of a GGUF file: what it says of a model, and its tensors. */
#ifndef RIDGE_GGUF_FILE_H
#define RIDGE_GGUF_FILE_H

#include "ridge/base.h"

enum { GGUF_DIM_MAX = 4, GGUF_TYPE_MOST = 64 /* ids of types are below it */ };

/* Kinds of values, as the file numbers them. */
typedef enum gguf_kind {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64
} gguf_kind;
enum { GGUF_KIND_COUNT = GGUF_F64 + 1 };

typedef struct gguf_value {
    ridge_str key;
    gguf_kind kind; /* GGUF_ARRAY: of items */
    gguf_kind item; /* kind of an array's items */
    uint64_t count; /* of an array */
    ridge_str data; /* the value's bytes; of a text its characters */
} gguf_value;

/** How a tensor's numbers lie: in blocks. */
typedef struct gguf_type {
    int id;
    const char *name; /* "Q4_K" */
    int elements;     /* of a block */
    int bytes;
} gguf_type;

typedef struct gguf_tensor {
    ridge_str name; /* "blk.0.attn_q.weight" */
    int n_dims;
    int64_t dims[GGUF_DIM_MAX]; /* the one that runs fastest first */
    int64_t elements, bytes;
    const gguf_type *type;
} gguf_tensor;

typedef struct gguf_file {
    const char *path;
    size_t n_values, n_tensors;
    gguf_value *values;
    gguf_tensor *tensors;
} gguf_file;

/**
 * Read the header of a file.
 * @owner the ctx
 * @errors E_IO; E_PARSE: no GGUF, another version, cut off, damaged, or with tensors of
 *         unknown types
 */
RIDGE_NODISCARD ridge_status ridge__gguf_open(ridge_ctx *cx, const char *path,
                                              gguf_file *out);
/** The same of bytes. @param whole_bytes  of the file, which tensors must not leave */
RIDGE_NODISCARD ridge_status ridge__gguf_parse(ridge_ctx *cx, ridge_str bytes,
                                               int64_t whole_bytes, const char *path,
                                               gguf_file *out);

/** The value of that key, or NULL. */
const gguf_value *ridge__gguf_find(const gguf_file *file, const char *key);
/** A number, of an array its first; @return false: there is none. */
bool ridge__gguf_number(const gguf_value *value, double *out);
/** Whether all numbers of an array are alike; any other value is. */
bool ridge__gguf_is_even(const gguf_value *value);
/** The tensor of that name, or NULL. */
const gguf_tensor *ridge__gguf_tensor(const gguf_file *file, const char *name);

#endif
