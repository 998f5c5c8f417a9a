#include "device_cuda.cuh"
#include "device_cuda_pack.h"

namespace
{

constexpr int64_t pack_blocks_most = 1024;

template <class... P>
cudaError_t launch_on(cudaStream_t stream, int64_t n, void (*kernel)(P...),
                      typename same<P>::type... arguments)
{
    const int64_t wanted = (n + block_threads - 1) / block_threads;
    const int64_t blocks = wanted < pack_blocks_most ? wanted : pack_blocks_most;
    if (blocks <= 0)
        return cudaSuccess;
    return ridge__kernel_launch<P...>(kernel, dim3((unsigned)blocks),
                                      dim3(block_threads), 0, stream, arguments...);
}

/* ---- cuts --------------------------------------------------------------------- */

/** Where element i of the parts lies in the whole; -1: it is padding. */
__host__ __device__ int64_t place_in_whole(const ridge__cuda_cut &c, int64_t i)
{
    const int64_t inner = i % c.cut.inner, of_chunk = i / c.cut.inner % c.chunk;
    const int64_t outer = i / c.cut.inner / c.chunk % c.cut.outer;
    const int64_t rank = i / c.cut.inner / c.chunk / c.cut.outer;
    const int64_t middle = rank * c.chunk + of_chunk;
    return middle < c.cut.full ? (outer * c.cut.full + middle) * c.cut.inner + inner
                               : -1;
}

template <class T>
__global__ void packed(ridge__cuda_cut c, int64_t n, const T *whole, T *parts)
{
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const int64_t from = place_in_whole(c, i);
        parts[i] = from < 0 ? (T)0 : whole[from];
    }
}

template <class T>
__global__ void unpacked(ridge__cuda_cut c, int64_t n, const T *parts, T *whole)
{
    for (int64_t i = thread_first(); i < n; i += thread_step()) {
        const int64_t to = place_in_whole(c, i);
        if (to >= 0)
            whole[to] = parts[i];
    }
}

int64_t parts_elements(const ridge__cuda_cut *c)
{
    return c->cut.outer * c->chunk * c->cut.inner * c->ranks;
}

/* ---- joining ------------------------------------------------------------------ */

struct bf16 {
    uint16_t bits;
};

__device__ float widen(float x)
{
    return x;
}
__device__ float widen(bf16 x)
{
    return bf16_widen(x.bits);
}
__device__ uint32_t widen(uint32_t x)
{
    return x;
}
__device__ void put(float *to, float x)
{
    *to = x;
}
__device__ void put(bf16 *to, float x)
{
    to->bits = bf16_round(x);
}
__device__ void put(uint32_t *to, uint32_t x)
{
    *to = x;
}

/** A NaN stays one. */
__device__ float largest(float top, float x)
{
    return x > top || x != x ? x : top;
}

/** int32 comes as unsigned, as its sums wrap. */
__device__ uint32_t largest(uint32_t top, uint32_t x)
{
    return (int32_t)x > (int32_t)top ? x : top;
}

template <class T> __global__ void joined(ridge__cuda_join j, const T *parts, T *out)
{
    for (int64_t i = thread_first(); i < j.n; i += thread_step()) {
        auto sum = widen(parts[i]);
        for (int rank = 1; rank < j.ranks; rank++) {
            const auto next = widen(parts[rank * j.n + i]);
            sum = j.reduce == RIDGE_REDUCE_MAX ? largest(sum, next) : sum + next;
        }
        put(&out[i], sum);
    }
}

} // namespace

/* ---- the engine's ------------------------------------------------------------- */

extern "C" cudaError_t ridge__cuda_cut_pack(cudaStream_t stream,
                                            const ridge__cuda_cut *cut,
                                            const void *whole, void *parts)
{
    const int64_t n = parts_elements(cut);
    if (cut->element == RIDGE_ELEMENT_BF16)
        return launch_on(stream, n, packed<uint16_t>, *cut, n, (const uint16_t *)whole,
                         (uint16_t *)parts);
    return launch_on(stream, n, packed<uint32_t>, *cut, n, (const uint32_t *)whole,
                     (uint32_t *)parts);
}

extern "C" cudaError_t ridge__cuda_cut_unpack(cudaStream_t stream,
                                              const ridge__cuda_cut *cut,
                                              const void *parts, void *whole)
{
    const int64_t n = parts_elements(cut);
    if (cut->element == RIDGE_ELEMENT_BF16)
        return launch_on(stream, n, unpacked<uint16_t>, *cut, n,
                         (const uint16_t *)parts, (uint16_t *)whole);
    return launch_on(stream, n, unpacked<uint32_t>, *cut, n, (const uint32_t *)parts,
                     (uint32_t *)whole);
}

extern "C" cudaError_t ridge__cuda_ranks_join(cudaStream_t stream,
                                              const ridge__cuda_join *join,
                                              const void *parts, void *out)
{
    switch (join->element) {
    case RIDGE_ELEMENT_F32:
        return launch_on(stream, join->n, joined<float>, *join, (const float *)parts,
                         (float *)out);
    case RIDGE_ELEMENT_BF16:
        return launch_on(stream, join->n, joined<bf16>, *join, (const bf16 *)parts,
                         (bf16 *)out);
    case RIDGE_ELEMENT_I32:
        break;
    }
    return launch_on(stream, join->n, joined<uint32_t>, *join, (const uint32_t *)parts,
                     (uint32_t *)out);
}
