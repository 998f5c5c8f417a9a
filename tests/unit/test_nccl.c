/* Ranks on GPUs that fail, are stuck or forget to wait: the run ends in time and says
 * why. What collectives compute is tested with those of the other engines. */
#include "comm_faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int skip_without_gpus(void **state)
{
    (void)state;
    const char *lack = ridge_engine_lacks(RIDGE_ENGINE_CUDA);
    if (lack != NULL)
        fprintf(stderr, "skipped: %s\n", lack);
    return 0;
}

/** The run's status, its message in text; skips where there are too few GPUs. */
static ridge_status run(int ranks, double timeout_s, ridge_rank_fn *fn, void *payload,
                        char text[512])
{
    ridge_ctx *cx = ridge_ctx_open();
    assert_non_null(cx);
    const ridge_ranks how = {RIDGE_ENGINE_CUDA, ranks, timeout_s};
    const ridge_status status = ridge_ranks_run(cx, &how, fn, payload);
    snprintf(text, 512, "%s", ridge_ctx_message(cx));
    ridge_ctx_close(cx);
    if (strstr(text, "engine cuda: ") != NULL || strstr(text, " GPUs: ") != NULL)
        skip();
    return status;
}

static void assert_fault(const char *name, double timeout_s, const char *part)
{
    static comm_fault_state states[8]; /* a rank that is left behind may read it */
    static int used;
    comm_fault_state *state = &states[used++ % 8];
    char text[512];
    const comm_fault *fault = comm_fault_find(name);
    assert_int_not_equal(run(2, timeout_s, fault->fn, state, text), RIDGE_OK);
    atomic_store(&state->is_released, true);
    if (strstr(text, part) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", name, part, text);
}

static void a_rank_that_fails_ends_the_run(void **state)
{
    (void)state;
    assert_fault("fails", 20, "rank 1: the flour has run out: buy more");
    assert_fault("gives-up", 20, "rank 1: no room for the dough");
    assert_fault("all-fail", 20, "rank 0: the mesh has 9 ranks");
}

static void a_rank_that_is_stuck_ends_the_run(void **state)
{
    (void)state;
    assert_fault("stuck", 0.3,
                 "has waited 0.3 s for the other 1 ranks of its group in ");
    assert_fault("no-message", 0.3, "has waited 0.3 s for ");
    assert_fault("ends-early", 0.3, "has waited 0.3 s for ");
}

static void a_rank_must_wait_for_what_it_starts(void **state)
{
    (void)state;
    assert_fault("does-not-wait", 20, "it has ended with all-reduce under way");
}

static void a_message_has_one_size(void **state)
{
    (void)state;
    assert_fault("other-message", 20, "both have the same size and element");
}

static ridge_status nothing(ridge_ctx *cx, ridge_comm *world, void *payload)
{
    (void)payload;
    RIDGE_TRY(ridge_barrier(cx, world));
    if (ridge_comm_engine(world) != RIDGE_ENGINE_CUDA)
        return ridge_fail(cx, RIDGE_E_INTERNAL, "it runs on another engine");
    return RIDGE_OK;
}

static void ranks_meet_in_a_barrier(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(run(2, 20, nothing, NULL, text), RIDGE_OK);
}

static void more_ranks_than_gpus_are_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_ranks how = {RIDGE_ENGINE_CUDA, 999, 1};
    assert_int_equal(ridge_ranks_run(cx, &how, nothing, NULL), RIDGE_E_ARG);
    const char *text = ridge_ctx_message(cx);
    assert_true(strstr(text, "999 ranks on ") != NULL ||
                strstr(text, "engine cuda: ") != NULL);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_fails_ends_the_run),
        cmocka_unit_test(a_rank_that_is_stuck_ends_the_run),
        cmocka_unit_test(a_rank_must_wait_for_what_it_starts),
        cmocka_unit_test(a_message_has_one_size),
        cmocka_unit_test(ranks_meet_in_a_barrier),
        cmocka_unit_test(more_ranks_than_gpus_are_refused),
    };
    return cmocka_run_group_tests(tests, skip_without_gpus, NULL);
}
