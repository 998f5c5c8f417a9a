#include "layout_ranking.h"

#include <math.h>

/* The same cut of the model: layouts that only divide replicas from shards otherwise
 * are near ties, of which the best stands for all. */
static bool is_same_cut(const ridge_layout *a, const ridge_layout *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->pp == b->pp && a->ep == b->ep;
}

/* Faster; at equal times the smaller memory, then the simpler mesh: a total order, so
 * that the answer does not depend on the order of the search. */
static bool is_better(const ridge_train_price *a, const ridge_train_price *b)
{
    if (fabs(a->step_time_s - b->step_time_s) > 1e-9 * b->step_time_s)
        return a->step_time_s < b->step_time_s;
    if (a->peak_memory_bytes != b->peak_memory_bytes)
        return a->peak_memory_bytes < b->peak_memory_bytes;
    return a->layout.placement < b->layout.placement;
}

double layout_ranking_worst_s(const layout_ranking *r)
{
    return r->n < r->top ? (double)INFINITY : r->layouts[r->top - 1].step_time_s;
}

/* @return n: there is none */
static int find_cut(const layout_ranking *r, const ridge_layout *of)
{
    int at = 0;
    while (at < r->n && !is_same_cut(&r->layouts[at].layout, of))
        at++;
    return at;
}

double layout_ranking_limit_s(const layout_ranking *r, const ridge_layout *of)
{
    const int at = find_cut(r, of);
    return at < r->n ? r->layouts[at].step_time_s : layout_ranking_worst_s(r);
}

void layout_ranking_insert(layout_ranking *r, const ridge_train_price *price)
{
    int at = find_cut(r, &price->layout);
    if (at < r->n) { /* one place a cut: its best variant */
        if (!is_better(price, &r->layouts[at]))
            return;
    } else if (r->n < r->top) {
        at = r->n++;
    } else {
        at = r->top - 1;
        if (!is_better(price, &r->layouts[at]))
            return;
    }
    for (; at > 0 && is_better(price, &r->layouts[at - 1]); at--)
        r->layouts[at] = r->layouts[at - 1];
    r->layouts[at] = *price;
}

void layout_ranking_nearest(ridge_train_result *r, const ridge_train_price *price)
{
    if (r->has_nearest && r->nearest.peak_memory_bytes <= price->peak_memory_bytes)
        return;
    r->nearest = *price;
    r->has_nearest = true;
}
