/* The calls that a thread rank has under way, and how it advances them. */
#include "comm_call.h"
#include "comm_threads.h"

#include <sched.h>

/* ---- what is under way ----------------------------------------------------------- */

static void list_append(ridge__thread_rank *me, ridge__operation *op)
{
    op->next = NULL;
    op->previous = me->last;
    if (me->last == NULL)
        me->first = op;
    else
        me->last->next = op;
    me->last = op;
}

static void finish(ridge__operation *op)
{
    ridge__thread_rank *me = op->comm->me;
    op->stage = RIDGE__STAGE_FREE;
    if (op->previous == NULL)
        me->first = op->next;
    else
        op->previous->next = op->next;
    if (op->next == NULL)
        me->last = op->previous;
    else
        op->next->previous = op->previous;
}

/** From here to end_move other ranks' arrays stay where they are.
 * @return false: all ranks are to stop */
static bool begin_move(ridge__thread_rank *me)
{
    atomic_store(&me->is_moving, true);
    if (!atomic_load(&me->world->is_stopped))
        return true;
    atomic_store(&me->is_moving, false);
    return false;
}

static void end_move(ridge__thread_rank *me)
{
    atomic_store(&me->is_moving, false);
}

void ridge__rank_abandon(ridge__thread_rank *me)
{
    ridge__thread_world *world = me->world;
    ridge__world_stop(world, me->index, RIDGE_E_IO, "");
    while (me->first != NULL)
        finish(me->first);
    for (int r = 0; r < world->size; r++) {
        while (r != me->index && atomic_load(&world->ranks[r].is_moving))
            sched_yield();
    }
}

/* ---- failures -------------------------------------------------------------------- */

/** This rank fails of its own accord: its message stands in cx. */
ridge_status ridge__rank_fail_own(ridge_ctx *cx, ridge__thread_rank *me,
                                  ridge_status status)
{
    ridge__world_stop(me->world, me->index, status, ridge_ctx_message(cx));
    ridge__rank_abandon(me);
    return status;
}

/** Another has failed, or the caller cancelled. */
ridge_status ridge__rank_fail_told(ridge_ctx *cx, ridge__thread_rank *me)
{
    ridge__thread_world *world = me->world;
    ridge__rank_abandon(me);
    pthread_mutex_lock(&world->mutex);
    int failed = world->failed;
    ridge_status status = world->status;
    pthread_mutex_unlock(&world->mutex);
    if (failed < 0)
        return ridge_fail(cx, status, "stopped with all ranks");
    return ridge_fail(cx, RIDGE_E_IO, "stopped because rank %d failed", failed);
}

/* ---- collectives ----------------------------------------------------------------- */

ridge__peers ridge__operation_peers(const ridge__operation *op)
{
    const ridge_comm *comm = &op->comm->base;
    return op->stage == RIDGE__STAGE_POSTED
               ? ridge__call_needs(&op->call, comm->rank, comm->size)
               : ridge__call_serves(&op->call, comm->rank, comm->size);
}

/** All peers of this stage have come; op->seen counts those that have. */
static bool have_come(ridge__operation *op)
{
    const ridge__thread_group *group = op->comm->group;
    ridge__peers peers = ridge__operation_peers(op);
    for (; op->seen < peers.count; op->seen++) {
        int r = (peers.first + op->seen) % group->size;
        ridge__entry *entry = ridge__group_entry(group, op->ticket, r);
        _Atomic int64_t *flag =
            op->stage == RIDGE__STAGE_POSTED ? &entry->posted : &entry->done;
        int64_t ticket = atomic_load(flag);
        if (op->stage == RIDGE__STAGE_POSTED ? ticket != op->ticket
                                             : ticket < op->ticket)
            return false; /* nobody posts the next here while this is needed */
    }
    return true;
}

static ridge_status check_peer(ridge_ctx *cx, const ridge__operation *op, int r)
{
    const ridge_comm *comm = &op->comm->base;
    const ridge__comm_call *theirs =
        &ridge__group_entry(op->comm->group, op->ticket, r)->call;
    ridge__call_signature a = ridge__call_signature_of(&op->call);
    ridge__call_signature b = ridge__call_signature_of(theirs);
    if (!ridge__call_signature_equal(&a, &b))
        return ridge__call_fail_mismatch(cx, comm->members[comm->rank], &a,
                                         comm->members[r], &b);
    if (op->call.kind == RIDGE__CALL_RAGGED &&
        theirs->send[comm->rank] != op->call.receive[r])
        return ridge__call_fail_rows(cx, comm->members[r], theirs->send[comm->rank],
                                     comm->members[comm->rank], op->call.receive[r]);
    return RIDGE_OK;
}

static void wake_peers(const ridge__operation *op)
{
    const ridge__thread_group *group = op->comm->group;
    ridge__thread_rank *ranks = op->comm->me->world->ranks;
    for (int r = 0; r < group->size; r++) {
        if (r != op->comm->base.rank)
            ridge__rank_wake(&ranks[group->members[r]]);
    }
}

/** All that this rank needs is posted. */
static ridge_status move_collective(ridge_ctx *cx, ridge__operation *op)
{
    ridge__thread_comm *comm = op->comm;
    if (!begin_move(comm->me))
        return ridge__rank_fail_told(cx, comm->me);
    ridge__peers peers = ridge__operation_peers(op);
    ridge_status st = RIDGE_OK;
    for (int k = 0; k < peers.count && st == RIDGE_OK; k++)
        st = check_peer(cx, op, (peers.first + k) % comm->base.size);
    if (st == RIDGE_OK)
        ridge__collective_move(op);
    end_move(comm->me);
    if (st != RIDGE_OK)
        return ridge__rank_fail_own(cx, comm->me, st);
    op->stage = RIDGE__STAGE_MOVED;
    op->seen = 0;
    atomic_store(&ridge__group_entry(comm->group, op->ticket, comm->base.rank)->done,
                 op->ticket);
    wake_peers(op);
    ridge__collective_move_own(op, true);
    return RIDGE_OK;
}

static ridge_status advance_collective(ridge_ctx *cx, ridge__operation *op)
{
    if (op->stage == RIDGE__STAGE_POSTED && have_come(op))
        RIDGE_TRY(move_collective(cx, op));
    if (op->stage == RIDGE__STAGE_MOVED && have_come(op))
        finish(op);
    return RIDGE_OK;
}

/* ---- sends and receives ---------------------------------------------------------- */

/** Take the oldest fitting letter out of the own box. NULL: none is there. */
static ridge__operation *take_letter(const ridge__operation *receive)
{
    ridge__thread_rank *me = receive->comm->me;
    pthread_mutex_lock(&me->mutex);
    ridge__operation **at = &me->letter_box, *letter;
    for (; (letter = *at) != NULL; at = &letter->next_letter) {
        if (letter->comm->group == receive->comm->group &&
            letter->comm->base.rank == receive->call.peer &&
            letter->call.tag == receive->call.tag) {
            *at = letter->next_letter;
            break;
        }
    }
    pthread_mutex_unlock(&me->mutex);
    return letter;
}

static ridge_status check_letter(ridge_ctx *cx, const ridge__operation *letter,
                                 const ridge__operation *receive)
{
    const ridge__comm_call *sent = &letter->call, *wanted = &receive->call;
    if (sent->n == wanted->n && sent->element == wanted->element)
        return RIDGE_OK;
    ridge__call_signature a = ridge__call_signature_of(sent);
    ridge__call_signature b = ridge__call_signature_of(wanted);
    return ridge__call_fail_message(cx, letter->comm->me->index, &a,
                                    receive->comm->me->index, &b, wanted->tag);
}

/** An older receive of the same messages comes first, even if a message has come since
 * it looked. */
static bool is_next(const ridge__operation *receive)
{
    const ridge__operation *op = receive->comm->me->first;
    for (; op != receive; op = op->next) {
        if (op->call.kind == RIDGE__CALL_RECEIVE && op->comm == receive->comm &&
            op->call.peer == receive->call.peer && op->call.tag == receive->call.tag)
            return false;
    }
    return true;
}

static ridge_status advance_receive(ridge_ctx *cx, ridge__operation *op)
{
    ridge__thread_rank *me = op->comm->me;
    int64_t letters = atomic_load(&me->letters);
    if (op->looked == letters || !is_next(op)) /* nothing new for it */
        return RIDGE_OK;
    if (!begin_move(me))
        return ridge__rank_fail_told(cx, me);
    ridge__operation *letter = take_letter(op);
    ridge_status st = letter == NULL ? RIDGE_OK : check_letter(cx, letter, op);
    size_t bytes = (size_t)op->call.n * ridge_element_bytes(op->call.element);
    if (letter != NULL && st == RIDGE_OK && bytes > 0)
        ridge__stream_copy(op->call.dst, letter->call.src, bytes, false);
    end_move(me);
    if (st != RIDGE_OK)
        return ridge__rank_fail_own(cx, me, st);
    op->looked = letters;
    if (letter == NULL)
        return RIDGE_OK;
    ridge__thread_rank *sender = letter->comm->me;
    atomic_store(&letter->is_taken, true); /* the sender's again */
    ridge__rank_wake(sender);
    finish(op);
    return RIDGE_OK;
}

static void post_letter(ridge__operation *op)
{
    const ridge_comm *comm = &op->comm->base;
    ridge__thread_rank *to = &op->comm->me->world->ranks[comm->members[op->call.peer]];
    op->next_letter = NULL;
    atomic_store(&op->is_taken, false);
    pthread_mutex_lock(&to->mutex);
    ridge__operation **at = &to->letter_box;
    while (*at != NULL)
        at = &(*at)->next_letter;
    *at = op;
    atomic_fetch_add(&to->letters, 1);
    pthread_mutex_unlock(&to->mutex);
    ridge__rank_wake(to);
}

/* ---- advancing ------------------------------------------------------------------- */

static ridge_status advance(ridge_ctx *cx, ridge__operation *op)
{
    if (op->call.kind == RIDGE__CALL_RECEIVE)
        return advance_receive(cx, op);
    if (op->call.kind != RIDGE__CALL_SEND)
        return advance_collective(cx, op);
    if (atomic_load(&op->is_taken))
        finish(op);
    return RIDGE_OK;
}

ridge_status ridge__rank_advance(ridge_ctx *cx, ridge__thread_rank *me)
{
    for (ridge__operation *op = me->first, *next; op != NULL; op = next) {
        next = op->next;
        RIDGE_TRY(advance(cx, op));
    }
    return atomic_load(&me->world->is_stopped) ? ridge__rank_fail_told(cx, me)
                                               : RIDGE_OK;
}

/* ---- starting -------------------------------------------------------------------- */

/** A free place for a send or a receive; NULL: all are under way. */
static ridge__operation *free_letter(ridge__thread_comm *comm)
{
    for (int i = 0; i < RIDGE_PENDING_MAX; i++) {
        if (comm->letters[i].stage == RIDGE__STAGE_FREE)
            return &comm->letters[i];
    }
    return NULL;
}

static void put_under_way(ridge__thread_comm *comm, ridge__operation *op,
                          const ridge__comm_call *call, int64_t ticket)
{
    op->comm = comm;
    op->call = *call;
    op->stage = RIDGE__STAGE_POSTED;
    op->ticket = ticket;
    op->seen = 0;
    op->looked = 0;
    list_append(comm->me, op);
}

ridge_status ridge__letter_start(ridge_ctx *cx, ridge__thread_comm *comm,
                                 const ridge__comm_call *call, int64_t *ticket)
{
    ridge__operation *op = free_letter(comm);
    if (op == NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "more than %d sends and receives under way: wait for some",
                          RIDGE_PENDING_MAX);
    *ticket = -++comm->sent; /* below 0: no collective's */
    put_under_way(comm, op, call, *ticket);
    if (call->kind == RIDGE__CALL_SEND)
        post_letter(op);
    return RIDGE_OK;
}

void ridge__collective_start(ridge__thread_comm *comm, const ridge__comm_call *call,
                             int64_t ticket)
{
    ridge__operation *op = &comm->collectives[ticket % RIDGE_PENDING_MAX];
    put_under_way(comm, op, call, ticket);
    ridge__entry *entry = ridge__group_entry(comm->group, ticket, comm->base.rank);
    entry->call = *call;
    atomic_store(&entry->posted, ticket);
    wake_peers(op);
    ridge__collective_move_own(op, false);
}
