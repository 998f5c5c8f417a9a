/* The tensors of one safetensors file, in memory. */
#ifndef RIDGE_SAFETENSORS_FILE_H
#define RIDGE_SAFETENSORS_FILE_H

#include "mapped_file.h"
#include "stored_tensor.h"

typedef struct ridge__safetensors {
    size_t n;
    ridge__stored_tensor *tensors; /* in the order of their data */
    ridge_node metadata;           /* its texts; absent if there are none */
    const ridge_node *root;        /* of the header */
} ridge__safetensors;

/**
 * Check a file and list its tensors:
 *
 *     uint64    bytes of the header, little endian
 *     header    JSON: {name: {"dtype", "shape", "data_offsets": [start, end]}, and
 *               "__metadata__": {text: text}}
 *     data      offsets count from here
 *
 * The format has no version.
 * @param file  borrowed: outlives the result
 * @owner the ctx
 * @errors E_PARSE with the file and the tensor: a header beyond the file, tensors
 * beyond the data, that overlap or do not have the bytes of their shape; E_NOMEM
 * @source safetensors-2022
 */
RIDGE_NODISCARD ridge_status ridge__safetensors_parse(ridge_ctx *cx,
                                                      const ridge__mapped_file *file,
                                                      ridge__safetensors *out);

#endif
