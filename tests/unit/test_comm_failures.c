/* What goes wrong among thread ranks ends the run in time, with a message that says
 * which rank and why. */
#include "comm_faults.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_message(ridge_ctx *cx, const char *part)
{
    if (strstr(ridge_ctx_message(cx), part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, ridge_ctx_message(cx));
}

static void test_faults(void **unused)
{
    (void)unused;
    static comm_fault_state states[32][2]; /* a rank that is left behind may read it */
    for (int i = 0; i < comm_fault_count; i++) {
        for (int ranks = 2; ranks <= comm_faults[i].most_ranks; ranks += 3) {
            comm_fault_state *state = &states[i][ranks / 3];
            ridge_ctx *cx = ridge_ctx_open();
            ridge_ranks how = {.engine = RIDGE_ENGINE_THREADS,
                               .ranks = ranks,
                               .timeout_s = comm_faults[i].timeout_s};
            assert_int_not_equal(ridge_ranks_run(cx, &how, comm_faults[i].fn, state),
                                 RIDGE_OK);
            assert_message(cx, comm_faults[i].message);
            atomic_store(&state->is_released, true);
            if (strcmp(comm_faults[i].name, "fails") == 0)
                assert_int_equal(atomic_load(&state->stopped), ranks - 1);
            ridge_ctx_close(cx);
        }
    }
}

/** A run that could not start. */
static void assert_refused(const ridge_ranks *how, const char *part)
{
    ridge_ctx *cx = ridge_ctx_open();
    assert_int_equal(ridge_ranks_run(cx, how, comm_faults[0].fn, NULL), RIDGE_E_ARG);
    assert_message(cx, part);
    ridge_ctx_close(cx);
}

static void test_refused(void **unused)
{
    (void)unused;
    assert_refused(&(ridge_ranks){RIDGE_ENGINE_THREADS, 0, 1}, "0 ranks: ");
    assert_refused(&(ridge_ranks){RIDGE_ENGINE_THREADS, 1025, 1}, "1 to 1024");
    assert_refused(&(ridge_ranks){RIDGE_ENGINE_THREADS, 2, 0}, "time limit of 0 s");
    assert_refused(&(ridge_ranks){RIDGE_ENGINE_THREADS, 2, (double)NAN}, "time limit");
    if (ridge_engine_lacks(RIDGE_ENGINE_MPI) != NULL)
        assert_refused(&(ridge_ranks){RIDGE_ENGINE_MPI, 2, 1}, "libopenmpi-dev");
    else
        assert_refused(&(ridge_ranks){RIDGE_ENGINE_MPI, 64, 1}, "mpirun -n 64");
}

static void test_engines(void **unused)
{
    (void)unused;
    ridge_ctx *cx = ridge_ctx_open();
    for (int i = 0; i < RIDGE_ENGINE_COUNT; i++) {
        ridge_engine found = RIDGE_ENGINE_THREADS;
        assert_int_equal(
            ridge_engine_parse(cx, ridge_engine_text((ridge_engine)i), &found),
            RIDGE_OK);
        assert_int_equal((int)found, i);
    }
    ridge_engine found;
    assert_int_equal(ridge_engine_parse(cx, "tcp", &found), RIDGE_E_NOTFOUND);
    assert_message(cx, "unknown engine 'tcp': one of threads, mpi, cuda");
    assert_null(ridge_engine_lacks(RIDGE_ENGINE_THREADS));
    ridge_ctx_close(cx);
}

/* ---- cancelling ------------------------------------------------------------------ */

typedef struct cancelling {
    ridge_ctx *cx;
    bool is_computing; /* ranks look at their flag instead of waiting */
    atomic_int ready;
} cancelling;

static ridge_status wait_for_ever(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    cancelling *c = payload;
    float x = 0;
    ridge_pending pending;
    RIDGE_TRY(ridge_barrier(cx, world));
    if (atomic_fetch_add(&c->ready, 1) == ridge_comm_size(world) - 1)
        ridge_ctx_cancel(c->cx);
    while (c->is_computing && !ridge_ctx_is_cancelled(cx))
        sched_yield();
    RIDGE_TRY(ridge_receive_start(cx, world, RIDGE_ELEMENT_F32, 1,
                                  ridge_comm_rank(world), 0, &x, &pending));
    return ridge_comm_wait(cx, &pending);
}

static void test_cancelled(void **unused)
{
    (void)unused;
    for (int is_computing = 0; is_computing < 2; is_computing++) {
        cancelling c = {.cx = ridge_ctx_open(), .is_computing = is_computing == 1};
        ridge_ranks how = {RIDGE_ENGINE_THREADS, 3, 20};
        assert_int_equal(ridge_ranks_run(c.cx, &how, wait_for_ever, &c),
                         RIDGE_E_CANCELLED);
        assert_message(c.cx, "cancelled");
        ridge_ctx_close(c.cx);
    }
}

/* ---- left behind ----------------------------------------------------------------- */

/** A rank that never looks: the run ends without it, and it may end later. */
static void test_left_behind(void **unused)
{
    (void)unused;
    const comm_fault *stuck = comm_fault_find("stuck");
    static comm_fault_state state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_ranks how = {RIDGE_ENGINE_THREADS, 2, 0.2};
    assert_int_equal(ridge_ranks_run(cx, &how, stuck->fn, &state), RIDGE_E_IO);
    assert_message(cx, "rank 0 has waited 0.2 s for rank 1 in all-reduce: that rank "
                       "waits for none");
    assert_message(cx, "; rank 1 did not stop and was left behind");
    atomic_store(&state.is_released, true);
    ridge_ctx_close(cx);
}

/** Runs one after the other, and a run within a rank of another. */
static ridge_status inner(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    return ridge_barrier(cx, world);
}

static ridge_status outer(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    RIDGE_TRY(ridge_barrier(cx, world));
    ridge_ranks how = {RIDGE_ENGINE_THREADS, 2, 20};
    RIDGE_TRY(ridge_ranks_run(cx, &how, inner, payload));
    return ridge_barrier(cx, world);
}

static void test_nested(void **unused)
{
    (void)unused;
    ridge_ctx *cx = ridge_ctx_open();
    ridge_ranks how = {RIDGE_ENGINE_THREADS, 3, 20};
    for (int i = 0; i < 5; i++)
        assert_int_equal(ridge_ranks_run(cx, &how, outer, NULL), RIDGE_OK);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_engines),     cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_left_behind), cmocka_unit_test(test_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
