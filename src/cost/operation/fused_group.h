/* Operations that run as one kernel, and which of their bytes move. */
#ifndef RIDGE_COST_FUSED_GROUP_H
#define RIDGE_COST_FUSED_GROUP_H

#include "op_index.h"

#include "ridge/shard.h"

enum { RIDGE__FUSED_MAX = 16 };

/** Operations of one block in program order; one alone is a group as well. */
typedef struct ridge__fused {
    int n;
    int ops[RIDGE__FUSED_MAX];
} ridge__fused;

/** A partition with, perhaps, the index of its operations: without, readers and writers
 *  are searched for. */
typedef struct ridge__fusing {
    const ridge_partition *partition;
    const ridge__op_index *index; /* or NULL */
} ridge__fusing;

/**
 * The group that begins at an operation. Collectives between its members are passed
 * over. Written here once:
 *   - an elementwise operation or a norm joins the stream before it when it reads what
 *     that made, over as many elements, and nothing that was made in between;
 *   - a product of two operands joins a product before it, with nothing but products in
 *     between, when one operand is the same array on the same side and the shapes
 * differ in the other's free dims alone (queries, keys and values; gate and up);
 *   - sums of products alone are made by the products, which add to one result;
 *   - updates of weights join the updates before them.
 * Nothing else is fused into a product or an attention: results are written and read.
 * @param end       first operation behind the block
 * @param is_taken  [n_ops] in a group already
 */
void ridge__fused_from(const ridge__fusing *f, int op, int end, const bool *is_taken,
                       ridge__fused *out);

/** Whether an operation adds up products that nothing else reads. */
bool ridge__is_product_sum(const ridge__fusing *f, int op);

/**
 * Local bytes that member @p k of a group of streams moves: what it reads that no
 * earlier member made, and what it makes that is read outside the group, carried on, or
 * a result of the program.
 */
double ridge__fused_bytes(const ridge__fusing *f, const ridge__fused *group, int k);

/** A product as a chip computes it, in local sizes as far as they are in use. Legend: a
 *  [batch, m, k] times b [batch, k, n]. */
typedef struct ridge__product {
    int a, b, c; /* tensors */
    double batch, m, k, n;
} ridge__product;

/** @return false when the operation is no product: an einsum of one input, or without a
 * dim to sum over */
bool ridge__product_of(const ridge_partition *p, int op, ridge__product *out);

#endif
