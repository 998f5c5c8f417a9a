/* The CUDA engine of ranks: its start and end, groups, the start of calls. comm_nccl.h
 * says how it stands on the threads engine. */
#include "comm_nccl.h"

#include <stdlib.h>

#include "device_cuda.h"

/* ---- starting -----------------------------------------------------------------------
 */

static ridge_status fail_full(ridge_ctx *cx, ridge__nccl_comm *comm)
{
    return ridge__nccl_fail_own(
        cx, comm->me,
        ridge_fail(cx, RIDGE_E_ARG, "more than %d calls under way: wait for some",
                   RIDGE_PENDING_MAX));
}

static ridge_status start_letter(ridge_ctx *cx, ridge__nccl_comm *comm,
                                 const ridge__comm_call *call, int64_t *ticket)
{
    ridge__nccl_letter_slot *slot = comm->letters;
    while (slot < comm->letters + RIDGE_PENDING_MAX && slot->letter != NULL)
        slot++;
    if (slot == comm->letters + RIDGE_PENDING_MAX)
        return fail_full(cx, comm);
    const ridge_status status = ridge__nccl_letter_start(cx, comm, call, &slot->letter);
    if (status != RIDGE_OK)
        return ridge__nccl_fail_own(cx, comm->me, status);
    slot->ticket = *ticket = -++comm->letter_tickets;
    slot->kind = call->kind;
    slot->peer = call->peer;
    return RIDGE_OK;
}

/** Behind what the rank's stream has, on the group's, up to an event. */
static ridge_status start_collective(ridge_ctx *cx, ridge__nccl_comm *comm,
                                     const ridge__comm_call *call, int64_t *ticket)
{
    ridge__nccl_rank *me = comm->me;
    const int64_t number = ++comm->tickets;
    ridge__nccl_slot *slot = ridge__nccl_slot_find(comm, 0);
    if (slot == NULL)
        return fail_full(cx, comm);
    if (slot->end == NULL)
        RIDGE_TRY(ridge__nccl_cuda(
            cx, me, cudaEventCreateWithFlags(&slot->end, cudaEventDisableTiming),
            "make an event"));
    RIDGE_TRY(ridge__nccl_cuda(
        cx, me, cudaEventRecord(comm->begin, cudaStreamPerThread), "mark the stream"));
    RIDGE_TRY(ridge__nccl_cuda(
        cx, me, cudaStreamWaitEvent(comm->stream, comm->begin, 0), "order streams"));
    RIDGE_TRY(ridge__nccl_issue(cx, comm, call));
    RIDGE_TRY(ridge__nccl_cuda(cx, me, cudaEventRecord(slot->end, comm->stream),
                               "mark the stream"));
    slot->ticket = *ticket = number;
    slot->kind = call->kind;
    return RIDGE_OK;
}

/** Ranks meet on the host: what their GPUs still do is not waited for. */
static ridge_status barrier(ridge_ctx *cx, ridge__nccl_comm *comm)
{
    const ridge__comm_call call = {.kind = RIDGE__CALL_BARRIER};
    ridge_comm *host = &comm->host->base;
    int64_t ticket = 0;
    ridge_status status = host->ops->start(cx, host, &call, &ticket);
    if (status == RIDGE_OK)
        status = host->ops->wait(cx, host, ticket);
    if (status != RIDGE_OK)
        ridge__nccl_abort_all(comm->me);
    return status;
}

static ridge_status start(ridge_ctx *cx, ridge_comm *base, const ridge__comm_call *call,
                          int64_t *ticket)
{
    ridge__nccl_comm *comm = ridge__nccl_of(base);
    if (ridge__nccl_is_stopped(comm->me))
        return ridge__nccl_fail_told(cx, comm->me);
    if (call->kind == RIDGE__CALL_SEND || call->kind == RIDGE__CALL_RECEIVE)
        return start_letter(cx, comm, call, ticket);
    if (call->kind != RIDGE__CALL_BARRIER)
        return start_collective(cx, comm, call, ticket);
    *ticket = 0; /* over when it has started */
    return barrier(cx, comm);
}

/* ---- groups ------------------------------------------------------------------- */

/** The first rank's id of the group, on all. */
static ridge_status share_id(ridge_ctx *cx, ridge__nccl_comm *comm, ncclUniqueId *id)
{
    ridge_comm *host = &comm->host->base;
    if (host->rank == 0)
        RIDGE_TRY(ridge__nccl_settle(
            cx, comm, comm->me->world->calls.ncclGetUniqueId(id), "make a group's id"));
    const ridge__comm_call call = {.kind = RIDGE__CALL_BROADCAST,
                                   .element = RIDGE_ELEMENT_I32,
                                   .n = sizeof *id / sizeof(int32_t),
                                   .src = id,
                                   .dst = id};
    int64_t ticket;
    RIDGE_TRY(host->ops->start(cx, host, &call, &ticket));
    return host->ops->wait(cx, host, ticket);
}

static ridge_status connect_group(ridge_ctx *cx, ridge__nccl_comm *comm)
{
    ncclUniqueId id = {0};
    RIDGE_TRY(share_id(cx, comm, &id));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0; /* a dead rank must not hold this one in a call */
    return ridge__nccl_settle(
        cx, comm,
        comm->me->world->calls.ncclCommInitRankConfig(&comm->nccl, comm->base.size, id,
                                                      comm->base.rank, &config),
        "connect a group");
}

static ridge_status open_streams(ridge_ctx *cx, ridge__nccl_comm *comm)
{
    RIDGE_TRY(ridge__nccl_cuda(
        cx, comm->me, cudaStreamCreateWithFlags(&comm->stream, cudaStreamNonBlocking),
        "make a stream"));
    return ridge__nccl_cuda(
        cx, comm->me, cudaEventCreateWithFlags(&comm->begin, cudaEventDisableTiming),
        "make an event");
}

static const ridge__comm_ops ops;

/** A handle on the group that the threads engine has a handle on. */
static ridge_status open_comm(ridge_ctx *cx, ridge__nccl_rank *me, ridge_comm *host,
                              ridge__nccl_comm **out)
{
    ridge__nccl_comm *comm = calloc(1, sizeof *comm); /* until the rank ends */
    if (comm == NULL)
        return ridge__nccl_fail_own(cx, me, ridge_fail_nomem(cx));
    comm->base = *host;
    comm->base.ops = &ops;
    comm->base.engine = RIDGE_ENGINE_CUDA;
    comm->me = me;
    comm->host = (ridge__thread_comm *)host;
    comm->next = me->comms;
    me->comms = comm;
    RIDGE_TRY(open_streams(cx, comm));
    if (host->size > 1)
        RIDGE_TRY(connect_group(cx, comm));
    *out = comm;
    return RIDGE_OK;
}

static ridge_status group(ridge_ctx *cx, ridge_comm *world, const int *members, int n,
                          ridge_comm **out)
{
    ridge__nccl_comm *comm = ridge__nccl_of(world);
    ridge_comm *host;
    RIDGE_TRY(comm->host->base.ops->group(cx, &comm->host->base, members, n, &host));
    RIDGE_TRY(open_comm(cx, comm->me, host, &comm));
    *out = &comm->base;
    return RIDGE_OK;
}

static void abandon(ridge_comm *comm)
{
    ridge__nccl_rank *me = ridge__nccl_of(comm)->me;
    ridge__world_stop(me->host->world, me->host->index, RIDGE_E_IO, "");
    ridge__nccl_abort_all(me);
    ridge__rank_abandon(me->host);
}

static const ridge__comm_ops ops = {
    .start = start, .wait = ridge__nccl_wait, .group = group, .abandon = abandon};

/* ---- a rank's end ------------------------------------------------------------- */

/** All that was started has been waited for. */
static ridge_status check_idle(ridge_ctx *cx, const ridge__nccl_rank *me)
{
    const char *open = NULL;
    for (const ridge__nccl_comm *c = me->comms; c != NULL; c = c->next) {
        for (int i = 0; i < RIDGE_PENDING_MAX; i++) {
            if (c->slots[i].ticket != 0)
                open = ridge__call_kind_text(c->slots[i].kind);
            if (c->letters[i].letter != NULL)
                open = ridge__call_kind_text(c->letters[i].kind);
        }
    }
    if (open == NULL)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "it has ended with %s under way: wait for each call", open);
}

/** Leave the groups once all ranks have no more to do in them. */
static ridge_status leave_groups(ridge_ctx *cx, ridge__nccl_rank *me)
{
    RIDGE_TRY(barrier(cx, ridge__nccl_of(&me->comms->base)));
    for (ridge__nccl_comm *c = me->comms; c != NULL; c = c->next) {
        if (c->nccl == NULL)
            continue;
        RIDGE_TRY(ridge__nccl_settle(cx, c, me->world->calls.ncclCommFinalize(c->nccl),
                                     "leave a group"));
        const ncclResult_t result = me->world->calls.ncclCommDestroy(c->nccl);
        c->nccl = NULL;
        RIDGE_TRY(ridge__nccl_settle(cx, c, result, "leave a group"));
    }
    return RIDGE_OK;
}

static void close_comm(ridge__nccl_comm *comm)
{
    for (int i = 0; i < RIDGE_PENDING_MAX; i++)
        if (comm->slots[i].end != NULL)
            (void)cudaEventDestroy(comm->slots[i].end);
    if (comm->begin != NULL)
        (void)cudaEventDestroy(comm->begin);
    if (comm->stream != NULL)
        (void)cudaStreamDestroy(comm->stream);
    free(comm);
}

static ridge_status end_rank(ridge_ctx *cx, ridge__nccl_rank *me, ridge_status status)
{
    if (status == RIDGE_OK)
        status = check_idle(cx, me);
    if (status == RIDGE_OK && me->comms != NULL)
        status = leave_groups(cx, me);
    if (status != RIDGE_OK) {
        ridge__world_stop(me->host->world, me->host->index, status,
                          ridge_ctx_message(cx));
        ridge__nccl_abort_all(me);
    }
    while (me->comms != NULL) {
        ridge__nccl_comm *last = me->comms;
        me->comms = last->next;
        close_comm(last);
    }
    if (me->copies != NULL)
        (void)cudaStreamDestroy(me->copies);
    return status;
}

/* ---- running ------------------------------------------------------------------ */

static ridge_status open_rank(ridge_ctx *cx, ridge__nccl_rank *me, ridge_comm *host,
                              ridge__nccl_comm **out)
{
    RIDGE_TRY(ridge__nccl_cuda(cx, me, cudaSetDevice(me->host->index), "take its GPU"));
    RIDGE_TRY(ridge__nccl_cuda(
        cx, me, cudaStreamCreateWithFlags(&me->copies, cudaStreamNonBlocking),
        "make a stream"));
    return open_comm(cx, me, host, out);
}

static void leave_world(ridge__nccl_world *world)
{
    pthread_mutex_lock(&world->mutex);
    const int left = --world->users;
    pthread_mutex_unlock(&world->mutex);
    if (left > 0)
        return;
    pthread_mutex_destroy(&world->mutex);
    free(world);
}

static ridge_status run_rank(ridge_ctx *cx, ridge_comm *host, void *payload)
{
    ridge__nccl_world *world = payload;
    ridge__nccl_rank me = {.world = world, .host = ((ridge__thread_comm *)host)->me};
    ridge__nccl_comm *comm;
    ridge_status status = open_rank(cx, &me, host, &comm);
    if (status == RIDGE_OK)
        status = world->fn(cx, &comm->base, world->payload);
    status = end_rank(cx, &me, status);
    leave_world(world);
    return status;
}

const char *ridge__nccl_lacks(void)
{
    return ridge__cuda_count(NULL) > 0
               ? NULL
               : "no GPU was found: it needs an NVIDIA GPU and its driver";
}

static ridge_status open_world(ridge_ctx *cx, const ridge_ranks *how,
                               ridge__nccl_world **out)
{
    ridge__nccl_world *world = calloc(1, sizeof *world);
    if (world == NULL)
        return ridge_fail_nomem(cx);
    const ridge_status status = ridge__nccl_calls_open(cx, &world->calls);
    if (status != RIDGE_OK) {
        free(world);
        return status;
    }
    world->users = 1 + how->ranks;
    pthread_mutex_init(&world->mutex, NULL);
    *out = world;
    return RIDGE_OK;
}

ridge_status ridge__nccl_run(ridge_ctx *cx, const ridge_ranks *how, ridge_rank_fn *fn,
                             void *payload)
{
    const int gpus = ridge__cuda_count(NULL);
    if (how->ranks > gpus)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "%d ranks on %d GPUs: each has one of its own", how->ranks,
                          gpus);
    ridge__nccl_world *world = NULL;
    RIDGE_TRY(open_world(cx, how, &world));
    world->fn = fn;
    world->payload = payload;
    const ridge_status status = ridge__threads_run(cx, how, run_rank, world);
    leave_world(world);
    return status;
}
