/* Runs this process as one rank of MPI: starts MPI once, ends it with the program. */
#include "comm_mpi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 200, SPINS_SHARED = 1 };

static const double told_wait_s = 2, ask_limit_s = 1;

/* Kept by MPI itself, as the name of its communicator of one. */
static const char failed_name[] = "ridge failed";

const char *ridge__mpi_lacks(void)
{
    return NULL;
}

/* ---- MPI's own life -------------------------------------------------------------- */

static void finalize(void)
{
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (!is_over)
        MPI_Finalize();
}

/** Ranks that are stuck are stopped too. */
static void stop_all(void)
{
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static bool has_failed(void)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int n = 0;
    return MPI_Comm_get_name(MPI_COMM_SELF, name, &n) == MPI_SUCCESS &&
           strcmp(name, failed_name) == 0;
}

static ridge_status start_mpi(ridge_ctx *cx)
{
    int is_started = 0, is_over = 0, level = 0;
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Initialized(&is_started), "starting"));
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Finalized(&is_over), "starting"));
    if (is_over)
        return ridge_fail(cx, RIDGE_E_IO, "MPI has ended in this program already");
    if (!is_started) {
        RIDGE_TRY(ridge__mpi_check(
            cx, MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level),
            "starting"));
        if (atexit(finalize) != 0)
            return ridge_fail_nomem(cx);
    }
    if (has_failed())
        return ridge_fail(cx, RIDGE_E_IO,
                          "an earlier run on MPI failed: start the program again");
    return ridge__mpi_check(
        cx, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "starting");
}

static ridge_status check_launch(ridge_ctx *cx, const ridge_ranks *how)
{
    int launched = ridge_launched_ranks();
    if (launched == how->ranks)
        return RIDGE_OK;
    return ridge_fail(cx, RIDGE_E_ARG,
                      "%d ranks are wanted and %d %s: start the program with mpirun "
                      "-n %d",
                      how->ranks, launched, launched == 1 ? "runs" : "run", how->ranks);
}

/* ---- the world ------------------------------------------------------------------- */

/** Whether more ranks than processors are on this machine. */
static ridge_status choose_spins(ridge_ctx *cx, ridge__mpi_world *world)
{
    MPI_Comm here;
    int size = 1;
    RIDGE_TRY(ridge__mpi_check(cx,
                               MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED,
                                                   0, MPI_INFO_NULL, &here),
                               "starting"));
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Comm_size(here, &size), "starting"));
    MPI_Comm_free(&here);
    world->spins = size <= ridge_processor_count() ? SPINS : SPINS_SHARED;
    return RIDGE_OK;
}

/** With a ctx of its own, as the rank's function may rewind that of the caller. NULL:
 * no memory. */
static ridge__mpi_world *new_world(void)
{
    ridge_ctx *own = ridge_ctx_open();
    if (own == NULL)
        return NULL;
    ridge__mpi_world *world = ridge_new(ridge_ctx_arena(own), ridge__mpi_world, 1);
    if (world == NULL)
        ridge_ctx_close(own);
    else
        world->own = own;
    return world;
}

static ridge_status open_world(ridge_ctx *cx, const ridge_ranks *how,
                               ridge__mpi_world *world, ridge__mpi_comm **out)
{
    *world = (ridge__mpi_world){.own = world->own,
                                .ops = &ridge__mpi_ops,
                                .size = how->ranks,
                                .timeout_s = how->timeout_s,
                                .combine = ridge__combine_choose(),
                                .notice_request = MPI_REQUEST_NULL,
                                .waits_in = RIDGE__MPI_NO_CALL,
                                .failed = -1};
    RIDGE_TRY(
        ridge__mpi_check(cx, MPI_Comm_rank(MPI_COMM_WORLD, &world->rank), "starting"));
    int size = 0;
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Comm_size(MPI_COMM_WORLD, &size), "starting"));
    if (size != how->ranks)
        return ridge_fail(cx, RIDGE_E_ARG, "%d ranks are wanted, MPI has %d",
                          how->ranks, size);
    RIDGE_TRY(choose_spins(cx, world));
    RIDGE_TRY(ridge__mpi_check(cx, MPI_Comm_dup(MPI_COMM_WORLD, &world->notices),
                               "starting"));
    RIDGE_TRY(ridge__notices_open(cx, world));
    int *members = ridge_new(ridge_ctx_arena(world->own), int, (size_t)size);
    if (members == NULL)
        return ridge_fail_nomem(cx);
    for (int r = 0; r < size; r++)
        members[r] = r;
    return ridge__mpi_comm_open(cx, world, members, size, out);
}

/** After a run in which all ranks have ended well. */
static void close_world(ridge__mpi_world *world)
{
    bool is_clear = ridge__notices_see_off(world);
    ridge__notices_close(world);
    for (ridge__mpi_comm *c = world->comms; c != NULL; c = c->next) {
        MPI_Comm_free(&c->checks);
        MPI_Comm_free(&c->later);
        MPI_Comm_free(&c->data);
    }
    MPI_Comm_free(&world->notices);
    if (is_clear) /* else MPI may still read it */
        ridge_ctx_close(world->own);
}

/* ---- the end of a run ------------------------------------------------------------ */

/** What a rank that has ended waits for: rank 0 for all, the others for rank 0. */
static bool is_end(const ridge__mpi_world *world)
{
    return world->rank == 0 ? world->ended == world->size : world->is_released;
}

/** A rank for which this one waits: it has not ended, or has not been heard of. */
static int find_late(const ridge__mpi_world *world)
{
    for (int r = 0; world->rank == 0 && r < world->size; r++) {
        if (!world->has_ended[r])
            return r;
    }
    return 0;
}

/** Whether the late rank still has to do with others. */
static ridge_status ask_late(ridge_ctx *cx, ridge__mpi_world *world, int late)
{
    ridge__notice question = {
        .kind = RIDGE__NOTICE_ASK, .rank = world->rank, .number = -1};
    world->asked_number = -1;
    world->asked_ticket = 0;
    world->has_answered[late] = false;
    ridge__notice_send(world, late, &question);
    double end_s = ridge_clock_s() + ask_limit_s;
    for (int64_t looks = 0; ridge_clock_s() < end_s; looks++) {
        RIDGE_TRY(ridge__mpi_advance(cx, world));
        if (is_end(world) || world->has_answered[late])
            return RIDGE_OK;
        ridge__mpi_rest(world, looks + world->spins);
    }
    return ridge__mpi_fail_own(
        cx, world,
        ridge_fail(cx, RIDGE_E_IO,
                   "rank %d: it has run on for %g s after other ranks ended: it is "
                   "stuck or needs a longer time limit",
                   late, world->timeout_s));
}

static ridge_status meet_at_end(ridge_ctx *cx, ridge__mpi_world *world)
{
    ridge__notice ended = {.kind = RIDGE__NOTICE_ENDED, .rank = world->rank};
    ridge__notice release = {.kind = RIDGE__NOTICE_RELEASE, .rank = 0};
    world->waits_in = RIDGE__MPI_ENDED;
    if (world->rank == 0) {
        world->has_ended[0] = true;
        world->ended++;
    } else {
        ridge__notice_send(world, 0, &ended);
    }
    double end_s = ridge_clock_s() + world->timeout_s;
    for (int64_t looks = 0; !is_end(world); looks++) {
        RIDGE_TRY(ridge__mpi_advance(cx, world));
        ridge__mpi_rest(world, looks);
        if (looks < world->spins || ridge_clock_s() < end_s || is_end(world))
            continue;
        RIDGE_TRY(ask_late(cx, world, find_late(world)));
        end_s = ridge_clock_s() + world->timeout_s;
    }
    if (world->rank == 0)
        ridge__notice_tell(world, &release);
    return RIDGE_OK;
}

/** Say what the first failure was, on whichever rank this is. */
static ridge_status fail_run(ridge_ctx *cx, const ridge__mpi_world *world)
{
    MPI_Comm_set_name(MPI_COMM_SELF, failed_name);
    bool is_ready = atexit(stop_all) == 0;
    if (world->is_told && is_ready)
        nanosleep(&(struct timespec){.tv_sec = (time_t)told_wait_s}, NULL);
    if (world->failed < 0)
        return ridge_fail(cx, world->status, "cancelled: all ranks were stopped");
    if (strncmp(world->cause, "rank ", 5) == 0)
        return ridge_fail(cx, world->status, "%s", world->cause);
    return ridge_fail(cx, world->status, "rank %d: %s", world->failed, world->cause);
}

static ridge_status run_rank(ridge_ctx *cx, ridge__mpi_world *world,
                             ridge__mpi_comm *comm, ridge_rank_fn *fn, void *payload)
{
    ridge_status st = fn(cx, &comm->base, payload);
    if (st == RIDGE_OK && !world->is_stopped && world->first != NULL)
        st = ridge_fail(cx, RIDGE_E_ARG,
                        "it has ended with %s under way: wait for each call",
                        ridge__call_kind_text(world->first->call.kind));
    if (st != RIDGE_OK && !world->is_stopped)
        return ridge__mpi_fail_own(cx, world, st);
    if (world->failed == world->rank && st != RIDGE_OK) /* it may have said more */
        snprintf(world->cause, sizeof world->cause, "%s", ridge_ctx_message(cx));
    return world->is_stopped ? RIDGE_E_IO : meet_at_end(cx, world);
}

ridge_status ridge__mpi_run(ridge_ctx *cx, const ridge_ranks *how, ridge_rank_fn *fn,
                            void *payload)
{
    RIDGE_TRY(check_launch(cx, how));
    RIDGE_TRY(start_mpi(cx));
    ridge__mpi_world *world = new_world();
    if (world == NULL)
        return ridge_fail_nomem(cx);
    ridge__mpi_comm *comm;
    RIDGE_TRY(open_world(cx, how, world, &comm));
    ridge_status st = run_rank(cx, world, comm, fn, payload);
    if (st != RIDGE_OK)
        return fail_run(cx, world);
    close_world(world);
    return RIDGE_OK;
}
