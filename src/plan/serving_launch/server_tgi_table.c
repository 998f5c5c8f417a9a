/*
 * Options of text-generation-launcher that have a meaning here, in the order in which
 * they are written. Each is a variable as well, in capitals.
 *
 * @source tgi-source-2024, docs/source/reference/launcher.md
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
const launch_option server_tgi_options[] = {
    {"model-id", LAUNCH_MODEL_NAME, NULL, NULL},
    {"num-shard", LAUNCH_TP, NULL, NULL},
    {"sharded", LAUNCH_SHARDED, NULL, NULL},
    {"cuda-visible-devices", LAUNCH_VISIBLE, NULL, NULL},
    {"nvidia-visible-devices", LAUNCH_VISIBLE, NULL, NULL},
    {"dtype", LAUNCH_COMPUTE_DTYPE, NULL, NULL},
    {"quantize", LAUNCH_QUANT, NULL, NULL},
    {"kv-cache-dtype", LAUNCH_CACHE_DTYPE, NULL, NULL},
    {"max-concurrent-requests", LAUNCH_SEQUENCES, NULL, NULL},
    {"max-batch-size", LAUNCH_BATCH, NULL, NULL},
    {"max-input-tokens", LAUNCH_PROMPT, NULL, NULL},
    {"max-input-length", LAUNCH_PROMPT, NULL, NULL},
    {"max-total-tokens", LAUNCH_CONTEXT, NULL, NULL},
    {"max-batch-prefill-tokens", LAUNCH_BUDGET, NULL, NULL},
    {"waiting-served-ratio", LAUNCH_WAITING_SHARE, NULL, NULL},
    {"max-waiting-tokens", LAUNCH_WAITING_STEPS, NULL, NULL},
    {"cuda-graphs", LAUNCH_GRAPH_SIZES, NULL, NULL},
    {"cuda-memory-fraction", LAUNCH_MEMORY_SHARE, NULL, NULL},
    {"use-prefix-caching", LAUNCH_PREFIX_CACHE, NULL, NULL},
    {"prefix-caching", LAUNCH_PREFIX_CACHE, NULL, NULL},
    {"speculate", LAUNCH_DRAFT_DEPTH, NULL, NULL},
    {"port", LAUNCH_PORT, NULL, NULL},
    UNPRICED("max-batch-total-tokens", NULL, "a stated size of the cache; priced as what fits"),
    UNPRICED("disable-custom-kernels", "false", "kernels of PyTorch alone; priced with TGI's own"),
    UNPRICED("lora-adapters", NULL, "adapters add work to each product; not priced"),
    UNPRICED("enable-prefill-logprobs", "false", "logits of whole prompts; not priced"),
    UNPRICED("rope-scaling", NULL, "positions of its own; time as without"),
    UNPRICED("attention", "flashinfer", "attention kernels of another kind; priced as the usual ones"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
