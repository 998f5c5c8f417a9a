#include "layout_placements.h"

static bool is_same_group(const ridge_group *a, const ridge_group *b)
{
    if (a->n_spans != b->n_spans)
        return false;
    for (int i = 0; i < a->n_spans; i++) {
        const ridge_span *x = &a->spans[i];
        const ridge_span *y = &b->spans[i];
        if (x->axis != y->axis || x->size != y->size || x->stride != y->stride)
            return false;
    }
    return true;
}

/* The expert replicas are what the other groups leave. */
static bool is_same_groups(const train_groups *a, const train_groups *b)
{
    return is_same_group(&a->tp, &b->tp) && is_same_group(&a->cp, &b->cp) &&
           is_same_group(&a->shards, &b->shards) &&
           is_same_group(&a->replicas, &b->replicas) && is_same_group(&a->pp, &b->pp) &&
           is_same_group(&a->ep, &b->ep) &&
           is_same_group(&a->expert_shards, &b->expert_shards);
}

void layout_placements_find(const ridge_slice *slice, const ridge_layout *layout,
                            int most, layout_placements *out)
{
    out->n = 0;
    int count = train_placement_count(slice);
    for (int p = 0; p < count && out->n < most; p++) {
        train_groups *g = &out->groups[out->n];
        if (!train_groups_place(slice, layout, p, g))
            continue;
        bool is_new = true;
        for (int i = 0; i < out->n && is_new; i++)
            is_new = !is_same_groups(&out->groups[i], g);
        if (is_new)
            out->index[out->n++] = p;
    }
}
