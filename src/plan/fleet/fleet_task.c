/*
 * Layouts of a fleet with one tp, cp, ep and SP: every size of a stage that divides all
 * pools, shards, ZeRO stage and microbatch; for each pool every placement and remat
 * policy; every order of the pools. A combination whose layers would take too long even
 * if they could be spread without a rest is not priced.
 */
#include "fleet_task.h"

#include "divisors.h"
#include "fleet_price.h"
#include "layout_placements.h"
#include "pipeline_choice.h"
#include "usual_choice.h"

#include <math.h>

enum {
    SHAPES_MOST = 64,
    OPTIONS_MOST = LAYOUT_PLACEMENT_MOST * RIDGE_REMAT_COUNT,
    REMAT_CHOICES_MOST = 256
};

/* What a pool may do for the present mesh, ZeRO stage and microbatch. */
typedef struct pool_options {
    train_load load;
    int n_shapes; /* memo of layer times by microbatch */
    int64_t shape_seqs[SHAPES_MOST];
    const layer_time *shapes[SHAPES_MOST];
    layout_placements at;
    layer_exchange *exchanges;      /* [placements][kinds + 1] */
    shard_time *shards;             /* [placements][kinds] */
    double *layer_s;                /* [OPTIONS_MOST][kinds] */
    fleet_part parts[OPTIONS_MOST]; /* [placements][RIDGE_REMAT_COUNT] */
} pool_options;

typedef struct fleet_desk {
    ridge_ctx *cx;
    fleet_case *fc;
    fleet_sheet *sheet;
    const ridge_knobs *knobs;
    double bound_s;
    bool is_quick;
    fleet_answer *answer;
    pool_options *pools; /* [fc->n] */
    double *of_kind;     /* [kinds] layers of each kind in the model */
    ridge_layout common;
    int n_remats;
    ridge_remat remats[RIDGE_REMAT_COUNT]; /* in question, cheapest first */
    int places[RIDGE_FLEET_POOL_MAX];      /* of the present combination */
} fleet_desk;

static bool is_free_or(int64_t knob, int64_t value)
{
    return knob <= 0 || knob == value;
}

static double limit_s(const fleet_desk *d)
{
    return fmin(d->bound_s, fleet_ranking_worst_s(&d->answer->ranking));
}

/* ---- combinations -----------------------------------------------------------------
 */

/* Layers spread over all stages without a rest, none slower than it must be. A pool is
 * as quick as on the kind of layer that suits it best. */
static double least_step_s(const fleet_desk *d, fleet_part *const *chosen)
{
    const int kinds = d->fc->request->model->n_layers;
    const double *base = chosen[0]->layer_s;
    double work_s = 0;
    double rate = 0;
    for (int k = 0; k < kinds; k++)
        work_s += d->of_kind[k] * base[k];
    for (int i = 0; i < d->fc->n; i++) {
        double ratio = (double)INFINITY;
        for (int k = 0; k < kinds; k++)
            ratio = fmin(ratio, chosen[i]->layer_s[k] / base[k]);
        rate += (double)chosen[i]->part.stages / ratio;
    }
    const double m = (double)train_microbatches(&d->fc->pools[0], &d->common);
    return m * work_s / rate * (1 - 1e-12);
}

/* @return whether nothing that computes more again can be faster */
static bool price(fleet_desk *d, fleet_part *const *chosen)
{
    ridge_fleet_price p;
    bool is_roomy = true;
    if (least_step_s(d, chosen) > limit_s(d))
        return true;
    d->answer->priced++;
    if (!fleet_sheet_price(d->sheet, chosen, d->fc->n, limit_s(d), &is_roomy, &p) ||
        p.price.step_time_s > d->bound_s)
        return is_roomy;
    const fleet_entry entry = {p.layout, p.price.step_time_s};
    fleet_ranking_insert(&d->answer->ranking, &entry);
    return is_roomy;
}

/* Remat policies of the pools, by place in the pipeline. */
typedef struct remat_choice {
    int of[RIDGE_FLEET_POOL_MAX]; /* index into the desk's remats */
} remat_choice;

/* Whether b is a, or more is done again in some pools where a does nothing again. */
static bool is_beyond(const fleet_desk *d, const remat_choice *a, const remat_choice *b)
{
    bool is_more = true;
    for (int i = 0; i < d->fc->n; i++) {
        is_more = is_more &&
                  (a->of[i] == b->of[i] || d->remats[a->of[i]] == RIDGE_REMAT_NONE);
    }
    return is_more;
}

static bool is_uniform(const fleet_desk *d, const remat_choice *c)
{
    bool is_same = true;
    for (int i = 1; i < d->fc->n; i++)
        is_same = is_same && c->of[i] == c->of[0];
    return is_same;
}

/* Counts through all choices. @return false after the last */
static bool next_choice(const fleet_desk *d, remat_choice *c)
{
    for (int i = d->fc->n - 1; i >= 0; i--) {
        if (++c->of[i] < d->n_remats)
            return true;
        c->of[i] = 0;
    }
    return false;
}

/* Of what fits without more, nothing more is tried. */
static void try_remats(fleet_desk *d, const int *order)
{
    remat_choice roomy[REMAT_CHOICES_MOST];
    int n_roomy = 0;
    remat_choice c = {{0}};
    do {
        fleet_part *chosen[RIDGE_FLEET_POOL_MAX] = {NULL};
        bool is_wanted = !d->is_quick || is_uniform(d, &c);
        for (int i = 0; i < n_roomy && is_wanted; i++)
            is_wanted = !is_beyond(d, &roomy[i], &c);
        d->answer->covered++;
        for (int i = 0; i < d->fc->n; i++) {
            const int pool = order[i];
            chosen[i] = &d->pools[pool].parts[d->places[pool] * RIDGE_REMAT_COUNT +
                                              (int)d->remats[c.of[i]]];
        }
        if (is_wanted && price(d, chosen) && n_roomy < REMAT_CHOICES_MOST)
            roomy[n_roomy++] = c;
    } while (next_choice(d, &c));
}

/* Every order of the pools, from place @p at on. */
static void try_orders(fleet_desk *d, int *order, int at)
{
    if (at == d->fc->n) {
        try_remats(d, order);
        return;
    }
    for (int i = at; i < d->fc->n; i++) {
        const int mine = order[i];
        order[i] = order[at];
        order[at] = mine;
        try_orders(d, order, at + 1);
        order[at] = order[i];
        order[i] = mine;
    }
}

/* Every placement of every pool. Depth: RIDGE_FLEET_POOL_MAX. */
static void try_places(fleet_desk *d, int pool)
{
    int order[RIDGE_FLEET_POOL_MAX];
    if (pool == d->fc->n || pool == RIDGE_FLEET_POOL_MAX) {
        for (int i = 0; i < RIDGE_FLEET_POOL_MAX; i++)
            order[i] = i;
        try_orders(d, order, 0);
        return;
    }
    for (int i = 0; i < d->pools[pool].at.n; i++) {
        d->places[pool] = i;
        try_places(d, pool + 1);
    }
}

/* ---- options ----------------------------------------------------------------------
 */

static ridge_status find_shape(fleet_desk *d, int pool, const ridge_layout *l,
                               const layer_time **out)
{
    pool_options *o = &d->pools[pool];
    train_case *tc = &d->fc->pools[pool];
    for (int i = 0; i < o->n_shapes; i++) {
        if (o->shape_seqs[i] == l->microbatch_seqs) {
            *out = o->shapes[i];
            return RIDGE_OK;
        }
    }
    const layer_shape shape = layer_shape_of(l);
    *out = train_layer_times(tc, &shape);
    if (*out == NULL)
        return tc->status == RIDGE_OK ? ridge_fail_nomem(d->cx) : tc->status;
    if (o->n_shapes < SHAPES_MOST) {
        o->shape_seqs[o->n_shapes] = l->microbatch_seqs;
        o->shapes[o->n_shapes++] = *out;
    }
    return RIDGE_OK;
}

static void find_remats(fleet_desk *d)
{
    for (int remat = 0; remat < RIDGE_REMAT_COUNT; remat++) {
        const bool is_wanted = d->knobs->remat != RIDGE_REMAT_FREE
                                   ? d->knobs->remat == remat
                                   : !d->is_quick || remat == RIDGE_REMAT_NONE ||
                                         remat == RIDGE_REMAT_FULL;
        if (is_wanted)
            d->remats[d->n_remats++] = (ridge_remat)remat;
    }
}

/* @param at  out: whether the pool's network takes the mesh */
static ridge_status find_options(fleet_desk *d, int pool, bool *at)
{
    pool_options *o = &d->pools[pool];
    train_case *tc = &d->fc->pools[pool];
    const size_t kinds = (size_t)tc->n_kinds;
    ridge_fleet_part part = {
        .pool = pool,
        .stages = tc->slice->chips /
                  (d->common.dp * d->common.fsdp * d->common.tp * d->common.cp)};
    const ridge_layout local = fleet_layout_local(d->fc, &d->common, &part);
    const layer_time *layers = NULL;
    RIDGE_TRY(find_shape(d, pool, &local, &layers));
    layout_placements_find(tc->slice, &local, d->is_quick ? 1 : LAYOUT_PLACEMENT_MOST,
                           &o->at);
    *at = o->at.n > 0;
    for (int i = 0; i < o->at.n; i++) {
        const fleet_terms terms = {layers, &o->load, &o->at.groups[i],
                                   &o->exchanges[(size_t)i * (kinds + 1)],
                                   &o->shards[(size_t)i * kinds]};
        train_layer_exchanges(tc, terms.groups, layers,
                              &o->exchanges[(size_t)i * (kinds + 1)]);
        train_shard_times(tc, terms.groups, &o->load, &o->shards[(size_t)i * kinds]);
        part.placement = o->at.index[i];
        for (int r = 0; r < d->n_remats; r++) {
            part.remat = d->remats[r];
            const size_t slot = (size_t)i * RIDGE_REMAT_COUNT + (size_t)part.remat;
            fleet_part_fill(d->fc, &d->common, &part, &terms, &o->layer_s[slot * kinds],
                            &o->parts[slot]);
        }
    }
    return RIDGE_OK;
}

/* ---- meshes -----------------------------------------------------------------------
 */

static bool is_legal(const fleet_desk *d)
{
    const ridge_layout *l = &d->common;
    for (int i = 0; i < d->fc->n; i++) {
        const ridge_fleet_part part = {.pool = i,
                                       .stages = d->fc->slices[i].chips /
                                                 (l->dp * l->fsdp * l->tp * l->cp)};
        if (fleet_layout_check(d->fc, l, &part) != RIDGE_FIT_OK)
            return false;
    }
    return pipeline_is_legal(l, d->fc->n_layers,
                             train_microbatches(&d->fc->pools[0], l));
}

static ridge_status search_microbatch(fleet_desk *d)
{
    if (!is_legal(d))
        return RIDGE_OK;
    for (int i = 0; i < d->fc->n; i++) {
        bool is_laid = false;
        RIDGE_TRY(find_options(d, i, &is_laid));
        if (!is_laid)
            return RIDGE_OK;
    }
    try_places(d, 0);
    return RIDGE_OK;
}

static ridge_status search_data(fleet_desk *d)
{
    ridge_layout *l = &d->common;
    const int first = l->fsdp > 1 ? 1 : 0;
    const int last = l->fsdp > 1 || l->cp > 1 ? 3 : 0;
    const int64_t replicas = l->dp * l->fsdp;
    divisors seqs;
    if (!divisors_of(ridge_ctx_arena(d->cx),
                     ridge_ceil_div(d->fc->pools[0].batch_seqs, replicas), &seqs))
        return ridge_fail_nomem(d->cx);
    for (int i = 0; i < seqs.n; i++) {
        const int64_t wanted = d->knobs->microbatch_seqs;
        l->microbatch_seqs = wanted > 0 ? wanted : seqs.values[i];
        if (wanted > 0 && i > 0)
            break;
        for (l->zero_stage = last; l->zero_stage >= first; l->zero_stage--) {
            if (d->knobs->zero_stage == RIDGE_ZERO_FREE ||
                d->knobs->zero_stage == l->zero_stage)
                RIDGE_TRY(search_microbatch(d));
        }
    }
    return RIDGE_OK;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static ridge_status search_meshes(fleet_desk *d)
{
    ridge_layout *l = &d->common;
    int64_t shared = 0;
    divisors sizes;
    for (int i = 0; i < d->fc->n; i++)
        shared = common_divisor(d->fc->slices[i].chips, shared);
    if (!divisors_of(ridge_ctx_arena(d->cx), shared, &sizes))
        return ridge_fail_nomem(d->cx);
    for (int i = 0; i < sizes.n; i++) {
        const int64_t stage = sizes.values[i];
        l->pp = d->fc->chips / stage;
        if (stage % (l->tp * l->cp) != 0 || l->pp > d->fc->n_layers ||
            !is_free_or(d->knobs->pp, l->pp))
            continue;
        const int64_t data = stage / (l->tp * l->cp);
        for (int j = sizes.n - 1; j >= 0; j--) {
            l->fsdp = sizes.values[j];
            l->dp = data / l->fsdp;
            if (data % l->fsdp == 0 && is_free_or(d->knobs->fsdp, l->fsdp) &&
                is_free_or(d->knobs->dp, l->dp))
                RIDGE_TRY(search_data(d));
        }
    }
    return RIDGE_OK;
}

/* ---- tasks ------------------------------------------------------------------------
 */

static ridge_status open_pool(fleet_desk *d, int pool, const fleet_task *task)
{
    pool_options *o = &d->pools[pool];
    train_case *tc = &d->fc->pools[pool];
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    const size_t kinds = (size_t)tc->n_kinds;
    const size_t places = LAYOUT_PLACEMENT_MOST;
    o->exchanges = ridge_new(arena, layer_exchange, places * (kinds + 1));
    o->shards = ridge_new(arena, shard_time, places * kinds);
    o->layer_s = ridge_new(arena, double, OPTIONS_MOST *kinds);
    if (o->exchanges == NULL || o->shards == NULL || o->layer_s == NULL ||
        !train_load_build(tc, task->tp, task->ep, task->has_sp, &o->load))
        return ridge_fail_nomem(d->cx);
    return RIDGE_OK;
}

static ridge_status open_desk(fleet_desk *d, const ridge_train_request *request,
                              const fleet_task *task)
{
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    RIDGE_TRY(fleet_case_open(d->cx, request, &d->fc));
    d->sheet = fleet_sheet_open(d->fc);
    d->pools = ridge_new(arena, pool_options, RIDGE_FLEET_POOL_MAX);
    d->of_kind = ridge_new(arena, double, (size_t)request->model->n_layers);
    if (d->sheet == NULL || d->pools == NULL || d->of_kind == NULL)
        return ridge_fail_nomem(d->cx);
    for (int i = 0; i < d->fc->n_layers; i++)
        d->of_kind[d->fc->kinds[i]]++;
    for (int i = 0; i < d->fc->n; i++)
        RIDGE_TRY(open_pool(d, i, task));
    return RIDGE_OK;
}

ridge_status fleet_task_run(ridge_ctx *cx, const ridge_train_request *request,
                            const fleet_task *task, double bound_s, bool is_quick,
                            fleet_answer *out)
{
    const ridge_knobs *k = &request->knobs;
    fleet_desk d = {
        .cx = cx, .knobs = k, .bound_s = bound_s, .is_quick = is_quick, .answer = out};
    d.common = (ridge_layout){.tp = task->tp,
                              .cp = task->cp,
                              .ep = task->ep,
                              .has_sp = task->has_sp,
                              .cp_exchange = task->cp_exchange,
                              .ep_dispatch = train_usual_dispatch(request),
                              .vpp = 1,
                              .schedule = k->schedule >= 0 ? (ridge_schedule)k->schedule
                                                           : RIDGE_SCHEDULE_1F1B,
                              .precision = k->precision,
                              .optimizer = k->optimizer};
    RIDGE_TRY(open_desk(&d, request, task));
    find_remats(&d);
    return search_meshes(&d);
}
