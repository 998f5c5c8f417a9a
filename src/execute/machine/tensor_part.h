/*
 * What one rank holds of a tensor: for each dim where its part begins, how much of it
 * is real and how much padding. Knows nothing of memory.
 */
#ifndef RIDGE_EXECUTE_TENSOR_PART_H
#define RIDGE_EXECUTE_TENSOR_PART_H

#include "ridge/shard.h"

/** Local index i of a dim is global start + i; from valid on it is padding. */
typedef struct ridge__span {
    int64_t start, valid, length;
} ridge__span;

/** A rank's part of a tensor, row-major with padding. */
typedef struct ridge__tensor_part {
    int n_dims;
    ridge__span spans[RIDGE_TENSOR_DIM_MAX];
    int64_t elements; /* local, with padding; of rows of experts: of one row */
    bool is_rows;     /* rows of experts: dims 0 and 1, E and C, are as many rows as
                         tokens were routed here */
} ridge__tensor_part;

/** The part of a dim at a rank's coordinates. */
ridge__span ridge__span_of(const ridge_mesh *mesh, const ridge_dim_axes *axes,
                           int64_t size, const int64_t *coords);
/** The part of a tensor at a rank's coordinates. */
ridge__tensor_part ridge__tensor_part_of(const ridge_partition *partition, int tensor,
                                         const int64_t *coords);
/** Whether a tensor holds rows of experts: its second dim is that of a dispatch. */
bool ridge__tensor_is_rows(const ridge_program *program, int tensor);
/** Position of a program dim in a tensor; -1: it lacks it. */
int ridge__tensor_position(const ridge_tensor *tensor, int dim);
/** Product of the lengths of dims first .. end of a part. */
int64_t ridge__tensor_part_product(const ridge__tensor_part *part, int first, int end);

#endif
