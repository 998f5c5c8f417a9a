/*
 * cuBLASLt and NCCL, opened when they are first wanted: cuBLASLt alone has
 * hundreds of megabytes, which a program that uses no GPU should not load. Each is a
 * table of the calls that Ridge makes.
 */
#ifndef RIDGE_EXECUTE_DEVICE_CUDA_LIBRARY_H
#define RIDGE_EXECUTE_DEVICE_CUDA_LIBRARY_H

#include <cublasLt.h>
#include <nccl.h>

#include "ridge/base.h"

/* clang-format off */
#define RIDGE__BLAS_CALL_LIST(X)                    \
    X(cublasLtCreate)                               \
    X(cublasLtDestroy)                              \
    X(cublasLtGetStatusString)                      \
    X(cublasLtMatmul)                               \
    X(cublasLtMatmulAlgoGetHeuristic)               \
    X(cublasLtMatmulDescCreate)                     \
    X(cublasLtMatmulDescDestroy)                    \
    X(cublasLtMatmulDescSetAttribute)               \
    X(cublasLtMatmulPreferenceCreate)               \
    X(cublasLtMatmulPreferenceDestroy)              \
    X(cublasLtMatmulPreferenceSetAttribute)         \
    X(cublasLtMatrixLayoutCreate)                   \
    X(cublasLtMatrixLayoutDestroy)                  \
    X(cublasLtMatrixLayoutSetAttribute)

#define RIDGE__NCCL_CALL_LIST(X)                    \
    X(ncclAllGather)                                \
    X(ncclBroadcast)                                \
    X(ncclCommAbort)                                \
    X(ncclCommFinalize)                             \
    X(ncclCommDestroy)                              \
    X(ncclCommGetAsyncError)                        \
    X(ncclCommInitRankConfig)                       \
    X(ncclGetErrorString)                           \
    X(ncclGetUniqueId)                              \
    X(ncclGroupEnd)                                 \
    X(ncclGroupStart)                               \
    X(ncclRecv)                                     \
    X(ncclSend)
/* clang-format on */

#define RIDGE__CALL_FIELD(name) __typeof__(name) *name;
typedef struct ridge__blas_calls {
    RIDGE__BLAS_CALL_LIST(RIDGE__CALL_FIELD)
} ridge__blas_calls;

typedef struct ridge__nccl_calls {
    RIDGE__NCCL_CALL_LIST(RIDGE__CALL_FIELD)
} ridge__nccl_calls;
#undef RIDGE__CALL_FIELD

/**
 * The libraries stay open until the process ends, as their threads and kernels may.
 * @errors E_IO not found, or of a version that lacks a call
 * @threads any
 */
RIDGE_NODISCARD ridge_status ridge__blas_calls_open(ridge_ctx *cx,
                                                    ridge__blas_calls *out);
RIDGE_NODISCARD ridge_status ridge__nccl_calls_open(ridge_ctx *cx,
                                                    ridge__nccl_calls *out);

#endif
