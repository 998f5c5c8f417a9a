/*
 * The switches of a slice: how many of each tier, of what kind, with how many cables.
 */
#ifndef RIDGE_HARDWARE_SWITCHES_H
#define RIDGE_HARDWARE_SWITCHES_H

#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_TIER_MAX = 4 };

/** One tier, the innermost first: the switches of the nodes, then the fat tree. */
typedef struct ridge_switch_tier {
    const char *name; /* "nvlink"; "leaf", "spine", "core" */
    const ridge_switch *kind;
    int64_t switches;
    int64_t cables; /* down: links of the chips, NICs, or the tier below */
    double
        bytes_per_s; /* one way, what those below can send through it, all together */
    bool is_derived; /* counted by the rule of the fat tree, not given a node */
} ridge_switch_tier;

/** All tiers of a slice, the innermost first. */
typedef struct ridge_switch_plan {
    int n; /* 0: no level says what its switches are */
    ridge_switch_tier tiers[RIDGE_TIER_MAX];
    int64_t nodes;
    double taper; /* what enters the leaves over what leaves them; 1: full bisection */
    bool is_beyond; /* more NICs than three tiers of these switches reach */
} ridge_switch_plan;

/**
 * The fewest switches that carry what the levels of a slice's network state.
 *
 * Inside a node: as many as the system says. Between nodes a fat tree of switches of k
 * ports: a leaf gives taper/(1 + taper) of its ports to NICs and the rest to the tier
 * above. One switch where all NICs fit on its ports; a second tier while it has a port
 * for each leaf: as many spines as take the leaves' cables and divide those of one
 * leaf, which so has as many to each; else three tiers, up to k leaves of k/2 groups.
 * @source scaling-book-2025, chapter 12; nvidia-superpod-2025 for 2 to 64 scalable
 * units
 */
void ridge_slice_switches(const ridge_slice *slice, ridge_switch_plan *out);

#ifdef __cplusplus
}
#endif

#endif
