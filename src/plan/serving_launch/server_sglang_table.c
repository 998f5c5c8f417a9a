/*
 * Options of SGLang that have a meaning here, in the order in which they are written.
 *
 * @source sglang-2026, server arguments
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
const launch_option server_sglang_options[] = {
    {"model-path", LAUNCH_MODEL_NAME, NULL, NULL},
    {"model", LAUNCH_MODEL_NAME, NULL, NULL},
    {"tp-size", LAUNCH_TP, "1", NULL},
    {"tp", LAUNCH_TP, NULL, NULL},
    {"tensor-parallel-size", LAUNCH_TP, NULL, NULL},
    {"pp-size", LAUNCH_PP, "1", NULL},
    {"pp", LAUNCH_PP, NULL, NULL},
    {"pipeline-parallel-size", LAUNCH_PP, NULL, NULL},
    {"dp-size", LAUNCH_ATTENTION_DP, "1", NULL},
    {"dp", LAUNCH_ATTENTION_DP, NULL, NULL},
    {"data-parallel-size", LAUNCH_ATTENTION_DP, NULL, NULL},
    {"enable-dp-attention", LAUNCH_HAS_ATTENTION_DP, "false", NULL},
    {"ep-size", LAUNCH_EP, "1", NULL},
    {"ep", LAUNCH_EP, NULL, NULL},
    {"expert-parallel-size", LAUNCH_EP, NULL, NULL},
    {"moe-a2a-backend", LAUNCH_DISPATCHER, "none", NULL},
    {"enable-deepep-moe", LAUNCH_EXPERT_PARALLEL, "false", NULL},
    {"enable-ep-moe", LAUNCH_EXPERT_PARALLEL, NULL, NULL},
    {"dcp-size", LAUNCH_KV_SPLIT, "1", NULL},
    {"decode-context-parallel-size", LAUNCH_KV_SPLIT, NULL, NULL},
    {"nnodes", LAUNCH_NODES, NULL, NULL},
    {"node-rank", LAUNCH_NODE_RANK, NULL, NULL},
    {"dist-init-addr", LAUNCH_HEAD_ADDRESS, NULL, NULL},
    {"dtype", LAUNCH_COMPUTE_DTYPE, "auto", NULL},
    {"quantization", LAUNCH_QUANT, NULL, NULL},
    {"kv-cache-dtype", LAUNCH_CACHE_DTYPE, "auto", NULL},
    {"context-length", LAUNCH_CONTEXT, NULL, NULL},
    {"context-len", LAUNCH_CONTEXT, NULL, NULL},
    {"max-running-requests", LAUNCH_SEQUENCES, NULL, NULL},
    {"chunked-prefill-size", LAUNCH_BUDGET, NULL, NULL},
    {"page-size", LAUNCH_CACHE_BLOCK, NULL, NULL},
    {"mem-fraction-static", LAUNCH_MEMORY_SHARE, NULL, NULL},
    {"disable-radix-cache", LAUNCH_NO_PREFIX_CACHE, NULL, NULL},
    {"disable-cuda-graph", LAUNCH_NO_GRAPHS, NULL, NULL},
    {"cuda-graph-max-bs", LAUNCH_GRAPH_SEQS, NULL, NULL},
    {"speculative-algorithm", LAUNCH_DRAFT_METHOD, NULL, NULL},
    {"speculative-algo", LAUNCH_DRAFT_METHOD, NULL, NULL},
    {"speculative-draft-model-path", LAUNCH_DRAFT_MODEL, NULL, NULL},
    {"speculative-draft", LAUNCH_DRAFT_MODEL, NULL, NULL},
    {"speculative-num-steps", LAUNCH_DRAFT_DEPTH, NULL, NULL},
    {"speculative-eagle-topk", LAUNCH_DRAFT_WIDTH, NULL, NULL},
    {"speculative-num-draft-tokens", LAUNCH_DRAFT_NODES, NULL, NULL},
    {"disaggregation-mode", LAUNCH_ROLE, NULL, NULL},
    {"disaggregation-transfer-backend", LAUNCH_TRANSFER, NULL, NULL},
    {"port", LAUNCH_PORT, NULL, NULL},
    UNPRICED("max-prefill-tokens", "16384", "a bound of waiting prompts in an iteration; priced by chunked-prefill-size"),
    UNPRICED("max-total-tokens", NULL, "a stated size of the cache; priced as what fits"),
    UNPRICED("schedule-policy", "lpm|fcfs", "an order of its own; simulate it with a policy"),
    {"schedule-conservativeness", LAUNCH_RESERVE, NULL, NULL},
    {"enable-mixed-chunk", LAUNCH_MIXED, "false", NULL},
    UNPRICED("enable-torch-compile", "false", "fused elementwise kernels; priced as without"),
    UNPRICED("torchao-config", NULL, "weights quantised when loaded; state it with quantization"),
    {"enable-two-batch-overlap", LAUNCH_TWO_BATCHES, "false", NULL},
    UNPRICED("enable-single-batch-overlap", "false", "shared experts beside the exchange; not priced"),
    UNPRICED("enable-dp-lm-head", "false", "logits of each rank's own sequences; not priced"),
    UNPRICED("moe-dense-tp-size", NULL, "dense layers cut otherwise than experts; priced as tp"),
    UNPRICED("attn-cp-size", "1", "prompts cut by tokens; not priced"),
    UNPRICED("moe-dp-size", "1", "experts held by several groups; not priced"),
    {"enable-eplb", LAUNCH_HAS_REPLICAS, "false", NULL},
    {"ep-num-redundant-experts", LAUNCH_REPLICAS, NULL, NULL},
    UNPRICED("cpu-offload-gb", "0", "weights on the host; priced in HBM"),
    UNPRICED("enable-hierarchical-cache", "false", "pages of the cache on the host; not priced"),
    UNPRICED("enable-lora", "false", "adapters add work to each product; not priced"),
    UNPRICED("lora-paths", NULL, "adapters add work to each product; not priced"),
    {"num-continuous-decode-steps", LAUNCH_PLANNED, NULL, NULL},
    {"disable-overlap-schedule", LAUNCH_NO_OVERLAP, "false", NULL},
    UNPRICED("disable-cuda-graph-padding", "false", "graphs of exact sizes; priced as padded"),
    UNPRICED("enable-double-sparsity", "false", "sparse attention; priced as full"),
    UNPRICED("hybrid-kvcache-ratio", NULL, "a split of the cache; priced as unified"),
    UNPRICED("disable-hybrid-swa-memory", "false", "windows cached in full; priced as windows"),
    {"prefill-max-requests", LAUNCH_PROMPTS_MOST, NULL, NULL},
    UNPRICED("disable-custom-all-reduce", "false", "all-reduces by NCCL alone; priced as the usual ones"),
    UNPRICED("speculative-accept-threshold-single", "1.0|1", "tokens accepted that the model would not choose; see acceptance"),
    UNPRICED("speculative-accept-threshold-acc", "1.0|1", "tokens accepted that the model would not choose; see acceptance"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
