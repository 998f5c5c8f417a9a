/* Runs a rank function on the engine that a test program was started for: on threads
 * with several numbers of ranks, on MPI with what mpirun started. */
#ifndef RIDGE_TEST_COMM_RUNS_H
#define RIDGE_TEST_COMM_RUNS_H

#include "ridge/execute_comm.h"

/** By the program's first argument: "mpi" is MPI, none is THREADS. */
ridge_engine comm_engine_of(int argc, char **argv);

/** Numbers of ranks to test. @return how many of them */
int comm_rank_counts(ridge_engine engine, int counts[8]);

/** Run and report its message. @return whether it succeeded */
bool comm_run(ridge_engine engine, int ranks, ridge_rank_fn *fn, void *payload);

#endif
