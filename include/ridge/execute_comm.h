/*
 * Ranks and what they say to each other: collectives over groups of ranks, on threads
 * of one process, on MPI or on NCCL. The same calls with the same numbers on each
 * engine. Knows nothing of programs.
 */
#ifndef RIDGE_EXECUTE_COMM_H
#define RIDGE_EXECUTE_COMM_H

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- engines and ranks ----------------------------------------------------------- */

/* name, text, what */
/* clang-format off */
#define RIDGE_ENGINE_LIST(X)                                              \
    X(THREADS, "threads", "each rank is a thread of this process")         \
    X(MPI, "mpi", "each rank is a process, started by mpirun")             \
    X(CUDA, "cuda", "each rank is a thread that drives a GPU, with NCCL")
/* clang-format on */

typedef enum ridge_engine {
#define RIDGE_ENGINE_ENUM(name, text, what) RIDGE_ENGINE_##name,
    RIDGE_ENGINE_LIST(RIDGE_ENGINE_ENUM)
#undef RIDGE_ENGINE_ENUM
} ridge_engine;

#define RIDGE_ENGINE_ONE(name, text, what) +1
enum { RIDGE_ENGINE_COUNT = 0 RIDGE_ENGINE_LIST(RIDGE_ENGINE_ONE) };
#undef RIDGE_ENGINE_ONE

const char *ridge_engine_text(ridge_engine engine);
RIDGE_NODISCARD ridge_status ridge_engine_parse(ridge_ctx *cx, const char *text,
                                                ridge_engine *out);
/** NULL if this build and this machine have the engine, else why not: "built without
 * MPI: install libopenmpi-dev and build again". Static. */
const char *ridge_engine_lacks(ridge_engine engine);
/** Ranks that the launcher of this process started (mpirun); 1 without one. Reads the
 * launcher's environment; starts nothing. */
int ridge_launched_ranks(void);
/** Of these, the ranks on this machine. */
int ridge_launched_here(void);
/** Rank of this process among them; 0 without a launcher. */
int ridge_launched_rank(void);

/** A rank's handle on a group of ranks; the group of all is the world. */
typedef struct ridge_comm ridge_comm;

/** How ranks are run. */
typedef struct ridge_ranks {
    ridge_engine engine;
    int ranks;        /* >= 1; on MPI what mpirun started */
    double timeout_s; /* a rank that waits longer for another ends the run; > 0 */
} ridge_ranks;

enum { RIDGE_RANK_MAX = 1024 };

/** What each rank runs; cx is that rank's own. */
typedef ridge_status ridge_rank_fn(ridge_ctx *cx, ridge_comm *world, void *payload);

/**
 * Run fn on every rank and wait for all.
 *
 * When one rank fails, others that wait for it stop at once. The caller's message is
 * that of the first rank that failed of its own accord, "rank 3: ...". A rank that is
 * stuck for timeout_s ends the run: "rank 2 has waited 60 s for rank 3 in all-reduce:
 * ...". The end of the run is a wait as well: a rank that runs on for timeout_s after
 * another has ended, and starts no collective in that time, ends it. Each rank's ctx is
 * closed when all are done, so results go through the payload. Cancelling @p cx stops
 * all ranks.
 *
 * THREADS, CUDA: a thread cannot be killed. A rank that still computes timeout_s after
 * the run has failed is left behind, and the message says so: it goes on with its ctx,
 * with what the engine holds (both are freed if it ever ends) and with @p payload,
 * which must stay valid; the program does best to end. MPI: fn runs in the calling
 * thread with @p cx itself. After a failure MPI cannot take back what is under way: the
 * caller says what is wrong and ends the program, which stops all other ranks at its
 * exit; no second run is possible. Ranks that failed only because another did return
 * two seconds later, so that its message comes first.
 * @errors E_ARG no such engine here, or too few ranks launched; whatever fn fails with
 * @threads fn runs on as many threads at once on THREADS and CUDA
 */
RIDGE_NODISCARD ridge_status ridge_ranks_run(ridge_ctx *cx, const ridge_ranks *how,
                                             ridge_rank_fn *fn, void *payload);

/**
 * Give up: for a rank that fails with collectives under way, before it frees their
 * buffers. Nothing of this rank is under way any more and no other touches its buffers;
 * the ranks that wait for it stop. It fails next. After a start or a wait that failed
 * with E_IO or E_CANCELLED this has been done. Cannot fail.
 */
void ridge_comm_abandon(ridge_comm *comm);

int ridge_comm_rank(const ridge_comm *comm); /* within its group */
int ridge_comm_size(const ridge_comm *comm);
ridge_engine ridge_comm_engine(const ridge_comm *comm);

/**
 * The ranks that differ from this one in these mesh axes alone, ordered by their
 * coordinates there, the first axis outermost. Ranks lie on a mesh row-major: the last
 * axis is innermost. All ranks of the world call it, with the same arguments in the
 * same order. Without axes: a group of one.
 * @owner the world: valid until the run ends
 * @errors E_ARG a mesh of another size than the world; E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_comm_axes(ridge_ctx *cx, ridge_comm *world,
                                             const ridge_mesh *mesh, const int *axes,
                                             int n_axes, ridge_comm **out);

/** This rank's coordinate on each axis of a mesh. @param coords  room for mesh->n */
void ridge_mesh_coords(const ridge_mesh *mesh, int64_t rank, int64_t *coords);

/* ---- collectives ----------------------------------------------------------------- */

/** Formats that collectives take. BF16 sums are added up in fp32 and rounded once. */
typedef enum ridge_element {
    RIDGE_ELEMENT_F32,
    RIDGE_ELEMENT_BF16,
    RIDGE_ELEMENT_I32
} ridge_element;

/** 4 or 2. */
size_t ridge_element_bytes(ridge_element element);

typedef enum ridge_reduce { RIDGE_REDUCE_SUM, RIDGE_REDUCE_MAX } ridge_reduce;

/**
 * An array [outer, full, inner], row-major, whose middle dim is cut over the ranks of a
 * group into chunks of ceil(full / ranks), the last ones padded with zeros: a rank's
 * part is [outer, chunk, inner].
 */
typedef struct ridge_cut {
    int64_t outer, full, inner; /* elements */
} ridge_cut;

int64_t ridge_cut_chunk(const ridge_cut *cut, int ranks);

/** A collective under way. Plain; it may be copied, and is waited for once. */
typedef struct ridge_pending {
    ridge_comm *comm; /* NULL: nothing is under way */
    int64_t ticket;
} ridge_pending;

/*
 * Each starts a collective of all ranks of a group, which ridge_comm_wait finishes.
 * Until then sources must not change and destinations must not be read. Ranks of a
 * group start their collectives in the same order, and wait in any order. At most
 * RIDGE_PENDING_MAX are under way in a group. Sums are added in the order of ranks, so
 * all ranks have the same bits on every engine, in every run. Source and destination do
 * not overlap, but all_reduce may have the same one.
 * @errors E_ARG sizes; E_IO another rank failed or did not come in time, with which;
 * E_NOMEM
 */
enum { RIDGE_PENDING_MAX = 64, RIDGE_TAG_MAX = 1 << 24 };

/** A rank's part [outer, chunk, inner] -> [outer, full, inner] on each. */
RIDGE_NODISCARD ridge_status ridge_all_gather_start(ridge_ctx *cx, ridge_comm *comm,
                                                    ridge_element element,
                                                    const ridge_cut *cut,
                                                    const void *src, void *dst,
                                                    ridge_pending *out);
/** [outer, full, inner] summed over ranks -> this rank's part [outer, chunk, inner]. */
RIDGE_NODISCARD ridge_status ridge_reduce_scatter_start(ridge_ctx *cx, ridge_comm *comm,
                                                        ridge_element element,
                                                        const ridge_cut *cut,
                                                        const void *src, void *dst,
                                                        ridge_pending *out);
/** n elements summed, or their largest, on each. */
RIDGE_NODISCARD ridge_status ridge_all_reduce_start(ridge_ctx *cx, ridge_comm *comm,
                                                    ridge_element element,
                                                    ridge_reduce reduce, int64_t n,
                                                    const void *src, void *dst,
                                                    ridge_pending *out);
/** src [ranks, n], block r for rank r -> dst [ranks, n], block r from rank r. */
RIDGE_NODISCARD ridge_status ridge_all_to_all_start(ridge_ctx *cx, ridge_comm *comm,
                                                    ridge_element element, int64_t n,
                                                    const void *src, void *dst,
                                                    ridge_pending *out);
/**
 * Rows of different numbers: src holds rows for rank 0, then for rank 1, ...; dst gets
 * those of rank 0, then of rank 1, ... Both counts are known to the caller (exchange
 * them with all_to_all of I32).
 * @param send, receive  rows to and from each rank, [ranks]; borrowed until the wait
 * @param row            elements of a row
 */
RIDGE_NODISCARD ridge_status
ridge_all_to_all_ragged_start(ridge_ctx *cx, ridge_comm *comm, ridge_element element,
                              int64_t row, const int32_t *send, const int32_t *receive,
                              const void *src, void *dst, ridge_pending *out);
/** n elements of the root -> all; in place on the root where src is dst. */
RIDGE_NODISCARD ridge_status ridge_broadcast_start(ridge_ctx *cx, ridge_comm *comm,
                                                   ridge_element element, int64_t n,
                                                   int root, const void *src, void *dst,
                                                   ridge_pending *out);
/** n elements to rank + shift, and those of rank - shift (around the ring) -> dst. */
RIDGE_NODISCARD ridge_status ridge_permute_start(ridge_ctx *cx, ridge_comm *comm,
                                                 ridge_element element, int64_t n,
                                                 int shift, const void *src, void *dst,
                                                 ridge_pending *out);
/**
 * Point to point: the n elements that @p peer receives with the same tag. Sends to one
 * peer with one tag arrive in order. A send waits for its receive, so both sides start
 * before they wait. These need no agreement on order with other ranks.
 * @param tag  0 .. RIDGE_TAG_MAX
 */
RIDGE_NODISCARD ridge_status ridge_send_start(ridge_ctx *cx, ridge_comm *comm,
                                              ridge_element element, int64_t n,
                                              int peer, int tag, const void *src,
                                              ridge_pending *out);
RIDGE_NODISCARD ridge_status ridge_receive_start(ridge_ctx *cx, ridge_comm *comm,
                                                 ridge_element element, int64_t n,
                                                 int peer, int tag, void *dst,
                                                 ridge_pending *out);
/** All ranks of the group have come. */
RIDGE_NODISCARD ridge_status ridge_barrier(ridge_ctx *cx, ridge_comm *comm);

/** Finish what was started: source and destination are the caller's again. Of nothing:
 * success. @errors E_IO another rank failed or did not come in time */
RIDGE_NODISCARD ridge_status ridge_comm_wait(ridge_ctx *cx, ridge_pending *pending);

#ifdef __cplusplus
}
#endif

#endif
