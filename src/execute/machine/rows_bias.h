/* Biases of experts, which go with rows that are as many as tokens were routed. */
#ifndef RIDGE_EXECUTE_ROWS_BIAS_H
#define RIDGE_EXECUTE_ROWS_BIAS_H

#include "machine.h"

/** Whether a call makes rows from rows and something of each expert. */
bool ridge__rows_have_bias(const ridge__call *c);
/** y = f(a, b), b being one row of each expert. @param all  its arrays, not its sizes
 */
RIDGE_NODISCARD ridge_status ridge__rows_bias_add(ridge__call *c,
                                                  const ridge__elementwise *all);
/** An einsum of rows alone: their sum for each expert. */
RIDGE_NODISCARD ridge_status ridge__rows_bias_gradient(ridge__call *c);

#endif
