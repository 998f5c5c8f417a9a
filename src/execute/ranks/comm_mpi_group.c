/* Groups of MPI's ranks, and what MPI says of its failures. */
#include "comm_mpi.h"

#include <string.h>
#include <time.h>

ridge_status ridge__mpi_check(ridge_ctx *cx, int code, const char *what)
{
    if (code == MPI_SUCCESS)
        return RIDGE_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    if (MPI_Error_string(code, text, &n) != MPI_SUCCESS)
        text[0] = '\0';
    return ridge_fail(cx, RIDGE_E_IO, "MPI failed in %s: %s", what, text);
}

static ridge_status split(ridge_ctx *cx, ridge__mpi_world *world, const int *members,
                          ridge__mpi_comm *comm)
{
    RIDGE_TRY(ridge__mpi_check(
        cx, MPI_Comm_split(MPI_COMM_WORLD, members[0], comm->base.rank, &comm->data),
        "making a group"));
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Comm_dup(comm->data, &comm->checks),
                               "making a group"));
    RIDGE_TRY(
        ridge__mpi_check(cx, MPI_Comm_dup(comm->data, &comm->later), "making a group"));
    int size = 0;
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Comm_size(comm->data, &size), "making a group"));
    if (size == comm->base.size)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "rank %d makes another group than other ranks: all ranks make "
                      "the same groups in the same order",
                      world->rank);
}

ridge_status ridge__mpi_comm_open(ridge_ctx *cx, ridge__mpi_world *world,
                                  const int *members, int n, ridge__mpi_comm **out)
{
    ridge_arena *arena = ridge_ctx_arena(world->own);
    ridge__mpi_comm *comm = ridge_new(arena, ridge__mpi_comm, 1);
    int *copies = ridge_new(arena, int, (size_t)n);
    if (comm == NULL || copies == NULL)
        return ridge_fail_nomem(cx);
    memcpy(copies, members, (size_t)n * sizeof *copies);
    int rank = 0;
    while (members[rank] != world->rank)
        rank++;
    comm->base = (ridge_comm){.ops = world->ops,
                              .engine = RIDGE_ENGINE_MPI,
                              .rank = rank,
                              .size = n,
                              .members = copies};
    comm->world = world;
    comm->number = world->groups++;
    RIDGE_TRY(split(cx, world, members, comm));
    comm->next = world->comms;
    world->comms = comm;
    *out = comm;
    return RIDGE_OK;
}
