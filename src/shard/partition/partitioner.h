/*
 * A partition in the making: what the rules want of each tensor, how tensors lie by
 * now, and the operations put out so far. Internal to src/shard.
 */
#ifndef RIDGE_SHARD_PARTITIONER_H
#define RIDGE_SHARD_PARTITIONER_H

#include "layout.h"

/** How rules want a tensor to lie: dims without a wish lie as they come out. */
typedef struct ridge__wish {
    ridge__layout layout;
    unsigned char has; /* bit i: the dim at position i is settled */
    bool is_strict;    /* no partial sums may be left */
    bool is_carried;   /* every reader can work on partial sums */
    bool is_routed;    /* a reader moves rows of experts, which tokens bind to axes */
    bool is_home;      /* a gradient: goes back to how its tensor was made */
    bool is_stream;    /* runs through the repetitions of a block */
} ridge__wish;

/** The rows of experts of one program dim: along which axes they are cut, and to the
 *  token dim of which each axis belongs. Settled by the first dispatch. */
typedef struct ridge__rows {
    bool is_set;
    ridge__cut cut;
    ridge__cut order; /* the same axes as they follow each other on the token dims */
    int token_dim[RIDGE_MESH_AXIS_MAX]; /* program dim; -1 */
} ridge__rows;

typedef struct ridge__partitioner {
    ridge_ctx *cx;
    ridge_arena *arena; /* of the result */
    const ridge_program *in;
    ridge_mesh mesh;
    ridge_reshard_cost_fn *cost; /* NULL: bytes moved */
    void *payload;

    /* of the program given */
    ridge__wish *wish;   /* [in->n_tensors] */
    ridge__layout *home; /* [in->n_tensors] as first made: what gradients go back to */
    short (
        *op_cut)[RIDGE_MESH_AXIS_MAX]; /* [in->n_ops] program dim cut by an axis; -1 */
    int *reader;       /* [in->n_tensors] first reader in the tensor's own block; -1 */
    int *op_now;       /* [in->n_ops] index in the new program */
    int *copies;       /* [in->n_tensors] versions made: names count them */
    ridge__rows *rows; /* [in->n_dims] */

    /* of the program made; the first in->n_tensors tensors are the old ones */
    int n_tensors, cap_tensors, n_ops, cap_ops;
    ridge_tensor *tensors;
    int *copy_of;           /* [cap_tensors] */
    ridge__layout *layouts; /* [cap_tensors] */
    int *next_copy;         /* [cap_tensors] another tensor of the same values; -1 */
    int *copy_block;        /* [cap_tensors] block in which next_copy holds */
    ridge_operation *ops;
    int n_conflicts, cap_conflicts;
    ridge_conflict *conflicts;

    int block;                    /* under way */
    const ridge_operation *about; /* operation under way, of the program given */
} ridge__partitioner;

static inline ridge__box ridge__partitioner_box(const ridge__partitioner *p, int tensor)
{
    const ridge_tensor *t = &p->tensors[tensor];
    ridge__box box = {.mesh = &p->mesh,
                      .n_dims = t->n_dims,
                      .element_bytes = ridge_dtype_bytes(t->dtype)};
    for (int i = 0; i < t->n_dims; i++)
        box.sizes[i] = p->in->dims[t->dims[i]].size;
    return box;
}

/* ---- rule.c ---- */

/** What the rules want of every tensor. @errors E_ARG an illegal rule; E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__rules_apply(ridge__partitioner *p,
                                                const ridge_rule *rules, int n_rules);
/** Settle a dim: the axes of @p taken leave the tensor's other dims. */
void ridge__wish_settle(ridge__wish *wish, int position, ridge__cut cut,
                        unsigned taken);

#endif
