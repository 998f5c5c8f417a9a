#include "dense_arrays.h"

#include <math.h>
#include <string.h>

static size_t bytes_of(ridge_dtype dtype, int64_t n)
{
    return (size_t)n * (dtype == RIDGE_DTYPE_BF16 ? 2 : 4);
}

ridge__array dense_new(ridge_ctx *cx, ridge_dtype dtype, int64_t n)
{
    void *p = ridge_new(ridge_ctx_arena(cx), char, bytes_of(dtype, n));
    assert_non_null(p);
    return (ridge__array){p, dtype};
}

ridge__array dense_seeded(ridge_ctx *cx, ridge_dtype dtype, int64_t n, seeded *at)
{
    ridge__array a = dense_new(cx, dtype, n);
    for (int64_t i = 0; i < n; i++)
        dense_set(a, i, (double)seeded_pick(at, -1000, 1000) / 1000.0);
    return a;
}

ridge__array dense_copy(ridge_ctx *cx, ridge__array a, int64_t n)
{
    ridge__array copy = dense_new(cx, a.dtype, n);
    memcpy(copy.p, a.p, bytes_of(a.dtype, n));
    return copy;
}

double dense_get(ridge__array a, int64_t i)
{
    if (a.dtype != RIDGE_DTYPE_BF16)
        return (double)((const float *)a.p)[i];
    uint32_t bits = (uint32_t)((const uint16_t *)a.p)[i] << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

void dense_set(ridge__array a, int64_t i, double value)
{
    float single = (float)value;
    if (a.dtype != RIDGE_DTYPE_BF16) {
        ((float *)a.p)[i] = single;
        return;
    }
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    bits += 0x7fffu + ((bits >> 16) & 1u);
    ((uint16_t *)a.p)[i] = (uint16_t)(bits >> 16);
}

bool dense_is_same(ridge__array a, ridge__array b, int64_t n)
{
    return memcmp(a.p, b.p, bytes_of(a.dtype, n)) == 0;
}

double dense_rounding(ridge_dtype dtype, double size)
{
    return fabs(size) * (dtype == RIDGE_DTYPE_BF16 ? 0x1p-8 : 0x1p-23);
}
