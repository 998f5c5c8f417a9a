/* How a rank of the CUDA engine waits, and how it fails: what it waits for is asked
 * again and again, so that a dead, failed or stuck rank is noticed. */
#include "comm_nccl.h"

#include <sched.h>

#include "device_cuda.h"

/* ---- failures ----------------------------------------------------------------------
 */

void ridge__nccl_abort_all(ridge__nccl_rank *me)
{
    for (ridge__nccl_comm *c = me->comms; c != NULL; c = c->next) {
        for (int i = 0; i < RIDGE_PENDING_MAX; i++) {
            c->slots[i].ticket = 0;
            if (c->letters[i].letter != NULL)
                ridge__nccl_letter_leave(me->world, c->letters[i].letter);
            c->letters[i].letter = NULL;
        }
        if (c->nccl != NULL)
            (void)me->world->calls.ncclCommAbort(c->nccl);
        c->nccl = NULL;
        if (c->stream != NULL)
            (void)cudaStreamSynchronize(c->stream);
    }
}

ridge_status ridge__nccl_fail_own(ridge_ctx *cx, ridge__nccl_rank *me,
                                  ridge_status status)
{
    ridge__world_stop(me->host->world, me->host->index, status, ridge_ctx_message(cx));
    ridge__nccl_abort_all(me);
    return ridge__rank_fail_own(cx, me->host, status);
}

ridge_status ridge__nccl_fail_told(ridge_ctx *cx, ridge__nccl_rank *me)
{
    ridge__nccl_abort_all(me);
    return ridge__rank_fail_told(cx, me->host);
}

ridge_status ridge__nccl_cuda(ridge_ctx *cx, ridge__nccl_rank *me, cudaError_t error,
                              const char *what)
{
    const ridge_status status = ridge__cuda_check(cx, error, what);
    return status == RIDGE_OK ? status : ridge__nccl_fail_own(cx, me, status);
}

/* ---- waiting ------------------------------------------------------------------------
 */

typedef enum progress { PROGRESS_DONE, PROGRESS_NONE, PROGRESS_FAILED } progress;

/** Something that is asked until it is done. */
typedef struct question {
    progress (*ask)(const struct question *q, const char **why);
    ridge__nccl_comm *comm;
    ridge__nccl_slot *slot;     /* of a collective */
    ridge__nccl_letter *letter; /* of a transfer */
    const char *what;
    int peer; /* rank of the world that is waited for; -1: the others of the group */
} question;

static ridge_status fail_late(ridge_ctx *cx, const question *q)
{
    ridge__nccl_rank *me = q->comm->me;
    const double timeout_s = me->host->world->timeout_s;
    ridge_status status;
    if (q->peer >= 0)
        status = ridge_fail(cx, RIDGE_E_IO,
                            "rank %d has waited %g s for rank %d in %s: that rank is "
                            "stuck or needs a longer time limit",
                            me->host->index, timeout_s, q->peer, q->what);
    else
        status =
            ridge_fail(cx, RIDGE_E_IO,
                       "rank %d has waited %g s for the other %d ranks of its "
                       "group in %s: one of them is stuck, has called another "
                       "collective, or needs a longer time limit",
                       me->host->index, timeout_s, q->comm->base.size - 1, q->what);
    return ridge__nccl_fail_own(cx, me, status);
}

/** Ask until it is done, all ranks are to stop, or the time is over. */
static ridge_status wait_until(ridge_ctx *cx, const question *q)
{
    ridge__nccl_rank *me = q->comm->me;
    const double end_s = ridge_clock_s() + me->host->world->timeout_s;
    for (;;) {
        const char *why = "";
        const progress found = q->ask(q, &why);
        if (found == PROGRESS_DONE)
            return RIDGE_OK;
        if (ridge__nccl_is_stopped(me))
            return ridge__nccl_fail_told(cx, me);
        if (found == PROGRESS_FAILED)
            return ridge__nccl_fail_own(
                cx, me, ridge_fail(cx, RIDGE_E_IO, "%s failed: %s", q->what, why));
        if (ridge_clock_s() > end_s)
            return fail_late(cx, q);
        sched_yield();
    }
}

static progress of_cuda(cudaError_t error, const char **why)
{
    if (error == cudaSuccess)
        return PROGRESS_DONE;
    if (error == cudaErrorNotReady)
        return PROGRESS_NONE;
    *why = cudaGetErrorString(error);
    return PROGRESS_FAILED;
}

/** The state of a communicator: of its calls, and of its transports. */
static progress ask_nccl(const question *q, const char **why)
{
    const ridge__nccl_calls *calls = &q->comm->me->world->calls;
    ncclResult_t state = ncclSuccess, result = ncclSuccess;
    if (q->comm->nccl != NULL)
        result = calls->ncclCommGetAsyncError(q->comm->nccl, &state);
    if (result == ncclSuccess)
        result = state;
    if (result == ncclSuccess || result == ncclInProgress)
        return result == ncclSuccess ? PROGRESS_DONE : PROGRESS_NONE;
    *why = calls->ncclGetErrorString(result);
    return PROGRESS_FAILED;
}

static progress ask_slot(const question *q, const char **why)
{
    const progress found = of_cuda(cudaEventQuery(q->slot->end), why);
    if (found != PROGRESS_NONE)
        return found;
    return ask_nccl(q, why) == PROGRESS_FAILED ? PROGRESS_FAILED : PROGRESS_NONE;
}

static progress ask_letter(const question *q, const char **why)
{
    return of_cuda(ridge__nccl_letter_query(q->comm->me->world, q->letter), why);
}

ridge_status ridge__nccl_settle(ridge_ctx *cx, ridge__nccl_comm *comm,
                                ncclResult_t result, const char *what)
{
    if (result == ncclSuccess)
        return RIDGE_OK;
    if (result != ncclInProgress)
        return ridge__nccl_fail_own(
            cx, comm->me,
            ridge_fail(cx, RIDGE_E_IO, "NCCL cannot %s: %s", what,
                       comm->me->world->calls.ncclGetErrorString(result)));
    const question q = {.ask = ask_nccl, .comm = comm, .what = what, .peer = -1};
    return wait_until(cx, &q);
}

ridge__nccl_slot *ridge__nccl_slot_find(ridge__nccl_comm *comm, int64_t ticket)
{
    for (int i = 0; i < RIDGE_PENDING_MAX; i++)
        if (comm->slots[i].ticket == ticket)
            return &comm->slots[i];
    return NULL;
}

static ridge_status wait_slot(ridge_ctx *cx, ridge__nccl_comm *comm, int64_t ticket)
{
    ridge__nccl_slot *slot = ridge__nccl_slot_find(comm, ticket);
    if (slot == NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "a collective is waited for twice");
    const question q = {.ask = ask_slot,
                        .comm = comm,
                        .slot = slot,
                        .what = ridge__call_kind_text(slot->kind),
                        .peer = -1};
    RIDGE_TRY(wait_until(cx, &q));
    slot->ticket = 0;
    return RIDGE_OK;
}

static ridge_status wait_letter(ridge_ctx *cx, ridge__nccl_comm *comm, int64_t ticket)
{
    ridge__nccl_letter_slot *slot = NULL;
    for (int i = 0; i < RIDGE_PENDING_MAX; i++) {
        if (comm->letters[i].letter != NULL && comm->letters[i].ticket == ticket)
            slot = &comm->letters[i];
    }
    if (slot == NULL)
        return ridge_fail(cx, RIDGE_E_ARG, "a transfer is waited for twice");
    const question q = {.ask = ask_letter,
                        .comm = comm,
                        .letter = slot->letter,
                        .what = ridge__call_kind_text(slot->kind),
                        .peer = comm->base.members[slot->peer]};
    RIDGE_TRY(wait_until(cx, &q));
    ridge__nccl_letter_leave(comm->me->world, slot->letter);
    slot->letter = NULL;
    return RIDGE_OK;
}

ridge_status ridge__nccl_wait(ridge_ctx *cx, ridge_comm *base, int64_t ticket)
{
    ridge__nccl_comm *comm = ridge__nccl_of(base);
    if (ridge__nccl_is_stopped(comm->me))
        return ridge__nccl_fail_told(cx, comm->me);
    if (ticket == 0)
        return RIDGE_OK; /* a barrier */
    return ticket > 0 ? wait_slot(cx, comm, ticket) : wait_letter(cx, comm, ticket);
}
