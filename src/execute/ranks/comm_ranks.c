/* Engines by name, what a launcher says of ranks, and groups along axes of a mesh. */
#include "comm_engine.h"

#include <stdlib.h>
#include <string.h>

typedef struct engine_row {
    const char *text;
    const char *(*lacks)(void);
    ridge_status (*run)(ridge_ctx *cx, const ridge_ranks *how, ridge_rank_fn *fn,
                        void *payload);
} engine_row;

static const char *lacks_nothing(void)
{
    return NULL;
}

/* clang-format off */
static const engine_row engines[] = {
    [RIDGE_ENGINE_THREADS] = {"threads", lacks_nothing, ridge__threads_run},
    [RIDGE_ENGINE_MPI] = {"mpi", ridge__mpi_lacks, ridge__mpi_run},
    [RIDGE_ENGINE_CUDA] = {"cuda", ridge__nccl_lacks, ridge__nccl_run},
};
/* clang-format on */
_Static_assert(RIDGE_COUNT_OF(engines) == RIDGE_ENGINE_COUNT, "one row per engine");

const char *ridge_engine_text(ridge_engine engine)
{
    return engines[engine].text;
}

const char *ridge_engine_lacks(ridge_engine engine)
{
    return engines[engine].lacks();
}

ridge_status ridge_engine_parse(ridge_ctx *cx, const char *text, ridge_engine *out)
{
    for (int i = 0; i < RIDGE_ENGINE_COUNT; i++) {
        if (strcmp(engines[i].text, text) == 0) {
            *out = (ridge_engine)i;
            return RIDGE_OK;
        }
    }
    return ridge_fail(cx, RIDGE_E_NOTFOUND,
                      "unknown engine '%s': one of threads, mpi, cuda", text);
}

/* ---- the launcher ---------------------------------------------------------------- */

ridge_status ridge_ranks_run(ridge_ctx *cx, const ridge_ranks *how, ridge_rank_fn *fn,
                             void *payload)
{
    const char *lack = ridge_engine_lacks(how->engine);
    if (lack != NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "engine %s: %s",
                          ridge_engine_text(how->engine), lack);
    if (how->ranks < 1 || how->ranks > RIDGE_RANK_MAX)
        return ridge_fail(cx, RIDGE_E_ARG, "%d ranks: 1 to %d are possible", how->ranks,
                          RIDGE_RANK_MAX);
    if (!(how->timeout_s > 0))
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a time limit of %g s for ranks: it is above 0",
                          how->timeout_s);
    return engines[how->engine].run(cx, how, fn, payload);
}

/* ---- groups along axes ----------------------------------------------------------- */

void ridge_mesh_coords(const ridge_mesh *mesh, int64_t rank, int64_t *coords)
{
    for (int a = mesh->n - 1; a >= 0; a--) {
        coords[a] = rank % mesh->axes[a].size;
        rank /= mesh->axes[a].size;
    }
}

static ridge_status check_axes(ridge_ctx *cx, const ridge_comm *world,
                               const ridge_mesh *mesh, const int *axes, int n_axes)
{
    if (ridge_mesh_size(mesh) != world->size)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "a mesh of %lld ranks on %d ranks: run as many as it has",
                          (long long)ridge_mesh_size(mesh), world->size);
    unsigned seen = 0;
    for (int i = 0; i < n_axes; i++) {
        if (axes[i] < 0 || axes[i] >= mesh->n || (seen >> axes[i] & 1u) != 0)
            return ridge_fail(cx, RIDGE_E_ARG,
                              "axis %d of a group: each axis of the mesh's %d at most "
                              "once",
                              axes[i], mesh->n);
        seen |= 1u << axes[i];
    }
    return RIDGE_OK;
}

/** Ranks between neighbours along an axis. */
static int64_t axis_stride(const ridge_mesh *mesh, int axis)
{
    int64_t stride = 1;
    for (int a = axis + 1; a < mesh->n; a++)
        stride *= mesh->axes[a].size;
    return stride;
}

ridge_status ridge_comm_axes(ridge_ctx *cx, ridge_comm *world, const ridge_mesh *mesh,
                             const int *axes, int n_axes, ridge_comm **out)
{
    RIDGE_TRY(check_axes(cx, world, mesh, axes, n_axes));
    int64_t coords[RIDGE_MESH_AXIS_MAX];
    ridge_mesh_coords(mesh, world->rank, coords);
    int members[RIDGE_RANK_MAX];
    members[0] = world->rank;
    for (int i = 0; i < n_axes; i++)
        members[0] -= (int)(coords[axes[i]] * axis_stride(mesh, axes[i]));
    int n = 1;
    for (int i = 0; i < n_axes; i++) { /* outermost first: each repeats what is there */
        int length = (int)mesh->axes[axes[i]].size;
        int stride = (int)axis_stride(mesh, axes[i]);
        for (int m = n - 1; m >= 0; m--) {
            for (int k = length - 1; k >= 0; k--)
                members[m * length + k] = members[m] + k * stride;
        }
        n *= length;
    }
    return world->ops->group(cx, world, members, n, out);
}
