/* Gradients of one call that have to be added to what their values hold, by kernels
 * that overwrite: made beside them first. */
#ifndef RIDGE_EXECUTE_GRADIENT_SUMS_H
#define RIDGE_EXECUTE_GRADIENT_SUMS_H

#include "machine.h"

typedef struct ridge__gradient_sums {
    int n;
    int output[RIDGE_OP_OUTPUT_MAX]; /* outputs whose arrays are scratch */
    ridge__array array[RIDGE_OP_OUTPUT_MAX];
} ridge__gradient_sums;

/** Where a kernel is to write an output. @param output  -1: *out is none
 * @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__gradient_array(ridge__call *c, int output,
                                                   ridge__gradient_sums *s,
                                                   ridge__array *out);
/** Add what was made beside. */
RIDGE_NODISCARD ridge_status ridge__gradient_sums_finish(ridge__call *c,
                                                         ridge__gradient_sums *s);
/** Add an array of the output's elements to it. */
RIDGE_NODISCARD ridge_status ridge__output_add(ridge__call *c, int output,
                                               ridge__array from);

#endif
