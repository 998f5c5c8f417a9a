/*
 * Options of MaxText that have a meaning here, in the order in which they are written,
 * with the values of its base.yml.
 *
 * @source maxtext-2025, configs/base.yml
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }
#define UNPRICED_MODEL(name, idle, effect)                                             \
    {                                                                                  \
        name, LAUNCH_UNPRICED_MODEL, idle, effect                                      \
    }

/* clang-format off */
const launch_option launch_maxtext_options[] = {
    {"base_config", LAUNCH_BASE, NULL, NULL},
    {"hardware", LAUNCH_HARDWARE, NULL, NULL},
    {"model_name", LAUNCH_MODEL_NAME, "default", NULL},
    {"decoder_block", LAUNCH_BLOCK, "llama2", NULL},
    {"base_num_decoder_layers", LAUNCH_LAYERS, "16", NULL},
    {"base_emb_dim", LAUNCH_D_MODEL, "2048", NULL},
    {"base_mlp_dim", LAUNCH_D_FF, "7168", NULL},
    {"base_num_query_heads", LAUNCH_HEADS, "16", NULL},
    {"base_num_kv_heads", LAUNCH_KV_HEADS, "16", NULL},
    {"head_dim", LAUNCH_HEAD_DIM, "128", NULL},
    {"mlp_activations", LAUNCH_ACTIVATIONS, "[silu,linear]", NULL},
    {"vocab_size", LAUNCH_VOCAB, "32000", NULL},
    {"logits_via_embedding", LAUNCH_TIED, "false", NULL},
    {"attention_bias", LAUNCH_QKV_BIAS, "false", NULL},
    {"use_qk_norm", LAUNCH_QK_NORM, "false", NULL},
    {"sliding_window_size", LAUNCH_WINDOW, "0", NULL},
    {"trainable_position_size", LAUNCH_POSITIONS, "-1", NULL},
    {"attention_type", LAUNCH_MLA, "global", NULL},
    {"q_lora_rank", LAUNCH_Q_LORA, "0", NULL},
    {"kv_lora_rank", LAUNCH_KV_LORA, "512", NULL},
    {"qk_nope_head_dim", LAUNCH_NOPE_DIM, "128", NULL},
    {"qk_rope_head_dim", LAUNCH_ROPE_DIM, "64", NULL},
    {"v_head_dim", LAUNCH_V_HEAD_DIM, "128", NULL},
    {"num_experts", LAUNCH_EXPERTS, "1", NULL},
    {"num_experts_per_tok", LAUNCH_EXPERTS_PER_TOKEN, "1", NULL},
    {"base_moe_mlp_dim", LAUNCH_EXPERT_D_FF, "-1", NULL},
    {"shared_experts", LAUNCH_SHARED_EXPERTS, "0", NULL},
    {"first_num_dense_layers", LAUNCH_FIRST_DENSE, "0", NULL},
    {"interleave_moe_layer_step", LAUNCH_MOE_STEP, "1", NULL},
    {"routed_bias", LAUNCH_ROUTER_BIAS, "false", NULL},
    {"global_parameter_scale", LAUNCH_SCALE, "1", NULL},

    {"dcn_data_parallelism", LAUNCH_DCN_DP, "-1", NULL},
    {"dcn_fsdp_parallelism", LAUNCH_DCN_FSDP, "1", NULL},
    {"dcn_context_parallelism", LAUNCH_DCN_CP, "1", NULL},
    {"dcn_tensor_parallelism", LAUNCH_DCN_TP, "1", NULL},
    {"dcn_tensor_sequence_parallelism", LAUNCH_DCN_TP_SEQUENCE, "1", NULL},
    {"dcn_pipeline_parallelism", LAUNCH_DCN_PP, "1", NULL},
    {"dcn_expert_parallelism", LAUNCH_DCN_EP, "1", NULL},
    {"ici_data_parallelism", LAUNCH_DP_REPLICAS, "1", NULL},
    {"ici_fsdp_parallelism", LAUNCH_DP_SHARDS, "-1", NULL},
    {"ici_fsdp_transpose_parallelism", LAUNCH_FSDP_TRANSPOSED, "1", NULL},
    {"ici_context_parallelism", LAUNCH_CP, "1", NULL},
    {"context_parallel_strategy", LAUNCH_CP_EXCHANGE, "all_gather", NULL},
    {"ici_tensor_parallelism", LAUNCH_TP, "1", NULL},
    {"ici_tensor_sequence_parallelism", LAUNCH_TP_SEQUENCE, "1", NULL},
    {"ici_pipeline_parallelism", LAUNCH_PP, "1", NULL},
    {"ici_expert_parallelism", LAUNCH_EP, "1", NULL},
    {"shard_optimizer_over_data", LAUNCH_ZERO_OPTIMIZER, "false", NULL},
    {"num_layers_per_pipeline_stage", LAUNCH_STAGE_LAYERS, "1", NULL},
    {"num_pipeline_repeats", LAUNCH_PIPELINE_REPEATS, "-1", NULL},
    {"num_pipeline_microbatches", LAUNCH_MICROBATCHES, "-1", NULL},

    {"per_device_batch_size", LAUNCH_LOCAL_BATCH, "12.0", NULL},
    {"gradient_accumulation_steps", LAUNCH_ACCUMULATION, "1", NULL},
    {"max_target_length", LAUNCH_SEQ, "2048", NULL},
    {"steps", LAUNCH_STEPS, NULL, NULL},

    {"mtp_num_layers", LAUNCH_MTP, "0", NULL},
    {"remat_policy", LAUNCH_REMAT, "full", NULL},
    {"context", LAUNCH_KEEP_CONTEXT, "remat", NULL},
    {"query_proj", LAUNCH_KEEP_Q, "remat", NULL},
    {"key_proj", LAUNCH_KEEP_K, "remat", NULL},
    {"value_proj", LAUNCH_KEEP_V, "remat", NULL},
    {"qkv_proj", LAUNCH_KEEP_QKV, "remat", NULL},
    {"out_proj", LAUNCH_KEEP_OUT, "remat", NULL},
    {"mlpwi_0", LAUNCH_KEEP_GATE, "remat", NULL},
    {"mlpwi_1", LAUNCH_KEEP_UP, "remat", NULL},
    {"mlpwi", LAUNCH_KEEP_GATE_UP, "remat", NULL},
    {"mlpwo", LAUNCH_KEEP_DOWN, "remat", NULL},
    {"dtype", LAUNCH_COMPUTE_DTYPE, "bfloat16", NULL},
    {"weight_dtype", LAUNCH_WEIGHT_DTYPE, "float32", NULL},
    {"grad_dtype", LAUNCH_GRAD_DTYPE, NULL, NULL},
    {"quantization", LAUNCH_FP8, NULL, NULL},
    {"opt_type", LAUNCH_OPTIMIZER, "adamw", NULL},
    {"optimizer_memory_host_offload", LAUNCH_OPTIMIZER_OFFLOAD, "false", NULL},
    {"parameter_memory_host_offload", LAUNCH_WEIGHTS_OFFLOAD, "false", NULL},

    UNPRICED("ici_sequence_parallelism", "1", "another way to cut the sequence; not priced"),
    UNPRICED("ici_context_usp_ulysses_parallelism", "1", "heads exchanged for the sequence; not priced"),
    UNPRICED("ici_context_autoregressive_parallelism", "1", "an axis for decoding; not priced"),
    UNPRICED("ici_autoregressive_parallelism", "1", "an axis for decoding; not priced"),
    UNPRICED("ici_tensor_transpose_parallelism", "1", "tensor parallelism in two dims; not priced"),
    UNPRICED("ici_diloco_parallelism", "1", "replicas that seldom meet; not priced"),
    UNPRICED("dcn_diloco_parallelism", "1", "replicas that seldom meet; not priced"),
    UNPRICED("enable_diloco", "false", "replicas that seldom meet; not priced"),
    UNPRICED("pipeline_delay_activation_forwarding", "false", "a doubled bubble; not priced"),
    UNPRICED("pipeline_fsdp_ag_once", "false", "weights gathered once a step; priced once a microbatch"),
    UNPRICED("pipeline_fsdp_ag_per_repeat", "false", "weights gathered once a repeat; priced once a microbatch"),
    UNPRICED("pipeline_parallel_layers", "-1", "a pipeline of some layers; priced as of all"),
    UNPRICED("attention", "autoselected|flash|cudnn_flash_te", "attention without a fused kernel; priced as flash attention"),
    UNPRICED("capacity_factor", "-1.0|-1", "tokens dropped or padded; priced without either"),
    UNPRICED("megablox", "true", "experts without grouped products; priced as grouped"),
    UNPRICED("sparse_matmul", "true", "experts as dense products; priced as grouped"),
    UNPRICED("use_batch_split_schedule", "false", "halves of a batch that hide each other's exchange; not priced"),
    UNPRICED_MODEL("use_indexer", "false", "sparse attention; priced as full attention"),
    UNPRICED_MODEL("chunk_attn_window_size", "0", "attention in chunks; priced as full attention"),
    UNPRICED_MODEL("nope_layer_interval", "-1", "layers that differ in their attention; priced alike"),
    UNPRICED("mu_dtype", "float32", "moments of another precision; memory as for fp32"),
    UNPRICED("enable_rampup_batch_size", "false", "smaller batches at first; priced at the full batch"),
    UNPRICED("te_comm_gemm_overlap", "disabled", "collective matmuls; see tp_overlap"),
    UNPRICED("num_vocab_tiling", "1", "logits in tiles; memory as for whole ones"),
    UNPRICED("decoder_layer_input", "device", "inputs of layers on the host; priced on the chip"),
    UNPRICED("custom_mesh_and_rule", NULL, "a mesh of its own; priced by the degrees"),
    UNPRICED("logical_axis_rules", NULL, "shardings of its own; priced by the degrees"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
