/*
 * Sends and receives between GPUs of one process. Who comes first leaves a letter; who
 * comes second finds it, by group, ranks and tag, and puts the copy on a stream of its
 * own, behind what both ranks' streams had before. Both then ask one event.
 */
#include "comm_call.h"
#include "comm_nccl.h"

#include <stdlib.h>

#include "device_cuda.h"

/** One side of a transfer. */
typedef struct side {
    int index;         /* of the GPU */
    cudaEvent_t begin; /* what the rank's stream had before */
    void *data;
} side;

struct ridge__nccl_letter {
    const ridge__thread_group *group;
    int source, target, tag; /* ranks of the group */
    int64_t n;
    ridge_element element;
    bool is_send;    /* the side that is there */
    bool is_matched; /* both are */
    int users;
    side sender, receiver;
    cudaEvent_t end;    /* of the copy */
    cudaError_t status; /* of what was issued */
    struct ridge__nccl_letter *next;
};

static cudaError_t open_side(const ridge__nccl_comm *comm, const ridge__comm_call *call,
                             side *out)
{
    union {
        const void *read;
        void *written;
    } data = {.read = call->kind == RIDGE__CALL_SEND ? call->src : call->dst};
    *out = (side){.index = comm->me->host->index, .data = data.written};
    const cudaError_t error =
        cudaEventCreateWithFlags(&out->begin, cudaEventDisableTiming);
    return error != cudaSuccess ? error
                                : cudaEventRecord(out->begin, cudaStreamPerThread);
}

static void letter_free(ridge__nccl_letter *letter)
{
    const cudaEvent_t events[] = {letter->sender.begin, letter->receiver.begin,
                                  letter->end};
    for (size_t i = 0; i < RIDGE_COUNT_OF(events); i++)
        if (events[i] != NULL)
            (void)cudaEventDestroy(events[i]);
    free(letter);
}

/* ---- finding ------------------------------------------------------------------------
 */

/** A letter as this call would leave it. */
static ridge__nccl_letter letter_of(const ridge__nccl_comm *comm,
                                    const ridge__comm_call *call)
{
    const bool is_send = call->kind == RIDGE__CALL_SEND;
    return (ridge__nccl_letter){.group = comm->host->group,
                                .source = is_send ? comm->base.rank : call->peer,
                                .target = is_send ? call->peer : comm->base.rank,
                                .tag = call->tag,
                                .n = call->n,
                                .element = call->element,
                                .is_send = is_send};
}

/** Take the oldest letter of the other side off the list. The mutex is held. */
static ridge__nccl_letter *take_partner(ridge__nccl_world *world,
                                        const ridge__nccl_letter *of)
{
    for (ridge__nccl_letter **at = &world->letters; *at != NULL; at = &(*at)->next) {
        ridge__nccl_letter *l = *at;
        if (l->group == of->group && l->source == of->source &&
            l->target == of->target && l->tag == of->tag && l->is_send != of->is_send) {
            *at = l->next;
            return l;
        }
    }
    return NULL;
}

static void append(ridge__nccl_world *world, ridge__nccl_letter *letter)
{
    ridge__nccl_letter **at = &world->letters;
    while (*at != NULL)
        at = &(*at)->next;
    letter->next = NULL;
    *at = letter;
}

/* ---- copying ----------------------------------------------------------------------
 */

static cudaError_t issue_copy(const ridge__nccl_rank *me, ridge__nccl_letter *l)
{
    const size_t bytes = (size_t)l->n * ridge_element_bytes(l->element);
    cudaError_t error = cudaEventCreateWithFlags(&l->end, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(me->copies, l->sender.begin, 0);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(me->copies, l->receiver.begin, 0);
    if (error == cudaSuccess && bytes > 0)
        error = cudaMemcpyPeerAsync(l->receiver.data, l->receiver.index, l->sender.data,
                                    l->sender.index, bytes, me->copies);
    return error == cudaSuccess ? cudaEventRecord(l->end, me->copies) : error;
}

static ridge_status fail_unequal(ridge_ctx *cx, const ridge__nccl_comm *comm,
                                 const ridge__nccl_letter *theirs,
                                 const ridge__comm_call *call)
{
    const ridge__comm_call other = {.kind = theirs->is_send ? RIDGE__CALL_SEND
                                                            : RIDGE__CALL_RECEIVE,
                                    .element = theirs->element,
                                    .n = theirs->n,
                                    .peer = comm->base.rank};
    const ridge__call_signature a = ridge__call_signature_of(call);
    const ridge__call_signature b = ridge__call_signature_of(&other);
    return ridge_fail(cx, RIDGE_E_IO,
                      "rank %d starts a %s with tag %d, rank %d a %s: both have the "
                      "same size and element",
                      comm->base.members[comm->base.rank],
                      ridge__call_signature_text(&a).s, call->tag,
                      comm->base.members[call->peer], ridge__call_signature_text(&b).s);
}

/** Leave a letter for the partner, or copy with the one that it left. */
static ridge_status post(ridge_ctx *cx, ridge__nccl_comm *comm,
                         const ridge__comm_call *call, ridge__nccl_letter *mine,
                         ridge__nccl_letter **out)
{
    ridge__nccl_world *world = comm->me->world;
    ridge_status status = RIDGE_OK;
    pthread_mutex_lock(&world->mutex);
    ridge__nccl_letter *theirs = take_partner(world, mine);
    if (theirs == NULL) {
        append(world, mine);
        mine->users = 1;
        *out = mine;
    } else if (theirs->n != call->n || theirs->element != call->element) {
        append(world,
               theirs); /* its rank waits on, and is told by this one's failure */
        status = fail_unequal(cx, comm, theirs, call);
    } else {
        *(mine->is_send ? &theirs->sender : &theirs->receiver) =
            mine->is_send ? mine->sender : mine->receiver;
        *(mine->is_send ? &mine->sender : &mine->receiver) = (side){0};
        theirs->users++;
        theirs->is_matched = true;
        theirs->status = issue_copy(comm->me, theirs);
        *out = theirs;
    }
    pthread_mutex_unlock(&world->mutex);
    return status;
}

/* ---- the engine's ------------------------------------------------------------- */

ridge_status ridge__nccl_letter_start(ridge_ctx *cx, ridge__nccl_comm *comm,
                                      const ridge__comm_call *call,
                                      ridge__nccl_letter **out)
{
    ridge__nccl_letter *mine = calloc(1, sizeof *mine); /* both ranks use it */
    if (mine == NULL)
        return ridge_fail_nomem(cx);
    *mine = letter_of(comm, call);
    ridge_status status = ridge__cuda_check(
        cx, open_side(comm, call, mine->is_send ? &mine->sender : &mine->receiver),
        "start a transfer");
    if (status == RIDGE_OK)
        status = post(cx, comm, call, mine, out);
    if (status != RIDGE_OK || *out != mine)
        letter_free(mine);
    return status;
}

cudaError_t ridge__nccl_letter_query(ridge__nccl_world *world,
                                     const ridge__nccl_letter *letter)
{
    pthread_mutex_lock(&world->mutex);
    const bool is_matched = letter->is_matched;
    const cudaError_t status = letter->status;
    pthread_mutex_unlock(&world->mutex);
    if (!is_matched)
        return cudaErrorNotReady;
    return status == cudaSuccess ? cudaEventQuery(letter->end) : status;
}

void ridge__nccl_letter_leave(ridge__nccl_world *world, ridge__nccl_letter *letter)
{
    pthread_mutex_lock(&world->mutex);
    if (!letter->is_matched) {
        ridge__nccl_letter **at = &world->letters;
        while (*at != letter)
            at = &(*at)->next;
        *at = letter->next;
    }
    const bool is_copied = letter->is_matched && letter->status == cudaSuccess;
    pthread_mutex_unlock(&world->mutex);
    if (is_copied)
        (void)cudaEventSynchronize(letter->end);
    pthread_mutex_lock(&world->mutex);
    const bool is_last = --letter->users == 0;
    pthread_mutex_unlock(&world->mutex);
    if (is_last)
        letter_free(letter);
}
