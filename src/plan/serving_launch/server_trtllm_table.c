/*
 * Options of trtllm-serve and keys of its YAML that have a meaning here, in the order
 * in which they are written.
 *
 * @source tensorrt-llm-2026, trtllm-serve and LlmArgs
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
const launch_option server_trtllm_options[] = {
    {"model", LAUNCH_MODEL_NAME, NULL, NULL},
    {"tensor_parallel_size", LAUNCH_TP, "1", NULL},
    {"tp_size", LAUNCH_TP, NULL, NULL},
    {"pipeline_parallel_size", LAUNCH_PP, "1", NULL},
    {"pp_size", LAUNCH_PP, NULL, NULL},
    {"moe_expert_parallel_size", LAUNCH_EP, "1", NULL},
    {"ep_size", LAUNCH_EP, NULL, NULL},
    {"enable_attention_dp", LAUNCH_HAS_ATTENTION_DP, "false", NULL},
    {"max_batch_size", LAUNCH_SEQUENCES, NULL, NULL},
    {"max_num_tokens", LAUNCH_BUDGET, NULL, NULL},
    {"max_seq_len", LAUNCH_CONTEXT, NULL, NULL},
    {"enable_chunked_prefill", LAUNCH_CHUNKED, NULL, NULL},
    {"kv_cache_config.dtype", LAUNCH_CACHE_DTYPE, "auto", NULL},
    {"kv_cache_config.free_gpu_memory_fraction", LAUNCH_MEMORY_SHARE, NULL, NULL},
    {"free_gpu_memory_fraction", LAUNCH_MEMORY_SHARE, NULL, NULL},
    {"kv_cache_free_gpu_memory_fraction", LAUNCH_MEMORY_SHARE, NULL, NULL},
    {"kv_cache_config.tokens_per_block", LAUNCH_CACHE_BLOCK, NULL, NULL},
    {"kv_cache_config.enable_block_reuse", LAUNCH_PREFIX_CACHE, NULL, NULL},
    {"quant_config.quant_algo", LAUNCH_QUANT, NULL, NULL},
    {"quant_config.kv_cache_quant_algo", LAUNCH_CACHE_QUANT, NULL, NULL},
    {"cuda_graph_config.max_batch_size", LAUNCH_GRAPH_SEQS, NULL, NULL},
    {"scheduler_config.capacity_scheduler_policy", LAUNCH_EVICTION, NULL, NULL},
    {"speculative_config.decoding_type", LAUNCH_DRAFT_METHOD, NULL, NULL},
    {"speculative_config.max_draft_len", LAUNCH_DRAFT_DEPTH, NULL, NULL},
    {"speculative_config.num_nextn_predict_layers", LAUNCH_DRAFT_LAYERS, NULL, NULL},
    {"speculative_config.speculative_model_dir", LAUNCH_DRAFT_MODEL, NULL, NULL},
    {"speculative_config.speculative_model", LAUNCH_DRAFT_MODEL, NULL, NULL},
    {"speculative_config.max_matching_ngram_size", LAUNCH_DRAFT_LOOKUP, NULL, NULL},
    {"speculative_config.eagle3_one_model", LAUNCH_SPEC, NULL, NULL},
    {"cache_transceiver_config.backend", LAUNCH_TRANSFER, NULL, NULL},
    {"backend", LAUNCH_LAUNCHED_BY, NULL, NULL},
    {"port", LAUNCH_PORT, NULL, NULL},
    UNPRICED("context_parallel_size", "1", "prompts cut by tokens; not priced"),
    UNPRICED("cp_size", "1", "prompts cut by tokens; not priced"),
    UNPRICED("moe_tensor_parallel_size", NULL, "the width of experts; priced as what ep leaves"),
    UNPRICED("moe_cluster_parallel_size", "1", "clusters of experts; not priced"),
    UNPRICED("cluster_size", "1", "clusters of experts; not priced"),
    UNPRICED("max_beam_width", "1", "beams; priced as one"),
    UNPRICED("kv_cache_config.max_tokens", NULL, "a stated size of the cache; priced as what fits"),
    UNPRICED("kv_cache_config.host_cache_size", "0", "pages of the cache on the host; not priced"),
    UNPRICED("kv_cache_config.max_attention_window", NULL, "windows of its own; priced as the model's"),
    UNPRICED("kv_cache_config.enable_partial_reuse", "true", "parts of pages shared; not priced"),
    {"disable_overlap_scheduler", LAUNCH_NO_OVERLAP, "false", NULL},
    UNPRICED("speculative_config.use_relaxed_acceptance_for_thinking", "false", "tokens accepted that the model would not choose; see acceptance"),
    UNPRICED("speculative_config.use_dynamic_tree", "false", "a tree of drafts; priced as a chain"),
    UNPRICED("speculative_config.eagle_choices", NULL, "a tree of drafts; priced as a chain"),
    UNPRICED("enable_min_latency", "false", "kernels for few tokens; priced as the usual ones"),
    UNPRICED("moe_config.load_balancer", NULL, "experts moved as another file says; see redundant and --skew"),
    {"moe_config.load_balancer.num_slots", LAUNCH_REPLICAS, NULL, NULL},
    {"moe_config.load_balancer.layer_updates_per_iter", LAUNCH_REPLICAS_JSON, NULL, NULL},
    UNPRICED("moe_config.use_low_precision_moe_combine", "false", "a combine of fewer bytes; priced in the activations' format"),
    {"attention_dp_config.enable_balance", LAUNCH_BALANCE, "false", NULL},
    {"attention_dp_config.timeout_iters", LAUNCH_BALANCE_WAIT, NULL, NULL},
    {"attention_dp_config.batching_wait_iters", LAUNCH_GATHER_WAIT, NULL, NULL},
    UNPRICED("lora_config", NULL, "adapters add work to each product; not priced"),
    UNPRICED("enable_lora", "false", "adapters add work to each product; not priced"),
    UNPRICED("sparse_attention_config.algorithm", NULL, "sparse attention; priced as the model's"),
    UNPRICED("allreduce_strategy", "AUTO|auto", "all-reduces of its own; priced as the usual ones"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
