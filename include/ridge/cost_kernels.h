/*
 * The kernels of a partitioned program, before they have a time: which operations run
 * as one, and what each asks of a chip. For those who price with other kernels, or at
 * other sizes, than ridge_operation_times does.
 */
#ifndef RIDGE_COST_KERNELS_H
#define RIDGE_COST_KERNELS_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_kernel_kind {
    RIDGE_KERNEL_PRODUCT,
    RIDGE_KERNEL_STREAM,
    RIDGE_KERNEL_ATTENTION,
    RIDGE_KERNEL_SCAN,
    RIDGE_KERNEL_EXCHANGE /* a collective; a slice, which moves nothing, is none */
} ridge_kernel_kind;

enum { RIDGE_KERNEL_OP_MAX = 16 };

/** One kernel, in local sizes; rows that are free on average take no part. */
typedef struct ridge_kernel {
    ridge_kernel_kind kind;
    int block;
    int n_ops;
    int ops[RIDGE_KERNEL_OP_MAX]; /* in program order */
    ridge_part part;              /* of the first operation */
    bool is_head;
    ridge_matmul product; /* PRODUCT: formats as the program stores them, in bf16 */
    int operand, weight;  /* PRODUCT: its left tensor, and its first weight; -1: none */
    double bytes; /* STREAM, SCAN: read and written; EXCHANGE: V as cost.h has it */
    double vector_flops;       /* STREAM */
    double state_bytes;        /* SCAN: of the caches that it writes */
    ridge_attention attention; /* ATTENTION: contexts as the shapes say */
} ridge_kernel;

/**
 * The kernels of all blocks, each block once, in program order. What runs as one is
 * what ridge_operation_times prices as one.
 * @owner cx
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_kernels_list(ridge_ctx *cx,
                                                const ridge_partition *partition,
                                                const ridge_kernel **out, int *n);

#ifdef __cplusplus
}
#endif

#endif
