/* How unevenly the last step's tokens chose experts. */
#ifndef RIDGE_EXECUTE_ROWS_LOAD_H
#define RIDGE_EXECUTE_ROWS_LOAD_H

#include "runner.h"

/**
 * Rows of experts on the busiest rank over the mean of its stage's ranks, each product
 * of the last step weighed by its rows. All ranks call it together.
 *
 * @param out  0: there are no experts; on each rank the same
 * @errors E_NOMEM, those of collectives
 */
RIDGE_NODISCARD ridge_status ridge__rows_load(ridge__runner *r, double *out);

#endif
