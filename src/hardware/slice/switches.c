/* How many switches carry a slice's network: those of its nodes, then a fat tree. */
#include "ridge/hardware_switches.h"

#include <math.h>

static const char *const tree_names[] = {"leaf", "spine", "core"};

/* Ports that carry a chip's share of a level, over all chips; at least one, and no more
 * than any tree reaches. */
static int64_t ports_of(const ridge_slice *slice, const ridge_axis *level)
{
    const double rounding = 1e-9;
    const double ports =
        (double)slice->chips * level->bytes_per_s / level->switches->port_bytes_per_s;
    return (int64_t)ceil(fmin(fmax(ports - rounding, 1), 1e15));
}

/* The next level of NICs, which tells what leaves the leaves; the same if it is the
 * last. */
static const ridge_axis *level_above(const ridge_system *system, int level)
{
    const int above = level + 1 < system->n_levels ? level + 1 : level;
    return &system->levels[above].axis;
}

static void add_tier(ridge_switch_plan *plan, const char *name, const ridge_axis *level,
                     int64_t switches, int64_t cables)
{
    const ridge_switch *kind = level->switches;
    plan->tiers[plan->n++] =
        (ridge_switch_tier){.name = name,
                            .kind = kind,
                            .switches = switches,
                            .cables = cables,
                            .bytes_per_s = (double)cables * kind->port_bytes_per_s,
                            .is_derived = kind->count_per_node == 0};
}

/* Switches of the nodes: their chips' links, or fewer where the ports are fewer. */
static void add_node_tier(const ridge_slice *slice, const ridge_axis *level,
                          ridge_switch_plan *plan)
{
    const ridge_switch *kind = level->switches;
    const int64_t switches = plan->nodes * kind->count_per_node;
    const int64_t links = ports_of(slice, level);
    const int64_t ports = switches * kind->ports;
    add_tier(plan, level->name, level, switches, links < ports ? links : ports);
}

/* Of those that divide a leaf's cables upwards, the fewest that take all of them. */
static int64_t spines_of(int64_t leaves, int64_t up, int64_t ports)
{
    int64_t spines = ridge_ceil_div(leaves * up, ports);
    while (spines < up && up % spines != 0)
        spines++;
    return spines;
}

static void add_tree(const ridge_slice *slice, int at, ridge_switch_plan *plan)
{
    const ridge_axis *level = &slice->system->levels[at].axis;
    const int64_t k = level->switches->ports;
    const int64_t nics = ports_of(slice, level);
    const double taper =
        fmax(1.0, level->bytes_per_s / level_above(slice->system, at)->bytes_per_s);
    const int64_t down =
        (int64_t)fmin((double)k * taper / (1 + taper), (double)(k - 1));
    const int64_t up = k - down;
    const int64_t leaves = ridge_ceil_div(nics, down);
    plan->taper = nics <= k ? 1 : (double)down / (double)up;
    /* A core reaches k groups, each of half as many leaves as a spine has ports. */
    plan->is_beyond = leaves > k * (k / 2);
    if (plan->is_beyond)
        return;
    if (nics <= k) {
        add_tier(plan, tree_names[0], level, 1, nics);
        return;
    }
    add_tier(plan, tree_names[0], level, leaves, nics);
    if (leaves <= k) {
        add_tier(plan, tree_names[1], level, spines_of(leaves, up, k), leaves * up);
        return;
    }
    const int64_t spines = ridge_ceil_div(leaves * up, k / 2);
    const int64_t cables = spines * (k / 2);
    add_tier(plan, tree_names[1], level, spines, leaves * up);
    add_tier(plan, tree_names[2], level, ridge_ceil_div(cables, k), cables);
}

void ridge_slice_switches(const ridge_slice *slice, ridge_switch_plan *out)
{
    const ridge_system *system = slice->system;
    *out = (ridge_switch_plan){.taper = 1, .nodes = slice->hosts};
    for (int i = 0; i < system->n_levels; i++) {
        const ridge_axis *level = &system->levels[i].axis;
        if (level->switches == NULL)
            continue;
        if (level->switches->count_per_node > 0) {
            if (slice->chips > 1)
                add_node_tier(slice, level, out);
            continue;
        }
        if (out->nodes > 1)
            add_tree(slice, i, out);
        return;
    }
}
