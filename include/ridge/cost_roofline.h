/*
 * Operations as people write them, against the roofline of a chip: what bounds them,
 * the size from which they are compute bound, and their times over a range of sizes.
 */
#ifndef RIDGE_COST_ROOFLINE_H
#define RIDGE_COST_ROOFLINE_H

#include "ridge/base.h"
#include "ridge/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_op_kind {
    RIDGE_OP_MATMUL,
    RIDGE_OP_EINSUM,
    RIDGE_OP_ATTENTION,
    RIDGE_OP_STREAM, /* add, elementwise, dot */
    RIDGE_OP_WORK    /* so many FLOPs and so many bytes, of whatever shape */
} ridge_op_kind;

/** One operation as people write it, with the memory that it streams from. */
typedef struct ridge_op {
    ridge_op_kind kind;
    const char *text; /* borrowed from the caller */
    ridge_formats formats;
    ridge_memory memory;
    ridge_matmul matmul;
    ridge_einsum einsum;
    ridge_attention attention;
    bool is_decode;  /* attention: one query token a sequence */
    double elements; /* STREAM: N, flops_each and bytes_each for each of them */
    double flops_each, bytes_each;
    double work_flops, work_bytes; /* WORK */
} ridge_op;

/** An operation as it was written. */
typedef struct ridge_op_request {
    const char *text; /* MxKxN, an einsum, attention:decode, add:N, flops:N, bytes:N */
    const char *dims; /* sizes of an einsum or of attention: "b=4,t=4096"; or NULL */
    ridge_formats formats;
    bool is_format_given; /* otherwise add takes fp32 */
} ridge_op_request;

/**
 * Read an operation: MxKxN, an einsum, attention:prefill or attention:decode with dims
 * b t s n k h v w and causal, add:N, elementwise:N, dot:N, flops:N with dim bytes,
 * bytes:N with dim flops.
 * @errors E_PARSE, E_ARG with what is wrong and how it is written
 */
RIDGE_NODISCARD ridge_status ridge_op_parse(ridge_ctx *cx,
                                            const ridge_op_request *request,
                                            ridge_op *out);
/** Give one dim by its name another size, for a sweep. @return false: no such dim */
bool ridge_op_resize(ridge_op *op, const char *dim, double size);
ridge_op_cost ridge_op_price(const ridge_chip *chip, const ridge_op *op);

/** A range of sizes: from, then times or plus step, up to and with the end. */
typedef struct ridge_sweep {
    char dim[8];
    double from, to, step;
    bool is_factor; /* multiply by the step */
} ridge_sweep;

enum { RIDGE_SWEEP_MAX = 512 };

/** Read "m=1..8192" (powers of two), "m=1..4096*4", "m=128..4096+128".
 * @errors E_PARSE, and E_ARG for more than RIDGE_SWEEP_MAX sizes */
RIDGE_NODISCARD ridge_status ridge_sweep_parse(ridge_ctx *cx, const char *text,
                                               ridge_sweep *out);

typedef struct ridge_roofline_point {
    double size;
    ridge_op_cost cost;
} ridge_roofline_point;

/** An operation against the roofline of a chip. */
typedef struct ridge_roofline {
    const ridge_chip *chip;
    ridge_op op;
    ridge_op_cost cost;
    ridge_matmul_shape shape; /* of a matmul; factors 1 otherwise */
    ridge_dtype compute;     /* the format that runs; that of the data without matmul */
    double peak_flops_per_s; /* of the unit that does the work: matrix or vector */
    double bytes_per_s;      /* of the memory */
    double ridge_flops_per_byte;
    double flops;   /* matmul, or vector where there is no matmul */
    bool is_matmul; /* the work is the matrix unit's */
    double
        flops_exact; /* of a product: no addition for the first of each sum; or flops */
    const char *critical_dim;    /* "m", "b x t", "t", "flops"; NULL: no size makes it
                                    compute bound */
    double critical_size;        /* exact; INFINITY: never */
    double critical_limit;       /* for m << k, n of a matmul; 0: none */
    const char *critical_others; /* those that are taken as large: "k and n"; or NULL */
    const char *sweep_dim;       /* NULL: no sweep */
    double sweep_critical; /* size of the swept dim at the critical size; 0: none */
    size_t n_points;
    ridge_roofline_point *points;
} ridge_roofline;

/**
 * Cost, ridge and critical size of an operation, and the costs of a sweep.
 * @param sweep  NULL for none
 * @owner the ctx
 * @errors E_ARG for a memory whose bandwidth is not known or an unknown dim to sweep
 */
RIDGE_NODISCARD ridge_status ridge_roofline_find(ridge_ctx *cx, const ridge_chip *chip,
                                                 const ridge_op *op,
                                                 const ridge_sweep *sweep,
                                                 ridge_roofline *out);

#ifdef __cplusplus
}
#endif

#endif
