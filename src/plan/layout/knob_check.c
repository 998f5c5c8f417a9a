/* Knobs that contradict each other, whatever the hardware. */
#include "train_case.h"

#include "ridge/plan_layout.h"

static ridge_status fail_schedule(ridge_ctx *cx, const ridge_knobs *k, const char *why)
{
    return ridge_fail(cx, RIDGE_E_ARG, "schedule=%s %s",
                      ridge_schedule_text((ridge_schedule)k->schedule), why);
}

/* Layers of an end stage are told; even stages may be fixed too, by launch files. */
static bool is_first_told(const ridge_knobs *k)
{
    return k->is_first_fixed && k->first_layers != RIDGE_STAGE_EVEN;
}

static bool is_last_told(const ridge_knobs *k)
{
    return k->is_last_fixed && k->last_layers != RIDGE_STAGE_EVEN;
}

/* Layers of the end stages against the model's. */
static ridge_status check_ends(ridge_ctx *cx, const ridge_knobs *k,
                               const ridge_model *model)
{
    const int64_t first =
        k->is_first_fixed && k->first_layers > 0 ? k->first_layers : 0;
    const int64_t last = k->is_last_fixed && k->last_layers > 0 ? k->last_layers : 0;
    if (k->pp == 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "first_layers and last_layers cut a pipeline, so pp=1 "
                          "contradicts them");
    if (first + last > model->layer_count)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "first_layers and last_layers add up to %lld; %s has %lld "
                          "layers",
                          (long long)(first + last), model->name,
                          (long long)model->layer_count);
    if (k->pp == 2 && is_first_told(k) && is_last_told(k) &&
        first + last < model->layer_count)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "pp=2 with first_layers and last_layers of %lld together: %s "
                          "has %lld layers, leave one of the two out",
                          (long long)(first + last), model->name,
                          (long long)model->layer_count);
    return RIDGE_OK;
}

/* Knobs of a pipeline that contradict each other. */
static ridge_status check_pipeline(ridge_ctx *cx, const ridge_knobs *k,
                                   const ridge_model *model)
{
    const bool has_ends = is_first_told(k) || is_last_told(k);
    if (k->schedule >= 0 && k->pp == 1)
        return fail_schedule(cx, k, "runs a pipeline, so pp=1 contradicts it");
    if (k->schedule == RIDGE_SCHEDULE_INTERLEAVED && k->vpp == 1)
        return fail_schedule(cx, k, "needs virtual stages, so vpp=1 contradicts it");
    if (k->schedule >= 0 && k->schedule != RIDGE_SCHEDULE_INTERLEAVED && k->vpp > 1)
        return fail_schedule(cx, k,
                             "has one chunk of layers a stage: use "
                             "schedule=interleaved with vpp");
    if ((k->schedule == RIDGE_SCHEDULE_ZB_V ||
         k->schedule == RIDGE_SCHEDULE_DUALPIPE) &&
        has_ends)
        return fail_schedule(cx, k,
                             "folds even stages: leave first_layers and "
                             "last_layers out");
    if (k->pp > model->layer_count)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "pp=%lld needs a layer for each stage; %s has %lld",
                          (long long)k->pp, model->name, (long long)model->layer_count);
    if (k->pp > 0 && k->vpp > 1 &&
        (k->vpp > model->layer_count ||
         !train_chunks_exist(model->layer_count, k->pp, k->vpp)))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "pp=%lld vpp=%lld needs a layer for each chunk; %s has %lld",
                          (long long)k->pp, (long long)k->vpp, model->name,
                          (long long)model->layer_count);
    if (k->vpp > 1 && k->pp == 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "vpp=%lld cuts stages of a pipeline, so pp=1 contradicts it",
                          (long long)k->vpp);
    return has_ends ? check_ends(cx, k, model) : RIDGE_OK;
}

/* The experts of a layer that ep does not divide, or else of any; 0: it is dense. */
static int64_t experts_of(const ridge_model *model, int64_t ep)
{
    int64_t experts = 0;
    for (int i = 0; i < model->n_layers; i++) {
        if (model->layers[i].ffn.kind != RIDGE_FFN_MOE)
            continue;
        experts = model->layers[i].ffn.experts;
        if (ep > 1 && experts % ep != 0)
            return experts;
    }
    return experts;
}

/* Names the divisors of the experts that are nearest to ep, below and above. */
static ridge_status fail_experts(ridge_ctx *cx, int64_t ep, int64_t experts,
                                 const ridge_model *model)
{
    int64_t below = ep < experts ? ep : experts;
    int64_t above = below;
    while (experts % below != 0)
        below--;
    while (experts % above != 0)
        above++;
    const char *instead =
        below == above ? ridge_sprintf(ridge_ctx_arena(cx), "%lld", (long long)below)
                       : ridge_sprintf(ridge_ctx_arena(cx), "%lld or %lld",
                                       (long long)below, (long long)above);
    if (instead == NULL)
        return RIDGE_E_NOMEM;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "ep=%lld does not divide the %lld experts of %s: use %s",
                      (long long)ep, (long long)experts, model->name, instead);
}

/* Knobs of experts against the model's. */
static ridge_status check_experts(ridge_ctx *cx, const ridge_knobs *k,
                                  const ridge_model *model)
{
    const int64_t experts = experts_of(model, k->ep);
    const bool is_once = k->ep_dispatch > RIDGE_DISPATCH_COPIES;
    if (k->overlap[RIDGE_OVERLAP_EP] == 1 && experts == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "ep_overlap=1 hides what goes to experts and %s has none: "
                          "leave it out",
                          model->name);
    if (k->ep > 1 && experts == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "ep=%lld deals out experts and %s has none: leave it out",
                          (long long)k->ep, model->name);
    if (k->ep > 1 && experts % k->ep != 0)
        return fail_experts(cx, k->ep, experts, model);
    if (is_once && (k->ep == 1 || experts == 0))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "ep_dispatch=%s sends tokens to experts of other ranks%s",
                          ridge_ep_dispatch_text((ridge_ep_dispatch)k->ep_dispatch),
                          experts == 0 ? ": the model has none, leave it out"
                                       : ", so ep=1 contradicts it");
    return RIDGE_OK;
}

/* A prediction layer repeats one of the model's layers and its head. */
static ridge_status check_mtp(ridge_ctx *cx, const ridge_knobs *k,
                              const ridge_model *model)
{
    if (k->mtp == 0)
        return RIDGE_OK;
    if (!model->has_unembedding || model->n_mtp_kinds == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "mtp=%d predicts further tokens and %s predicts none: leave "
                          "it out",
                          k->mtp, model->name);
    if (k->schedule == RIDGE_SCHEDULE_ZB_V || k->schedule == RIDGE_SCHEDULE_DUALPIPE)
        return fail_schedule(cx, k,
                             "has no stage with the head alone: leave mtp out, or use "
                             "schedule=1f1b");
    return RIDGE_OK;
}

static ridge_status check_lora(ridge_ctx *cx, const ridge_knobs *k)
{
    const bool is_given = k->lora.rank > 0 || k->lora.targets != RIDGE_LORA_ALL;
    if (is_given && k->optimizer != RIDGE_OPTIMIZER_LORA)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "lora_rank and lora_targets are of optimizer=lora: name it, "
                          "or leave them out");
    if (k->lora.rank > RIDGE_LORA_RANK_MOST)
        return ridge_fail(cx, RIDGE_E_ARG, "lora_rank=%lld: expected 1 to %d",
                          (long long)k->lora.rank, RIDGE_LORA_RANK_MOST);
    return RIDGE_OK;
}

/* Knobs of what is computed again. */
static ridge_status check_remat(ridge_ctx *cx, const ridge_knobs *k,
                                const ridge_model *model)
{
    if (k->remat == RIDGE_REMAT_NONE && k->remat_layers > 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "remat=none computes nothing again, so remat_layers=%lld "
                          "contradicts it: use remat=full",
                          (long long)k->remat_layers);
    if (k->remat_layers > model->layer_count)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "remat_layers=%lld counts layers of a stage and %s has %lld: "
                          "leave it out for all of them",
                          (long long)k->remat_layers, model->name,
                          (long long)model->layer_count);
    return RIDGE_OK;
}

/* Overlaps of an axis that is not there. */
static ridge_status check_overlap(ridge_ctx *cx, const ridge_knobs *k)
{
    const struct {
        ridge_overlap_kind kind;
        const char *degree;
        int64_t value;
    } axes[] = {{RIDGE_OVERLAP_TP, "tp", k->tp},
                {RIDGE_OVERLAP_PP, "pp", k->pp},
                {RIDGE_OVERLAP_EP, "ep", k->ep}};
    for (size_t i = 0; i < RIDGE_COUNT_OF(axes); i++) {
        if (k->overlap[axes[i].kind] == 1 && axes[i].value == 1)
            return ridge_fail(
                cx, RIDGE_E_ARG,
                "%s_overlap=1 hides what %s sends, so %s=1 contradicts it",
                axes[i].degree, axes[i].degree, axes[i].degree);
    }
    return RIDGE_OK;
}

ridge_status ridge_knobs_check(ridge_ctx *cx, const ridge_knobs *k,
                               const ridge_model *model)
{
    RIDGE_TRY(check_mtp(cx, k, model));
    RIDGE_TRY(check_lora(cx, k));
    if (k->zero_stage == 0 && k->fsdp > 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "zero=0 shards nothing, so fsdp=%lld contradicts it: use "
                          "dp=%lld, or zero=1, 2 or 3",
                          (long long)k->fsdp, (long long)k->fsdp);
    if (k->zero_stage > 0 && k->fsdp == 1 && k->cp == 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "zero=%d shards over fsdp and cp, so fsdp=1 with cp=1 "
                          "contradicts it: leave fsdp to the search, or use zero=0",
                          k->zero_stage);
    if (k->tp > 0 && ridge_model_tp(model, k->tp) != RIDGE_TP_OK &&
        ridge_model_tp(model, k->tp) != RIDGE_TP_REPLICATES_KV)
        return ridge_fail(cx, RIDGE_E_ARG, "tp=%lld: %s", (long long)k->tp,
                          ridge_model_tp_text(ridge_ctx_arena(cx), model, k->tp));
    if (k->has_sp == 1 && k->tp == 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sp=1 cuts activations over tp, so tp=1 contradicts it");
    if (k->cp == 1 && k->cp_exchange > RIDGE_CP_RING)
        return ridge_fail(
            cx, RIDGE_E_ARG,
            "cp_exchange=%s cuts sequences over cp, so cp=1 contradicts it",
            ridge_cp_text((ridge_cp_exchange)k->cp_exchange));
    RIDGE_TRY(check_remat(cx, k, model));
    RIDGE_TRY(check_experts(cx, k, model));
    RIDGE_TRY(check_overlap(cx, k));
    return check_pipeline(cx, k, model);
}
