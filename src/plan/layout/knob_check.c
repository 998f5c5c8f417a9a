/* Knobs that contradict each other, whatever the hardware. */
#include "ridge/plan_layout.h"

static ridge_status fail_schedule(ridge_ctx *cx, const ridge_knobs *k, const char *why)
{
    return ridge_fail(cx, RIDGE_E_ARG, "schedule=%s %s",
                      ridge_schedule_text((ridge_schedule)k->schedule), why);
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
    if (k->pp == 2 && k->is_first_fixed && k->is_last_fixed &&
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
    const bool has_ends = k->is_first_fixed || k->is_last_fixed;
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
    if (k->pp > 0 && k->vpp > 1 && k->vpp > model->layer_count / k->pp)
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

ridge_status ridge_knobs_check(ridge_ctx *cx, const ridge_knobs *k,
                               const ridge_model *model)
{
    if (k->zero_stage == 0 && k->fsdp > 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "zero=0 shards nothing, so fsdp=%lld contradicts it: use "
                          "dp=%lld, or zero=1, 2 or 3",
                          (long long)k->fsdp, (long long)k->fsdp);
    if (k->has_sp == 1 && k->tp == 1)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "sp=1 cuts activations over tp, so tp=1 contradicts it");
    if (k->remat == RIDGE_REMAT_NONE && k->remat_layers > 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "remat=none computes nothing again, so remat_layers=%lld "
                          "contradicts it: use remat=full",
                          (long long)k->remat_layers);
    return check_pipeline(cx, k, model);
}
