/*
 * New weights by counter: an element's number depends on the weight's name, its layer
 * and its place in the whole array alone, so that every layout starts alike.
 */
#ifndef RIDGE_EXECUTE_NEW_WEIGHTS_H
#define RIDGE_EXECUTE_NEW_WEIGHTS_H

#include "team.h"

#include "ridge/execute_weights.h"

/** Which numbers a weight gets. */
typedef struct ridge__new_weight {
    uint64_t key;
    float scale;                /* standard deviation */
    const ridge_region *region; /* of the whole array */
} ridge__new_weight;

/** @param layer  of the model; -1: of none */
uint64_t ridge__new_weight_key(const char *name, int64_t layer, uint64_t seed);
/**
 * Normal numbers for the elements of a region, by all threads of a team.
 * @param out  dense and row-major, as many as the region has
 */
void ridge__new_weight_fill(ridge__team *team, const ridge__new_weight *weight,
                            float *out);

/** The same of numbers that are even over 0 .. 1; scale is not heeded. */
void ridge__new_weight_uniform(const ridge__new_weight *weight, float *out);

#endif
