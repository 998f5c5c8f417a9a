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

/** Who gives its blocks up. */
typedef enum ridge_engine_victim {
    RIDGE_VICTIM_LATEST,  /* that was admitted last: vLLM */
    RIDGE_VICTIM_SHORTEST /* that has made the fewest tokens; of equal ones that of the
                             longest prompt: SGLang */
} ridge_engine_victim;

/** What memory_share is a share of. */
typedef enum ridge_engine_memory {
    RIDGE_MEMORY_ALL,    /* of HBM, for weights, activations and cache: vLLM */
    RIDGE_MEMORY_STATIC, /* of HBM, for weights and cache; activations take from the
                            rest: SGLang */
    RIDGE_MEMORY_FREE    /* of what weights and activations leave: TensorRT-LLM */
} ridge_engine_memory;

/** Other limits on some chips. */
typedef struct ridge_engine_limit {
    const char *const *chips; /* NULL-terminated; "a100": that chip and its variants */
    double below_bytes;       /* chips with less HBM than this; 0: none */
    int64_t budget_tokens;
    int64_t sequences;
} ridge_engine_limit;

enum { RIDGE_ENGINE_LIMITS_MAX = 8 };

/** One engine. Immutable, owned by the catalogue. All times in seconds. */
enum { RIDGE_GRAPH_SIZES_MAX = 32 };

/** Batches of decoding that are captured as graphs, rising; one in between is padded to
 *  the next. n 0: each is as large as it is. */
typedef struct ridge_graph_sizes {
    int n;
    double of[RIDGE_GRAPH_SIZES_MAX];
} ridge_graph_sizes;

/** Sequences that a batch is padded to; beyond the largest it stays as it is. */
double ridge_graph_padded(const ridge_graph_sizes *sizes, double sequences);

typedef struct ridge_engine {
    const char *name;           /* "vllm-v1" */
    const char *full_name;      /* "vLLM, V1 engine" */
    const char *version;        /* of the rules: "0.9 to 0.13" */
    const char *const *aliases; /* NULL-terminated */
    const char *base;           /* engine whose variant it is, or NULL */
    const char *const *vendors; /* whose chips it runs on, NULL-terminated; empty or
                                   NULL: not stated */

    ridge_engine_batching batching;
    ridge_engine_preemption preemption;
    ridge_engine_victim victim;
    bool is_chunked;         /* prompts are cut into chunks of the budget */
    bool has_prefix_cache;   /* on unless switched off */
    bool keeps_order;        /* freed pages are taken again in the order in which they
                                were freed, cached or not: vLLM; else cached ones last */
    bool pads_prompts;       /* to powers of two, 16 and more: JetStream */
    bool is_slotted;         /* a sequence takes room for the longest: JetStream */
    bool cuts_sequences;     /* sequences of a cache over ranks beyond the KV heads */
    bool cuts_tokens;        /* tokens of a sequence over them: context parallelism */
    bool gathers_weights;    /* weights cut over ranks that keep their tokens: FSDP */
    bool lacks_stages;       /* no pipeline: JetStream */
    bool lacks_pools;        /* no servers that prefill for others: TGI */
    bool lacks_attention_dp; /* no ranks with sequences of their own in a server: TGI */
    bool deals_over_all;     /* experts are dealt over all ranks of a stage, or cut over
                                them: vLLM */
    bool replicates_experts; /* hot experts have copies, placed by load: EPLB */
    bool splits_batches;     /* iterations of attention ranks in halves that hide each
                                other's exchange with experts, where that is asked */
    bool is_hybrid;          /* layers with windows give pages back; else all keep as
                                much as those without */
    bool captures_decoding;  /* graphs hold decoding alone: with a prompt in it every
                                kernel of an iteration is launched */
    bool ignores_windows;    /* layers with a window keep and read the whole context */
    bool keeps_chunks;    /* those keep it whose window is a chunk (Llama 4), and read
                             the chunk alone */
    bool splits_layers;   /* chips hold layers one after another, whatever degree is
                             asked for: llama.cpp */
    bool decodes_first;   /* of two pools the second makes the first token: the
                             first one's is dropped (vLLM) */
    bool sums_in_fp16;    /* products of more than a few rows in 16 bits are added up
                             in 16 bits: on cards with half of their rate for sums
                             in 32 (GeForce) twice as fast */
    bool hosts_embedding; /* the embedding stays in the host's memory: llama.cpp */
    bool overlaps_shared; /* shared experts run beside the routed ones */
    /* Unless told, caches are in the format that a checkpoint states: ModelOpt's, or
     * the kv_cache_scheme of compressed-tensors; else in that of activations. */
    bool reads_modelopt_cache, reads_cache_scheme;
    /* Prompts of attention ranks enter together: they wait until each rank has one, or
     * for so many iterations of decoding, counted since the last that were let in.
     * 0: they do not wait. Then so many more, for those that come meanwhile. */
    int64_t balance_iterations, gather_iterations;
    int64_t planned_steps; /* iterations of decoding that the host plans at once, where
                              prompts come before decoding: none enters between them;
                              0, 1: one (vLLM V0, --num-scheduler-steps) */
    /* Where prompts come before decoding they wait until they are this share of the
     * sequences that decode, or so many iterations have passed without any (TGI).
     * 0: they do not wait. */
    double waiting_share;
    int64_t waiting_steps;
    /* States of sequences have memory of their own: so many bytes for one of the rest
     * of the cache; 0: they do not. With a prefix cache a sequence that runs counts for
     * so many states. */
    double state_ratio;
    int64_t state_slots;
    int64_t prompts;       /* most in an iteration; 0: any */
    int64_t block_tokens;  /* of a page of the cache */
    int64_t budget_tokens; /* of an iteration: max_num_batched_tokens */
    int64_t chunk_tokens;  /* longest chunk of one prompt; 0: the budget */
    int64_t sequences;     /* at once: max_num_seqs */
    int n_limits;          /* where the two differ; the first that fits a chip counts */
    ridge_engine_limit limits[RIDGE_ENGINE_LIMITS_MAX];
    double watermark; /* share of the blocks kept free at admission */

    /* Room that admission keeps for outputs of requests that run: a share of what they
     * may still make, at most reserve_tokens each. The share starts at reserve_share,
     * falls to reserve_share_least within reserve_steps iterations of decoding, and
     * rises to what the outputs so far call for when a request had to give way. */
    double reserve_share; /* 0: no room is kept (vLLM) */
    double reserve_share_least;
    double reserve_steps;
    double reserve_tokens;
    int64_t retract_steps; /* of decoding that those who stay have room for once one
                              gave way; 0: one */

    ridge_engine_memory memory;
    double memory_share;    /* gpu_memory_utilization, mem_fraction_static, ... */
    double reserve_bytes;   /* of a chip beside weights, activations and cache: CUDA
                               context, graphs, NCCL */
    double group_bytes;     /* more of a chip that exchanges with others: buffers of the
                               communication library, and of its own kernels */
    const char *cache_line; /* what it prints of its cache. {blocks}, {tokens} (of the
                               blocks), {blocktokens}, {longest} (of a sequence,
                               tokens), {seqblocks} (of such a one), {concurrency}
                               (such sequences), {seqs} (whole ones); {name,} with
                               commas between thousands */

    double host_s;           /* of an iteration, whatever is in it */
    double host_sequence_s;  /* more for each sequence in it */
    double stage_host_s;     /* of an iteration in each stage of a pipeline, where every
                                stage has a host of its own and none prepares ahead: the
                                stage takes this where its chip is done sooner; 0: as
                                host_s */
    double stage_sequence_s; /* more of it for each sequence */
    /* What drafting takes beside its kernels, and nothing hides; 0: not known. */
    double draft_s;       /* of an iteration: its host, in the open while it drafts */
    double draft_pass_s;  /* of each pass: launched one behind the other */
    double draft_token_s; /* of each drafted token: inputs, acceptance, what was
                             refused */
    double request_s;     /* of a request: tokenising, queue, answer's first byte */
    bool is_host_hidden;  /* the host prepares the next iteration behind the chip */
    double handoff_s;     /* more of one whose cache goes to another pool: two more
                             servers answer before its first token is sent */
    double experts_share; /* of the rate of experts' products that its kernels reach
                             where arithmetic binds; 0: all of it */
    double experts_share_fp8, experts_share_fp4; /* in 8 and 4 bits; 0: as the former */
    double experts_share_narrow; /* of narrow weights that multiply in 16 bits; 0: as
                                    those of 16 bits */
    double experts_narrow_s, experts_narrow_launch_s; /* of a layer of those, whatever
                                    the rows: kernels that sort and unpack them, and
                                    what launching these takes outside of a graph */
    double experts_fp8_s; /* of a layer's experts in 8 bits, whatever the rows: kernels
                             that scale and lay them out */
    double matmul_share; /* of the rate of dense products that its kernels reach on more
                            than a few rows; 0: all of it */
    double cycle_bytes;  /* of weights that a core draws a cycle where few rows meet
                            them; 0: all that the memory gives */
    double unpack_cycle_weights; /* narrow weights that a core writes out in 16 bits a
                                    cycle, before more than a few rows meet them; 0:
                                    they multiply as they are */
    double stream_bytes; /* more that a row moves for each element of its width and of
                            its feed-forward's: kernels that are not fused */
    double score_bytes;  /* that a score moves: attention that stores them */
    double shared_rows;  /* up to so many rows it overlaps_shared; 0: any */
    double split_rows;   /* from so many of an attention rank it splits_batches */
    double layer_s;      /* of a layer, whatever is in the iteration: kernels of the
                            engine's own beside those of the model's operations */
    double peer_layer_s; /* more of a layer for each further chip of tp: copies that
                            the host starts */
    double graph_sequences; /* largest batch of decoding captured as one graph; 0: each
                               kernel is launched */
    ridge_graph_sizes graph_sizes; /* of an attention rank */
    double launch_s; /* of its host for a kernel that is not captured; 0: none */

    /* 10th and 90th percentile of measured / expected over so many deployments on chips
     * of range_vendors; 0 rows: none was measured. */
    double ttft_low, ttft_high;
    double tpot_low, tpot_high;
    int64_t range_rows;
    const char *const *range_vendors; /* NULL-terminated; empty or NULL: not stated */
    const ridge_fact *facts;
    size_t n_facts;
} ridge_engine;

/** "mixed", "prefill", "static" */
const char *ridge_engine_batching_text(ridge_engine_batching batching);
/** "recompute", "swap", "reserve" */
const char *ridge_engine_preemption_text(ridge_engine_preemption preemption);
/** "latest", "shortest" */
const char *ridge_engine_victim_text(ridge_engine_victim victim);
/** "all", "static", "free" */
const char *ridge_engine_memory_text(ridge_engine_memory memory);

/** Whether the engine runs on chips of that vendor; true where it does not state any.
 */
bool ridge_engine_runs_on(const ridge_engine *engine, const ridge_chip *chip);

/** Whether its ranges were measured on chips of that vendor: false without rows. */
bool ridge_engine_is_measured_on(const ridge_engine *engine, const ridge_chip *chip);

/** What the engine's defaults are on a chip. */
typedef struct ridge_engine_room {
    int64_t budget_tokens;
    int64_t sequences;
} ridge_engine_room;

ridge_engine_room ridge_engine_room_on(const ridge_engine *engine,
                                       const ridge_chip *chip);

/**
 * Append what the engine prints of its cache, its own line for line.
 * @param blocks   of an attention rank
 * @param longest  tokens of a sequence, prompt and output; >= 1
 */
void ridge_engine_cache_write(const ridge_engine *engine, int64_t blocks,
                              int64_t block_tokens, int64_t longest, ridge_buf *out);

size_t ridge_catalog_engine_count(const ridge_catalog *catalog);
/** In order of names. @return NULL beyond the last, or out of memory */
const ridge_engine *ridge_catalog_engine(const ridge_catalog *catalog, size_t index);

/** By name or alias, any letter case. @owner the catalogue
 * @errors E_NOTFOUND with the nearest names; E_PARSE, E_NOMEM when it is first read */
RIDGE_NODISCARD ridge_status ridge_engine_find(ridge_ctx *cx,
                                               const ridge_catalog *catalog,
                                               const char *name,
                                               const ridge_engine **out);

/**
 * The engine of that name for a chip: itself where it runs there, else its first
 * variant that does ("vllm" is vllm-tpu on a TPU). Chips of vendors that no engine
 * names run any.
 *
 * @param name  name or alias; NULL: vLLM's, else the first that names the vendor
 * @owner the catalogue
 * @errors those of ridge_engine_find; E_ARG: it runs on other vendors' chips alone,
 * with the engines that run on this one
 */
RIDGE_NODISCARD ridge_status ridge_engine_find_on(ridge_ctx *cx,
                                                  const ridge_catalog *catalog,
                                                  const char *name,
                                                  const ridge_chip *chip,
                                                  const ridge_engine **out);

#ifdef __cplusplus
}
#endif

#endif
