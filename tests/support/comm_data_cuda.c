/* The arrays of tests of collectives in memory that GPUs reach too. It is given back
 * when the program ends. */
#define ridge_arena_new managed_new
#include "comm_data.c"
#undef ridge_arena_new

#include <cuda_runtime.h>

void *managed_new(ridge_arena *arena, size_t n, size_t size)
{
    (void)arena;
    void *p = NULL;
    const size_t bytes = n * size + 1;
    return cudaMallocManaged(&p, bytes, cudaMemAttachGlobal) == cudaSuccess ? p : NULL;
}
