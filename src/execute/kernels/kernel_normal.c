/*
 * Normal numbers by counter: each from its key and its place alone, whatever comes
 * before it. log and cos are series, since the library's take a number at a time.
 */
#include "counter_bits.h"
#include "kernel.h"

#include <math.h>
#include <string.h>

void RIDGE__KERNEL(normals)(uint64_t key, int64_t place, int64_t n, float scale,
                            float *out);

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 0 <= x < 1, of the upper 52 bits: as the mantissa of a number from 1 to 2. */
static inline double fraction_of(uint64_t bits)
{
    return double_of((bits >> 12) | 0x3ff0000000000000ULL) - 1.0;
}

/*
 * log x of a normal x <= 1, to 1e-12: x = m 2^-e with m in [1/sqrt 2, sqrt 2), and with
 * f = (m - 1) / (m + 1), |f| <= 0.172,
 *
 *     log m = 2 (f + f^3 / 3 + f^5 / 5 + ...)
 */
static inline double log_of(double x)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdULL;
    const uint64_t above = bits_of(x) - root_half;
    const int64_t exponent = (int64_t)above >> 52;
    const double m = double_of((above & 0x000fffffffffffffULL) + root_half);
    /* A small integer in the mantissa of 1.5 x 2^52. */
    const double e = double_of((uint64_t)exponent + 0x4338000000000000ULL) - 0x1.8p52;
    const double f = (m - 1.0) / (m + 1.0), g = f * f;
    double sum = 1.0 / 15;
    sum = sum * g + 1.0 / 13;
    sum = sum * g + 1.0 / 11;
    sum = sum * g + 1.0 / 9;
    sum = sum * g + 1.0 / 7;
    sum = sum * g + 1.0 / 5;
    sum = sum * g + 1.0 / 3;
    sum = sum * g + 1.0;
    return e * 0.693147180559945309 + 2.0 * f * sum;
}

/* cos(2 pi v), 0 <= v < 1, to 1e-11: -sin(2 pi s) with s = 1/4 - |v - 1/2|, |s| <= 1/4,
 * by the sine's series. */
static inline double cos_of(double v)
{
    const double s = 0.25 - fabs(v - 0.5);
    const double x = 6.283185307179586 * s, g = x * x;
    double sum = -1.0 / 1307674368000;
    sum = sum * g + 1.0 / 6227020800;
    sum = sum * g - 1.0 / 39916800;
    sum = sum * g + 1.0 / 362880;
    sum = sum * g - 1.0 / 5040;
    sum = sum * g + 1.0 / 120;
    sum = sum * g - 1.0 / 6;
    sum = sum * g + 1.0;
    return -x * sum;
}

/* @source box1958 */
void RIDGE__KERNEL(normals)(uint64_t key, int64_t place, int64_t n, float scale,
                            float *out)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const uint64_t at = key + 2 * (uint64_t)(place + i);
        const double u = fraction_of(ridge__counter_bits(at)) + 0x1p-52,
                     v = fraction_of(ridge__counter_bits(at + 1));
        out[i] = scale * (float)(sqrt(-2.0 * log_of(u)) * cos_of(v));
    }
}
