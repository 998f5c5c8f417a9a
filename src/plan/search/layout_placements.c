#include "layout_placements.h"

/* The expert replicas are what the other groups leave. */
static bool is_same_groups(const train_groups *a, const train_groups *b)
{
    return ridge_group_is_same(&a->tp, &b->tp) && ridge_group_is_same(&a->cp, &b->cp) &&
           ridge_group_is_same(&a->shards, &b->shards) &&
           ridge_group_is_same(&a->replicas, &b->replicas) &&
           ridge_group_is_same(&a->pp, &b->pp) && ridge_group_is_same(&a->ep, &b->ep) &&
           ridge_group_is_same(&a->expert_shards, &b->expert_shards);
}

/* Of groups that are the same it is the same; others rarely share it. */
static uint64_t hash_of(const train_groups *g)
{
    const ridge_group *const groups[] = {&g->tp, &g->cp, &g->shards,       &g->replicas,
                                         &g->pp, &g->ep, &g->expert_shards};
    uint64_t hash = 0;
    for (size_t i = 0; i < RIDGE_COUNT_OF(groups); i++)
        hash = train_hash_group(hash, groups[i]);
    return hash;
}

/* Axes of one rank change nothing: beyond the usual orders only those in which they
 * stand last count. */
static bool is_plain(const ridge_slice *slice, const ridge_layout *l, int placement)
{
    int axes[TRAIN_MESH_AXES];
    train_placement_axes(slice, placement, axes);
    const int64_t sizes[] = {l->tp, l->cp, l->fsdp, l->dp, l->pp};
    for (int i = 1; i < TRAIN_MESH_AXES; i++) {
        const bool is_after_one = sizes[axes[i - 1]] == 1;
        if (is_after_one && (sizes[axes[i]] > 1 || axes[i] < axes[i - 1]))
            return false;
    }
    return true;
}

int layout_placements_list(const ridge_slice *slice, const ridge_layout *layout,
                           int knob, int most, int *index, train_groups *groups)
{
    const int usual = train_placement_count(slice);
    const int first = knob >= 0 ? knob : 0;
    const int end = knob >= 0                ? knob + 1
                    : knob == RIDGE_KNOB_ANY ? train_placement_most(slice)
                                             : usual;
    uint64_t hashes[RIDGE_PLACEMENT_MOST];
    int n = 0;
    for (int p = first; p < end && n < most && n < RIDGE_PLACEMENT_MOST; p++) {
        if (knob < 0 && p >= usual && !is_plain(slice, layout, p))
            continue;
        if (!train_groups_place(slice, layout, p, &groups[n]))
            continue;
        bool is_new = true;
        hashes[n] = hash_of(&groups[n]);
        for (int i = 0; i < n && is_new; i++)
            is_new = hashes[i] != hashes[n] || !is_same_groups(&groups[i], &groups[n]);
        if (is_new)
            index[n++] = p;
    }
    return n;
}

void layout_placements_find(const ridge_slice *slice, const ridge_layout *layout,
                            int most, layout_placements *out)
{
    out->n = layout_placements_list(slice, layout, RIDGE_KNOB_FREE, most, out->index,
                                    out->groups);
}
