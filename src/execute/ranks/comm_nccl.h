/*
 * Ranks that are threads with a GPU each: what the pieces of the CUDA engine share.
 *
 * The engine stands on that of threads. A group has a communicator of NCCL for what
 * goes between GPUs and a handle of the threads engine for the rest: its barriers, its
 * id, and who has failed. Kernels of a rank run on its thread's own stream, collectives
 * of a group on a stream of the group; a start lets the second wait for the first, and
 * a wait polls until the collective has ended, so that a rank that is dead or stuck is
 * noticed. Sends and receives are copies between the GPUs of one process, as they need
 * tags, which NCCL has not, and no order (comm_nccl_letter.c).
 */
#ifndef RIDGE_EXECUTE_COMM_NCCL_H
#define RIDGE_EXECUTE_COMM_NCCL_H

#include <cuda_runtime.h>

#include "comm_engine.h"
#include "comm_threads.h"
#include "device_cuda_library.h"

typedef struct ridge__nccl_rank ridge__nccl_rank;
typedef struct ridge__nccl_letter ridge__nccl_letter;

/** What all ranks share. The last one to leave frees it. */
typedef struct ridge__nccl_world {
    ridge__nccl_calls calls;
    ridge_rank_fn *fn;
    void *payload;
    pthread_mutex_t mutex; /* guards what follows */
    int users;
    ridge__nccl_letter *letters; /* without a partner yet, oldest first */
} ridge__nccl_world;

/** A collective under way: free once its event has passed. */
typedef struct ridge__nccl_slot {
    cudaEvent_t end; /* NULL until first used */
    int64_t ticket;  /* 0: free */
    ridge__call_kind kind;
} ridge__nccl_slot;

/** A send or a receive under way. */
typedef struct ridge__nccl_letter_slot {
    ridge__nccl_letter *letter; /* NULL: free */
    int64_t ticket;             /* below 0 */
    ridge__call_kind kind;
    int peer; /* in the group */
} ridge__nccl_letter_slot;

typedef struct ridge__nccl_comm {
    ridge_comm base;
    ridge__nccl_rank *me;
    ridge__thread_comm *host; /* the same group on the threads engine */
    ncclComm_t nccl;          /* NULL: aborted, or a group of one */
    cudaStream_t stream;
    cudaEvent_t begin; /* what the rank's stream had before the latest start */
    int64_t tickets, letter_tickets; /* given so far */
    ridge__nccl_slot slots[RIDGE_PENDING_MAX];
    ridge__nccl_letter_slot letters[RIDGE_PENDING_MAX];
    struct ridge__nccl_comm *next; /* of the rank's */
} ridge__nccl_comm;

struct ridge__nccl_rank {
    ridge__nccl_world *world;
    ridge__thread_rank *host;
    ridge__nccl_comm *comms; /* all, the latest first */
    cudaStream_t copies;     /* of letters */
};

static inline ridge__nccl_comm *ridge__nccl_of(ridge_comm *comm)
{
    return (ridge__nccl_comm *)comm;
}

/** Whether all ranks are to stop. */
static inline bool ridge__nccl_is_stopped(const ridge__nccl_rank *me)
{
    return atomic_load(&me->host->world->is_stopped);
}

/* ---- waiting and failing: comm_nccl_wait.c ------------------------------------ */

/** End all that this rank's GPU does for collectives; transfers end by themselves. */
void ridge__nccl_abort_all(ridge__nccl_rank *me);
/** Of ridge__comm_ops. A ticket of 0: nothing is under way. */
ridge_status ridge__nccl_wait(ridge_ctx *cx, ridge_comm *comm, int64_t ticket);
/** The slot of a collective; of ticket 0 a free one. NULL: there is none. */
ridge__nccl_slot *ridge__nccl_slot_find(ridge__nccl_comm *comm, int64_t ticket);
/** End what this rank has under way, of its own accord: the message stands in cx. */
ridge_status ridge__nccl_fail_own(ridge_ctx *cx, ridge__nccl_rank *me,
                                  ridge_status status);
/** The same because another rank failed. */
ridge_status ridge__nccl_fail_told(ridge_ctx *cx, ridge__nccl_rank *me);
/** Fails as fail_own unless @p error is success. @param what  "add up" */
RIDGE_NODISCARD ridge_status ridge__nccl_cuda(ridge_ctx *cx, ridge__nccl_rank *me,
                                              cudaError_t error, const char *what);
/** Fails as fail_own unless a call of NCCL went well; one that is still in progress is
 * waited for, as long as a collective would be. */
RIDGE_NODISCARD ridge_status ridge__nccl_settle(ridge_ctx *cx, ridge__nccl_comm *comm,
                                                ncclResult_t result, const char *what);

/* ---- collectives: comm_nccl_collective.c -------------------------------------- */

/** Put all of a collective on the group's stream. */
RIDGE_NODISCARD ridge_status ridge__nccl_issue(ridge_ctx *cx, ridge__nccl_comm *comm,
                                               const ridge__comm_call *call);

/* ---- sends and receives: comm_nccl_letter.c ----------------------------------- */

/** Start one; with its partner there, the copy too. */
RIDGE_NODISCARD ridge_status ridge__nccl_letter_start(ridge_ctx *cx,
                                                      ridge__nccl_comm *comm,
                                                      const ridge__comm_call *call,
                                                      ridge__nccl_letter **out);
/** @return cudaSuccess: the copy has ended; cudaErrorNotReady; or what went wrong */
cudaError_t ridge__nccl_letter_query(ridge__nccl_world *world,
                                     const ridge__nccl_letter *letter);
/** This rank's side is done with it, or gives it up: then a copy is waited for, and a
 * partner that comes later finds nothing. */
void ridge__nccl_letter_leave(ridge__nccl_world *world, ridge__nccl_letter *letter);

#endif
