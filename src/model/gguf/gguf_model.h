/* Models and checkpoints of GGUF files. */
#ifndef RIDGE_GGUF_MODEL_H
#define RIDGE_GGUF_MODEL_H

#include "gguf_file.h"
#include "safetensors.h"

/**
 * The config.json that says what the header does: sizes, and bits of the weights by
 * part.
 * @owner the ctx
 * @errors E_PARSE: an architecture that is not read, sizes that are missing or differ
 *         by layer, or a file of a vocabulary alone
 */
RIDGE_NODISCARD ridge_status ridge__gguf_config(ridge_ctx *cx, const gguf_file *file,
                                                ridge_node *out);

/** The model of a file. @errors those above, and of ridge__gguf_open */
RIDGE_NODISCARD ridge_status ridge__gguf_model(ridge_ctx *cx, const char *path,
                                               const ridge_model **out);

/** Sums of its tensors. @param words  by type: "Q4_K 3.8 GiB, Q6_K 1.1 GiB"
 *  @errors those of ridge__gguf_open */
RIDGE_NODISCARD ridge_status ridge__gguf_sum(ridge_ctx *cx, const char *path,
                                             ridge__tensor_sums *out, ridge_buf *words);

#endif
