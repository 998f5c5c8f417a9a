/*
 * A GPU as a device: opening it, its memory, and the table of its kernels. What is
 * linked and what is opened late is said in device_cuda.h.
 */
#include "device_cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------------------
 */

ridge_status ridge__cuda_check(ridge_ctx *cx, cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return RIDGE_OK;
    if (error == cudaErrorMemoryAllocation)
        return ridge_fail(cx, RIDGE_E_NOMEM,
                          "the GPU's memory is full (%s): take a smaller batch, or "
                          "shard over more ranks",
                          what);
    return ridge_fail(cx, RIDGE_E_IO, "CUDA cannot %s: %s", what,
                      cudaGetErrorString(error));
}

int ridge__cuda_count(const char **why)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (why != NULL)
        *why = error == cudaSuccess ? "no GPU was found" : cudaGetErrorString(error);
    return error == cudaSuccess ? count : 0;
}

/* ---- blocks of memory --------------------------------------------------------- */

static size_t place_of(const ridge__cuda_blocks *blocks, const void *p)
{
    const uint64_t hash = (uint64_t)(uintptr_t)p / 256 * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (blocks->cap - 1);
}

static void blocks_put(ridge__cuda_blocks *blocks, void *p, size_t bytes)
{
    size_t at = place_of(blocks, p);
    while (blocks->places[at].p != NULL)
        at = (at + 1) & (blocks->cap - 1);
    blocks->places[at] = (struct ridge__cuda_block){p, bytes};
    blocks->n++;
}

/** Room for one more at a load of a half. */
static bool blocks_grow(ridge__cuda_blocks *blocks)
{
    if (2 * (blocks->n + 1) <= blocks->cap)
        return true;
    ridge__cuda_blocks wider = {.cap = blocks->cap == 0 ? 256 : 2 * blocks->cap};
    wider.places = calloc(wider.cap, sizeof *wider.places);
    if (wider.places == NULL)
        return false;
    for (size_t i = 0; i < blocks->cap; i++)
        if (blocks->places[i].p != NULL)
            blocks_put(&wider, blocks->places[i].p, blocks->places[i].bytes);
    free(blocks->places);
    *blocks = wider;
    return true;
}

/** Forget a block; what was moved past its place closes up. @return its bytes */
static size_t blocks_take(ridge__cuda_blocks *blocks, const void *p)
{
    size_t at = place_of(blocks, p);
    while (blocks->places[at].p != p)
        at = (at + 1) & (blocks->cap - 1);
    const size_t bytes = blocks->places[at].bytes;
    blocks->places[at].p = NULL;
    blocks->n--;
    for (size_t next = (at + 1) & (blocks->cap - 1); blocks->places[next].p != NULL;
         next = (next + 1) & (blocks->cap - 1)) {
        const struct ridge__cuda_block moved = blocks->places[next];
        blocks->places[next].p = NULL;
        blocks->n--;
        blocks_put(blocks, moved.p, moved.bytes);
    }
    return bytes;
}

/* ---- memory -------------------------------------------------------------------------
 */

enum { BLOCK_BYTES = 512 };

ridge_status ridge__cuda_alloc(ridge__device *d, size_t bytes, void **out)
{
    ridge__device_cuda *cuda = ridge__cuda_of(d);
    if (bytes > SIZE_MAX / 2)
        return ridge_fail(d->cx, RIDGE_E_NOMEM, "%zu bytes are too many", bytes);
    const size_t whole =
        (bytes == 0 ? 1 : (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES) * BLOCK_BYTES;
    if (!blocks_grow(&cuda->blocks))
        return ridge_fail_nomem(d->cx);
    void *p = NULL;
    RIDGE_TRY(ridge__cuda_check(d->cx, cudaMallocAsync(&p, whole, cuda->stream),
                                "take memory"));
    blocks_put(&cuda->blocks, p, whole);
    d->memory.live_bytes += (int64_t)whole;
    if (d->memory.live_bytes > d->memory.peak_bytes)
        d->memory.peak_bytes = d->memory.live_bytes;
    *out = p;
    return RIDGE_OK;
}

void ridge__cuda_release(ridge__device *d, void *p)
{
    if (p == NULL)
        return;
    ridge__device_cuda *cuda = ridge__cuda_of(d);
    d->memory.live_bytes -= (int64_t)blocks_take(&cuda->blocks, p);
    /* An error of an earlier kernel would show here; the next call reports it. */
    (void)cudaFreeAsync(p, cuda->stream);
}

ridge_status ridge__cuda_zero(ridge__device *d, void *p, size_t bytes)
{
    if (bytes == 0)
        return RIDGE_OK;
    return ridge__cuda_check(
        d->cx, cudaMemsetAsync(p, 0, bytes, ridge__cuda_of(d)->stream), "clear memory");
}

ridge_status ridge__cuda_upload(ridge__device *d, void *to, const void *from,
                                size_t bytes)
{
    if (bytes == 0)
        return RIDGE_OK;
    return ridge__cuda_check(d->cx,
                             cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                                             ridge__cuda_of(d)->stream),
                             "copy to the GPU");
}

ridge_status ridge__cuda_download(ridge__device *d, void *to, const void *from,
                                  size_t bytes)
{
    if (bytes == 0)
        return RIDGE_OK;
    const cudaStream_t stream = ridge__cuda_of(d)->stream;
    RIDGE_TRY(ridge__cuda_check(
        d->cx, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream),
        "copy from the GPU"));
    return ridge__cuda_check(d->cx, cudaStreamSynchronize(stream),
                             "finish its kernels");
}

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
