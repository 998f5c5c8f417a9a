/* One run of elements from one format to another, by one thread. */
#include "kernel.h"

#include "kernel_bf16.h"

#include <string.h>

void RIDGE__KERNEL(convert)(ridge__array x, ridge__array y, int64_t n, bool is_added);

static void widen(const uint16_t *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ridge__float_of_bf16(x[i]);
}

static void narrow(const float *restrict x, uint16_t *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ridge__bf16_of_float(x[i]);
}

static void add(const float *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += x[i];
}

static void widen_add(const uint16_t *restrict x, float *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += ridge__float_of_bf16(x[i]);
}

static void narrow_add(const float *restrict x, uint16_t *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ridge__bf16_of_float(ridge__float_of_bf16(y[i]) + x[i]);
}

static void add_narrow(const uint16_t *restrict x, uint16_t *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ridge__bf16_of_float(ridge__float_of_bf16(y[i]) +
                                    ridge__float_of_bf16(x[i]));
}

static void store(ridge__array x, ridge__array y, int64_t n)
{
    if (x.dtype == y.dtype)
        memcpy(y.p, x.p, (size_t)n * ridge__element_bytes(x.dtype));
    else if (x.dtype == RIDGE_DTYPE_BF16)
        widen(x.p, y.p, n);
    else
        narrow(x.p, y.p, n);
}

void RIDGE__KERNEL(convert)(ridge__array x, ridge__array y, int64_t n, bool is_added)
{
    if (!is_added)
        store(x, y, n);
    else if (x.dtype == RIDGE_DTYPE_BF16 && y.dtype == RIDGE_DTYPE_BF16)
        add_narrow(x.p, y.p, n);
    else if (x.dtype == RIDGE_DTYPE_BF16)
        widen_add(x.p, y.p, n);
    else if (y.dtype == RIDGE_DTYPE_BF16)
        narrow_add(x.p, y.p, n);
    else
        add(x.p, y.p, n);
}
