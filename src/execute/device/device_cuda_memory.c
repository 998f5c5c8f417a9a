/* A GPU's memory, and what CUDA says of its failures. */
#include "device_cuda.h"

#include <stdlib.h>

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
