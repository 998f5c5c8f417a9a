/*
 * Tokens dealt to experts by chance. A load's distribution is walked once from below:
 * point by point for the binomial, in steps of a thousandth of its spread where that is
 * so wide that it is normal.
 */
#include "ridge/model_routing.h"

#include <math.h>

enum { SPREADS = 12, STEPS_A_SPREAD = 1000, SPREAD_BINOMIAL_MOST = 20000 };

static const double MILLE = 1e-3;

/* Rows of one bin: mean n p, variance n p (1 - p); n need not be whole. */
typedef struct load {
    double n, p, mean, spread;
} load;

/* What the walk finds. */
typedef struct load_walk {
    double most;       /* expected of the fullest of independent bins */
    double over;       /* expected beyond the capacity */
    double mille_rows; /* beyond which lies a thousandth of the mean */
} load_walk;

static load load_of(double n, double p)
{
    return (load){n, p, n * p, sqrt(n * p * (1 - p))};
}

/* Rows of a rank with g of E experts: each token sends it a hypergeometric number. */
static load rank_load(const ridge_routing_request *r)
{
    const double ranks = (double)r->ranks, experts = (double)r->experts;
    const double chosen = (double)r->chosen;
    const double mean = (double)r->tokens * chosen / ranks;
    const double left = experts > 1 ? (experts - chosen) / (experts - 1) : 0;
    const double p = 1 - (1 - 1 / ranks) * left; /* 1 - variance / mean */
    return load_of(mean / p, p);
}

/* ---- the walk -------------------------------------------------------------------- */

/* A grid over the distribution. */
typedef struct grid {
    const load *of;
    bool is_normal;
    double first, step;
    int64_t points;
} grid;

static grid grid_of(const load *l)
{
    grid g = {.of = l, .is_normal = l->spread > SPREAD_BINOMIAL_MOST, .step = 1};
    const double reach = SPREADS * l->spread + SPREADS;
    g.first = l->mean - reach;
    if (g.is_normal)
        g.step = l->spread / STEPS_A_SPREAD;
    else
        g.first = fmax(0, floor(g.first));
    const double last = fmin(l->n, l->mean + reach);
    g.points = (int64_t)((last - g.first) / g.step) + 1;
    return g;
}

/* Logarithm of the weight of the first point, up to a constant that falls out. */
static double first_weight(const grid *g)
{
    const load *l = g->of;
    const double m = g->first, mode = floor(l->mean);
    return lgamma(mode + 1) + lgamma(l->n - mode + 1) - lgamma(m + 1) -
           lgamma(l->n - m + 1) + (m - mode) * (log(l->p) - log1p(-l->p));
}

/* The weight of point i from that of the one before. */
static double weight_of(const grid *g, int64_t i, double before)
{
    const load *l = g->of;
    const double x = g->first + g->step * (double)i;
    if (g->is_normal) {
        const double z = (x - l->mean) / l->spread;
        return exp(-z * z / 2);
    }
    if (i == 0)
        return exp(first_weight(g));
    return before * (l->n - x + 1) / x * l->p / (1 - l->p);
}

static double weights_sum(const grid *g)
{
    double sum = 0, w = 0;
    for (int64_t i = 0; i < g->points; i++) {
        w = fmax(0, weight_of(g, i, w));
        sum += w;
    }
    return sum;
}

static load_walk walk(const load *l, double bins, double capacity)
{
    const grid g = grid_of(l);
    const double total = weights_sum(&g);
    load_walk out = {.most = g.first, .over = 0, .mille_rows = l->n};
    double below = 0, w = 0, over = l->mean - g.first; /* E[max(X - x, 0)] */
    bool has_over = capacity <= 0, has_mille = false;
    for (int64_t i = 0; i < g.points; i++) {
        const double x = g.first + g.step * (double)i;
        if (!has_over && x >= capacity) {
            out.over = fmax(0, over);
            has_over = true;
        }
        if (!has_mille && over <= MILLE * l->mean) {
            out.mille_rows = x;
            has_mille = true;
        }
        w = fmax(0, weight_of(&g, i, w));
        below = fmin(1, below + w / total);
        out.most += g.step * (1 - pow(below, bins));
        over -= g.step * (1 - below);
    }
    return out;
}

/* @param capacity  rows of a bin; 0: any number */
static load_walk study(const load *l, double bins, double capacity)
{
    const bool is_even = l->spread <= 1e-9 * l->mean;
    load_walk out =
        is_even ? (load_walk){l->mean, 0, l->mean} : walk(l, bins, capacity);
    if (is_even && capacity > 0)
        out.over = fmax(0, l->mean - capacity);
    if (bins > 1)
        out.most = l->mean + (out.most - l->mean) * sqrt(bins / (bins - 1));
    /* A bin of the rest would be under the mean: so much the fullest has. */
    out.most = fmax(out.most, ceil(l->mean * (1 - 1e-12)));
    return out;
}

/* ---- what is asked --------------------------------------------------------------- */

static ridge_status check(ridge_ctx *cx, const ridge_routing_request *r)
{
    if (r->experts < 1 || r->chosen < 1 || r->chosen > r->experts)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a token chooses %lld of %lld experts: 1 to all of them",
                          (long long)r->chosen, (long long)r->experts);
    if (r->tokens < 1)
        return ridge_fail(cx, RIDGE_E_ARG, "at least 1 token is routed");
    if (r->ranks < 1 || r->experts % r->ranks != 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%lld ranks do not hold %lld experts evenly: give a divisor",
                          (long long)r->ranks, (long long)r->experts);
    if (!(r->capacity >= 0) || !isfinite(r->capacity))
        return ridge_fail(cx, RIDGE_E_ARG, "a capacity factor is above 0");
    return RIDGE_OK;
}

/* That none of a token's k different experts is among the g of a rank. */
static double missed_chance(const ridge_routing_request *r)
{
    const double experts = (double)r->experts;
    const double own = experts / (double)r->ranks;
    double missed = 1;
    for (int64_t i = 0; i < r->chosen; i++)
        missed *= fmax(0, experts - own - (double)i) / (experts - (double)i);
    return missed;
}

static ridge_routing_bins bins_of(const load *l, double bins, double most,
                                  double missed, double tokens)
{
    return (ridge_routing_bins){bins, l->mean, most,
                                bins * -expm1(tokens * log(missed))};
}

static void find_capacity(const ridge_routing_request *r, double mean, double rows,
                          const load_walk *found, ridge_routing *out)
{
    out->capacity_for_mille = found->mille_rows / mean;
    if (r->capacity <= 0)
        return;
    out->capacity_rows = rows;
    out->dropped_share = found->over / mean;
    out->slack_share = 1 - (mean - found->over) / rows;
}

ridge_status ridge_routing_find(ridge_ctx *cx, const ridge_routing_request *request,
                                ridge_routing *out)
{
    RIDGE_TRY(check(cx, request));
    const ridge_routing_request *r = request;
    const double tokens = (double)r->tokens, k = (double)r->chosen;
    const double experts = (double)r->experts, ranks = (double)r->ranks;
    const load one = load_of(tokens, k / experts);
    const load rank = rank_load(r);
    /* A factor of 1.1 gives 11 rows of 10, not 12 for its last digit. */
    const double rows = ceil(r->capacity * one.mean * (1 - 1e-12));
    const load_walk by_expert = study(&one, experts, rows);
    const load_walk by_rank = study(&rank, ranks, 0);
    const double missed = missed_chance(r);
    *out = (ridge_routing){.rows = tokens * k,
                           .sent_ranks = ranks * (1 - missed),
                           .fill = 1 - missed,
                           .fill_apart = 1 - pow((ranks - 1) / ranks, k),
                           .fill_most = fmin(k / ranks, 1)};
    out->experts = bins_of(&one, experts, by_expert.most, 1 - k / experts, tokens);
    out->ranks = bins_of(&rank, ranks, by_rank.most, missed, tokens);
    find_capacity(r, one.mean, rows, &by_expert, out);
    return RIDGE_OK;
}
