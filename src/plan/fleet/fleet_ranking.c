/* The best layouts of a fleet so far. */
#include "fleet_task.h"

#include <math.h>

double fleet_ranking_worst_s(const fleet_ranking *r)
{
    return r->n < r->top ? (double)INFINITY : r->entries[r->n - 1].step_s;
}

static bool is_same_mesh(const ridge_fleet_layout *a, const ridge_fleet_layout *b)
{
    const ridge_layout *x = &a->common;
    const ridge_layout *y = &b->common;
    bool is_same = x->dp == y->dp && x->fsdp == y->fsdp && x->tp == y->tp &&
                   x->cp == y->cp && x->ep == y->ep;
    for (int i = 0; i < a->n_parts && is_same; i++)
        is_same = a->parts[i].pool == b->parts[i].pool;
    return is_same;
}

void fleet_ranking_insert(fleet_ranking *r, const fleet_entry *entry)
{
    int at = 0;
    while (at < r->n && !is_same_mesh(&r->entries[at].layout, &entry->layout))
        at++;
    if (at < r->n && r->entries[at].step_s <= entry->step_s)
        return;
    if (at == r->n && r->n == r->top) {
        at = r->n - 1; /* the worst goes */
        if (r->entries[at].step_s <= entry->step_s)
            return;
    } else if (at == r->n) {
        r->n++;
    }
    for (; at > 0 && r->entries[at - 1].step_s > entry->step_s; at--)
        r->entries[at] = r->entries[at - 1];
    r->entries[at] = *entry;
}
