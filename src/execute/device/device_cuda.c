/*
 * A GPU as a device: opening it, and the table of its kernels. What is
 * linked and what is opened late is said in device_cuda.h.
 */
#include "device_cuda.h"

#include <stdlib.h>

/* ---- errors ------------------------------------------------------------------------
 */

int ridge__cuda_count(const char **why)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (why != NULL)
        *why = error == cudaSuccess ? "no GPU was found" : cudaGetErrorString(error);
    return error == cudaSuccess ? count : 0;
}

/* ---- memory -------------------------------------------------------------------------
 */

static ridge_status finish(ridge__device *d)
{
    return ridge__cuda_check(d->cx, cudaStreamSynchronize(ridge__cuda_of(d)->stream),
                             "finish its kernels");
}

/* ---- opening and closing ------------------------------------------------------ */

static void close_device(ridge__device *d)
{
    ridge__device_cuda *cuda = ridge__cuda_of(d);
    ridge__cuda_blas_close(cuda);
    for (size_t i = 0; i < cuda->blocks.cap; i++)
        if (cuda->blocks.places[i].p != NULL)
            (void)cudaFreeAsync(cuda->blocks.places[i].p, cuda->stream);
    free(cuda->blocks.places);
    (void)cudaStreamSynchronize(cuda->stream);
    free(cuda);
}

#define TABLE_ROW(name, type) .name = ridge__cuda_##name,
static const ridge__device_ops table = {.name = "cuda",
                                        .close = close_device,
                                        .alloc = ridge__cuda_alloc,
                                        .release = ridge__cuda_release,
                                        .zero = ridge__cuda_zero,
                                        .upload = ridge__cuda_upload,
                                        .download = ridge__cuda_download,
                                        .finish = finish,
                                        .gemm = ridge__cuda_gemm,
                                        .grouped_gemm = ridge__cuda_grouped_gemm,
                                        .attention_merge = ridge__cuda_attention_merge,
                                        .loss_rescale = ridge__cuda_loss_rescale,
                                        .sum_of_squares = ridge__cuda_sum_of_squares,
                                        .multiply = ridge__cuda_multiply,
                                        RIDGE__CUDA_LIST(TABLE_ROW)};
#undef TABLE_ROW

static ridge_status find_gpu(ridge_ctx *cx, int index)
{
    const char *why;
    const int count = ridge__cuda_count(&why);
    if (count == 0)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "no GPU can be used here (%s): take another engine", why);
    if (index < 0 || index >= count)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "GPU %d is wanted, but there are %d: take fewer ranks", index,
                          count);
    return ridge__cuda_check(cx, cudaSetDevice(index), "take the GPU");
}

/** What the GPU has; keep freed memory for the next block instead of giving it back. */
static ridge_status read_gpu(ridge_ctx *cx, ridge__device_cuda *cuda)
{
    int has_pools = 0;
    RIDGE_TRY(ridge__cuda_check(cx,
                                cudaDeviceGetAttribute(&cuda->processors,
                                                       cudaDevAttrMultiProcessorCount,
                                                       cuda->index),
                                "describe the GPU"));
    RIDGE_TRY(ridge__cuda_check(
        cx,
        cudaDeviceGetAttribute(&cuda->shared_most,
                               cudaDevAttrMaxSharedMemoryPerBlockOptin, cuda->index),
        "describe the GPU"));
    RIDGE_TRY(ridge__cuda_check(cx,
                                cudaDeviceGetAttribute(&has_pools,
                                                       cudaDevAttrMemoryPoolsSupported,
                                                       cuda->index),
                                "describe the GPU"));
    if (!has_pools)
        return ridge_fail(cx, RIDGE_E_ARG,
                          "GPU %d has no memory pools: take a GPU with CUDA 11.2 or "
                          "later and no old virtual GPU",
                          cuda->index);
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    RIDGE_TRY(ridge__cuda_check(cx, cudaDeviceGetDefaultMemPool(&pool, cuda->index),
                                "find the memory pool"));
    return ridge__cuda_check(
        cx, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "set up the memory pool");
}

ridge_status ridge__device_open_cuda(ridge_ctx *cx, int index, ridge__device **out)
{
    RIDGE_TRY(find_gpu(cx, index));
    ridge__device_cuda *cuda = calloc(1, sizeof *cuda);
    if (cuda == NULL)
        return ridge_fail_nomem(cx);
    cuda->base.ops = &table;
    cuda->base.cx = cx;
    cuda->index = index;
    cuda->stream = cudaStreamPerThread;
    ridge_status status = read_gpu(cx, cuda);
    if (status == RIDGE_OK)
        status = ridge__cuda_blas_open(cuda);
    if (status != RIDGE_OK) {
        close_device(&cuda->base);
        return status;
    }
    *out = &cuda->base;
    return RIDGE_OK;
}
