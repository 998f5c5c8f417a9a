/* The memory of the CPU's device: counted, reused, aligned, given back. */
#include "near.h"

#include "device_cpu.h"

#include <string.h>

enum { SLOTS = 40 };

static ridge__device *opened(ridge_ctx *cx, int threads)
{
    ridge__device *d = NULL;
    assert_int_equal(ridge__device_open_cpu(cx, threads, &d), RIDGE_OK);
    return d;
}

static void *taken(ridge__device *d, size_t bytes)
{
    void *p = NULL;
    assert_int_equal(d->ops->alloc(d, bytes, &p), RIDGE_OK);
    assert_int_equal((uintptr_t)p % 64, 0);
    return p;
}

static void what_is_held_is_counted(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    void *a = taken(d, 100), *b = taken(d, 64), *c = taken(d, 0);
    assert_int_equal(d->memory.live_bytes, 128 + 64 + 64);
    d->ops->release(d, b);
    assert_int_equal(d->memory.live_bytes, 128 + 64);
    assert_int_equal(d->memory.peak_bytes, 128 + 64 + 64);
    d->ops->release(d, a);
    d->ops->release(d, c);
    d->ops->release(d, NULL);
    assert_int_equal(d->memory.live_bytes, 0);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

static void freed_blocks_are_taken_again(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    void *a = taken(d, 1000000);
    d->ops->release(d, a);
    assert_ptr_equal(taken(d, 1000000), a);
    void *b = taken(d, 1000000);
    assert_ptr_not_equal(a, b);
    d->ops->release(d, b);
    d->ops->release(d, a);
    assert_ptr_equal(taken(d, 999999), a);
    ridge__device_close(d); /* with an array still held */
    ridge_ctx_close(cx);
}

/** Many sizes at once: no two arrays share a byte. */
static void arrays_do_not_overlap(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    unsigned char *p[SLOTS];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SLOTS; i++) {
            size_t bytes = (size_t)1 + (size_t)i * 577 * (size_t)(1 + round);
            p[i] = taken(d, bytes);
            memset(p[i], i, bytes);
        }
        for (int i = 0; i < SLOTS; i++) {
            size_t bytes = (size_t)1 + (size_t)i * 577 * (size_t)(1 + round);
            assert_int_equal(p[i][0], i);
            assert_int_equal(p[i][bytes - 1], i);
            d->ops->release(d, p[i]);
        }
    }
    assert_int_equal(d->memory.live_bytes, 0);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    void *kept = taken(d, 64), *p = NULL;
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 5, (size_t)1 << 60};
    for (int i = 0; i < 4; i++)
        assert_int_equal(d->ops->alloc(d, sizes[i], &p), RIDGE_E_NOMEM);
    assert_string_equal(
        ridge_ctx_message(cx),
        "no memory for an array of 1152921504606846976 bytes beside the "
        "64 that are held: use more ranks, or a smaller batch");
    assert_null(p);
    assert_int_equal(d->memory.live_bytes, 64);
    d->ops->release(d, kept);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

static void bytes_are_moved(void **state)
{
    (void)state;
    enum { BYTES = 300001 };
    ridge_ctx *cx = ridge_ctx_open();
    unsigned char *from = ridge_new(ridge_ctx_arena(cx), unsigned char, BYTES);
    unsigned char *to = ridge_new(ridge_ctx_arena(cx), unsigned char, BYTES);
    for (int i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 7);
    for (int threads = 1; threads <= 3; threads++) {
        ridge__device *d = opened(cx, threads);
        void *p = taken(d, BYTES);
        assert_int_equal(d->ops->upload(d, p, from, BYTES), RIDGE_OK);
        assert_int_equal(d->ops->zero(d, (char *)p + 5, 100000), RIDGE_OK);
        assert_int_equal(d->ops->download(d, to, p, BYTES), RIDGE_OK);
        assert_int_equal(d->ops->finish(d), RIDGE_OK);
        for (int i = 0; i < BYTES; i++)
            assert_int_equal(to[i], i >= 5 && i < 100005 ? 0 : from[i]);
        ridge__device_close(d);
    }
    ridge_ctx_close(cx);
}

static void threads_outside_the_contract_are_refused(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = NULL;
    assert_int_equal(ridge__device_open_cpu(cx, 0, &d), RIDGE_E_ARG);
    assert_null(d);
    ridge__device_close(NULL);
    ridge_ctx_close(cx);
}

static void the_ctx_may_have_no_memory(void **state)
{
    (void)state;
    bool is_opened = false;
    for (size_t budget = 0; budget < 1000000 && !is_opened; budget += 400) {
        ridge_ctx *cx = ridge_ctx_open_budget(budget);
        if (cx == NULL)
            continue;
        ridge__device *d = NULL;
        ridge_status st = ridge__device_open_cpu(cx, 2, &d);
        is_opened = st == RIDGE_OK;
        assert_true(is_opened || st == RIDGE_E_NOMEM);
        ridge__device_close(d);
        ridge_ctx_close(cx);
    }
    assert_true(is_opened);
}

static void the_peak_is_above_what_a_slow_machine_does(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    assert_true(ridge__peak_flops_per_s(d) > 1e6);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_is_counted),
        cmocka_unit_test(freed_blocks_are_taken_again),
        cmocka_unit_test(arrays_do_not_overlap),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(bytes_are_moved),
        cmocka_unit_test(threads_outside_the_contract_are_refused),
        cmocka_unit_test(the_ctx_may_have_no_memory),
        cmocka_unit_test(the_peak_is_above_what_a_slow_machine_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
