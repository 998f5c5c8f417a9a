/*
 * A plan as Megatron-LM's arguments. Megatron lays ranks tp, cp, dp, pp from the inside
 * out, and deals experts over the ranks of a stage.
 *
 * @source megatron-lm-2025, megatron/training/arguments.py and Megatron-FSDP's guide
 */
#include "launch_draft.h"
#include "launch_modules.h"
#include "launch_recipes.h"

#include "train_case.h"

/* ---- the model ------------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest multiple, up to Megatron's usual, to which padding adds nothing. */
static ridge_status fill_vocab(launch_draft *d)
{
    enum { USUAL_MULTIPLE = 128 };
    const int64_t vocab = d->dims.vocab;
    const int64_t tp = d->layout->tp;
    if (vocab % tp != 0) {
        launch_draft_note(d,
                          "the vocabulary of %lld is padded to a multiple of tp=%lld, "
                          "which the plan does not count",
                          (long long)vocab, (long long)tp);
    }
    const int64_t rows = vocab % tp == 0 ? vocab / tp : 1;
    launch_draft_i64(d, LAUNCH_VOCAB, vocab);
    launch_draft_i64(d, LAUNCH_VOCAB_MULTIPLE, common_divisor(rows, USUAL_MULTIPLE));
    return RIDGE_OK;
}

static ridge_status fill_attention(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    launch_draft_i64(d, LAUNCH_HEADS, m->heads);
    launch_draft_flag(d, LAUNCH_QK_NORM, m->has_qk_norm || m->is_mla);
    launch_draft_flag(d, LAUNCH_OUT_GATE, m->has_out_gate);
    if (m->is_mla) {
        launch_draft_flag(d, LAUNCH_MLA, true);
        if (m->q_lora_rank > 0)
            launch_draft_i64(d, LAUNCH_Q_LORA, m->q_lora_rank);
        launch_draft_i64(d, LAUNCH_KV_LORA, m->kv_lora_rank);
        launch_draft_i64(d, LAUNCH_NOPE_DIM, m->head_dim - m->rope_head_dim);
        launch_draft_i64(d, LAUNCH_ROPE_DIM, m->rope_head_dim);
        launch_draft_i64(d, LAUNCH_V_HEAD_DIM, m->v_head_dim);
        return RIDGE_OK;
    }
    if (m->v_head_dim != m->head_dim)
        return launch_draft_refuse(d, "has one head dim for keys and values");
    if (m->kv_heads != m->heads) {
        launch_draft_flag(d, LAUNCH_HAS_GROUPS, true);
        launch_draft_i64(d, LAUNCH_KV_HEADS, m->kv_heads);
    }
    launch_draft_i64(d, LAUNCH_HEAD_DIM, m->head_dim);
    if (m->window > 0) {
        d->value[LAUNCH_WINDOW] =
            ridge_sprintf(ridge_ctx_arena(d->cx), "(%lld,0)", (long long)m->window - 1);
    }
    return RIDGE_OK;
}

/* Runs of layers without and with experts: "([0]*3+[1]*58)". */
static void fill_pattern(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(d->cx));
    for (int64_t i = 0; i < m->layers;) {
        int64_t n = 1;
        while (i + n < m->layers && m->is_moe[i + n] == m->is_moe[i])
            n++;
        ridge_buf_printf(&b, "%s[%d]*%lld", i == 0 ? "" : "+", m->is_moe[i] ? 1 : 0,
                         (long long)n);
        i += n;
    }
    launch_draft_text(d, LAUNCH_MOE_PATTERN, ridge_buf_text(&b));
}

static void fill_experts(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    if (m->experts == 0)
        return;
    launch_draft_i64(d, LAUNCH_EXPERTS, m->experts);
    launch_draft_i64(d, LAUNCH_EXPERTS_PER_TOKEN, m->experts_per_token);
    launch_draft_i64(d, LAUNCH_EXPERT_D_FF, m->expert_d_ff);
    if (m->shared_d_ff > 0)
        launch_draft_i64(d, LAUNCH_SHARED_D_FF, m->shared_d_ff);
    launch_draft_flag(d, LAUNCH_SHARED_GATE, m->has_shared_gate);
    launch_draft_flag(d, LAUNCH_ROUTER_BIAS, m->has_router_bias);
    if (m->expert_groups > 0) {
        launch_draft_i64(d, LAUNCH_EXPERT_GROUPS, m->expert_groups);
        launch_draft_i64(d, LAUNCH_GROUPS_PER_TOKEN, m->groups_per_token);
    }
    launch_draft_flag(d, LAUNCH_GROUPED_GEMM, true);
    const bool is_once =
        d->layout->ep > 1 && d->layout->ep_dispatch != RIDGE_DISPATCH_COPIES;
    launch_draft_text(d, LAUNCH_DISPATCHER, is_once ? "flex" : "alltoall");
    launch_draft_text(d, LAUNCH_DISPATCHER_BACKEND, is_once ? "deepep" : NULL);
    if (is_once && d->layout->ep_dispatch == RIDGE_DISPATCH_ONCE_FP8)
        launch_draft_note(d, "tokens are dispatched in bf16; the plan counts fp8");
    fill_pattern(d);
}

static ridge_status fill_model(launch_draft *d)
{
    const launch_dims *m = &d->dims;
    if (m->has_out_bias != m->has_mlp_bias)
        return launch_draft_refuse(d, "has biases in all projections or in none");
    launch_draft_i64(d, LAUNCH_LAYERS, m->layers);
    launch_draft_i64(d, LAUNCH_D_MODEL, m->d_model);
    launch_draft_i64(d, LAUNCH_D_FF, m->d_ff > 0 ? m->d_ff : m->expert_d_ff);
    launch_draft_flag(d, LAUNCH_GATED, m->is_gated);
    launch_draft_flag(d, LAUNCH_NO_BIAS, !m->has_out_bias);
    launch_draft_flag(d, LAUNCH_QKV_BIAS, m->has_qkv_bias && !m->has_out_bias);
    launch_draft_flag(d, LAUNCH_UNTIED, !m->is_tied);
    launch_draft_text(d, LAUNCH_NORM, m->is_layer_norm ? "LayerNorm" : "RMSNorm");
    launch_draft_text(d, LAUNCH_POSITION_KIND,
                      m->has_learned_positions ? "learned_absolute" : "rope");
    const int64_t positions = m->positions > d->seq_tokens || m->has_learned_positions
                                  ? m->positions
                                  : d->seq_tokens;
    launch_draft_i64(d, LAUNCH_POSITIONS, positions);
    RIDGE_TRY(fill_vocab(d));
    RIDGE_TRY(fill_attention(d));
    fill_experts(d);
    return RIDGE_OK;
}

/* ---- the layout ------------------------------------------------------------------ */

/* Stages of unlike sizes, "Et*3|t*4|t*3L". */
static void fill_stages(launch_draft *d)
{
    const stage_cut cut = stage_cut_of(d->layout);
    ridge_buf b;
    ridge_buf_init(&b, ridge_ctx_arena(d->cx));
    for (int64_t s = 0; s < cut.pp; s++) {
        const int64_t layers = train_stage_layers(d->dims.layers, &cut, s);
        ridge_buf_printf(&b, "%s%s", s == 0 ? "" : "|", s == 0 ? "E" : "");
        if (layers > 0)
            ridge_buf_printf(&b, "t*%lld", (long long)layers);
        for (int64_t i = 0; s == cut.pp - 1 && i < cut.mtp; i++)
            ridge_buf_puts(&b, "m");
        ridge_buf_puts(&b, s == cut.pp - 1 ? "L" : "");
    }
    launch_draft_text(d, LAUNCH_STAGES, ridge_buf_text(&b));
}

/* Whether chunks are even once the embedding and the loss count as a layer each: the
 * first and the last stage then hold one layer fewer. */
static bool has_counted_ends(const launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const stage_cut cut = stage_cut_of(l);
    const int64_t total = d->dims.layers + 2, size = total / l->pp;
    bool is_counted = total % (l->pp * l->vpp) == 0;
    for (int64_t s = 0; s < l->pp && is_counted; s++) {
        const bool is_end = s == 0 || s == l->pp - 1;
        is_counted = train_stage_layers(d->dims.layers, &cut, s) == size - is_end;
    }
    return is_counted;
}

static ridge_status fill_virtual(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    launch_draft_i64(d, LAUNCH_VIRTUAL_STAGES, l->vpp);
    launch_draft_flag(d, LAUNCH_NO_PP_OVERLAP, !l->has_pp_overlap);
    if (!l->has_pp_overlap)
        launch_draft_note(d,
                          "without no-overlap-p2p-communication Megatron hides sends, "
                          "which the plan counts");
    const bool is_counted = has_counted_ends(d);
    launch_draft_flag(d, LAUNCH_EMBEDDING_STAGE, is_counted);
    launch_draft_flag(d, LAUNCH_LOSS_STAGE, is_counted);
    if (!is_counted &&
        (d->dims.layers % (l->pp * l->vpp) != 0 ||
         l->first_layers != RIDGE_STAGE_EVEN || l->last_layers != RIDGE_STAGE_EVEN)) {
        return launch_draft_refuse(d,
                                   "wants as many layers in each of pp x vpp = %lld "
                                   "stages, embedding and loss counted as one each or "
                                   "not at all, and %lld layers are not: plan with "
                                   "vpp=1",
                                   (long long)(l->pp * l->vpp),
                                   (long long)d->dims.layers);
    }
    if (d->microbatches % l->pp != 0) {
        return launch_draft_refuse(d,
                                   "interleaves stages over microbatches in multiples "
                                   "of pp=%lld, and there are %lld: plan with vpp=1",
                                   (long long)l->pp, (long long)d->microbatches);
    }
    return RIDGE_OK;
}

static ridge_status fill_pipeline(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    if (l->pp == 1)
        return RIDGE_OK;
    if (l->vpp > 1)
        return fill_virtual(d);
    if (l->has_pp_overlap)
        return launch_draft_refuse(d, "hides sends behind compute with vpp alone: plan "
                                      "with pp_overlap=0 or vpp=2");
    const bool is_even = l->first_layers == RIDGE_STAGE_EVEN &&
                         l->last_layers == RIDGE_STAGE_EVEN &&
                         d->dims.layers % l->pp == 0;
    if (!is_even)
        fill_stages(d);
    return RIDGE_OK;
}

static ridge_status fill_shards(launch_draft *d)
{
    static const char *const strategies[] = {"no_shard", "optim", "optim_grads",
                                             "optim_grads_params"};
    const ridge_layout *l = d->layout;
    launch_draft_flag(d, LAUNCH_OVERLAP_REDUCE,
                      d->replicas * l->cp > 1 && !l->is_dp_exposed);
    if (l->zero_stage == 0)
        return RIDGE_OK;
    launch_draft_flag(d, LAUNCH_ZERO_OPTIMIZER, true);
    launch_draft_flag(d, LAUNCH_OVERLAP_GATHER,
                      l->zero_stage < 3 || !l->is_fsdp_exposed);
    if (l->dp > 1)
        launch_draft_i64(d, LAUNCH_DP_REPLICAS, l->dp);
    if (l->zero_stage == 1)
        return RIDGE_OK;
    if (l->pp > 1) {
        return launch_draft_refuse(d,
                                   "cannot shard %s in a pipeline: plan with zero=1, "
                                   "or pp=1",
                                   l->zero_stage == 2 ? "gradients" : "weights");
    }
    launch_draft_flag(d, LAUNCH_ZERO_FULL, true);
    launch_draft_text(d, LAUNCH_ZERO_STRATEGY, strategies[l->zero_stage]);
    launch_draft_flag(d, LAUNCH_NO_GRAD_FUSION, true);
    launch_draft_text(d, LAUNCH_CHECKPOINT_FORMAT, "fsdp_dtensor");
    launch_draft_note(d, "Megatron-FSDP wants CUDA_DEVICE_MAX_CONNECTIONS unset");
    return RIDGE_OK;
}

static ridge_status fill_degrees(launch_draft *d)
{
    static const char *const exchanges[] = {[RIDGE_CP_RING] = "p2p",
                                            [RIDGE_CP_GATHER] = "all_gather",
                                            [RIDGE_CP_ALL_TO_ALL] = "a2a"};
    const ridge_layout *l = d->layout;
    if (l->mtp > 0)
        launch_draft_i64(d, LAUNCH_MTP, l->mtp);
    launch_draft_i64(d, LAUNCH_TP, l->tp);
    launch_draft_i64(d, LAUNCH_PP, l->pp);
    launch_draft_i64(d, LAUNCH_CP, l->cp);
    if (l->cp > 1)
        launch_draft_text(d, LAUNCH_CP_EXCHANGE, exchanges[l->cp_exchange]);
    if (d->dims.experts > 0) {
        launch_draft_flag(d, LAUNCH_EP_OVERLAP, l->has_ep_overlap && l->ep > 1);
        launch_draft_i64(d, LAUNCH_EP, l->ep);
        launch_draft_i64(d, LAUNCH_EXPERT_TP, train_expert_width(l->tp, l->ep));
        if (l->tp > 1 && !l->has_sp) {
            return launch_draft_refuse(d,
                                       "wants sp with tp in a mixture of experts: plan "
                                       "with sp=1");
        }
    }
    launch_draft_flag(d, LAUNCH_SP, l->has_sp && l->tp > 1);
    launch_draft_flag(d, LAUNCH_TP_OVERLAP, l->has_tp_overlap && l->tp > 1);
    if (l->placement % 2 == 1 && l->pp > 1 && d->replicas > 1) {
        launch_draft_note(d, "the plan lays stages inside replicas; add "
                             "--use-tp-pp-dp-mapping if there are no experts");
    }
    RIDGE_TRY(fill_pipeline(d));
    return fill_shards(d);
}

/* Megatron counts layers in each virtual stage. */
static ridge_status fill_full_remat(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const bool is_part = l->remat_layers > 0;
    if (is_part && l->remat_layers % l->vpp != 0) {
        return launch_draft_refuse(d,
                                   "recomputes as many layers in each of vpp=%lld "
                                   "stages: plan with a remat_layers that it divides",
                                   (long long)l->vpp);
    }
    launch_draft_text(d, LAUNCH_REMAT_METHOD, is_part ? "block" : "uniform");
    launch_draft_i64(d, LAUNCH_REMAT_LAYERS, is_part ? l->remat_layers / l->vpp : 1);
    return RIDGE_OK;
}

/* Norms, and dense feed-forwards, mixtures or both. */
static const char *ffn_modules(const ridge_model *model)
{
    bool has_dense = false;
    bool has_experts = false;
    for (int i = 0; i < model->n_layers; i++) {
        has_experts = has_experts || model->layers[i].ffn.kind == RIDGE_FFN_MOE;
        has_dense = has_dense || model->layers[i].ffn.kind != RIDGE_FFN_MOE;
    }
    return !has_experts ? "layernorm mlp"
           : has_dense  ? "layernorm mlp moe"
                        : "layernorm moe";
}

static ridge_status fill_modules(launch_draft *d)
{
    ridge_remat_ops known;
    RIDGE_TRY(launch_model_ops(d->cx, d->request->model, &known));
    const char *modules = launch_modules_text(d->cx, known, d->layout->remat_ops);
    if (modules == NULL)
        return launch_draft_refuse(
            d,
            "recomputes modules whole: core_attn is o, layernorm h+h_ffn, mlp "
            "gate+up+act, moe_act rows_act, shared_experts "
            "shared_g+shared_u+shared_act, mla_up_proj q+q_rope_raw+q_rope+k+v; plan "
            "with some of these for remat=%s",
            ridge_layout_remat_text(d->cx, d->layout));
    launch_draft_text(d, LAUNCH_REMAT, "selective");
    launch_draft_text(d, LAUNCH_REMAT_MODULES, modules);
    return RIDGE_OK;
}

static ridge_status fill_remat(launch_draft *d)
{
    const bool is_by_module = d->layout->remat_ops != 0 ||
                              d->layout->remat == RIDGE_REMAT_SELECTIVE ||
                              d->layout->remat == RIDGE_REMAT_FFN;
    if (is_by_module && d->layout->remat_layers > 0)
        return launch_draft_refuse(d, "recomputes modules in all layers or in none: "
                                      "fix remat=selective, ffn or full");
    if (d->layout->remat_ops != 0)
        return fill_modules(d);
    switch (d->layout->remat) {
    case RIDGE_REMAT_NONE:
        return RIDGE_OK;
    case RIDGE_REMAT_SELECTIVE:
        launch_draft_text(d, LAUNCH_REMAT, "selective");
        launch_draft_text(d, LAUNCH_REMAT_MODULES, "core_attn");
        return RIDGE_OK;
    case RIDGE_REMAT_FFN:
        launch_draft_text(d, LAUNCH_REMAT, "selective");
        launch_draft_text(d, LAUNCH_REMAT_MODULES, ffn_modules(d->request->model));
        return RIDGE_OK;
    case RIDGE_REMAT_MATMULS:
    case RIDGE_REMAT_ELEMENTWISE:
        return launch_draft_refuse(d, "does not recompute all but matmuls: plan with "
                                      "remat=none, selective, ffn or full");
    case RIDGE_REMAT_FULL:
        launch_draft_text(d, LAUNCH_REMAT, "full");
        return fill_full_remat(d);
    }
    return RIDGE_OK;
}

static ridge_status fill_precision(launch_draft *d)
{
    const ridge_precision p = d->layout->precision;
    switch (p) {
    case RIDGE_PRECISION_BF16:
    case RIDGE_PRECISION_BF16_REDUCE:
        launch_draft_flag(d, LAUNCH_BF16, true);
        launch_draft_flag(d, LAUNCH_REDUCE_BF16, p == RIDGE_PRECISION_BF16_REDUCE);
        return RIDGE_OK;
    case RIDGE_PRECISION_FP8:
    case RIDGE_PRECISION_FP8_WEIGHTS:
    case RIDGE_PRECISION_FP8_CURRENT:
    case RIDGE_PRECISION_FP8_BLOCKS:
    case RIDGE_PRECISION_MXFP8:
        launch_draft_flag(d, LAUNCH_BF16, true);
        launch_draft_text(d, LAUNCH_FP8,
                          p == RIDGE_PRECISION_MXFP8 || p == RIDGE_PRECISION_FP8_BLOCKS
                              ? "e4m3"
                              : "hybrid");
        launch_draft_text(d, LAUNCH_FP8_RECIPE, launch_fp8_recipe_name(p));
        launch_draft_flag(d, LAUNCH_FP8_GATHER, p == RIDGE_PRECISION_FP8_WEIGHTS);
        return RIDGE_OK;
    case RIDGE_PRECISION_FP4:
        launch_draft_flag(d, LAUNCH_BF16, true);
        launch_draft_text(d, LAUNCH_FP4, "e2m1");
        return RIDGE_OK;
    case RIDGE_PRECISION_FP16:
        launch_draft_flag(d, LAUNCH_FP16, true);
        return RIDGE_OK;
    case RIDGE_PRECISION_FP32:
        return RIDGE_OK;
    case RIDGE_PRECISION_BF16_PURE:
    case RIDGE_PRECISION_FP8_ROWS:
    case RIDGE_PRECISION_TF32:
        break;
    }
    return launch_draft_refuse(
        d,
        "has no precision %s: plan with bf16, bf16-reduce, fp16, "
        "fp8, fp8-current, fp8-blocks, fp8-weights, mxfp8, fp4 or fp32",
        ridge_precision_policy(p)->text);
}

static void fill_optimizer(launch_draft *d)
{
    static const char *const names[RIDGE_OPTIMIZER_COUNT] = {
        [RIDGE_OPTIMIZER_ADAMW] = "adam",      [RIDGE_OPTIMIZER_ADAMW_BF16] = "adam",
        [RIDGE_OPTIMIZER_ADAMW_8BIT] = "adam", [RIDGE_OPTIMIZER_MUON] = "muon",
        [RIDGE_OPTIMIZER_MOMENTUM] = "sgd",    [RIDGE_OPTIMIZER_SGD] = "sgd"};
    const ridge_optimizer o = d->layout->optimizer;
    const bool is_offloaded = (d->layout->offload & RIDGE_OFFLOAD_OPTIMIZER) != 0;
    const char *moments = o == RIDGE_OPTIMIZER_ADAMW_BF16   ? "bf16"
                          : o == RIDGE_OPTIMIZER_ADAMW_8BIT ? "fp8"
                                                            : NULL;
    launch_draft_text(d, LAUNCH_OPTIMIZER, names[o]);
    launch_draft_text(d, LAUNCH_MOMENTUM, o == RIDGE_OPTIMIZER_SGD ? "0" : NULL);
    launch_draft_text(d, LAUNCH_FIRST_MOMENT, moments);
    launch_draft_text(d, LAUNCH_SECOND_MOMENT, moments);
    launch_draft_flag(d, LAUNCH_PRECISION_AWARE, moments != NULL || is_offloaded);
    launch_draft_flag(d, LAUNCH_OPTIMIZER_OFFLOAD, is_offloaded);
}

ridge_status launch_megatron_fill(launch_draft *d)
{
    static const launch_ability ability = {
        .schedules = 1u << RIDGE_SCHEDULE_1F1B,
        .exchanges =
            1u << RIDGE_CP_RING | 1u << RIDGE_CP_GATHER | 1u << RIDGE_CP_ALL_TO_ALL,
        .optimizers = ~(1u << RIDGE_OPTIMIZER_ADAFACTOR | 1u << RIDGE_OPTIMIZER_LORA),
        .offload = RIDGE_OFFLOAD_OPTIMIZER,
        .has_ends = true,
        .has_partial_remat = true,
        .has_named_remat = true,
        .has_mtp = true};
    const double tokens = d->request->total_tokens;
    RIDGE_TRY(launch_draft_check(d, &ability));
    RIDGE_TRY(launch_dims_of(d->cx, d->request->model, &d->dims));
    RIDGE_TRY(fill_model(d));
    RIDGE_TRY(fill_degrees(d));
    RIDGE_TRY(fill_remat(d));
    RIDGE_TRY(fill_precision(d));
    launch_draft_i64(d, LAUNCH_SEQ, d->seq_tokens);
    launch_draft_i64(d, LAUNCH_MICROBATCH, d->layout->microbatch_seqs);
    launch_draft_i64(d, LAUNCH_BATCH, d->batch_seqs);
    if (tokens > 0)
        launch_draft_i64(d, LAUNCH_SAMPLES, (int64_t)(tokens / (double)d->seq_tokens));
    fill_optimizer(d);
    launch_draft_note(d, "run it on %lld ranks", (long long)d->request->slice->chips);
    launch_draft_note(d, "data, tokenizer, learning rate, rotary base and checkpoints "
                         "are yours to add");
    return RIDGE_OK;
}

ridge_status launch_megatron_write(launch_draft *d)
{
    RIDGE_TRY(launch_megatron_fill(d));
    ridge_buf *b = &d->out->text;
    const launch_option *last = NULL;
    for (const launch_option *o = launch_megatron_options; o->name != NULL; o++) {
        const char *value = d->value[o->field];
        if (value == NULL || (last != NULL && last->field == o->field))
            continue;
        ridge_buf_printf(b, "--%s%s%s\n", o->name, value[0] == '\0' ? "" : " ", value);
        last = o;
    }
    return RIDGE_OK;
}
