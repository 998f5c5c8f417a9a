/*
 * Sharded arrays of whole numbers on a mesh that is simulated in one process: every
 * rank's local array with its padding, collectives that move numbers between ranks, and
 * products rank by rank. Knows layouts only from local lengths, not from the algebra
 * under test.
 */
#ifndef RIDGE_TEST_MESH_ARRAYS_H
#define RIDGE_TEST_MESH_ARRAYS_H

#include "seeded.h"

#include "ridge/shard.h"

typedef struct mesh_array {
    const ridge_mesh *mesh;
    ridge_sharding sharding;
    int64_t sizes[RIDGE_TENSOR_DIM_MAX]; /* global */
    int64_t local[RIDGE_TENSOR_DIM_MAX]; /* with padding */
    int64_t n_local;                     /* elements of one rank */
    int64_t *values;                     /* [ranks][n_local], row-major */
} mesh_array;

/** Room for an array; values are zero. Out of memory fails the test. */
mesh_array mesh_array_new(ridge_arena *arena, const ridge_mesh *mesh,
                          const int64_t *sizes, const ridge_sharding *sharding);
/** Each rank's part of a global row-major array; partial sums are split at random. */
mesh_array mesh_array_split(ridge_arena *arena, const ridge_mesh *mesh,
                            const int64_t *sizes, const ridge_sharding *sharding,
                            const int64_t *global, seeded *at);
/** Fill every element that is no padding with small numbers, each rank its own. */
void mesh_array_fill(mesh_array *a, seeded *at);
/** The same, but alike over the ranks of the step's groups. */
void mesh_array_fill_alike(mesh_array *a, const ridge_reshard *step, seeded *at);
/** Put the parts together. @return false: replicas differ, or padding is not zero */
bool mesh_array_join(ridge_arena *arena, const mesh_array *a, int64_t *global);

/** What a collective leaves on each rank. @return false: it does not apply */
bool mesh_array_step(ridge_arena *arena, mesh_array *a, const ridge_reshard *step);
/** Sum over all ranks of the products of what they hold. */
int64_t mesh_array_dot(const mesh_array *a, const mesh_array *b);

/** The einsum of global arrays, row-major. @param out  the output's elements */
void mesh_einsum(const ridge_expr *expr, const int64_t *const *inputs, int64_t *out);
/** The same on each rank. @param sharding  how the product is said to lie
 * @return false: local lengths of a dim differ, so there is nothing to multiply */
bool mesh_array_multiply(ridge_arena *arena, const ridge_expr *expr,
                         const mesh_array *inputs, const ridge_sharding *sharding,
                         mesh_array *out);

#endif
