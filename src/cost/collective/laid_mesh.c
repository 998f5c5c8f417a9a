/* Mesh axes on the network axes of a slice: groups of one axis and of several. */
#include "ridge/cost_program.h"

/* Join two spans of one network axis where the outer goes on where the inner ends. */
static bool span_join(ridge_span *inner, const ridge_span *outer)
{
    if (inner->axis != outer->axis || inner->stride * inner->size != outer->stride)
        return false;
    inner->size *= outer->size;
    return true;
}

static bool is_inside(const ridge_span *a, const ridge_span *b)
{
    return a->axis < b->axis || (a->axis == b->axis && a->stride < b->stride);
}

/* All spans of the axes, innermost first. @return how many */
static int spans_gather(const ridge_laid_mesh *laid, const int *axes, int n,
                        ridge_span *out)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const ridge_group *group = &laid->groups[axes[i]];
        for (int s = 0; s < group->n_spans; s++) {
            int at = count++;
            for (; at > 0 && is_inside(&group->spans[s], &out[at - 1]); at--)
                out[at] = out[at - 1];
            out[at] = group->spans[s];
        }
    }
    return count;
}

ridge_group ridge_laid_mesh_group(const ridge_laid_mesh *laid, const int *axes, int n)
{
    if (n == 1)
        return laid->groups[axes[0]];
    ridge_span spans[RIDGE_MESH_AXIS_MAX * RIDGE_AXIS_MAX];
    const int count = spans_gather(laid, axes, n, spans);
    ridge_group group = {.ranks = 1};
    for (int i = 0; i < n; i++)
        group.ranks *= laid->groups[axes[i]].ranks;
    for (int i = 0; i < count; i++) {
        ridge_span *last = group.n_spans > 0 ? &group.spans[group.n_spans - 1] : NULL;
        if (last != NULL && span_join(last, &spans[i]))
            continue;
        if (group.n_spans < RIDGE_AXIS_MAX) {
            group.spans[group.n_spans++] = spans[i];
        } else {
            last->size *= spans[i].size; /* no room: as if they adjoined */
        }
    }
    return group;
}

bool ridge_laid_mesh_fill(const ridge_slice *slice, const int *order,
                          const ridge_mesh *mesh, ridge_laid_mesh *out)
{
    int64_t sizes[RIDGE_MESH_AXIS_MAX];
    ridge_group groups[RIDGE_MESH_AXIS_MAX];
    for (int i = 0; i < mesh->n; i++)
        sizes[i] = mesh->axes[mesh->n - 1 - i].size;
    if (!ridge_placement_fill(slice, order, sizes, mesh->n, groups))
        return false;
    out->slice = slice;
    for (int i = 0; i < mesh->n; i++)
        out->groups[mesh->n - 1 - i] = groups[i];
    return true;
}
