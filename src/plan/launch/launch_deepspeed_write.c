/*
 * A plan as a DeepSpeed configuration. It has no degrees of a pipeline or of experts:
 * these are the model code's, and a note says so. JSON has no comments; notes go
 * beside.
 *
 * @source deepspeed-docs-2025
 */
#include "launch_draft.h"

static ridge_status check(launch_draft *d)
{
    static const launch_ability ability = {
        .schedules = 1u << RIDGE_SCHEDULE_1F1B,
        .exchanges =
            1u << RIDGE_CP_RING | 1u << RIDGE_CP_GATHER | 1u << RIDGE_CP_ALL_TO_ALL,
        .optimizers = ~(1u << RIDGE_OPTIMIZER_LORA),
        .offload = RIDGE_OFFLOAD_OPTIMIZER | RIDGE_OFFLOAD_WEIGHTS};
    const ridge_layout *l = d->layout;
    RIDGE_TRY(launch_draft_check(d, &ability));
    if ((l->offload & RIDGE_OFFLOAD_WEIGHTS) != 0 && l->zero_stage < 3)
        return launch_draft_refuse(d, "puts weights on the host with zero=3 alone");
    if ((l->offload & RIDGE_OFFLOAD_OPTIMIZER) != 0 && l->zero_stage == 0)
        return launch_draft_refuse(d,
                                   "puts the optimizer on the host with zero=1 to 3");
    if (l->pp > 1 && l->zero_stage >= 2)
        return launch_draft_refuse(d,
                                   "shards gradients and weights in no pipeline: plan "
                                   "with zero=1 or pp=1");
    if (l->tp > 1 && l->zero_stage == 3)
        return launch_draft_refuse(d, "joins tensor parallelism with zero=0, 1 or 2: "
                                      "plan with one of these, or tp=1");
    if (l->dp > 1 && (l->zero_stage == 1 || l->zero_stage == 2))
        return launch_draft_refuse(d, "shards over all replicas: plan with dp=1");
    if (l->tp > 1 && l->has_sp)
        return launch_draft_refuse(d,
                                   "does not cut activations over tp: plan with sp=0");
    if (l->vpp > 1)
        return launch_draft_refuse(d, "has no virtual stages: plan with vpp=1");
    return RIDGE_OK;
}

static void set_zero(launch_draft *d, ridge_json *o)
{
    const ridge_layout *l = d->layout;
    ridge_json *zero = ridge_json_set_object(d->cx, o, "zero_optimization");
    ridge_json_set_i64(zero, "stage", l->zero_stage);
    if (l->zero_stage == 0)
        return;
    ridge_json_set_bool(zero, "overlap_comm", !l->is_dp_exposed && !l->is_fsdp_exposed);
    ridge_json_set_bool(zero, "contiguous_gradients", true);
    if ((l->offload & RIDGE_OFFLOAD_OPTIMIZER) != 0)
        ridge_json_set_text(ridge_json_set_object(d->cx, zero, "offload_optimizer"),
                            "device", "cpu");
    if ((l->offload & RIDGE_OFFLOAD_WEIGHTS) != 0)
        ridge_json_set_text(ridge_json_set_object(d->cx, zero, "offload_param"),
                            "device", "cpu");
    if (l->zero_stage == 3 && l->dp > 1) {
        ridge_json_set_i64(zero, "mics_shard_size", l->fsdp);
        launch_draft_note(d, "replicas of shards are MiCS: build the model within "
                             "deepspeed.zero.MiCS_Init");
    }
}

static ridge_status set_precision(launch_draft *d, ridge_json *o)
{
    const ridge_precision p = d->layout->precision;
    const bool is_bf16 = p == RIDGE_PRECISION_BF16 || p == RIDGE_PRECISION_BF16_REDUCE;
    if (!is_bf16 && p != RIDGE_PRECISION_FP16 && p != RIDGE_PRECISION_FP32) {
        return launch_draft_refuse(d,
                                   "has no precision %s: plan with bf16, bf16-reduce, "
                                   "fp16 or fp32",
                                   ridge_precision_policy(p)->text);
    }
    ridge_json_set_bool(ridge_json_set_object(d->cx, o, "bf16"), "enabled", is_bf16);
    ridge_json_set_bool(ridge_json_set_object(d->cx, o, "fp16"), "enabled",
                        p == RIDGE_PRECISION_FP16);
    if (is_bf16) {
        ridge_json_set_text(ridge_json_set_object(d->cx, o, "data_types"),
                            "grad_accum_dtype",
                            p == RIDGE_PRECISION_BF16 ? "fp32" : "bf16");
        ridge_json_set_text(o, "communication_data_type",
                            p == RIDGE_PRECISION_BF16 ? "fp32" : "bfp16");
    }
    return RIDGE_OK;
}

static void set_remat(launch_draft *d, ridge_json *o)
{
    const ridge_layout *l = d->layout;
    if (l->remat == RIDGE_REMAT_NONE)
        return;
    ridge_json *a = ridge_json_set_object(d->cx, o, "activation_checkpointing");
    ridge_json_set_bool(a, "partition_activations", false);
    ridge_json_set_bool(a, "cpu_checkpointing", false);
    launch_draft_note(d,
                      "recomputation (%s) is called for in the model: "
                      "gradient_checkpointing_enable(), or deepspeed.checkpointing",
                      ridge_layout_remat_text(d->cx, l));
}

static void set_degrees(launch_draft *d, ridge_json *o)
{
    const ridge_layout *l = d->layout;
    if (l->tp > 1) {
        ridge_json *tp = ridge_json_set_object(d->cx, o, "tensor_parallel");
        ridge_json_set_i64(tp, "autotp_size", l->tp);
    }
    if (l->cp > 1) {
        ridge_json_set_i64(o, "sequence_parallel_size", l->cp);
        ridge_json_set_i64(o, "data_parallel_size", d->replicas);
        if (l->cp_exchange != RIDGE_CP_ALL_TO_ALL)
            launch_draft_note(d,
                              "cp=%lld becomes DeepSpeed-Ulysses, which exchanges "
                              "heads for tokens; the plan counts cp_exchange=%s",
                              (long long)l->cp, ridge_cp_text(l->cp_exchange));
    }
    if (l->pp > 1)
        launch_draft_note(d,
                          "pp=%lld is not in this file: build a PipelineModule with "
                          "num_stages=%lld",
                          (long long)l->pp, (long long)l->pp);
    if (l->ep > 1)
        launch_draft_note(d,
                          "ep=%lld is not in this file: build deepspeed.moe layers "
                          "with ep_size=%lld",
                          (long long)l->ep, (long long)l->ep);
}

ridge_status launch_deepspeed_write(launch_draft *d)
{
    RIDGE_TRY(check(d));
    ridge_json *o = ridge_json_object(d->cx);
    ridge_json_set_i64(o, "train_batch_size", d->batch_seqs);
    ridge_json_set_i64(o, "train_micro_batch_size_per_gpu", d->layout->microbatch_seqs);
    ridge_json_set_i64(o, "gradient_accumulation_steps", d->microbatches);
    set_zero(d, o);
    RIDGE_TRY(set_precision(d, o));
    set_degrees(d, o);
    set_remat(d, o);
    launch_draft_note(d,
                      "model, data, optimizer (%s) and learning rate are yours to add; "
                      "run it on %lld ranks",
                      ridge_optimizer_text(d->layout->optimizer),
                      (long long)d->request->slice->chips);
    return ridge_json_write(d->cx, o, &d->out->text);
}
