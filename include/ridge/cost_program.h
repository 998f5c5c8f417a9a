/*
 * Costs of partitioned programs: the time of each operation and collective on a slice,
 * and a steady-state timeline that says what is hidden and what is exposed. No search
 * here.
 */
#ifndef RIDGE_COST_PROGRAM_H
#define RIDGE_COST_PROGRAM_H

#include "ridge/base.h"
#include "ridge/cost.h"
#include "ridge/hardware.h"
#include "ridge/program.h"
#include "ridge/shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A mesh laid on a slice: the chips over which each mesh axis runs. */
typedef struct ridge_laid_mesh {
    const ridge_slice *slice;
    ridge_group groups[RIDGE_MESH_AXIS_MAX]; /* by mesh axis */
} ridge_laid_mesh;

/** The group of several mesh axes together: their spans, joined where they adjoin. */
ridge_group ridge_laid_mesh_group(const ridge_laid_mesh *laid, const int *axes, int n);

/**
 * Lay a mesh on a slice, its last axis innermost.
 * @param order  as ridge_placement_fill takes it
 * @return false when the sizes do not factor over the slice in that order
 */
bool ridge_laid_mesh_fill(const ridge_slice *slice, const int *order,
                          const ridge_mesh *mesh, ridge_laid_mesh *out);

/** Time of an operation of a partition on one chip (a collective: of its group). */
typedef struct ridge_operation_time {
    double bound_s, expected_s;
    double matmul_flops, vector_flops, bytes; /* local; a collective: bytes is its V */
    ridge_bound bound_by;
    bool is_collective;
    unsigned network; /* slice axes that it uses, as bits; 0 for compute */
} ridge_operation_time;

/**
 * Times of all operations as they run in their blocks. Local shapes come from the
 * partition; rows that are free on average (ridge_program_dim.used) take no time.
 * What is fused, and which bytes then move, is written in docs/design/overlap.md.
 * @param compute  format of the arithmetic of einsums; a router and the head stay in 16
 *                 bits when it is narrower
 * @param out      [n_ops]; bound_s <= expected_s
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_operation_times(ridge_ctx *cx,
                                                   const ridge_partition *partition,
                                                   const ridge_laid_mesh *laid,
                                                   ridge_dtype compute,
                                                   ridge_operation_time *out);

/** Products priced already on one chip: programs of one model have the same ones again.
 */
typedef struct ridge_product_memo ridge_product_memo;

/** @return NULL when memory ran out. @owner cx. @threads one at a time */
ridge_product_memo *ridge_product_memo_open(ridge_ctx *cx);

/** ridge_operation_times with a memo. @param memo  of the same chip; or NULL */
RIDGE_NODISCARD ridge_status ridge_operation_times_with(
    ridge_ctx *cx, ridge_product_memo *memo, const ridge_partition *partition,
    const ridge_laid_mesh *laid, ridge_dtype compute, ridge_operation_time *out);

/** Time of one operation by itself: a kernel, or a collective, of its own. */
ridge_operation_time ridge_operation_time_of(const ridge_partition *partition, int op,
                                             const ridge_laid_mesh *laid,
                                             ridge_dtype compute);

/** Bytes that an operation without a product moves when it is a kernel of its own: by
 *  these a measured rate of streams is found. */
double ridge_operation_stream_bytes(const ridge_partition *partition, int op);
/** The name of such a kernel: "norm", "swiglu_backward". @param room  of the name
 * @return name */
const char *ridge_operation_stream_name(const ridge_operation *op, char name[32]);

/** What a timeline may overlap. */
typedef struct ridge_overlap {
    bool has_prefetch; /* gathers of weights run one repetition ahead */
    bool has_trailing; /* reductions of gradients trail behind */
    bool
        has_collective_matmul; /* gathers and scatters around an einsum run in chunks */
    bool has_ring_attention;   /* gathers of keys and values around an attention too */
    bool is_serial;            /* nothing runs beside anything; without the others */
    bool is_bound;             /* bound times instead of expected ones */
} ridge_overlap;

/** One operation at work, or a part of it: what is urgent goes before, and chunks are
 * events of their own. Resource 0 is the chip, 1 + i the slice's axis i; a collective
 * over several axes holds all of them, with an event on each. */
typedef struct ridge_event {
    int op;
    int repetition;
    int resource;
    double start_s, end_s;
} ridge_event;

/**
 * A block in its steady state: the time of one repetition and how it is spent.
 *
 *     period = matmul + attention + vector + slowdown + exposed
 */
typedef struct ridge_block_time {
    int block;
    double period_s; /* one repetition when many follow each other; of a block that
                      * repeats too seldom for that: the mean of its repetitions */
    double matmul_s, attention_s, vector_s; /* chip, by itself */
    double slowdown_s;                 /* compute slowed by collectives beside it */
    double exposed_s;                  /* the chip waits for the network */
    double hidden_s;                   /* the network works while the chip does */
    double busy_s[1 + RIDGE_AXIS_MAX]; /* by resource; the chip's with the slowdown */
    double total_s; /* all of its repetitions, the first ones filling the pipeline */
} ridge_block_time;

typedef struct ridge_timeline {
    double total_s; /* sum of the blocks' total_s, and the drain */
    ridge_dtype compute;
    double drain_s; /* the network alone, behind the last operation */
    int n_blocks;
    const ridge_block_time *blocks; /* by block of the program */
    int n_events; /* of three repetitions of each block at most, as they end */
    const ridge_event *events;
} ridge_timeline;

/**
 * Play a partitioned program. The chip takes its operations in program order, each when
 * its inputs are there. Collectives start when their inputs are there; on a network
 * axis the one whose result the chip needs first goes first, others wait or are
 * interrupted. A repetition is left out, and counted, once two in a row took equally
 * long. On GPUs compute beside a collective runs on the SMs that this leaves. See
 * docs/design/overlap.md.
 * @param laid  mesh of the partition, each group within the slice
 * @owner cx
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_timeline_build(
    ridge_ctx *cx, const ridge_partition *partition, const ridge_laid_mesh *laid,
    ridge_dtype compute, const ridge_overlap *overlap, ridge_timeline *out);

/** The same without events: for searches. */
RIDGE_NODISCARD ridge_status ridge_timeline_price(
    ridge_ctx *cx, const ridge_partition *partition, const ridge_laid_mesh *laid,
    ridge_dtype compute, const ridge_overlap *overlap, ridge_timeline *out);

/**
 * The timeline as a Chrome trace that Perfetto opens: one process, for all chips do the
 * same, with a track for each resource. Events are named by their operations; args hold
 * block, repetition, the operation's bytes and FLOPs.
 * @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge_timeline_write_trace(
    ridge_ctx *cx, const ridge_partition *partition, const ridge_laid_mesh *laid,
    const ridge_timeline *timeline, ridge_buf *out);

/** Share of the SMs that collective kernels take on a GPU: 20 of 132. Copy engines of
 *  other chips move data beside the compute: 0. @source deepseek-v3-2024 section 3.2.2
 */
double ridge_collective_sm_share(const ridge_chip *chip);

#ifdef __cplusplus
}
#endif

#endif
