/* Runs of ranks for tests. */
#include "comm_runs.h"

#include <string.h>

ridge_engine comm_engine_of(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "mpi") == 0 ? RIDGE_ENGINE_MPI
                                                   : RIDGE_ENGINE_THREADS;
}

int comm_rank_counts(ridge_engine engine, int counts[8])
{
    static const int several[] = {1, 2, 3, 4, 6, 8};
    if (engine == RIDGE_ENGINE_MPI) {
        counts[0] = ridge_launched_ranks();
        return 1;
    }
    memcpy(counts, several, sizeof several);
    return (int)RIDGE_COUNT_OF(several);
}

bool comm_run(ridge_engine engine, int ranks, ridge_rank_fn *fn, void *payload)
{
    ridge_ctx *cx = ridge_ctx_open();
    if (cx == NULL)
        return false;
    ridge_ranks how = {.engine = engine, .ranks = ranks, .timeout_s = 30};
    ridge_status st = ridge_ranks_run(cx, &how, fn, payload);
    if (st != RIDGE_OK)
        fprintf(stderr, "%d ranks: %s\n", ranks, ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    return st == RIDGE_OK;
}
