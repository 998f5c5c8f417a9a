/*
 * Keys of MaxText's inference that have a meaning here, in the order in which they are
 * written.
 *
 * @source maxtext-2025, configs/base.yml and inference.yml; jetstream-2025, user guides
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
const launch_option server_maxtext_options[] = {
    {"base_config", LAUNCH_BASE, NULL, NULL},
    {"model_name", LAUNCH_MODEL_NAME, NULL, NULL},
    {"tokenizer_path", LAUNCH_TOKENIZER, NULL, NULL},
    {"load_parameters_path", LAUNCH_WEIGHTS_PATH, NULL, NULL},
    {"max_prefill_predict_length", LAUNCH_PROMPT, NULL, NULL},
    {"max_target_length", LAUNCH_CONTEXT, "2048", NULL},
    {"ici_fsdp_parallelism", LAUNCH_DP_SHARDS, "-1", NULL},
    {"ici_autoregressive_parallelism", LAUNCH_KV_BATCH, "1", NULL},
    {"ici_context_autoregressive_parallelism", LAUNCH_KV_SPLIT, "1", NULL},
    {"ici_expert_parallelism", LAUNCH_EP, "1", NULL},
    {"ici_tensor_parallelism", LAUNCH_TP, "1", NULL},
    {"per_device_batch_size", LAUNCH_LOCAL_BATCH, "12.0", NULL},
    {"scan_layers", LAUNCH_SCAN, NULL, NULL},
    {"weight_dtype", LAUNCH_WEIGHT_DTYPE, NULL, NULL},
    {"dtype", LAUNCH_COMPUTE_DTYPE, NULL, NULL},
    {"quantization", LAUNCH_QUANT, NULL, NULL},
    {"checkpoint_is_quantized", LAUNCH_QUANT_LOADED, NULL, NULL},
    {"quantize_kvcache", LAUNCH_CACHE_QUANT, "false", NULL},
    {"kv_quant_dtype", LAUNCH_CACHE_DTYPE, "int8", NULL},
    {"use_chunked_prefill", LAUNCH_CHUNKED, "false", NULL},
    {"prefill_chunk_size", LAUNCH_CHUNK, "256", NULL},
    {"prometheus_port", LAUNCH_PORT, NULL, NULL},
    UNPRICED("ici_data_parallelism", "1", "replicas in one server; not priced"),
    UNPRICED("ici_tensor_sequence_parallelism", "1", "tensor parallelism in two dims; not priced"),
    UNPRICED("ici_tensor_transpose_parallelism", "1", "tensor parallelism in two dims; not priced"),
    UNPRICED("ici_sequence_parallelism", "1", "prompts cut by tokens; not priced"),
    UNPRICED("ici_context_parallelism", "1", "prompts cut by tokens; not priced"),
    UNPRICED("ici_pipeline_parallelism", "1", "stages; not priced"),
    UNPRICED("dcn_data_parallelism", "1|-1", "replicas in one server; not priced"),
    UNPRICED("dcn_tensor_parallelism", "1", "tensor parallelism between slices; not priced"),
    UNPRICED("attention", "autoselected|dot_product|paged|flash", "attention of another kind; priced as the usual one"),
    UNPRICED("megablox", "true", "experts without grouped products; priced as grouped"),
    UNPRICED("sparse_matmul", "true", "experts as dense products; priced as grouped"),
    UNPRICED("capacity_factor", "-1.0|-1", "tokens dropped or padded; priced without either"),
    UNPRICED("inference_server", "MaxtextInterleavedServer", "servers of unlike roles; priced as one"),
    UNPRICED("logical_axis_rules", NULL, "shardings of its own; priced by the degrees"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
