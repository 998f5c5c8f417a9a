/*
 * GGUF files of llama.cpp: what their headers say of a model.
 */
#ifndef RIDGE_MODEL_GGUF_H
#define RIDGE_MODEL_GGUF_H

#include "ridge/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a path ends in .gguf. */
bool ridge_gguf_is_path(const char *path);

/**
 * The config.json that says what a file's header does: sizes, constants, and bits of
 * the weights by part, blocks' scales among them.
 * @owner the ctx
 * @errors E_IO; E_PARSE: no GGUF of version 2 or 3, cut off or damaged, an architecture
 *         that is not read, sizes that differ by layer, a vocabulary alone
 * @source gguf-spec
 */
RIDGE_NODISCARD ridge_status ridge_gguf_config(ridge_ctx *cx, const char *path,
                                               ridge_node *out);

#ifdef __cplusplus
}
#endif

#endif
