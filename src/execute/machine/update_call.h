/*
 * Updates of weights by rule: what each takes from the call, and what those over whole
 * matrices need to see more than a rank's part.
 */
#ifndef RIDGE_EXECUTE_UPDATE_CALL_H
#define RIDGE_EXECUTE_UPDATE_CALL_H

#include "machine.h"

/** n elements of an array into another, of its own format. */
RIDGE_NODISCARD ridge_status ridge__array_copy(ridge__call *c, ridge__array from,
                                               ridge__array to, int64_t n);

/** The numbers and arrays of an update but for its moments. */
ridge__update ridge__update_of(const ridge__call *c);
/** The first input behind a master copy. */
int ridge__update_first_state(const ridge__call *c);
/** fp32 copy of the gradient, scaled as the step says. Scratch of the caller. */
RIDGE_NODISCARD ridge_status ridge__update_gradient(ridge__call *c, ridge__array *out);
/** w -= rate (step + decay w) on the master where there is one. @param step  like w */
RIDGE_NODISCARD ridge_status ridge__update_step(ridge__call *c, ridge__array step,
                                                float scale);

RIDGE_NODISCARD ridge_status ridge__update_blocks(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__update_muon(ridge__call *c);
RIDGE_NODISCARD ridge_status ridge__update_adafactor(ridge__call *c);

/** A rank's part of a weight as matrices [batch, rows, columns]: local lengths with
 * padding, and the whole matrix's. */
typedef struct ridge__local_matrix {
    int64_t batch, rows, columns;
    int64_t whole_rows, whole_columns;
    int rows_at, columns_at, n_dims; /* first dims of rows and of columns */
} ridge__local_matrix;

/** Of the weight of an update. @return false if no einsum of a layer reads it */
bool ridge__local_matrix_of(const ridge__call *c, int input, ridge__local_matrix *out);

/** fp32 values added up over the mesh axes that cut an input's dims first .. end. Host
 * memory, in place. */
RIDGE_NODISCARD ridge_status ridge__share_over_cut(ridge__call *c, int input, int first,
                                                   int end, float *values, int64_t n);

#endif
