/* Memory of a request: zeroed, aligned, counted against the budget, rewound. */
#include "near.h"
#include "ridge/base.h"

#include <stdalign.h>
#include <string.h>

static int open_ctx(void **state)
{
    *state = ridge_ctx_open();
    return *state == NULL ? -1 : 0;
}

static int close_ctx(void **state)
{
    ridge_ctx_close(*state);
    return 0;
}

static bool is_filled(const char *p, char c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != c)
            return false;
    }
    return true;
}

static void memory_is_zeroed_and_aligned(void **state)
{
    ridge_arena *arena = ridge_ctx_arena(*state);
    for (size_t n = 0; n < 300; n++) {
        char *p = ridge_new(arena, char, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
        assert_true(is_filled(p, 0, n));
        memset(p, 0x5a, n);
    }
}

static void memory_after_a_rewind_is_zeroed_again(void **state)
{
    ridge_arena *arena = ridge_ctx_scratch(*state);
    assert_non_null(ridge_new(arena, char, 100));
    for (int round = 0; round < 3; round++) {
        ridge_mark mark = ridge_arena_mark(arena);
        char *p = ridge_new(arena, char, 5000);
        assert_true(is_filled(p, 0, 5000));
        memset(p, 0x5a, 5000);
        ridge_arena_rewind(arena, mark);
    }
}

static void allocations_do_not_overlap(void **state)
{
    enum { COUNT = 400 };
    ridge_arena *arena = ridge_ctx_arena(*state);
    char *p[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        p[i] = ridge_new(arena, char, i * 7 + 1);
        memset(p[i], (int)(i % 100) + 1, i * 7 + 1);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_true(is_filled(p[i], (char)(i % 100 + 1), i * 7 + 1));
}

static void what_stands_before_a_mark_survives_a_rewind(void **state)
{
    ridge_arena *arena = ridge_ctx_scratch(*state);
    char *kept = ridge_new(arena, char, 1000);
    memset(kept, 'k', 1000);
    ridge_mark mark = ridge_arena_mark(arena);
    for (int i = 0; i < 50; i++)
        assert_non_null(ridge_new(arena, char, 100000));
    ridge_arena_rewind(arena, mark);
    assert_true(is_filled(kept, 'k', 1000));
}

static void a_product_that_overflows_is_refused(void **state)
{
    ridge_arena *arena = ridge_ctx_arena(*state);
    assert_null(ridge_arena_new(arena, SIZE_MAX / 2, 3));
    assert_null(ridge_arena_new(arena, SIZE_MAX, 1));
    assert_null(ridge_arena_new(arena, SIZE_MAX - 7, 1));
    assert_non_null(ridge_arena_new(arena, 0, SIZE_MAX));
}

static void the_budget_is_shared_by_both_arenas(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open_budget(10000);
    assert_non_null(ridge_new(ridge_ctx_arena(cx), char, 6000));
    ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(cx));
    assert_null(ridge_new(ridge_ctx_scratch(cx), char, 6000));
    assert_null(ridge_new(ridge_ctx_arena(cx), char, 6000));
    assert_non_null(ridge_new(ridge_ctx_arena(cx), char, 3000));
    ridge_arena_rewind(ridge_ctx_arena(cx), mark);
    assert_non_null(ridge_new(ridge_ctx_arena(cx), char, 3000));
    ridge_ctx_close(cx);
}

static void a_rewind_gives_the_budget_back(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open_budget(100000);
    ridge_arena *scratch = ridge_ctx_scratch(cx);
    for (int i = 0; i < 100; i++) {
        ridge_mark mark = ridge_arena_mark(scratch);
        assert_non_null(ridge_new(scratch, char, 90000));
        assert_null(ridge_new(scratch, char, 90000));
        ridge_arena_rewind(scratch, mark);
    }
    assert_non_null(ridge_new(ridge_ctx_arena(cx), char, 90000));
    ridge_ctx_close(cx);
}

static void a_small_budget_can_be_used_up(void **state)
{
    (void)state;
    for (size_t budget = 16; budget < 200000; budget *= 3) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        size_t got = 0;
        while (ridge_new(ridge_ctx_arena(cx), char, 16) != NULL)
            got += 16;
        assert_true(got <= budget);
        assert_true(got + 16 > budget);
        ridge_ctx_close(cx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(memory_after_a_rewind_is_zeroed_again),
        cmocka_unit_test(allocations_do_not_overlap),
        cmocka_unit_test(what_stands_before_a_mark_survives_a_rewind),
        cmocka_unit_test(a_product_that_overflows_is_refused),
        cmocka_unit_test(the_budget_is_shared_by_both_arenas),
        cmocka_unit_test(a_rewind_gives_the_budget_back),
        cmocka_unit_test(a_small_budget_can_be_used_up),
    };
    return cmocka_run_group_tests(tests, open_ctx, close_ctx);
}
