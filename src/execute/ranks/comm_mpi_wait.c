/* How a rank of MPI starts calls, advances them and waits for them. */
#include "comm_mpi.h"

#include <string.h>

static const double error_grace_s = 1; /* for others to say what they called */
static const double first_ask_s = 1;   /* of a wait; then after twice that, ... */

/* ---- the list -------------------------------------------------------------------- */

static ridge__mpi_operation *free_operation(ridge__mpi_comm *comm)
{
    for (int i = 0; i < RIDGE__MPI_OPERATION_MAX; i++) {
        if (comm->operations[i].comm == NULL)
            return &comm->operations[i];
    }
    return NULL;
}

static ridge__mpi_operation *find(ridge__mpi_comm *comm, int64_t ticket)
{
    for (int i = 0; i < RIDGE__MPI_OPERATION_MAX; i++) {
        ridge__mpi_operation *op = &comm->operations[i];
        if (op->comm != NULL && op->ticket == ticket)
            return op;
    }
    return NULL;
}

static void list_append(ridge__mpi_world *world, ridge__mpi_operation *op)
{
    op->previous = world->last;
    op->next = NULL;
    if (world->last == NULL)
        world->first = op;
    else
        world->last->next = op;
    world->last = op;
}

static void finish(ridge__mpi_operation *op)
{
    ridge__mpi_world *world = op->comm->world;
    if (op->previous == NULL)
        world->first = op->next;
    else
        op->previous->next = op->next;
    if (op->next == NULL)
        world->last = op->previous;
    else
        op->next->previous = op->previous;
    ridge__mpi_release(op);
    op->comm = NULL;
}

/* ---- what others called ---------------------------------------------------------- */

static ridge_status check_receive(ridge_ctx *cx, const ridge__mpi_operation *op)
{
    const ridge__call_signature *sent = op->others, *wanted = &op->own;
    const ridge_comm *comm = &op->comm->base;
    if (sent->n == wanted->n && sent->element == wanted->element)
        return RIDGE_OK;
    return ridge__call_fail_message(cx, comm->members[op->call.peer], sent,
                                    comm->members[comm->rank], wanted, op->call.tag);
}

static ridge_status check_others(ridge_ctx *cx, const ridge__mpi_operation *op)
{
    const ridge_comm *comm = &op->comm->base;
    if (op->call.kind == RIDGE__CALL_SEND)
        return RIDGE_OK;
    if (op->call.kind == RIDGE__CALL_RECEIVE)
        return check_receive(cx, op);
    for (int r = 0; r < comm->size; r++) {
        if (!ridge__call_signature_equal(&op->own, &op->others[r]))
            return ridge__call_fail_mismatch(cx, comm->members[comm->rank], &op->own,
                                             comm->members[r], &op->others[r]);
    }
    for (int r = 0; op->rows != NULL && r < comm->size; r++) {
        if (op->rows[r] != op->call.receive[r])
            return ridge__call_fail_rows(cx, comm->members[r], op->rows[r],
                                         comm->members[comm->rank],
                                         op->call.receive[r]);
    }
    return RIDGE_OK;
}

/** Look whether the others' calls are known, and whether they match. */
static ridge_status check(ridge_ctx *cx, ridge__mpi_operation *op)
{
    int is_there = 0;
    RIDGE_TRY(ridge__mpi_check(
        cx, MPI_Testall(2, op->checks, &is_there, MPI_STATUSES_IGNORE), "a check"));
    if (!is_there)
        return RIDGE_OK;
    op->is_checked = true;
    return check_others(cx, op);
}

/** MPI refused the data: because the calls do not match, or for a reason of its own. */
static ridge_status explain(ridge_ctx *cx, ridge__mpi_operation *op, int code)
{
    double end_s = ridge_clock_s() + error_grace_s;
    while (!op->is_checked && ridge_clock_s() < end_s)
        RIDGE_TRY(check(cx, op));
    return ridge__mpi_check(cx, code, ridge__call_kind_text(op->call.kind));
}

/* ---- advancing ------------------------------------------------------------------- */

static ridge_status advance(ridge_ctx *cx, ridge__mpi_operation *op)
{
    if (!op->is_checked)
        RIDGE_TRY(check(cx, op));
    int is_done = 0;
    int code = MPI_Testall(RIDGE__MPI_STEP_REQUESTS, op->requests, &is_done,
                           MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS)
        return explain(cx, op, code);
    if (!is_done || !op->is_checked || ridge__mpi_has_to_wait(op))
        return RIDGE_OK;
    bool is_over = false;
    RIDGE_TRY(ridge__mpi_step(cx, op, &is_over));
    if (is_over)
        finish(op);
    return RIDGE_OK;
}

ridge_status ridge__mpi_advance(ridge_ctx *cx, ridge__mpi_world *world)
{
    RIDGE_TRY(ridge__notices_hear(cx, world));
    if (!world->is_stopped && ridge_ctx_is_cancelled(cx))
        return ridge__mpi_fail_own(
            cx, world, ridge_fail(cx, RIDGE_E_CANCELLED, "stopped with all ranks"));
    if (world->is_stopped)
        return ridge__mpi_fail_told(cx, world);
    for (ridge__mpi_operation *op = world->first, *next; op != NULL; op = next) {
        next = op->next;
        ridge_status st = advance(cx, op);
        if (st != RIDGE_OK)
            return ridge__mpi_fail_own(cx, world, st);
    }
    return RIDGE_OK;
}

/* ---- the table ------------------------------------------------------------------- */

static ridge_status start(ridge_ctx *cx, ridge_comm *base, const ridge__comm_call *call,
                          int64_t *ticket)
{
    ridge__mpi_comm *comm = (ridge__mpi_comm *)base;
    if (comm->world->is_stopped)
        return ridge__mpi_fail_told(cx, comm->world);
    ridge__mpi_operation *op = free_operation(comm);
    if (op == NULL)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "more than %d calls of a group under way: wait for some",
                          RIDGE__MPI_OPERATION_MAX);
    bool is_letter =
        call->kind == RIDGE__CALL_SEND || call->kind == RIDGE__CALL_RECEIVE;
    *ticket = is_letter ? -++comm->sent : ++comm->tickets;
    *op = (ridge__mpi_operation){
        .comm = comm,
        .ticket = *ticket,
        .call = *call,
        .checks = {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
        .requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
    };
    list_append(comm->world, op);
    ridge_status st = ridge__mpi_begin(cx, op);
    if (st != RIDGE_OK)
        finish(op);
    return st == RIDGE_E_IO ? ridge__mpi_fail_own(cx, comm->world, st) : st;
}

static bool is_under_way(const ridge__mpi_operation *op, int64_t ticket)
{
    return op != NULL && op->comm != NULL && op->ticket == ticket;
}

/** How long a wait has taken. */
typedef struct patience {
    double start_s, ask_s; /* start_s 0: it has just begun */
} patience;

static ridge_status be_patient(ridge_ctx *cx, ridge__mpi_operation *op, patience *p)
{
    double now_s = ridge_clock_s();
    if (p->start_s == 0)
        *p = (patience){now_s, first_ask_s};
    if (now_s - p->start_s > op->comm->world->timeout_s)
        return ridge__mpi_fail_late(cx, op);
    if (now_s - p->start_s < p->ask_s)
        return RIDGE_OK;
    p->ask_s *= 2;
    return ridge__mpi_look_for_gone(cx, op);
}

static ridge_status wait(ridge_ctx *cx, ridge_comm *base, int64_t ticket)
{
    ridge__mpi_comm *comm = (ridge__mpi_comm *)base;
    ridge__mpi_world *world = comm->world;
    if (world->is_stopped)
        return ridge__mpi_fail_told(cx, world);
    ridge__mpi_operation *op = find(comm, ticket);
    patience p = {0};
    for (int64_t looks = 0; is_under_way(op, ticket); looks++) {
        world->waits_in = (int)op->call.kind;
        RIDGE_TRY(ridge__mpi_advance(cx, world));
        if (looks < world->spins || !is_under_way(op, ticket))
            continue;
        RIDGE_TRY(be_patient(cx, op, &p));
        ridge__mpi_rest(world, looks);
    }
    world->waits_in = RIDGE__MPI_NO_CALL;
    return RIDGE_OK;
}

static ridge_status group(ridge_ctx *cx, ridge_comm *base, const int *members, int n,
                          ridge_comm **out)
{
    ridge__mpi_comm *comm;
    RIDGE_TRY(ridge_barrier(cx, base)); /* MPI's own waiting has no time limit */
    RIDGE_TRY(
        ridge__mpi_comm_open(cx, ((ridge__mpi_comm *)base)->world, members, n, &comm));
    *out = &comm->base;
    return RIDGE_OK;
}

/* MPI cannot take back what is under way; nothing of it is advanced any more. */
static void abandon(ridge_comm *base)
{
    ridge__mpi_world *world = ((ridge__mpi_comm *)base)->world;
    if (world->is_stopped)
        return;
    ridge__notice notice = {.kind = RIDGE__NOTICE_FAILED,
                            .rank = world->rank,
                            .status = (int)RIDGE_E_IO,
                            .text = "it gave up"};
    world->is_stopped = true;
    world->failed = world->rank;
    world->status = RIDGE_E_IO;
    ridge__notice_tell(world, &notice);
    ridge__notices_see_off(world);
}

const ridge__comm_ops ridge__mpi_ops = {
    .start = start,
    .wait = wait,
    .group = group,
    .abandon = abandon,
};
