/* Ranks on MPI where this build has none: says so. */
#include "comm_engine.h"

const char *ridge__mpi_lacks(void)
{
    return "built without MPI: install libopenmpi-dev and openmpi-bin and build again";
}

ridge_status ridge__mpi_run(ridge_ctx *cx, const ridge_ranks *how, ridge_rank_fn *fn,
                            void *payload)
{
    (void)how;
    (void)fn;
    (void)payload;
    return ridge_fail(cx, RIDGE_E_ARG, "%s", ridge__mpi_lacks());
}
