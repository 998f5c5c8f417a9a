/*
 * Kernels of the CPU under test: every instruction set that this machine has, several
 * numbers of threads, both formats; arrays exactly as long as they must be, beside the
 * doubles that a reference computes with.
 */
#ifndef RIDGE_TEST_KERNEL_FIXTURE_H
#define RIDGE_TEST_KERNEL_FIXTURE_H

#include "device_cpu.h"
#include "near.h"
#include "seeded.h"

enum { KERNEL_BLOCK_MOST = 96 };

typedef struct kernel_trial {
    ridge_ctx *cx;
    ridge__device *d;
    ridge_dtype dtype; /* of the arrays, where the kernel leaves a choice */
    seeded at;
    uint64_t bits; /* of all outputs checked so far */
    void *blocks[KERNEL_BLOCK_MOST];
    int n_blocks;
} kernel_trial;

/** An array beside doubles: what an input holds, and what is wanted of an output. */
typedef struct kernel_array {
    ridge__array a;
    int64_t n;
    double *x; /* [n] */
} kernel_array;

typedef void kernel_run(kernel_trial *t);

/** Call run for each instruction set, 1 to 3 threads, fp32 and bf16, and @p rounds
 * seeds; each twice: the second must give the same bits. */
void kernel_trials(kernel_run *run, int rounds);

/** From low to high: either end often, else anything between. */
int64_t kernel_pick(kernel_trial *t, int64_t low, int64_t high);

/** An array of n random numbers of -size .. size. */
kernel_array kernel_random(kernel_trial *t, ridge_dtype dtype, int64_t n, double size);
/** An array of n NaNs to be written; what is wanted starts at zero. */
kernel_array kernel_blank(kernel_trial *t, ridge_dtype dtype, int64_t n);
/** n doubles, all zero. */
double *kernel_doubles(kernel_trial *t, int64_t n);
/** Room for n values of 4 bytes, exactly. */
void *kernel_words(kernel_trial *t, int64_t n);

double kernel_get(ridge__array a, int64_t i);
/** Rounded to its format. */
void kernel_set(ridge__array a, int64_t i, double value);

/** Fail unless each element is within tolerance (1 + |want|) of what is wanted; bf16
 * may be off by half a unit in the last place more. NaN wants NaN. */
void kernel_check(kernel_trial *t, const kernel_array *got, double tolerance,
                  const char *what);
/** Fail unless the kernel returned RIDGE_OK. */
void kernel_ok(kernel_trial *t, ridge_status status);

#endif
