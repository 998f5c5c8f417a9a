/* Refusals and rankings: the order in which they come does not change what they hold.
 */
#include "service_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- refusals -------------------------------------------------------------------- */

static bool is_same_reason(const ridge_service_refusal *a, ridge_service_fit fit,
                           const char *why)
{
    return a->fit == fit && strcmp(a->why, why) == 0;
}

/* The last place gathers what has no place of its own. */
static ridge_service_refusal *place_of(service_tally *t, ridge_service_fit fit,
                                       const char *why)
{
    for (int i = 0; i < t->n; i++) {
        if (is_same_reason(&t->of[i], fit, why))
            return &t->of[i];
    }
    if (t->n == RIDGE_SERVICE_REFUSAL_MAX) {
        ridge_service_refusal *last = &t->of[t->n - 1];
        last->fit = RIDGE_SERVICE_FIT_LAYOUT;
        last->why = ridge_service_fit_text(RIDGE_SERVICE_FIT_LAYOUT);
        return last;
    }
    t->of[t->n] = (ridge_service_refusal){.fit = fit, .why = why};
    return &t->of[t->n++];
}

void service_tally_add(service_tally *tally, ridge_service_fit fit, const char *why,
                       const ridge_serving_layout *layout, double nearest)
{
    ridge_service_refusal *r =
        place_of(tally, fit, why == NULL ? ridge_service_fit_text(fit) : why);
    if (r->n == 0)
        r->example = *layout;
    if (r->n == 0 || nearest < r->nearest)
        r->nearest = nearest;
    r->n++;
}

void service_tally_merge(service_tally *to, const service_tally *from)
{
    for (int i = 0; i < from->n; i++) {
        const ridge_service_refusal *f = &from->of[i];
        ridge_service_refusal *r = place_of(to, f->fit, f->why);
        if (r->n == 0)
            r->example = f->example;
        if (r->n == 0 || f->nearest < r->nearest)
            r->nearest = f->nearest;
        r->n += f->n;
    }
}

static int by_number(const void *left, const void *right)
{
    const ridge_service_refusal *a = left;
    const ridge_service_refusal *b = right;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return a->fit != b->fit ? (int)a->fit - (int)b->fit : strcmp(a->why, b->why);
}

void service_tally_sort(service_tally *tally)
{
    qsort(tally->of, (size_t)tally->n, sizeof *tally->of, by_number);
}

/* ---- what comes nearest ---------------------------------------------------------- */

static double excess_of(const ridge_service_request *r, const ridge_service_price *p)
{
    double excess = 0;
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const double ratio =
            service_score_judged_s(r, p, (ridge_service_latency)i) / r->goals.most_s[i];
        excess = fmax(excess, ratio);
    }
    return excess;
}

/* Of as little the one that serves more. */
static bool is_nearer(double a, double b, const ridge_service_price *of_a,
                      const ridge_service_price *of_b)
{
    return a < b ||
           (a == b && of_a->tokens_per_s_per_chip > of_b->tokens_per_s_per_chip);
}

void service_nearest_add(const ridge_service_request *r, service_nearest *n,
                         const ridge_service_price *p)
{
    if (p->requests_per_s <= 0)
        return;
    const double excess = excess_of(r, p);
    if (!n->has_all || is_nearer(excess, n->excess, p, &n->all)) {
        n->has_all = true;
        n->excess = excess;
        n->all = *p;
    }
    if (!n->has_most || p->requests_per_s > n->most.requests_per_s) {
        n->has_most = true;
        n->most = *p;
    }
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        const ridge_service_latency which = (ridge_service_latency)i;
        if (!n->has_least[i] ||
            is_nearer(service_score_judged_s(r, p, which),
                      service_score_judged_s(r, &n->least[i], which), p,
                      &n->least[i])) {
            n->has_least[i] = true;
            n->least[i] = *p;
        }
    }
}

void service_nearest_merge(const ridge_service_request *r, service_nearest *to,
                           const service_nearest *from)
{
    if (from->has_all)
        service_nearest_add(r, to, &from->all);
    if (from->has_most)
        service_nearest_add(r, to, &from->most);
    for (int i = 0; i < RIDGE_SERVICE_LATENCY_COUNT; i++) {
        if (from->has_least[i])
            service_nearest_add(r, to, &from->least[i]);
    }
}

/* ---- rankings -------------------------------------------------------------------- */

static bool is_same_cut(const ridge_serving_layout *a, const ridge_serving_layout *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->ep == b->ep &&
           a->attention_dp == b->attention_dp && a->tp_d == b->tp_d &&
           a->kv_cut == b->kv_cut && a->is_weight_gathered == b->is_weight_gathered &&
           a->has_two_batches == b->has_two_batches &&
           a->redundant_experts == b->redundant_experts &&
           a->formats.weight == b->formats.weight &&
           a->formats.cache == b->formats.cache && a->draft.kind == b->draft.kind &&
           a->draft.depth == b->draft.depth;
}

bool service_choice_is_alike(const ridge_service_choice *a,
                             const ridge_service_choice *b)
{
    if (a->mode != b->mode || a->n_pools != b->n_pools)
        return false;
    for (int i = 0; i < a->n_pools; i++) {
        if (!is_same_cut(&a->pools[i].layout, &b->pools[i].layout))
            return false;
    }
    return true;
}

static int order_of(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) ? 0 : a < b ? -1 : 1;
}

static double number_of(ridge_service_aim aim, const service_bound *b)
{
    switch (aim) {
    case RIDGE_SERVICE_AIM_THROUGHPUT:
        return -b->tokens_per_s_per_chip;
    case RIDGE_SERVICE_AIM_COST:
        return b->usd_per_million_tokens;
    case RIDGE_SERVICE_AIM_CHIPS:
        return b->paid_chips;
    case RIDGE_SERVICE_AIM_ENERGY:
        /* tables, which know no watts, keep by tokens; priced steps rank by what they
         * draw: see service_search.c */
        return b->joules_per_token > 0 ? b->joules_per_token
                                       : -b->tokens_per_s_per_chip;
    case RIDGE_SERVICE_AIM_LATENCY:
        break;
    }
    return b->e2e_s;
}

static service_bound numbers_of(const ridge_service_price *p)
{
    return (service_bound){.e2e_s = p->latency_s[RIDGE_SERVICE_E2E],
                           .tpot_s = p->latency_s[RIDGE_SERVICE_TPOT],
                           .tokens_per_s_per_chip = p->tokens_per_s_per_chip,
                           .usd_per_million_tokens = p->usd_per_million_tokens,
                           .paid_chips = p->paid_chips,
                           .joules_per_token = p->energy.joules_per_token};
}

/* Of equal latencies the cheaper, otherwise the faster. */
static int compare_numbers(ridge_service_aim aim, const service_bound *a,
                           const service_bound *b)
{
    int order = order_of(number_of(aim, a), number_of(aim, b));
    if (order == 0)
        order = order_of(-a->tokens_per_s_per_chip, -b->tokens_per_s_per_chip);
    if (order == 0)
        order = order_of(a->e2e_s, b->e2e_s);
    return order;
}

/* Any order will do that is one. */
static int compare_pools(const ridge_service_pool *a, const ridge_service_pool *b)
{
    const ridge_serving_layout *x = &a->layout;
    const ridge_serving_layout *y = &b->layout;
    const int64_t left[] = {x->tp,
                            x->pp,
                            x->ep,
                            x->draft.depth,
                            (int)x->kv_cut,
                            x->is_weight_gathered,
                            a->servers,
                            x->sequences,
                            x->budget_tokens,
                            x->placement,
                            x->tp_d,
                            x->has_two_batches,
                            x->redundant_experts};
    const int64_t right[] = {y->tp,
                             y->pp,
                             y->ep,
                             y->draft.depth,
                             (int)y->kv_cut,
                             y->is_weight_gathered,
                             b->servers,
                             y->sequences,
                             y->budget_tokens,
                             y->placement,
                             y->tp_d,
                             y->has_two_batches,
                             y->redundant_experts};
    for (size_t i = 0; i < RIDGE_COUNT_OF(left); i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return 0;
}

/* Of equal numbers the simpler. */
static int compare(ridge_service_aim aim, const ridge_service_price *a,
                   const ridge_service_price *b)
{
    const service_bound left = numbers_of(a);
    const service_bound right = numbers_of(b);
    int order = compare_numbers(aim, &left, &right);
    if (order == 0)
        order = a->choice.n_pools - b->choice.n_pools;
    if (order == 0)
        order = order_of((double)a->chips, (double)b->chips);
    for (int i = 0; order == 0 && i < a->choice.n_pools; i++)
        order = compare_pools(&a->choice.pools[i], &b->choice.pools[i]);
    return order;
}

bool ridge_service_is_better(ridge_service_aim aim, const ridge_service_price *a,
                             const ridge_service_price *b)
{
    return compare(aim, a, b) < 0;
}

/* Whether a bound could come before a price: of equal ones the rest decides. */
static bool bound_beats(ridge_service_aim aim, const service_bound *bound,
                        const ridge_service_price *price)
{
    const service_bound numbers = numbers_of(price);
    return compare_numbers(aim, bound, &numbers) <= 0;
}

bool service_ranking_wants(const service_ranking *r, const service_bound *bound)
{
    return r->n < r->top || bound_beats(r->aim, bound, &r->prices[r->n - 1]);
}

void service_ranking_insert(service_ranking *r, const ridge_service_price *price)
{
    int at = 0;
    while (at < r->n && !service_choice_is_alike(&r->prices[at].choice, &price->choice))
        at++;
    if (at == r->n && r->n < r->top) {
        r->n++;
    } else {
        if (at == r->n)
            at = r->top - 1;
        if (compare(r->aim, price, &r->prices[at]) >= 0)
            return;
    }
    for (; at > 0 && compare(r->aim, price, &r->prices[at - 1]) < 0; at--)
        r->prices[at] = r->prices[at - 1];
    r->prices[at] = *price;
}

/* ---- variety --------------------------------------------------------------------- */

/* @return the place of the last pool's layout, n: it has none yet */
static int place_in(const service_variety *v, ridge_service_mode mode,
                    const ridge_serving_layout *last)
{
    int at = 0;
    for (; at < v->n; at++) {
        const ridge_service_choice *c = &v->prices[at].choice;
        if (c->mode == mode && is_same_cut(&c->pools[c->n_pools - 1].layout, last))
            break;
    }
    return at;
}

static int worst_of(const service_variety *v)
{
    int worst = 0;
    for (int i = 1; i < v->n; i++) {
        if (compare(v->aim, &v->prices[i], &v->prices[worst]) > 0)
            worst = i;
    }
    return worst;
}

bool service_variety_wants(const service_variety *v, ridge_service_mode mode,
                           const ridge_serving_layout *last, const service_bound *bound)
{
    if (v->top == 0)
        return false;
    if (v->n == v->top && !bound_beats(v->aim, bound, &v->prices[v->worst]))
        return false;
    if (last == NULL)
        return true;
    const int at = place_in(v, mode, last);
    return at == v->n || bound_beats(v->aim, bound, &v->prices[at]);
}

void service_variety_insert(service_variety *v, const ridge_service_price *price)
{
    const ridge_service_choice *c = &price->choice;
    const ridge_serving_layout *last = &c->pools[c->n_pools - 1].layout;
    if (v->top == 0)
        return;
    int at = place_in(v, c->mode, last);
    if (at == v->n && v->n < v->top) {
        v->n++;
    } else {
        if (at == v->n)
            at = v->worst;
        if (!ridge_service_is_better(v->aim, price, &v->prices[at]))
            return;
    }
    v->prices[at] = *price;
    v->worst = worst_of(v);
}
