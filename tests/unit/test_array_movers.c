/* Strided copies and sums over a dim, against plain loops. */
#include "dense_arrays.h"

#include "device_cpu.h"

#include <math.h>
#include <string.h>

enum { CASES = 400, DIMS = 5 };

static const ridge_dtype formats[] = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_BF16};

static ridge__device *opened(ridge_ctx *cx, int threads)
{
    ridge__device *d = NULL;
    assert_int_equal(ridge__device_open_cpu(cx, threads, &d), RIDGE_OK);
    /* another instruction set for each number of threads, as far as there are any */
    ridge__cpu_take_kernels(d, threads - 1);
    return d;
}

/* ---- copies ---------------------------------------------------------------------- */

/** Strides of a dense array whose dims lie in a drawn order, with gaps now and then.
 * @return elements */
static int64_t draw_strides(const int64_t *sizes, int n, int64_t *strides, seeded *at)
{
    int order[DIMS];
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)seeded_pick(at, 0, i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    int64_t stride = seeded_pick(at, 0, 7) == 0 ? 3 : 1;
    for (int i = n - 1; i >= 0; i--) {
        strides[order[i]] = stride;
        stride *= sizes[order[i]];
        stride += seeded_pick(at, 0, 4) == 0 ? 5 : 0;
    }
    return stride > 0 ? stride : 1;
}

static int64_t offset_of(const int64_t *index, const int64_t *strides, int n)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++)
        at += index[i] * strides[i];
    return at;
}

/** The next index in row-major order. @return false: there is none */
static bool step(int64_t *index, const int64_t *sizes, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        if (++index[i] < sizes[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/** What y should hold, element by element. */
static void expect(const ridge__copy *c, ridge__array y)
{
    int64_t index[DIMS] = {0};
    for (int i = 0; i < c->n_dims; i++)
        if (c->sizes[i] == 0)
            return;
    do {
        int64_t to = offset_of(index, c->y_strides, c->n_dims);
        double value = dense_get(c->x, offset_of(index, c->x_strides, c->n_dims));
        dense_set(y, to, c->is_added ? dense_get(y, to) + value : value);
    } while (step(index, c->sizes, c->n_dims));
}

static void check_copy(ridge__device *d, seeded *at)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge__copy c = {.n_dims = (int)seeded_pick(at, 0, DIMS),
                     .is_added = seeded_pick(at, 0, 1) == 1};
    int64_t most = c.n_dims < 3 ? 300 : 12;
    for (int i = 0; i < c.n_dims; i++)
        c.sizes[i] = seeded_pick(at, 0, 40) == 0 ? 0 : seeded_pick(at, 1, most);
    int64_t x_elements = draw_strides(c.sizes, c.n_dims, c.x_strides, at);
    int64_t y_elements = draw_strides(c.sizes, c.n_dims, c.y_strides, at);
    if (c.n_dims > 0 && seeded_pick(at, 0, 5) == 0)
        c.x_strides[seeded_pick(at, 0, c.n_dims - 1)] = 0; /* repeated */
    c.x = dense_seeded(cx, formats[seeded_pick(at, 0, 1)], x_elements, at);
    c.y = dense_seeded(cx, formats[seeded_pick(at, 0, 1)], y_elements, at);
    ridge__array want = dense_copy(cx, c.y, y_elements);
    expect(&c, want);
    assert_int_equal(d->ops->copy(d, &c), RIDGE_OK);
    if (!dense_is_same(c.y, want, y_elements))
        fail_msg("a copy of %d dims is wrong", c.n_dims);
    ridge_ctx_close(cx);
}

static void copies_are_right(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge__device *d = opened(cx, threads);
        seeded at = 31;
        for (int i = 0; i < CASES; i++)
            check_copy(d, &at);
        ridge__device_close(d);
        ridge_ctx_close(cx);
    }
}

/** Token ids are whole numbers: their bits are no number of any format. */
static void raw_elements_keep_their_bits(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 2);
    const uint32_t bits[] = {0x7fa00001u, 1u, 0xffffffffu, 0x7f800001u, 50256u, 0u};
    uint32_t y[6] = {0};
    ridge__copy c = {.n_dims = 2,
                     .sizes = {2, 3},
                     .x_strides = {3, 1},
                     .y_strides = {1, 2},
                     .x = {(void *)(uintptr_t)bits, RIDGE_DTYPE_BF16},
                     .y = {y, RIDGE_DTYPE_BF16},
                     .is_raw_4 = true};
    assert_int_equal(d->ops->copy(d, &c), RIDGE_OK);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            assert_int_equal(y[j * 2 + i], bits[i * 3 + j]);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

static void rounding_to_bf16_is_to_nearest_even(void **state)
{
    (void)state;
    const uint32_t from[] = {0x3f808000u, 0x3f818000u, 0x3f808001u, 0x7f7fffffu,
                             0x7f800000u, 0x7f800001u, 0xff800000u, 0x00008000u};
    const uint16_t want[] = {0x3f80u, 0x3f82u, 0x3f81u, 0x7f80u,
                             0x7f80u, 0x7fc0u, 0xff80u, 0x0000u};
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    float x[8];
    uint16_t y[8];
    memcpy(x, from, sizeof x);
    ridge__copy c = {.n_dims = 1,
                     .sizes = {8},
                     .x_strides = {1},
                     .y_strides = {1},
                     .x = {x, RIDGE_DTYPE_FP32},
                     .y = {y, RIDGE_DTYPE_BF16}};
    assert_int_equal(d->ops->copy(d, &c), RIDGE_OK);
    assert_memory_equal(y, want, sizeof want);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

/* ---- sums ------------------------------------------------------------------------ */

static void check_sum(ridge__device *d, ridge__sum s, seeded *at)
{
    ridge_ctx *cx = ridge_ctx_open();
    s.x = dense_seeded(cx, s.x.dtype, s.outer * s.middle * s.inner, at);
    s.y = dense_seeded(cx, s.y.dtype, s.outer * s.inner, at);
    ridge__sum again = s;
    again.y = dense_new(cx, s.y.dtype, s.outer * s.inner);
    assert_int_equal(d->ops->sum(d, &s), RIDGE_OK);
    assert_int_equal(d->ops->sum(d, &again), RIDGE_OK);
    assert_true(dense_is_same(s.y, again.y, s.outer * s.inner));
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        double want = 0.0, size = 0.0;
        for (int64_t j = 0; j < s.middle; j++) {
            int64_t from = (i / s.inner * s.middle + j) * s.inner + i % s.inner;
            want += dense_get(s.x, from);
            size += fabs(dense_get(s.x, from));
        }
        double allowed = size * 0x1p-20 + dense_rounding(s.y.dtype, want);
        assert_true(fabs(dense_get(s.y, i) - want) <= allowed);
    }
    ridge_ctx_close(cx);
}

static void sums_are_right(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {
        {1, 1, 1},    {3, 5, 7},     {1, 100000, 1}, {2, 30000, 1},  {700, 64, 1},
        {1, 9000, 3}, {1, 300, 777}, {20, 90, 40},   {1, 5000, 300}, {0, 5, 5},
        {5, 0, 5},    {5, 5, 0},     {400, 1, 100},  {1, 20000, 33}, {3, 4, 5000}};
    for (int threads = 1; threads <= 3; threads++) {
        ridge_ctx *cx = ridge_ctx_open();
        ridge__device *d = opened(cx, threads);
        seeded at = 32;
        for (size_t i = 0; i < RIDGE_COUNT_OF(sizes); i++)
            for (int bits = 0; bits < 4; bits++)
                check_sum(d,
                          (ridge__sum){.outer = sizes[i][0],
                                       .middle = sizes[i][1],
                                       .inner = sizes[i][2],
                                       .x = {NULL, formats[bits & 1]},
                                       .y = {NULL, formats[bits >> 1]}},
                          &at);
        ridge__device_close(d);
        ridge_ctx_close(cx);
    }
}

/** Forty million equal terms: a running fp32 sum would stop growing at 2^24. */
static void long_sums_keep_their_digits(void **state)
{
    (void)state;
    enum { TERMS = 40 * 1000 * 1000 };
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 2);
    void *p = NULL;
    assert_int_equal(d->ops->alloc(d, (size_t)TERMS * 2, &p), RIDGE_OK);
    const uint16_t one = 0x3f80u;
    for (int64_t i = 0; i < TERMS; i++)
        ((uint16_t *)p)[i] = one;
    float y = 0.0f;
    ridge__sum s = {.outer = 1,
                    .middle = TERMS,
                    .inner = 1,
                    .x = {p, RIDGE_DTYPE_BF16},
                    .y = {&y, RIDGE_DTYPE_FP32}};
    assert_int_equal(d->ops->sum(d, &s), RIDGE_OK);
    assert_near((double)y, (double)TERMS, 1e-6);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_right),
        cmocka_unit_test(raw_elements_keep_their_bits),
        cmocka_unit_test(rounding_to_bf16_is_to_nearest_even),
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(long_sums_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
