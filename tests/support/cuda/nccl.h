/* As much of NCCL as Ridge uses, between threads of the CPU. Communicators do not
 * block: calls answer ncclInProgress where NCCL may. */
#ifndef RIDGE_TEST_NCCL_H
#define RIDGE_TEST_NCCL_H

#include "cuda_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ncclResult {
    ncclSuccess = 0,
    ncclInvalidUsage = 5,
    ncclInProgress = 7
} ncclResult_t;
typedef enum ncclDataType { ncclUint8 = 1 } ncclDataType_t;
typedef struct ncclUniqueId {
    char internal[128];
} ncclUniqueId;
typedef struct emulated_nccl *ncclComm_t;
typedef struct ncclConfig {
    int blocking;
} ncclConfig_t;
/* clang-format off */
#define NCCL_CONFIG_INITIALIZER {1}
/* clang-format on */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id,
                                    int rank, ncclConfig_t *config);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state);
const char *ncclGetErrorString(ncclResult_t result);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclSend(const void *p, size_t n, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void *p, size_t n, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclAllGather(const void *src, void *dst, size_t n, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *src, void *dst, size_t n, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
