/* The layout and the batch in Megatron's options.
 * @source megatron-lm-2025, megatron/training/arguments.py (validate_args) */
#include "launch_modules.h"
#include "launch_read.h"
#include "launch_recipes.h"

#include <string.h>

static const int64_t MOST = 100000000;

static ridge_status read_degrees(launch_sheet *s, ridge_knobs *k)
{
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_TP, 1, MOST, &k->tp));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_PP, 1, MOST, &k->pp));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_CP, 1, MOST, &k->cp));
    return launch_sheet_i64(s, LAUNCH_EP, 1, MOST, &k->ep);
}

static ridge_status check_degrees(launch_sheet *s, int64_t chips, const ridge_knobs *k)
{
    static const launch_field fields[] = {LAUNCH_TP, LAUNCH_CP, LAUNCH_PP};
    const int64_t degrees[] = {k->tp, k->cp, k->pp};
    int64_t left = chips;
    for (size_t i = 0; i < RIDGE_COUNT_OF(fields); i++) {
        if (left % degrees[i] != 0) {
            return launch_sheet_fail(s, RIDGE_E_ARG, fields[i],
                                     "tp x cp x pp = %lld x %lld x %lld does not "
                                     "divide the %lld chips: choose another slice",
                                     (long long)k->tp, (long long)k->cp,
                                     (long long)k->pp, (long long)chips);
        }
        left /= degrees[i];
    }
    return RIDGE_OK;
}

/* ---- what data parallelism shards ------------------------------------------------ */

/* Megatron's own FSDP: "optim_grads_params" and what comes before it. */
static ridge_status read_strategy(launch_sheet *s, int *zero_stage)
{
    static const char *const names[] = {"no_shard", "optim", "optim_grads",
                                        "optim_grads_params"};
    const char *name = "no_shard";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_ZERO_STRATEGY, &name));
    for (size_t i = 0; i < RIDGE_COUNT_OF(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *zero_stage = (int)i;
            return RIDGE_OK;
        }
    }
    return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_ZERO_STRATEGY,
                             "'%.60s': expected no_shard, optim, optim_grads or "
                             "optim_grads_params",
                             name);
}

/* Weights are gathered beside the forward pass where the optimizer's state is cut: it
 * is refused otherwise, so a file that asks for it has the other from elsewhere, as
 * Primus's have from its base configuration. */
static ridge_status read_distributed(launch_sheet *s, bool *is_optimizer)
{
    bool is_gather = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OVERLAP_GATHER, &is_gather));
    if (launch_sheet_has(s, LAUNCH_ZERO_OPTIMIZER) || !is_gather)
        return launch_sheet_flag(s, LAUNCH_ZERO_OPTIMIZER, is_optimizer);
    *is_optimizer = true;
    launch_notes_add(s->cx, &s->launch->assumed, "%s, for %s",
                     launch_sheet_name(s, LAUNCH_ZERO_OPTIMIZER),
                     launch_sheet_name(s, LAUNCH_OVERLAP_GATHER));
    return RIDGE_OK;
}

static ridge_status read_shards(launch_sheet *s, launch_data *data)
{
    bool is_optimizer = false;
    bool is_full = false;
    bool is_torch = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ZERO_FULL, &is_full));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ZERO_TORCH, &is_torch));
    if (!is_full && !is_torch)
        RIDGE_TRY(read_distributed(s, &is_optimizer));
    data->zero_stage = is_torch ? 3 : is_optimizer ? 1 : 0;
    if (is_full)
        RIDGE_TRY(read_strategy(s, &data->zero_stage));
    if (data->zero_stage == 0)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_DP_REPLICAS, 1, MOST, &data->replicas));
    if (data->ranks % data->replicas != 0) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_DP_REPLICAS,
                                 "%lld does not divide the %lld data-parallel ranks",
                                 (long long)data->replicas, (long long)data->ranks);
    }
    return RIDGE_OK;
}

static ridge_status read_overlap(launch_sheet *s, int zero_stage, ridge_knobs *k)
{
    bool is_reduce = false;
    bool is_gather = false;
    bool is_exchange = false;
    bool is_sent = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OVERLAP_REDUCE, &is_reduce));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OVERLAP_GATHER, &is_gather));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_EP_OVERLAP, &is_exchange));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_NO_PP_OVERLAP, &is_sent));
    k->overlap[RIDGE_OVERLAP_EP] = is_exchange && k->ep > 1 ? 1 : 0;
    k->overlap[RIDGE_OVERLAP_PP] = k->pp > 1 && k->vpp > 1 && !is_sent ? 1 : 0;
    if (k->fsdp * k->dp * k->cp == 1)
        return RIDGE_OK;
    k->overlap[RIDGE_OVERLAP_DP] = is_reduce ? 1 : 0;
    if (zero_stage == 3)
        k->overlap[RIDGE_OVERLAP_FSDP] = is_gather ? 1 : 0;
    if (!is_gather && zero_stage == 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: without %s weights are gathered before the forward "
                         "pass; priced beside it",
                         s->file, launch_sheet_name(s, LAUNCH_OVERLAP_GATHER));
    }
    return RIDGE_OK;
}

static ridge_status read_context(launch_sheet *s, ridge_knobs *k)
{
    static const launch_word words[] = {{"p2p", RIDGE_CP_RING},
                                        {"all_gather", RIDGE_CP_GATHER},
                                        {"allgather", RIDGE_CP_GATHER},
                                        {"a2a", RIDGE_CP_ALL_TO_ALL}};
    const char *name = "p2p";
    if (k->cp == 1)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_CP_EXCHANGE, &name));
    const int found = launch_word_find(words, RIDGE_COUNT_OF(words), name);
    if (found >= 0) {
        k->cp_exchange = found;
        return RIDGE_OK;
    }
    launch_notes_add(s->cx, &s->launch->differing, "%s: %s %.40s; priced as a ring",
                     s->file, launch_sheet_name(s, LAUNCH_CP_EXCHANGE), name);
    return RIDGE_OK;
}

/* ---- recomputation --------------------------------------------------------------- */

/* Layers of a stage that are recomputed in blocks, or all of them. */
static ridge_status read_full_remat(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    const char *method = "uniform";
    int64_t n = 1;
    if (launch_sheet_has(s, LAUNCH_REMAT_METHOD))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_REMAT_METHOD, &method));
    if (launch_sheet_has(s, LAUNCH_REMAT_LAYERS))
        RIDGE_TRY(launch_sheet_i64(s, LAUNCH_REMAT_LAYERS, 0, MOST, &n));
    k->remat = RIDGE_REMAT_FULL;
    const int64_t stage = ridge_ceil_div(layers, k->pp * k->vpp);
    const bool is_block = strcmp(method, "block") == 0;
    if (is_block && n == 0) {
        k->remat = RIDGE_REMAT_NONE;
    } else if (is_block && n < stage) {
        k->remat_layers = n * k->vpp; /* Megatron counts in each virtual stage */
    } else if (!is_block && n > 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %s %lld keeps the input of every such group of layers; "
                         "priced as that of each layer",
                         s->file, launch_sheet_name(s, LAUNCH_REMAT_LAYERS),
                         (long long)n);
    }
    return RIDGE_OK;
}

static unsigned bit(int module)
{
    return 1u << module;
}

/* The norms and the feed-forward, of which models have one or both modules. */
static bool is_feed_forward(unsigned set)
{
    const unsigned parts = bit(LAUNCH_MODULE_MLP) | bit(LAUNCH_MODULE_MOE);
    return (set & parts) != 0 && (set & ~parts) == bit(LAUNCH_MODULE_LAYERNORM);
}

static bool has_latents(const ridge_model *model)
{
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].mixer.kind == RIDGE_MIXER_MLA)
            return true;
    }
    return false;
}

/* Operations that the model has; what it has none of computes nothing again. */
static ridge_status read_operations(launch_sheet *s, const char *modules, unsigned set,
                                    ridge_knobs *k)
{
    ridge_remat_ops known;
    RIDGE_TRY(launch_model_ops(s->cx, s->launch->model, &known));
    if (!has_latents(s->launch->model)) /* their q, k and v are no up projections */
        set &= ~bit(LAUNCH_MODULE_MLA_UP);
    k->remat_ops = launch_modules_ops(set) & known;
    k->remat = k->remat_ops == 0 ? RIDGE_REMAT_NONE : (int)RIDGE_REMAT_OPERATIONS;
    if (k->remat_ops == 0)
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s:%d: %s %.80s, of which the model has none; priced as no "
                         "recomputation",
                         s->file, s->given[LAUNCH_REMAT_MODULES]->line,
                         s->given[LAUNCH_REMAT_MODULES]->name, modules);
    else if ((set & bit(LAUNCH_MODULE_MOE)) != 0)
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s:%d: %s moe sends tokens to their experts again; priced as "
                         "its operations alone",
                         s->file, s->given[LAUNCH_REMAT_MODULES]->line,
                         s->given[LAUNCH_REMAT_MODULES]->name);
    return RIDGE_OK;
}

static ridge_status read_modules(launch_sheet *s, ridge_knobs *k)
{
    const char *modules = "";
    unsigned set;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_REMAT_MODULES, &modules));
    const ridge_str unknown = launch_modules_parse(modules, &set);
    if (unknown.n > 0)
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_REMAT_MODULES,
                                 "'%.*s' is no module: use core_attn, layernorm, "
                                 "mla_up_proj, mlp, moe, moe_act or shared_experts",
                                 (int)(unknown.n < 40 ? unknown.n : 40), unknown.p);
    if (set == 0 || set == bit(LAUNCH_MODULE_CORE_ATTN))
        return RIDGE_OK;
    if (is_feed_forward(set)) {
        k->remat = RIDGE_REMAT_FFN;
        return RIDGE_OK;
    }
    return read_operations(s, modules, set, k);
}

static ridge_status read_remat(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    const char *granularity = "";
    bool is_selective = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_REMAT_SELECTIVE, &is_selective));
    if (launch_sheet_has(s, LAUNCH_REMAT))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_REMAT, &granularity));
    k->remat = RIDGE_REMAT_NONE;
    if (strcmp(granularity, "full") == 0)
        return read_full_remat(s, layers, k);
    if (!is_selective && strcmp(granularity, "selective") != 0) {
        if (granularity[0] == '\0')
            return RIDGE_OK;
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_REMAT,
                                 "'%.60s': expected full or selective", granularity);
    }
    k->remat = RIDGE_REMAT_SELECTIVE;
    if (launch_sheet_has(s, LAUNCH_REMAT_MODULES))
        return read_modules(s, k);
    return RIDGE_OK;
}

/* ---- precision ------------------------------------------------------------------- */

/* Weights that are kept and gathered in 8 bits are so in every recipe. */
static ridge_status read_fp8(launch_sheet *s, ridge_knobs *k)
{
    const char *recipe = "delayed";
    bool is_gathered = false;
    if (launch_sheet_has(s, LAUNCH_FP8_RECIPE))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_FP8_RECIPE, &recipe));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_FP8_GATHER, &is_gathered));
    k->precision =
        is_gathered ? RIDGE_PRECISION_FP8_WEIGHTS : launch_fp8_recipe(recipe);
    return RIDGE_OK;
}

static ridge_status read_precision(launch_sheet *s, ridge_knobs *k)
{
    bool is_bf16 = false;
    bool is_fp16 = false;
    bool is_reduce_bf16 = false;
    const char *grads = "fp32";
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_BF16, &is_bf16));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_FP16, &is_fp16));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_REDUCE_BF16, &is_reduce_bf16));
    if (launch_sheet_has(s, LAUNCH_MAIN_GRADS))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_MAIN_GRADS, &grads));
    is_reduce_bf16 = is_reduce_bf16 || strcmp(grads, "bf16") == 0;
    if (launch_sheet_has(s, LAUNCH_FP4)) {
        k->precision = RIDGE_PRECISION_FP4;
    } else if (launch_sheet_has(s, LAUNCH_FP8)) {
        RIDGE_TRY(read_fp8(s, k));
    } else if (is_fp16) {
        k->precision = RIDGE_PRECISION_FP16;
    } else if (is_bf16) {
        k->precision =
            is_reduce_bf16 ? RIDGE_PRECISION_BF16_REDUCE : RIDGE_PRECISION_BF16;
    } else {
        k->precision = RIDGE_PRECISION_FP32;
        launch_notes_add(s->cx, &s->launch->assumed, "fp32, for want of bf16 and fp16");
    }
    const bool is_scaled =
        ridge_dtype_bytes(ridge_precision_policy(k->precision)->compute) < 2;
    if (is_scaled && is_reduce_bf16) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: gradients in bf16; priced in fp32", s->file);
    }
    return RIDGE_OK;
}

/* ---- batch ----------------------------------------------------------------------- */

/* A batch that ranks do not share evenly: the most that would, on a smaller slice. */
static ridge_status refuse_batch(launch_sheet *s, const ridge_knobs *k, int64_t batch)
{
    const int64_t ranks = k->dp * k->fsdp;
    int64_t fewer = ranks - 1;
    while (fewer > 0 && batch % (k->microbatch_seqs * fewer) != 0)
        fewer--;
    const char *instead =
        fewer > 0
            ? ridge_sprintf(ridge_ctx_arena(s->cx), ", or take a slice of %lld chips",
                            (long long)(fewer * k->tp * k->cp * k->pp))
            : ridge_sprintf(ridge_ctx_arena(s->cx), " or %s",
                            launch_sheet_name(s, LAUNCH_MICROBATCH));
    return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_BATCH,
                             "%lld is no multiple of %lld x %lld, the sequences of a "
                             "microbatch x data-parallel ranks: change it%s",
                             (long long)batch, (long long)k->microbatch_seqs,
                             (long long)ranks, instead == NULL ? "" : instead);
}

static ridge_status read_batch(launch_sheet *s, ridge_launch *launch)
{
    ridge_knobs *k = &launch->knobs;
    int64_t seq = 0;
    int64_t batch = 0;
    const int64_t replicas = k->dp * k->fsdp;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_SEQ, &seq));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_MICROBATCH, 1, MOST, &k->microbatch_seqs));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_BATCH, &batch));
    if (k->microbatch_seqs == 0) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_MICROBATCH,
                                 "the file does not state it: add it");
    }
    if (batch == 0) {
        batch = k->microbatch_seqs * replicas;
        launch_notes_add(s->cx, &launch->assumed, "%s %lld, one microbatch a replica",
                         launch_sheet_name(s, LAUNCH_BATCH), (long long)batch);
    }
    if (batch % (k->microbatch_seqs * replicas) != 0)
        return refuse_batch(s, k, batch);
    launch->batch_seqs = (double)batch;
    launch->seq_tokens = (double)seq;
    int64_t samples = 0;
    int64_t steps = 0;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_SAMPLES, &samples));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_STEPS, &steps));
    launch->total_tokens = samples > 0 ? (double)samples * (double)seq
                                       : (double)steps * (double)batch * (double)seq;
    return RIDGE_OK;
}

/* ---- experts --------------------------------------------------------------------- */

/* The flexible dispatcher sends a token once to each node and rank; the others a copy
 * for each expert. */
static ridge_status read_dispatch(launch_sheet *s, ridge_knobs *k)
{
    const char *type = "allgather";
    if (launch_sheet_has(s, LAUNCH_DISPATCHER))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_DISPATCHER, &type));
    k->ep_dispatch = k->ep > 1 && strcmp(type, "flex") == 0 ? RIDGE_DISPATCH_ONCE
                                                            : RIDGE_DISPATCH_COPIES;
    return RIDGE_OK;
}

/* ---- the whole ------------------------------------------------------------------- */

/* Whether anything of how to run it is stated, or the model alone. */
static bool has_layout(const launch_sheet *s)
{
    static const launch_field fields[] = {
        LAUNCH_TP,         LAUNCH_PP,    LAUNCH_CP,        LAUNCH_EP,
        LAUNCH_MICROBATCH, LAUNCH_BATCH, LAUNCH_ZERO_FULL, LAUNCH_ZERO_OPTIMIZER,
        LAUNCH_REMAT,      LAUNCH_SEQ};
    for (size_t i = 0; i < RIDGE_COUNT_OF(fields); i++) {
        if (launch_sheet_has(s, fields[i]))
            return true;
    }
    return false;
}

static ridge_status read_model(launch_sheet *s, const ridge_launch_query *query,
                               int64_t tp, ridge_launch *launch)
{
    const char *name = NULL;
    if (query->model != NULL) {
        launch->model = query->model;
        launch->model_name = query->model->name;
        return RIDGE_OK;
    }
    if (!launch_sheet_has(s, LAUNCH_MODEL_NAME))
        return launch_megatron_model(s, query, tp, launch);
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_MODEL_NAME, &name));
    return launch_model_find(s, query, LAUNCH_MODEL_NAME, name, launch);
}

static ridge_status read_expert_width(launch_sheet *s, ridge_launch *launch)
{
    const ridge_knobs *k = &launch->knobs;
    int64_t stated = 0;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_EXPERT_TP, &stated));
    if (ridge_model_params(launch->model).experts > 0)
        launch_expert_width_note(s, LAUNCH_EXPERT_TP, stated > 0 ? stated : k->tp, k);
    const int64_t width = stated > 0 ? stated : k->tp;
    const int64_t ranks = k->tp * k->cp * k->dp * k->fsdp;
    if (k->ep > 1 && ranks % (k->ep * width) != 0) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_EP,
                                 "ep %lld x expert tp %lld does not divide the %lld "
                                 "ranks of a stage",
                                 (long long)k->ep, (long long)width, (long long)ranks);
    }
    return RIDGE_OK;
}

static ridge_status read_layout(launch_sheet *s, int64_t chips, ridge_launch *launch)
{
    ridge_knobs *k = &launch->knobs;
    const int64_t layers = launch->model->layer_count;
    bool is_sp = false;
    bool is_overlap = false;
    RIDGE_TRY(check_degrees(s, chips, k));
    launch_data data = {.ranks = chips / (k->tp * k->cp * k->pp), .replicas = 1};
    RIDGE_TRY(read_shards(s, &data));
    launch_data_knobs(&data, k);
    RIDGE_TRY(launch_megatron_stages(s, layers, k));
    RIDGE_TRY(read_overlap(s, data.zero_stage, k));
    RIDGE_TRY(read_context(s, k));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_SP, &is_sp));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_TP_OVERLAP, &is_overlap));
    k->has_sp = is_sp && k->tp > 1 ? 1 : 0;
    k->overlap[RIDGE_OVERLAP_TP] = is_overlap && k->tp > 1 ? 1 : 0;
    RIDGE_TRY(read_remat(s, layers, k));
    RIDGE_TRY(read_dispatch(s, k));
    RIDGE_TRY(read_precision(s, k));
    RIDGE_TRY(launch_megatron_optimizer(s, k));
    return read_batch(s, launch);
}

ridge_status launch_megatron_read(launch_sheet *s, const ridge_launch_query *query,
                                  ridge_launch *launch)
{
    ridge_knobs *k = &launch->knobs;
    launch->has_layout = has_layout(s);
    if (launch->has_layout)
        RIDGE_TRY(read_degrees(s, k));
    RIDGE_TRY(read_model(s, query, k->tp > 0 ? k->tp : 1, launch));
    RIDGE_TRY(launch_mtp_read(s, k));
    if (!launch->has_layout)
        return RIDGE_OK;
    RIDGE_TRY(read_layout(s, query->slice->chips, launch));
    return read_expert_width(s, launch);
}
