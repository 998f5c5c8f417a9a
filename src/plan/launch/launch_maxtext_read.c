/*
 * The layout and the batch of a MaxText configuration. Its mesh is the product of axes
 * inside a slice (ici, or a node of GPUs) and across slices (dcn); one axis of each may
 * be -1, what is left. Weights are cut over fsdp, context and expert.
 *
 * @source maxtext-2025, configs/base.yml and its logical_axis_rules
 */
#include "launch_read.h"
#include "launch_tensors.h"

#include <math.h>
#include <string.h>

static const int64_t MOST = 100000000;

enum { AXES = 7, AXIS_DP = 0, AXIS_FSDP, AXIS_CP, AXIS_TP, AXIS_TPS, AXIS_PP, AXIS_EP };

static const launch_field inner_fields[AXES] = {
    LAUNCH_DP_REPLICAS, LAUNCH_DP_SHARDS, LAUNCH_CP, LAUNCH_TP,
    LAUNCH_TP_SEQUENCE, LAUNCH_PP,        LAUNCH_EP};
static const launch_field outer_fields[AXES] = {
    LAUNCH_DCN_DP,          LAUNCH_DCN_FSDP, LAUNCH_DCN_CP, LAUNCH_DCN_TP,
    LAUNCH_DCN_TP_SEQUENCE, LAUNCH_DCN_PP,   LAUNCH_DCN_EP};

/* Chips that one level of the mesh has inside: a slice, or GPUs joined by a switch. */
static int64_t inner_chips(const ridge_slice *slice)
{
    if (slice->system != NULL && slice->system->torus_dims > 0)
        return slice->chips / slice->slices;
    return slice->n_axes > 0 ? slice->axes[0].size : slice->chips;
}

/* Degrees of one level, with what is left in place of -1. */
static ridge_status read_level(launch_sheet *s, const launch_field *fields,
                               int64_t chips, int64_t *out)
{
    int64_t product = 1;
    int free_axis = -1;
    for (int i = 0; i < AXES; i++) {
        RIDGE_TRY(launch_sheet_i64(s, fields[i], -1, MOST, &out[i]));
        if (out[i] == 0) {
            return launch_sheet_fail(s, RIDGE_E_PARSE, fields[i],
                                     "0: expected a degree, or -1 for what is left");
        }
        if (out[i] < 0 && free_axis >= 0) {
            return launch_sheet_fail(s, RIDGE_E_ARG, fields[i],
                                     "%s is -1 as well: one axis is what is left",
                                     launch_sheet_name(s, fields[free_axis]));
        }
        if (out[i] < 0) {
            free_axis = i;
        } else if (!ridge_mul_i64(product, out[i], &product)) {
            product = INT64_MAX;
        }
    }
    const bool is_whole = free_axis >= 0 ? chips % product == 0 : product == chips;
    if (!is_whole) {
        return launch_sheet_fail(s, RIDGE_E_ARG, fields[free_axis < 0 ? 0 : free_axis],
                                 "the axes of its level multiply to %lld, for %lld "
                                 "%s: change them or the slice",
                                 (long long)product, (long long)chips,
                                 fields == inner_fields ? "chips of a slice or node"
                                                        : "slices or nodes");
    }
    if (free_axis >= 0)
        out[free_axis] = chips / product;
    return RIDGE_OK;
}

static ridge_status read_shards(launch_sheet *s, const int64_t *axes, ridge_knobs *k)
{
    bool is_optimizer = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_ZERO_OPTIMIZER, &is_optimizer));
    const int64_t cut = axes[AXIS_FSDP] * axes[AXIS_EP];
    launch_data data = {.ranks = axes[AXIS_DP] * cut, .replicas = axes[AXIS_DP]};
    if (cut * k->cp > 1) {
        data.zero_stage = 3;
    } else if (is_optimizer) {
        data.zero_stage = 1;
        data.replicas = 1;
    }
    launch_data_knobs(&data, k);
    if (data.zero_stage == 3 && is_optimizer && data.replicas > 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %s cuts the optimizer over replicas as well; priced as "
                         "replicated",
                         s->file, launch_sheet_name(s, LAUNCH_ZERO_OPTIMIZER));
    }
    return RIDGE_OK;
}

static ridge_status read_mesh(launch_sheet *s, const ridge_slice *slice, ridge_knobs *k)
{
    int64_t inner[AXES] = {0};
    int64_t outer[AXES] = {0};
    int64_t transposed = 1;
    const int64_t chips = inner_chips(slice);
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_FSDP_TRANSPOSED, 1, 1, &transposed));
    RIDGE_TRY(read_level(s, outer_fields, slice->chips / chips, outer));
    RIDGE_TRY(read_level(s, inner_fields, chips, inner));
    int64_t axes[AXES];
    for (int i = 0; i < AXES; i++)
        axes[i] = inner[i] * outer[i];
    k->cp = axes[AXIS_CP];
    k->tp = axes[AXIS_TP] * axes[AXIS_TPS];
    k->pp = axes[AXIS_PP];
    k->ep = axes[AXIS_EP];
    k->has_sp = k->tp > 1 ? 1 : 0;
    if (axes[AXIS_TP] > 1) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: %s cuts activations between blocks along D; priced as "
                         "along the sequence",
                         s->file, launch_sheet_name(s, LAUNCH_TP));
    }
    return read_shards(s, axes, k);
}

static ridge_status read_context(launch_sheet *s, ridge_knobs *k)
{
    static const launch_word words[] = {{"all_gather", RIDGE_CP_GATHER},
                                        {"ring", RIDGE_CP_RING},
                                        {"ulysses", RIDGE_CP_ALL_TO_ALL}};
    const char *name = "all_gather";
    if (k->cp == 1)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_CP_EXCHANGE, &name));
    const int found = launch_word_find(words, RIDGE_COUNT_OF(words), name);
    if (found < 0) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_CP_EXCHANGE,
                                 "'%.40s': expected all_gather, ring or ulysses", name);
    }
    k->cp_exchange = found;
    return RIDGE_OK;
}

/* ---- pipeline -------------------------------------------------------------------- */

static ridge_status read_pipeline(launch_sheet *s, int64_t layers, ridge_knobs *k,
                                  int64_t *microbatches)
{
    int64_t stage_layers = 1;
    int64_t repeats = -1;
    k->vpp = 1;
    *microbatches = 1;
    launch_usual_knobs(k);
    if (k->pp == 1)
        return RIDGE_OK;
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_STAGE_LAYERS, 1, MOST, &stage_layers));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_PIPELINE_REPEATS, -1, MOST, &repeats));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_MICROBATCHES, -1, MOST, microbatches));
    const int64_t round = k->pp * stage_layers;
    if (layers % round != 0 || (repeats > 0 && repeats != layers / round)) {
        return launch_sheet_fail(s, RIDGE_E_ARG, LAUNCH_STAGE_LAYERS,
                                 "%lld layers over %lld stages of %lld do not repeat "
                                 "evenly",
                                 (long long)layers, (long long)k->pp,
                                 (long long)stage_layers);
    }
    k->vpp = layers / round;
    if (*microbatches < 1)
        *microbatches = k->pp;
    launch_usual_knobs(k);
    if (k->vpp == 1) {
        k->schedule = RIDGE_SCHEDULE_GPIPE;
    } else {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: a pipeline that runs all forward passes first; priced as "
                         "interleaved 1F1B, which holds fewer activations",
                         s->file);
    }
    return RIDGE_OK;
}

/* ---- recomputation and precision ------------------------------------------------- */

typedef struct remat_row {
    const char *name;
    ridge_remat remat;
    const char *note; /* in what it differs, or NULL */
} remat_row;

static const remat_row remats[] = {
    {"full", RIDGE_REMAT_FULL, NULL},
    {"none", RIDGE_REMAT_NONE, NULL},
    {"minimal", RIDGE_REMAT_MATMULS, NULL},
    {"minimal_with_context", RIDGE_REMAT_ELEMENTWISE, NULL},
    {"minimal_flash", RIDGE_REMAT_ELEMENTWISE, NULL},
    {"save_dot_with_context_except_mlp", RIDGE_REMAT_FFN, NULL},
    {"save_dot_except_mlpwi", RIDGE_REMAT_FULL, "some matmuls are kept"},
    {"save_dot_except_mlp", RIDGE_REMAT_FFN, "attention is computed again as well"},
    {"save_qkv_proj", RIDGE_REMAT_FULL, "queries, keys and values are kept"},
    {"save_out_proj", RIDGE_REMAT_FULL, "attention's projection is kept"},
    {"qkv_proj_offloaded", RIDGE_REMAT_FULL, "projections go to the host"},
    {"minimal_offloaded", RIDGE_REMAT_MATMULS, NULL}};

static ridge_status read_remat(launch_sheet *s, ridge_knobs *k)
{
    const char *name = "full";
    RIDGE_TRY(launch_sheet_word(s, LAUNCH_REMAT, &name));
    if (strcmp(name, "custom") == 0)
        return launch_tensors_read(s, k);
    for (size_t i = 0; i < RIDGE_COUNT_OF(remats); i++) {
        if (strcmp(name, remats[i].name) != 0)
            continue;
        k->remat = (int)remats[i].remat;
        if (strcmp(name, "minimal_offloaded") == 0)
            k->offload |= RIDGE_OFFLOAD_ACTIVATIONS;
        if (remats[i].note != NULL) {
            launch_notes_add(s->cx, &s->launch->differing,
                             "%s: remat_policy %s: %s; priced as %s", s->file, name,
                             remats[i].note, ridge_remat_text(remats[i].remat));
        }
        return RIDGE_OK;
    }
    return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_REMAT, "'%.60s' is no policy",
                             name);
}

static const launch_word optimizers[] = {{"adamw", RIDGE_OPTIMIZER_ADAMW},
                                         {"adam_pax", RIDGE_OPTIMIZER_ADAMW},
                                         {"sgd", RIDGE_OPTIMIZER_SGD},
                                         {"muon", RIDGE_OPTIMIZER_MUON}};

static ridge_status read_offload(launch_sheet *s, ridge_knobs *k)
{
    bool has_optimizer = false;
    bool has_weights = false;
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_OPTIMIZER_OFFLOAD, &has_optimizer));
    RIDGE_TRY(launch_sheet_flag(s, LAUNCH_WEIGHTS_OFFLOAD, &has_weights));
    k->offload |= has_optimizer ? RIDGE_OFFLOAD_OPTIMIZER : 0;
    k->offload |= has_weights ? RIDGE_OFFLOAD_WEIGHTS : 0;
    return RIDGE_OK;
}

static ridge_status read_precision(launch_sheet *s, ridge_knobs *k)
{
    const char *compute = "bfloat16";
    const char *weight = "float32";
    const char *quantization = "";
    const char *optimizer = "adamw";
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_COMPUTE_DTYPE, &compute));
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_WEIGHT_DTYPE, &weight));
    RIDGE_TRY(launch_sheet_text(s, LAUNCH_OPTIMIZER, &optimizer));
    if (launch_sheet_has(s, LAUNCH_FP8))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_FP8, &quantization));
    k->precision = RIDGE_PRECISION_BF16;
    if (strncmp(quantization, "fp8", 3) == 0) {
        k->precision = RIDGE_PRECISION_FP8;
    } else if (strcmp(compute, "float32") == 0) {
        k->precision = RIDGE_PRECISION_FP32;
    } else if (strcmp(weight, "bfloat16") == 0) {
        k->precision = RIDGE_PRECISION_BF16_PURE;
    }
    if (quantization[0] != '\0' && k->precision != RIDGE_PRECISION_FP8) {
        launch_notes_add(s->cx, &s->launch->differing,
                         "%s: quantization %.40s; priced as %s", s->file, quantization,
                         ridge_precision_policy(k->precision)->text);
    }
    const int found =
        launch_word_find(optimizers, RIDGE_COUNT_OF(optimizers), optimizer);
    if (found < 0) {
        return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_OPTIMIZER,
                                 "'%.40s': expected adamw, adam_pax, sgd or muon",
                                 optimizer);
    }
    k->optimizer = (ridge_optimizer)found;
    return read_offload(s, k);
}

/* ---- batch ----------------------------------------------------------------------- */

static ridge_status read_batch(launch_sheet *s, int64_t chips, int64_t microbatches,
                               ridge_launch *launch)
{
    double device = 12;
    double seq = 2048;
    int64_t accumulation = 1;
    int64_t steps = 0;
    ridge_knobs *k = &launch->knobs;
    RIDGE_TRY(launch_sheet_double(s, LAUNCH_LOCAL_BATCH, 1e-9, 1e9, &device));
    RIDGE_TRY(launch_sheet_i64(s, LAUNCH_ACCUMULATION, 1, MOST, &accumulation));
    RIDGE_TRY(launch_sheet_double(s, LAUNCH_SEQ, 1, 1e9, &seq));
    RIDGE_TRY(launch_sheet_want(s, LAUNCH_STEPS, &steps));
    const double seqs = floor(device * (double)chips + 1e-6);
    const double share = seqs / (double)(k->dp * k->fsdp) / (double)microbatches;
    if (share < 1 || share != floor(share) || share > (double)MOST) {
        return launch_sheet_fail(
            s, RIDGE_E_ARG, LAUNCH_LOCAL_BATCH,
            "%g a chip on %lld chips are %.0f sequences, no multiple of %lld replicas "
            "x "
            "%lld microbatches of a pipeline: change it or the axes",
            device, (long long)chips, seqs, (long long)(k->dp * k->fsdp),
            (long long)microbatches);
    }
    k->microbatch_seqs = (int64_t)share;
    launch->batch_seqs = seqs * (double)accumulation;
    launch->seq_tokens = seq;
    launch->total_tokens = (double)steps * launch->batch_seqs * seq;
    return RIDGE_OK;
}

static bool has_layout(const launch_sheet *s)
{
    static const launch_field others[] = {LAUNCH_LOCAL_BATCH, LAUNCH_REMAT, LAUNCH_SEQ,
                                          LAUNCH_BASE};
    for (int i = 0; i < AXES; i++) {
        if (launch_sheet_has(s, inner_fields[i]) ||
            launch_sheet_has(s, outer_fields[i]))
            return true;
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(others); i++) {
        if (launch_sheet_has(s, others[i]))
            return true;
    }
    return false;
}

static ridge_status refuse_serving(launch_sheet *s)
{
    const char *base = "";
    if (launch_sheet_has(s, LAUNCH_BASE))
        RIDGE_TRY(launch_sheet_text(s, LAUNCH_BASE, &base));
    if (strstr(base, "inference") == NULL)
        return RIDGE_OK;
    return launch_sheet_fail(s, RIDGE_E_PARSE, LAUNCH_BASE,
                             "a configuration for serving: give one for training");
}

ridge_status launch_maxtext_read(launch_sheet *s, const ridge_launch_query *query,
                                 ridge_launch *launch)
{
    int64_t microbatches = 1;
    RIDGE_TRY(refuse_serving(s));
    RIDGE_TRY(launch_maxtext_model(s, query, launch));
    RIDGE_TRY(launch_mtp_read(s, &launch->knobs));
    launch->has_layout = has_layout(s);
    if (!launch->has_layout)
        return RIDGE_OK;
    ridge_knobs *k = &launch->knobs;
    RIDGE_TRY(read_mesh(s, query->slice, k));
    RIDGE_TRY(read_pipeline(s, launch->model->layer_count, k, &microbatches));
    RIDGE_TRY(read_context(s, k));
    k->overlap[RIDGE_OVERLAP_TP] = RIDGE_FLAG_FREE; /* as XLA does on the chip */
    RIDGE_TRY(read_remat(s, k));
    RIDGE_TRY(read_precision(s, k));
    return read_batch(s, query->slice->chips, microbatches, launch);
}
