/*
 * Arrays of a simulated mesh: each rank holds its part of a tensor, padded, and knows
 * which global indices it has. Reading what a rank does not hold fails the test.
 */
#ifndef RIDGE_TEST_MESH_PART_H
#define RIDGE_TEST_MESH_PART_H

#include "ridge/shard.h"

/** The part of a dim that a rank holds: local index i is global start + i. */
typedef struct mesh_span {
    int64_t start, valid, length; /* valid <= length: the rest is padding, all zero */
} mesh_span;

/** One rank's part of a tensor. */
typedef struct mesh_part {
    const ridge_tensor *tensor;
    mesh_span spans[RIDGE_TENSOR_DIM_MAX];
    int64_t n; /* local elements, with padding */
    double *data;
    /* a softmax under way over a cut dim: data is the label's logit */
    int stage; /* 1: own largest logit and sum, 2: largest of all; 0: none */
    double *top, *sum;
} mesh_part;

/** What a rank at these coordinates holds of a dim. */
mesh_span mesh_span_of(const ridge_mesh *mesh, const ridge_dim_axes *cut, int64_t size,
                       const int64_t *coords);
mesh_part *mesh_part_new(ridge_arena *arena, const ridge_program *program,
                         const ridge_mesh *mesh, int tensor, const ridge_sharding *s,
                         const int64_t *coords);

/** Place of global indices g[program dim]; -1: the rank does not hold it. */
int64_t mesh_place(const mesh_part *a, const int64_t *g);
/** The element; fails the test if the rank does not hold it. */
double *mesh_at(const mesh_part *a, const int64_t *g);
/** The part of a program dim; fails the test if the array has no such dim. */
mesh_span mesh_span_find(const mesh_part *a, int dim);
bool mesh_has_dim(const mesh_part *a, int dim);

/** Loops over ranges of program dims. */
typedef struct mesh_walk {
    int n;
    int dim[2 * RIDGE_TENSOR_DIM_MAX];
    int64_t low[2 * RIDGE_TENSOR_DIM_MAX], high[2 * RIDGE_TENSOR_DIM_MAX];
} mesh_walk;

/** Add a dim once; a second array with it must hold the same part. */
void mesh_walk_add(mesh_walk *w, int dim, mesh_span span);
/** Add the dims of an array, but for the last @p but. */
void mesh_walk_array(mesh_walk *w, const mesh_part *a, int but);
/** @return false if there is nothing to walk over */
bool mesh_walk_first(const mesh_walk *w, int64_t *g);
bool mesh_walk_next(const mesh_walk *w, int64_t *g);

#endif
