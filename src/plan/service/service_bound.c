/*
 * Bounds of pairs. A block's bound has the best of each number of its servers: what it
 * cannot change none of them can, and it is asked first.
 */
#include "service_bound.h"

#include <math.h>
#include <stdlib.h>

/* Of partners in a block, and of blocks in a large one. */
enum { BLOCK = 4, LARGE_BLOCK = 8 };

double service_joining_s(const ridge_service_request *r, const service_option *d,
                         double tpot_s)
{
    const ridge_draft *draft = &d->layout->draft;
    const bool is_drafted = draft->kind != RIDGE_DRAFT_NONE && draft->depth > 0;
    const double yield = is_drafted ? steady_yield(draft->accept, draft->depth) : 1;
    return (r->engine->decodes_first ? 1.5 : 0.5) * tpot_s * yield;
}

static double sending_s(const service_option *p, double least_s, double bytes_per_s)
{
    const double rate = fmin(p->transfer_bytes_per_s, bytes_per_s);
    return fmax(p->transfer_s, least_s) + p->transfer_bytes / rate;
}

double service_transfer_s(const service_option *p, const service_option *d)
{
    return sending_s(p, d->transfer_s, d->transfer_bytes_per_s);
}

/* ---- partners -------------------------------------------------------------------- */

static service_partner partner_of(const ridge_service_request *r,
                                  const service_option *d)
{
    const bool is_lighter = d->before_per_s > 0 && d->before_tpot_s < d->tpot_s;
    const double high = r->goals.quantile > 0 ? d->tpot_quantile_s / d->tpot_s : 1;
    service_partner one = {.chips = (double)d->chips,
                           .chip_s = (double)d->chips / d->requests_per_s,
                           .tpot_s = is_lighter ? d->before_tpot_s : d->tpot_s,
                           .latency_s = is_lighter ? d->before_latency_s : d->latency_s,
                           .transfer_s = d->transfer_s,
                           .transfer_bytes_per_s = d->transfer_bytes_per_s};
    one.tpot_quantile_s = one.tpot_s * high;
    one.joining_s = service_joining_s(r, d, one.tpot_s);
    return one;
}

static service_partner best_of(const service_partner *a, const service_partner *b)
{
    return (service_partner){
        .chips = fmin(a->chips, b->chips),
        .chip_s = fmin(a->chip_s, b->chip_s),
        .tpot_s = fmin(a->tpot_s, b->tpot_s),
        .latency_s = fmin(a->latency_s, b->latency_s),
        .tpot_quantile_s = fmin(a->tpot_quantile_s, b->tpot_quantile_s),
        .joining_s = fmin(a->joining_s, b->joining_s),
        .transfer_s = fmin(a->transfer_s, b->transfer_s),
        .transfer_bytes_per_s = fmax(a->transfer_bytes_per_s, b->transfer_bytes_per_s)};
}

/* A place among the partners, by what they are sorted by. */
typedef struct spot {
    int layer;
    double tpot_s, chip_s;
    int at;
} spot;

static int by_tpot(const void *left, const void *right)
{
    const spot *a = left;
    const spot *b = right;
    if (a->tpot_s != b->tpot_s)
        return a->tpot_s < b->tpot_s ? -1 : 1;
    if (a->chip_s != b->chip_s)
        return a->chip_s < b->chip_s ? -1 : 1;
    return a->at - b->at;
}

static int by_layer(const void *left, const void *right)
{
    const spot *a = left;
    const spot *b = right;
    return a->layer != b->layer ? a->layer - b->layer : by_tpot(left, right);
}

/* Layers of a front in TPOT and chips for a rate: the first is beaten by nobody, each
 * other one by the layer before it alone. Spots come by TPOT. @param ends  scratch:
 * what the last of each layer takes, rising by the layer */
static void set_layers(spot *spots, int n, double *ends)
{
    int n_layers = 0;
    for (int i = 0; i < n; i++) {
        int low = 0;
        int high = n_layers;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (ends[middle] <= spots[i].chip_s)
                low = middle + 1;
            else
                high = middle;
        }
        n_layers += low == n_layers ? 1 : 0;
        ends[low] = spots[i].chip_s;
        spots[i].layer = low;
    }
}

/* Blocks are of neighbours of a layer: one good server would keep a block of poor ones.
 */
static void sort_partners(service_partners *p, spot *spots, double *ends)
{
    for (int i = 0; i < p->n; i++)
        spots[i] = (spot){0, p->each[i].tpot_s, p->each[i].chip_s, i};
    qsort(spots, (size_t)p->n, sizeof *spots, by_tpot);
    set_layers(spots, p->n, ends);
    qsort(spots, (size_t)p->n, sizeof *spots, by_layer);
    for (int i = 0; i < p->n; i++)
        p->order[i] = spots[i].at;
}

static void set_blocks(service_partners *p)
{
    for (int i = 0; i < p->n; i++) {
        const service_partner *one = &p->each[p->order[i]];
        service_partner *block = &p->blocks[i / BLOCK];
        *block = i % BLOCK == 0 ? *one : best_of(block, one);
    }
    for (int i = 0; i < p->n_blocks; i++) {
        service_partner *large = &p->large_blocks[i / LARGE_BLOCK];
        *large = i % LARGE_BLOCK == 0 ? p->blocks[i] : best_of(large, &p->blocks[i]);
    }
}

ridge_status service_partners_open(const service_pair_search *s,
                                   const service_options *decode, service_partners *out)
{
    ridge_arena *arena = ridge_ctx_arena(s->cx);
    const size_t n = (size_t)decode->n;
    service_partners p = {.n = decode->n, .of = decode->of};
    p.n_blocks = (p.n + BLOCK - 1) / BLOCK;
    p.each = ridge_new(arena, service_partner, n + 1);
    p.order = ridge_new(arena, int, n + 1);
    p.blocks = ridge_new(arena, service_partner, (size_t)p.n_blocks + 1);
    p.large_blocks =
        ridge_new(arena, service_partner, (size_t)p.n_blocks / LARGE_BLOCK + 1);
    p.is_wanted = ridge_new(arena, bool, n + 1);
    spot *spots = ridge_new(arena, spot, n + 1);
    double *ends = ridge_new(arena, double, n + 1);
    if (p.each == NULL || p.order == NULL || p.blocks == NULL ||
        p.large_blocks == NULL || p.is_wanted == NULL || spots == NULL || ends == NULL)
        return ridge_fail_nomem(s->cx);
    for (int i = 0; i < p.n; i++)
        p.each[i] = partner_of(s->request, &decode->of[i]);
    sort_partners(&p, spots, ends);
    set_blocks(&p);
    *out = p;
    return RIDGE_OK;
}

/* ---- bounds ---------------------------------------------------------------------- */

/* As many servers of each as keep the other busy, parts of servers among them, no
 * waiting, and the decode pool's lightest batch. */
static service_bound best_case(const ridge_service_request *r, const service_option *p,
                               const service_partner *d)
{
    const double chip_s = (double)p->chips / p->requests_per_s + d->chip_s;
    double requests_per_s = (double)r->slice->chips / chip_s;
    service_bound best = {.paid_chips = (double)r->slice->chips};
    if (r->requests_per_s > 0) {
        requests_per_s = r->requests_per_s;
        best.paid_chips = fmax((double)p->chips + d->chips, r->requests_per_s * chip_s);
    }
    best.tpot_s = d->tpot_s;
    best.e2e_s = r->engine->request_s + p->latency_s +
                 sending_s(p, d->transfer_s, d->transfer_bytes_per_s) + d->latency_s;
    const double tokens_per_s = requests_per_s * r->work.output_tokens;
    best.tokens_per_s_per_chip = tokens_per_s / best.paid_chips;
    best.usd_per_million_tokens =
        r->usd_per_chip_hour * best.paid_chips / (RIDGE_HOUR_S * tokens_per_s) * 1e6;
    return best;
}

static bool is_beaten_on_fronts(const service_pair_search *s, const service_option *p,
                                const service_partner *d)
{
    if (s->request->is_plain)
        return true;
    const service_bound best = best_case(s->whole, p, d);
    const double rate = best.tokens_per_s_per_chip;
    return service_points_have(s->speed_front, best.tpot_s, best.e2e_s, rate, false) &&
           service_points_have(s->cost_front, best.tpot_s, best.e2e_s, rate, true);
}

/* No number of servers keeps the goals: not even the best case does. */
static bool misses_goals(const ridge_service_request *r, const service_option *p,
                         const service_partner *d, const service_bound *best)
{
    const double *most_s = r->goals.most_s;
    const double first_s = r->engine->request_s + p->latency_s +
                           sending_s(p, d->transfer_s, d->transfer_bytes_per_s) +
                           d->joining_s;
    return first_s > most_s[RIDGE_SERVICE_TTFT] ||
           d->tpot_quantile_s > most_s[RIDGE_SERVICE_TPOT] ||
           best->e2e_s > most_s[RIDGE_SERVICE_E2E];
}

/* @param layout  of the decode servers; NULL: any */
static bool excludes(const service_pair_search *s, const service_option *p,
                     const service_partner *d, const ridge_serving_layout *layout)
{
    const service_bound best = best_case(s->request, p, d);
    if (s->request->ignores_misses && misses_goals(s->request, p, d, &best))
        return true;
    return !service_ranking_wants(s->ranking, &best) &&
           !service_variety_wants(s->variety, RIDGE_SERVICE_MODE_DISAGGREGATED, layout,
                                  &best) &&
           is_beaten_on_fronts(s, p, d);
}

bool service_bound_excludes(const service_pair_search *s, const service_option *prefill,
                            const service_partners *partners, int k)
{
    return excludes(s, prefill, &partners->each[k], partners->of[k].layout);
}

void service_partners_mark(const service_pair_search *s, const service_option *prefill,
                           service_partners *partners)
{
    bool is_large_wanted = false;
    for (int b = 0; b < partners->n_blocks; b++) {
        if (b % LARGE_BLOCK == 0)
            is_large_wanted =
                !excludes(s, prefill, &partners->large_blocks[b / LARGE_BLOCK], NULL);
        const bool is_wanted =
            is_large_wanted && !excludes(s, prefill, &partners->blocks[b], NULL);
        const int end = (b + 1) * BLOCK < partners->n ? (b + 1) * BLOCK : partners->n;
        for (int i = b * BLOCK; i < end; i++)
            partners->is_wanted[partners->order[i]] = is_wanted;
    }
}
