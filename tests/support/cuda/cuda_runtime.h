/*
 * As much of CUDA's runtime as Ridge uses, on the CPU, for tests where no GPU is. A
 * stream is a thread that takes its work in order; a block's threads take turns on it,
 * from one barrier or shuffle to the next; memory is the host's. So kernels, orders of
 * streams and collectives can be tested, but nothing of a GPU's speed or memory model.
 */
#ifndef RIDGE_TEST_CUDA_RUNTIME_H
#define RIDGE_TEST_CUDA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNotReady = 600
} cudaError_t;

typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_pool *cudaMemPool_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};

enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115
};

enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

/** The calling thread's own stream. */
#define cudaStreamPerThread    emulated_own_stream()
#define cudaStreamNonBlocking  1u
#define cudaEventDisableTiming 2u
#define cudaMemAttachGlobal    1u

cudaStream_t emulated_own_stream(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value);
cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attr, int value);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                int from_device, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

#ifdef __cplusplus
}

#    include <functional>

#    define __global__
#    define __device__
#    define __host__
#    define __launch_bounds__(n)
#    define __shared__ static thread_local

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

extern thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

/** Run work(), each thread of each block once, on a stream. */
void emulated_launch(cudaStream_t stream, dim3 grid, dim3 block, size_t shared,
                     std::function<void()> work);
/** Put work on a stream. */
void emulated_enqueue(cudaStream_t stream, std::function<void()> work);
void *emulated_shared();
void emulated_block_barrier();
void emulated_warp_barrier();
/** A place of this warp for lane's value of the next exchange: two in turn, so that one
 * barrier an exchange is enough. */
uint64_t *emulated_lanes();

#    define RIDGE__SHARED(type, name) type *const name = (type *)emulated_shared()

template <class... P>
cudaError_t ridge__kernel_launch(void (*kernel)(P...), dim3 grid, dim3 block,
                                 size_t shared, cudaStream_t stream, P... arguments)
{
    emulated_launch(stream, grid, block, shared, [=] { kernel(arguments...); });
    return cudaSuccess;
}

inline void __syncthreads()
{
    emulated_block_barrier();
}
inline void __syncwarp()
{
    emulated_warp_barrier();
}
int __syncthreads_or(int value);

template <class T> T __shfl_xor_sync(unsigned, T value, int mask)
{
    uint64_t *const lanes = emulated_lanes();
    *(T *)&lanes[threadIdx.x % 32] = value;
    emulated_warp_barrier();
    return *(T *)&lanes[(threadIdx.x % 32) ^ (unsigned)mask];
}

inline unsigned __ballot_sync(unsigned, bool value)
{
    uint64_t *const lanes = emulated_lanes();
    lanes[threadIdx.x % 32] = value;
    emulated_warp_barrier();
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++)
        bits |= (unsigned)lanes[i] << i;
    return bits;
}

inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}
float rsqrtf(float x);
#endif

#endif
