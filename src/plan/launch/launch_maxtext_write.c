/*
 * A plan as a MaxText configuration: a mesh of data, stage, fsdp, context, tensor and
 * expert axes, each inside a slice (or a node of GPUs) and across slices.
 *
 * @source maxtext-2025, configs/base.yml and its logical_axis_rules
 */
#include "launch_draft.h"
#include "launch_names.h"
#include "launch_tensors.h"
#include "network_time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the model ------------------------------------------------------------------- */

/* The block that has these layers, and whether experts start late or in steps. */
static ridge_status fill_block(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    if (m->has_learned_positions != m->is_layer_norm ||
        m->has_out_bias != m->has_mlp_bias || m->has_out_bias != m->is_layer_norm ||
        m->has_out_gate || m->has_shared_gate)
        return launch_draft_refuse(d, "has no block with the layers of %s",
                                   d->model_name);
    const char *block = m->is_layer_norm     ? "gpt3"
                        : m->is_mla          ? "deepseek"
                        : m->has_qk_norm     ? (m->experts > 0 ? "qwen3_moe" : "qwen3")
                        : m->shared_d_ff > 0 ? "deepseek"
                        : m->experts > 0     ? "mixtral"
                                             : "llama2";
    launch_draft_text(d, LAUNCH_BLOCK, block);
    launch_draft_text(d, LAUNCH_ACTIVATIONS,
                      m->is_gated ? "[\"silu\",\"linear\"]" : "[\"gelu\"]");
    launch_draft_text(d, LAUNCH_TIED, m->is_tied ? "true" : "false");
    launch_draft_text(d, LAUNCH_QKV_BIAS,
                      m->has_qkv_bias && !m->is_layer_norm ? "true" : NULL);
    launch_draft_text(d, LAUNCH_QK_NORM, m->has_qk_norm ? "true" : NULL);
    if (m->has_learned_positions)
        launch_draft_i64(d, LAUNCH_POSITIONS, m->positions);
    return RIDGE_OK;
}

static ridge_status fill_attention(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    launch_draft_i64(d, LAUNCH_HEADS, m->heads);
    launch_draft_i64(d, LAUNCH_KV_HEADS, m->kv_heads);
    if (m->window > 0) {
        launch_draft_text(d, LAUNCH_MLA, "local_sliding");
        launch_draft_i64(d, LAUNCH_WINDOW, m->window);
    }
    if (!m->is_mla) {
        launch_draft_i64(d, LAUNCH_HEAD_DIM, m->head_dim);
        return RIDGE_OK;
    }
    launch_draft_text(d, LAUNCH_MLA, "mla");
    launch_draft_i64(d, LAUNCH_Q_LORA, m->q_lora_rank);
    launch_draft_i64(d, LAUNCH_KV_LORA, m->kv_lora_rank);
    launch_draft_i64(d, LAUNCH_NOPE_DIM, m->head_dim - m->rope_head_dim);
    launch_draft_i64(d, LAUNCH_ROPE_DIM, m->rope_head_dim);
    launch_draft_i64(d, LAUNCH_V_HEAD_DIM, m->v_head_dim);
    return RIDGE_OK;
}

static ridge_status fill_experts(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    int64_t first = 0;
    if (m->experts == 0)
        return RIDGE_OK;
    while (first < m->layers && !m->is_moe[first])
        first++;
    for (int64_t i = first; i < m->layers; i++) {
        if (!m->is_moe[i])
            return launch_draft_refuse(d, "has no pattern for the expert layers of %s",
                                       d->model_name);
    }
    launch_draft_i64(d, LAUNCH_EXPERTS, m->experts);
    launch_draft_i64(d, LAUNCH_EXPERTS_PER_TOKEN, m->experts_per_token);
    launch_draft_i64(d, LAUNCH_EXPERT_D_FF, m->expert_d_ff);
    launch_draft_i64(d, LAUNCH_FIRST_DENSE, first);
    if (m->shared_d_ff % m->expert_d_ff != 0)
        return launch_draft_refuse(d, "has shared experts as wide as the others");
    launch_draft_i64(d, LAUNCH_SHARED_EXPERTS, m->shared_d_ff / m->expert_d_ff);
    launch_draft_text(d, LAUNCH_ROUTER_BIAS, m->has_router_bias ? "true" : NULL);
    return RIDGE_OK;
}

static ridge_status fill_model(launch_draft *d)
{
    const launch_name *name = launch_name_of(d->request->model->name);
    if (name != NULL && name->maxtext != NULL) {
        launch_draft_text(d, LAUNCH_MODEL_NAME, name->maxtext);
        return RIDGE_OK;
    }
    RIDGE_TRY(launch_dims_of(d->cx, d->request->model, &d->dims));
    const launch_dims *m = &d->dims;
    launch_draft_i64(d, LAUNCH_LAYERS, m->layers);
    launch_draft_i64(d, LAUNCH_D_MODEL, m->d_model);
    launch_draft_i64(d, LAUNCH_D_FF, m->d_ff > 0 ? m->d_ff : m->expert_d_ff);
    launch_draft_i64(d, LAUNCH_VOCAB, m->vocab);
    RIDGE_TRY(fill_block(d));
    RIDGE_TRY(fill_attention(d));
    return fill_experts(d);
}

/* ---- the mesh -------------------------------------------------------------------- */

/* Ways of a group that lie across slices, or across nodes of GPUs. */
static int64_t outer_ways(const ridge_slice *slice, const ridge_group *group)
{
    const bool is_torus = slice->system != NULL && slice->system->torus_dims > 0;
    int64_t ways = 1;
    for (int i = 0; i < group->n_spans; i++) {
        const ridge_span *span = &group->spans[i];
        const bool is_outer =
            is_torus ? slice->axes[span->axis].kind == RIDGE_AXIS_DCN : span->axis > 0;
        ways *= is_outer ? span->size : 1;
    }
    return ways;
}

static void put_axis(launch_draft *d, launch_field inner, launch_field outer,
                     int64_t ways, int64_t across)
{
    launch_draft_i64(d, inner, ways / across);
    launch_draft_i64(d, outer, across);
}

static ridge_status check_shards(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    if (l->zero_stage == 2)
        return launch_draft_refuse(d, "cannot shard gradients alone: plan with zero=1 "
                                      "or zero=3");
    if (l->zero_stage < 3 && (l->cp > 1 || l->ep > 1)) {
        return launch_draft_refuse(d, "always cuts weights over its context and expert "
                                      "axes: plan with zero=3");
    }
    if (l->zero_stage == 1 && l->dp > 1)
        return launch_draft_refuse(d, "cuts the optimizer over all replicas or none: "
                                      "plan with dp=1");
    if (l->ep > 1 && l->fsdp % l->ep != 0) {
        return launch_draft_refuse(d,
                                   "deals experts over a part of fsdp: plan with an ep "
                                   "that divides fsdp=%lld",
                                   (long long)l->fsdp);
    }
    if (l->tp > 1 && !l->has_sp)
        return launch_draft_refuse(d, "cuts activations wherever it cuts weights: plan "
                                      "with sp=1");
    if (l->has_tp_overlap)
        launch_draft_note(d, "collective matmuls are XLA's choice, by its flags");
    return RIDGE_OK;
}

static ridge_status fill_mesh(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const ridge_slice *slice = d->request->slice;
    train_groups g;
    RIDGE_TRY(check_shards(d));
    if (!train_groups_place(slice, l, l->placement, &g))
        return launch_draft_refuse(d, "got a plan that does not lie on its slice");
    const int64_t cp = outer_ways(slice, &g.cp);
    const int64_t ep = outer_ways(slice, &g.ep);
    const bool is_cut = l->zero_stage == 3;
    const int64_t shards = outer_ways(slice, &g.shards) / (is_cut ? cp : 1);
    const int64_t inner_ep = l->ep / ep;
    if (l->ep > 1 && (shards % ep != 0 || l->fsdp / shards % inner_ep != 0)) {
        return launch_draft_refuse(d, "got experts that do not lie within fsdp on this "
                                      "slice: plan with a smaller ep");
    }
    const bool is_replica = !is_cut; /* zero=1 cuts the optimizer over data */
    const int64_t data = is_replica ? l->dp * l->fsdp : l->dp;
    const int64_t data_outer =
        outer_ways(slice, &g.replicas) * (l->zero_stage == 1 ? shards : 1);
    put_axis(d, LAUNCH_DP_REPLICAS, LAUNCH_DCN_DP, data, data_outer);
    put_axis(d, LAUNCH_DP_SHARDS, LAUNCH_DCN_FSDP, is_cut ? l->fsdp / l->ep : 1,
             is_cut ? shards / ep : 1);
    put_axis(d, LAUNCH_CP, LAUNCH_DCN_CP, l->cp, cp);
    put_axis(d, LAUNCH_TP_SEQUENCE, LAUNCH_DCN_TP_SEQUENCE, l->tp,
             outer_ways(slice, &g.tp));
    put_axis(d, LAUNCH_PP, LAUNCH_DCN_PP, l->pp, outer_ways(slice, &g.pp));
    put_axis(d, LAUNCH_EP, LAUNCH_DCN_EP, l->ep, ep);
    launch_draft_text(d, LAUNCH_ZERO_OPTIMIZER, l->zero_stage == 1 ? "true" : NULL);
    launch_draft_note(d,
                      "the plan lays %s; how MaxText lays its axes inside a slice is "
                      "JAX's choice",
                      ridge_placement_text(d->cx, d->request, l));
    return RIDGE_OK;
}

static ridge_status fill_pipeline(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const int64_t layers = d->request->model->layer_count;
    if (l->pp == 1)
        return RIDGE_OK;
    if (layers % (l->pp * l->vpp) != 0) {
        return launch_draft_refuse(d,
                                   "wants as many layers in each of pp x vpp = %lld "
                                   "stages, and %lld layers are not: plan with a pp "
                                   "that divides them",
                                   (long long)(l->pp * l->vpp), (long long)layers);
    }
    if (d->microbatches % l->pp != 0) {
        return launch_draft_refuse(d,
                                   "wants microbatches in multiples of pp=%lld, and "
                                   "there are %lld: plan with another microbatch",
                                   (long long)l->pp, (long long)d->microbatches);
    }
    launch_draft_i64(d, LAUNCH_STAGE_LAYERS, layers / (l->pp * l->vpp));
    launch_draft_i64(d, LAUNCH_PIPELINE_REPEATS, l->vpp);
    launch_draft_i64(d, LAUNCH_MICROBATCHES, d->microbatches);
    if (l->schedule != RIDGE_SCHEDULE_GPIPE) {
        launch_draft_note(d,
                          "MaxText's pipeline runs all forward passes first: it keeps "
                          "the activations of all microbatches, more than the plan's "
                          "1F1B");
    }
    return RIDGE_OK;
}

/* ---- the rest -------------------------------------------------------------------- */

static ridge_status fill_remat(launch_draft *d)
{
    if (d->layout->remat_ops != 0)
        return launch_tensors_write(d);
    switch (d->layout->remat) {
    case RIDGE_REMAT_FULL:
        launch_draft_text(d, LAUNCH_REMAT, "full");
        return RIDGE_OK;
    case RIDGE_REMAT_MATMULS:
        launch_draft_text(d, LAUNCH_REMAT, "minimal");
        return RIDGE_OK;
    case RIDGE_REMAT_ELEMENTWISE:
        launch_draft_text(d, LAUNCH_REMAT, "minimal_with_context");
        return RIDGE_OK;
    case RIDGE_REMAT_FFN:
        launch_draft_text(d, LAUNCH_REMAT, "save_dot_with_context_except_mlp");
        return RIDGE_OK;
    case RIDGE_REMAT_NONE:
        launch_draft_text(d, LAUNCH_REMAT, "none");
        return RIDGE_OK;
    case RIDGE_REMAT_SELECTIVE:
        break;
    }
    return launch_draft_refuse(d, "has no policy that recomputes attention's scores "
                                  "alone: plan with remat=none, matmuls or full");
}

static ridge_status fill_host(launch_draft *d)
{
    static const char *const optimizers[RIDGE_OPTIMIZER_COUNT] = {
        [RIDGE_OPTIMIZER_ADAMW] = "adamw",
        [RIDGE_OPTIMIZER_SGD] = "sgd",
        [RIDGE_OPTIMIZER_MUON] = "muon"};
    static const char *const exchanges[] = {[RIDGE_CP_RING] = "ring",
                                            [RIDGE_CP_GATHER] = "all_gather",
                                            [RIDGE_CP_ALL_TO_ALL] = "ulysses"};
    const ridge_layout *l = d->layout;
    const unsigned offload = l->offload;
    launch_draft_text(d, LAUNCH_OPTIMIZER, optimizers[l->optimizer]);
    launch_draft_text(d, LAUNCH_CP_EXCHANGE,
                      l->cp > 1 ? exchanges[l->cp_exchange] : NULL);
    launch_draft_text(d, LAUNCH_OPTIMIZER_OFFLOAD,
                      offload & RIDGE_OFFLOAD_OPTIMIZER ? "true" : NULL);
    launch_draft_text(d, LAUNCH_WEIGHTS_OFFLOAD,
                      offload & RIDGE_OFFLOAD_WEIGHTS ? "true" : NULL);
    if ((offload & RIDGE_OFFLOAD_ACTIVATIONS) == 0)
        return RIDGE_OK;
    if (l->remat != RIDGE_REMAT_MATMULS)
        return launch_draft_refuse(d, "puts matmuls alone on the host: plan with "
                                      "remat=matmuls, or without offload=activations");
    launch_draft_text(d, LAUNCH_REMAT, "minimal_offloaded");
    return RIDGE_OK;
}

static ridge_status fill_precision(launch_draft *d)
{
    const ridge_precision p = d->layout->precision;
    if (p != RIDGE_PRECISION_BF16 && p != RIDGE_PRECISION_FP8 &&
        p != RIDGE_PRECISION_FP32 && p != RIDGE_PRECISION_BF16_PURE) {
        return launch_draft_refuse(
            d,
            "has no precision %s: plan with bf16, bf16-pure, fp8 "
            "or fp32",
            ridge_precision_policy(p)->text);
    }
    launch_draft_text(d, LAUNCH_COMPUTE_DTYPE,
                      p == RIDGE_PRECISION_FP32 ? "float32" : "bfloat16");
    launch_draft_text(d, LAUNCH_WEIGHT_DTYPE,
                      p == RIDGE_PRECISION_BF16_PURE ? "bfloat16" : "float32");
    launch_draft_text(d, LAUNCH_FP8, p == RIDGE_PRECISION_FP8 ? "fp8" : NULL);
    if (p == RIDGE_PRECISION_BF16_PURE)
        launch_draft_note(d, "moments follow weight_dtype unless mu_dtype is float32");
    return RIDGE_OK;
}

/* A share of sequences such that chips times it is whole again. */
static void fill_batch(launch_draft *d)
{
    const double chips = (double)d->request->slice->chips;
    const bool is_piped = d->layout->pp > 1;
    const int64_t seqs =
        is_piped ? d->batch_seqs : d->replicas * d->layout->microbatch_seqs;
    const double share = (double)seqs / chips;
    char text[64];
    double back = 0;
    snprintf(text, sizeof text, "%.10g", share);
    if (!ridge_parse_double(ridge_str_of(text), &back) ||
        floor(back * chips) != (double)seqs)
        snprintf(text, sizeof text, "%.17g", nextafter(share, HUGE_VAL));
    launch_draft_text(d, LAUNCH_LOCAL_BATCH,
                      ridge_str_dup(ridge_ctx_arena(d->cx), ridge_str_of(text)));
    launch_draft_i64(d, LAUNCH_ACCUMULATION, is_piped ? 1 : d->microbatches);
    launch_draft_i64(d, LAUNCH_SEQ, d->seq_tokens);
    if (d->request->total_tokens > 0) {
        launch_draft_i64(d, LAUNCH_STEPS,
                         (int64_t)ceil(d->request->total_tokens /
                                       (double)(d->batch_seqs * d->seq_tokens)));
    }
}

static void put_lines(launch_draft *d)
{
    ridge_buf *b = &d->out->text;
    const launch_option *last = NULL;
    for (const launch_option *o = launch_maxtext_options; o->name != NULL; o++) {
        const char *value = d->value[o->field];
        if (value == NULL || (last != NULL && last->field == o->field))
            continue;
        ridge_buf_printf(b, "%s: %s\n", o->name, value);
        last = o;
    }
}

ridge_status launch_maxtext_write(launch_draft *d)
{
    const bool is_torus =
        d->request->slice->system != NULL && d->request->slice->system->torus_dims > 0;
    launch_draft_text(d, LAUNCH_BASE, "base.yml");
    launch_draft_text(d, LAUNCH_HARDWARE, is_torus ? "tpu" : "gpu");
    static const launch_ability ability = {
        .schedules = 1u << RIDGE_SCHEDULE_1F1B | 1u << RIDGE_SCHEDULE_GPIPE,
        .exchanges =
            1u << RIDGE_CP_RING | 1u << RIDGE_CP_GATHER | 1u << RIDGE_CP_ALL_TO_ALL,
        .optimizers = 1u << RIDGE_OPTIMIZER_ADAMW | 1u << RIDGE_OPTIMIZER_SGD |
                      1u << RIDGE_OPTIMIZER_MUON,
        .offload = RIDGE_OFFLOAD_ALL,
        .has_named_remat = true,
        .has_mtp = true};
    RIDGE_TRY(launch_draft_check(d, &ability));
    if (d->layout->mtp > 0)
        launch_draft_i64(d, LAUNCH_MTP, d->layout->mtp);
    RIDGE_TRY(fill_model(d));
    RIDGE_TRY(fill_mesh(d));
    RIDGE_TRY(fill_pipeline(d));
    RIDGE_TRY(fill_remat(d));
    RIDGE_TRY(fill_host(d));
    RIDGE_TRY(fill_precision(d));
    fill_batch(d);
    launch_draft_note(d, "data, tokenizer, learning rate and checkpoints are yours to "
                         "add");
    launch_draft_comments(d);
    put_lines(d);
    return RIDGE_OK;
}
