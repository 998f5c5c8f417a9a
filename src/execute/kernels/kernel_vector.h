/*
 * Vectors of floats as wide as the instruction set that is being compiled has them, and
 * what the languages' operators lack: loads, stores, greatest, choice, powers of two.
 * Knows nothing of arrays.
 */
#ifndef RIDGE_EXECUTE_KERNEL_VECTOR_H
#define RIDGE_EXECUTE_KERNEL_VECTOR_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#    define RIDGE__VECTOR_512
#    define RIDGE__VECTOR 16
#elif defined(__AVX2__) && defined(__FMA__)
#    define RIDGE__VECTOR_256
#    define RIDGE__VECTOR 8
#else
#    define RIDGE__VECTOR 4
#endif
#if defined(__AVX2__)
#    include <immintrin.h>
#endif

enum { LANES = RIDGE__VECTOR };

typedef float vec __attribute__((vector_size(4 * RIDGE__VECTOR)));
typedef uint32_t bits __attribute__((vector_size(4 * RIDGE__VECTOR)));
typedef int32_t mask __attribute__((vector_size(4 * RIDGE__VECTOR)));
typedef uint16_t halves __attribute__((vector_size(2 * RIDGE__VECTOR)));
/* The same anywhere in memory. */
typedef float vec_loose
    __attribute__((vector_size(4 * RIDGE__VECTOR), aligned(4), may_alias));
typedef uint16_t halves_loose
    __attribute__((vector_size(2 * RIDGE__VECTOR), aligned(2), may_alias));

static inline vec vec_load(const float *p)
{
    return *(const vec_loose *)p;
}
static inline void vec_store(float *p, vec x)
{
    *(vec_loose *)p = x;
}
static inline halves halves_load(const uint16_t *p)
{
    return *(const halves_loose *)p;
}
static inline void halves_store(uint16_t *p, halves x)
{
    *(halves_loose *)p = x;
}

/* ---- by instruction set ---------------------------------------------------------- */

/*
 * vec_max(a, b), vec_min(a, b): b where either is NaN
 * vec_choose(a, b, x, y): x where a < b, else y (NaN: y)
 * vec_scale(x, n): x 2^n for whole n, |n| <= 252, as exact as the result can be
 * vec_sum(x), vec_top(x): sum of the lanes in a fixed order; the greatest of them
 * vec_load_n, vec_store_n: the first n of the lanes, 0 <= n <= LANES; others are 0
 * vec_stream, halves_stream: past the caches, to whole vectors' places; where
 * CAN_STREAM is 0 they are plain stores
 */
#if defined(RIDGE__VECTOR_512)
enum { CAN_STREAM = 1 };
static inline void vec_stream(float *p, vec x)
{
    _mm512_stream_ps(p, (__m512)x);
}
static inline void halves_stream(uint16_t *p, halves x)
{
    _mm256_stream_si256((__m256i *)(void *)p, (__m256i)x);
}
static inline vec vec_set(float x)
{
    return (vec)_mm512_set1_ps(x);
}
static inline vec vec_max(vec a, vec b)
{
    return (vec)_mm512_max_ps(a, b);
}
static inline vec vec_min(vec a, vec b)
{
    return (vec)_mm512_min_ps(a, b);
}
static inline vec vec_choose(vec a, vec b, vec x, vec y)
{
    return (vec)_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), y, x);
}
static inline vec vec_scale(vec x, vec n)
{
    return (vec)_mm512_scalef_ps(x, n);
}
static inline float vec_sum(vec x)
{
    return _mm512_reduce_add_ps(x);
}
static inline float vec_top(vec x)
{
    return _mm512_reduce_max_ps(x);
}
static inline vec vec_load_n(const float *p, int64_t n)
{
    return (vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p);
}
static inline void vec_store_n(float *p, vec x, int64_t n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1u), x);
}
static inline vec vec_of_halves(halves h)
{
    return (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)h), 16);
}
static inline halves halves_of_bits(bits b)
{
    return (halves)_mm512_cvtepi32_epi16((__m512i)b);
}
#else
#    if defined(RIDGE__VECTOR_256)
enum { CAN_STREAM = 1 };
static inline void vec_stream(float *p, vec x)
{
    _mm256_stream_ps(p, (__m256)x);
}
static inline void halves_stream(uint16_t *p, halves x)
{
    _mm_stream_si128((__m128i *)(void *)p, (__m128i)x);
}
static inline vec vec_set(float x)
{
    return (vec)_mm256_set1_ps(x);
}
static inline vec vec_max(vec a, vec b)
{
    return (vec)_mm256_max_ps(a, b);
}
static inline vec vec_min(vec a, vec b)
{
    return (vec)_mm256_min_ps(a, b);
}
static inline vec vec_choose(vec a, vec b, vec x, vec y)
{
    return (vec)_mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
#    else
enum { CAN_STREAM = 0 };
static inline void vec_stream(float *p, vec x)
{
    vec_store(p, x);
}
static inline void halves_stream(uint16_t *p, halves x)
{
    halves_store(p, x);
}
static inline vec vec_set(float x)
{
    return (vec){x, x, x, x};
}
static inline vec vec_choose(vec a, vec b, vec x, vec y)
{
    const mask m = a < b;
    return (vec)(((mask)x & m) | ((mask)y & ~m));
}
static inline vec vec_max(vec a, vec b)
{
    return vec_choose(b, a, a, b);
}
static inline vec vec_min(vec a, vec b)
{
    return vec_choose(a, b, a, b);
}
#    endif
/* In two steps: a half of n at a time is within the range of exponents. */
static inline vec vec_scale(vec x, vec n)
{
    const bits one = (bits)vec_set(1.0f) >> 23; /* 127 */
    const vec magic = vec_set(0x1.8p23f);
    const bits whole = (bits)(n + magic) - (bits)magic + one + one;
    const bits half = whole >> 1;
    return x * (vec)(half << 23) * (vec)((whole - half) << 23);
}
static inline vec vec_load_n(const float *p, int64_t n)
{
    vec x = vec_set(0.0f);
    memcpy(&x, p, (size_t)n * sizeof *p);
    return x;
}
static inline void vec_store_n(float *p, vec x, int64_t n)
{
    memcpy(p, &x, (size_t)n * sizeof *p);
}
static inline vec vec_of_halves(halves h)
{
    return (vec)(__builtin_convertvector(h, bits) << 16);
}
static inline halves halves_of_bits(bits b)
{
    return __builtin_convertvector(b, halves);
}
/* Halves onto halves. */
static inline float vec_sum(vec x)
{
    float lanes[LANES];
    vec_store(lanes, x);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lanes[i] += lanes[i + width];
    return lanes[0];
}
static inline float vec_top(vec x)
{
    float lanes[LANES];
    vec_store(lanes, x);
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int i = 0; i < width; i++)
            lanes[i] = lanes[i] > lanes[i + width] ? lanes[i] : lanes[i + width];
    return lanes[0];
}
#endif

/* ---- on these -------------------------------------------------------------------- */

static inline vec vec_zero(void)
{
    return vec_set(0.0f);
}

static inline vec vec_abs(vec x)
{
    return (vec)((bits)x & ~(bits)vec_set(-0.0f));
}

/** x with the sign of y; x is not negative. */
static inline vec vec_sign(vec x, vec y)
{
    return (vec)((bits)x | ((bits)y & (bits)vec_set(-0.0f)));
}

/** The nearest whole number, of |x| < 2^22. */
static inline vec vec_round(vec x)
{
    const vec magic = vec_set(0x1.8p23f);
    return (x + magic) - magic;
}

/** bf16 to the nearest, ties to even; a NaN stays one. */
static inline halves halves_of_vec(vec x)
{
    const bits b = (bits)x;
    const bits rounded = b + ((b >> 16) & 1u) + 0x7fffu;
    const bits is_nan = (bits)(x != x);
    return halves_of_bits(((rounded & ~is_nan) | ((b | 0x400000u) & is_nan)) >> 16);
}

/* Neighbours of vec_swap. */
#if RIDGE__VECTOR == 16
#    define RIDGE__SWAPPED 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#elif RIDGE__VECTOR == 8
#    define RIDGE__SWAPPED 1, 0, 3, 2, 5, 4, 7, 6
#else
#    define RIDGE__SWAPPED 1, 0, 3, 2
#endif

/** Lanes 2i and 2i + 1 change places. */
static inline vec vec_swap(vec x)
{
    return __builtin_shufflevector(x, x, RIDGE__SWAPPED);
}

#endif
