/*
 * Options of torchtitan's job configuration (its TOML form) that have a meaning here,
 * in the order in which they are written, with its defaults.
 *
 * @source torchtitan-2025, torchtitan/config/job_config.py and train_configs
 */
#include "launch_field.h"

#include <stddef.h>

#define UNPRICED(name, idle, effect)                                                   \
    {                                                                                  \
        name, LAUNCH_UNPRICED, idle, effect                                            \
    }

/* clang-format off */
const launch_option launch_torchtitan_options[] = {
    {"model.name", LAUNCH_MODEL_NAME, NULL, NULL},
    {"model.flavor", LAUNCH_MODEL_FLAVOR, NULL, NULL},
    {"model.converters", LAUNCH_CONVERTERS, NULL, NULL},
    {"float8.enable_fsdp_float8_all_gather", LAUNCH_FP8_GATHER, "false", NULL},
    {"quantize.linear.float8.enable_fsdp_float8_all_gather", LAUNCH_FP8_GATHER, "false", NULL},
    {"float8.recipe_name", LAUNCH_FP8_RECIPE, "tensorwise", NULL},
    {"quantize.linear.float8.recipe_name", LAUNCH_FP8_RECIPE, "tensorwise", NULL},
    {"optimizer.name", LAUNCH_OPTIMIZER, "AdamW", NULL},
    {"training.local_batch_size", LAUNCH_LOCAL_BATCH, "8", NULL},
    {"training.batch_size", LAUNCH_LOCAL_BATCH, "8", NULL},
    {"training.global_batch_size", LAUNCH_BATCH, NULL, NULL},
    {"training.seq_len", LAUNCH_SEQ, "2048", NULL},
    {"training.steps", LAUNCH_STEPS, NULL, NULL},
    {"training.enable_cpu_offload", LAUNCH_OPTIMIZER_OFFLOAD, "false", NULL},
    {"training.mixed_precision_param", LAUNCH_COMPUTE_DTYPE, "bfloat16", NULL},
    {"training.mixed_precision_reduce", LAUNCH_GRAD_DTYPE, "float32", NULL},
    {"parallelism.data_parallel_replicate_degree", LAUNCH_DP_REPLICAS, "1", NULL},
    {"parallelism.data_parallel_shard_degree", LAUNCH_DP_SHARDS, "-1", NULL},
    {"parallelism.fsdp_reshard_after_forward", LAUNCH_RESHARD, "default", NULL},
    {"parallelism.tensor_parallel_degree", LAUNCH_TP, "1", NULL},
    {"parallelism.enable_async_tensor_parallel", LAUNCH_TP_OVERLAP, "false", NULL},
    {"parallelism.pipeline_parallel_degree", LAUNCH_PP, "1", NULL},
    {"parallelism.pipeline_parallel_schedule", LAUNCH_SCHEDULE, "1F1B", NULL},
    {"parallelism.pipeline_parallel_layers_per_stage", LAUNCH_STAGE_LAYERS, NULL, NULL},
    {"parallelism.pipeline_parallel_first_stage_less_layers", LAUNCH_FIRST_LESS, "1", NULL},
    {"parallelism.pipeline_parallel_last_stage_less_layers", LAUNCH_LAST_LESS, "1", NULL},
    {"parallelism.pipeline_parallel_microbatch_size", LAUNCH_PIPELINE_MICROBATCH, "1", NULL},
    {"parallelism.context_parallel_degree", LAUNCH_CP, "1", NULL},
    {"parallelism.context_parallel_rotate_method", LAUNCH_CP_EXCHANGE, "allgather", NULL},
    {"parallelism.expert_parallel_degree", LAUNCH_EP, "1", NULL},
    {"parallelism.expert_tensor_parallel_degree", LAUNCH_EXPERT_TP, NULL, NULL},
    {"activation_checkpoint.mode", LAUNCH_REMAT, "selective", NULL},
    {"activation_checkpoint.selective_ac_option", LAUNCH_SAC_OPTION, "2", NULL},

    UNPRICED("parallelism.pipeline_parallel_schedule_csv", NULL, "a schedule of its own; priced as 1F1B"),
    UNPRICED("parallelism.pipeline_parallel_split_points", "[]", "stages of its own; priced as even stages"),
    UNPRICED("parallelism.module_fqns_per_model_part", NULL, "stages of its own; priced as even stages"),
    UNPRICED("parallelism.disable_loss_parallel", "false", "logits gathered for the loss; priced cut over tp"),
    UNPRICED("optimizer.early_step_in_backward", "false", "updates within the backward pass; priced after it"),
    UNPRICED("optimizer.implementation", "fused", "an optimizer in many kernels; priced as fused"),
    UNPRICED("compile.enable", "true", "kernels that are not fused; priced as fused unless --stack says eager"),
    UNPRICED("fault_tolerance.enable", "false", "replicas that come and go; priced as fixed"),
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */
