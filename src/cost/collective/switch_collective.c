/*
 * Collectives on switched levels (NVLink, a mesh, a bus, leaf and spine): ring, tree,
 * direct and in-network, over one level or over all of them in one go as NCCL does.
 */
#include "collective_offer.h"

#include <math.h>

/* Cost of moving a rank's own part from input to output, in transfers of that size over
 * the link; fitted on 2, 4 and 8 ranks of A100, H100 and B200 alike (design page). */
static const double own_part_transfers = 0.4;

/* Two chips alone on a bus: 0.53 to 0.75 of one link (docs/design/collectives.md). */
static const double bus_pair_efficiency = 0.6;

/* Bytes of one message of a pipelined tree outside of a node. */
static const double tree_chunk_bytes = 512.0 * RIDGE_KIB;

typedef enum port_use { PORT_PLAIN, PORT_ALLTOALL, PORT_REDUCE } port_use;

/* Achieved rate of one chip's port. */
static double port_rate(const ridge__level *level, port_use use)
{
    double efficiency = ridge__axis_efficiency(level->facts);
    if (use == PORT_ALLTOALL) {
        efficiency = ridge__axis_alltoall_efficiency(level->facts);
    } else if (use == PORT_REDUCE) {
        efficiency = ridge__axis_reduce_efficiency(level->facts);
    }
    /* A bus is shared by the slice's chips. Without peer access 2, 4 and 8 cards reach
     * 0.6, 0.15 and 0.045 of a link: the square of their number. */
    if (level->facts->kind == RIDGE_AXIS_BUS) {
        const double few = level->whole_members / (double)level->facts->size;
        efficiency = ridge__larger(efficiency,
                                   fmin(bus_pair_efficiency, efficiency * few * few));
    }
    return level->chip_bytes_per_s * efficiency;
}

/* What one level carries: bytes out of one of its units, in physics and as achieved,
 * and in how many messages each chip's port sends them. */
typedef struct port_load {
    double bound_bytes, bytes;
    double messages; /* however few the bytes are */
    bool is_chunked; /* a tree's: more messages as the bytes grow */
    port_use use;
} port_load;

/* Count one level towards the whole: levels work at the same time, as a pipeline. */
static void add_load(ridge__terms *terms, const ridge__level *level,
                     const port_load *load)
{
    const double bound_s = load->bound_bytes / level->unit_bytes_per_s;
    const double rate = port_rate(level, load->use);
    const double bytes = load->bytes / level->unit_chips;
    double messages = load->messages;
    if (load->is_chunked)
        messages = ridge__larger(messages, bytes / tree_chunk_bytes);
    const double s = ridge__send_s(level->facts, rate, bytes, messages);
    terms->bound_bandwidth_s = ridge__larger(terms->bound_bandwidth_s, bound_s);
    if (s > terms->bandwidth_s) {
        terms->axis = level->axis;
        terms->bandwidth_s = s;
        terms->start_s = ridge__starts_s(level->facts, rate, load->messages);
    }
}

/* Latency of going once around a ring of all ranks: how often each level is crossed. */
static double ring_latency_s(const ridge__reach *reach)
{
    double s = 0.0;
    double units = reach->ranks;
    for (int i = 0; i < reach->n; i++) {
        const double above = units / reach->level[i].members;
        s += (units - above) * reach->level[i].facts->latency_s;
        units = above;
    }
    return s;
}

/* From the leaves of a tree to its root: a chain in a node, log2 steps beyond it. */
static double tree_latency_s(const ridge__reach *reach)
{
    double s = 0.0;
    for (int i = 0; i < reach->n; i++) {
        const ridge__level *level = &reach->level[i];
        const double steps = ridge__axis_is_scale_up(level->facts)
                                 ? level->members - 1.0
                                 : ridge__log2_steps(level->members);
        s += steps * level->facts->latency_s;
    }
    return s;
}

static double one_hop_latency_s(const ridge__reach *reach)
{
    double s = 0.0;
    for (int i = 0; i < reach->n; i++)
        s = ridge__larger(s, reach->level[i].facts->latency_s);
    return s;
}

/**
 * One ring through all ranks, several of them side by side so that every port is used.
 *
 *     t = passes * max_i V (N-1) / (N W_i)
 *
 * @source thakur2005 ring all-gather; scaling-book-2025 chapter 12
 */
static void offer_ring(const ridge__reach *reach, ridge_collective kind, double bytes,
                       ridge__offers *offers)
{
    const double n = reach->ranks;
    const double passes = ridge__collective_is_double(kind) ? 2.0 : 1.0;
    const bool is_gather = ridge__collective_is_gather(kind);
    const double share = is_gather ? (n - 1.0) / n : 1.0;
    const double own = is_gather ? own_part_transfers / (passes * n) : 0.0;
    ridge__terms terms = {.axis = -1};
    for (int i = 0; i < reach->n; i++) {
        const bool is_inside = ridge__axis_is_scale_up(reach->level[i].facts);
        const port_load load = {
            .bound_bytes = share * bytes,
            .bytes = (share + (is_inside ? own : 0.0)) * bytes,
            .messages = n - 1.0,
        };
        add_load(&terms, &reach->level[i], &load);
    }
    terms.bound_bandwidth_s *= passes;
    terms.bandwidth_s *= passes;
    terms.start_s *= passes;
    terms.bound_latency_s = passes * ring_latency_s(reach);
    terms.latency_s = reach->startup_s + terms.bound_latency_s;
    ridge__offer_add(offers, RIDGE_ALGORITHM_RING, &terms);
}

/**
 * Reduce up a tree and broadcast down it; two trees, each rank inner in one of them.
 *
 *     t = 2 V / W, and V / W between two
 *
 * @source sanders2009 two-tree algorithms
 */
static void offer_tree(const ridge__reach *reach, ridge_collective kind, double bytes,
                       ridge__offers *offers)
{
    const bool is_double = ridge__collective_is_double(kind);
    ridge__terms terms = {.axis = -1};
    for (int i = 0; i < reach->n; i++) {
        const ridge__level *level = &reach->level[i];
        const double sends = is_double && level->members > 2.0 ? 2.0 : 1.0;
        const port_load load = {
            .bound_bytes = sends * bytes,
            .bytes = sends * bytes,
            .messages = 1.0,
            .is_chunked = true,
        };
        add_load(&terms, level, &load);
    }
    terms.bound_latency_s = (is_double ? 2.0 : 1.0) * tree_latency_s(reach);
    terms.latency_s = reach->startup_s + terms.bound_latency_s;
    ridge__offer_add(offers, RIDGE_ALGORITHM_TREE, &terms);
}

/**
 * All-reduce with switches that add: each chip sends the array once and receives the
 * sum. Levels that cannot add run a tree.
 *
 *     t = max_i V / W_i
 *
 * @source scaling-book-2025 chapter 12
 */
static void offer_in_network(const ridge__reach *reach, double bytes,
                             ridge__offers *offers)
{
    bool can_reduce = false;
    ridge__terms terms = {.axis = -1};
    for (int i = 0; i < reach->n; i++) {
        const ridge__level *level = &reach->level[i];
        const bool adds = level->facts->can_reduce;
        const double sends = !adds && level->members > 2.0 ? 2.0 : 1.0;
        const port_load load = {
            .bound_bytes = sends * bytes,
            .bytes = sends * bytes,
            .messages = 1.0,
            .is_chunked = true,
            .use = adds ? PORT_REDUCE : PORT_PLAIN,
        };
        add_load(&terms, level, &load);
        can_reduce = can_reduce || adds;
    }
    if (!can_reduce)
        return;
    terms.bound_latency_s = 2.0 * one_hop_latency_s(reach);
    terms.latency_s = reach->startup_s +
                      ridge__larger(terms.bound_latency_s, 2.0 * tree_latency_s(reach));
    ridge__offer_add(offers, RIDGE_ALGORITHM_IN_NETWORK, &terms);
}

/**
 * All-to-all straight to each peer. Of the data of a unit of u ranks, the part for
 * ranks outside of it leaves through the unit's ports.
 *
 *     t = max_i V (u_i / N) (1 - u_i / N) / W_i
 *
 * @source scaling-book-2025 chapter 12
 */
static void offer_direct_alltoall(const ridge__reach *reach, double bytes,
                                  ridge__offers *offers)
{
    const double n = reach->ranks;
    double unit = 1.0;
    ridge__terms terms = {.axis = -1};
    for (int i = 0; i < reach->n; i++) {
        const ridge__level *level = &reach->level[i];
        const bool is_inside = ridge__axis_is_scale_up(level->facts);
        const double leaving = is_inside ? unit * (level->members - 1.0) : n - unit;
        const double own = is_inside ? own_part_transfers * unit : 0.0;
        const double pair_bytes = bytes / (n * n);
        const port_load load = {
            .bound_bytes = pair_bytes * unit * leaving,
            .bytes = pair_bytes * unit * (leaving + own),
            .messages = n - unit,
            .use = PORT_ALLTOALL,
        };
        add_load(&terms, level, &load);
        const double steps = is_inside ? ridge__log2_steps(level->members) : 1.0;
        terms.latency_s += steps * level->facts->latency_s;
        unit *= level->members;
    }
    terms.bound_latency_s = one_hop_latency_s(reach);
    terms.latency_s += reach->startup_s;
    ridge__offer_add(offers, RIDGE_ALGORITHM_DIRECT, &terms);
}

/**
 * All-gather or reduce-scatter straight to each peer: the ring's bytes in one hop. What
 * a chip posts to its peers it posts one after another, as long as a ring's steps take.
 */
static void offer_direct_gather(const ridge__reach *reach, ridge_collective kind,
                                double bytes, ridge__offers *offers)
{
    const ridge__level *level = &reach->level[0];
    const double n = level->members;
    const double passes = ridge__collective_is_double(kind) ? 2.0 : 1.0;
    const port_load load = {
        .bound_bytes = bytes * (n - 1.0) / n,
        .bytes = bytes * (n - 1.0 + own_part_transfers / passes) / n,
        .messages = n - 1.0,
    };
    ridge__terms terms = {.axis = level->axis};
    add_load(&terms, level, &load);
    terms.bound_bandwidth_s *= passes;
    terms.bandwidth_s *= passes;
    terms.start_s *= passes;
    terms.bound_latency_s = passes * level->facts->latency_s;
    terms.latency_s = reach->startup_s + passes * (n - 1.0) * level->facts->latency_s;
    ridge__offer_add(offers, RIDGE_ALGORITHM_DIRECT, &terms);
}

/* What each peer adds to the start of a kernel that waits for all: flags to set and to
 * see. Fitted on 2, 4 and 8 ranks of A100, H100 and B200. @source achieved-2025 */
static const double PEER_FLAG_S = 0.2e-6;

/**
 * All-reduce in one kernel: a chip reads the whole array of every peer and adds.
 *
 *     t = start + (N-1) (flag + V / W)
 *
 * @source tensorrt-llm-kernels-2025
 */
void ridge__kernel_offers(const ridge__reach *reach, ridge_collective kind,
                          double bytes, ridge__offers *offers)
{
    const ridge__level *level = &reach->level[0];
    if (kind != RIDGE_COLLECTIVE_ALL_REDUCE || reach->n != 1 ||
        level->facts->kernel_startup_s <= 0)
        return;
    const double peers = level->members - 1.0;
    const double rate = port_rate(level, PORT_PLAIN);
    const ridge__terms terms = {
        .bound_bandwidth_s = peers * bytes / level->chip_bytes_per_s,
        .bound_latency_s = level->facts->latency_s,
        .bandwidth_s = peers * bytes / rate,
        .latency_s = level->facts->kernel_startup_s + peers * PEER_FLAG_S,
        .axis = level->axis,
    };
    ridge__offer_add(offers, RIDGE_ALGORITHM_ONE_SHOT, &terms);
}

void ridge__switch_offers(const ridge__reach *reach, ridge_collective kind,
                          double bytes, ridge__offers *offers)
{
    if (kind == RIDGE_COLLECTIVE_ALL_TO_ALL) {
        offer_direct_alltoall(reach, bytes, offers);
        return;
    }
    offer_ring(reach, kind, bytes, offers);
    if (kind == RIDGE_COLLECTIVE_ALL_REDUCE || kind == RIDGE_COLLECTIVE_BROADCAST)
        offer_tree(reach, kind, bytes, offers);
    if (kind == RIDGE_COLLECTIVE_ALL_REDUCE)
        offer_in_network(reach, bytes, offers);
    if (reach->n == 1 && ridge__collective_is_gather(kind))
        offer_direct_gather(reach, kind, bytes, offers);
}
