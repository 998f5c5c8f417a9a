/*
 * Deriving gradients: what the walk over blocks (backward.c), the reverse
 * under way (reverse.c) and the rules of operations (gradient.c) share.
 */
#ifndef RIDGE_PROGRAM_BACKWARD_H
#define RIDGE_PROGRAM_BACKWARD_H

#include "builder.h"

/* A contribution to a tensor's gradient; more of the same tensor behind it. */
typedef struct ridge__share {
    int gradient; /* tensor */
    struct ridge__share *next;
} ridge__share;

/* What is known of a forward tensor's gradient. */
typedef struct ridge__slope {
    bool is_wanted;       /* some weight hangs on it */
    bool is_read;         /* by a forward operation */
    ridge__share *shares; /* latest first */
    int sum;              /* G that repetitions add to; -1: none */
} ridge__slope;

typedef struct ridge__reverse {
    ridge__builder *b;
    int n_tensors, n_ops, n_blocks; /* of the forward program */
    ridge__slope *slopes;           /* [n_tensors] */
    const ridge__range *ranges;     /* [n_blocks] */
    bool has_loss;                  /* a loss that nothing reads: its gradient is one */
    /* the block under way */
    int forward_block;
    bool is_open;      /* its backward block has been started */
    bool is_repeated;  /* with repeat > 1: outside shares are added up */
    ridge_block block; /* to start when the first operation comes */
    int shared_block;  /* of sums over repetitions; -1: not yet */
} ridge__reverse;

/** Start the backward block, if it has not been started. */
void ridge__reverse_open(ridge__reverse *r);
/** Add an operation to the backward block, starting it if need be. */
int ridge__reverse_op(ridge__reverse *r, ridge_operation *op);
/** A new gradient of a tensor, not yet one of its shares. */
int ridge__reverse_tensor(ridge__reverse *r, int of);
/** Add a share as it is. */
void ridge__reverse_push(ridge__reverse *r, int of, int gradient);
/** Make a tensor one of the shares of @p of; over repetitions it is added up. */
void ridge__reverse_share(ridge__reverse *r, int of, int gradient);
/** The sum of a tensor's shares; -1: none. */
int ridge__reverse_total(ridge__reverse *r, int of);
bool ridge__reverse_wants(const ridge__reverse *r, int tensor);
/** Whether it was made before the block under way. */
bool ridge__reverse_is_outside(const ridge__reverse *r, int tensor);

/** The sum over repetitions of the gradients of @p of, a tensor of the first backward
 * block. @return its number, -1 of a builder that failed */
int ridge__reverse_sum(ridge__reverse *r, int of);

/** The backward operations of one forward operation. */
void ridge__gradient(ridge__reverse *r, int op);

#endif
