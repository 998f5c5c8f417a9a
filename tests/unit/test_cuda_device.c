/* The GPU as a device held to the CPU's: memory, products, and what the tests of single
 * kernels leave out: wide heads, many rows of one word, long rows. */
#include "device.h"
#include "near.h"
#include "seeded.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** The same arrays on both devices. */
typedef struct pair {
    ridge_ctx *cx;
    ridge__device *d[2]; /* the CPU's, the GPU's */
    seeded at;
} pair;

/** An array on both. */
typedef struct twins {
    ridge__array on[2];
    int64_t n;
} twins;

/* ---- both devices ---------------------------------------------------------------- */

static void ok(const pair *p, ridge_status status)
{
    if (status != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(p->cx));
}

static pair pair_open(uint64_t seed)
{
    pair p = {.cx = ridge_ctx_open(), .at = seed};
    assert_non_null(p.cx);
    if (ridge__device_open_cuda(p.cx, 0, &p.d[1]) != RIDGE_OK) {
        fprintf(stderr, "skipped: %s\n", ridge_ctx_message(p.cx));
        const bool is_missing =
            strstr(ridge_ctx_message(p.cx), "no GPU") != NULL ||
            strstr(ridge_ctx_message(p.cx), "built without CUDA") != NULL;
        ridge_ctx_close(p.cx);
        assert_true(is_missing);
        skip();
    }
    ok(&p, ridge__device_open_cpu(p.cx, 1, &p.d[0]));
    return p;
}

static void pair_close(pair *p)
{
    assert_int_equal(p->d[1]->memory.live_bytes, 0);
    ridge__device_close(p->d[0]);
    ridge__device_close(p->d[1]);
    ridge_ctx_close(p->cx);
}

static size_t bytes_of(const twins *t)
{
    return (size_t)t->n * (t->on[0].dtype == RIDGE_DTYPE_BF16 ? 2 : 4);
}

/** Random numbers of -size .. size. */
static twins twins_new(pair *p, ridge_dtype dtype, int64_t n, double size)
{
    twins t = {.n = n};
    float *x = ridge_new(ridge_ctx_arena(p->cx), float, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(size * ((double)seeded_pick(&p->at, -1000, 1000) / 1000.0));
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const uint16_t half = (uint16_t)(bits >> 16);
        if (dtype == RIDGE_DTYPE_BF16)
            memcpy((char *)x + 2 * i, &half, sizeof half);
    }
    for (int k = 0; k < 2; k++) {
        t.on[k].dtype = dtype;
        ok(p, p->d[k]->ops->alloc(p->d[k], bytes_of(&t), &t.on[k].p));
        ok(p, p->d[k]->ops->upload(p->d[k], t.on[k].p, x, bytes_of(&t)));
    }
    return t;
}

static float value_at(const void *p, ridge_dtype dtype, int64_t i)
{
    float value;
    if (dtype != RIDGE_DTYPE_BF16) {
        memcpy(&value, (const char *)p + 4 * i, sizeof value);
        return value;
    }
    uint16_t half;
    memcpy(&half, (const char *)p + 2 * i, sizeof half);
    const uint32_t bits = (uint32_t)half << 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** Fail unless both hold the same, but for rounding. */
static void twins_check(pair *p, const twins *t, double tolerance, const char *what)
{
    void *x[2];
    for (int k = 0; k < 2; k++) {
        x[k] = ridge_new(ridge_ctx_arena(p->cx), char, bytes_of(t) + 1);
        ok(p, p->d[k]->ops->download(p->d[k], x[k], t->on[k].p, bytes_of(t)));
    }
    const double rounding = t->on[0].dtype == RIDGE_DTYPE_BF16 ? 0x1p-7 : 0.0;
    for (int64_t i = 0; i < t->n; i++) {
        const double want = (double)value_at(x[0], t->on[0].dtype, i);
        const double got = (double)value_at(x[1], t->on[0].dtype, i);
        const double most = tolerance * (1.0 + fabs(want)) + rounding * fabs(want);
        if (!(fabs(got - want) <= most) && !(isinf(want) && got == want))
            fail_msg("%s[%lld] is %.9g on the GPU, %.9g on the CPU", what, (long long)i,
                     got, want);
    }
}

static void twins_release(pair *p, twins *const *all, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            p->d[k]->ops->release(p->d[k], all[i]->on[k].p);
}

/* ---- products -------------------------------------------------------------------- */

static ridge_dtype pick_dtype(pair *p)
{
    return seeded_pick(&p->at, 0, 1) == 0 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
}

static ridge__gemm pick_product(pair *p)
{
    ridge__gemm g = {.batch = seeded_pick(&p->at, 1, 3),
                     .m = seeded_pick(&p->at, 1, 20),
                     .n = seeded_pick(&p->at, 1, 20),
                     .k = seeded_pick(&p->at, 0, 20)};
    g.is_a_transposed = seeded_pick(&p->at, 0, 1) == 1;
    g.is_b_transposed = seeded_pick(&p->at, 0, 1) == 1;
    g.is_added = seeded_pick(&p->at, 0, 1) == 1;
    g.lda = (g.is_a_transposed ? g.m : g.k) + seeded_pick(&p->at, 0, 3);
    g.ldb = (g.is_b_transposed ? g.k : g.n) + seeded_pick(&p->at, 0, 3);
    g.ldc = g.n + seeded_pick(&p->at, 0, 3);
    g.lda += g.lda == 0;
    g.ldb += g.ldb == 0;
    g.stride_a = seeded_pick(&p->at, 0, 3) == 0 ? 0 : 23 * g.lda;
    g.stride_b = seeded_pick(&p->at, 0, 3) == 0 ? 0 : 23 * g.ldb;
    g.stride_c = 23 * g.ldc;
    return g;
}

static void products_are_the_cpus(void **state)
{
    (void)state;
    pair p = pair_open(1);
    for (int i = 0; i < 60; i++) {
        ridge__gemm g = pick_product(&p);
        twins a = twins_new(&p, pick_dtype(&p), 69 * g.lda, 1.0);
        twins b = twins_new(&p, pick_dtype(&p), 69 * g.ldb, 1.0);
        twins c = twins_new(&p, pick_dtype(&p), 69 * g.ldc, 1.0);
        for (int k = 0; k < 2; k++) {
            g.a = a.on[k];
            g.b = b.on[k];
            g.c = c.on[k];
            ok(&p, p.d[k]->ops->gemm(p.d[k], &g));
        }
        twins_check(&p, &c, 4e-6, "c");
        twins_release(&p, (twins *const[]){&a, &b, &c}, 3);
    }
    pair_close(&p);
}

static void grouped_products_are_the_cpus(void **state)
{
    (void)state;
    static const int64_t offsets[] = {0, 5, 5, 17, 18};
    enum { GROUPS = 4, ROWS = 18, K = 12, N = 7 };
    pair p = pair_open(2);
    for (int form = 0; form < 12; form++) {
        const bool is_outer = form % 3 == 2;
        const ridge_dtype dtype = form < 6 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
        twins in = twins_new(&p, dtype, ROWS * K, 1.0);
        twins w = twins_new(&p, dtype, is_outer ? ROWS * N : GROUPS * K * N, 1.0);
        twins out = twins_new(&p, dtype, is_outer ? GROUPS * K * N : ROWS * N, 1.0);
        for (int k = 0; k < 2; k++) {
            const ridge__grouped_gemm g = {
                GROUPS,        offsets,      K,         N,
                in.on[k],      w.on[k],      out.on[k], is_outer,
                form % 3 == 1, form % 2 == 1};
            ok(&p, p.d[k]->ops->grouped_gemm(p.d[k], &g));
        }
        twins_check(&p, &out, 4e-6, "out");
        twins_release(&p, (twins *const[]){&in, &w, &out}, 3);
    }
    pair_close(&p);
}

/* ---- wide heads --------------------------------------------------------------------
 */

static ridge__attention wide_attention(int64_t h, int64_t hv)
{
    return (ridge__attention){.batch = 1,
                              .t = 19,
                              .s = 37,
                              .s_valid = 37,
                              .stride_s = 37,
                              .heads = 2,
                              .kv_heads = 1,
                              .h = h,
                              .hv = hv,
                              .q_start = 18,
                              .is_causal = true,
                              .scale = 1.0f / sqrtf((float)h)};
}

static void attend_wide(pair *p, int64_t h, int64_t hv)
{
    ridge__attention a = wide_attention(h, hv);
    const int64_t rows = a.t * a.heads, entries = a.s;
    twins q = twins_new(p, RIDGE_DTYPE_FP32, rows * h, 2.0);
    twins k = twins_new(p, RIDGE_DTYPE_FP32, entries * h, 2.0);
    twins v = twins_new(p, RIDGE_DTYPE_FP32, entries * hv, 1.0);
    twins o = twins_new(p, RIDGE_DTYPE_FP32, rows * hv, 0.0);
    twins lse = twins_new(p, RIDGE_DTYPE_FP32, rows, 0.0);
    twins d_o = twins_new(p, RIDGE_DTYPE_FP32, rows * hv, 1.0);
    twins d_q = twins_new(p, RIDGE_DTYPE_FP32, rows * h, 1.0);
    twins d_k = twins_new(p, RIDGE_DTYPE_FP32, entries * h, 1.0);
    twins d_v = twins_new(p, RIDGE_DTYPE_FP32, entries * hv, 1.0);
    for (int i = 0; i < 2; i++) {
        a.q = q.on[i];
        a.k = k.on[i];
        a.v = v.on[i];
        a.o = o.on[i];
        a.lse = lse.on[i].p;
        a.d_o = d_o.on[i];
        a.d_q = d_q.on[i];
        a.d_k = d_k.on[i];
        a.d_v = d_v.on[i];
        a.is_added = h % 2 == 0;
        ok(p, p->d[i]->ops->attention(p->d[i], &a));
        ok(p, p->d[i]->ops->attention_backward(p->d[i], &a));
    }
    twins_check(p, &o, 1e-5, "o");
    twins_check(p, &lse, 1e-5, "lse");
    twins_check(p, &d_q, 1e-5, "d_q");
    twins_check(p, &d_k, 1e-5, "d_k");
    twins_check(p, &d_v, 1e-5, "d_v");
    twins_release(p, (twins *const[]){&q, &k, &v, &o, &lse, &d_o, &d_q, &d_k, &d_v}, 9);
}

static void wide_heads_attend_as_on_the_cpu(void **state)
{
    (void)state;
    static const int64_t widths[][2] = {{65, 65},   {128, 128}, {192, 128},
                                        {200, 256}, {257, 257}, {576, 512}};
    pair p = pair_open(3);
    for (size_t i = 0; i < RIDGE_COUNT_OF(widths); i++)
        attend_wide(&p, widths[i][0], widths[i][1]);
    pair_close(&p);
}

static void wider_heads_are_refused(void **state)
{
    (void)state;
    pair p = pair_open(4);
    const ridge__attention a = wide_attention(577, 64);
    assert_int_equal(p.d[1]->ops->attention(p.d[1], &a), RIDGE_E_ARG);
    assert_non_null(strstr(ridge_ctx_message(p.cx), "at most 576 and 512"));
    pair_close(&p);
}

/* ---- rows ------------------------------------------------------------------------ */

static void many_rows_of_a_word_add_up_in_order(void **state)
{
    (void)state;
    enum { ROWS = 1500, WORDS = 3, D = 5 };
    pair p = pair_open(5);
    static int32_t host[ROWS];
    for (int i = 0; i < ROWS; i++)
        host[i] = (int32_t)(seeded_pick(&p.at, 0, 9) == 0 ? i % WORDS : 1);
    twins ids = twins_new(&p, RIDGE_DTYPE_FP32, ROWS, 0.0);
    twins y = twins_new(&p, RIDGE_DTYPE_FP32, ROWS * D, 1.0);
    twins table = twins_new(&p, RIDGE_DTYPE_FP32, WORDS * D, 1.0);
    for (int k = 0; k < 2; k++) {
        ok(&p, p.d[k]->ops->upload(p.d[k], ids.on[k].p, host, sizeof host));
        const ridge__gather g = {ROWS,        D,           WORDS,   0,
                                 ids.on[k].p, table.on[k], y.on[k], true};
        ok(&p, p.d[k]->ops->gather(p.d[k], &g));
    }
    twins_check(&p, &table, 0.0, "table");
    twins_release(&p, (twins *const[]){&ids, &y, &table}, 3);
    pair_close(&p);
}

static void sums_are_the_cpus(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {
        {3, 700, 1}, {2, 5, 40}, {4, 100, 3}, {1, 0, 6}, {0, 3, 3}};
    pair p = pair_open(6);
    for (size_t i = 0; i < RIDGE_COUNT_OF(shapes); i++) {
        ridge__sum s = {shapes[i][0], shapes[i][1], shapes[i][2], {0}, {0}};
        twins x = twins_new(&p, pick_dtype(&p), s.outer * s.middle * s.inner, 1.0);
        twins y = twins_new(&p, pick_dtype(&p), s.outer * s.inner, 1.0);
        for (int k = 0; k < 2; k++) {
            s.x = x.on[k];
            s.y = y.on[k];
            ok(&p, p.d[k]->ops->sum(p.d[k], &s));
        }
        twins_check(&p, &y, 1e-5, "y");
        twins_release(&p, (twins *const[]){&x, &y}, 2);
    }
    pair_close(&p);
}

/** From any layout to any other, converted, added. */
static void copies_are_the_cpus(void **state)
{
    (void)state;
    pair p = pair_open(7);
    for (int i = 0; i < 16; i++) {
        ridge__copy c = {.n_dims = 3,
                         .sizes = {3, 4, 5},
                         .x_strides = {40, 1, 6},
                         .y_strides = {1, 21, 3},
                         .is_added = i % 2 == 1};
        twins x = twins_new(&p, pick_dtype(&p), 200, 1.0);
        twins y = twins_new(&p, pick_dtype(&p), 200, 1.0);
        for (int k = 0; k < 2; k++) {
            c.x = x.on[k];
            c.y = y.on[k];
            ok(&p, p.d[k]->ops->copy(p.d[k], &c));
        }
        twins_check(&p, &y, 0.0, "y");
        twins_release(&p, (twins *const[]){&x, &y}, 2);
    }
    pair_close(&p);
}

/* ---- memory ------------------------------------------------------------------------
 */

static void memory_is_counted(void **state)
{
    (void)state;
    pair p = pair_open(8);
    ridge__device *d = p.d[1];
    void *blocks[600];
    for (int i = 0; i < 600; i++)
        ok(&p, d->ops->alloc(d, (size_t)i, &blocks[i]));
    assert_true(d->memory.live_bytes >= 600 * 599 / 2);
    for (int i = 0; i < 600; i += 2)
        d->ops->release(d, blocks[i]);
    for (int i = 599; i > 0; i -= 2)
        d->ops->release(d, blocks[i]);
    d->ops->release(d, NULL);
    assert_int_equal(d->memory.live_bytes, 0);
    assert_true(d->memory.peak_bytes >= 600 * 599 / 2);
    assert_int_equal(d->ops->alloc(d, SIZE_MAX, &blocks[0]), RIDGE_E_NOMEM);
    pair_close(&p);
}

static void what_is_zeroed_comes_back_as_zero(void **state)
{
    (void)state;
    pair p = pair_open(9);
    ridge__device *d = p.d[1];
    const int32_t numbers[] = {1, 2, 3, 4};
    int32_t back[4];
    void *block;
    ok(&p, d->ops->alloc(d, sizeof numbers, &block));
    ok(&p, d->ops->upload(d, block, numbers, sizeof numbers));
    ok(&p, d->ops->zero(d, (char *)block + 4, 8));
    ok(&p, d->ops->download(d, back, block, sizeof back));
    assert_true(back[0] == 1 && back[1] == 0 && back[2] == 0 && back[3] == 4);
    ok(&p, d->ops->finish(d));
    d->ops->release(d, block);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_the_cpus),
        cmocka_unit_test(grouped_products_are_the_cpus),
        cmocka_unit_test(wide_heads_attend_as_on_the_cpu),
        cmocka_unit_test(wider_heads_are_refused),
        cmocka_unit_test(many_rows_of_a_word_add_up_in_order),
        cmocka_unit_test(sums_are_the_cpus),
        cmocka_unit_test(copies_are_the_cpus),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(what_is_zeroed_comes_back_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
