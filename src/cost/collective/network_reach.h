/*
 * What a group sees of a slice's network: its levels innermost first, each with the
 * bandwidth that the group may use of it while every other group does the same.
 */
#ifndef RIDGE_COST_NETWORK_REACH_H
#define RIDGE_COST_NETWORK_REACH_H

#include "ridge/hardware.h"

/** One span of a group. A unit is what lies below it: a chip, a node, a leaf's nodes.
 */
typedef struct ridge__level {
    int axis; /* index into the slice's axes */
    const ridge_axis *facts;
    double members;          /* D: units that the group joins here, >= 2 */
    double whole_members;    /* mesh, bus: what the level joins when it is full */
    double stride;           /* torus: links between neighbours of the group */
    bool has_wraparound;     /* torus: the group closes a ring */
    double chip_bytes_per_s; /* one chip's part, one direction (torus: of one link) */
    double unit_chips;       /* the group's chips in one unit */
    double unit_bytes_per_s; /* W: out of one unit, by the group's chips in it */
} ridge__level;

typedef struct ridge__reach {
    const ridge_slice *slice;
    int n;       /* levels */
    int n_torus; /* how many of them, from the first on, are torus axes */
    double ranks;
    double torus_ranks; /* 1 without a torus axis */
    double startup_s;   /* the slowest of the levels' */
    ridge__level level[RIDGE_AXIS_MAX];
} ridge__reach;

void ridge__reach_of(const ridge_slice *slice, const ridge_group *group,
                     ridge__reach *out);

/** Share of the nominal rate that large messages reach: gathers, reductions, copies. */
double ridge__axis_efficiency(const ridge_axis *axis);
/** The same of an all-to-all. */
double ridge__axis_alltoall_efficiency(const ridge_axis *axis);
/** The same of an in-network all-reduce. */
double ridge__axis_reduce_efficiency(const ridge_axis *axis);

/** Whether chips reach each other in one hop below the NICs: switch, mesh or bus. */
bool ridge__axis_is_scale_up(const ridge_axis *axis);

/** The larger of two times; inline, unlike fmax. Neither is NaN. */
static inline double ridge__larger(double a, double b)
{
    return a > b ? a : b;
}

/** ceil(log2(n)) for n >= 1. */
double ridge__log2_steps(double n);

#endif
