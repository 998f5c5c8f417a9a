/*
 * What kernels share: functions on vectors (exponentials, sigmoid, erf), and rows of
 * arrays, fp32 or bf16, that are computed in fp32. Knows nothing of devices.
 *
 * The polynomials are least-maximum fits of our own; errors are those of all floats of
 * the range against double precision.
 */
#ifndef RIDGE_EXECUTE_KERNEL_SIMD_H
#define RIDGE_EXECUTE_KERNEL_SIMD_H

#include "kernel.h"
#include "kernel_vector.h"

#define RIDGE__INLINE static inline __attribute__((always_inline))

void RIDGE__KERNEL(convert)(ridge__array x, ridge__array y, int64_t n, bool is_added);

/* ---- functions ------------------------------------------------------------------- */

/** Polynomial by Horner's rule, the highest power first. */
#define VEC_STEP(p, x, c) ((p) * (x) + vec_set(c))

/** 2^x within 2 units in the last place; 0 and infinity beyond the range of fp32. */
static inline vec vec_exp2(vec x)
{
    x = vec_min(vec_set(129.0f), vec_max(vec_set(-151.0f), x));
    const vec n = vec_round(x), f = x - n;
    vec p = vec_set(0x1.4440p-13f);
    p = VEC_STEP(p, f, 0x1.5f48cp-10f);
    p = VEC_STEP(p, f, 0x1.3b2a1cp-7f);
    p = VEC_STEP(p, f, 0x1.c6aeccp-5f);
    p = VEC_STEP(p, f, 0x1.ebfbep-3f);
    p = VEC_STEP(p, f, 0x1.62e43p-1f);
    return vec_scale(VEC_STEP(p, f, 1.0f), n);
}

/** 2^x of x <= 0 within 3 units in the last place, a little quicker. */
static inline vec vec_exp2_below(vec x)
{
    x = vec_max(vec_set(-151.0f), x);
    const vec n = vec_round(x), f = x - n;
    vec p = vec_set(0x1.5f089p-10f);
    p = VEC_STEP(p, f, 0x1.3d107p-7f);
    p = VEC_STEP(p, f, 0x1.c6af6cp-5f);
    p = VEC_STEP(p, f, 0x1.ebf906p-3f);
    p = VEC_STEP(p, f, 0x1.62e43p-1f);
    return vec_scale(VEC_STEP(p, f, 1.0f), n);
}

/** e^x within 2 units in the last place, 0 and infinity likewise. ln 2 is subtracted in
 * two parts, the first of few bits. */
static inline vec vec_exp(vec x)
{
    x = vec_min(vec_set(89.5f), vec_max(vec_set(-104.5f), x));
    const vec n = vec_round(x * vec_set(0x1.715476p+0f));
    const vec f = (x - n * vec_set(0x1.62e4p-1f)) - n * vec_set(0x1.7f7d1cp-20f);
    vec p = vec_set(0x1.6d7532p-10f);
    p = VEC_STEP(p, f, 0x1.126fa6p-7f);
    p = VEC_STEP(p, f, 0x1.5554acp-5f);
    p = VEC_STEP(p, f, 0x1.555404p-3f);
    p = VEC_STEP(p, f, 0.5f);
    p = VEC_STEP(p, f, 1.0f);
    return vec_scale(VEC_STEP(p, f, 1.0f), n);
}

static inline vec vec_sigmoid(vec x)
{
    return vec_set(1.0f) / (vec_set(1.0f) + vec_exp(-x));
}

/** log(1 + e^x) = max(x, 0) + log(1 + z), z = e^-|x|, and that logarithm is 2 artanh(s)
 * of s = z / (2 + z), at most 1/3: eight terms of its series are enough. */
static inline vec vec_softplus(vec x)
{
    const vec z = vec_exp(-vec_abs(x)), s = z / (vec_set(2.0f) + z), t = s * s;
    vec p = vec_set(1.0f / 15.0f);
    p = VEC_STEP(p, t, 1.0f / 13.0f);
    p = VEC_STEP(p, t, 1.0f / 11.0f);
    p = VEC_STEP(p, t, 1.0f / 9.0f);
    p = VEC_STEP(p, t, 1.0f / 7.0f);
    p = VEC_STEP(p, t, 1.0f / 5.0f);
    p = VEC_STEP(p, t, 1.0f / 3.0f);
    return vec_max(vec_zero(), x) + vec_set(2.0f) * s * VEC_STEP(p, t, 1.0f);
}

/** What the sigmoid in gelu_tanh(x) = x sigmoid(u) is of: u = sqrt(8 / pi) (x +
 * 0.044715 x^3), since 1 + tanh(t) = 2 sigmoid(2 t). @source hendrycks2016 */
static inline vec vec_gelu_tanh(vec x)
{
    return x * VEC_STEP(vec_set(0x1.2444f2p-4f), x * x, 0x1.988454p+0f);
}

/** erf within 4 units in the last place: an odd polynomial near 0, else from a fit of
 * log(1 - erf). */
static inline vec vec_erf(vec x)
{
    const vec t = vec_abs(x), s = x * x, far = vec_min(vec_set(4.0f), t);
    vec near = vec_set(0x1.4a569p-14f);
    near = VEC_STEP(near, s, -0x1.a45088p-11f);
    near = VEC_STEP(near, s, 0x1.54127p-8f);
    near = VEC_STEP(near, s, -0x1.b7fabap-6f);
    near = VEC_STEP(near, s, 0x1.ce2d1p-4f);
    near = VEC_STEP(near, s, -0x1.81273ep-2f);
    near = VEC_STEP(near, s, 0x1.20dd74p+0f);
    vec q = vec_set(0x1.bd58b8p-17f);
    q = VEC_STEP(q, far, -0x1.4c5522p-12f);
    q = VEC_STEP(q, far, 0x1.c1e29ap-9f);
    q = VEC_STEP(q, far, -0x1.725b4ap-6f);
    q = VEC_STEP(q, far, 0x1.a70a1ap-4f);
    q = VEC_STEP(q, far, 0x1.473d86p-1f);
    q = VEC_STEP(q, far, 0x1.203a9p+0f);
    q = VEC_STEP(q, far, 0x1.918d1p-11f);
    const vec beyond = vec_sign(vec_set(1.0f) - vec_exp(-q), x);
    return vec_choose(t, vec_set(1.0f), near * x, beyond);
}

/* ---- rows of arrays -------------------------------------------------------------- */

/** Elements that are converted at a time: what they take stays in the first cache. */
enum { ROW = 1024 };

RIDGE__INLINE void halves_read(const uint16_t *from, int64_t n, float *to)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(to + i, vec_of_halves(halves_load(from + i)));
    if (i < n) {
        halves rest = {0};
        memcpy(&rest, from + i, (size_t)(n - i) * sizeof *from);
        vec_store_n(to + i, vec_of_halves(rest), n - i);
    }
}

RIDGE__INLINE void halves_write(const float *from, int64_t n, uint16_t *to)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        halves_store(to + i, halves_of_vec(vec_load(from + i)));
    if (i < n) {
        const halves rest = halves_of_vec(vec_load_n(from + i, n - i));
        memcpy(to + i, &rest, (size_t)(n - i) * sizeof *to);
    }
}

/** Elements first .. first + n in fp32: in place, or converted into room [n]. */
RIDGE__INLINE const float *row_read(ridge__array a, int64_t first, int64_t n,
                                    float *room)
{
    if (a.dtype != RIDGE_DTYPE_BF16)
        return (const float *)a.p + first;
    halves_read((const uint16_t *)a.p + first, n, room);
    return room;
}

/** Where elements from first on are to be computed: in place, or in room. */
RIDGE__INLINE float *row_begin(ridge__array a, int64_t first, float *room)
{
    return a.dtype == RIDGE_DTYPE_BF16 ? room : (float *)a.p + first;
}

/** They are computed: round those that lie in room. */
RIDGE__INLINE void row_end(ridge__array a, int64_t first, int64_t n, const float *room)
{
    if (a.dtype == RIDGE_DTYPE_BF16)
        halves_write(room, n, (uint16_t *)a.p + first);
}

/** One element. */
RIDGE__INLINE float element_read(ridge__array a, int64_t i)
{
    float room[1];
    return row_read(a, i, 1, room)[0];
}

RIDGE__INLINE void element_write(ridge__array a, int64_t i, float value)
{
    float room[1];
    row_begin(a, i, room)[0] = value;
    row_end(a, i, 1, room);
}

/** y[yi ..] = x[xi ..], n elements. */
RIDGE__INLINE void row_move(ridge__array x, int64_t xi, ridge__array y, int64_t yi,
                            int64_t n)
{
    RIDGE__KERNEL(convert)(ridge__array_at(x, xi), ridge__array_at(y, yi), n, false);
}

/** y[first ..] = 0: all bits of zero are zero in both formats. */
RIDGE__INLINE void row_zero(ridge__array y, int64_t first, int64_t n)
{
    memset(ridge__array_at(y, first).p, 0, (size_t)n * ridge__element_bytes(y.dtype));
}

/* ---- threads --------------------------------------------------------------------- */

enum { SHARED_LEAST = 8192 }; /* elements that are worth more than one thread */

/** Run fn on the team, or on the caller alone if there is little to do.
 * @return how many workers ran */
static inline int work_share(ridge__device *d, ridge__team_fn *fn, void *payload,
                             int64_t elements)
{
    ridge__team *team = ridge__cpu_of(d)->team;
    if (elements < SHARED_LEAST) {
        fn(payload, 0, 1);
        return 1;
    }
    ridge__team_run(team, fn, payload);
    return ridge__team_workers(team);
}

/* ---- loops over rows ------------------------------------------------------------- */

typedef vec vec_map(vec a, vec b, vec c);

/** y = f(a, b, c), any of which may be y. */
RIDGE__INLINE void row_map(const float *a, const float *b, const float *c, float *y,
                           int64_t n, vec_map *f)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, f(vec_load(a + i), vec_load(b + i), vec_load(c + i)));
    if (i < n) {
        const int64_t k = n - i;
        vec_store_n(y + i,
                    f(vec_load_n(a + i, k), vec_load_n(b + i, k), vec_load_n(c + i, k)),
                    k);
    }
}

/** sum of a b, lane by lane and then over the lanes. */
RIDGE__INLINE float row_dot(const float *a, const float *b, int64_t n)
{
    vec sums[2] = {vec_zero(), vec_zero()};
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        sums[0] += vec_load(a + i) * vec_load(b + i);
        sums[1] += vec_load(a + i + LANES) * vec_load(b + i + LANES);
    }
    for (; i < n; i += LANES) {
        const int64_t k = n - i < LANES ? n - i : LANES;
        sums[0] += vec_load_n(a + i, k) * vec_load_n(b + i, k);
    }
    return vec_sum(sums[0] + sums[1]);
}

/** y += by x. */
RIDGE__INLINE void row_add(float *y, const float *x, float by, int64_t n)
{
    const vec times = vec_set(by);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, vec_load(y + i) + times * vec_load(x + i));
    if (i < n)
        vec_store_n(y + i, vec_load_n(y + i, n - i) + times * vec_load_n(x + i, n - i),
                    n - i);
}

/** y = by x. */
RIDGE__INLINE void row_scale(float *y, const float *x, float by, int64_t n)
{
    const vec times = vec_set(by);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vec_store(y + i, times * vec_load(x + i));
    if (i < n)
        vec_store_n(y + i, times * vec_load_n(x + i, n - i), n - i);
}

#endif
