/*
 * The model, the layout and the batch of a torchtitan job. Its tensor parallelism
 * always cuts activations along the sequence; its FSDP keeps the weights of a pipeline
 * gathered between microbatches unless told otherwise.
 *
 * @source torchtitan-2025, torchtitan/config/job_config.py, distributed/ and docs/
 */
#include "launch_read.h"

#include <string.h>

static const int64_t MOST = 100000000;

static ridge_status read_model(launch_sheet *s, const ridge_launch_query *query,
                               ridge_launch *launch)
{
    const char *name = "";
    const char *flavor = "";
    if (query->model != NULL) {
        launch->model = query->model;
        launch->model_name = query->model->name;
        return RIDGE_OK;
    }
    if (launch_sheet_has(s, LAUNCH_MODEL_NAME))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_MODEL_NAME, &name));
    if (launch_sheet_has(s, LAUNCH_MODEL_FLAVOR))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_MODEL_FLAVOR, &flavor));
    if (name[0] == '\0' || flavor[0] == '\0') {
        return launch_sheet_fail(
            s, RIDGE_E_PARSE, name[0] == '\0' ? LAUNCH_MODEL_NAME : LAUNCH_MODEL_FLAVOR,
            "it is missing: add it, or give a model as well");
    }
    const char *both =
        ridge_sprintf(ridge_ctx_arena(s->cx), "%.60s-%.60s", name, flavor);
    if (both == NULL)
        return ridge_fail_nomem(s->cx);
    return launch_model_find(s, query, LAUNCH_MODEL_FLAVOR, both, launch);
}

static ridge_status read_degrees(launch_sheet *s, int64_t chips, ridge_knobs *k,
                                 launch_data *data)
{
    int64_t shards = -1;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_TP, 1, MOST, &k->tp));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_CP, 1, MOST, &k->cp));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_PP, 1, MOST, &k->pp));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_EP, 1, MOST, &k->ep));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_DP_REPLICAS, 1, MOST, &data->replicas));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_DP_SHARDS, -1, MOST, &shards));
    int64_t product = 1;
    const int64_t degrees[] = {k->tp, k->cp, k->pp, data->replicas,
                               shards > 0 ? shards : 1};
    for (size_t i = 0; i < RIDGE_COUNT_OF(degrees); i++) {
        if (!ridge_mul_i64(product, degrees[i], &product))
            product = INT64_MAX;
    }
    if (chips % product != 0 || (shards > 0 && product != chips)) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_DP_SHARDS,
                                 "the degrees multiply to %lld, for %lld chips: change "
                                 "them or the slice",
                                 (long long)product, (long long)chips);
    }
    data->ranks = data->replicas * (shards > 0 ? shards : chips / product);
    return RIDGE_OK;
}

static ridge_status read_shards(launch_sheet *s, ridge_knobs *k, launch_data *data)
{
    const char *reshard = "default";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_RESHARD, &reshard));
    const bool is_sharded = data->ranks / data->replicas * k->cp > 1;
    const bool is_kept =
        strcmp(reshard, "never") == 0 || (strcmp(reshard, "default") == 0 && k->pp > 1);
    data->zero_stage = !is_sharded ? 0 : is_kept ? 2 : 3;
    launch_data_knobs(data, k);
    if (data->zero_stage == 2) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: weights are cut but kept gathered from the first forward "
                         "pass to the last backward pass; priced as zero=2",
                         s->file);
    }
    return RIDGE_OK;
}

static ridge_status read_context(launch_sheet *s, ridge_knobs *k)
{
    const char *name = "allgather";
    if (k->cp == 1)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_CP_EXCHANGE, &name));
    if (strcmp(name, "allgather") != 0 && strcmp(name, "alltoall") != 0) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_CP_EXCHANGE,
                                 "'%.40s': expected allgather or alltoall", name);
    }
    /* alltoall passes keys and values on, rank by rank */
    k->cp_exchange = strcmp(name, "alltoall") == 0 ? RIDGE_CP_RING : RIDGE_CP_GATHER;
    return RIDGE_OK;
}

/* ---- pipeline -------------------------------------------------------------------- */

/* Stages as if embedding and head weighed so many layers. */
static void set_ends(launch_sheet *s, int64_t layers, int64_t first, int64_t last,
                     ridge_knobs *k)
{
    const int64_t size = (layers + first + last) / (k->pp * k->vpp);
    launch_usual_knobs(k);
    if (first + last == 0)
        return;
    if (k->vpp == 1 && (layers + first + last) % k->pp == 0 && size >= first &&
        size >= last) {
        k->first_layers = size > first ? size - first : RIDGE_STAGE_NONE;
        k->last_layers = size > last ? size - last : RIDGE_STAGE_NONE;
    } else {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %lld layers fewer in the first stage and %lld in the "
                         "last; priced as even stages",
                         s->file, (long long)first, (long long)last);
    }
}

static ridge_status read_stages(launch_sheet *s, int64_t layers, bool is_looped,
                                ridge_knobs *k)
{
    int64_t size = 0;
    int64_t first = 1;
    int64_t last = 1;
    k->vpp = is_looped ? 2 : 1;
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_STAGE_LAYERS, &size));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_FIRST_LESS, 0, MOST, &first));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_LAST_LESS, 0, MOST, &last));
    if (size == 0) {
        set_ends(s, layers, first, last, k);
        return RIDGE_OK;
    }
    const int64_t stages = ridge_ceil_div(layers + first + last, size);
    if (stages % k->pp != 0 || (!is_looped && stages != k->pp)) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_STAGE_LAYERS,
                                 "%lld layers in stages of %lld are %lld stages, for "
                                 "pp=%lld and this schedule",
                                 (long long)layers, (long long)size, (long long)stages,
                                 (long long)k->pp);
    }
    k->vpp = stages / k->pp;
    set_ends(s, layers, first, last, k);
    return RIDGE_OK;
}

static ridge_status read_pipeline(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    static const launch_word words[] = {{"1F1B", RIDGE_SCHEDULE_1F1B},
                                        {"1f1b", RIDGE_SCHEDULE_1F1B},
                                        {"GPipe", RIDGE_SCHEDULE_GPIPE},
                                        {"gpipe", RIDGE_SCHEDULE_GPIPE},
                                        {"Interleaved1F1B", RIDGE_SCHEDULE_INTERLEAVED},
                                        {"interleaved1f1b", RIDGE_SCHEDULE_INTERLEAVED},
                                        {"ZBVZeroBubble", RIDGE_SCHEDULE_ZB_V}};
    const char *schedule = "1F1B";
    k->vpp = 1;
    launch_usual_knobs(k);
    if (k->pp == 1)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_SCHEDULE, &schedule));
    const int found = launch_word_find(words, RIDGE_COUNT_OF(words), schedule);
    if (found == RIDGE_SCHEDULE_ZB_V) {
        k->schedule = found; /* folds even stages */
        k->is_first_fixed = k->is_last_fixed = false;
        return RIDGE_OK;
    }
    const bool is_looped = found < 0 || found == RIDGE_SCHEDULE_INTERLEAVED;
    if (found < 0) {
        launch_notes_add(
            s->cx, &s->launch->differing, "%s:%d: the schedule %.40s; priced as 1F1B",
            s->file,
            s->given[LAUNCH_SCHEDULE] == NULL ? 0 : s->given[LAUNCH_SCHEDULE]->line,
            schedule);
    }
    RIDGE_TRY(read_stages(s, layers, is_looped, k));
    if (found == RIDGE_SCHEDULE_GPIPE)
        k->schedule = found;
    return RIDGE_OK;
}

/* ---- recomputation and precision ------------------------------------------------- */

static ridge_status read_selective(launch_sheet *s, ridge_knobs *k)
{
    const char *option = "2";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_SAC_OPTION, &option));
    k->remat = RIDGE_REMAT_MATMULS;
    if (strcmp(option, "op") == 0) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: op keeps every second matmul and attention; priced as "
                         "all matmuls kept, attention recomputed",
                         s->file);
        return RIDGE_OK;
    }
    k->remat = RIDGE_REMAT_FULL;
    if (strcmp(option, "1") != 0) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: recomputation of every %.20s-th layer; priced as of all",
                         s->file, option);
    }
    return RIDGE_OK;
}

static ridge_status read_remat(launch_sheet *s, ridge_knobs *k)
{
    const char *mode = "selective";
    RIDGE_TRY(launch_sheet_word(s, LAUNCH_REMAT, &mode));
    if (strcmp(mode, "selective") == 0)
        return read_selective(s, k);
    if (strcmp(mode, "none") != 0 && strcmp(mode, "full") != 0) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_REMAT,
                                 "'%.60s': expected none, selective or full", mode);
    }
    k->remat = strcmp(mode, "none") == 0 ? RIDGE_REMAT_NONE : RIDGE_REMAT_FULL;
    return RIDGE_OK;
}

/* One scale a tensor, whose weights may be gathered in 8 bits; or one a row, whose are
 * not. */
static ridge_status read_float8(launch_sheet *s, ridge_knobs *k)
{
    const char *recipe = "tensorwise";
    bool is_gathered = false;
    RIDGE_TRY(launch_sheet_word(s, LAUNCH_FP8_RECIPE, &recipe));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_FP8_GATHER, &is_gathered));
    if (strncmp(recipe, "rowwise", strlen("rowwise")) == 0) {
        if (is_gathered)
            return launch_sheet_fail(
                s, RIDGE_E_ARG, LAUNCH_FP8_GATHER,
                "weights with a scale for each row are gathered in "
                "bf16: take it out, or recipe_name");
        k->precision = RIDGE_PRECISION_FP8_ROWS;
        return RIDGE_OK;
    }
    if (strcmp(recipe, "tensorwise") != 0)
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_FP8_RECIPE,
                                 "'%.60s': expected tensorwise or rowwise", recipe);
    k->precision = is_gathered ? RIDGE_PRECISION_FP8_WEIGHTS : RIDGE_PRECISION_FP8;
    return RIDGE_OK;
}

static ridge_status read_precision(launch_sheet *s, ridge_knobs *k)
{
    const char *compute = "bfloat16";
    const char *reduce = "float32";
    const char *converters = "[]";
    const char *optimizer = "AdamW";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_COMPUTE_DTYPE, &compute));
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_GRAD_DTYPE, &reduce));
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_OPTIMIZER, &optimizer));
    if (launch_sheet_has(s, LAUNCH_CONVERTERS))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_CONVERTERS, &converters));
    k->precision = strcmp(compute, "float32") == 0   ? RIDGE_PRECISION_FP32
                   : strcmp(reduce, "bfloat16") == 0 ? RIDGE_PRECISION_BF16_REDUCE
                                                     : RIDGE_PRECISION_BF16;
    if (strstr(converters, "mx") != NULL)
        k->precision = RIDGE_PRECISION_MXFP8;
    else if (strstr(converters, "float8") != NULL)
        RIDGE_TRY(read_float8(s, k));
    if (strncmp(optimizer, "Adam", 4) != 0) {
        launch_notes_add(s->cx, &s->launch->differing, "%s: %s %.40s; priced as AdamW",
                         s->file, launch_sheet_name(s, LAUNCH_OPTIMIZER), optimizer);
    }
    return RIDGE_OK;
}

/* ---- batch ----------------------------------------------------------------------- */

static ridge_status read_batch(launch_sheet *s, ridge_launch *launch)
{
    ridge_knobs *k = &launch->knobs;
    int64_t local = 8;
    int64_t global = 0;
    int64_t seq = 2048;
    int64_t steps = 0;
    int64_t microbatch = 1;
    const int64_t replicas = k->dp * k->fsdp;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_LOCAL_BATCH, 1, MOST, &local));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_SEQ, 1, MOST, &seq));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_STEPS, &steps));
    if (launch_sheet_has(s, LAUNCH_BATCH))
        RIDGE_TRY(launch_sheet_i64(s, LAUNCH_BATCH, -1, MOST, &global));
    if (k->pp > 1)
        RIDGE_TRY(
            launch_sheet_i64(s, LAUNCH_PIPELINE_MICROBATCH, 1, MOST, &microbatch));
    k->microbatch_seqs = k->pp > 1 ? microbatch : local;
    if (global <= 0)
        global = local * replicas;
    if (local % k->microbatch_seqs != 0 || global % (local * replicas) != 0) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_LOCAL_BATCH,
                                 "%lld a rank on %lld data-parallel ranks do not make "
                                 "up %lld sequences in microbatches of %lld",
                                 (long long)local, (long long)replicas,
                                 (long long)global, (long long)k->microbatch_seqs);
    }
    launch->batch_seqs = (double)global;
    launch->seq_tokens = (double)seq;
    launch->total_tokens = (double)steps * (double)global * (double)seq;
    return RIDGE_OK;
}

ridge_status launch_torchtitan_read(launch_sheet *s, const ridge_launch_query *query,
                                    ridge_launch *launch)
{
    ridge_knobs *k = &launch->knobs;
    launch_data data = {.replicas = 1};
    bool is_overlap = false;
    bool is_offloaded = false;
    int64_t width = 0;
    launch->has_layout = true;
    RIDGE_TRY(read_model(s, query, launch));
    RIDGE_TRY(read_degrees(s, query->slice->chips, k, &data));
    RIDGE_TRY(read_shards(s, k, &data));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_TP_OVERLAP, &is_overlap));
    k->has_sp = k->tp > 1 ? 1 : 0;
    RIDGE_TRY(read_pipeline(s, launch->model->layer_count, k));
    k->overlap[RIDGE_OVERLAP_TP] = is_overlap && k->tp > 1 ? 1 : 0;
    RIDGE_TRY(read_context(s, k));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OPTIMIZER_OFFLOAD, &is_offloaded));
    if (is_offloaded)
        k->offload = RIDGE_OFFLOAD_OPTIMIZER | RIDGE_OFFLOAD_WEIGHTS;
    RIDGE_TRY(read_remat(s, k));
    RIDGE_TRY(read_precision(s, k));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_EXPERT_TP, &width));
    if (k->ep == 1)
        width = k->tp; /* without ep, tp cuts experts */
    if (ridge_model_params(launch->model).experts > 0)
        launch_expert_width_note(s, LAUNCH_EXPERT_TP, width > 0 ? width : 1, k);
    return read_batch(s, launch);
}
