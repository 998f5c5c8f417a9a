/* A partitioned program against the whole one, on the simulated mesh. */
#ifndef RIDGE_TEST_PARTITION_COMPARE_H
#define RIDGE_TEST_PARTITION_COMPARE_H

#include "ridge/shard.h"

/** What to run, and what to say if it differs. */
typedef struct partition_case {
    const char *name;
    uint64_t seed; /* of the values */
    bool is_whole; /* whole numbers: equal to the last digit */
    const ridge_program *program;
    const ridge_partition *partition;
} partition_case;

/**
 * Run both from the same values; every tensor of the program must be the same in every
 * repetition, exactly or within 1e-9 of its largest element. Rows of experts are left
 * out: ranks hand them out in another order. Fails the test with the partition's text.
 */
void partition_compare(ridge_ctx *cx, const partition_case *c);

#endif
