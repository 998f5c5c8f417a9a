/*
 * A chip's network for display: levels of its default system.
 */
#include "chip_network.h"

#include "ridge/cost.h"

const ridge_system *ridge__chip_system(ridge_ctx *cx, const ridge_catalog *catalog,
                                       const ridge_chip *chip)
{
    const ridge_system *system = NULL;
    if (!chip->default_system)
        return NULL;
    if (ridge_system_find(cx, catalog, chip->default_system, &system) != RIDGE_OK)
        ridge_ctx_clear(cx);
    return system;
}

static int inner_count(const ridge_system *system)
{
    return system->torus_dims ? 1 : system->n_levels;
}

int ridge__system_axis_count(const ridge_system *system)
{
    return inner_count(system) + (system->has_dcn ? 1 : 0);
}

ridge_axis ridge__system_axis(const ridge_system *system, int index)
{
    if (index >= inner_count(system))
        return system->dcn;
    return system->torus_dims ? system->torus_axis : system->levels[index].axis;
}

double ridge__axis_ridge_point(const ridge_system *system, int index, ridge_dtype dtype)
{
    enum { SIZE_WHEN_OPEN = 8 }; /* of a level without a limit; the ridge is the same */
    ridge_axis axis = ridge__system_axis(system, index);
    if (axis.size < 2)
        axis.size = SIZE_WHEN_OPEN;
    if (axis.kind == RIDGE_AXIS_TORUS)
        axis.has_wraparound = system->wrap_rule != RIDGE_WRAP_NEVER;
    ridge_slice slice = {.chip = system->chip,
                         .system = system,
                         .chips = axis.size,
                         .slices = 1,
                         .n_axes = 1,
                         .axes = {axis}};
    ridge_group group = {
        .n_spans = 1, .spans = {{0, axis.size, 1}}, .ranks = axis.size};
    return ridge_group_ridge_point(&slice, &group, dtype);
}
