/* Threads: every item once, the same answer from any number, a cancel that is heard. */
#include "near.h"
#include "ridge/base_parallel.h"

#include <string.h>

enum { ITEMS = 5000, WORKERS = 64 };

typedef struct tally {
    ridge_ctx *cx;
    int64_t cancel_at;
    int visits[ITEMS];
    double best[WORKERS];
    int64_t best_item[WORKERS];
    bool is_out_of_range;
} tally;

static double score_of(int64_t item)
{
    return (double)((item * 7919 + 13) % 1009); /* many items share the best */
}

static void visit(void *payload, int64_t item, int worker)
{
    tally *t = payload;
    if (worker < 0 || worker >= WORKERS || item < 0 || item >= ITEMS) {
        t->is_out_of_range = true;
        return;
    }
    t->visits[item]++;
    if (score_of(item) > t->best[worker]) {
        t->best[worker] = score_of(item);
        t->best_item[worker] = item;
    }
    if (item == t->cancel_at)
        ridge_ctx_cancel(t->cx);
}

typedef ridge_status parallel(ridge_ctx *cx, int workers, int64_t items,
                              void (*fn)(void *payload, int64_t item, int worker),
                              void *payload);

static tally run_by(parallel *by, int workers, int64_t items)
{
    ridge_ctx *cx = ridge_ctx_open();
    tally t = {.cx = cx, .cancel_at = -1};
    for (int w = 0; w < WORKERS; w++)
        t.best[w] = -1;
    assert_int_equal(by(cx, workers, items, visit, &t), RIDGE_OK);
    ridge_ctx_close(cx);
    return t;
}

static tally run(int workers, int64_t items)
{
    return run_by(ridge_parallel, workers, items);
}

static int64_t merged_best(const tally *t)
{
    double best = -1;
    int64_t item = ITEMS;
    for (int w = 0; w < WORKERS; w++) {
        bool is_better =
            t->best[w] > best || (t->best[w] == best && t->best_item[w] < item);
        if (t->best[w] >= 0 && is_better) {
            best = t->best[w];
            item = t->best_item[w];
        }
    }
    return item;
}

static void every_item_is_visited_once(void **state)
{
    static const int workers[] = {-1, 0, 1, 2, 7, 64, 1000};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(workers); i++) {
        tally t = run(workers[i], ITEMS);
        assert_false(t.is_out_of_range);
        for (int k = 0; k < ITEMS; k++)
            assert_int_equal(t.visits[k], 1);
    }
}

static void the_answer_does_not_depend_on_the_threads(void **state)
{
    (void)state;
    tally one = run(1, ITEMS);
    const int64_t want = merged_best(&one);
    static const int workers[] = {2, 7, 64};
    for (size_t i = 0; i < RIDGE_COUNT_OF(workers); i++) {
        tally t = run(workers[i], ITEMS);
        assert_int_equal(merged_best(&t), want);
    }
}

static void runs_of_neighbours_leave_nothing_out(void **state)
{
    static const int workers[] = {-1, 0, 1, 2, 7, 64, 1000};
    static const int64_t items[] = {-3, 0, 1, 2, 5, 63, 65, ITEMS};
    (void)state;
    for (size_t i = 0; i < RIDGE_COUNT_OF(workers); i++) {
        for (size_t n = 0; n < RIDGE_COUNT_OF(items); n++) {
            const tally t = run_by(ridge_parallel_runs, workers[i], items[n]);
            assert_false(t.is_out_of_range);
            for (int k = 0; k < ITEMS; k++)
                assert_int_equal(t.visits[k], k < items[n] ? 1 : 0);
        }
    }
}

static void one_worker_runs_in_the_caller_in_order(void **state)
{
    (void)state;
    tally t = run(1, 10);
    for (int w = 1; w < WORKERS; w++)
        assert_near(t.best[w], -1, 0);
}

static void no_items_are_no_work(void **state)
{
    (void)state;
    tally none = run(7, 0);
    tally fewer = run(7, -3);
    for (int k = 0; k < ITEMS; k++)
        assert_int_equal(none.visits[k] + fewer.visits[k], 0);
}

static void a_cancel_stops_the_rest(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    tally t = {.cx = cx, .cancel_at = 100};
    assert_int_equal(ridge_parallel(cx, 1, ITEMS, visit, &t), RIDGE_E_CANCELLED);
    assert_non_null(strstr(ridge_ctx_message(cx), "cancelled"));
    for (int k = 0; k < ITEMS; k++)
        assert_int_equal(t.visits[k], k <= 100 ? 1 : 0);
    assert_int_equal(ridge_parallel(cx, 7, ITEMS, visit, &t), RIDGE_E_CANCELLED);
    for (int k = 0; k < ITEMS; k++)
        assert_int_equal(t.visits[k], k <= 100 ? 1 : 0);
    ridge_ctx_close(cx);
}

static void several_threads_hear_a_cancel(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    tally t = {.cx = cx, .cancel_at = 0};
    assert_int_equal(ridge_parallel(cx, 7, ITEMS, visit, &t), RIDGE_E_CANCELLED);
    for (int k = 0; k < ITEMS; k++)
        assert_true(t.visits[k] <= 1);
    ridge_ctx_close(cx);
}

typedef struct account {
    ridge_lock *lock;
    int64_t sum;
} account;

static void pay_in(void *payload, int64_t item, int worker)
{
    account *a = payload;
    (void)worker;
    ridge_lock_take(a->lock);
    a->sum += item;
    ridge_lock_give(a->lock);
}

static void a_lock_keeps_threads_apart(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    account a = {NULL, 0};
    assert_int_equal(ridge_lock_open(cx, &a.lock), RIDGE_OK);
    assert_int_equal(ridge_parallel(cx, 7, ITEMS, pay_in, &a), RIDGE_OK);
    assert_int_equal(a.sum, (int64_t)ITEMS * (ITEMS - 1) / 2);
    ridge_ctx_close(cx);
}

static void there_is_a_processor(void **state)
{
    (void)state;
    assert_in_range(ridge_processor_count(), 1, WORKERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_visited_once),
        cmocka_unit_test(the_answer_does_not_depend_on_the_threads),
        cmocka_unit_test(runs_of_neighbours_leave_nothing_out),
        cmocka_unit_test(one_worker_runs_in_the_caller_in_order),
        cmocka_unit_test(no_items_are_no_work),
        cmocka_unit_test(a_cancel_stops_the_rest),
        cmocka_unit_test(several_threads_hear_a_cancel),
        cmocka_unit_test(a_lock_keeps_threads_apart),
        cmocka_unit_test(there_is_a_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
