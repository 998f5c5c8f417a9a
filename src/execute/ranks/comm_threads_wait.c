/* How a thread rank waits: looks, lets others run, sleeps, loses patience. */
#include "comm_threads.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

/* A rank that waits looks some times, lets other threads run a few times, then sleeps.
 * Where others keep the processor when they get it, as on a machine with more work than
 * processors, it sleeps at once the next times: who is woken gets the processor back,
 * who yields it waits for everyone. */
enum { YIELDS = 16, SLEEP_NS = 100000000, CROWDED_WAITS = 32 };
static const double long_yield_s = 1e-3;

/* ---- waiting --------------------------------------------------------------------- */

static bool is_under_way(const ridge__operation *op, int64_t ticket)
{
    return op->stage != RIDGE__STAGE_FREE && op->ticket == ticket;
}

/** The rank of the world that an operation waits for. */
static int missing_rank(const ridge__operation *op)
{
    const ridge_comm *comm = &op->comm->base;
    if (op->call.kind == RIDGE__CALL_SEND || op->call.kind == RIDGE__CALL_RECEIVE)
        return comm->members[op->call.peer];
    return comm->members[(ridge__operation_peers(op).first + op->seen) % comm->size];
}

static ridge_status fail_late(ridge_ctx *cx, ridge__operation *op)
{
    ridge__thread_rank *me = op->comm->me;
    int late = missing_rank(op);
    ridge__thread_rank *other = &me->world->ranks[late];
    const char *kind = ridge__call_kind_text(op->call.kind);
    int next = atomic_load(&other->waits_for);
    ridge_status st;
    if (next >= 0)
        st = ridge_fail(
            cx, RIDGE_E_IO,
            "rank %d has waited %g s for rank %d in %s: that rank waits "
            "for rank %d in %s",
            me->index, me->world->timeout_s, late, kind, next,
            ridge__call_kind_text((ridge__call_kind)atomic_load(&other->waits_in)));
    else
        st = ridge_fail(cx, RIDGE_E_IO,
                        "rank %d has waited %g s for rank %d in %s: that rank waits "
                        "for none, it is stuck or needs a longer time limit",
                        me->index, me->world->timeout_s, late, kind);
    return ridge__rank_fail_own(cx, me, st);
}

static ridge_status fail_ended(ridge_ctx *cx, ridge__operation *op)
{
    ridge__thread_rank *me = op->comm->me;
    return ridge__rank_fail_own(
        cx, me,
        ridge_fail(cx, RIDGE_E_IO,
                   "rank %d waits for rank %d in %s, but that has ended: "
                   "the ranks of a group start the same collectives",
                   me->index, missing_rank(op), ridge__call_kind_text(op->call.kind)));
}

static struct timespec time_after(int64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t sum = t.tv_nsec + ns;
    t.tv_sec += (time_t)(sum / 1000000000);
    t.tv_nsec = (long)(sum % 1000000000);
    return t;
}

/** Sleep until another rank has news, or for a while. is_asleep was set, and then all
 * was looked at once more. */
static void sleep_until_woken(ridge__thread_rank *me)
{
    double rest_ns = me->world->timeout_s * 0.25e9;
    struct timespec end = time_after(rest_ns < SLEEP_NS ? (int64_t)rest_ns : SLEEP_NS);
    pthread_mutex_lock(&me->mutex);
    while (atomic_load(&me->is_asleep)) {
        if (pthread_cond_timedwait(&me->wake, &me->mutex, &end) == ETIMEDOUT)
            break;
    }
    atomic_store(&me->is_asleep, false);
    pthread_mutex_unlock(&me->mutex);
}

/** Let others run. */
static void yield(ridge__thread_rank *me)
{
    const double start_s = ridge_clock_s();
    sched_yield();
    if (ridge_clock_s() - start_s > long_yield_s)
        me->crowded_waits = CROWDED_WAITS;
}

/** One round of patience: yield at first, then sleep unless there is news. */
static ridge_status rest(ridge_ctx *cx, ridge__operation *op, int64_t ticket, int round)
{
    ridge__thread_rank *me = op->comm->me;
    if (round < YIELDS && me->crowded_waits == 0) {
        yield(me);
        return RIDGE_OK;
    }
    int late = missing_rank(op);
    bool has_ended = atomic_load(&me->world->ranks[late].state) == RIDGE__RANK_ENDED;
    atomic_store(&me->waits_in, (int)op->call.kind);
    atomic_store(&me->waits_for, late);
    atomic_store(&me->is_asleep, true);
    RIDGE_TRY(ridge__rank_advance(cx, me));
    if (!is_under_way(op, ticket)) {
        atomic_store(&me->is_asleep, false);
        return RIDGE_OK;
    }
    if (has_ended && missing_rank(op) == late)
        return fail_ended(cx, op);
    sleep_until_woken(me);
    return RIDGE_OK;
}

/** Until a call is over. */
static ridge_status wait_for(ridge_ctx *cx, ridge__operation *op, int64_t ticket)
{
    ridge__thread_rank *me = op->comm->me;
    double end_s = 0;
    for (int round = -1;; round++) {
        int looks = 0;
        do {
            RIDGE_TRY(ridge__rank_advance(cx, me));
        } while (is_under_way(op, ticket) && ++looks < me->world->spins);
        if (!is_under_way(op, ticket))
            break;
        double now_s = ridge_clock_s();
        if (round < 0)
            end_s = now_s + me->world->timeout_s;
        else if (now_s > end_s)
            return fail_late(cx, op);
        RIDGE_TRY(rest(cx, op, ticket, round < 0 ? 0 : round));
    }
    if (me->crowded_waits > 0)
        me->crowded_waits--;
    atomic_store(&me->waits_for, -1);
    return RIDGE_OK;
}

/* ---- the table ------------------------------------------------------------------- */

static ridge_status start(ridge_ctx *cx, ridge_comm *base, const ridge__comm_call *call,
                          int64_t *ticket)
{
    ridge__thread_comm *comm = (ridge__thread_comm *)base;
    ridge__thread_rank *me = comm->me;
    atomic_fetch_add(&me->calls, 1);
    if (atomic_load(&me->world->is_stopped))
        return ridge__rank_fail_told(cx, me);
    if (call->kind == RIDGE__CALL_SEND || call->kind == RIDGE__CALL_RECEIVE)
        return ridge__letter_start(cx, comm, call, ticket);
    *ticket = ++comm->tickets;
    ridge__operation *op = &comm->collectives[*ticket % RIDGE_PENDING_MAX];
    if (op->stage != RIDGE__STAGE_FREE)
        RIDGE_TRY(wait_for(cx, op, op->ticket));
    ridge__collective_start(comm, call, *ticket);
    return RIDGE_OK;
}

/** The operation of a ticket; NULL: it is over. */
static ridge__operation *find(ridge__thread_comm *comm, int64_t ticket)
{
    if (ticket > 0) {
        ridge__operation *op = &comm->collectives[ticket % RIDGE_PENDING_MAX];
        return is_under_way(op, ticket) ? op : NULL;
    }
    for (int i = 0; i < RIDGE_PENDING_MAX; i++) {
        if (is_under_way(&comm->letters[i], ticket))
            return &comm->letters[i];
    }
    return NULL;
}

static ridge_status wait(ridge_ctx *cx, ridge_comm *base, int64_t ticket)
{
    ridge__thread_comm *comm = (ridge__thread_comm *)base;
    if (atomic_load(&comm->me->world->is_stopped))
        return ridge__rank_fail_told(cx, comm->me);
    ridge__operation *op = find(comm, ticket);
    return op == NULL ? RIDGE_OK : wait_for(cx, op, ticket);
}

static ridge_status group(ridge_ctx *cx, ridge_comm *world, const int *members, int n,
                          ridge_comm **out)
{
    ridge__thread_comm *comm;
    RIDGE_TRY(ridge__thread_group_join(cx, ((ridge__thread_comm *)world)->me, members,
                                       n, &comm));
    *out = &comm->base;
    return RIDGE_OK;
}

static void abandon(ridge_comm *comm)
{
    ridge__rank_abandon(((ridge__thread_comm *)comm)->me);
}

const ridge__comm_ops ridge__thread_ops = {
    .start = start,
    .wait = wait,
    .group = group,
    .abandon = abandon,
};
