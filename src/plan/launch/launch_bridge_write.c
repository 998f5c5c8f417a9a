/*
 * A plan as overrides of a Megatron-Bridge recipe: the same options as Megatron-LM's,
 * under the names of its configuration classes, as a Python function.
 *
 * @source megatron-bridge-2025
 */
#include "launch_draft.h"

#include <string.h>

/* The third column is what a flag sets. */
/* clang-format off */
const launch_option launch_bridge_options[] = {
    {"model.num_layers", LAUNCH_LAYERS, NULL, NULL},
    {"model.hidden_size", LAUNCH_D_MODEL, NULL, NULL},
    {"model.ffn_hidden_size", LAUNCH_D_FF, NULL, NULL},
    {"model.num_attention_heads", LAUNCH_HEADS, NULL, NULL},
    {"model.num_query_groups", LAUNCH_KV_HEADS, NULL, NULL},
    {"model.kv_channels", LAUNCH_HEAD_DIM, NULL, NULL},
    {"model.position_embedding_type", LAUNCH_POSITION_KIND, NULL, NULL},
    {"model.gated_linear_unit", LAUNCH_GATED, "True", NULL},
    {"model.add_bias_linear", LAUNCH_NO_BIAS, "False", NULL},
    {"model.add_qkv_bias", LAUNCH_QKV_BIAS, "True", NULL},
    {"model.normalization", LAUNCH_NORM, NULL, NULL},
    {"model.qk_layernorm", LAUNCH_QK_NORM, "True", NULL},
    {"model.window_size", LAUNCH_WINDOW, NULL, NULL},
    {"model.share_embeddings_and_output_weights", LAUNCH_UNTIED, "False", NULL},
    {"model.vocab_size", LAUNCH_VOCAB, NULL, NULL},
    {"model.make_vocab_size_divisible_by", LAUNCH_VOCAB_MULTIPLE, NULL, NULL},
    {"model.multi_latent_attention", LAUNCH_MLA, "True", NULL},
    {"model.q_lora_rank", LAUNCH_Q_LORA, NULL, NULL},
    {"model.kv_lora_rank", LAUNCH_KV_LORA, NULL, NULL},
    {"model.qk_head_dim", LAUNCH_NOPE_DIM, NULL, NULL},
    {"model.qk_pos_emb_head_dim", LAUNCH_ROPE_DIM, NULL, NULL},
    {"model.v_head_dim", LAUNCH_V_HEAD_DIM, NULL, NULL},
    {"model.num_moe_experts", LAUNCH_EXPERTS, NULL, NULL},
    {"model.moe_router_topk", LAUNCH_EXPERTS_PER_TOKEN, NULL, NULL},
    {"model.moe_ffn_hidden_size", LAUNCH_EXPERT_D_FF, NULL, NULL},
    {"model.mtp_num_layers", LAUNCH_MTP, NULL, NULL},
    {"model.moe_layer_freq", LAUNCH_MOE_PATTERN, NULL, NULL},
    {"model.moe_shared_expert_intermediate_size", LAUNCH_SHARED_D_FF, NULL, NULL},
    {"model.moe_router_enable_expert_bias", LAUNCH_ROUTER_BIAS, "True", NULL},
    {"model.moe_grouped_gemm", LAUNCH_GROUPED_GEMM, "True", NULL},
    {"model.moe_token_dispatcher_type", LAUNCH_DISPATCHER, NULL, NULL},
    {"model.moe_flex_dispatcher_backend", LAUNCH_DISPATCHER_BACKEND, NULL, NULL},
    {"model.tensor_model_parallel_size", LAUNCH_TP, NULL, NULL},
    {"model.pipeline_model_parallel_size", LAUNCH_PP, NULL, NULL},
    {"model.virtual_pipeline_model_parallel_size", LAUNCH_VIRTUAL_STAGES, NULL, NULL},
    {"model.pipeline_model_parallel_layout", LAUNCH_STAGES, NULL, NULL},
    {"model.account_for_embedding_in_pipeline_split", LAUNCH_EMBEDDING_STAGE, "True", NULL},
    {"model.account_for_loss_in_pipeline_split", LAUNCH_LOSS_STAGE, "True", NULL},
    {"model.context_parallel_size", LAUNCH_CP, NULL, NULL},
    {"model.cp_comm_type", LAUNCH_CP_EXCHANGE, NULL, NULL},
    {"model.overlap_moe_expert_parallel_comm", LAUNCH_EP_OVERLAP, "True", NULL},
    {"model.overlap_p2p_comm", LAUNCH_NO_PP_OVERLAP, "False", NULL},
    {"model.expert_model_parallel_size", LAUNCH_EP, NULL, NULL},
    {"model.expert_tensor_parallel_size", LAUNCH_EXPERT_TP, NULL, NULL},
    {"model.sequence_parallel", LAUNCH_SP, "True", NULL},
    {"model.seq_length", LAUNCH_SEQ, NULL, NULL},
    {"dataset.sequence_length", LAUNCH_SEQ, NULL, NULL},
    {"model.recompute_granularity", LAUNCH_REMAT, NULL, NULL},
    {"model.recompute_method", LAUNCH_REMAT_METHOD, NULL, NULL},
    {"model.recompute_num_layers", LAUNCH_REMAT_LAYERS, NULL, NULL},
    {"model.recompute_modules", LAUNCH_REMAT_MODULES, NULL, NULL},
    {"model.gradient_accumulation_fusion", LAUNCH_NO_GRAD_FUSION, "False", NULL},
    {"ddp.use_distributed_optimizer", LAUNCH_ZERO_OPTIMIZER, "True", NULL},
    {"ddp.overlap_grad_reduce", LAUNCH_OVERLAP_REDUCE, "True", NULL},
    {"ddp.overlap_param_gather", LAUNCH_OVERLAP_GATHER, "True", NULL},
    {"ddp.num_distributed_optimizer_instances", LAUNCH_DP_REPLICAS, NULL, NULL},
    {"ddp.use_megatron_fsdp", LAUNCH_ZERO_FULL, "True", NULL},
    {"ddp.data_parallel_sharding_strategy", LAUNCH_ZERO_STRATEGY, NULL, NULL},
    {"ddp.grad_reduce_in_fp32", LAUNCH_REDUCE_BF16, "False", NULL},
    {"dist.use_megatron_fsdp", LAUNCH_ZERO_FULL, "True", NULL},
    {"checkpoint.ckpt_format", LAUNCH_CHECKPOINT_FORMAT, NULL, NULL},
    {"optimizer.optimizer", LAUNCH_OPTIMIZER, NULL, NULL},
    {"optimizer.sgd_momentum", LAUNCH_MOMENTUM, NULL, NULL},
    {"optimizer.use_precision_aware_optimizer", LAUNCH_PRECISION_AWARE, "True", NULL},
    {"optimizer.exp_avg_dtype", LAUNCH_FIRST_MOMENT, NULL, NULL},
    {"optimizer.exp_avg_sq_dtype", LAUNCH_SECOND_MOMENT, NULL, NULL},
    {"optimizer.optimizer_cpu_offload", LAUNCH_OPTIMIZER_OFFLOAD, "True", NULL},
    {"optimizer.optimizer_offload_fraction", LAUNCH_OFFLOAD_FRACTION, NULL, NULL},
    {"optimizer.use_distributed_optimizer", LAUNCH_ZERO_OPTIMIZER, "True", NULL},
    {"train.micro_batch_size", LAUNCH_MICROBATCH, NULL, NULL},
    {"train.global_batch_size", LAUNCH_BATCH, NULL, NULL},
    {"train.train_iters", LAUNCH_STEPS, NULL, NULL},
    {NULL, LAUNCH_UNPRICED, NULL, NULL}};
/* clang-format on */

static ridge_status precision_name(launch_draft *d, const char **out)
{
    switch (d->layout->precision) {
    case RIDGE_PRECISION_BF16:
    case RIDGE_PRECISION_BF16_REDUCE:
        *out = "bf16_mixed";
        return RIDGE_OK;
    case RIDGE_PRECISION_FP16:
        *out = "fp16_mixed";
        return RIDGE_OK;
    case RIDGE_PRECISION_FP8_BLOCKS:
        *out = "bf16_with_fp8_subchannel_scaling_mixed";
        return RIDGE_OK;
    case RIDGE_PRECISION_FP8:
    case RIDGE_PRECISION_FP8_CURRENT:
        *out = "bf16_with_fp8_current_scaling_mixed";
        return RIDGE_OK;
    case RIDGE_PRECISION_MXFP8:
        *out = "bf16_with_mxfp8_mixed";
        return RIDGE_OK;
    case RIDGE_PRECISION_BF16_PURE:
    case RIDGE_PRECISION_FP8_WEIGHTS:
    case RIDGE_PRECISION_FP8_ROWS:
    case RIDGE_PRECISION_FP4:
    case RIDGE_PRECISION_TF32:
    case RIDGE_PRECISION_FP32:
        break;
    }
    return launch_draft_refuse(
        d,
        "has no precision %s among its recipes: plan with bf16, "
        "bf16-reduce, fp16, fp8, fp8-current, fp8-blocks or mxfp8",
        ridge_precision_policy(d->layout->precision)->text);
}

/* Python has no quotes around numbers and around what is an expression. */
static bool is_expression(const launch_option *o, const char *value)
{
    double ignored;
    return o->field == LAUNCH_MOE_PATTERN || o->field == LAUNCH_WINDOW ||
           ridge_parse_double(ridge_str_of(value), &ignored);
}

/* Words as a list of texts. */
static void put_list(ridge_buf *b, const char *name, const char *words)
{
    ridge_str rest = ridge_str_of(words);
    ridge_buf_printf(b, "    cfg.%s = [", name);
    for (bool is_first = true; rest.n > 0; is_first = false) {
        ridge_str word = ridge_str_cut(&rest, ' ');
        ridge_buf_printf(b, "%s\"%.*s\"", is_first ? "" : ", ", (int)word.n, word.p);
    }
    ridge_buf_printf(b, "]\n");
}

static void put_line(launch_draft *d, const launch_option *o)
{
    ridge_buf *b = &d->out->text;
    const char *value = d->value[o->field];
    if (o->otherwise != NULL) {
        ridge_buf_printf(b, "    cfg.%s = %s\n", o->name, o->otherwise);
    } else if (o->field == LAUNCH_REMAT_MODULES) {
        put_list(b, o->name, value);
    } else if (o->field == LAUNCH_FIRST_MOMENT || o->field == LAUNCH_SECOND_MOMENT) {
        ridge_buf_printf(b, "    cfg.%s = torch.%s\n", o->name,
                         strcmp(value, "bf16") == 0 ? "bfloat16" : "uint8");
    } else if (is_expression(o, value)) {
        ridge_buf_printf(b, "    cfg.%s = %s\n", o->name, value);
    } else {
        ridge_buf_printf(b, "    cfg.%s = \"%s\"\n", o->name, value);
    }
}

ridge_status launch_bridge_write(launch_draft *d)
{
    const char *precision = NULL;
    RIDGE_TRY(launch_megatron_fill(d));
    RIDGE_TRY(precision_name(d, &precision));
    if (d->request->total_tokens > 0) {
        launch_draft_i64(d, LAUNCH_STEPS,
                         (int64_t)(d->request->total_tokens /
                                   (double)(d->batch_seqs * d->seq_tokens)));
    }
    launch_draft_comments(d);
    ridge_buf *b = &d->out->text;
    const bool has_overlap = d->value[LAUNCH_TP_OVERLAP] != NULL;
    if (d->value[LAUNCH_OPTIMIZER_OFFLOAD] != NULL)
        launch_draft_text(d, LAUNCH_OFFLOAD_FRACTION, "1.0");
    if (d->value[LAUNCH_FIRST_MOMENT] != NULL)
        ridge_buf_puts(b, "import torch\n");
    if (has_overlap)
        ridge_buf_puts(b, "from megatron.bridge.training.comm_overlap import "
                          "CommOverlapConfig\n");
    ridge_buf_puts(b,
                   "\n\ndef apply(cfg):\n"
                   "    \"\"\"Set the plan in a ConfigContainer of a recipe.\"\"\"\n");
    for (const launch_option *o = launch_bridge_options; o->name != NULL; o++) {
        if (d->value[o->field] != NULL)
            put_line(d, o);
    }
    ridge_buf_printf(b, "    cfg.mixed_precision = \"%s\"\n", precision);
    if (has_overlap)
        ridge_buf_puts(
            b, "    cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=True)\n");
    ridge_buf_puts(b, "    return cfg\n");
    return RIDGE_OK;
}
