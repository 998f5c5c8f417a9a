/* What can go wrong among ranks, as rank functions: each ends the run on any engine. */
#ifndef RIDGE_TEST_COMM_FAULTS_H
#define RIDGE_TEST_COMM_FAULTS_H

#include "ridge/execute_comm.h"

#include <stdatomic.h>

/** The payload of all of them. */
typedef struct comm_fault_state {
    atomic_bool is_released; /* a rank that is stuck goes on */
    atomic_int stopped;      /* ranks that were told to stop */
} comm_fault_state;

typedef struct comm_fault {
    const char *name;
    ridge_rank_fn *fn;
    int most_ranks; /* of more, the message may tell of other ranks */
    double timeout_s;
    const char *message; /* a part of what the run says */
} comm_fault;

extern const comm_fault comm_faults[];
extern const int comm_fault_count;

/** By name; NULL: there is none. */
const comm_fault *comm_fault_find(const char *name);

#endif
