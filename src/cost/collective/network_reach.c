/* The levels of a group: sharing of links, of NICs, of a mesh and of a bus. */
#include "network_reach.h"

#include <string.h>

static double share_or(double share, double fallback)
{
    if (share > 0.0 && share <= 1.0)
        return share;
    return fallback;
}

double ridge__axis_efficiency(const ridge_axis *axis)
{
    return share_or(axis->efficiency, 1.0);
}

double ridge__axis_alltoall_efficiency(const ridge_axis *axis)
{
    return share_or(axis->alltoall_efficiency, ridge__axis_efficiency(axis));
}

double ridge__axis_reduce_efficiency(const ridge_axis *axis)
{
    return share_or(axis->reduce_efficiency, ridge__axis_efficiency(axis));
}

bool ridge__axis_is_scale_up(const ridge_axis *axis)
{
    return axis->kind == RIDGE_AXIS_SWITCH || axis->kind == RIDGE_AXIS_MESH ||
           axis->kind == RIDGE_AXIS_BUS;
}

double ridge__log2_steps(double n)
{
    double steps = 0.0;
    double reach = 1.0;
    while (reach < n) {
        reach *= 2.0;
        steps += 1.0;
    }
    return steps;
}

/* Chips that a whole level joins: a mesh's links are cut for that many peers, however
 * few of them the slice has. */
static double whole_members(const ridge_slice *slice, const ridge_axis *axis)
{
    double members = (double)axis->size;
    const ridge_system *system = slice->system;
    for (int i = 0; system && i < system->n_levels; i++) {
        const ridge_axis *level = &system->levels[i].axis;
        if (strcmp(level->name, axis->name) == 0)
            members = ridge__larger(members, (double)level->size);
    }
    return members;
}

static double chip_rate(const ridge_axis *axis, const ridge_span *span, double whole)
{
    if (axis->kind == RIDGE_AXIS_TORUS)
        return axis->bytes_per_s / (double)span->stride;
    if (axis->kind == RIDGE_AXIS_MESH)
        return axis->bytes_per_s * ((double)span->size - 1.0) / (whole - 1.0);
    return axis->bytes_per_s;
}

void ridge__reach_of(const ridge_slice *slice, const ridge_group *group,
                     ridge__reach *out)
{
    out->slice = slice;
    out->n = 0;
    out->n_torus = 0;
    out->ranks = 1.0;
    out->torus_ranks = 1.0;
    out->startup_s = 0.0;
    for (int i = 0; i < group->n_spans; i++) {
        const ridge_span *span = &group->spans[i];
        if (span->size < 2)
            continue;
        const ridge_axis *axis = &slice->axes[span->axis];
        ridge__level *level = &out->level[out->n++];
        level->axis = span->axis;
        level->facts = axis;
        level->members = (double)span->size;
        level->stride = (double)span->stride;
        level->has_wraparound = ridge_span_has_wraparound(slice, span);
        level->whole_members = level->members;
        if (axis->kind == RIDGE_AXIS_MESH || axis->kind == RIDGE_AXIS_BUS)
            level->whole_members = whole_members(slice, axis);
        level->chip_bytes_per_s = chip_rate(axis, span, level->whole_members);
        level->unit_chips = out->ranks;
        level->unit_bytes_per_s = level->chip_bytes_per_s * out->ranks;
        out->ranks *= level->members;
        if (axis->kind == RIDGE_AXIS_TORUS) {
            out->n_torus++;
            out->torus_ranks *= level->members;
        }
        if (axis->startup_s > out->startup_s)
            out->startup_s = axis->startup_s;
    }
}
