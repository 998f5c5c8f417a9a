/*
 * Options of lmdeploy serve api_server that have a meaning here, in the order in which
 * they are written.
 *
 * @source lmdeploy-source-2025, lmdeploy/cli/serve.py and utils.py
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
const launch_option server_lmdeploy_options[] = {
    {"model", LAUNCH_MODEL_NAME, NULL, NULL},
    {"model-path", LAUNCH_MODEL_NAME, NULL, NULL},
    {"tp", LAUNCH_TP, "1", NULL},
    {"dp", LAUNCH_ATTENTION_DP, "1", NULL},
    {"ep", LAUNCH_EP, "1", NULL},
    {"dtype", LAUNCH_COMPUTE_DTYPE, "auto", NULL},
    {"model-format", LAUNCH_QUANT, NULL, NULL},
    {"quant-policy", LAUNCH_CACHE_BITS, "0", NULL},
    {"session-len", LAUNCH_CONTEXT, NULL, NULL},
    {"max-batch-size", LAUNCH_SEQUENCES, NULL, NULL},
    {"instance-num", LAUNCH_SEQUENCES, NULL, NULL},
    {"cache-max-entry-count", LAUNCH_MEMORY_SHARE, NULL, NULL},
    {"cache-block-seq-len", LAUNCH_CACHE_BLOCK, NULL, NULL},
    {"enable-prefix-caching", LAUNCH_PREFIX_CACHE, NULL, NULL},
    {"max-prefill-token-num", LAUNCH_BUDGET, NULL, NULL},
    {"eager-mode", LAUNCH_NO_GRAPHS, NULL, NULL},
    {"enable-microbatch", LAUNCH_TWO_BATCHES, "false", NULL},
    {"role", LAUNCH_ROLE, "Hybrid", NULL},
    {"server-port", LAUNCH_PORT, NULL, NULL},
    UNPRICED("backend", "turbomind", "kernels and a scheduler of PyTorch's; priced as TurboMind"),
    UNPRICED("num-tokens-per-iter", "0", "prompts in parts; priced whole"),
    UNPRICED("max-prefill-iters", "1", "prompts in parts; priced whole"),
    UNPRICED("communicator", "nccl", "all-reduces of its own; priced as NCCL's"),
    UNPRICED("adapters", NULL, "adapters add work to each product; not priced"),
    UNPRICED("cp", "1", "prompts cut by tokens; not priced"),
    UNPRICED("enable-eplb", "false", "experts move to where loads are even; priced as they are dealt"),
    UNPRICED("max-concurrent-requests", NULL, "a bound before the engine's; not priced"),
    UNPRICED("rope-scaling-factor", "0|0.0", "positions of its own; time as without"),
    UNPRICED("speculative-algorithm", NULL, "drafts of its own; priced without speculation"),
    UNPRICED("speculative-draft-model", NULL, "drafts of its own; priced without speculation"),
    UNPRICED("speculative-num-draft-tokens", NULL, "drafts of its own; priced without speculation"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
