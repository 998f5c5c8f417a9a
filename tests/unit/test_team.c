/* The threads of one device: all run, all are waited for, shares cover the whole. */
#include "near.h"

#include "team.h"

#include <string.h>
#include <time.h>

enum { WORKERS = 3, RUNS = 2000 };

typedef struct tally {
    int64_t runs[8]; /* of each worker; no atomics: the team is what orders them */
    int workers;
} tally;

static void count(void *payload, int worker, int workers)
{
    tally *t = payload;
    t->runs[worker]++;
    if (worker == 0)
        t->workers = workers;
}

static ridge__team *opened(ridge_ctx *cx, int workers)
{
    ridge__team *team = NULL;
    assert_int_equal(ridge__team_open(cx, workers, &team), RIDGE_OK);
    assert_int_equal(ridge__team_workers(team), workers);
    return team;
}

static void every_worker_runs_each_time(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    for (int workers = 1; workers <= WORKERS; workers++) {
        ridge__team *team = opened(cx, workers);
        tally t = {0};
        for (int i = 0; i < RUNS; i++) {
            ridge__team_run(team, count, &t);
            for (int w = 0; w < workers; w++)
                assert_int_equal(t.runs[w], i + 1);
        }
        assert_int_equal(t.workers, workers);
        ridge__team_close(team);
    }
    ridge_ctx_close(cx);
}

static void a_sleeping_team_wakes(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__team *team = opened(cx, WORKERS);
    tally t = {0};
    for (int i = 0; i < 5; i++) {
        /* long enough for the workers to stop looking and sleep */
        struct timespec pause = {.tv_nsec = 2000000};
        nanosleep(&pause, NULL);
        ridge__team_run(team, count, &t);
    }
    for (int w = 0; w < WORKERS; w++)
        assert_int_equal(t.runs[w], 5);
    ridge__team_close(team);
    ridge_ctx_close(cx);
}

static void a_team_without_work_closes(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__team_close(opened(cx, WORKERS));
    ridge__team_close(NULL);
    ridge_ctx_close(cx);
}

static void sizes_outside_the_contract_are_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__team *team = NULL;
    assert_int_equal(ridge__team_open(cx, 0, &team), RIDGE_E_ARG);
    assert_string_equal(ridge_ctx_message(cx),
                        "0 threads for a device: take 1 to 1024");
    assert_int_equal(ridge__team_open(cx, 1025, &team), RIDGE_E_ARG);
    assert_null(team);
    ridge_ctx_close(cx);
}

static void check_parts(int64_t n, int64_t grain, int workers)
{
    int64_t at = 0;
    for (int w = 0; w < workers; w++) {
        ridge__part p = ridge__part_of(n, grain, w, workers);
        assert_int_equal(p.first, at);
        assert_true(p.end >= p.first);
        assert_true(p.first % grain == 0 || p.first == n);
        at = p.end;
    }
    assert_int_equal(at, n);
}

static void parts_cover_all_items_once(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 100; n++)
        for (int64_t grain = 1; grain < 20; grain++)
            for (int workers = 1; workers < 9; workers++)
                check_parts(n, grain, workers);
}

static void write_scratch(void *payload, int worker, int workers)
{
    (void)workers;
    const ridge__team *team = payload;
    char *mine = ridge__team_scratch(team, worker);
    assert_int_equal((uintptr_t)mine % 64, 0);
    memset(mine, worker, 5000);
}

static void scratch_grows(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__team *team = opened(cx, WORKERS);
    assert_int_equal(ridge__team_reserve(team, cx, 10), RIDGE_OK);
    assert_int_equal(ridge__team_reserve(team, cx, 5000), RIDGE_OK);
    ridge__team_run(team, write_scratch, team);
    void *kept = ridge__team_scratch(team, 1);
    assert_int_equal(ridge__team_reserve(team, cx, 100), RIDGE_OK);
    assert_ptr_equal(kept, ridge__team_scratch(team, 1));
    assert_int_equal(ridge__team_reserve_shared(team, cx, 5000), RIDGE_OK);
    memset(ridge__team_shared(team), 7, 5000);
    assert_int_equal(ridge__team_reserve(team, cx, SIZE_MAX / 4), RIDGE_E_NOMEM);
    /* what failed is not left half done */
    assert_int_equal(ridge__team_reserve(team, cx, 5000), RIDGE_OK);
    ridge__team_run(team, write_scratch, team);
    ridge__team_close(team);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_worker_runs_each_time),
        cmocka_unit_test(a_sleeping_team_wakes),
        cmocka_unit_test(a_team_without_work_closes),
        cmocka_unit_test(sizes_outside_the_contract_are_refused),
        cmocka_unit_test(parts_cover_all_items_once),
        cmocka_unit_test(scratch_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
