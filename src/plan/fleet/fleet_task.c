/*
 * Layouts of a fleet with one tp, cp, ep and SP: every size of a stage that divides all
 * pools, shards, ZeRO stage and microbatch; for each pool every placement and remat
 * policy; every order of the pools. A combination whose layers would take too long even
 * if they could be spread without a rest is not priced.
 */
#include "fleet_desk.h"

#include "divisors.h"
#include "fleet_bound.h"
#include "layer_program.h"
#include "pipeline_choice.h"
#include "train_terms.h"
#include "usual_choice.h"

#include "ridge/simulate_pace.h"

#include <string.h>

static bool is_free_or(int64_t knob, int64_t value)
{
    return knob <= 0 || knob == value;
}

/* ---- options ----------------------------------------------------------------------
 */

/* A pool's part of the present mesh, but for placement and policy. */
static ridge_fleet_part part_of(const fleet_desk *d, int pool)
{
    const ridge_layout *l = &d->common;
    return (ridge_fleet_part){.pool = pool,
                              .stages = d->fc->slices[pool].chips /
                                        (l->dp * l->fsdp * l->tp * l->cp)};
}

static ridge_status find_shape(fleet_desk *d, int pool, const layer_time **out)
{
    pool_options *o = &d->pools[pool];
    train_case *tc = &d->fc->pools[pool];
    const layer_shape shape = layer_shape_of(&d->common);
    for (int i = 0; i < o->n_shapes; i++) {
        if (o->shape_seqs[i] == shape.microbatch_seqs) {
            *out = o->shapes[i];
            return RIDGE_OK;
        }
    }
    *out = train_layer_times(tc, &shape);
    if (*out == NULL)
        return tc->status == RIDGE_OK ? ridge_fail_nomem(d->cx) : tc->status;
    if (o->n_shapes < SHAPES_MOST) {
        o->shape_seqs[o->n_shapes] = shape.microbatch_seqs;
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

static shard_time *shards_at(const fleet_desk *d, int pool, int zero_stage, int place)
{
    const size_t row = (size_t)zero_stage * LAYOUT_PLACEMENT_MOST + (size_t)place;
    return &d->pools[pool].shards[row * (size_t)d->fc->pools[pool].n_kinds];
}

static void fill_part(fleet_desk *d, int pool, int place, int remat,
                      const fleet_terms *terms)
{
    pool_options *o = &d->pools[pool];
    ridge_fleet_part part = part_of(d, pool);
    part.placement = o->laid[d->common.zero_stage].index[place];
    part.remat = d->remats[remat];
    const size_t slot = (size_t)place * RIDGE_REMAT_COUNT + (size_t)part.remat;
    fleet_part_fill(d->fc, &d->common, &part, terms,
                    &o->layer_s[slot * (size_t)d->fc->pools[pool].n_kinds],
                    &o->parts[slot]);
}

/* What the pool does at every placement, by the policy that takes least time.
 * @return false when memory ran out */
static bool fill_cheapest(fleet_desk *d, int pool, const layer_time *layers)
{
    pool_options *o = &d->pools[pool];
    const train_case *tc = &d->fc->pools[pool];
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    const layout_placements *laid = &o->laid[d->common.zero_stage];
    o->at = *laid;
    for (int i = 0; i < laid->n; i++) {
        const train_groups *g = &laid->groups[i];
        const layer_exchange *x =
            exchange_memo_find(o->exchanges, arena, tc, g, layers);
        if (x == NULL)
            x = exchange_memo_make(arena, tc, g, layers);
        if (x == NULL)
            return false;
        const fleet_terms terms = {layers, &o->load, g, x,
                                   shards_at(d, pool, d->common.zero_stage, i)};
        fill_part(d, pool, i, 0, &terms);
    }
    return true;
}

static bool is_same_sync(const fleet_part *a, const fleet_part *b, double params)
{
    const step_sync x = train_step_sync(a->tc, &a->groups, &a->layout, params, params);
    const step_sync y = train_step_sync(b->tc, &b->groups, &b->layout, params, params);
    return x.reduce.expected_s == y.reduce.expected_s &&
           x.gather.expected_s == y.gather.expected_s;
}

/* Axes of a torus are often alike: whether a placement takes the times of another.
 * Reductions are held at two sizes. */
static bool is_same_place(const fleet_desk *d, int pool, int one, int other)
{
    for (int r = 0; r < d->n_remats; r++) {
        const fleet_part *a = fleet_desk_part(d, pool, one, r);
        const fleet_part *b = fleet_desk_part(d, pool, other, r);
        if (a->head_s != b->head_s || a->send.expected_s != b->send.expected_s)
            return false;
        for (int k = 0; k < a->tc->n_kinds; k++) {
            if (a->layer_s[k] != b->layer_s[k])
                return false;
        }
    }
    const fleet_part *a = fleet_desk_part(d, pool, one, 0);
    const fleet_part *b = fleet_desk_part(d, pool, other, 0);
    return is_same_sync(a, b, 1e8) && is_same_sync(a, b, 1e10);
}

/* Put a placement behind those that are kept, unless it takes the times of one. */
static void keep_place(fleet_desk *d, int pool, int place)
{
    layout_placements *kept = &d->pools[pool].at;
    for (int i = 0; i < kept->n; i++) {
        if (is_same_place(d, pool, i, place))
            return;
    }
    for (int r = 0; r < d->n_remats && kept->n < place; r++)
        *fleet_desk_part(d, pool, kept->n, r) = *fleet_desk_part(d, pool, place, r);
    kept->index[kept->n] = kept->index[place];
    kept->groups[kept->n] = kept->groups[place];
    kept->n++;
}

/* Where the pool's part may lie: it does not depend on the microbatch. @return whether
 * its network takes the mesh */
static bool find_places(fleet_desk *d, int pool)
{
    pool_options *o = &d->pools[pool];
    const train_case *tc = &d->fc->pools[pool];
    const ridge_fleet_part part = part_of(d, pool);
    const ridge_layout local = fleet_layout_local(d->fc, &d->common, &part);
    const int zero = local.zero_stage;
    layout_placements *laid = &o->laid[zero];
    if (!o->is_laid[zero]) {
        layout_placements_find(tc->slice, &local,
                               d->is_quick ? 1 : LAYOUT_PLACEMENT_MOST, laid);
        for (int i = 0; i < laid->n; i++)
            train_shard_times(tc, &laid->groups[i], &o->load,
                              shards_at(d, pool, zero, i));
    }
    o->is_laid[zero] = true;
    o->placements = laid->n;
    o->stages = part.stages;
    return laid->n > 0;
}

/* The other policies, at placements that differ. */
static void fill_others(fleet_desk *d, int pool)
{
    pool_options *o = &d->pools[pool];
    const int laid = o->at.n;
    o->at.n = 0;
    for (int i = 0; i < laid; i++) {
        const fleet_part *cheapest = fleet_desk_part(d, pool, i, 0);
        const fleet_terms terms = {cheapest->terms.layers, cheapest->terms.load,
                                   &cheapest->groups, cheapest->terms.exchanges,
                                   cheapest->terms.shards};
        for (int r = 1; r < d->n_remats; r++)
            fill_part(d, pool, i, r, &terms);
        keep_place(d, pool, i);
    }
}

/* ---- meshes -----------------------------------------------------------------------
 */

static bool is_legal(const fleet_desk *d)
{
    const ridge_layout *l = &d->common;
    for (int i = 0; i < d->fc->n; i++) {
        const ridge_fleet_part part = part_of(d, i);
        if (fleet_layout_check(d->fc, l, &part) != RIDGE_FIT_OK)
            return false;
    }
    return pipeline_is_legal(l, d->fc->n_layers,
                             train_microbatches(&d->fc->pools[0], l));
}

static void fill_kept(fleet_desk *d)
{
    const double m = (double)train_microbatches(&d->fc->pools[0], &d->common);
    for (int i = 0; i < d->fc->n; i++)
        d->pools[i].kept =
            fleet_pace_kept(d->pools[i].stages, m * (double)d->common.vpp);
}

static ridge_status search_microbatch(fleet_desk *d)
{
    const layer_time *layers[RIDGE_FLEET_POOL_MAX];
    if (!is_legal(d))
        return RIDGE_OK;
    for (int i = 0; i < d->fc->n; i++) {
        if (!find_places(d, i))
            return RIDGE_OK;
    }
    for (int i = 0; i < d->fc->n; i++)
        RIDGE_TRY(find_shape(d, i, &layers[i]));
    fleet_desk_cover(d);
    fill_kept(d);
    if (!fleet_desk_may_be_quick(d, layers))
        return RIDGE_OK;
    for (int i = 0; i < d->fc->n; i++) {
        if (!fill_cheapest(d, i, layers[i]))
            return ridge_fail_nomem(d->cx);
    }
    if (!fleet_desk_laid_may_be_quick(d))
        return RIDGE_OK;
    for (int i = 0; i < d->fc->n; i++)
        fill_others(d, i);
    fleet_desk_combine(d);
    return RIDGE_OK;
}

/* Virtual stages as on one kind of chip: those that share a mean stage's layers evenly,
 * over whole groups of microbatches, unless a knob asks for others. */
static ridge_status search_chunks(fleet_desk *d)
{
    const ridge_knobs *k = d->knobs;
    ridge_layout *l = &d->common;
    divisors all;
    const bool is_free = k->schedule < 0 || k->schedule == RIDGE_SCHEDULE_INTERLEAVED;
    const int64_t m = train_microbatches(&d->fc->pools[0], l);
    l->vpp = 1;
    d->plain++;
    if (k->vpp > 0 || !is_free) {
        l->vpp = k->vpp > 0 ? k->vpp : 1;
        return search_microbatch(d);
    }
    if (!divisors_of(ridge_ctx_arena(d->cx), d->fc->n_layers / l->pp, &all))
        return ridge_fail_nomem(d->cx);
    const int first = k->schedule == RIDGE_SCHEDULE_INTERLEAVED ? 1 : 0;
    for (int i = first; i < all.n && !(d->is_quick && i > first); i++) {
        l->vpp = all.values[i];
        if (l->vpp == 1 || m % l->pp == 0)
            RIDGE_TRY(search_microbatch(d));
    }
    return RIDGE_OK;
}

/* What is kept on the hosts: as on one kind of chip, nothing unless it is asked for. */
static ridge_status search_offloads(fleet_desk *d)
{
    const int wanted = d->knobs->offload;
    const unsigned all =
        RIDGE_OFFLOAD_OPTIMIZER | RIDGE_OFFLOAD_ACTIVATIONS | RIDGE_OFFLOAD_WEIGHTS;
    for (unsigned o = RIDGE_OFFLOAD_NONE; o <= all; o++) {
        const bool is_wanted = wanted == RIDGE_KNOB_ANY || wanted == (int)o ||
                               (wanted < 0 && o == RIDGE_OFFLOAD_NONE);
        d->common.offload = o;
        if (is_wanted)
            RIDGE_TRY(search_chunks(d));
    }
    return RIDGE_OK;
}

static ridge_status search_data(fleet_desk *d)
{
    ridge_layout *l = &d->common;
    const int first = l->fsdp > 1 ? 1 : 0;
    const int last = l->fsdp > 1 || l->cp > 1 ? 3 : 0;
    const int64_t replicas = l->dp * l->fsdp;
    divisors seqs;
    for (int i = 0; i < d->fc->n; i++)
        memset(d->pools[i].is_laid, 0, sizeof d->pools[i].is_laid);
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
                RIDGE_TRY(search_offloads(d));
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

/* ---- the desk ---------------------------------------------------------------------
 */

static ridge_status open_pool(fleet_desk *d, int pool)
{
    pool_options *o = &d->pools[pool];
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    const size_t kinds = (size_t)d->fc->pools[pool].n_kinds;
    const size_t places = LAYOUT_PLACEMENT_MOST;
    o->exchanges = exchange_memo_open(arena);
    o->shards = ridge_new(arena, shard_time, ZERO_STAGES * places * kinds);
    o->layer_s = ridge_new(arena, double, OPTIONS_MOST *kinds);
    const bool is_made =
        o->exchanges != NULL && o->shards != NULL && o->layer_s != NULL;
    return is_made ? RIDGE_OK : ridge_fail_nomem(d->cx);
}

static ridge_status open_desk(fleet_desk *d, const ridge_train_request *request)
{
    ridge_arena *arena = ridge_ctx_arena(d->cx);
    RIDGE_TRY(fleet_case_open(d->cx, request, &d->fc));
    d->sheet = fleet_sheet_open(d->fc);
    d->pools = ridge_new(arena, pool_options, RIDGE_FLEET_POOL_MAX);
    d->of_kind = ridge_new(arena, double, (size_t)request->model->n_layers);
    d->compute_s = ridge_new(arena, double,
                             (size_t)d->fc->n *((size_t)request->model->n_layers + 1));
    size_t codes = 1;
    for (int i = 0; i < d->fc->n; i++)
        codes *= (size_t)(d->fc->n * RIDGE_REMAT_COUNT);
    d->full_at = ridge_new(arena, int, codes);
    const size_t rooms = (size_t)(2 * d->fc->n * d->fc->n_layers * RIDGE_REMAT_COUNT);
    d->room_at = ridge_new(arena, int, rooms);
    d->rooms = ridge_new(arena, int64_t, rooms * (size_t)request->model->n_layers);
    if (d->sheet == NULL || d->full_at == NULL || d->room_at == NULL ||
        d->rooms == NULL || d->pools == NULL || d->compute_s == NULL ||
        d->of_kind == NULL)
        return ridge_fail_nomem(d->cx);
    for (int i = 0; i < d->fc->n_layers; i++)
        d->of_kind[d->fc->kinds[i]]++;
    for (int i = 0; i < d->fc->n; i++)
        RIDGE_TRY(open_pool(d, i));
    return RIDGE_OK;
}

ridge_status fleet_desk_open(ridge_ctx *cx, const ridge_train_request *request,
                             fleet_desk **out)
{
    fleet_desk *d = ridge_new(ridge_ctx_arena(cx), fleet_desk, 1);
    if (d == NULL)
        return ridge_fail_nomem(cx);
    d->cx = cx;
    d->knobs = &request->knobs;
    RIDGE_TRY(open_desk(d, request));
    for (int i = 0; i < d->fc->n; i++)
        RIDGE_TRY(train_programs_open(&d->fc->pools[i]));
    d->mark = ridge_arena_mark(ridge_ctx_arena(cx));
    *out = d;
    return RIDGE_OK;
}

static bool load_pool(fleet_desk *d, int pool, const fleet_task *task)
{
    pool_options *o = &d->pools[pool];
    train_case *tc = &d->fc->pools[pool];
    o->n_shapes = 0;
    exchange_memo_forget(o->exchanges);
    return train_case_forget(tc) &&
           train_load_build(tc, task->tp, task->ep, task->has_sp, &o->load);
}

ridge_status fleet_desk_run(fleet_desk *d, const fleet_task *task, double bound_s,
                            bool is_quick, fleet_answer *out)
{
    const ridge_train_request *request = d->fc->request;
    const ridge_knobs *k = d->knobs;
    ridge_arena_rewind(ridge_ctx_arena(d->cx), d->mark);
    d->bound_s = bound_s;
    d->is_quick = is_quick;
    d->answer = out;
    d->n_remats = 0;
    d->common = (ridge_layout){
        .tp = task->tp,
        .cp = task->cp,
        .ep = task->ep,
        .has_sp = task->has_sp,
        .cp_exchange = task->cp_exchange,
        .ep_dispatch = train_usual_dispatch(request),
        .vpp = 1,
        .schedule = k->schedule >= 0 && k->schedule != RIDGE_SCHEDULE_INTERLEAVED
                        ? (ridge_schedule)k->schedule
                        : RIDGE_SCHEDULE_1F1B, /* with vpp */
        .precision = k->precision,
        .optimizer = k->optimizer,
        .lora = k->lora};
    for (int i = 0; i < d->fc->n; i++) {
        if (!load_pool(d, i, task))
            return ridge_fail_nomem(d->cx);
    }
    find_remats(d);
    RIDGE_TRY(search_meshes(d));
    for (int i = 0; i < d->fc->n; i++)
        RIDGE_TRY(ridge_pacer_status(d->fc->pools[i].pacer));
    return RIDGE_OK;
}
