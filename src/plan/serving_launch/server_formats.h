/*
 * Number formats of a deployment in engines' words: those of a checkpoint, and what a
 * quantisation's name says beside it.
 */
#ifndef RIDGE_PLAN_SERVER_FORMATS_H
#define RIDGE_PLAN_SERVER_FORMATS_H

#include "ridge/plan_launch_serving.h"

/** Engines of which words are known. */
typedef enum server_dialect {
    SERVER_DIALECT_VLLM,
    SERVER_DIALECT_SGLANG,
    SERVER_DIALECT_TRTLLM,
    SERVER_DIALECT_TGI,
    SERVER_DIALECT_LMDEPLOY,
    SERVER_DIALECT_MAXTEXT
} server_dialect;

enum { SERVER_DIALECT_COUNT = SERVER_DIALECT_MAXTEXT + 1 };

/** The formats of a checkpoint on the chips of a slice, as ridge_serving_formats_of has
 * them. @param slice  NULL: chips that multiply in every format */
ridge_serving_formats server_formats_of(const ridge_model *model,
                                        const ridge_slice *slice);

/** Whether the weights are as the checkpoint has them. */
bool server_formats_match(const ridge_serving_formats *formats,
                          const ridge_model *model, const ridge_slice *slice);

/**
 * What a quantisation's name says, over @p formats.
 * @return false: the name is unknown, nothing is changed
 */
bool server_formats_quantise(server_dialect dialect, const char *word,
                             const ridge_slice *slice, ridge_serving_formats *formats);

/**
 * What the name of a checkpoint says of its weights: "…-AWQ", "…-FP8-dynamic",
 * "…quantized.w4a16".
 * @param base  the name without it. @param mark  as the name has it
 * @return false: it says nothing; nothing is changed
 */
bool server_formats_by_name(const char *name, const ridge_slice *slice,
                            ridge_serving_formats *formats, ridge_str *base,
                            const char **mark);

/** The name by which an engine quantises to these formats. @return NULL: none */
const char *server_formats_word(ridge_ctx *cx, server_dialect dialect,
                                const ridge_serving_formats *formats,
                                const ridge_deployment *deployment);

/** The format of a cache by an engine's name for it; "auto" is left alone.
 * @return false: unknown */
bool server_cache_parse(const char *word, ridge_dtype *out);
/** @param own  that it has where nothing is told: "auto"
 * @return NULL: the engine has no such cache */
const char *server_cache_word(server_dialect dialect, ridge_dtype cache,
                              ridge_dtype own);

/** Devices that programs see of a chip of the slice; 1 where that is not known. */
int64_t server_devices_of(const ridge_slice *slice);
/** Attention ranks that tpu-inference makes of devices: those beyond the KV heads of a
 * page, of which a word of 32 bits packs two bf16 or four fp8. */
int64_t server_tpu_ranks(const ridge_model *model, ridge_dtype cache, int64_t devices);
/** Whether some layers attend to a latent (MLA). */
bool server_has_latent(const ridge_model *model);

/** Of the layer that has most; 0: none */
int64_t server_experts(const ridge_model *model);
/** KV heads that tensor parallelism can cut: the fewest of the layers that have a
 * cache; 1 for a latent, 0 without a cache. */
int64_t server_kv_heads(const ridge_model *model);

#endif
