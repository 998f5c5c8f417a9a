/*
 * Prices a fleet's layout. A stage's time, memory and collectives are those of its own
 * pool, by the same functions as on one kind of chip; the pipeline, the wait for the
 * slowest stage and the longest reduction are of all.
 */
#include "fleet_sheet.h"

#include "fleet_deal.h"
#include "usual_choice.h"

#include <math.h>
#include <string.h>

fleet_sheet *fleet_sheet_open(fleet_case *fc)
{
    ridge_arena *arena = ridge_ctx_arena(fc->cx);
    const size_t n = (size_t)fc->n_layers;
    const size_t kinds = (size_t)fc->request->model->n_layers;
    fleet_sheet *s = ridge_new(arena, fleet_sheet, 1);
    if (s == NULL)
        return NULL;
    s->fc = fc;
    s->stages.stages = ridge_new(arena, train_stage, n);
    s->stages.of_rank = ridge_new(arena, int, n);
    s->stages.passes = ridge_new(arena, stage_pass, n);
    s->syncs = ridge_new(arena, step_sync, n);
    s->layers = ridge_new(arena, double, n *kinds);
    s->layer_s = ridge_arena_new(arena, n, sizeof *s->layer_s);
    s->fixed_s = ridge_new(arena, double, n);
    s->part_of = ridge_new(arena, int, n);
    s->from = ridge_new(arena, int, fleet_deal_scratch(fc->n_layers, fc->n_layers));
    const bool is_made = s->stages.stages != NULL && s->stages.of_rank != NULL &&
                         s->stages.passes != NULL && s->syncs != NULL &&
                         s->layers != NULL && s->layer_s != NULL &&
                         s->fixed_s != NULL && s->part_of != NULL && s->from != NULL;
    return is_made ? s : NULL;
}

/* ---- parts ------------------------------------------------------------------------
 */

ridge_layout fleet_layout_local(const fleet_case *fc, const ridge_layout *common,
                                const ridge_fleet_part *part)
{
    ridge_layout l = *common;
    l.pp = part->stages;
    l.remat = part->remat;
    l.placement = part->placement;
    train_usual_overlaps(fc->request, &fc->slices[part->pool], &l);
    return l;
}

ridge_fit fleet_layout_check(const fleet_case *fc, const ridge_layout *common,
                             const ridge_fleet_part *part)
{
    const ridge_layout local = fleet_layout_local(fc, common, part);
    const train_case *tc = &fc->pools[part->pool];
    if (common->pp * common->vpp > fc->n_layers)
        return RIDGE_FIT_LAYERS;
    return train_layout_check(tc, &local);
}

/* Of a stage in the middle without messages. */
static double time_alone_s(const fleet_part *p, const double *layers, bool has_head)
{
    const train_stage stage = {.layers = layers,
                               .has_head = has_head,
                               .copies = 1,
                               .head_passes = 1,
                               .first = 1,
                               .count = 1};
    train_terms terms = p->terms;
    terms.send = (ridge_time){0, 0};
    const stage_time t = train_stage_time(p->tc, &terms, &p->layout, &stage, NULL);
    return stage_time_total_s(&t);
}

void fleet_part_fill(fleet_case *fc, const ridge_layout *common,
                     const ridge_fleet_part *part, const fleet_terms *terms,
                     double *layer_s, fleet_part *out)
{
    train_case *tc = &fc->pools[part->pool];
    const ridge_layout local = fleet_layout_local(fc, common, part);
    fleet_part p = {.part = *part, .tc = tc, .layout = local, .groups = *terms->groups};
    p.send = train_send_time(tc, &p.groups, &local);
    p.layout.pp = common->pp;
    p.terms = (train_terms){.load = terms->load,
                            .layers = terms->layers,
                            .exchanges = terms->exchanges,
                            .shards = terms->shards,
                            .imbalance = train_expert_imbalance(tc, &local),
                            .is_tp_apart =
                                !train_groups_share(&p.groups.tp, &p.groups.shards)};
    p.layer_s = layer_s;
    p.head_s = time_alone_s(&p, fc->one_layer, true);
    for (int k = 0; k < tc->n_kinds; k++) {
        fc->one_layer[k] = 1;
        layer_s[k] = time_alone_s(&p, fc->one_layer, false);
        fc->one_layer[k] = 0;
    }
    *out = p;
}

/* Bytes that a stage of so many layers of one kind leaves free. */
static double free_bytes(const fleet_case *fc, const fleet_part *p, int64_t last,
                         int kind, int64_t layers)
{
    const int64_t microbatches = train_microbatches(p->tc, &p->layout);
    fc->one_layer[kind] = (double)layers;
    const train_stage stage = {.layers = fc->one_layer,
                               .copies = 1,
                               .head_passes = 1,
                               .first = (int)last,
                               .count = 1};
    const ridge_memory_parts m =
        train_stage_memory(p->tc, p->terms.load, &stage, &p->layout, microbatches);
    const double host_bytes =
        train_stage_host_bytes(p->tc, p->terms.load, &stage, &p->layout, microbatches);
    fc->one_layer[kind] = 0;
    return train_host_holds(p->tc, host_bytes)
               ? p->tc->usable_bytes - ridge_memory_total_bytes(&m)
               : -(double)INFINITY;
}

/* Where a straight line between both ends leaves nothing free: what a stage keeps is
 * nearly one. */
static int64_t between(int64_t low, int64_t high, double low_bytes, double high_bytes)
{
    const double share = isinf(high_bytes) ? 0.5 : low_bytes / (low_bytes - high_bytes);
    const int64_t at = low + (int64_t)(share * (double)(high - low));
    return at <= low ? low + 1 : at >= high ? high - 1 : at;
}

/* The most layers of a kind that leave no byte short. */
static int64_t room_of_kind(const fleet_case *fc, const fleet_part *p, int64_t last,
                            int kind)
{
    int64_t low = 1;
    int64_t high = fc->n_layers;
    double low_bytes = free_bytes(fc, p, last, kind, low);
    double high_bytes = low_bytes < 0 ? 0 : free_bytes(fc, p, last, kind, high);
    if (low_bytes < 0)
        return 0;
    if (high_bytes >= 0)
        return high;
    while (high - low > 1) {
        const int64_t middle = between(low, high, low_bytes, high_bytes);
        const double bytes = free_bytes(fc, p, last, kind, middle);
        if (bytes >= 0) {
            low = middle;
            low_bytes = bytes;
        } else {
            high = middle;
            high_bytes = bytes;
        }
    }
    return low;
}

void fleet_part_room(fleet_case *fc, const fleet_part *p, int64_t last, int64_t *layers)
{
    for (int k = 0; k < p->tc->n_kinds; k++)
        layers[k] = room_of_kind(fc, p, last, k);
}

/* ---- messages ---------------------------------------------------------------------
 */

ridge_time fleet_sheet_message(const fleet_sheet *s, int from, int to)
{
    const ridge_group pair = {
        .n_spans = 1, .spans = {{.axis = 0, .size = 2, .stride = 1}}, .ranks = 2};
    if (to < 0 || to >= s->pp) {
        if (s->parts[0]->layout.vpp == 1)
            return (ridge_time){0, 0};
        to = to < 0 ? s->pp - 1 : 0; /* to the next chunk */
    }
    const fleet_part *a = s->parts[s->part_of[from]];
    const fleet_part *b = s->parts[s->part_of[to]];
    if (a == b)
        return a->send;
    return ridge_collective_time(&s->fc->between[a->part.pool][b->part.pool],
                                 RIDGE_COLLECTIVE_SEND_RECV,
                                 train_send_bytes(a->tc, &a->layout), &pair);
}

/* ---- the deal ---------------------------------------------------------------------
 */

static train_stage stage_at(const fleet_sheet *s, int rank, const double *layers)
{
    return (train_stage){.layers = layers,
                         .has_embedding = rank == 0,
                         .has_head = rank == s->pp - 1,
                         .copies = 1,
                         .head_passes = 1,
                         .first = rank,
                         .count = 1};
}

static ridge_memory_parts memory_at(const fleet_sheet *s, int rank,
                                    const double *layers)
{
    const fleet_part *p = s->parts[s->part_of[rank]];
    const train_stage stage = stage_at(s, rank, layers);
    return train_stage_memory(p->tc, p->terms.load, &stage, &p->layout,
                              s->microbatches);
}

static bool does_fit(void *payload, int rank, const double *layers)
{
    const fleet_sheet *s = payload;
    const fleet_part *p = s->parts[s->part_of[rank]];
    const ridge_memory_parts m = memory_at(s, rank, layers);
    const train_stage stage = stage_at(s, rank, layers);
    return ridge_memory_total_bytes(&m) <= p->tc->usable_bytes &&
           train_host_holds(p->tc, train_stage_host_bytes(p->tc, p->terms.load, &stage,
                                                          &p->layout, s->microbatches));
}

static void lay_parts(fleet_sheet *s, fleet_part *const *parts, int n)
{
    s->parts = parts;
    s->n = n;
    s->pp = 0;
    for (int i = 0; i < n; i++) {
        for (int64_t k = 0; k < parts[i]->part.stages; k++)
            s->part_of[s->pp++] = i;
    }
    s->microbatches = train_microbatches(parts[0]->tc, &parts[0]->layout);
    for (int r = 0; r < s->pp; r++) {
        const fleet_part *p = parts[s->part_of[r]];
        const train_stage stage = stage_at(s, r, NULL);
        const double sent_s = train_stage_sends(&p->layout, &stage, false) *
                                  fleet_sheet_message(s, r, r + 1).expected_s +
                              train_stage_sends(&p->layout, &stage, true) *
                                  fleet_sheet_message(s, r, r - 1).expected_s;
        s->layer_s[r] = p->layer_s;
        s->fixed_s[r] =
            (p->layout.has_pp_overlap ? 0 : sent_s) + (stage.has_head ? p->head_s : 0);
    }
}

static bool is_within_memory(fleet_sheet *s)
{
    const int kinds = s->fc->request->model->n_layers;
    for (int r = 0; r < s->pp; r++) {
        if (!does_fit(s, r, &s->layers[r * kinds]))
            return false;
    }
    return true;
}

static fleet_deal deal_of(fleet_sheet *s)
{
    return (fleet_deal){.n_layers = s->fc->n_layers,
                        .kinds = s->fc->kinds,
                        .starts = s->fc->starts,
                        .n_kinds = s->fc->request->model->n_layers,
                        .pp = s->pp,
                        .layer_s = s->layer_s,
                        .fixed_s = s->fixed_s,
                        .from = s->from,
                        .payload = s};
}

bool fleet_sheet_holds(fleet_sheet *s, fleet_part *const *parts, int n)
{
    lay_parts(s, parts, n);
    fleet_deal deal = deal_of(s);
    deal.fits = does_fit;
    return fleet_deal_within(&deal, (double)INFINITY, s->layers);
}

/* Memory is looked at only where the quickest deal does not fit. */
static bool deal_layers(fleet_sheet *s, double limit_s, bool *is_roomy)
{
    const double most_s = limit_s / (double)s->microbatches;
    fleet_deal deal = deal_of(s);
    double slowest_s = 0;
    *is_roomy = true;
    if (!fleet_deal_within(&deal, most_s, s->layers) ||
        !fleet_deal_best(&deal, s->layers, &slowest_s))
        return false;
    *is_roomy = is_within_memory(s);
    if (*is_roomy)
        return true;
    deal.fits = does_fit;
    if (!fleet_deal_within(&deal, most_s, s->layers))
        return false;
    return fleet_deal_best(&deal, s->layers, &slowest_s);
}

/* ---- stages -----------------------------------------------------------------------
 */

static bool is_at_edge(const fleet_sheet *s, int r)
{
    return r == 0 || r == s->pp - 1 || s->part_of[r - 1] != s->part_of[r] ||
           s->part_of[r + 1] != s->part_of[r];
}

/* Neighbours within a pool that hold alike stand once. */
static void list_stages(fleet_sheet *s)
{
    const int kinds = s->fc->request->model->n_layers;
    train_stages *all = &s->stages;
    const stage_cut cut = {.pp = s->pp};
    all->cut = cut;
    all->n = 0;
    all->layers_most = 0;
    for (int r = 0; r < s->pp; r++) {
        const double *layers = &s->layers[r * kinds];
        const size_t bytes = (size_t)kinds * sizeof *layers;
        const bool is_alike = !is_at_edge(s, r) && !is_at_edge(s, r - 1) &&
                              memcmp(layers, layers - kinds, bytes) == 0;
        const train_stage stage = stage_at(s, r, layers);
        if (is_alike) {
            all->stages[all->n - 1].count++;
        } else {
            all->stages[all->n++] = stage;
        }
        all->of_rank[r] = all->n - 1;
        all->layers_most = fmax(all->layers_most, train_stage_total(&stage, kinds));
    }
    for (int i = 0; i < all->n; i++) {
        fleet_part *p = s->parts[s->part_of[all->stages[i].first]];
        const train_params params =
            train_stage_params(p->tc, p->terms.load, &all->stages[i], &p->layout);
        s->syncs[i] =
            train_step_sync(p->tc, &p->groups, &p->layout, params.dense, params.expert);
        p->terms.stages = all;
        p->terms.syncs = s->syncs;
    }
}

/* Messages of the two directions may go over unlike networks. */
static stage_time time_stage(const fleet_sheet *s, int index, stage_pass *pass)
{
    const train_stage *stage = &s->stages.stages[index];
    const fleet_part *p = s->parts[s->part_of[stage->first]];
    const double down = train_stage_sends(&p->layout, stage, false);
    const double up = train_stage_sends(&p->layout, stage, true);
    const ridge_time forward = fleet_sheet_message(s, stage->first, stage->first + 1);
    const ridge_time backward = fleet_sheet_message(s, stage->first, stage->first - 1);
    const double n = fmax(down + up, 1);
    ridge_stage_work work = {.has_head = false};
    train_terms terms = p->terms;
    terms.send.expected_s = (down * forward.expected_s + up * backward.expected_s) / n;
    terms.send.bound_s = (down * forward.bound_s + up * backward.bound_s) / n;
    const stage_time t = train_stage_time(p->tc, &terms, &p->layout, stage, &work);
    train_stage_pass(p->tc, &terms, &p->layout, stage, &work, pass);
    if (!p->layout.has_pp_overlap) {
        pass->down_s = forward.expected_s;
        pass->up_s = backward.expected_s;
    }
    return t;
}

/* ---- the step ---------------------------------------------------------------------
 */

static double end_total_s(const ridge_step_end *e)
{
    return e->reduce_exposed_s + e->gather_exposed_s + e->slowdown_s + e->optimizer_s +
           e->offload_s;
}

/* The stages of a step, one by one. */
typedef struct fleet_walk {
    stage_time worst;
    int slowest; /* part */
    ridge_step_end end;
    double bound_most_s, bound_sum_s, bound_sync_s, bound_update_s;
    double message_s; /* the longest */
} fleet_walk;

static void add_stage(fleet_sheet *s, int index, fleet_walk *w, ridge_fleet_price *out)
{
    const train_stage *stage = &s->stages.stages[index];
    const int at = s->part_of[stage->first];
    const fleet_part *p = s->parts[at];
    const stage_time t = time_stage(s, index, &s->stages.passes[index]);
    const ridge_step_end end = train_step_end(p->tc, &p->terms, &p->layout, index);
    stage_pass_set_end(&s->stages.passes[index], &end);
    const double bound_s = stage_time_bound_s(&t);
    const double total_s = stage_time_total_s(&t);
    const double message_s =
        fleet_sheet_message(s, stage->first, stage->first + 1).expected_s;
    out->pools[at].stage_s = fmax(out->pools[at].stage_s, total_s);
    w->bound_sum_s += stage->count * bound_s;
    w->bound_most_s = fmax(w->bound_most_s, bound_s);
    w->bound_sync_s = fmax(w->bound_sync_s, end.bound_sync_s);
    w->bound_update_s = fmax(w->bound_update_s, end.bound_update_s);
    w->message_s = fmax(w->message_s, message_s);
    if (stage->first + 1 < s->pp && s->part_of[stage->first + 1] != at)
        out->between_s = fmax(out->between_s, message_s);
    if (index == 0 || total_s > stage_time_total_s(&w->worst)) {
        w->worst = t;
        w->slowest = at;
    }
    if (index == 0 || end_total_s(&end) > end_total_s(&w->end))
        w->end = end;
}

static ridge_step_parts times(const ridge_step_parts *parts, double by)
{
    ridge_step_parts sum = *parts;
#define TIMES(name, text, what) sum.name##_s *= by;
    RIDGE_STEP_LIST(TIMES)
#undef TIMES
    return sum;
}

static void price_step(fleet_sheet *s, ridge_fleet_price *out)
{
    const ridge_layout *l = &s->parts[0]->layout;
    const double m = (double)s->microbatches;
    ridge_train_price *price = &out->price;
    fleet_walk w = {.slowest = 0};
    for (int i = 0; i < s->stages.n; i++)
        add_stage(s, i, &w, out);
    const double step_s = paced_step_s(s->parts[0]->tc, l, &s->stages, s->microbatches,
                                       l->has_pp_overlap ? w.message_s : 0);
    const double bound_bubble_s =
        ridge_schedule_is_split(l->schedule)
            ? 0
            : (w.bound_sum_s - w.bound_most_s) / (double)l->vpp;
    out->slowest = w.slowest;
    price->parts = times(&w.worst.parts, m);
    price->parts.dp_s = w.end.reduce_exposed_s + w.end.gather_exposed_s;
    price->parts.slowdown_s += w.end.slowdown_s;
    price->parts.optimizer_s = w.end.optimizer_s;
    price->parts.offload_s += w.end.offload_s;
    paced_parts_fill(&price->parts, step_s);
    price->hidden_communication_s =
        m * w.worst.hidden_s + w.end.reduce_hidden_s + w.end.gather_hidden_s;
    price->bound_step_time_s =
        fmax(m * w.bound_most_s + bound_bubble_s, w.bound_sync_s) + w.bound_update_s;
    price->step_time_s = ridge_step_total_s(&price->parts);
    for (int i = 0; i < out->layout.n_parts; i++)
        out->pools[i].waiting = 1 - m * out->pools[i].stage_s / price->step_time_s;
}

static void tell_pools(const fleet_sheet *s, ridge_fleet_price *out)
{
    const int kinds = s->fc->request->model->n_layers;
    for (int r = 0; r < s->pp; r++) {
        const double *layers = &s->layers[r * kinds];
        const train_stage stage = stage_at(s, r, layers);
        const int64_t n = (int64_t)train_stage_total(&stage, kinds);
        const ridge_memory_parts m = memory_at(s, r, layers);
        const double bytes = ridge_memory_total_bytes(&m);
        ridge_fleet_pool *pool = &out->pools[s->part_of[r]];
        pool->layers_least =
            pool->layers == 0 || n < pool->layers_least ? n : pool->layers_least;
        pool->layers_most = n > pool->layers_most ? n : pool->layers_most;
        pool->layers += n;
        if (bytes > pool->peak_memory_bytes) {
            pool->memory = m;
            pool->peak_memory_bytes = bytes;
            pool->fullest_stage = r;
        }
    }
}

bool fleet_sheet_price(fleet_sheet *s, fleet_part *const *parts, int n, double limit_s,
                       bool *is_roomy, ridge_fleet_price *out)
{
    ridge_fleet_price price = {.slowest = 0};
    price.layout.common = parts[0]->layout;
    price.layout.n_parts = n;
    for (int i = 0; i < n; i++) {
        price.layout.parts[i] = parts[i]->part;
        price.pools[i].part = parts[i]->part;
        price.pools[i].slice = &s->fc->slices[parts[i]->part.pool];
    }
    lay_parts(s, parts, n);
    price.price.layout = price.layout.common;
    price.price.microbatches = s->microbatches;
    *out = price;
    out->price.fit = RIDGE_FIT_OVER_HBM;
    if (!deal_layers(s, limit_s, is_roomy))
        return false;
    price.price.fit = RIDGE_FIT_OK;
    list_stages(s);
    price_step(s, &price);
    tell_pools(s, &price);
    *out = price;
    return true;
}
