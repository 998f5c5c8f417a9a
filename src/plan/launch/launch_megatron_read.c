/* The layout and the batch in Megatron's options.
 * @source megatron-lm-2025, megatron/training/arguments.py (validate_args) */
#include "launch_read.h"

#include "train_case.h"

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

static ridge_status read_shards(launch_sheet *s, launch_data *data)
{
    bool is_optimizer = false;
    bool is_full = false;
    bool is_torch = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ZERO_OPTIMIZER, &is_optimizer));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ZERO_FULL, &is_full));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ZERO_TORCH, &is_torch));
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

static ridge_status note_overlap(launch_sheet *s, int zero_stage)
{
    bool is_reduce = false;
    bool is_gather = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OVERLAP_REDUCE, &is_reduce));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OVERLAP_GATHER, &is_gather));
    if (!is_reduce && s->launch->knobs.fsdp * s->launch->knobs.dp > 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: without %s gradients are reduced after the backward "
                         "pass; priced beside it",
                         s->file, launch_sheet_name(s, LAUNCH_OVERLAP_REDUCE));
    }
    if (!is_gather && zero_stage == 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: without %s weights are gathered before the forward "
                         "pass; priced beside it",
                         s->file, launch_sheet_name(s, LAUNCH_OVERLAP_GATHER));
    }
    return RIDGE_OK;
}

/* ---- pipeline -------------------------------------------------------------------- */

/* Stages under way. */
typedef struct stage_list {
    int64_t *sizes; /* [most] */
    int64_t n, most;
} stage_list;

/* "*N" behind an item, 1 without. @return what follows, NULL: malformed */
static const char *read_times(const char *p, int64_t *times)
{
    *times = 1;
    if (*p != '*')
        return p;
    const size_t digits = strspn(p + 1, "0123456789");
    if (!ridge_parse_i64((ridge_str){p + 1, digits}, times) || *times > MOST)
        return NULL;
    return p + 1 + digits;
}

static bool add_item(stage_list *list, char item, int64_t times)
{
    if (item == '|') {
        if (list->n + times > list->most)
            return false;
        for (int64_t i = 0; i < times; i++)
            list->sizes[list->n++] = 0;
        return true;
    }
    if (strchr("tEmL, ", item) == NULL)
        return false;
    list->sizes[list->n - 1] += item == 't' ? times : 0;
    return true;
}

/* Items without parentheses, up to @p end. */
static bool read_items(stage_list *list, const char *p, const char *end)
{
    while (p < end) {
        const char item = *p;
        int64_t times;
        p = read_times(p + 1, &times);
        if (p == NULL || !add_item(list, item, times))
            return false;
    }
    return true;
}

/* Layers of each stage of "Et*3|(tt|)*2tL": letters, with t a layer, and groups of
 * them.
 * @return false: a form that is not read */
static bool read_stage_sizes(const char *text, stage_list *list)
{
    list->n = 1;
    list->sizes[0] = 0;
    for (const char *p = text; *p != '\0';) {
        const char *open = p + strcspn(p, "(");
        const char *close = open + strcspn(open, ")");
        int64_t times;
        if (!read_items(list, p, open))
            return false;
        if (*open == '\0')
            return true;
        p = *close == '\0' ? NULL : read_times(close + 1, &times);
        if (p == NULL)
            return false;
        for (int64_t i = 0; i < times; i++) {
            if (!read_items(list, open + 1, close))
                return false;
        }
    }
    return true;
}

/* Stages as they are written out: those of pp x vpp, in the order of the model. */
static ridge_status read_stages(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    enum { STAGES_MOST = 4096 };
    const char *text = NULL;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_STAGES, &text));
    int64_t *sizes = ridge_new(ridge_ctx_scratch(s->cx), int64_t, STAGES_MOST);
    if (sizes == NULL)
        return ridge_fail_nomem(s->cx);
    stage_list list = {.sizes = sizes, .most = STAGES_MOST};
    if (!read_stage_sizes(text, &list)) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_STAGES,
                                 "'%.60s': expected letters E, t, m, L, '|' between "
                                 "stages, and groups (..)*N",
                                 text);
    }
    const int64_t n = list.n;
    int64_t sum = 0;
    bool is_even = n == k->pp;
    for (int64_t i = 0; i < n; i++) {
        sum += sizes[i];
        is_even = is_even && sizes[i] == train_stage_size(layers, k->pp, i);
    }
    if (n % k->pp != 0 || sum != layers) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_STAGES,
                                 "%lld layers in %lld stages, of a model of %lld over "
                                 "pp=%lld",
                                 (long long)sum, (long long)n, (long long)layers,
                                 (long long)k->pp);
    }
    k->vpp = n / k->pp;
    for (int64_t i = 0; k->vpp > 1 && i < n; i++)
        is_even = i == 0 ? true : is_even && sizes[i] == sizes[0];
    if (!is_even) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s:%d: %s %.80s; priced as even stages", s->file,
                         s->given[LAUNCH_STAGES]->line, s->given[LAUNCH_STAGES]->name,
                         text);
    }
    return RIDGE_OK;
}

static ridge_status read_virtual(launch_sheet *s, int64_t layers, ridge_knobs *k)
{
    int64_t size = 0;
    k->vpp = 1;
    if (launch_sheet_has(s, LAUNCH_STAGES) && k->pp > 1)
        return read_stages(s, layers, k);
    if (launch_sheet_has(s, LAUNCH_VIRTUAL_STAGES))
        return launch_sheet_i64(s, LAUNCH_VIRTUAL_STAGES, 1, MOST, &k->vpp);
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_LAYERS_PER_VIRTUAL_STAGE, &size));
    if (size == 0 || k->pp == 1)
        return RIDGE_OK;
    if (layers % k->pp != 0 || layers / k->pp % size != 0) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_LAYERS_PER_VIRTUAL_STAGE,
                                 "%lld layers over pp=%lld are no multiple of %lld",
                                 (long long)layers, (long long)k->pp, (long long)size);
    }
    k->vpp = layers / k->pp / size;
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
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %s %lld of %lld layers of a stage; priced as all of "
                         "them",
                         s->file, launch_sheet_name(s, LAUNCH_REMAT_LAYERS),
                         (long long)n, (long long)stage);
    } else if (!is_block && n > 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %s %lld keeps the input of every such group of layers; "
                         "priced as that of each layer",
                         s->file, launch_sheet_name(s, LAUNCH_REMAT_LAYERS),
                         (long long)n);
    }
    return RIDGE_OK;
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
    if (launch_sheet_has(s, LAUNCH_REMAT_MODULES)) {
        const char *modules = "";
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_REMAT_MODULES, &modules));
        if (strcmp(modules, "core_attn") != 0 && strcmp(modules, "[core_attn]") != 0) {
            launch_notes_add(s->cx, &s->launch->differing,
                             "%s:%d: %s %.80s; priced as core_attn", s->file,
                             s->given[LAUNCH_REMAT_MODULES]->line,
                             s->given[LAUNCH_REMAT_MODULES]->name, modules);
        }
    }
    return RIDGE_OK;
}

/* ---- precision ------------------------------------------------------------------- */

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
        k->precision = RIDGE_PRECISION_FP8;
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
        k->precision == RIDGE_PRECISION_FP8 || k->precision == RIDGE_PRECISION_FP4;
    if (is_scaled && is_reduce_bf16) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: gradients in bf16; priced in fp32", s->file);
    }
    return RIDGE_OK;
}

static ridge_status read_optimizer(launch_sheet *s)
{
    const char *name = "adam";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_OPTIMIZER, &name));
    if (strcmp(name, "adam") != 0) {
        launch_notes_add(s->cx, &s->launch->differing, "%s: %s %.60s; priced as adam",
                         s->file, launch_sheet_name(s, LAUNCH_OPTIMIZER), name);
    }
    return RIDGE_OK;
}

/* ---- batch ----------------------------------------------------------------------- */

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
    if (batch % (k->microbatch_seqs * replicas) != 0) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_BATCH,
                                 "%lld is no multiple of %lld sequences a microbatch x "
                                 "%lld data-parallel ranks: change it or the slice",
                                 (long long)batch, (long long)k->microbatch_seqs,
                                 (long long)replicas);
    }
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
    RIDGE_TRY(note_overlap(s, data.zero_stage));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_SP, &is_sp));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_TP_OVERLAP, &is_overlap));
    k->has_sp = is_sp && k->tp > 1 ? 1 : 0;
    k->overlap[RIDGE_OVERLAP_TP] = is_overlap && k->tp > 1 ? 1 : 0;
    RIDGE_TRY(read_virtual(s, layers, k));
    RIDGE_TRY(read_remat(s, layers, k));
    RIDGE_TRY(read_precision(s, k));
    RIDGE_TRY(read_optimizer(s));
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
    if (!launch->has_layout)
        return RIDGE_OK;
    RIDGE_TRY(read_layout(s, query->slice->chips, launch));
    return read_expert_width(s, launch);
}
