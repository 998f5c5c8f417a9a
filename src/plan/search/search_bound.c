#include "search_bound.h"

#include "host_time.h"
#include "least_price.h"
#include "stack_time.h"

#include <math.h>
#include <string.h>

bool search_is_any_known(const search_desk *d)
{
    return d->is_any_known || d->answer->ranking.n > 0;
}

/* The time that a layout must beat to be one of the best: of a mesh only its best
 * variant is. */
static double best_limit_s(const search_desk *d, const ridge_layout *l)
{
    const double own_s = layout_ranking_limit_s(&d->answer->ranking, l);
    return fmin(d->bound_s, fmin(own_s, layout_ranking_limit_s(d->known, l)));
}

/* The least that a layout must take to be dropped. */
static double limit_s(const search_desk *d, const ridge_layout *l)
{
    if (d->answer->front.most > 0) /* which has slower ones too */
        return LAYOUT_FRONT_REACH * d->bound_s;
    return best_limit_s(d, l);
}

/* A bound may be the price itself, summed up in another order; and of layouts that take
 * as long the smallest is wanted. */
static const double SLACK = 1e-8;

bool search_is_beaten(const search_desk *d, const ridge_layout *l, double bound_s,
                      double bytes)
{
    const double least_s = bound_s * (1 - SLACK);
    if (least_s > limit_s(d, l))
        return true;
    return d->answer->front.most > 0 && least_s > best_limit_s(d, l) &&
           (layout_front_beats(&d->answer->front, least_s, bytes) ||
            layout_front_beats(d->known_front, least_s, bytes));
}

bool search_is_mesh_slow(const search_desk *d, const memo_entry *e,
                         const ridge_layout *l)
{
    if (!ridge_chip_is_overlapped(d->tc.chip))
        return false; /* priced by what runs, not by these terms */
    double m = (double)train_microbatches(&d->tc, l);
    return m * e->model_s / (double)l->pp * (1 - SLACK) > limit_s(d, l);
}

/* What is done again adds to a layer's time but for what the layer waits for its host
 * anyway. */
static double least_again_s(const search_desk *d, const candidate *c, int kind,
                            int remat)
{
    const layer_time *t = &c->times->layers[kind];
    return fmax(0,
                layer_time_recompute_s(t, remat) - host_wait_most_s(&d->tc, kind, t));
}

double search_least_s(const search_desk *d, const candidate *c, const ridge_layout *l)
{
    if (!ridge_chip_is_overlapped(d->tc.chip))
        return 0;
    const train_stages *stages = c->stages;
    const int remat = train_remat_index(&d->tc, l);
    for (int i = 0; i < stages->n; i++) {
        const train_stage *stage = &stages->stages[i];
        double again = train_remat_share(&d->tc, l, stage);
        double head_s = stage->head_passes * c->times->least_s[d->tc.n_kinds];
        double t = stage->has_head ? head_s : 0;
        for (int k = 0; k < d->tc.n_kinds; k++)
            t += stage->layers[k] *
                 (c->times->least_s[k] + again * least_again_s(d, c, k, remat));
        stages->totals_s[i] = t;
    }
    return paced_least_s(l, stages, stages->totals_s, (double)c->microbatches, 0);
}

/* ---- with the network ------------------------------------------------------------ */

/* The least over placements of what does not hang on stages, in the desk's scratch.
 * @return false when memory ran out */
static bool find_least(search_desk *d, const candidate *c, const ridge_layout *l,
                       placed *least)
{
    const size_t kinds = (size_t)d->tc.n_kinds;
    ridge_arena *arena = ridge_ctx_scratch(d->cx);
    layer_exchange *exchanges = ridge_new(arena, layer_exchange, kinds + 1);
    shard_time *shards = ridge_new(arena, shard_time, kinds);
    if (exchanges == NULL || shards == NULL)
        return false;
    least->is_tp_apart = false;
    for (int i = 0; i < c->places->n; i++) {
        train_terms x = {.load = &d->load,
                         .layers = c->times->layers,
                         .imbalance = c->times->imbalance};
        if (!search_place_layers(d, c, i, l, &x))
            return false;
        search_learn_exchanges(d, &x, &c->places->groups[i], l, c->times);
        least->is_tp_apart = least->is_tp_apart || x.is_tp_apart;
        if (i == 0) {
            memcpy(exchanges, x.exchanges, (kinds + 1) * sizeof *exchanges);
            memcpy(shards, x.shards, kinds * sizeof *shards);
            least->send = x.send;
            continue;
        }
        least_exchanges(&d->tc, x.exchanges, exchanges);
        least_shards(&d->tc, x.shards, shards);
        least->send.expected_s = fmin(least->send.expected_s, x.send.expected_s);
    }
    least->exchanges = exchanges;
    least->shards = shards;
    least->of = c->times->layers;
    return true;
}

static bool find_least_once(search_desk *d, const candidate *c, const ridge_layout *l)
{
    placed *least = &c->places->least;
    return least->of == c->times->layers || find_least(d, c, l, least);
}

/* @return NULL: memory ran out */
static const double *find_sharded(search_desk *d, const candidate *c,
                                  const ridge_layout *l)
{
    const placed *least = &c->places->least;
    double *each_s =
        ridge_new(ridge_ctx_scratch(d->cx), double, (size_t)d->tc.n_kinds + 1);
    if (each_s == NULL || !find_least_once(d, c, l))
        return NULL;
    const train_terms x = {.load = &d->load,
                           .layers = c->times->layers,
                           .exchanges = least->exchanges,
                           .shards = least->shards,
                           .is_tp_apart = least->is_tp_apart,
                           .imbalance = c->times->imbalance};
    for (int k = 0; k <= d->tc.n_kinds; k++)
        each_s[k] = train_layer_least_s(&d->tc, &x, l, k);
    return each_s;
}

/* Messages hide behind compute, or each rank waits for its own. */
static double sharded_least_s(const search_desk *d, const candidate *c,
                              const double *layers_s, const ridge_layout *l)
{
    const train_stages *stages = c->stages;
    const double send_s = c->places->least.send.expected_s;
    for (int i = 0; i < stages->n; i++) {
        const train_stage *stage = &stages->stages[i];
        double t = stage->has_head ? stage->head_passes * layers_s[d->tc.n_kinds] : 0;
        for (int k = 0; k < d->tc.n_kinds; k++)
            t += stage->layers[k] * layers_s[k];
        if (!l->has_pp_overlap)
            t += send_s * (train_stage_sends(l, stage, false) +
                           train_stage_sends(l, stage, true));
        stages->totals_s[i] = t;
    }
    return paced_least_s(l, stages, stages->totals_s, (double)c->microbatches, send_s);
}

bool search_is_pipeline_slow(search_desk *d, candidate *c, const ridge_layout *l)
{
    if (!ridge_chip_is_overlapped(d->tc.chip) || c->places->n == 0)
        return false;
    const double **layers_s = &c->sharded_s[l->schedule == RIDGE_SCHEDULE_DUALPIPE];
    if (*layers_s == NULL)
        *layers_s = find_sharded(d, c, l);
    d->is_short = d->is_short || *layers_s == NULL;
    return d->is_short ||
           search_is_beaten(d, l, sharded_least_s(d, c, *layers_s, l), c->least_bytes);
}

/* @return NULL: memory ran out */
static const step_sync *find_least_syncs(search_desk *d, const candidate *c,
                                         const ridge_layout *l)
{
    const step_sync **at = search_syncs_at(d, c, l, &c->places->least);
    if (at == NULL || *at != NULL)
        return at == NULL ? NULL : *at;
    const size_t n = (size_t)c->stages->n;
    step_sync *least = ridge_new(ridge_ctx_scratch(d->cx), step_sync, n);
    for (int i = 0; least != NULL && i < c->places->n; i++) {
        const step_sync *one = search_place_syncs(d, c, i, l);
        if (one == NULL)
            return NULL;
        if (i == 0) {
            memcpy(least, one, n * sizeof *least);
        } else {
            least_syncs(c->stages, one, least);
        }
    }
    *at = least;
    return least;
}

bool search_is_placed_slow(search_desk *d, const candidate *c, const train_terms *terms,
                           const ridge_layout *l, double bytes)
{
    const double m = (double)c->microbatches;
    placed *least = &c->places->least;
    train_terms x = *terms;
    if (!ridge_chip_is_overlapped(d->tc.chip))
        return false;
    if (!find_least_once(d, c, l)) {
        d->is_short = true;
        return true;
    }
    x.exchanges = least->exchanges;
    x.shards = least->shards;
    x.send = least->send;
    x.is_tp_apart = least->is_tp_apart;
    const double passes_s = least_price_passes_s(&d->tc, &x, l, m);
    if (search_is_beaten(d, l, passes_s, bytes))
        return true;
    x.syncs = find_least_syncs(d, c, l);
    d->is_short = d->is_short || x.syncs == NULL;
    return d->is_short ||
           search_is_beaten(d, l, least_price_step_s(&d->tc, &x, l, m, passes_s),
                            bytes);
}

bool search_is_step_slow(const search_desk *d, const train_terms *terms,
                         const ridge_layout *l, const candidate *c, double bytes)
{
    const double m = (double)c->microbatches;
    if (l->pp == 1)
        return false;
    const double passes_s = least_price_passes_s(&d->tc, terms, l, m);
    return search_is_beaten(d, l, passes_s, bytes) ||
           search_is_beaten(d, l, least_price_step_s(&d->tc, terms, l, m, passes_s),
                            bytes);
}
