/* Arrays of known values for tests of collectives, and what a plain serial computation
 * makes of them. */
#ifndef RIDGE_TEST_COMM_DATA_H
#define RIDGE_TEST_COMM_DATA_H

#include "ridge/execute_comm.h"

/** n elements of a rank: any finite bits that differ in size enough for the order of a
 * sum to show. NULL: no memory. */
void *comm_data_new(ridge_ctx *cx, ridge_element element, int64_t n, uint64_t seed,
                    int rank);
/** Room for n elements, filled with a pattern that no result has. NULL: no memory. */
void *comm_data_room(ridge_ctx *cx, ridge_element element, int64_t n);

/** out[at] = sum (or largest) of sources[r][from] over n ranks in order, as defined:
 * bf16 in fp32 and rounded once. */
typedef struct comm_data_sum {
    ridge_element element;
    ridge_reduce reduce;
    int n;
    const void *const *sources;
} comm_data_sum;

void comm_data_reduce(const comm_data_sum *sum, int64_t from, void *out, int64_t at);
/** Copy one element, or set it to 0 where src is NULL. */
void comm_data_set(ridge_element element, void *out, int64_t at, const void *src,
                   int64_t from);

/** Fail unless n elements have the same bits. */
RIDGE_NODISCARD ridge_status comm_data_compare(ridge_ctx *cx, const char *what,
                                               ridge_element element, const void *found,
                                               const void *wanted, int64_t n);

#endif
