/*
 * The CPU as a device: a team of threads, the host's memory, and a table of kernels for
 * the CPU's instruction set.
 */
#ifndef RIDGE_EXECUTE_DEVICE_CPU_H
#define RIDGE_EXECUTE_DEVICE_CPU_H

#include "device.h"
#include "team.h"

/** c [m, n] += a [m, k] b, c and a without gaps, b [k, n] or, transposed, [n, k]. For
 * so few rows that reading b is what takes the time; any m is right. */
typedef struct ridge__few_rows {
    int64_t m, n, k;
    const float *a;
    ridge__array b;
    int64_t ldb;
    bool is_b_transposed;
    float *c;
} ridge__few_rows;

/** What is compiled for one instruction set. Immutable. */
typedef struct ridge__kernel_table {
    const char *isa; /* "base", "v3", "v4" */
    ridge__device_ops ops;
    /** Run fused multiply-adds on registers for that many rounds.
     * @return FLOPs done. *sink keeps them from being optimised away */
    double (*multiply_add)(int64_t rounds, float *sink);
    /** One thread's y[n] = x[n], converted from dtype to dtype; added if is_added. */
    void (*convert)(ridge__array x, ridge__array y, int64_t n, bool is_added);
    /** One thread's product. */
    void (*few_rows)(const ridge__few_rows *f);
    /** One thread's out[n]: normal numbers of deviation scale, each of the key and its
     * place, place + 0 .. n - 1, alone. */
    void (*normals)(uint64_t key, int64_t place, int64_t n, float scale, float *out);
} ridge__kernel_table;

/** The tables that this CPU can run, the best at place 0. @return NULL: no more */
const ridge__kernel_table *ridge__kernel_choose(int place);

typedef struct ridge__device_cpu {
    ridge__device base; /* first: a ridge__device is one of these */
    ridge__team *team;
    const ridge__kernel_table *kernels;
    struct ridge__block_store *blocks;   /* memory: device_memory.h */
    struct ridge__gemm_library *library; /* what the matrix products keep */
    /* FLOP/s of products of bf16 by m, k, n, as they are and made fp32 first: the
     * quicker way of a size is taken. NULL: not measured */
    const ridge_grid *direct, *converted;
} ridge__device_cpu;

/** @param d  opened by ridge__device_open_cpu */
static inline ridge__device_cpu *ridge__cpu_of(ridge__device *d)
{
    return (ridge__device_cpu *)d;
}

/** Go on with the table at that place, for tests. @return false: there is none */
bool ridge__cpu_take_kernels(ridge__device *d, int place);

/** Have what was measured on this machine choose between ways of products.
 * @param measured  borrowed as long as the device is open; NULL: nothing is known */
void ridge__cpu_take_measured(ridge__device *d, const ridge_measured_chip *measured);

/** Bytes of an element: 4 or 2. */
static inline size_t ridge__element_bytes(ridge_dtype dtype)
{
    return dtype == RIDGE_DTYPE_BF16 ? 2 : 4;
}

/** The array from its element i on. */
static inline ridge__array ridge__array_at(ridge__array a, int64_t i)
{
    a.p = (char *)a.p + i * (int64_t)ridge__element_bytes(a.dtype);
    return a;
}

/* The parts of the table that no instruction set changes. */
ridge_status ridge__cpu_gemm(ridge__device *d, const ridge__gemm *g);
ridge_status ridge__cpu_grouped_gemm(ridge__device *d, const ridge__grouped_gemm *g);
ridge_status ridge__cpu_alloc(ridge__device *d, size_t bytes, void **out);
void ridge__cpu_release(ridge__device *d, void *p);
ridge_status ridge__cpu_zero(ridge__device *d, void *p, size_t bytes);
ridge_status ridge__cpu_upload(ridge__device *d, void *to, const void *from,
                               size_t bytes);
ridge_status ridge__cpu_finish(ridge__device *d);
void ridge__cpu_close(ridge__device *d);

/**
 * fp32 multiply-adds that all threads of the device do in a second on registers, two
 * FLOPs each: the peak that a matrix product is measured against. Takes about 0.1 s.
 */
double ridge__peak_flops_per_s(ridge__device *d);

#endif
