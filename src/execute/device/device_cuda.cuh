/*
 * What the kernels share: formats, sums over a block, launches. Each .cu file has its
 * own copy. Sums have a fixed order, and no kernel adds floats atomically, so that a
 * run gives the same bits again.
 *
 * The files compile with nvcc, and, for tests without a GPU, as C++ against
 * tests/support/cuda, where a block's threads take turns on the CPU.
 */
#ifndef RIDGE_EXECUTE_DEVICE_CUDA_CUH
#define RIDGE_EXECUTE_DEVICE_CUDA_CUH

#include <cuda_runtime.h>
#include <math.h>
#include <string.h>

#include "ridge/base.h"
#include "ridge/hardware.h"
#include "ridge/program.h"

extern "C" {
#include "device.h"
#include "device_cuda.h"
}

#ifdef __CUDACC__
/** This block's dynamic shared memory. */
#    define RIDGE__SHARED(type, name) extern __shared__ type name[]

/** kernel<<<grid, block, shared, stream>>>(arguments...) */
template <class... P>
cudaError_t ridge__kernel_launch(void (*kernel)(P...), dim3 grid, dim3 block,
                                 size_t shared, cudaStream_t stream, P... arguments)
{
    void *pointers[] = {(void *)&arguments..., nullptr};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, shared,
                            stream);
}
#endif

namespace
{

constexpr int block_threads = 256;
constexpr unsigned whole_warp = 0xffffffffu;

/* ---- launches ----------------------------------------------------------------- */

/** Blocks, threads of a block, bytes of shared memory. */
struct launch_shape {
    int64_t blocks;
    int threads;
    size_t shared;
};

template <class T> struct same {
    typedef T type;
};

/** Run a kernel on the device's stream. Of no blocks: nothing. */
template <class... P>
inline ridge_status launch(ridge__device *d, const char *what, launch_shape shape,
                           void (*kernel)(P...), typename same<P>::type... arguments)
{
    if (shape.blocks <= 0)
        return RIDGE_OK;
    if (shape.blocks > INT32_MAX)
        return ridge_fail(d->cx, RIDGE_E_ARG, "%s: %lld blocks are too many for a GPU",
                          what, (long long)shape.blocks);
    const dim3 grid((unsigned)shape.blocks), block((unsigned)shape.threads);
    return ridge__cuda_check(
        d->cx,
        ridge__kernel_launch<P...>(kernel, grid, block, shape.shared,
                                   ridge__cuda_of(d)->stream, arguments...),
        what);
}

/** A shape for n independent elements: threads take several where there are many. */
inline launch_shape launch_over(ridge__device *d, int64_t n)
{
    const int64_t most = (int64_t)ridge__cuda_of(d)->processors * 16;
    const int64_t blocks = (n + block_threads - 1) / block_threads;
    return {blocks < most ? blocks : most, block_threads, 0};
}

/** A block for each of n rows. */
inline launch_shape launch_rows(int64_t n)
{
    return {n, block_threads, 0};
}

__device__ inline int64_t thread_first()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline int64_t thread_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* ---- formats ------------------------------------------------------------------ */

__host__ __device__ inline float bf16_widen(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/** To nearest, ties to even; a NaN stays one. */
__host__ __device__ inline uint16_t bf16_round(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

__host__ __device__ inline float load(const ridge__array &a, int64_t i)
{
    return a.dtype == RIDGE_DTYPE_BF16 ? bf16_widen(((const uint16_t *)a.p)[i])
                                       : ((const float *)a.p)[i];
}

__host__ __device__ inline void store(const ridge__array &a, int64_t i, float value)
{
    if (a.dtype == RIDGE_DTYPE_BF16)
        ((uint16_t *)a.p)[i] = bf16_round(value);
    else
        ((float *)a.p)[i] = value;
}

inline size_t array_bytes(const ridge__array &a, int64_t n)
{
    return (size_t)n * (a.dtype == RIDGE_DTYPE_BF16 ? 2 : 4);
}

/* ---- a block's sums ----------------------------------------------------------- */

struct add {
    template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};

struct larger {
    template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

/** All threads' values joined, the same for each; all threads of the block call it. */
template <class T, class Join> __device__ inline T block_join(T value, Join join)
{
    __shared__ T of_warp[32];
    for (int mask = 16; mask > 0; mask /= 2)
        value = join(value, __shfl_xor_sync(whole_warp, value, mask));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (unsigned warp = 1; warp < blockDim.x / 32; warp++)
        value = join(value, of_warp[warp]);
    return value;
}

template <class T> __device__ inline T block_sum(T value)
{
    return block_join(value, add());
}

} // namespace

#endif
