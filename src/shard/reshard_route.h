/*
 * From one sharding of an array to another by collectives. Layer-internal.
 */
#ifndef RIDGE_SHARD_RESHARD_ROUTE_H
#define RIDGE_SHARD_RESHARD_ROUTE_H

#include "ridge/shard.h"

/** An array that is to lie otherwise. */
typedef struct ridge_route_task {
    const ridge_mesh *mesh;
    const int64_t *sizes; /* of its dims */
    double element_bytes;
    int operand; /* for the steps */
    ridge_sharding from, to;
} ridge_route_task;

typedef struct ridge_route {
    int n;
    ridge_reshard steps[RIDGE_RESHARD_MAX];
} ridge_route;

enum { RIDGE_ROUTE_MAX = 8 };

/**
 * The ways to go that do no needless step: each axis takes one step, or is gathered and
 * sliced again where the order of axes on a dim demands it. There are several when axes
 * are in each other's way.
 * @param out  RIDGE_ROUTE_MAX of them
 * @return how many; 0: none, for partial sums cannot be made again
 */
int ridge__routes_find(const ridge_route_task *task, ridge_route *out);

#endif
