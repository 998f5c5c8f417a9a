/*
 * Few rows times a matrix: what a generated token costs. The matrix is read once, a
 * block of lines at a time, while the next block is already being fetched; everything
 * else stays in the first cache.
 */
#include "kernel.h"

#include "kernel_bf16.h"

enum {
    LINES = 8,     /* of b in a block, where it is not transposed */
    COLUMNS = 512, /* of them; fp32 copies of bf16 take 16 KiB */
    DOTS = 4,      /* lines of b in a block, where it is transposed */
    STRETCH = 1024,
    CACHE_LINE = 64
};

void RIDGE__KERNEL(few_rows)(const ridge__few_rows *f);

/* ---- blocks of b ----------------------------------------------------------------- */

/** count lines of n elements of b, from element `at` on. */
typedef struct block {
    int64_t at, count, n;
} block;

/** Lines, or two rows of a, in fp32, ld apart. */
typedef struct lines {
    const float *p;
    int64_t ld;
} lines;

/** A block's lines; copied to room if they are bf16. */
static lines lines_of(const ridge__few_rows *f, const block *b, float *room)
{
    if (f->b.dtype == RIDGE_DTYPE_FP32)
        return (lines){(const float *)f->b.p + b->at, f->ldb};
    for (int64_t i = 0; i < b->count; i++) {
        const uint16_t *restrict from = (const uint16_t *)f->b.p + b->at + i * f->ldb;
        float *restrict to = room + i * b->n;
        for (int64_t j = 0; j < b->n; j++)
            to[j] = ridge__float_of_bf16(from[j]);
    }
    return (lines){room, b->n};
}

/** Begin to fetch the lines of a block that fall to one of `shares`. */
static void fetch(const ridge__few_rows *f, const block *b, int64_t share,
                  int64_t shares)
{
    const ridge__array from = ridge__array_at(f->b, b->at);
    const int64_t bytes = (int64_t)ridge__element_bytes(f->b.dtype);
    const ridge__part part = ridge__part_of(b->count, 1, (int)share, (int)shares);
    for (int64_t i = part.first; i < part.end; i++) {
        const char *line = (const char *)from.p + i * f->ldb * bytes;
        for (int64_t at = 0; at < b->n * bytes; at += CACHE_LINE)
            __builtin_prefetch(line + at, 0, 2);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- b as it is: sums of scaled lines -------------------------------------------- */

/** c[n] += a[8] b[8, n] for two rows of a and c */
static void add_lines_twice(lines a, lines b, float *restrict c0, int64_t ldc,
                            int64_t n)
{
    const float *restrict a0 = a.p, *restrict a1 = a.p + a.ld;
    float *restrict c1 = c0 + ldc;
    const float *restrict b0 = b.p, *restrict b1 = b0 + b.ld, *restrict b2 = b1 + b.ld;
    const float *restrict b3 = b2 + b.ld, *restrict b4 = b3 + b.ld;
    const float *restrict b5 = b4 + b.ld, *restrict b6 = b5 + b.ld;
    const float *restrict b7 = b6 + b.ld;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        const float x0 = b0[j], x1 = b1[j], x2 = b2[j], x3 = b3[j];
        const float x4 = b4[j], x5 = b5[j], x6 = b6[j], x7 = b7[j];
        const float y0 = c0[j] + a0[0] * x0 + a0[1] * x1 + a0[2] * x2 + a0[3] * x3 +
                         a0[4] * x4 + a0[5] * x5 + a0[6] * x6 + a0[7] * x7;
        const float y1 = c1[j] + a1[0] * x0 + a1[1] * x1 + a1[2] * x2 + a1[3] * x3 +
                         a1[4] * x4 + a1[5] * x5 + a1[6] * x6 + a1[7] * x7;
        c0[j] = y0;
        c1[j] = y1;
    }
}

/** c[n] += a[8] b[8, n] */
static void add_lines(const float *restrict a, lines b, float *restrict c, int64_t n)
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

static void add_line(float a, const float *restrict b, float *restrict c, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        c[j] += a * b[j];
}

/** All rows of c, from column j on, with what one block from line k on adds. */
static void add_block(const ridge__few_rows *f, int64_t k, int64_t j, const block *b,
                      const block *next)
{
    _Alignas(CACHE_LINE) float room[LINES * COLUMNS];
    const lines l = lines_of(f, b, room);
    for (int64_t i = 0; i < f->m; i += 2) {
        const float *a = f->a + i * f->k + k;
        float *c = f->c + i * f->n + j;
        fetch(f, next, i / 2, (f->m + 1) / 2);
        if (b->count == LINES && i + 1 < f->m)
            add_lines_twice((lines){a, f->k}, l, c, f->n, b->n);
        else if (b->count == LINES)
            add_lines(a, l, c, b->n);
        for (int64_t line = 0; b->count < LINES && line < b->count; line++)
            for (int64_t row = 0; row < 2 && i + row < f->m; row++)
                add_line(a[row * f->k + line], l.p + line * l.ld, c + row * f->n, b->n);
    }
}

static void run_rows(const ridge__few_rows *f)
{
    for (int64_t j = 0; j < f->n; j += COLUMNS)
        for (int64_t k = 0; k < f->k; k += LINES) {
            const block b = {k * f->ldb + j, least(LINES, f->k - k),
                             least(COLUMNS, f->n - j)};
            const block next = {b.at + LINES * f->ldb, least(LINES, f->k - k - b.count),
                                b.n};
            add_block(f, k, j, &b, &next);
        }
}

/* ---- b transposed: scalar products ----------------------------------------------- */

/** c[4] += a[k] . b[4, k] for two rows of a and c */
static void dot_lines_twice(lines a, lines b, float *restrict c0, int64_t ldc,
                            int64_t k)
{
    const float *restrict a0 = a.p, *restrict a1 = a.p + a.ld;
    float *restrict c1 = c0 + ldc;
    const float *restrict b0 = b.p, *restrict b1 = b0 + b.ld, *restrict b2 = b1 + b.ld;
    const float *restrict b3 = b2 + b.ld;
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    float t0 = 0.0f, t1 = 0.0f, t2 = 0.0f, t3 = 0.0f;
#pragma omp simd reduction(+ : s0, s1, s2, s3, t0, t1, t2, t3)
    for (int64_t j = 0; j < k; j++) {
        const float x0 = b0[j], x1 = b1[j], x2 = b2[j], x3 = b3[j];
        const float y0 = a0[j], y1 = a1[j];
        s0 += y0 * x0;
        s1 += y0 * x1;
        s2 += y0 * x2;
        s3 += y0 * x3;
        t0 += y1 * x0;
        t1 += y1 * x1;
        t2 += y1 * x2;
        t3 += y1 * x3;
    }
    c0[0] += s0, c0[1] += s1, c0[2] += s2, c0[3] += s3;
    c1[0] += t0, c1[1] += t1, c1[2] += t2, c1[3] += t3;
}

/** c[4] += a[k] . b[4, k] */
static void dot_lines(const float *restrict a, lines b, float *restrict c, int64_t k)
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
    c[0] += s0, c[1] += s1, c[2] += s2, c[3] += s3;
}

static float dot_line(const float *restrict a, const float *restrict b, int64_t k)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < k; j++)
        sum += a[j] * b[j];
    return sum;
}

/** Columns j .. of all rows of c with what the terms of one block add. */
static void dot_block(const ridge__few_rows *f, int64_t k, int64_t j, const block *b,
                      const block *next)
{
    _Alignas(CACHE_LINE) float room[DOTS * STRETCH];
    const lines l = lines_of(f, b, room);
    for (int64_t i = 0; i < f->m; i += 2) {
        const float *a = f->a + i * f->k + k;
        float *c = f->c + i * f->n + j;
        fetch(f, next, i / 2, (f->m + 1) / 2);
        if (b->count == DOTS && i + 1 < f->m)
            dot_lines_twice((lines){a, f->k}, l, c, f->n, b->n);
        else if (b->count == DOTS)
            dot_lines(a, l, c, b->n);
        for (int64_t line = 0; b->count < DOTS && line < b->count; line++)
            for (int64_t row = 0; row < 2 && i + row < f->m; row++)
                c[row * f->n + line] +=
                    dot_line(a + row * f->k, l.p + line * l.ld, b->n);
    }
}

static void run_columns(const ridge__few_rows *f)
{
    for (int64_t j = 0; j < f->n; j += DOTS)
        for (int64_t k = 0; k < f->k; k += STRETCH) {
            const block b = {j * f->ldb + k, least(DOTS, f->n - j),
                             least(STRETCH, f->k - k)};
            const bool is_last = k + STRETCH >= f->k;
            const int64_t lines_left = f->n - j - (is_last ? b.count : 0);
            const block next = {is_last ? (j + DOTS) * f->ldb : b.at + STRETCH,
                                least(DOTS, lines_left),
                                least(STRETCH, is_last ? f->k : f->k - k - STRETCH)};
            dot_block(f, k, j, &b, &next);
        }
}

void RIDGE__KERNEL(few_rows)(const ridge__few_rows *f)
{
    if (f->is_b_transposed)
        run_columns(f);
    else
        run_rows(f);
}
