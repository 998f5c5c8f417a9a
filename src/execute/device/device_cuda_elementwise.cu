/* Kernels that take elements one by one: functions and their backwards, strided copies,
 * rotary embedding, the optimizer, scaling. */
#include "device_cuda.cuh"

namespace
{

/* ---- functions ---------------------------------------------------------------- */

__device__ float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/** Of the normal distribution. */
__device__ float cumulative(float x)
{
    return 0.5f * (1.0f + erff(x * 0.70710678f));
}

__device__ float gelu_slope(float x)
{
    return cumulative(x) + x * 0.39894228f * expf(-0.5f * x * x);
}

/* gelu_tanh(x) = x sigmoid(u), u = sqrt(8 / pi) (x + 0.044715 x^3). */
__device__ float tanh_share(float x)
{
    return sigmoid(1.5957691f * x * (1.0f + 0.044715f * x * x));
}

__device__ float gelu_tanh_slope(float x)
{
    const float s = tanh_share(x);
    return s + x * s * (1.0f - s) * 1.5957691f * (1.0f + 0.134145f * x * x);
}

__device__ float silu_slope(float x)
{
    const float s = sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
}

__device__ float apply(ridge_function function, float a, float b, float scale)
{
    switch (function) {
    case RIDGE_FUNCTION_ADD:
        return a + b;
    case RIDGE_FUNCTION_MULTIPLY:
        return a * b;
    case RIDGE_FUNCTION_SWIGLU:
        return a * sigmoid(a) * b;
    case RIDGE_FUNCTION_GELU:
        return a * cumulative(a);
    case RIDGE_FUNCTION_GELU_TANH:
        return a * tanh_share(a);
    case RIDGE_FUNCTION_GEGLU:
        return a * cumulative(a) * b;
    case RIDGE_FUNCTION_RELU:
        return a < 0.0f ? 0.0f : a; /* a NaN stays one */
    case RIDGE_FUNCTION_RELU2:
        return a < 0.0f ? 0.0f : a * a;
    case RIDGE_FUNCTION_SILU:
        return a * sigmoid(a);
    case RIDGE_FUNCTION_SIGMOID:
        return sigmoid(a);
    case RIDGE_FUNCTION_SOFTPLUS:
        return fmaxf(a, 0.0f) + log1pf(expf(-fabsf(a)));
    case RIDGE_FUNCTION_EXP:
        return expf(a);
    case RIDGE_FUNCTION_SCALE:
        return a * scale;
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_APPEND:
        break;
    }
    return a;
}

/** How fast the function grows with a. */
__device__ float slope_a(ridge_function function, float a, float b, float scale)
{
    switch (function) {
    case RIDGE_FUNCTION_MULTIPLY:
        return b;
    case RIDGE_FUNCTION_SWIGLU:
        return silu_slope(a) * b;
    case RIDGE_FUNCTION_GELU:
        return gelu_slope(a);
    case RIDGE_FUNCTION_GELU_TANH:
        return gelu_tanh_slope(a);
    case RIDGE_FUNCTION_GEGLU:
        return gelu_slope(a) * b;
    case RIDGE_FUNCTION_RELU:
        return a > 0.0f ? 1.0f : 0.0f;
    case RIDGE_FUNCTION_RELU2:
        return a > 0.0f ? 2.0f * a : 0.0f;
    case RIDGE_FUNCTION_SILU:
        return silu_slope(a);
    case RIDGE_FUNCTION_SIGMOID:
        return sigmoid(a) * (1.0f - sigmoid(a));
    case RIDGE_FUNCTION_SOFTPLUS:
        return sigmoid(a);
    case RIDGE_FUNCTION_EXP:
        return expf(a);
    case RIDGE_FUNCTION_SCALE:
        return scale;
    case RIDGE_FUNCTION_COPY:
    case RIDGE_FUNCTION_ADD:
    case RIDGE_FUNCTION_ROTARY:
    case RIDGE_FUNCTION_APPEND:
        break;
    }
    return 1.0f;
}

/** How fast it grows with b: all that have one are linear in it. */
__device__ float slope_b(ridge_function function, float a)
{
    switch (function) {
    case RIDGE_FUNCTION_MULTIPLY:
        return a;
    case RIDGE_FUNCTION_SWIGLU:
        return a * sigmoid(a);
    case RIDGE_FUNCTION_GEGLU:
        return a * cumulative(a);
    default:
        return 1.0f;
    }
}

/* ---- elements of many dims ---------------------------------------------------- */

/** Where element i of an array of these sizes lies in one of these strides. */
__host__ __device__ int64_t strided(int n_dims, const int64_t *sizes,
                                    const int64_t *strides, int64_t i)
{
    int64_t at = 0;
    for (int dim = n_dims - 1; dim >= 0; dim--) {
        at += i % sizes[dim] * strides[dim];
        i /= sizes[dim];
    }
    return at;
}

int64_t product(int n_dims, const int64_t *sizes)
{
    int64_t n = 1;
    for (int dim = 0; dim < n_dims; dim++)
        n *= sizes[dim];
    return n;
}

__global__ void elements(ridge__elementwise e, int64_t n)
{
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const float a = load(e.a, strided(e.n_dims, e.sizes, e.a_strides, i));
        const float b = e.b.p == nullptr
                            ? 0.0f
                            : load(e.b, strided(e.n_dims, e.sizes, e.b_strides, i));
        store(e.y, i, apply(e.function, a, b, e.scale));
    }
}

__global__ void elements_backward(ridge__elementwise e, int64_t n)
{
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const float a = load(e.a, i), d = load(e.d_y, i);
        const float b = e.b.p == nullptr ? 0.0f : load(e.b, i);
        if (e.d_a.p != nullptr)
            store(e.d_a, i, d * slope_a(e.function, a, b, e.scale));
        if (e.d_b.p != nullptr)
            store(e.d_b, i, d * slope_b(e.function, a));
    }
}

__global__ void copied(ridge__copy c, int64_t n)
{
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const int64_t from = strided(c.n_dims, c.sizes, c.x_strides, i);
        const int64_t to = strided(c.n_dims, c.sizes, c.y_strides, i);
        if (c.is_raw_4)
            ((uint32_t *)c.y.p)[to] = ((const uint32_t *)c.x.p)[from];
        else
            store(c.y, to, load(c.x, from) + (c.is_added ? load(c.y, to) : 0.0f));
    }
}

/* ---- rotary ------------------------------------------------------------------- */

/** An angle within half a turn of 0, so that positions in the millions stay exact: what
 * follows is in fp32. */
__device__ float within_turn(double angle)
{
    const double turn = 6.283185307179586;
    return (float)(angle - turn * rint(angle / turn));
}

/** One thread a pair. */
__global__ void turned(ridge__rotary r, const float *frequencies, int64_t n)
{
    const int64_t pairs = (r.h + 1) / 2;
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const int64_t pair = i % pairs, row = i / pairs;
        const int64_t token = row / r.inner % r.t, at = row * r.h + 2 * pair;
        if (2 * pair + 1 == r.h) {
            store(r.y, at, load(r.x, at));
            continue;
        }
        const float angle =
            within_turn((double)(r.start + token) * (double)frequencies[pair]);
        const float c = r.magnitude * cosf(angle);
        const float s = r.magnitude * (r.is_back ? -sinf(angle) : sinf(angle));
        const float even = load(r.x, at), odd = load(r.x, at + 1);
        store(r.y, at, even * c - odd * s);
        store(r.y, at + 1, odd * c + even * s);
    }
}

/* ---- optimizer ---------------------------------------------------------------- */

__device__ float adam_step(const ridge__update &u, int64_t i, float g)
{
    const float m = u.beta1 * load(u.m, i) + (1.0f - u.beta1) * g;
    const float v = u.beta2 * load(u.v, i) + (1.0f - u.beta2) * g * g;
    store(u.m, i, m);
    store(u.v, i, v);
    return m / u.correction1 / (sqrtf(v / u.correction2) + u.epsilon);
}

__device__ float sgd_step(const ridge__update &u, int64_t i, float g)
{
    if (u.m.p == nullptr)
        return g;
    const float m = u.beta1 * load(u.m, i) + g;
    store(u.m, i, m);
    return m;
}

__global__ void updated(ridge__update u)
{
    for (int64_t i = thread_first(); i < u.n; i += thread_step()) {
        const float g = u.scale * load(u.gradient, i);
        const float w = u.master != nullptr ? u.master[i] : load(u.weight, i);
        const float step =
            (u.v.p != nullptr ? adam_step(u, i, g) : sgd_step(u, i, g)) + u.decay * w;
        if (u.master != nullptr)
            u.master[i] = w - u.rate * step;
        store(u.weight, i, w - u.rate * step);
    }
}

__global__ void multiplied(ridge__array x, int64_t n, float by)
{
    for (int64_t i = thread_first(); i < n; i += thread_step())
        store(x, i, load(x, i) * by);
}

} // namespace

/* ---- the device's ------------------------------------------------------------- */

extern "C" ridge_status ridge__cuda_elementwise(ridge__device *d,
                                                const ridge__elementwise *e)
{
    const int64_t n = product(e->n_dims, e->sizes);
    return launch(d, "run elementwise", launch_over(d, n), elements, *e, n);
}

extern "C" ridge_status ridge__cuda_elementwise_backward(ridge__device *d,
                                                         const ridge__elementwise *e)
{
    const int64_t n = product(e->n_dims, e->sizes);
    return launch(d, "run elementwise backward", launch_over(d, n), elements_backward,
                  *e, n);
}

extern "C" ridge_status ridge__cuda_copy(ridge__device *d, const ridge__copy *c)
{
    const int64_t n = product(c->n_dims, c->sizes);
    return launch(d, "run copy", launch_over(d, n), copied, *c, n);
}

extern "C" ridge_status ridge__cuda_rotary(ridge__device *d, const ridge__rotary *r)
{
    const int64_t n = r->outer * r->t * r->inner * ((r->h + 1) / 2);
    void *frequencies = nullptr;
    RIDGE_TRY(ridge__cuda_alloc(d, (size_t)(r->h / 2) * sizeof(float), &frequencies));
    ridge_status status = ridge__cuda_upload(d, frequencies, r->frequencies,
                                             (size_t)(r->h / 2) * sizeof(float));
    if (status == RIDGE_OK)
        status = launch(d, "run rotary", launch_over(d, n), turned, *r,
                        (const float *)frequencies, n);
    ridge__cuda_release(d, frequencies);
    return status;
}

extern "C" ridge_status ridge__cuda_update(ridge__device *d, const ridge__update *u)
{
    return launch(d, "run update", launch_over(d, u->n), updated, *u);
}

extern "C" ridge_status ridge__cuda_multiply(ridge__device *d, ridge__array x,
                                             int64_t n, float by)
{
    return launch(d, "run multiply", launch_over(d, n), multiplied, x, n, by);
}
