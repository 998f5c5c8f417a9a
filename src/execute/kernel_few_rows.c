/*
 * Few rows times a matrix: what a generated token costs. The matrix is read once, along
 * its rows; everything else stays in the first cache.
 */
#include "kernel.h"

#include "kernel_bf16.h"

enum {
    LINES = 8,     /* of b at a time: a sum is loaded and stored once for all */
    COLUMNS = 512, /* of them; fp32 copies of bf16 take 16 KiB */
    PAIR = 4,      /* lines of b that share a row of a, where b is transposed */
    STRETCH = 1024
};

void RIDGE__KERNEL(few_rows)(const ridge__few_rows *f);

/** Lines of b in fp32, ld apart. */
typedef struct lines {
    const float *p;
    int64_t ld;
} lines;

/** b's count lines of n elements from element `at` on; copied to room if they are bf16.
 */
static lines lines_at(const ridge__few_rows *f, int64_t at, int64_t count, int64_t n,
                      float *room)
{
    if (f->b.dtype == RIDGE_DTYPE_FP32)
        return (lines){(const float *)f->b.p + at, f->ldb};
    for (int64_t i = 0; i < count; i++) {
        const uint16_t *restrict from = (const uint16_t *)f->b.p + at + i * f->ldb;
        float *restrict to = room + i * n;
        for (int64_t j = 0; j < n; j++)
            to[j] = ridge__float_of_bf16(from[j]);
    }
    return (lines){room, n};
}

/* ---- b as it is: sums of scaled lines -------------------------------------------- */

/** c[n] += a[8] b[8, n] */
static void add_eight(const float *restrict a, lines b, float *restrict c, int64_t n)
{
    const float *restrict b0 = b.p, *restrict b1 = b0 + b.ld, *restrict b2 = b1 + b.ld;
    const float *restrict b3 = b2 + b.ld, *restrict b4 = b3 + b.ld;
    const float *restrict b5 = b4 + b.ld, *restrict b6 = b5 + b.ld;
    const float *restrict b7 = b6 + b.ld;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        float even = a[0] * b0[j] + a[2] * b2[j] + a[4] * b4[j] + a[6] * b6[j];
        float odd = a[1] * b1[j] + a[3] * b3[j] + a[5] * b5[j] + a[7] * b7[j];
        c[j] += even + odd;
    }
}

static void add_lines(const float *restrict a, lines b, float *restrict c, int64_t n,
                      int64_t count)
{
    if (count == LINES) {
        add_eight(a, b, c, n);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const float *restrict line = b.p + i * b.ld;
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            c[j] += a[i] * line[j];
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void run_rows(const ridge__few_rows *f)
{
    _Alignas(64) float room[LINES * COLUMNS];
    for (int64_t j = 0; j < f->n; j += COLUMNS)
        for (int64_t k = 0; k < f->k; k += LINES) {
            int64_t n = least(COLUMNS, f->n - j), count = least(LINES, f->k - k);
            lines b = lines_at(f, k * f->ldb + j, count, n, room);
            for (int64_t i = 0; i < f->m; i++)
                add_lines(f->a + i * f->k + k, b, f->c + i * f->n + j, n, count);
        }
}

/* ---- b transposed: scalar products ----------------------------------------------- */

/** c[4] += a[k] . b[4, k] */
static void dot_four(const float *restrict a, lines b, float *restrict c, int64_t k)
{
    const float *restrict b0 = b.p, *restrict b1 = b0 + b.ld, *restrict b2 = b1 + b.ld;
    const float *restrict b3 = b2 + b.ld;
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t j = 0; j < k; j++) {
        s0 += a[j] * b0[j];
        s1 += a[j] * b1[j];
        s2 += a[j] * b2[j];
        s3 += a[j] * b3[j];
    }
    c[0] += s0;
    c[1] += s1;
    c[2] += s2;
    c[3] += s3;
}

static void dot_lines(const float *restrict a, lines b, float *restrict c, int64_t k,
                      int64_t count)
{
    if (count == PAIR) {
        dot_four(a, b, c, k);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const float *restrict line = b.p + i * b.ld;
        float s = 0.0f;
#pragma omp simd reduction(+ : s)
        for (int64_t j = 0; j < k; j++)
            s += a[j] * line[j];
        c[i] += s;
    }
}

static void run_columns(const ridge__few_rows *f)
{
    _Alignas(64) float room[PAIR * STRETCH];
    for (int64_t j = 0; j < f->n; j += PAIR)
        for (int64_t k = 0; k < f->k; k += STRETCH) {
            int64_t length = least(STRETCH, f->k - k), count = least(PAIR, f->n - j);
            lines b = lines_at(f, j * f->ldb + k, count, length, room);
            for (int64_t i = 0; i < f->m; i++)
                dot_lines(f->a + i * f->k + k, b, f->c + i * f->n + j, length, count);
        }
}

void RIDGE__KERNEL(few_rows)(const ridge__few_rows *f)
{
    if (f->is_b_transposed)
        run_columns(f);
    else
        run_rows(f);
}
