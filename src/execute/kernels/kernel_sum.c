/*
 * Sums over a dim. A sum is made of sums of SEGMENT terms,
 * so that its error grows with the number of segments, not of terms. Where there are
 * few results each worker sums a share of the terms, and shares are added in order.
 */
#include "kernel.h"

#include "kernel_bf16.h"

#include <string.h>

enum {
    COLUMNS = 256, /* of y that one worker holds at a time */
    SEGMENT = 256,
    GRAIN = 1024, /* terms that are worth a thread */
    SMALL = 16384
};

typedef struct sum_run {
    const ridge__sum *s;
    int64_t strips; /* of columns in each outer index */
    float *partial; /* [workers, outer, inner]; NULL: each sum has one worker */
} sum_run;

/* ---- terms ----------------------------------------------------------------------- */

/** sum[n] += x[n] */
static void add_line(ridge__array x, float *restrict sum, int64_t n)
{
    if (x.dtype == RIDGE_DTYPE_FP32) {
        const float *restrict from = x.p;
        for (int64_t i = 0; i < n; i++)
            sum[i] += from[i];
    } else {
        const uint16_t *restrict from = x.p;
        for (int64_t i = 0; i < n; i++)
            sum[i] += ridge__float_of_bf16(from[i]);
    }
}

static float run_sum(ridge__array x, int64_t n)
{
    float sum = 0.0f;
    if (x.dtype == RIDGE_DTYPE_FP32) {
        const float *restrict from = x.p;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++)
            sum += from[i];
    } else {
        const uint16_t *restrict from = x.p;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++)
            sum += ridge__float_of_bf16(from[i]);
    }
    return sum;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** total[n] = sum of lines first .. end, each `inner` elements after the one before. */
static void sum_lines(ridge__array x, int64_t inner, ridge__part lines, float *total,
                      int64_t n)
{
    float segment[COLUMNS];
    memset(total, 0, (size_t)n * sizeof *total);
    for (int64_t at = lines.first; at < lines.end; at += SEGMENT) {
        int64_t end = least(at + SEGMENT, lines.end);
        memset(segment, 0, (size_t)n * sizeof *segment);
        for (int64_t i = at; i < end; i++)
            add_line(ridge__array_at(x, i * inner), segment, n);
        for (int64_t j = 0; j < n; j++)
            total[j] += segment[j];
    }
}

/** The same where lines are single elements. */
static float sum_elements(ridge__array x, ridge__part part)
{
    enum { RUN = SEGMENT * 16 };
    float total = 0.0f;
    for (int64_t at = part.first; at < part.end; at += RUN)
        total += run_sum(ridge__array_at(x, at), least(RUN, part.end - at));
    return total;
}

/* ---- strips ---------------------------------------------------------------------- */

/** Strip number `at` of y over some of the terms. @return its place in y */
static int64_t sum_strip(const sum_run *run, int64_t at, ridge__part terms,
                         float *total, int64_t *n)
{
    const ridge__sum *s = run->s;
    int64_t outer = at / run->strips, column = at % run->strips * COLUMNS;
    *n = least(COLUMNS, s->inner - column);
    ridge__array x = ridge__array_at(s->x, outer * s->middle * s->inner + column);
    if (s->inner == 1)
        total[0] = sum_elements(x, terms);
    else
        sum_lines(x, s->inner, terms, total, *n);
    return outer * s->inner + column;
}

static void store(const ridge__sum *s, const float *total, int64_t at, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (s->y.dtype == RIDGE_DTYPE_FP32)
            ((float *)s->y.p)[at + i] = total[i];
        else
            ((uint16_t *)s->y.p)[at + i] = ridge__bf16_of_float(total[i]);
}

/** Each worker its strips, over all terms. */
static void sum_strips(void *payload, int worker, int workers)
{
    const sum_run *run = payload;
    ridge__part part = ridge__part_of(run->s->outer * run->strips, 1, worker, workers);
    for (int64_t i = part.first; i < part.end; i++) {
        float total[COLUMNS];
        int64_t n;
        int64_t at = sum_strip(run, i, (ridge__part){0, run->s->middle}, total, &n);
        store(run->s, total, at, n);
    }
}

/** Each worker all strips, over its terms. */
static void sum_terms(void *payload, int worker, int workers)
{
    const sum_run *run = payload;
    ridge__part terms = ridge__part_of(run->s->middle, SEGMENT, worker, workers);
    float *partial = run->partial + worker * run->s->outer * run->s->inner;
    for (int64_t i = 0; i < run->s->outer * run->strips; i++) {
        float total[COLUMNS];
        int64_t n;
        int64_t at = sum_strip(run, i, terms, total, &n);
        memcpy(partial + at, total, (size_t)n * sizeof *total);
    }
}

static ridge_status sum_by_terms(ridge__device_cpu *cpu, sum_run *run)
{
    int64_t results = run->s->outer * run->s->inner;
    int workers = ridge__team_workers(cpu->team);
    size_t bytes = (size_t)results * (size_t)workers * sizeof(float);
    RIDGE_TRY(ridge__team_reserve_shared(cpu->team, cpu->base.cx, bytes));
    run->partial = ridge__team_shared(cpu->team);
    ridge__team_run(cpu->team, sum_terms, run);
    for (int64_t i = 0; i < results; i++) {
        float total = 0.0f;
        for (int w = 0; w < workers; w++)
            total += run->partial[w * results + i];
        store(run->s, &total, i, 1);
    }
    return RIDGE_OK;
}

ridge_status RIDGE__KERNEL(sum)(ridge__device *d, const ridge__sum *s)
{
    ridge__device_cpu *cpu = ridge__cpu_of(d);
    sum_run run = {.s = s, .strips = (s->inner + COLUMNS - 1) / COLUMNS};
    int workers = ridge__team_workers(cpu->team);
    int64_t strips = s->outer * run.strips;
    if (strips * s->middle == 0 || s->outer * s->middle * s->inner <= SMALL)
        sum_strips(&run, 0, 1);
    else if (strips < 2 * workers && s->middle >= (int64_t)workers * GRAIN)
        return sum_by_terms(cpu, &run);
    else
        ridge__team_run(cpu->team, sum_strips, &run);
    return RIDGE_OK;
}
