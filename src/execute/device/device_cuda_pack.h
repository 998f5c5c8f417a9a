/*
 * Kernels of collectives between GPUs: parts of a cut dim next to each other, and sums
 * in the order of ranks, with the bits of the other engines. Each runs on a stream of
 * the caller's.
 */
#ifndef RIDGE_EXECUTE_DEVICE_CUDA_PACK_H
#define RIDGE_EXECUTE_DEVICE_CUDA_PACK_H

#include <cuda_runtime.h>

#include "ridge/execute_comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An array cut over ranks. */
typedef struct ridge__cuda_cut {
    ridge_cut cut;
    int64_t chunk;
    int ranks;
    ridge_element element;
} ridge__cuda_cut;

/** whole [outer, full, inner] -> parts [ranks, outer, chunk, inner], padded with zeros.
 */
cudaError_t ridge__cuda_cut_pack(cudaStream_t stream, const ridge__cuda_cut *cut,
                                 const void *whole, void *parts);
/** The reverse; padding is left out. */
cudaError_t ridge__cuda_cut_unpack(cudaStream_t stream, const ridge__cuda_cut *cut,
                                   const void *parts, void *whole);

/** What ranks hold, [ranks, n], to be joined. */
typedef struct ridge__cuda_join {
    ridge_element element;
    ridge_reduce reduce;
    int ranks;
    int64_t n;
} ridge__cuda_join;

/** out [n] = the sum, or the largest, over ranks in their order. bf16 is summed in fp32
 * and rounded once. */
cudaError_t ridge__cuda_ranks_join(cudaStream_t stream, const ridge__cuda_join *join,
                                   const void *parts, void *out);

#ifdef __cplusplus
}
#endif

#endif
