/* Trials of kernels, and arrays for them. */
#include "kernel_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MOST = 3 };

/* ---- trials ---------------------------------------------------------------------- */

static uint64_t trial_run(kernel_trial *t, kernel_run *run, uint64_t seed)
{
    t->at = seed;
    t->bits = 0;
    const ridge_mark mark = ridge_arena_mark(ridge_ctx_arena(t->cx));
    run(t);
    ridge_arena_rewind(ridge_ctx_arena(t->cx), mark);
    while (t->n_blocks > 0)
        free(t->blocks[--t->n_blocks]);
    return t->bits;
}

/** With the kernels at that place. @return false: there are none */
static bool place_run(int place, int threads, kernel_run *run, int rounds)
{
    kernel_trial t = {.cx = ridge_ctx_open()};
    assert_non_null(t.cx);
    assert_int_equal(ridge__device_open_cpu(t.cx, threads, &t.d), RIDGE_OK);
    const bool is_there = ridge__cpu_take_kernels(t.d, place);
    for (int i = 0; i < 2 * rounds && is_there; i++) {
        t.dtype = i % 2 == 0 ? RIDGE_DTYPE_FP32 : RIDGE_DTYPE_BF16;
        const uint64_t seed = (uint64_t)(1000 * threads + i);
        const uint64_t bits = trial_run(&t, run, seed);
        if (trial_run(&t, run, seed) != bits)
            fail_msg("%s, %d threads, seed %d: a second run differs",
                     ridge__cpu_of(t.d)->kernels->isa, threads, (int)seed);
    }
    ridge__device_close(t.d);
    ridge_ctx_close(t.cx);
    return is_there;
}

void kernel_trials(kernel_run *run, int rounds)
{
    for (int place = 0; place_run(place, 1, run, rounds); place++) {
        for (int threads = 2; threads <= THREADS_MOST; threads++)
            assert_true(place_run(place, threads, run, rounds));
    }
}

int64_t kernel_pick(kernel_trial *t, int64_t low, int64_t high)
{
    const int64_t kind = seeded_pick(&t->at, 0, 7);
    return kind == 0 ? low : kind == 1 ? high : seeded_pick(&t->at, low, high);
}

void kernel_ok(kernel_trial *t, ridge_status status)
{
    if (status != RIDGE_OK)
        fail_msg("%s", ridge_ctx_message(t->cx));
}

/* ---- arrays ---------------------------------------------------------------------- */

static void *block_new(kernel_trial *t, size_t bytes)
{
    assert_true(t->n_blocks < KERNEL_BLOCK_MOST);
    void *p = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(p);
    memset(p, 0xff, bytes); /* NaN in both formats */
    t->blocks[t->n_blocks++] = p;
    return p;
}

void *kernel_words(kernel_trial *t, int64_t n)
{
    return block_new(t, (size_t)n * 4);
}

double *kernel_doubles(kernel_trial *t, int64_t n)
{
    double *x = ridge_new(ridge_ctx_arena(t->cx), double, (size_t)n);
    assert_non_null(x);
    return x;
}

kernel_array kernel_blank(kernel_trial *t, ridge_dtype dtype, int64_t n)
{
    void *p = block_new(t, (size_t)n * ridge__element_bytes(dtype));
    return (kernel_array){.a = {p, dtype}, .n = n, .x = kernel_doubles(t, n)};
}

kernel_array kernel_random(kernel_trial *t, ridge_dtype dtype, int64_t n, double size)
{
    kernel_array y = kernel_blank(t, dtype, n);
    for (int64_t i = 0; i < n; i++) {
        const double unit = (double)(seeded_next(&t->at) >> 11) * 0x1p-53;
        kernel_set(y.a, i, size * (2.0 * unit - 1.0));
        y.x[i] = kernel_get(y.a, i);
    }
    return y;
}

double kernel_get(ridge__array a, int64_t i)
{
    float value;
    if (a.dtype != RIDGE_DTYPE_BF16) {
        memcpy(&value, (const char *)a.p + 4 * i, sizeof value);
        return (double)value;
    }
    uint16_t half;
    memcpy(&half, (const char *)a.p + 2 * i, sizeof half);
    const uint32_t bits = (uint32_t)half << 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

void kernel_set(ridge__array a, int64_t i, double value)
{
    const float x = (float)value;
    if (a.dtype != RIDGE_DTYPE_BF16) {
        memcpy((char *)a.p + 4 * i, &x, sizeof x);
        return;
    }
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (!isnan(x))
        bits += 0x7fffu + (bits >> 16 & 1u);
    const uint16_t half = (uint16_t)(bits >> 16);
    memcpy((char *)a.p + 2 * i, &half, sizeof half);
}

/* ---- checking -------------------------------------------------------------------- */

static bool is_near(double got, double want, double tolerance, ridge_dtype dtype)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    const double half_unit = dtype == RIDGE_DTYPE_BF16 ? 0x1p-8 : 0.0;
    return fabs(got - want) <= tolerance * (1.0 + fabs(want)) + half_unit * fabs(want);
}

void kernel_check(kernel_trial *t, const kernel_array *got, double tolerance,
                  const char *what)
{
    for (int64_t i = 0; i < got->n; i++) {
        const double value = kernel_get(got->a, i);
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        t->bits = (t->bits ^ bits) * 0x100000001b3u;
        if (!is_near(value, got->x[i], tolerance, got->a.dtype))
            fail_msg("%s, %d threads, %s: %s[%lld] of %lld is %.9g, not %.9g",
                     ridge__cpu_of(t->d)->kernels->isa,
                     ridge__team_workers(ridge__cpu_of(t->d)->team),
                     t->dtype == RIDGE_DTYPE_BF16 ? "bf16" : "fp32", what, (long long)i,
                     (long long)got->n, value, got->x[i]);
    }
}
