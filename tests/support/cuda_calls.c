/* The calls of cuBLASLt and NCCL that stand here, in place of the libraries. */
#include "device_cuda_library.h"

#define CALL_SET(name) .name = name,

ridge_status ridge__blas_calls_open(ridge_ctx *cx, ridge__blas_calls *out)
{
    (void)cx;
    *out = (ridge__blas_calls){RIDGE__BLAS_CALL_LIST(CALL_SET)};
    return RIDGE_OK;
}

ridge_status ridge__nccl_calls_open(ridge_ctx *cx, ridge__nccl_calls *out)
{
    (void)cx;
    *out = (ridge__nccl_calls){RIDGE__NCCL_CALL_LIST(CALL_SET)};
    return RIDGE_OK;
}
