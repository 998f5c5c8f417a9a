/*
 * A plan as a torchtitan job configuration.
 *
 * @source torchtitan-2025, torchtitan/config/job_config.py and train_configs
 */
#include "launch_draft.h"
#include "launch_names.h"
#include "train_case.h"

#include <math.h>
#include <string.h>

static ridge_status fill_model(launch_draft *d)
{
    const launch_name *name = launch_name_of(d->request->model->name);
    if (name == NULL || name->titan == NULL) {
        return launch_draft_refuse(d,
                                   "has no flavor of %s: add one to its models, or "
                                   "export to another launcher",
                                   d->model_name);
    }
    d->value[LAUNCH_MODEL_NAME] = name->titan;
    d->value[LAUNCH_MODEL_FLAVOR] = name->flavor;
    return RIDGE_OK;
}

static ridge_status fill_shards(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const bool is_sharded = l->fsdp * l->cp > 1;
    if (l->zero_stage == 1 || (l->zero_stage == 0 && is_sharded)) {
        return launch_draft_refuse(
            d,
            "cuts weights wherever it cuts the optimizer%s: plan "
            "with zero=3%s",
            l->zero_stage == 0 ? " and with cp" : "",
            l->zero_stage == 0 ? "" : ", zero=2 or fsdp=1");
    }
    launch_draft_i64(d, LAUNCH_DP_REPLICAS, l->dp);
    launch_draft_i64(d, LAUNCH_DP_SHARDS, l->fsdp);
    if (l->zero_stage > 0)
        launch_draft_text(d, LAUNCH_RESHARD, l->zero_stage == 3 ? "always" : "never");
    if (l->zero_stage == 2) {
        launch_draft_note(d, "torchtitan cuts weights between steps as well, and keeps "
                             "them gathered within one");
    }
    return RIDGE_OK;
}

static ridge_status fill_tensor(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    if (l->tp > 1 && !l->has_sp)
        return launch_draft_refuse(d, "cuts activations along the sequence with tp: "
                                      "plan with sp=1");
    launch_draft_i64(d, LAUNCH_TP, l->tp);
    launch_draft_i64(d, LAUNCH_CP, l->cp);
    launch_draft_text(d, LAUNCH_TP_OVERLAP,
                      l->has_tp_overlap && l->tp > 1 ? "true" : "false");
    if (l->has_tp_overlap && l->tp > 1)
        launch_draft_note(d, "async tensor parallelism needs [compile] enable = true");
    if (l->cp > 1)
        launch_draft_text(d, LAUNCH_CP_EXCHANGE,
                          l->cp_exchange == RIDGE_CP_RING ? "alltoall" : "allgather");
    if (ridge_model_params(d->request->model).experts == 0)
        return RIDGE_OK;
    const int64_t width = train_expert_width(l->tp, l->ep);
    if (l->ep > 1 && l->fsdp * l->cp * (width == 1 ? l->tp : 1) % l->ep != 0) {
        return launch_draft_refuse(
            d,
            "deals experts over fsdp x cp (x tp) = %lld ranks: "
            "plan with an ep that divides them",
            (long long)(l->fsdp * l->cp * (width == 1 ? l->tp : 1)));
    }
    launch_draft_i64(d, LAUNCH_EP, l->ep);
    if (l->ep > 1)
        launch_draft_i64(d, LAUNCH_EXPERT_TP, width);
    return RIDGE_OK;
}

/* Layers fewer in the ends than in the stages between them. */
static ridge_status fill_ends(launch_draft *d)
{
    const int64_t layers = d->request->model->layer_count;
    const stage_cut cut = stage_cut_of(d->layout);
    const int64_t first = train_stage_layers(layers, &cut, 0);
    const int64_t last = train_stage_layers(layers, &cut, cut.pp - 1);
    const int64_t rest = layers - first - last;
    const int64_t most = first > last ? first : last;
    const int64_t size = cut.pp > 2 ? rest / (cut.pp - 2) : most;
    if ((cut.pp > 2 && rest % (cut.pp - 2) != 0) || first > size || last > size) {
        return launch_draft_refuse(d,
                                   "makes the ends of a pipeline shorter, and the "
                                   "stages between them alike: plan with another pp");
    }
    launch_draft_i64(d, LAUNCH_STAGE_LAYERS, size);
    launch_draft_i64(d, LAUNCH_FIRST_LESS, size - first);
    launch_draft_i64(d, LAUNCH_LAST_LESS, size - last);
    return RIDGE_OK;
}

static ridge_status fill_stages(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const int64_t layers = d->request->model->layer_count;
    const int64_t stages = l->pp * l->vpp;
    const int64_t size = ridge_ceil_div(layers, stages);
    const bool is_even =
        l->first_layers == RIDGE_STAGE_EVEN && l->last_layers == RIDGE_STAGE_EVEN;
    if (!is_even && l->vpp == 1)
        return fill_ends(d);
    if (!is_even || ridge_ceil_div(layers, size) != stages) {
        return launch_draft_refuse(
            d,
            "makes stages of %lld layers, and %lld layers do not "
            "make up %lld of them: plan with another pp or vpp",
            (long long)size, (long long)layers, (long long)stages);
    }
    launch_draft_i64(d, LAUNCH_STAGE_LAYERS, size);
    launch_draft_i64(d, LAUNCH_FIRST_LESS, 0);
    launch_draft_i64(d, LAUNCH_LAST_LESS, 0);
    if (layers % stages != 0)
        launch_draft_note(d, "stages of unlike sizes: torchtitan puts the larger ones "
                             "first, the plan in the middle");
    return RIDGE_OK;
}

static ridge_status fill_pipeline(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    launch_draft_i64(d, LAUNCH_PP, l->pp);
    if (l->pp == 1)
        return RIDGE_OK;
    launch_draft_text(d, LAUNCH_SCHEDULE,
                      l->vpp > 1                            ? "Interleaved1F1B"
                      : l->schedule == RIDGE_SCHEDULE_GPIPE ? "GPipe"
                      : l->schedule == RIDGE_SCHEDULE_ZB_V  ? "ZBVZeroBubble"
                                                            : "1F1B");
    launch_draft_i64(d, LAUNCH_PIPELINE_MICROBATCH, l->microbatch_seqs);
    if (l->schedule != RIDGE_SCHEDULE_ZB_V)
        return fill_stages(d);
    launch_draft_i64(d, LAUNCH_FIRST_LESS, 0);
    launch_draft_i64(d, LAUNCH_LAST_LESS, 0);
    return RIDGE_OK;
}

static ridge_status fill_remat(launch_draft *d)
{
    switch (d->layout->remat) {
    case RIDGE_REMAT_NONE:
        launch_draft_text(d, LAUNCH_REMAT, "none");
        return RIDGE_OK;
    case RIDGE_REMAT_FULL:
        launch_draft_text(d, LAUNCH_REMAT, "full");
        return RIDGE_OK;
    case RIDGE_REMAT_MATMULS:
        launch_draft_text(d, LAUNCH_REMAT, "selective");
        launch_draft_text(d, LAUNCH_SAC_OPTION, "op");
        launch_draft_note(d, "torchtitan's op keeps every second matmul and attention; "
                             "the plan keeps all matmuls and recomputes attention");
        return RIDGE_OK;
    case RIDGE_REMAT_ELEMENTWISE:
    case RIDGE_REMAT_FFN:
        return launch_draft_refuse(d,
                                   "chooses matmuls, not parts of a layer: plan with "
                                   "remat=none, matmuls or full");
    case RIDGE_REMAT_SELECTIVE:
        break;
    }
    return launch_draft_refuse(d, "has no mode that recomputes attention's scores "
                                  "alone: plan with remat=none, matmuls or full");
}

static ridge_status fill_precision(launch_draft *d)
{
    const ridge_precision p = d->layout->precision;
    const bool is_fp8 = p == RIDGE_PRECISION_FP8 || p == RIDGE_PRECISION_FP8_WEIGHTS ||
                        p == RIDGE_PRECISION_FP8_ROWS;
    if (p != RIDGE_PRECISION_BF16 && !is_fp8 && p != RIDGE_PRECISION_FP32) {
        return launch_draft_refuse(d,
                                   "has no precision %s: plan with bf16, fp8, "
                                   "fp8-weights, fp8-rows or fp32",
                                   ridge_precision_policy(p)->text);
    }
    launch_draft_text(d, LAUNCH_COMPUTE_DTYPE,
                      p == RIDGE_PRECISION_FP32 ? "float32" : "bfloat16");
    launch_draft_text(d, LAUNCH_GRAD_DTYPE, "float32");
    if (is_fp8) {
        launch_draft_text(d, LAUNCH_FP8_RECIPE,
                          p == RIDGE_PRECISION_FP8_ROWS ? "rowwise" : NULL);
        launch_draft_text(d, LAUNCH_FP8_GATHER,
                          p == RIDGE_PRECISION_FP8_WEIGHTS ? "true" : NULL);
        launch_draft_text(d, LAUNCH_CONVERTERS, "[\"float8\"]");
        launch_draft_note(d, "float8 is fast with [compile] enable = true alone");
    }
    return RIDGE_OK;
}

static void fill_batch(launch_draft *d)
{
    const ridge_layout *l = d->layout;
    const int64_t local =
        l->pp > 1 ? l->microbatch_seqs * d->microbatches : l->microbatch_seqs;
    launch_draft_i64(d, LAUNCH_LOCAL_BATCH, local);
    launch_draft_i64(d, LAUNCH_BATCH, d->batch_seqs);
    launch_draft_i64(d, LAUNCH_SEQ, d->seq_tokens);
    if (d->request->total_tokens > 0) {
        launch_draft_i64(d, LAUNCH_STEPS,
                         (int64_t)ceil(d->request->total_tokens /
                                       (double)(d->batch_seqs * d->seq_tokens)));
    }
}

/* Numbers, booleans and lists as they are, all else in quotes. */
static bool is_bare(const char *value)
{
    double ignored;
    return value[0] == '[' || strcmp(value, "true") == 0 ||
           strcmp(value, "false") == 0 ||
           ridge_parse_double(ridge_str_of(value), &ignored);
}

static void put_tables(launch_draft *d)
{
    ridge_buf *b = &d->out->text;
    ridge_str table = {NULL, 0};
    const launch_option *last = NULL;
    for (const launch_option *o = launch_torchtitan_options; o->name != NULL; o++) {
        const char *value = d->value[o->field];
        const char *dot = strrchr(o->name, '.');
        if (value == NULL || dot == NULL || (last != NULL && last->field == o->field))
            continue;
        const ridge_str own = {o->name, (size_t)(dot - o->name)};
        if (!ridge_str_equal(own, table))
            ridge_buf_printf(b, "\n[%.*s]\n", (int)own.n, own.p);
        table = own;
        const char *quote =
            is_bare(value) && o->field != LAUNCH_MODEL_FLAVOR ? "" : "\"";
        ridge_buf_printf(b, "%s = %s%s%s\n", dot + 1, quote, value, quote);
        last = o;
    }
}

ridge_status launch_torchtitan_write(launch_draft *d)
{
    static const launch_ability ability = {
        .schedules = 1u << RIDGE_SCHEDULE_1F1B | 1u << RIDGE_SCHEDULE_GPIPE |
                     1u << RIDGE_SCHEDULE_ZB_V,
        .exchanges = 1u << RIDGE_CP_RING | 1u << RIDGE_CP_GATHER,
        .optimizers = 1u << RIDGE_OPTIMIZER_ADAMW,
        .offload = RIDGE_OFFLOAD_OPTIMIZER | RIDGE_OFFLOAD_WEIGHTS,
        .has_ends = true};
    const unsigned offload = d->layout->offload;
    RIDGE_TRY(launch_draft_check(d, &ability));
    if (offload != RIDGE_OFFLOAD_NONE && offload != ability.offload)
        return launch_draft_refuse(d,
                                   "puts weights and optimizer on the host together: "
                                   "plan with offload=optimizer+weights or none");
    launch_draft_text(d, LAUNCH_OPTIMIZER_OFFLOAD,
                      offload != RIDGE_OFFLOAD_NONE ? "true" : NULL);
    launch_draft_text(d, LAUNCH_OPTIMIZER, "AdamW");
    RIDGE_TRY(fill_model(d));
    RIDGE_TRY(fill_shards(d));
    RIDGE_TRY(fill_tensor(d));
    RIDGE_TRY(fill_pipeline(d));
    RIDGE_TRY(fill_remat(d));
    RIDGE_TRY(fill_precision(d));
    fill_batch(d);
    launch_draft_note(d,
                      "run it on %lld ranks; data, assets, learning rate and "
                      "checkpoints are yours to add",
                      (long long)d->request->slice->chips);
    launch_draft_comments(d);
    put_tables(d);
    return RIDGE_OK;
}
