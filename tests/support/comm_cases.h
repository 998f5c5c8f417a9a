/* Collectives of any kind and shape on any group, held to a serial computation: the
 * same on every engine. */
#ifndef RIDGE_TEST_COMM_CASES_H
#define RIDGE_TEST_COMM_CASES_H

#include "ridge/execute_comm.h"

typedef enum comm_kind {
    COMM_ALL_GATHER,
    COMM_REDUCE_SCATTER,
    COMM_ALL_REDUCE,
    COMM_ALL_TO_ALL,
    COMM_RAGGED,
    COMM_BROADCAST,
    COMM_PERMUTE,
    COMM_SEND, /* around the ring by send and receive */
    COMM_KIND_COUNT
} comm_kind;

/** One collective. n is the number of elements where there is no cut, of a block or a
 * row where there are several. */
typedef struct comm_case {
    comm_kind kind;
    ridge_element element;
    ridge_reduce reduce;
    ridge_cut cut;
    int64_t n;
    int peer; /* root, shift, or distance to send */
    bool is_in_place;
    uint64_t seed; /* of the values, and of the counts of rows */
} comm_case;

/** A case under way on a rank. */
typedef struct comm_running {
    comm_case what;
    int size, rank;
    void *dst;
    ridge_pending pending[2];
} comm_running;

/** Start a case. All its memory is the ctx's. */
RIDGE_NODISCARD ridge_status comm_case_start(ridge_ctx *cx, ridge_comm *comm,
                                             const comm_case *what, comm_running *out);
/** Wait for it and hold the result to what a serial computation gives. */
RIDGE_NODISCARD ridge_status comm_case_finish(ridge_ctx *cx, comm_running *running);
/** Both. */
RIDGE_NODISCARD ridge_status comm_case_run(ridge_ctx *cx, ridge_comm *comm,
                                           const comm_case *what);

#endif
