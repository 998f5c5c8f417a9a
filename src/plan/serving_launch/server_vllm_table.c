/*
 * Options of vLLM that have a meaning here, in the order in which they are written, and
 * what its extension for TPUs adds. JSON values are known by their keys.
 *
 * @source vllm-2026, engine arguments; vllm-tpu-2026, sharding of tpu-inference
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
#define VLLM_ROWS                                                                        \
    {"model", LAUNCH_MODEL_NAME, NULL, NULL},                                            \
    {"tensor-parallel-size", LAUNCH_TP, "1", NULL},                                      \
    {"tp", LAUNCH_TP, NULL, NULL},                                                       \
    {"pipeline-parallel-size", LAUNCH_PP, "1", NULL},                                    \
    {"pp", LAUNCH_PP, NULL, NULL},                                                       \
    {"data-parallel-size", LAUNCH_ATTENTION_DP, "1", NULL},                              \
    {"dp", LAUNCH_ATTENTION_DP, NULL, NULL},                                             \
    {"enable-expert-parallel", LAUNCH_EXPERT_PARALLEL, "false", NULL},                   \
    {"ep", LAUNCH_EXPERT_PARALLEL, NULL, NULL},                                          \
    {"decode-context-parallel-size", LAUNCH_KV_SPLIT, "1", NULL},                        \
    {"dcp", LAUNCH_KV_SPLIT, NULL, NULL},                                                \
    {"data-parallel-size-local", LAUNCH_RANKS_LOCAL, NULL, NULL},                        \
    {"data-parallel-backend", LAUNCH_RANKS_BY, NULL, NULL},                              \
    {"distributed-executor-backend", LAUNCH_LAUNCHED_BY, NULL, NULL},                    \
    {"dtype", LAUNCH_COMPUTE_DTYPE, "auto", NULL},                                       \
    {"quantization", LAUNCH_QUANT, NULL, NULL},                                          \
    {"q", LAUNCH_QUANT, NULL, NULL},                                                     \
    {"kv-cache-dtype", LAUNCH_CACHE_DTYPE, "auto", NULL},                                \
    {"max-model-len", LAUNCH_CONTEXT, NULL, NULL},                                       \
    {"max-num-seqs", LAUNCH_SEQUENCES, NULL, NULL},                                      \
    {"max-num-batched-tokens", LAUNCH_BUDGET, NULL, NULL},                               \
    {"block-size", LAUNCH_CACHE_BLOCK, NULL, NULL},                                      \
    {"gpu-memory-utilization", LAUNCH_MEMORY_SHARE, NULL, NULL},                         \
    {"enable-prefix-caching", LAUNCH_PREFIX_CACHE, NULL, NULL},                          \
    {"no-enable-prefix-caching", LAUNCH_NO_PREFIX_CACHE, NULL, NULL},                    \
    {"enable-chunked-prefill", LAUNCH_CHUNKED, NULL, NULL},                              \
    {"no-enable-chunked-prefill", LAUNCH_NO_CHUNKED, NULL, NULL},                        \
    {"enforce-eager", LAUNCH_NO_GRAPHS, NULL, NULL},                                     \
    {"O0", LAUNCH_NO_GRAPHS, NULL, NULL},                                                \
    {"max-cudagraph-capture-size", LAUNCH_GRAPH_SEQS, NULL, NULL},                       \
    {"compilation-config.max_cudagraph_capture_size", LAUNCH_GRAPH_SEQS, NULL, NULL},    \
    {"speculative-config", LAUNCH_DRAFT_JSON, NULL, NULL},                               \
    {"speculative-config.method", LAUNCH_DRAFT_METHOD, NULL, NULL},                      \
    {"speculative-config.model", LAUNCH_DRAFT_MODEL, NULL, NULL},                        \
    {"speculative-config.num_speculative_tokens", LAUNCH_DRAFT_DEPTH, NULL, NULL},       \
    {"speculative-config.prompt_lookup_max", LAUNCH_DRAFT_LOOKUP, NULL, NULL},           \
    {"kv-transfer-config", LAUNCH_KV_JSON, NULL, NULL},                                  \
    {"kv-transfer-config.kv_connector", LAUNCH_KV_CONNECTOR, NULL, NULL},                \
    {"kv-transfer-config.kv_role", LAUNCH_KV_ROLE, NULL, NULL},                          \
    {"enable-dbo", LAUNCH_TWO_BATCHES, "false", NULL},                                   \
    {"enable-eplb", LAUNCH_HAS_REPLICAS, "false", NULL},                                 \
    {"eplb-config", LAUNCH_REPLICAS_JSON, NULL, NULL},                                   \
    {"eplb-config.num_redundant_experts", LAUNCH_REPLICAS, NULL, NULL},                  \
    {"num-redundant-experts", LAUNCH_REPLICAS, NULL, NULL},                              \
    {"async-scheduling", LAUNCH_OVERLAP, "false", NULL},                                 \
    {"port", LAUNCH_PORT, NULL, NULL},                                                   \
    UNPRICED("speculative-config.speculative_token_tree", NULL, "a tree of drafts; priced as a chain"), \
    UNPRICED("speculative-config.disable_by_batch_size", NULL, "speculation that stops when many sequences run; priced as always on"), \
    UNPRICED("speculative-config.draft_tensor_parallel_size", NULL, "the draft on chips of its own count; priced on as many as its heads allow"), \
    {"compilation-config.cudagraph_mode", LAUNCH_GRAPH_MODE, NULL, NULL},                \
    UNPRICED("compilation-config.mode", "3|VLLM_COMPILE", "less is compiled; priced as compiled"), \
    UNPRICED("compilation-config.level", "3|PIECEWISE", "less is compiled; priced as compiled"), \
    UNPRICED("prefill-context-parallel-size", "1", "prompts cut by tokens; not priced"), \
    UNPRICED("cpu-offload-gb", "0", "weights on the host; priced in HBM"),               \
    UNPRICED("kv-offloading-size", NULL, "pages of the cache on the host; not priced"),  \
    UNPRICED("kv-offloading-backend", NULL, "pages of the cache on the host; not priced"), \
    UNPRICED("swap-space", "4|0", "sequences swapped to the host; priced as computed again"), \
    UNPRICED("num-gpu-blocks-override", NULL, "a stated count of pages; priced as what fits"), \
    UNPRICED("kv-cache-memory-bytes", NULL, "a stated size of the cache; priced as what fits"), \
    UNPRICED("enable-lora", "false", "adapters add work to each product; not priced"),   \
    UNPRICED("all2all-backend", "naive|allgather_reducescatter|pplx|deepep_low_latency|deepep_high_throughput|flashinfer_all2allv", "an exchange of experts that Ridge does not know; priced as an all-to-all"), \
    {"long-prefill-token-threshold", LAUNCH_CHUNK, NULL, NULL},                          \
    UNPRICED("max-num-partial-prefills", "1", "chunks of several prompts at once; not priced"), \
    UNPRICED("max-long-partial-prefills", "1", "chunks of several prompts at once; not priced"), \
    UNPRICED("scheduling-policy", "fcfs", "an order of its own; simulate it with a policy"), \
    {"num-scheduler-steps", LAUNCH_PLANNED, NULL, NULL},                                 \
    UNPRICED("rope-scaling", NULL, "positions of its own; time as without"),             \
    UNPRICED("disable-custom-all-reduce", "false", "all-reduces by NCCL alone; priced as the usual ones"), \
    UNPRICED("disable-cascade-attn", "false", "shared prefixes read for each sequence; priced so always"), \
    UNPRICED("disable-sliding-window", "false", "windows read in full; priced as windows"), \
    UNPRICED("disable-hybrid-kv-cache-manager", "false", "windows cached in full; priced as windows"), \
    UNPRICED("ubatch-size", "0", "batches in parts; not priced"),                        \
    UNPRICED("data-parallel-external-lb", "false", "the balance of ranks is left to others; priced as even")

const launch_option server_vllm_options[] = {
    VLLM_ROWS,
    UNPRICED("additional-config", NULL, "settings of a plugin; not priced"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};

const launch_option server_vllm_tpu_options[] = {
    VLLM_ROWS,
    {"additional-config", LAUNCH_SHARDING_JSON, NULL, NULL},
    {"additional-config.sharding.sharding_strategy.enable_dp_attention", LAUNCH_HAS_ATTENTION_DP, "false", NULL},
    {"additional-config.sharding.sharding_strategy.tensor_parallelism", LAUNCH_STAGES, NULL, NULL},
    {"additional-config.sharding.sharding_strategy.expert_parallelism", LAUNCH_EP, NULL, NULL},
    {"additional-config.sharding.sharding_strategy.data_parallelism", LAUNCH_DP_REPLICAS, NULL, NULL},
    UNPRICED("additional-config.sharding.sharding_strategy.sequence_parallelism", "1", "prompts cut by tokens; not priced"),
    UNPRICED("additional-config.replicate_attn_weights", "false", "attention's weights held by all chips; priced as cut"),
    UNPRICED("additional-config.quantization", NULL, "weights quantised when loaded; state it with quantization"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
