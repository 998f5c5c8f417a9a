/*
 * Collectives: their names, what each algorithm asks for on a group, and the cheapest.
 * The algorithms' formulas are in ring.c, torus_collective.c, switch_collective.c,
 * hierarchy.c and point_to_point.c.
 */
#include "collective_offer.h"

#include <math.h>

static const char *const collective_texts[] = {
#define COLLECTIVE_TEXT(name, text) text,
    RIDGE_COLLECTIVE_LIST(COLLECTIVE_TEXT)
#undef COLLECTIVE_TEXT
};

typedef struct algorithm_row {
    const char *text, *what;
} algorithm_row;

static const algorithm_row algorithm_rows[] = {
#define ALGORITHM_ROW(name, text, what) {text, what},
    RIDGE_ALGORITHM_LIST(ALGORITHM_ROW)
#undef ALGORITHM_ROW
};

const char *ridge_collective_text(ridge_collective kind)
{
    return collective_texts[kind];
}

const char *ridge_algorithm_text(ridge_algorithm algorithm)
{
    return algorithm_rows[algorithm].text;
}

const char *ridge_algorithm_what(ridge_algorithm algorithm)
{
    return algorithm_rows[algorithm].what;
}

/* Compare names by their letters and digits alone, in any case. */
static bool is_same_name(const char *a, const char *b)
{
    for (;;) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        const int x = *a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a;
        const int y = *b >= 'A' && *b <= 'Z' ? *b - 'A' + 'a' : *b;
        if (x != y)
            return false;
        if (x == '\0')
            return true;
        a++;
        b++;
    }
}

ridge_status ridge_collective_parse(ridge_ctx *cx, const char *text,
                                    ridge_collective *out)
{
    static const struct {
        const char *name;
        ridge_collective kind;
    } aliases[] = {
        {"ag", RIDGE_COLLECTIVE_ALL_GATHER},
        {"rs", RIDGE_COLLECTIVE_REDUCE_SCATTER},
        {"ar", RIDGE_COLLECTIVE_ALL_REDUCE},
        {"psum", RIDGE_COLLECTIVE_ALL_REDUCE},
        {"a2a", RIDGE_COLLECTIVE_ALL_TO_ALL},
        {"bcast", RIDGE_COLLECTIVE_BROADCAST},
        {"p2p", RIDGE_COLLECTIVE_SEND_RECV},
        {"permute", RIDGE_COLLECTIVE_SEND_RECV},
        {"sendrecv", RIDGE_COLLECTIVE_SEND_RECV},
    };
    for (int i = 0; i < RIDGE_COLLECTIVE_COUNT; i++) {
        if (is_same_name(text, collective_texts[i])) {
            *out = (ridge_collective)i;
            return RIDGE_OK;
        }
    }
    for (size_t i = 0; i < RIDGE_COUNT_OF(aliases); i++) {
        if (is_same_name(text, aliases[i].name)) {
            *out = aliases[i].kind;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown collective '%.40s': it is all-gather (ag), "
                      "reduce-scatter (rs), all-reduce (ar), all-to-all (a2a), "
                      "broadcast or send-recv",
                      text);
}

/* Bytes/s that were measured for a group of that many on its one level; 0: none. */
static double measured_rate(const ridge__reach *reach, ridge_collective kind,
                            double bytes)
{
    const ridge_measured_level *measured = reach->level[0].facts->measured;
    const double at[] = {reach->ranks, fmax(bytes, 1.0)};
    if (reach->n > 1 || measured == NULL)
        return 0.0;
    const ridge_grid *grid =
        ridge_grid_find(&measured->collective, collective_texts[kind]);
    return grid != NULL ? ridge_grid_rate(grid, at) : 0.0;
}

/* Then over now of a fact of the level: times go with it. */
static double changed(double then, double now)
{
    return then > 0.0 && now > 0.0 ? then / now : 1.0;
}

/* What was measured stands first, and is what is expected; the bound stays that of the
 * best algorithm. */
static void put_measured(const ridge__reach *reach, ridge_collective kind, double bytes,
                         ridge__offers *offers)
{
    const double rate = measured_rate(reach, kind, bytes);
    if (rate <= 0.0)
        return;
    const ridge_axis *level = reach->level[0].facts;
    const double then_s = bytes / rate;
    const double then_start_s = fmin(then_s, 1.0 / measured_rate(reach, kind, 1.0));
    const double start_s =
        then_start_s / changed(level->measured->latency_s, level->latency_s);
    const double bandwidth_s =
        (then_s - then_start_s) *
        changed(level->measured->bytes_per_s, level->bytes_per_s);
    const double s = start_s + bandwidth_s;
    const ridge__terms terms = {.bound_bandwidth_s = s,
                                .bandwidth_s = bandwidth_s,
                                .latency_s = start_s,
                                .axis = reach->level[0].axis};
    for (int i = 0; i < offers->n; i++) {
        offers->at[i].is_in_libraries = false;
        offers->at[i].cost.bound_s = fmin(s, offers->at[i].cost.bound_s);
    }
    ridge__offer_add(offers, RIDGE_ALGORITHM_MEASURED, &terms);
    const ridge__offer first = offers->at[0];
    offers->at[0] = offers->at[offers->n - 1];
    offers->at[offers->n - 1] = first;
}

static void algorithms_of(const ridge__reach *reach, ridge_collective kind,
                          double bytes, ridge__offers *offers)
{
    offers->n = 0;
    if (kind == RIDGE_COLLECTIVE_SEND_RECV) {
        ridge__neighbour_offers(reach, bytes, offers);
        return;
    }
    if (reach->n_torus == reach->n) {
        if (reach->n == 1) {
            ridge__ring_offers(reach, kind, bytes, offers);
        } else {
            ridge__torus_offers(reach, kind, bytes, offers);
        }
        return;
    }
    if (reach->n_torus == 0)
        ridge__switch_offers(reach, kind, bytes, offers);
    const bool is_direct_best =
        reach->n_torus == 0 && kind == RIDGE_COLLECTIVE_ALL_TO_ALL;
    if (reach->n > 1 && !is_direct_best)
        ridge__hierarchy_offers(reach, kind, bytes, offers);
}

static void offers_of(const ridge__reach *reach, ridge_collective kind, double bytes,
                      ridge__offers *offers)
{
    algorithms_of(reach, kind, bytes, offers);
    put_measured(reach, kind, bytes, offers);
}

/* The cheapest by expectation; the first where two are equal. */
static const ridge__offer *cheapest(const ridge__offers *offers)
{
    const ridge__offer *best = &offers->at[0];
    for (int i = 1; i < offers->n; i++) {
        const ridge__offer *offer = &offers->at[i];
        if (offer->is_in_libraries && offer->cost.expected_s < best->cost.expected_s)
            best = offer;
    }
    return best;
}

static const ridge__offer *cheapest_bound(const ridge__offers *offers)
{
    const ridge__offer *best = &offers->at[0];
    for (int i = 1; i < offers->n; i++) {
        if (offers->at[i].cost.bound_s < best->cost.bound_s)
            best = &offers->at[i];
    }
    return best;
}

/* Bytes that a rank's port must carry for each byte of V, as nccl-tests count them. */
static double bus_factor(ridge_collective kind, double ranks)
{
    switch (kind) {
    case RIDGE_COLLECTIVE_ALL_GATHER:
    case RIDGE_COLLECTIVE_REDUCE_SCATTER:
        return (ranks - 1.0) / ranks;
    case RIDGE_COLLECTIVE_ALL_REDUCE:
        return 2.0 * (ranks - 1.0) / ranks;
    case RIDGE_COLLECTIVE_ALL_TO_ALL:
        return (ranks - 1.0) / (ranks * ranks);
    case RIDGE_COLLECTIVE_BROADCAST:
    case RIDGE_COLLECTIVE_SEND_RECV:
        return 1.0;
    }
    return 1.0;
}

static ridge_collective_cost nothing_moves(void)
{
    return (ridge_collective_cost){
        .bound_by = RIDGE_BOUND_LATENCY,
        .slowest_axis = -1,
        .algorithm = RIDGE_ALGORITHM_NONE,
        .n_algorithms = 1,
        .algorithms = {{.algorithm = RIDGE_ALGORITHM_NONE}},
    };
}

ridge_collective_cost ridge_collective_price(const ridge_slice *slice,
                                             ridge_collective kind, double bytes,
                                             const ridge_group *group)
{
    return ridge_collective_price_by(slice, kind, bytes, group, RIDGE_COMM_NCCL);
}

/* From the host's call to the start on the device: calls of vLLM and PyTorch outside of
 * a graph, less those of NCCL's own tests. @source achieved-2025 */
static const double EAGER_S = 14e-6;

/* Chips that post their own messages keep a NIC busy: short ones cost no more than
 * their bytes. DeepEP's kernels for few tokens on 16 to 256 ranks; a proxy on the host,
 * as NCCL's, starts one after another. @source deepep-2025 */
static void post_from_device(ridge_collective kind, ridge__offers *offers)
{
    for (int i = 0; i < offers->n && kind == RIDGE_COLLECTIVE_ALL_TO_ALL; i++) {
        offers->at[i].cost.expected_s -= offers->at[i].start_s;
        offers->at[i].cost.latency_s -= offers->at[i].start_s;
    }
}

/* What another library adds: kernels of its own, or the host's call before each. */
static void add_library(const ridge__reach *reach, ridge_collective kind, double bytes,
                        ridge_comm_library library, ridge__offers *offers)
{
    switch (library) {
    case RIDGE_COMM_NCCL:
        return;
    case RIDGE_COMM_KERNELS:
        ridge__kernel_offers(reach, kind, bytes, offers);
        return;
    case RIDGE_COMM_DEVICE:
        ridge__kernel_offers(reach, kind, bytes, offers);
        post_from_device(kind, offers);
        return;
    case RIDGE_COMM_EAGER:
        for (int i = 0; i < offers->n; i++) {
            offers->at[i].cost.expected_s += EAGER_S;
            offers->at[i].cost.latency_s += EAGER_S;
        }
        return;
    }
}

ridge_collective_cost ridge_collective_price_by(const ridge_slice *slice,
                                                ridge_collective kind, double bytes,
                                                const ridge_group *group,
                                                ridge_comm_library library)
{
    ridge__reach reach;
    ridge__reach_of(slice, group, &reach);
    if (reach.n == 0)
        return nothing_moves();
    ridge__offers offers;
    offers_of(&reach, kind, bytes, &offers);
    add_library(&reach, kind, bytes, library, &offers);
    const ridge__offer *best = cheapest(&offers);
    ridge_collective_cost cost = {
        .bound_s = cheapest_bound(&offers)->cost.bound_s,
        .expected_s = best->cost.expected_s,
        .bound_by = best->cost.latency_s > best->cost.bandwidth_s ? RIDGE_BOUND_LATENCY
                                                                  : RIDGE_BOUND_NETWORK,
        .slowest_axis = best->axis,
        .algorithm = best->cost.algorithm,
        .n_algorithms = offers.n,
    };
    if (cost.expected_s > 0.0)
        cost.bus_bytes_per_s = bytes * bus_factor(kind, reach.ranks) / cost.expected_s;
    for (int i = 0; i < offers.n; i++)
        cost.algorithms[i] = offers.at[i].cost;
    return cost;
}

ridge_time ridge_collective_time(const ridge_slice *slice, ridge_collective kind,
                                 double bytes, const ridge_group *group)
{
    ridge__reach reach;
    ridge__reach_of(slice, group, &reach);
    if (reach.n == 0)
        return (ridge_time){0.0, 0.0};
    ridge__offers offers;
    offers_of(&reach, kind, bytes, &offers);
    return (ridge_time){
        .bound_s = cheapest_bound(&offers)->cost.bound_s,
        .expected_s = cheapest(&offers)->cost.expected_s,
    };
}

double ridge_collective_critical_bytes(const ridge_slice *slice, ridge_collective kind,
                                       const ridge_group *group)
{
    ridge__reach reach;
    ridge__reach_of(slice, group, &reach);
    if (reach.n == 0)
        return 0.0;
    /* The bandwidth part rises with the size: halve the interval of its logarithm. */
    double low = 0.0;
    double high = 60.0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        ridge__offers offers = {0};
        offers_of(&reach, kind, exp2(middle), &offers);
        const ridge_algorithm_cost *best = &cheapest(&offers)->cost;
        if (best->latency_s > best->bandwidth_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return exp2(high);
}

double ridge_collective_bound_critical_bytes(const ridge_slice *slice,
                                             ridge_collective kind,
                                             const ridge_group *group)
{
    const double large = 0x1p60; /* so that bytes alone count */
    const double hops_s = ridge_collective_time(slice, kind, 0, group).bound_s;
    const double bytes_s = ridge_collective_time(slice, kind, large, group).bound_s;
    return bytes_s > 0.0 ? hops_s / bytes_s * large : 0.0;
}

double ridge_group_ridge_point(const ridge_slice *slice, const ridge_group *group,
                               ridge_dtype dtype)
{
    ridge__reach reach;
    ridge__reach_of(slice, group, &reach);
    if (reach.n == 0)
        return 0.0;
    double torus_rate = 0.0;
    double rate = (double)INFINITY;
    for (int i = 0; i < reach.n; i++) {
        const ridge__level *level = &reach.level[i];
        if (level->facts->kind == RIDGE_AXIS_TORUS) {
            torus_rate += level->chip_bytes_per_s * (level->has_wraparound ? 2.0 : 1.0);
        } else {
            rate = fmin(rate, level->unit_bytes_per_s);
        }
    }
    if (torus_rate > 0.0)
        rate = fmin(rate, torus_rate);
    return ridge_chip_peak(slice->chip, dtype, NULL) / rate;
}
