/*
 * The levels between nodes: what a fabric or a node's NICs tell of them; the rest is
 * that of the base's leaf and spine.
 */
#include "topology_draft.h"

#include <string.h>

/* ---- rates ----------------------------------------------------------------------- */

static ridge_status set_rate(system_draft *d, level_draft *level, double bytes_per_s,
                             const char *note)
{
    if (note == NULL)
        return ridge_fail_nomem(d->cx);
    level->rate = *d->origin;
    level->rate.key = "bytes_per_s";
    level->rate.value = bytes_per_s;
    level->rate.note = note;
    return RIDGE_OK;
}

/** NICs of a node together. */
typedef struct nic_sum {
    double bytes_per_s;
    int n;             /* of them with a rate */
    const char *by_id; /* kind of one whose rate its PCI id tells, or NULL */
} nic_sum;

static nic_sum sum_nics(const system_draft *d)
{
    const ridge_node_topology *node = &d->topology->node;
    nic_sum sum = {0};
    for (int i = 0; i < node->n_nics; i++) {
        const device_row *row =
            ridge__device_find(d->devices, DEVICE_NIC, node->nics[i].pci_id);
        double own = node->nics[i].bytes_per_s;
        if (own <= 0 && row != NULL) {
            own = row->rate.value;
            sum.by_id = row->full_name;
        }
        sum.bytes_per_s += own;
        sum.n += own > 0;
    }
    return sum;
}

/* A chip's share of its node's NICs. */
static ridge_status set_nic_rate(system_draft *d, level_draft *level)
{
    const nic_sum sum = sum_nics(d);
    if (sum.n == 0)
        return RIDGE_OK;
    return set_rate(d, level, sum.bytes_per_s / (double)d->chips_per_node,
                    ridge_sprintf(ridge_ctx_arena(d->cx),
                                  "%s: %d NICs of %s together for %d chips%s%s",
                                  ridge__draft_file(d->topology), sum.n,
                                  ridge_format_si(sum.bytes_per_s * 8, "bit/s").s,
                                  (int)d->chips_per_node,
                                  sum.by_id != NULL ? "; by PCI id, " : "",
                                  sum.by_id != NULL ? sum.by_id : ""));
}

/* The same of a network's adapters, less where switches have fewer links up than
 * down. */
static ridge_status set_adapter_rate(system_draft *d, level_draft *level, double share)
{
    const ridge_fabric *f = &d->topology->fabric;
    const double host = (double)ridge__host_chips(d->base);
    const double node = f->adapter_bytes_per_s * (double)f->adapters_per_node;
    if (node <= 0)
        return RIDGE_OK;
    return set_rate(
        d, level, node * share / host,
        ridge_sprintf(ridge_ctx_arena(d->cx),
                      "%s: %d adapters of %s for %d chips of a host%s",
                      ridge__draft_file(d->topology), (int)f->adapters_per_node,
                      ridge_format_si(f->adapter_bytes_per_s * 8, "bit/s").s, (int)host,
                      share < 1 ? ridge_sprintf(ridge_ctx_arena(d->cx),
                                                "; of it %s on the links up",
                                                ridge_format_percent(share).s)
                                : ""));
}

static ridge_status set_message_rate(system_draft *d, level_draft *level)
{
    const ridge_fabric *f = &d->topology->fabric;
    const double host = (double)ridge__host_chips(d->base);
    const char *note = ridge_sprintf(
        ridge_ctx_arena(d->cx),
        "%s: median of %d messages, times %d adapters for %d chips; what the figures "
        "below take off comes on top",
        ridge__draft_file(d->topology), (int)f->messages, (int)f->adapters_per_node,
        (int)host);
    RIDGE_TRY(set_rate(
        d, level, f->message_bytes_per_s * (double)f->adapters_per_node / host, note));
    level->latency = *d->origin;
    level->latency.key = "latency_s";
    level->latency.value = f->message_latency_s;
    level->latency.note = "median of the measured messages";
    return RIDGE_OK;
}

/* ---- levels ---------------------------------------------------------------------- */

/* The base's fabrics, with the rate that the file tells. */
static ridge_status keep_fabrics(system_draft *d)
{
    for (int i = ridge__first_fabric(d->base); i < d->base->n_levels; i++) {
        if (d->n_levels == RIDGE_LEVEL_MAX)
            break;
        ridge__draft_base_level(d, i);
        level_draft *level = &d->levels[d->n_levels - 1];
        RIDGE_TRY(d->topology->fabric.messages > 0 ? set_message_rate(d, level)
                                                   : set_nic_rate(d, level));
    }
    return RIDGE_OK;
}

/* Chips of an NVLink domain, where the file tells its nodes. */
static ridge_status set_domain(system_draft *d)
{
    const ridge_fabric *f = &d->topology->fabric;
    const int64_t host = ridge__host_chips(d->base);
    const int64_t chips = f->domain_nodes * host;
    if (f->domain_nodes == 0 || chips == d->chips_per_node)
        return RIDGE_OK;
    if (host == d->base->chips_per_node || d->levels[0].kind != RIDGE_AXIS_SWITCH) {
        return ridge_fail(d->cx, RIDGE_E_ARG,
                          "%s: NVLink domains of %d nodes, and those of %s are a node "
                          "each: name a system of racks, as in gb200@FILE",
                          d->topology->file, (int)f->domain_nodes, d->base->name);
    }
    d->levels[0].size = chips;
    d->chips_per_node = chips;
    return RIDGE_OK;
}

/* Members of a level in units of the level below. A leaf's are what the levels inside
 * make: nodes, or NVLink domains of several. */
static int64_t members_of(const system_draft *d, int level)
{
    const ridge_fabric *f = &d->topology->fabric;
    int64_t members = f->levels[level].members;
    if (level == 0) {
        const int64_t hosts =
            ridge_ceil_div(d->chips_per_node, ridge__host_chips(d->base));
        members = members / (hosts > 0 ? hosts : 1);
    } else if (level == 1 && f->has_rails && f->adapters_per_node > 0) {
        members = members / f->adapters_per_node; /* leaves of a rail each */
    }
    return members > 0 ? members : 1;
}

static ridge_status add_fabrics(system_draft *d)
{
    const ridge_fabric *f = &d->topology->fabric;
    const int first = ridge__first_fabric(d->base), last = d->base->n_levels - 1;
    double share = 1;
    for (int i = 0; i < f->n_levels && d->n_levels < RIDGE_LEVEL_MAX; i++) {
        const int like = first + i < last ? first + i : last;
        const bool is_top = i + 1 == f->n_levels || d->n_levels + 1 == RIDGE_LEVEL_MAX;
        level_draft level = {.name = f->levels[i].name,
                             .kind = RIDGE_AXIS_FABRIC,
                             .size = is_top ? 0 : members_of(d, i),
                             .like = d->base,
                             .like_level = like};
        RIDGE_TRY(set_adapter_rate(d, &level, share));
        if (level.size != 1) /* leaves of one rack each join nothing */
            d->levels[d->n_levels++] = level;
        if (f->levels[i].up_bytes_per_s > 0 &&
            f->levels[i].up_bytes_per_s < f->levels[i].down_bytes_per_s)
            share *= f->levels[i].up_bytes_per_s / f->levels[i].down_bytes_per_s;
    }
    return RIDGE_OK;
}

ridge_status ridge__draft_fabrics(system_draft *d)
{
    if (d->topology->fabric.n_levels == 0)
        return keep_fabrics(d);
    RIDGE_TRY(set_domain(d));
    return add_fabrics(d);
}

ridge_status ridge__draft_dims(system_draft *d)
{
    static const char *const names[RIDGE_NETWORK_DIM_MAX] = {"dim-1", "dim-2", "dim-3",
                                                             "dim-4"};
    const ridge_topology *t = d->topology;
    for (int i = 0; i < t->n_dims; i++) {
        const ridge_network_dim *dim = &t->dims[i];
        if (dim->kind == RIDGE_AXIS_TORUS) {
            return ridge_fail(d->cx, RIDGE_E_ARG,
                              "%s: a ring beside other dimensions is not priced: "
                              "networks of rings alone are, and those without one",
                              t->file);
        }
        /* Beyond the first dimension a switch is one of a scale-out network. */
        level_draft level = {.name = names[i],
                             .kind = i > 0 ? RIDGE_AXIS_FABRIC : dim->kind,
                             .size = dim->size,
                             .is_ideal = true};
        level.rate = level.latency = *d->origin;
        level.rate.key = "bytes_per_s";
        level.rate.note = level.latency.note = ridge__draft_file(t);
        level.rate.value = dim->bytes_per_s;
        level.latency.key = "latency_s";
        level.latency.value = dim->latency_s;
        d->levels[d->n_levels++] = level;
    }
    d->chips_per_node = t->dims[0].size;
    return RIDGE_OK;
}
