/*
 * How many blocks (workgroups) of a kernel, and so how many warps (wavefronts), a core
 * of a GPU holds at a time: what it has to hide latencies with.
 */
#ifndef RIDGE_HARDWARE_OCCUPANCY_H
#define RIDGE_HARDWARE_OCCUPANCY_H

#include "ridge/hardware.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a kernel takes. */
typedef struct ridge_kernel {
    int64_t threads;     /* of a block, 1 to RIDGE_BLOCK_THREADS_MOST */
    int64_t registers;   /* of a thread, 4 bytes each; 0: they do not matter */
    double shared_bytes; /* of a block, static and dynamic */
} ridge_kernel;

enum { RIDGE_BLOCK_THREADS_MOST = 1024, RIDGE_KERNEL_THREADS_USUAL = 128 };

/* name, key, what runs out */
#define RIDGE_OCCUPANCY_LIMIT_LIST(X)                                                  \
    X(WARPS, "warps", "places of warps")                                               \
    X(BLOCKS, "blocks", "places of blocks")                                            \
    X(REGISTERS, "registers", "register file")                                         \
    X(SHARED, "shared", "shared memory")

typedef enum ridge_occupancy_limit {
#define RIDGE_OCCUPANCY_LIMIT_ENUM(name, key, what) RIDGE_OCCUPANCY_LIMIT_##name,
    RIDGE_OCCUPANCY_LIMIT_LIST(RIDGE_OCCUPANCY_LIMIT_ENUM)
#undef RIDGE_OCCUPANCY_LIMIT_ENUM
} ridge_occupancy_limit;

#define RIDGE_OCCUPANCY_LIMIT_ONE(name, key, what) +1
enum {
    RIDGE_OCCUPANCY_LIMIT_COUNT =
        0 RIDGE_OCCUPANCY_LIMIT_LIST(RIDGE_OCCUPANCY_LIMIT_ONE)
};
#undef RIDGE_OCCUPANCY_LIMIT_ONE

/** "registers" and "register file"; static */
const char *ridge_occupancy_limit_key(ridge_occupancy_limit limit);
const char *ridge_occupancy_limit_what(ridge_occupancy_limit limit);

typedef struct ridge_occupancy {
    ridge_kernel kernel;
    int64_t block_warps;       /* of a block */
    int64_t register_bytes;    /* that a thread is given; 0: none asked for */
    double block_shared_bytes; /* that a block is given, the system's part among it */
    int64_t blocks_by[RIDGE_OCCUPANCY_LIMIT_COUNT]; /* of a core; INT64_MAX: any */
    int64_t blocks, warps;                          /* of a core; 0: not one fits */
    double share;                                   /* of the core's places of warps */
    double chip_threads;                            /* resident on all cores */
    /* The most with which one block more fits, all else equal; 0 or -1: there is none,
     * or it is not what stands in the way. */
    int64_t next_registers;
    double next_shared_bytes;
} ridge_occupancy;

/** "threads=256,registers=64,shared=48KiB", in any order; threads are
 * RIDGE_KERNEL_THREADS_USUAL if not told. @errors RIDGE_E_ARG */
ridge_status ridge_kernel_parse(ridge_ctx *cx, const char *text, ridge_kernel *out);

/** Whether what a core holds is known. */
bool ridge_chip_has_occupancy(const ridge_chip *chip);

/**
 * Blocks of a kernel that a core holds: each limit by itself, the least of them counts.
 *
 *     warps = ceil(threads / warp)
 *     warps     core_warps / warps
 *     blocks    core_blocks; core_barriers for blocks of more than one warp
 *     registers 4 floor(file / 4 / (warp x registers, in granules)) / warps
 *     shared    core_shared / (shared + reserved, in granules)
 *
 * A core's register file lies in four parts, a warp in one of them.
 *
 * Scalar registers and clusters of blocks are left out.
 *
 * @errors RIDGE_E_ARG: a block of more threads, registers or shared memory than the
 *         chip allows; the limits of the chip are not known
 * @source nvidia-occupancy-2025, llvm-amdgpu-2025, scaling-book-2025 chapter 12
 */
ridge_status ridge_chip_occupancy(ridge_ctx *cx, const ridge_chip *chip,
                                  const ridge_kernel *kernel, ridge_occupancy *out);

#ifdef __cplusplus
}
#endif
#endif
