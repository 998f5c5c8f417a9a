/* Times of the operations of a partition, one kernel's at once. */
#ifndef RIDGE_COST_OPERATION_TIME_H
#define RIDGE_COST_OPERATION_TIME_H

#include "fused_group.h"
#include "ridge/cost_program.h"

/** What a price depends on. */
typedef struct ridge__pricing {
    const ridge_partition *partition;
    const ridge_laid_mesh *laid;
    ridge_dtype compute;
    const ridge__op_index *index; /* NULL: readers are searched for */
    ridge_product_memo *memo;     /* or NULL */
} ridge__pricing;

/** The products of a group as one: all share one operand, and stand side by side along
 *  the other. @param flops  out: [group->n] points of each */
ridge__product ridge__joined_product(const ridge_partition *partition,
                                     const ridge__fused *group, double *flops);

/** What one of several streams in a kernel asks. */
typedef struct ridge__stream_work {
    double bytes, flops;
} ridge__stream_work;

/** @param out  [group->n] */
void ridge__streams_count(const ridge__pricing *x, const ridge__fused *group,
                          ridge__stream_work *out);

/** Attention as its shapes and attributes say; no averages. @param shape  of op */
ridge_attention ridge__attention_shape(const ridge_partition *p,
                                       const ridge_operation *o,
                                       const ridge_attention_shape *shape);

/** V of a collective, as cost.h counts it; a send: its array. */
double ridge__exchange_bytes(const ridge_partition *p, const ridge_operation *o,
                             double ranks);
/** Whether an operation is a slice, which moves nothing. */
bool ridge__exchange_is_none(const ridge_operation *o);

/** Times of a group's members; the group's own is shared out by their work.
 * @param out  [group->n] */
void ridge__group_price(const ridge__pricing *x, const ridge__fused *group,
                        ridge_operation_time *out);

/**
 * Times of the operations of all blocks. Those of one kernel share its time; and so do,
 * in a block, the gathers of weights, and the reductions of their gradients, that go
 * over the same axes: they run as one collective of all their bytes.
 * @param out  [n_ops]. @errors E_NOMEM
 */
RIDGE_NODISCARD ridge_status ridge__program_price(ridge_ctx *cx,
                                                  const ridge__pricing *x,
                                                  ridge_operation_time *out);

/** Time of an attention or a scan. */
ridge_operation_time ridge__scores_time(const ridge__pricing *x, int op);

/** Time of a collective or a send, by itself. */
ridge_operation_time ridge__exchange_price(const ridge__pricing *x, int op);

/** What joins collectives into one: the same kind over the same axes, all of weights or
 *  all of their gradients. */
bool ridge__exchange_joins(const ridge_partition *p, int op, int other);

/** The time of several that run as one, when @p t is the first's by itself.
 * @param bytes  of all of them */
ridge_operation_time ridge__exchange_joined(const ridge__pricing *x, int op,
                                            double bytes);

/** The group of chips over which an operation of that kind exchanges. */
ridge_group ridge__exchange_group(const ridge__pricing *x, int op);

#endif
