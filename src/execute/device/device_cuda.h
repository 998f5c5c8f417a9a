/*
 * What the pieces of the CUDA device share. Kernels are in device_cuda_*.cu, matrix
 * products in device_cuda_gemm.c, memory and the table in device_cuda.c.
 *
 * cudart is linked statically; cuBLASLt and NCCL are opened when a device or a run is,
 * so that a program that asks for neither starts as fast as without them, and runs
 * where no driver is.
 *
 * A rank is a thread, and its GPU works on that thread's own stream
 * (cudaStreamPerThread): kernels and collectives of a rank meet there, and nothing
 * needs to be handed from one to the other. So a thread has one GPU at a time.
 */
#ifndef RIDGE_EXECUTE_DEVICE_CUDA_H
#define RIDGE_EXECUTE_DEVICE_CUDA_H

#include <cuda_runtime.h>

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where blocks of device memory begin, and their bytes. */
typedef struct ridge__cuda_blocks {
    struct ridge__cuda_block {
        void *p; /* NULL: free place */
        size_t bytes;
    } * places; /* [cap], a hash table; cap is a power of two */
    size_t n, cap;
} ridge__cuda_blocks;

typedef struct ridge__cuda_blas ridge__cuda_blas; /* device_cuda_gemm.c */

typedef struct ridge__device_cuda {
    ridge__device base; /* first: a ridge__device is one of these */
    int index;          /* of the GPU */
    int processors;     /* streaming multiprocessors */
    int shared_most;    /* bytes of shared memory that a block may ask for */
    cudaStream_t stream;
    ridge__cuda_blocks blocks;
    ridge__cuda_blas *blas;
} ridge__device_cuda;

/** @param d  opened by ridge__device_open_cuda */
static inline ridge__device_cuda *ridge__cuda_of(ridge__device *d)
{
    return (ridge__device_cuda *)d;
}

/** @return E_IO with CUDA's own words unless @p error is success; E_NOMEM where memory
 * was short. @param what  was tried: "run attention" */
RIDGE_NODISCARD ridge_status ridge__cuda_check(ridge_ctx *cx, cudaError_t error,
                                               const char *what);

/** GPUs of this machine, 0 without a driver. @param why  NULL, or gets CUDA's words */
int ridge__cuda_count(const char **why);

/** Products of fp32 through TF32 tensor cores: about 8 times as fast, 10 bits of
 * mantissa. Off until asked for. */
void ridge__cuda_allow_tf32(ridge__device *d, bool is_allowed);

/* ---- memory: device_cuda.c ---------------------------------------------------------
 */

ridge_status ridge__cuda_alloc(ridge__device *d, size_t bytes, void **out);
void ridge__cuda_release(ridge__device *d, void *p);
ridge_status ridge__cuda_zero(ridge__device *d, void *p, size_t bytes);
/** @param from  the caller's again on return, unless it is pinned memory */
ridge_status ridge__cuda_upload(ridge__device *d, void *to, const void *from,
                                size_t bytes);
ridge_status ridge__cuda_download(ridge__device *d, void *to, const void *from,
                                  size_t bytes);

/* ---- matrix products: device_cuda_gemm.c -------------------------------------------
 */

RIDGE_NODISCARD ridge_status ridge__cuda_blas_open(ridge__device_cuda *d);
void ridge__cuda_blas_close(ridge__device_cuda *d);
ridge_status ridge__cuda_gemm(ridge__device *d, const ridge__gemm *g);
ridge_status ridge__cuda_grouped_gemm(ridge__device *d, const ridge__grouped_gemm *g);

/* ---- kernels: device_cuda_*.cu ------------------------------------------------------
 */

/* What ridge__device_ops has a pointer to; name, type of the description. */
/* clang-format off */
#define RIDGE__CUDA_LIST(X)                             \
    X(attention, ridge__attention)                      \
    X(attention_backward, ridge__attention)             \
    X(norm, ridge__norm)                                \
    X(norm_backward, ridge__norm)                       \
    X(elementwise, ridge__elementwise)                  \
    X(elementwise_backward, ridge__elementwise)         \
    X(rotary, ridge__rotary)                            \
    X(copy, ridge__copy)                                \
    X(sum, ridge__sum)                                  \
    X(gather, ridge__gather)                            \
    X(loss_partial, ridge__loss)                        \
    X(loss_finish, ridge__loss)                         \
    X(loss_backward, ridge__loss)                       \
    X(route, ridge__route)                              \
    X(route_backward, ridge__route)                     \
    X(expert_order, ridge__expert_order)                \
    X(dispatch, ridge__experts)                         \
    X(dispatch_backward, ridge__experts)                \
    X(combine, ridge__experts)                          \
    X(combine_backward, ridge__experts)                 \
    X(update, ridge__update)                            \
    X(block_maxima, ridge__blocks)                      \
    X(block_pack, ridge__blocks)                        \
    X(block_unpack, ridge__blocks)                      \
    X(sinks, ridge__sinks)                              \
    X(sinks_backward, ridge__sinks)
/* clang-format on */

#define RIDGE__CUDA_DECLARE(name, type)                                                \
    ridge_status ridge__cuda_##name(ridge__device *d, const type *what);
RIDGE__CUDA_LIST(RIDGE__CUDA_DECLARE)
#undef RIDGE__CUDA_DECLARE

ridge_status ridge__cuda_attention_merge(ridge__device *d, int64_t rows, int64_t hv,
                                         ridge__array o, float *lse, ridge__array other,
                                         const float *other_lse);
ridge_status ridge__cuda_loss_rescale(ridge__device *d, const ridge__loss *l,
                                      const float *old_top);
ridge_status ridge__cuda_sum_of_squares(ridge__device *d, ridge__array x, int64_t n,
                                        double *out);
ridge_status ridge__cuda_multiply(ridge__device *d, ridge__array x, int64_t n,
                                  float by);

#ifdef __cplusplus
}
#endif

#endif
