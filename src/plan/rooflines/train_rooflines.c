/*
 * The plain rooflines of a training layout. Symbols: N chips of C FLOP/s; a batch of B
 * tokens; P parameters; L layers of widths D and F; the batch cut over X, F over Y,
 * with W_X and W_Y bytes/s of the network for each.
 */
#include "ridge/plan_train_rooflines.h"

#include "group_placement.h"

#include <math.h>

#define TOPIC_KEY(name, key, title)   key,
#define TOPIC_TITLE(name, key, title) title,

const char *ridge_train_roofline_topic_key(ridge_train_roofline_topic topic)
{
    static const char *const keys[] = {RIDGE_TRAIN_ROOFLINE_TOPIC_LIST(TOPIC_KEY)};
    return keys[topic];
}

const char *ridge_train_roofline_topic_title(ridge_train_roofline_topic topic)
{
    static const char *const titles[] = {RIDGE_TRAIN_ROOFLINE_TOPIC_LIST(TOPIC_TITLE)};
    return titles[topic];
}

#define ROW(topic, name, key, formula, what)                                           \
    {RIDGE_TRAIN_ROOFLINE_TOPIC_##topic, key, formula, what},

const ridge_train_roofline_row *ridge_train_roofline_find(ridge_train_roofline which)
{
    static const ridge_train_roofline_row rows[] = {RIDGE_TRAIN_ROOFLINE_LIST(ROW)};
    _Static_assert(RIDGE_COUNT_OF(rows) == RIDGE_TRAIN_ROOFLINE_COUNT,
                   "one row per enum value");
    return &rows[which];
}

/* ---- what they are made of ------------------------------------------------------- */

typedef struct study {
    const ridge_train_request *request;
    const ridge_layout *layout;
    const ridge_slice *slice;
    double peak; /* C */
    ridge_thresholds thresholds;
    ridge_train_rooflines *out;
} study;

#define SET(s, name, value) set((s)->out, RIDGE_TRAIN_ROOFLINE_##name, value)

static void set(ridge_train_rooflines *out, ridge_train_roofline which, double v)
{
    out->applies[which] = true;
    out->values[which] = v;
}

static bool is_torus(const ridge_slice *slice)
{
    return slice->n_axes > 0 && slice->axes[0].kind == RIDGE_AXIS_TORUS;
}

/* From the thresholds, which hold C over the rates of the axes. */
static void set_torus_rates(study *s)
{
    ridge_train_rooflines *o = s->out;
    const ridge_torus_rates r = ridge_slice_torus_rates(s->slice);
    const bool is_shared = o->x > 1 && o->y > 1 && r.n > 1;
    o->x_bytes_per_s = is_shared ? r.sum - r.mixed : r.sum;
    o->y_bytes_per_s = is_shared ? r.mixed : r.sum;
}

/* A node's chips together have the NICs for what crosses, whatever part of an array
 * each of them holds. @source scaling-book-2025, chapter 12, cross-node collectives */
static void set_switched_rates(study *s)
{
    ridge_train_rooflines *o = s->out;
    const ridge_axis *inner = &s->slice->axes[0];
    const double node = (double)inner->size;
    o->x_bytes_per_s = inner->bytes_per_s;
    o->y_bytes_per_s = inner->bytes_per_s;
    if (s->slice->n_axes < 2)
        return;
    const double nics = s->slice->axes[1].bytes_per_s * node;
    if (o->x * o->y > node)
        o->x_bytes_per_s = fmin(o->x_bytes_per_s, nics * fmax(o->y / node, 1) / o->y);
    if (o->y > node)
        o->y_bytes_per_s = fmin(o->y_bytes_per_s, nics);
}

/*
 * The width whose weights move for a chip: of a mixture what every token takes, and the
 * experts of its own that others have too. EP deals experts out: each of its ranks has
 * E / ep of them, whole ones where TP divides it, else cut by TP like all other
 * weights.
 */
static double moving_d_ff(const ridge_ffn *f, const ridge_layout *l)
{
    const double every = ridge_ffn_active_d_ff(f);
    if (f->kind != RIDGE_FFN_MOE)
        return every;
    const bool is_whole = l->ep % l->tp == 0;
    const double tp = (double)(is_whole ? l->tp : 1);
    const double copies = (double)(l->dp * l->fsdp * l->cp) * tp / (double)l->ep;
    const double beside = every - (double)(f->expert_d_ff * f->experts_per_token);
    if (copies <= 1)
        return beside;
    return beside + (double)(f->expert_d_ff * f->experts) * tp / (double)l->ep;
}

/* A message between stages goes one way; where some pairs are nearer than others, the
 * slowest axis that lies between any two decides. */
static void set_stage_rate(study *s)
{
    ridge_train_rooflines *o = s->out;
    train_groups groups;
    if (s->layout->pp < 2 ||
        !train_groups_place(s->slice, s->layout, s->layout->placement, &groups))
        return;
    o->z_bytes_per_s = INFINITY;
    for (int i = 0; i < groups.pp.n_spans; i++) {
        const ridge_axis *axis = &s->slice->axes[groups.pp.spans[i].axis];
        o->z_bytes_per_s = fmin(o->z_bytes_per_s, axis->bytes_per_s);
    }
}

static void set_shape(study *s)
{
    ridge_train_rooflines *o = s->out;
    const ridge_layout *l = s->layout;
    o->chips = (double)s->slice->chips;
    o->tokens = s->request->batch_tokens;
    o->x = (double)(l->dp * l->fsdp * l->cp);
    o->y = (double)l->tp;
    o->d_model = (double)s->request->model->d_model;
    const ridge_ffn *ffn = ridge_model_main_ffn(s->request->model);
    o->d_ff = ffn == NULL ? 0 : ridge_ffn_active_d_ff(ffn);
    o->weights_d_ff = ffn == NULL ? 0 : moving_d_ff(ffn, l);
    o->ep = (double)l->ep;
    o->send_ways = l->has_sp ? o->y : 1;
    set_stage_rate(s);
    if (is_torus(s->slice)) {
        set_torus_rates(s);
    } else if (s->slice->n_axes > 0 && s->slice->axes[0].kind != RIDGE_AXIS_DCN) {
        set_switched_rates(s);
    }
}

/* ---- topics ---------------------------------------------------------------------- */

static void set_work(study *s)
{
    const ridge_train_rooflines *o = s->out;
    const double token = ridge_model_flops_train(
        s->request->model, s->request->seq_tokens, RIDGE_CONVENTION_SIX_N);
    const double step = token * o->tokens;
    const double total = token * s->request->total_tokens;
    SET(s, WORK_TOKEN, token);
    SET(s, WORK_STEP, step);
    SET(s, WORK_TOKEN_S, token / s->peak);
    SET(s, WORK_STEP_PEAK, ridge_train_seconds(step, o->chips, s->peak, 1));
    SET(s, WORK_STEP_MFU, ridge_train_seconds(step, o->chips, s->peak, o->mfu));
    if (total <= 0)
        return;
    const double run_s = ridge_train_seconds(total, o->chips, s->peak, o->mfu);
    SET(s, WORK_RUN, total);
    SET(s, WORK_RUN_PEAK, ridge_train_seconds(total, o->chips, s->peak, 1));
    SET(s, WORK_RUN_MFU, run_s);
    SET(s, WORK_HOURS, run_s / RIDGE_HOUR_S * o->chips);
}

/* What comes before the last product of each feed-forward: rows of D go in, one array
 * of F comes out, or two where there is a gate. */
static double wide_bytes(const ridge_model *m, double tokens)
{
    double width = 0;
    for (int i = 0; i < m->n_layers; i++) {
        const ridge_layer *layer = &m->layers[i];
        const double arrays = layer->ffn.is_gated ? 2 : 1;
        if (layer->ffn.kind == RIDGE_FFN_NONE)
            continue;
        width += (double)layer->count *
                 ((double)m->d_model + arrays * ridge_ffn_active_d_ff(&layer->ffn));
    }
    return 2 * tokens * width;
}

static void set_memory(study *s)
{
    const ridge_train_rooflines *o = s->out;
    const ridge_policy *pure = ridge_precision_policy(RIDGE_PRECISION_BF16_PURE);
    const ridge_model *m = s->request->model;
    const double hbm = s->slice->chip->hbm_bytes;
    const double state =
        (double)ridge_model_params(m).total * ridge_policy_state_bytes(pure);
    const double array = 2 * o->tokens * (double)m->layer_count * o->d_model;
    const double wide = wide_bytes(m, o->tokens);
    SET(s, MEMORY_STATE, state);
    SET(s, MEMORY_ARRAY, array);
    SET(s, MEMORY_WIDE, wide);
    SET(s, MEMORY_CHIPS_STATE, ceil(state / hbm));
    SET(s, MEMORY_CHIPS, ceil((state + array) / hbm));
    SET(s, MEMORY_CHIPS_WIDE, ceil((state + wide) / hbm));
    SET(s, MEMORY_CHIP, (state + array) / o->chips);
    SET(s, MEMORY_CHIP_WIDE, (state + wide) / o->chips);
}

static ridge_scheme_layer layer_of(const study *s)
{
    const ridge_train_rooflines *o = s->out;
    return (ridge_scheme_layer){.batch_tokens = o->tokens,
                                .d_model = o->d_model,
                                .d_ff = o->d_ff,
                                .element_bytes = 2,
                                .x = o->x,
                                .y = o->y,
                                .axes_x = o->x_bytes_per_s,
                                .axes_y = o->y_bytes_per_s,
                                .flops_per_s = s->peak,
                                .axis_bytes_per_s = 1};
}

static void set_layer(study *s)
{
    const ridge_train_rooflines *o = s->out;
    const ridge_scheme_layer layer = layer_of(s);
    const ridge_scheme_times fw =
        ridge_scheme_times_of(RIDGE_SCHEME_MIXED, false, &layer);
    const ridge_scheme_times bw =
        ridge_scheme_times_of(RIDGE_SCHEME_MIXED, true, &layer);
    const double moving = o->weights_d_ff / o->d_ff;
    double network = 0;
    SET(s, LAYER_MATH, fw.compute_s);
    SET(s, LAYER_BACK_MATH, bw.compute_s);
    if (o->x > 1 && o->x_bytes_per_s > 0 && moving > 0) {
        network += fw.weights_s * moving;
        SET(s, LAYER_GATHER, fw.weights_s * moving);
        SET(s, LAYER_BACK_FSDP, bw.weights_s * moving);
    }
    if (o->y > 1 && o->y_bytes_per_s > 0) {
        network += fw.activations_s;
        SET(s, LAYER_ROWS, fw.activations_s);
        SET(s, LAYER_BACK_ROWS, bw.activations_s);
    }
    if (network > 0)
        SET(s, LAYER_RATIO, fw.compute_s / network);
}

/*
 * The first microbatch crosses all borders between stages but the last one, which the
 * v m messages of the last sender end with.
 * @source scaling-book-2025, chapter 12, pipelining; narayanan2021, section 2.2
 */
static void set_pipeline(study *s, double microbatches)
{
    const ridge_train_rooflines *o = s->out;
    const double p = (double)s->layout->pp;
    const double passes = (double)s->layout->vpp * microbatches;
    const double message = 2 * o->tokens * o->d_model / (o->x * o->send_ways);
    const double sends = message / microbatches * (passes + p - 2) / o->z_bytes_per_s;
    SET(s, LIMITS_BUBBLE, (p - 1) / (passes + p - 1));
    if (o->z_bytes_per_s <= 0)
        return;
    SET(s, LIMITS_PASSED, sends);
    SET(s, LAYER_PASSED, sends / (double)s->request->model->layer_count);
}

/*
 * Replicas that span nodes share the reduction out to them. Those of experts, which are
 * nearly all weights of a mixture, span the ranks of EP as well.
 * @source scaling-book-2025, chapter 12, data parallelism beside other kinds
 */
static void set_spanned(study *s)
{
    const ridge_layout *l = s->layout;
    const double node = (double)s->slice->axes[0].size;
    const double alpha = s->thresholds.dp_outer_tokens_per_chip;
    const double factor = s->thresholds.expert_factor;
    const double stage = (double)(l->ep % l->tp == 0 ? l->ep : l->ep * l->tp);
    const double replicas = s->out->x * (double)l->tp / stage;
    const double nodes = stage * (double)l->pp / node;
    const double nodes_beside = (double)(l->tp * l->pp) / node;
    if (nodes > 1 && replicas > 1) {
        const double many = ridge_threshold_dp_spanned(alpha, nodes) * factor;
        SET(s, LIMITS_SPANNED, many);
        SET(s, LIMITS_SPANNED_FEW, many * (replicas - 1) / replicas);
    }
    if (l->ep > 1 && nodes_beside > 1 && s->out->x > 1)
        SET(s, LIMITS_SPANNED_BESIDE, ridge_threshold_dp_spanned(alpha, nodes_beside));
}

static void set_limits(study *s)
{
    const ridge_layout *l = s->layout;
    /* as many as a step has: the nearest whole number */
    const double seqs = fmax(1, round(s->out->tokens / s->request->seq_tokens));
    SET(s, LIMITS_SEQUENCES, seqs);
    if (l->pp > 1)
        set_pipeline(s, ceil(seqs / (double)(l->dp * l->fsdp * l->microbatch_seqs)));
    if (s->thresholds.dp_outer_tokens_per_chip > 0)
        set_spanned(s);
}

void ridge_train_rooflines_find(const ridge_train_request *request,
                                const ridge_layout *layout, double mfu,
                                ridge_train_rooflines *out)
{
    const ridge_policy *policy = ridge_precision_policy(layout->precision);
    *out = (ridge_train_rooflines){.mfu = mfu};
    out->peak_flops_per_s =
        ridge_chip_peak(request->slice->chip, policy->compute, &out->compute);
    study s = {.request = request,
               .layout = layout,
               .slice = request->slice,
               .peak = out->peak_flops_per_s,
               .thresholds = ridge_train_thresholds(request),
               .out = out};
    set_shape(&s);
    set_work(&s);
    set_memory(&s);
    if (out->d_ff > 0)
        set_layer(&s);
    set_limits(&s);
}
