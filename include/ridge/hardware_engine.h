/*
 * Serving engines: what a version of vLLM, SGLang, TensorRT-LLM or JetStream adds to a
 * chip: how it fills an iteration, how it pages its cache, what its host costs. Facts
 * come from data/engines. The rules run in simulate.
 */
#ifndef RIDGE_HARDWARE_ENGINE_H
#define RIDGE_HARDWARE_ENGINE_H

#include "ridge/base.h"
#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What enters an iteration. */
typedef enum ridge_engine_batching {
    RIDGE_BATCHING_MIXED, /* decoding sequences first, chunks of prompts in what is left
                             of the token budget: vLLM v1 */
    RIDGE_BATCHING_PREFILL, /* an iteration of whole prompts, or of chunks, before any
                               decoding: SGLang */
    RIDGE_BATCHING_STATIC   /* a batch runs to its last token before the next starts */
} ridge_engine_batching;

/** When the cache has no block left. */
typedef enum ridge_engine_preemption {
    RIDGE_PREEMPTION_RECOMPUTE, /* the latest arrival gives its blocks up, and prefills
                                   again later */
    RIDGE_PREEMPTION_SWAP,      /* its blocks go to the host's memory */
    RIDGE_PREEMPTION_RESERVE    /* none: a request is admitted when its longest output
                                   fits (TensorRT-LLM, guaranteed no evict) */
} ridge_engine_preemption;

/** One engine. Immutable, owned by the catalogue. All times in seconds. */
typedef struct ridge_engine {
    const char *name;           /* "vllm-v1" */
    const char *full_name;      /* "vLLM 0.9 and later, V1 engine" */
    const char *version;        /* of the rules */
    const char *const *aliases; /* NULL-terminated */

    ridge_engine_batching batching;
    ridge_engine_preemption preemption;
    bool is_chunked;       /* prompts are cut into chunks of the budget */
    bool has_prefix_cache; /* on unless switched off */
    int64_t block_tokens;  /* of a page of the cache */
    int64_t budget_tokens; /* of an iteration: max_num_batched_tokens */
    int64_t chunk_tokens;  /* longest chunk of one prompt; 0: the budget */
    int64_t sequences;     /* at once: max_num_seqs */
    double watermark;      /* share of the blocks kept free at admission */
    double memory_share;   /* of HBM that the engine takes: gpu_memory_utilization */
    double reserve_bytes;  /* of a chip beside weights, activations and cache: CUDA
                              context, graphs, NCCL */

    double host_s;          /* of an iteration, whatever is in it */
    double host_sequence_s; /* more for each sequence in it */
    double request_s;       /* of a request: tokenising, queue, answer's first byte */
    bool is_host_hidden;    /* the host prepares the next iteration behind the chip */
    double graph_sequences; /* largest batch of decoding captured as one graph; 0: each
                               kernel is launched */
    const ridge_fact *facts;
    size_t n_facts;
} ridge_engine;

/** "mixed", "prefill", "static" */
const char *ridge_engine_batching_text(ridge_engine_batching batching);
/** "recompute", "swap", "reserve" */
const char *ridge_engine_preemption_text(ridge_engine_preemption preemption);

size_t ridge_catalog_engine_count(const ridge_catalog *catalog);
/** In order of names. @return NULL beyond the last, or out of memory */
const ridge_engine *ridge_catalog_engine(const ridge_catalog *catalog, size_t index);

/** By name or alias, any letter case. @owner the catalogue
 * @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_engine_find(ridge_ctx *cx,
                                               const ridge_catalog *catalog,
                                               const char *name,
                                               const ridge_engine **out);

#ifdef __cplusplus
}
#endif

#endif
