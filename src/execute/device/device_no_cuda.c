/* GPUs where this build has no CUDA: says so. */
#include "comm_engine.h"
#include "device.h"

const char *ridge__nccl_lacks(void)
{
    return "built without CUDA: install the CUDA toolkit and NCCL and build again";
}

ridge_status ridge__nccl_run(ridge_ctx *cx, const ridge_ranks *how, ridge_rank_fn *fn,
                             void *payload)
{
    (void)how;
    (void)fn;
    (void)payload;
    return ridge_fail(cx, RIDGE_E_ARG, "%s", ridge__nccl_lacks());
}

ridge_status ridge__device_open_cuda(ridge_ctx *cx, int index, ridge__device **out)
{
    (void)out;
    return ridge_fail(cx, RIDGE_E_ARG, "GPU %d: %s", index, ridge__nccl_lacks());
}
