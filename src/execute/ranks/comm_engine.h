/*
 * What an engine of ranks gives: a table of operations behind ridge_comm, and the
 * entry points of the engines. comm.c has checked every call before it comes here.
 *
 * An engine whose ranks are threads may build on the threads engine: its run calls
 * ridge__threads_run with a function of its own, which makes that rank's ridge_comm
 * (with the threads' one for barriers and for what is in host memory) and calls the
 * user's. A rank that fails, is stuck or is cancelled is then dealt with there.
 */
#ifndef RIDGE_EXECUTE_COMM_ENGINE_H
#define RIDGE_EXECUTE_COMM_ENGINE_H

#include "ridge/execute_comm.h"

/* ---- calls ----------------------------------------------------------------------- */

/* name, text */
/* clang-format off */
#define RIDGE__CALL_KIND_LIST(X)                     \
    X(ALL_GATHER, "all-gather")                      \
    X(REDUCE_SCATTER, "reduce-scatter")              \
    X(ALL_REDUCE, "all-reduce")                      \
    X(ALL_TO_ALL, "all-to-all")                      \
    X(RAGGED, "ragged all-to-all")                   \
    X(BROADCAST, "broadcast")                        \
    X(PERMUTE, "permute")                            \
    X(BARRIER, "barrier")                            \
    X(SEND, "send")                                  \
    X(RECEIVE, "receive")
/* clang-format on */

typedef enum ridge__call_kind {
#define RIDGE__CALL_KIND_ENUM(name, text) RIDGE__CALL_##name,
    RIDGE__CALL_KIND_LIST(RIDGE__CALL_KIND_ENUM)
#undef RIDGE__CALL_KIND_ENUM
} ridge__call_kind;

/** "all-gather"; static. */
const char *ridge__call_kind_text(ridge__call_kind kind);

/** What a rank asked for. Sizes are >= 0 and their bytes fit into 63 bits; ranks are
 * within the group. Fields that a kind does not use are 0. What other threads read of
 * most calls comes first and takes 56 bytes: with a number, a line of the cache. */
typedef struct ridge__comm_call {
    ridge__call_kind kind : 8;
    ridge_element element : 8;
    ridge_reduce reduce : 8; /* ALL_REDUCE */
    int peer;                /* BROADCAST: the root; SEND, RECEIVE: the other rank;
                                PERMUTE: shift, 0 <= shift < size */
    const void *src;
    void *dst;
    int64_t n;     /* others: elements; ALL_TO_ALL: of a block; RAGGED: of a row */
    ridge_cut cut; /* ALL_GATHER, REDUCE_SCATTER */
    const int32_t *send, *receive; /* RAGGED, [size]; each >= 0 */
    int tag;                       /* SEND, RECEIVE: 0 .. RIDGE_TAG_MAX */
} ridge__comm_call;

/* ---- the table ------------------------------------------------------------------- */

typedef struct ridge__comm_ops {
    /** Start a call. A group's calls other than SEND and RECEIVE match by their order.
     * @param ticket  out: what wait takes; any value of the engine's own */
    ridge_status (*start)(ridge_ctx *cx, ridge_comm *comm, const ridge__comm_call *call,
                          int64_t *ticket);
    /** @errors E_IO, E_CANCELLED: nothing of this rank is under way any more, its
     * buffers are the caller's */
    ridge_status (*wait)(ridge_ctx *cx, ridge_comm *comm, int64_t ticket);
    /** A handle on a group of the world's ranks. All ranks of the world call it in the
     * same order; the groups of one call are disjoint.
     * @param members  n ranks of the world in the group's order, this rank among them;
     *                 borrowed for the call */
    ridge_status (*group)(ridge_ctx *cx, ridge_comm *world, const int *members, int n,
                          ridge_comm **out);
    /** This rank gives up: see ridge_comm_abandon. */
    void (*abandon)(ridge_comm *comm);
} ridge__comm_ops;

/** What all engines' handles begin with. */
struct ridge_comm {
    const ridge__comm_ops *ops;
    ridge_engine engine;
    int rank, size;     /* within the group */
    const int *members; /* [size] ranks of the world */
};

/* ---- engines --------------------------------------------------------------------- */

/* As ridge_ranks_run, of which the arguments were checked: 1 <= ranks <=
 * RIDGE_RANK_MAX, timeout_s > 0, the engine lacks nothing. */
RIDGE_NODISCARD ridge_status ridge__threads_run(ridge_ctx *cx, const ridge_ranks *how,
                                                ridge_rank_fn *fn, void *payload);
RIDGE_NODISCARD ridge_status ridge__mpi_run(ridge_ctx *cx, const ridge_ranks *how,
                                            ridge_rank_fn *fn, void *payload);
RIDGE_NODISCARD ridge_status ridge__nccl_run(ridge_ctx *cx, const ridge_ranks *how,
                                             ridge_rank_fn *fn, void *payload);

/** NULL, or why this build or this machine cannot: as ridge_engine_lacks. */
const char *ridge__mpi_lacks(void);
const char *ridge__nccl_lacks(void);

#endif
