/* Notices between ranks of MPI: who has failed, who is late, who has ended;
 * and how a rank fails itself. */
#include "comm_mpi.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum { NOTICE_TAG = 1, LOOKS_BEFORE_SLEEP = 5000, SLEEP_NS = 50000 };

static const double send_limit_s = 1, ask_limit_s = 1;
static const double together_s = 0.1; /* for others that fail at the same time */

static ridge_status listen(ridge_ctx *cx, ridge__mpi_world *world)
{
    return ridge__mpi_check(cx,
                            MPI_Irecv(&world->incoming, (int)sizeof world->incoming,
                                      MPI_BYTE, MPI_ANY_SOURCE, NOTICE_TAG,
                                      world->notices, &world->notice_request),
                            "listening for other ranks");
}

ridge_status ridge__notices_open(ridge_ctx *cx, ridge__mpi_world *world)
{
    size_t n = (size_t)world->size;
    world->has_answered = ridge_new(ridge_ctx_arena(world->own), bool, n);
    world->answers = ridge_new(ridge_ctx_arena(world->own), ridge__notice, n);
    world->has_ended = ridge_new(ridge_ctx_arena(world->own), bool, n);
    if (world->has_answered == NULL || world->answers == NULL ||
        world->has_ended == NULL)
        return ridge_fail_nomem(cx);
    return listen(cx, world);
}

void ridge__notices_close(ridge__mpi_world *world)
{
    if (world->notice_request != MPI_REQUEST_NULL) {
        MPI_Cancel(&world->notice_request);
        MPI_Wait(&world->notice_request, MPI_STATUS_IGNORE);
    }
}

/** A notice on its way: it stays where it is until MPI has sent it. */
struct ridge__mpi_letter {
    ridge__notice notice;
    MPI_Request request;
    struct ridge__mpi_letter *next;
};

void ridge__notice_send(ridge__mpi_world *world, int rank, const ridge__notice *notice)
{
    struct ridge__mpi_letter *letter =
        ridge_new(ridge_ctx_arena(world->own), struct ridge__mpi_letter, 1);
    if (letter == NULL)
        return;
    letter->notice = *notice;
    if (MPI_Isend(&letter->notice, (int)sizeof letter->notice, MPI_BYTE, rank,
                  NOTICE_TAG, world->notices, &letter->request) != MPI_SUCCESS)
        return;
    letter->next = world->letters;
    world->letters = letter;
}

bool ridge__notices_see_off(ridge__mpi_world *world)
{
    double end_s = ridge_clock_s() + send_limit_s;
    for (int64_t looks = 0; world->letters != NULL; looks++) {
        int is_sent = 0;
        if (MPI_Test(&world->letters->request, &is_sent, MPI_STATUS_IGNORE) !=
                MPI_SUCCESS ||
            ridge_clock_s() > end_s)
            return false;
        if (is_sent)
            world->letters = world->letters->next;
        else
            ridge__mpi_rest(world, looks);
    }
    return true;
}

void ridge__notice_tell(ridge__mpi_world *world, const ridge__notice *notice)
{
    for (int r = 0; r < world->size; r++) {
        if (r != world->rank)
            ridge__notice_send(world, r, notice);
    }
}

/* ---- hearing --------------------------------------------------------------------- */

static ridge__mpi_comm *comm_of(const ridge__mpi_world *world, int64_t number, int rank)
{
    for (ridge__mpi_comm *c = world->comms; c != NULL; c = c->next) {
        if (c->number != number)
            continue;
        for (int r = 0; r < c->base.size; r++) {
            if (c->base.members[r] == rank)
                return c;
        }
    }
    return NULL;
}

static void answer(ridge__mpi_world *world, const ridge__notice *question)
{
    ridge__notice notice = {.kind = RIDGE__NOTICE_ANSWER,
                            .rank = world->rank,
                            .waits_in = world->waits_in,
                            .number = question->number,
                            .ticket = question->ticket};
    const ridge__mpi_comm *comm = comm_of(world, question->number, question->rank);
    notice.tickets = comm == NULL ? 0 : comm->tickets;
    for (const ridge__mpi_operation *op = world->first; op != NULL; op = op->next) {
        if (op->comm == comm && op->ticket == question->ticket) {
            notice.signature = op->own;
            notice.has_signature = 1;
        }
    }
    ridge__notice_send(world, question->rank, &notice);
}

static void take_failure(ridge__mpi_world *world, const ridge__notice *notice)
{
    bool is_lower = notice->rank >= 0 && notice->rank < world->failed;
    if (world->is_stopped && !is_lower)
        return; /* of several that fail at once the lowest speaks */
    world->is_stopped = true;
    world->is_told = true;
    world->failed = notice->rank;
    world->status = (ridge_status)notice->status;
    memcpy(world->cause, notice->text, sizeof world->cause);
    world->cause[sizeof world->cause - 1] = '\0';
}

static void take(ridge__mpi_world *world, const ridge__notice *notice)
{
    bool is_rank = notice->rank >= 0 && notice->rank < world->size;
    if (notice->kind == RIDGE__NOTICE_FAILED) {
        take_failure(world, notice);
    } else if (notice->kind == RIDGE__NOTICE_RELEASE) {
        world->is_released = true;
    } else if (is_rank && notice->kind == RIDGE__NOTICE_ASK) {
        answer(world, notice);
    } else if (is_rank && notice->kind == RIDGE__NOTICE_ANSWER) {
        bool is_of_now = notice->number == world->asked_number &&
                         notice->ticket == world->asked_ticket;
        world->answers[notice->rank] = *notice;
        world->has_answered[notice->rank] = is_of_now;
    } else if (is_rank && !world->has_ended[notice->rank]) {
        world->has_ended[notice->rank] = true;
        world->ended++;
    }
}

ridge_status ridge__notices_hear(ridge_ctx *cx, ridge__mpi_world *world)
{
    for (;;) {
        int is_there = 0;
        RIDGE_TRY(ridge__mpi_check(
            cx, MPI_Test(&world->notice_request, &is_there, MPI_STATUS_IGNORE),
            "listening for other ranks"));
        if (!is_there)
            return RIDGE_OK;
        ridge__notice heard = world->incoming;
        RIDGE_TRY(listen(cx, world));
        take(world, &heard);
    }
}

/* ---- who is late ----------------------------------------------------------------- */

static bool is_needed(const ridge__mpi_operation *op, int member)
{
    bool is_letter =
        op->call.kind == RIDGE__CALL_SEND || op->call.kind == RIDGE__CALL_RECEIVE;
    return is_letter ? member == op->call.peer : member != op->comm->base.rank;
}

/** Ask all ranks that the call needs. */
static void ask(const ridge__mpi_operation *op)
{
    ridge__mpi_world *world = op->comm->world;
    const ridge_comm *comm = &op->comm->base;
    ridge__notice question = {.kind = RIDGE__NOTICE_ASK,
                              .rank = world->rank,
                              .number = op->comm->number,
                              .ticket = op->ticket};
    world->asked_number = question.number;
    world->asked_ticket = question.ticket;
    memset(world->has_answered, 0, (size_t)world->size * sizeof *world->has_answered);
    for (int r = 0; r < comm->size; r++) {
        if (is_needed(op, r) && comm->members[r] != world->rank)
            ridge__notice_send(world, comm->members[r], &question);
    }
}

/** Give them a while to answer. */
static ridge_status hear_answers(ridge_ctx *cx, ridge__mpi_world *world)
{
    double end_s = ridge_clock_s() + ask_limit_s;
    for (int64_t looks = 0; ridge_clock_s() < end_s; looks++) {
        RIDGE_TRY(ridge__notices_hear(cx, world));
        if (world->is_stopped)
            return ridge__mpi_fail_told(cx, world);
        ridge__mpi_rest(world, looks + world->spins);
    }
    return RIDGE_OK;
}

static ridge_status fail_silent(ridge_ctx *cx, const ridge__mpi_operation *op, int late)
{
    return ridge_fail(cx, RIDGE_E_IO,
                      "rank %d has waited %g s for rank %d in %s: that rank waits for "
                      "none, it is stuck or needs a longer time limit",
                      op->comm->world->rank, op->comm->world->timeout_s, late,
                      ridge__call_kind_text(op->call.kind));
}

/** A rank that has ended without this call will not come. */
static bool is_gone(const ridge__mpi_operation *op, const ridge__notice *answer)
{
    return answer->waits_in == RIDGE__MPI_ENDED &&
           (op->ticket < 0 || answer->tickets < op->ticket);
}

static ridge_status fail_waiting(ridge_ctx *cx, const ridge__mpi_operation *op,
                                 const ridge__notice *other)
{
    const ridge__mpi_world *world = op->comm->world;
    const char *kind = ridge__call_kind_text(op->call.kind);
    if (other->has_signature && op->ticket > 0 &&
        !ridge__call_signature_equal(&other->signature, &op->own))
        return ridge__call_fail_mismatch(cx, world->rank, &op->own, other->rank,
                                         &other->signature);
    if (is_gone(op, other))
        return ridge_fail(cx, RIDGE_E_IO,
                          "rank %d waits for rank %d in %s, but that has ended: the "
                          "ranks of a group start the same collectives",
                          world->rank, other->rank, kind);
    return ridge_fail(cx, RIDGE_E_IO,
                      "rank %d has waited %g s for rank %d in %s: that rank waits in "
                      "%s",
                      world->rank, world->timeout_s, other->rank, kind,
                      other->waits_in < 0
                          ? "none"
                          : ridge__call_kind_text((ridge__call_kind)other->waits_in));
}

/** The rank to blame among those that have answered: one that has not called this, or
 * called something else; otherwise the first. */
static int find_blamed(const ridge__mpi_operation *op)
{
    const ridge__mpi_world *world = op->comm->world;
    const ridge_comm *comm = &op->comm->base;
    int first = -1;
    for (int r = 0; r < comm->size; r++) {
        const ridge__notice *a = &world->answers[comm->members[r]];
        if (!is_needed(op, r) || comm->members[r] == world->rank)
            continue;
        if (a->tickets < op->ticket || a->waits_in < 0 ||
            (a->has_signature && !ridge__call_signature_equal(&a->signature, &op->own)))
            return comm->members[r];
        first = first < 0 ? comm->members[r] : first;
    }
    return first;
}

ridge_status ridge__mpi_fail_late(ridge_ctx *cx, ridge__mpi_operation *op)
{
    ridge__mpi_world *world = op->comm->world;
    const ridge_comm *comm = &op->comm->base;
    ask(op);
    RIDGE_TRY(hear_answers(cx, world));
    for (int r = 0; r < comm->size; r++) {
        int rank = comm->members[r];
        if (is_needed(op, r) && rank != world->rank && !world->has_answered[rank])
            return ridge__mpi_fail_own(cx, world, fail_silent(cx, op, rank));
    }
    int blamed = find_blamed(op);
    if (blamed < 0) /* a message to itself that it does not receive */
        return ridge__mpi_fail_own(cx, world, fail_silent(cx, op, world->rank));
    return ridge__mpi_fail_own(cx, world,
                               fail_waiting(cx, op, &world->answers[blamed]));
}

ridge_status ridge__mpi_look_for_gone(ridge_ctx *cx, ridge__mpi_operation *op)
{
    ridge__mpi_world *world = op->comm->world;
    const ridge_comm *comm = &op->comm->base;
    bool is_asked =
        world->asked_number == op->comm->number && world->asked_ticket == op->ticket;
    for (int r = 0; is_asked && r < comm->size; r++) {
        int rank = comm->members[r];
        if (is_needed(op, r) && rank != world->rank && world->has_answered[rank] &&
            is_gone(op, &world->answers[rank]))
            return ridge__mpi_fail_own(cx, world,
                                       fail_waiting(cx, op, &world->answers[rank]));
    }
    ask(op);
    return RIDGE_OK;
}

void ridge__mpi_rest(const ridge__mpi_world *world, int64_t looks)
{
    if (looks < world->spins)
        return;
    if (looks < world->spins + LOOKS_BEFORE_SLEEP)
        sched_yield();
    else
        nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
}

ridge_status ridge__mpi_fail_own(ridge_ctx *cx, ridge__mpi_world *world,
                                 ridge_status status)
{
    if (world->is_stopped)
        return status;
    world->is_stopped = true;
    world->failed = status == RIDGE_E_CANCELLED ? -1 : world->rank;
    world->status = status;
    snprintf(world->cause, sizeof world->cause, "%s", ridge_ctx_message(cx));
    ridge__notice notice = {
        .kind = RIDGE__NOTICE_FAILED, .rank = world->failed, .status = (int)status};
    memcpy(notice.text, world->cause, sizeof notice.text);
    ridge__notice_tell(world, &notice);
    ridge__notices_see_off(world);
    /* Arrays are still in place here, so that MPI may be let run. */
    double end_s = ridge_clock_s() + together_s;
    bool is_safe = world->waits_in >= 0 || world->first == NULL;
    while (is_safe && !world->is_told && ridge_clock_s() < end_s) {
        if (ridge__notices_hear(cx, world) != RIDGE_OK)
            break;
        ridge__mpi_rest(world, world->spins);
    }
    return status;
}

ridge_status ridge__mpi_fail_told(ridge_ctx *cx, const ridge__mpi_world *world)
{
    if (world->failed < 0)
        return ridge_fail(cx, world->status, "stopped with all ranks");
    return ridge_fail(cx, RIDGE_E_IO, "stopped because rank %d failed", world->failed);
}
