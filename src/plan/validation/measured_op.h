/*
 * One measured operation on a chip or a collective over some, in the terms in which the
 * cost layer prices it.
 */
#ifndef RIDGE_PLAN_MEASURED_OP_H
#define RIDGE_PLAN_MEASURED_OP_H

#include "measured_record.h"
#include "ridge/cost.h"

typedef enum measured_op_class {
    MEASURED_MATMUL,
    MEASURED_ATTENTION,
    MEASURED_EXPERTS,
    MEASURED_STREAM,
    MEASURED_COLLECTIVE
} measured_op_class;

typedef struct measured_collective {
    ridge_collective kind;
    ridge_comm_library library;
    double bytes; /* V: the global array of the group */
    int64_t ranks, nodes;
} measured_collective;

typedef struct measured_op {
    measured_op_class class;
    const char *kind; /* "matmul", "attention decode", "all-reduce": static text */
    const char *what; /* shape and formats, as text */
    double measured_s;
    double stream_bytes;
    ridge_memory stream_memory;
    ridge_matmul matmul;
    ridge_attention attention;
    ridge_experts experts;
    measured_collective collective;
} measured_op;

/**
 * What a row measured.
 * @errors E_ARG: why it cannot be priced: a shape or a time is missing, a kind or a
 *         format is not known. Such a row is passed over, the file is not at fault.
 */
RIDGE_NODISCARD ridge_status measured_op_read(ridge_ctx *cx, const measured_record *r,
                                              measured_op *out);

/** The readers by class; they fill kind, what, the operation and measured_s. */
RIDGE_NODISCARD ridge_status measured_matmul_read(ridge_ctx *cx,
                                                  const measured_record *r,
                                                  measured_op *out);
RIDGE_NODISCARD ridge_status measured_experts_read(ridge_ctx *cx,
                                                   const measured_record *r,
                                                   measured_op *out);
RIDGE_NODISCARD ridge_status measured_attention_read(ridge_ctx *cx,
                                                     const measured_record *r,
                                                     measured_op *out);
RIDGE_NODISCARD ridge_status measured_collective_read(ridge_ctx *cx,
                                                      const measured_record *r,
                                                      measured_op *out);

RIDGE_NODISCARD ridge_status measured_exchange_read(ridge_ctx *cx,
                                                    const measured_record *r,
                                                    measured_op *out);

/** Seconds as measured: latency_us, or work over the rate that the row states.
 *  @param flops, bytes  the work that a rate would count; 0: such a rate says nothing
 */
RIDGE_NODISCARD ridge_status measured_seconds(ridge_ctx *cx, const measured_record *r,
                                              double flops, double bytes, double *out);

/** A needed number. @errors E_ARG naming it */
RIDGE_NODISCARD ridge_status measured_want(ridge_ctx *cx, const measured_record *r,
                                           const char *name, double *out);

#endif
