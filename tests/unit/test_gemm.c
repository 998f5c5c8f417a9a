/* Products of matrices against sums in double precision: shapes, formats, strides,
 * transpositions, batches and thread counts. */
#include "dense_arrays.h"

#include "gemm.h"

#include <math.h>

enum { THREADS = 3 };

static const ridge_dtype formats[] = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_BF16};

static ridge__device *opened(ridge_ctx *cx, int threads)
{
    ridge__device *d = NULL;
    assert_int_equal(ridge__device_open_cpu(cx, threads, &d), RIDGE_OK);
    return d;
}

/** Elements of one matrix with rows of ld. */
static int64_t extent(int64_t rows, int64_t columns, int64_t ld)
{
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
}

static double a_at(const ridge__gemm *g, int64_t batch, int64_t i, int64_t k)
{
    int64_t at = g->is_a_transposed ? k * g->lda + i : i * g->lda + k;
    return dense_get(g->a, batch * g->stride_a + at);
}

static double b_at(const ridge__gemm *g, int64_t batch, int64_t k, int64_t j)
{
    int64_t at = g->is_b_transposed ? j * g->ldb + k : k * g->ldb + j;
    return dense_get(g->b, batch * g->stride_b + at);
}

/** One element of c; before is what c held. */
static void check_element(const ridge__gemm *g, ridge__array before, int64_t batch,
                          int64_t i, int64_t j)
{
    int64_t at = batch * g->stride_c + i * g->ldc + j;
    double want = g->is_added ? dense_get(before, at) : 0.0, size = fabs(want);
    for (int64_t k = 0; k < g->k; k++) {
        double term = a_at(g, batch, i, k) * b_at(g, batch, k, j);
        want += term;
        size += fabs(term);
    }
    /* Each term rounds once where it is added, and errors of both signs cancel. */
    double allowed =
        size * 0x1p-24 * (4.0 + sqrt((double)g->k)) + dense_rounding(g->c.dtype, want);
    double got = dense_get(g->c, at);
    if (!(fabs(got - want) <= allowed))
        fail_msg("c[%d, %d, %d] = %.9g, not %.9g (m %d n %d k %d)", (int)batch, (int)i,
                 (int)j, got, want, (int)g->m, (int)g->n, (int)g->k);
}

/** All elements, or some of them where they are many; and the gaps between rows. */
static void check(const ridge__gemm *g, ridge__array before, int64_t c_elements)
{
    int64_t step = 1 + g->m * g->n * g->k / 200000;
    for (int64_t batch = 0; batch < g->batch; batch++)
        for (int64_t at = 0; at < g->m * g->n; at += step)
            check_element(g, before, batch, at / g->n, at % g->n);
    for (int64_t at = 0; at < c_elements; at++) {
        int64_t within = g->stride_c > 0 ? at % g->stride_c : at;
        bool is_gap = within >= extent(g->m, g->n, g->ldc) || within % g->ldc >= g->n;
        if (is_gap && dense_get(g->c, at) != dense_get(before, at))
            fail_msg("element %d between rows of c was written", (int)at);
    }
}

/** Fill in arrays and strides of g, whose sizes and flags are set; gap: between rows.
 */
static int64_t fill(ridge_ctx *cx, ridge__gemm *g, const ridge_dtype *dtypes, int gap,
                    seeded *at)
{
    int64_t a_rows = g->is_a_transposed ? g->k : g->m;
    int64_t b_rows = g->is_b_transposed ? g->n : g->k;
    int64_t a_columns = g->is_a_transposed ? g->m : g->k;
    int64_t b_columns = g->is_b_transposed ? g->k : g->n;
    g->lda = a_columns + gap + (a_columns == 0);
    g->ldb = b_columns + 2 * gap + (b_columns == 0);
    g->ldc = g->n + gap + (g->n == 0);
    g->stride_a = extent(a_rows, a_columns, g->lda) + gap;
    g->stride_b = gap == 1 ? 0 : extent(b_rows, b_columns, g->ldb) + gap;
    g->stride_c = extent(g->m, g->n, g->ldc) + gap;
    int64_t c_elements =
        g->batch == 0 ? 0 : (g->batch - 1) * g->stride_c + extent(g->m, g->n, g->ldc);
    g->a = dense_seeded(cx, dtypes[0], g->batch * g->stride_a, at);
    g->b = dense_seeded(cx, dtypes[1],
                        g->batch * g->stride_b + extent(b_rows, b_columns, g->ldb), at);
    g->c = dense_seeded(cx, dtypes[2], c_elements, at);
    return c_elements;
}

/** Run twice: right, and the same to the bit. */
static void run_and_check(ridge__device *d, ridge__gemm *g, const ridge_dtype *dtypes,
                          int gap, seeded *at)
{
    ridge_ctx *cx = ridge_ctx_open();
    int64_t c_elements = fill(cx, g, dtypes, gap, at);
    ridge__array before = dense_copy(cx, g->c, c_elements);
    ridge__gemm again = *g;
    again.c = dense_copy(cx, g->c, c_elements);
    assert_int_equal(d->ops->gemm(d, g), RIDGE_OK);
    check(g, before, c_elements);
    assert_int_equal(d->ops->gemm(d, &again), RIDGE_OK);
    assert_true(dense_is_same(g->c, again.c, c_elements));
    ridge_ctx_close(cx);
}

typedef struct sizes {
    int64_t batch, m, n, k;
} sizes;

/** All transpositions, formats and both of added and not, of one shape; on one device
 * after the other. */
static void check_shape(ridge__device *const *devices, int n_devices, sizes s, int gap,
                        seeded *at)
{
    for (int bits = 0; bits < 64; bits++) {
        const ridge_dtype dtypes[] = {formats[bits & 1], formats[bits >> 1 & 1],
                                      formats[bits >> 2 & 1]};
        ridge__gemm g = {.batch = s.batch,
                         .m = s.m,
                         .n = s.n,
                         .k = s.k,
                         .is_a_transposed = (bits >> 3 & 1) != 0,
                         .is_b_transposed = (bits >> 4 & 1) != 0,
                         .is_added = (bits >> 5 & 1) != 0};
        run_and_check(devices[bits % n_devices], &g, dtypes, gap, at);
    }
}

static void check_shapes(const sizes *all, int n, int gap)
{
    seeded at = 11;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *devices[THREADS];
    for (int i = 0; i < THREADS; i++) {
        devices[i] = opened(cx, i + 1);
        ridge__cpu_take_kernels(devices[i], i); /* as far as there are any */
    }
    for (int i = 0; i < n; i++)
        check_shape(devices, THREADS, all[i], gap, &at);
    for (int i = 0; i < THREADS; i++)
        ridge__device_close(devices[i]);
    ridge_ctx_close(cx);
}

static void small_products_are_right(void **state)
{
    (void)state;
    const sizes all[] = {{1, 1, 1, 1},  {1, 2, 3, 5},    {1, 7, 9, 17},
                         {1, 16, 4, 9}, {1, 17, 33, 31}, {1, 40, 5, 64}};
    check_shapes(all, 6, 0);
    check_shapes(all, 6, 3);
}

static void few_rows_are_right(void **state)
{
    (void)state;
    const sizes all[] = {{1, 1, 700, 130}, {1, 3, 130, 2100}, {1, 16, 300, 77}};
    check_shapes(all, 3, 0);
    check_shapes(all, 1, 2);
}

static void products_of_many_tiles_are_right(void **state)
{
    (void)state;
    const sizes all[] = {{1, 130, 600, 70}, {1, 1100, 40, 60}, {1, 65, 129, 600}};
    check_shapes(all, 3, 0);
}

static void batches_are_right(void **state)
{
    (void)state;
    const sizes all[] = {{5, 9, 20, 8}, {3, 33, 65, 40}, {2, 1, 30, 50}};
    check_shapes(all, 3, 0);
    check_shapes(all, 3, 1); /* one b for all */
    check_shapes(all, 3, 4);
}

static void empty_products_are_right(void **state)
{
    (void)state;
    const sizes all[] = {{1, 0, 5, 3}, {1, 4, 0, 3},   {1, 4, 5, 0},
                         {0, 4, 5, 3}, {3, 40, 70, 0}, {1, 300, 300, 0}};
    check_shapes(all, 6, 0);
    check_shapes(all, 6, 2);
}

/** The library's own product of bf16, wherever the CPU has one. */
static void bf16_of_the_library_is_right(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 2);
    if (!ridge__gemm_library_take_bf16(ridge__cpu_of(d)->library, true)) {
        ridge__device_close(d);
        ridge_ctx_close(cx);
        skip();
    }
    const sizes all[] = {{1, 17, 33, 31}, {1, 130, 600, 70}, {3, 40, 65, 40}};
    seeded at = 12;
    for (int i = 0; i < 3; i++)
        for (int gap = 0; gap < 3; gap++)
            check_shape(&d, 1, all[i], gap, &at);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

/** What was measured says which way a size goes, small or large. */
static void check_choice(ridge__device *d, int64_t m, bool is_direct, seeded *at)
{
    ridge_ctx *cx = ridge_ctx_open();
    ridge__gemm_library *library = ridge__cpu_of(d)->library;
    const double sizes_m[] = {64, 65}, one[] = {1};
    const double falling[] = {2, 1}, rising[] = {1, 2};
    const ridge_grid direct = {3, {2, 1, 1}, {sizes_m, one, one}, falling};
    const ridge_grid converted = {3, {2, 1, 1}, {sizes_m, one, one}, rising};
    const ridge_named_grid both[] = {{"direct.bf16", direct},
                                     {"converted.bf16", converted}};
    const ridge_measured_chip measured = {.matmul = {2, both}};
    const ridge_dtype bf16[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_DTYPE_FP32};
    ridge__gemm told = {.batch = 1, .m = m, .n = 70, .k = 300};
    const int64_t n = fill(cx, &told, bf16, 0, at);
    ridge__gemm chosen = told;
    chosen.c = dense_copy(cx, told.c, n);
    (void)ridge__gemm_library_take_bf16(library, is_direct);
    assert_int_equal(d->ops->gemm(d, &told), RIDGE_OK);
    (void)ridge__gemm_library_take_bf16(library, !is_direct);
    ridge__cpu_take_measured(d, &measured);
    assert_int_equal(d->ops->gemm(d, &chosen), RIDGE_OK);
    assert_true(dense_is_same(told.c, chosen.c, n));
    ridge__cpu_take_measured(d, NULL);
    ridge_ctx_close(cx);
}

static void bf16_goes_the_way_that_was_quicker(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 2);
    seeded at = 16;
    check_choice(d, 20, ridge__gemm_library_can_bf16(ridge__cpu_of(d)->library), &at);
    check_choice(d, 200, false, &at);
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

/** A library keeps a number of shapes; more of them are made anew. */
static void many_shapes_of_bf16_are_right(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 1);
    (void)ridge__gemm_library_take_bf16(ridge__cpu_of(d)->library, true);
    const ridge_dtype bf16[] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16, RIDGE_DTYPE_BF16};
    seeded at = 13;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 80; i++) {
            ridge__gemm g = {.batch = 1, .m = 20, .n = 5 + i, .k = 7};
            run_and_check(d, &g, bf16, 0, &at);
        }
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

/** What is computed does not hang on when. */
static void shapes_in_turn_are_the_same(void **state)
{
    (void)state;
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, 2);
    seeded at = 14;
    const ridge_dtype fp32[] = {RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32, RIDGE_DTYPE_FP32};
    ridge__gemm g = {.batch = 1, .m = 200, .n = 310, .k = 90};
    int64_t n = fill(cx, &g, fp32, 0, &at);
    assert_int_equal(d->ops->gemm(d, &g), RIDGE_OK);
    for (int i = 0; i < 20; i++) {
        ridge__gemm again = g, other = g;
        again.c = dense_new(cx, RIDGE_DTYPE_FP32, n);
        other.c = dense_new(cx, RIDGE_DTYPE_FP32, n);
        other.k = 40 + i;
        assert_int_equal(d->ops->gemm(d, &other), RIDGE_OK);
        assert_int_equal(d->ops->gemm(d, &again), RIDGE_OK);
        assert_true(dense_is_same(g.c, again.c, n));
    }
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

/** As if it were added to each row afterwards, to the bit. */
static void check_bias(ridge__device *d, sizes s, ridge_dtype format, seeded *at)
{
    ridge_ctx *cx = ridge_ctx_open();
    const ridge_dtype dtypes[] = {format, format, format};
    ridge__gemm plain = {.batch = s.batch, .m = s.m, .n = s.n, .k = s.k};
    const int64_t n = fill(cx, &plain, dtypes, 3, at);
    ridge__gemm biased = plain;
    biased.c = dense_copy(cx, plain.c, n);
    biased.bias = dense_seeded(cx, format, s.n, at);
    ridge__copy add = {.n_dims = 3,
                       .sizes = {s.batch, s.m, s.n},
                       .x_strides = {0, 0, 1},
                       .y_strides = {plain.stride_c, plain.ldc, 1},
                       .x = biased.bias,
                       .y = plain.c,
                       .is_added = true};
    assert_int_equal(d->ops->gemm(d, &plain), RIDGE_OK);
    assert_int_equal(d->ops->copy(d, &add), RIDGE_OK);
    assert_int_equal(d->ops->gemm(d, &biased), RIDGE_OK);
    assert_true(dense_is_same(plain.c, biased.c, n));
    ridge_ctx_close(cx);
}

static void biases_are_added_to_rows(void **state)
{
    (void)state;
    const sizes all[] = {{1, 5, 7, 3},     {1, 1100, 200, 9}, {1, 40, 1500, 20},
                         {3, 20, 130, 16}, {1, 1, 600, 700},  {1, 4, 5, 0}};
    ridge_ctx *cx = ridge_ctx_open();
    ridge__device *d = opened(cx, THREADS);
    seeded at = 15;
    assert_true(d->ops->takes_bias);
    for (size_t i = 0; i < RIDGE_COUNT_OF(all); i++) {
        for (int f = 0; f < 2; f++)
            check_bias(d, all[i], formats[f], &at);
    }
    ridge__device_close(d);
    ridge_ctx_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_products_are_right),
        cmocka_unit_test(few_rows_are_right),
        cmocka_unit_test(products_of_many_tiles_are_right),
        cmocka_unit_test(batches_are_right),
        cmocka_unit_test(empty_products_are_right),
        cmocka_unit_test(bf16_of_the_library_is_right),
        cmocka_unit_test(bf16_goes_the_way_that_was_quicker),
        cmocka_unit_test(many_shapes_of_bf16_are_right),
        cmocka_unit_test(shapes_in_turn_are_the_same),
        cmocka_unit_test(biases_are_added_to_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
