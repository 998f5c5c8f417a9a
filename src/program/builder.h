/*
 * A program that grows: dims, tensors, operations and blocks are added one by one, each
 * checked. The first failure sticks: later calls do nothing and return -1, and
 * ridge__builder_finish reports it.
 */
#ifndef RIDGE_PROGRAM_BUILDER_H
#define RIDGE_PROGRAM_BUILDER_H

#include "ridge/program.h"

enum { RIDGE__BLOCKS_MOST = 4096, RIDGE__BLOCK_OPS_MOST = 4096 };

typedef struct ridge__builder {
    ridge_ctx *cx;
    ridge_arena *arena;
    ridge_status st; /* of the first failure */
    ridge_program p; /* arrays have room for the capacities */
    int cap_tensors, cap_ops, cap_blocks;
    int n_slots; /* of the hash of tensor names; a power of two */
    int *slots;  /* [n_slots] tensor index + 1, or 0 */
} ridge__builder;

/** Dims of a tensor, as a value. */
typedef struct ridge__dims {
    int n;
    int d[RIDGE_TENSOR_DIM_MAX];
} ridge__dims;

#define RIDGE__DIMS(...)                                                               \
    ((ridge__dims){(int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), {__VA_ARGS__}})

/** Blanks and control characters of the name become underscores. */
void ridge__builder_open(ridge__builder *b, ridge_ctx *cx, const char *name,
                         ridge_phase phase);
/** Start from a copy of a program. */
void ridge__builder_copy(ridge__builder *b, ridge_ctx *cx,
                         const ridge_program *program);
/** @errors what stuck */
RIDGE_NODISCARD ridge_status ridge__builder_finish(ridge__builder *b,
                                                   const ridge_program **out);

bool ridge__builder_is_bad(const ridge__builder *b);
/** Record a failure that the caller found, whose message is set. */
void ridge__builder_fail(ridge__builder *b, ridge_status st);
void ridge__builder_fail_nomem(ridge__builder *b);

/** The dim of that letter and size: an earlier one, or a new one with the letter (and a
 *  number behind it, if the letter is taken by another size). */
int ridge__builder_dim(ridge__builder *b, const char *letter, int64_t size);
/** A dim by its whole name. @return -1 if the name is taken */
int ridge__builder_dim_named(ridge__builder *b, const char *name, int64_t size,
                             double used);

/** Start a block; operations and tensors are added to the last one. */
int ridge__builder_block(ridge__builder *b, const ridge_block *block);

/** A name that no block has: stem and suffix, or with _2, _3, … behind them. */
const char *ridge__builder_block_name(ridge__builder *b, const char *stem,
                                      const char *suffix);

/** @return -1 when there is none. */
int ridge__builder_tensor_find(const ridge__builder *b, const char *name);
/** A tensor of the last block. The name is copied by reference: it must live as long as
 *  the ctx, and be new. */
int ridge__builder_tensor(ridge__builder *b, const ridge_tensor *tensor);
/** Where the tensors of a block stand: none of them is outside of first .. end - 1. */
typedef struct ridge__range {
    int first, end;
} ridge__range;

/** By block. @return [n_blocks], or NULL without memory */
ridge__range *ridge__builder_ranges(ridge__builder *b);

/** A name that no tensor has: the given one, or with _2, _3, … behind it. */
const char *ridge__builder_name(ridge__builder *b, const char *wanted);

/** Checked by ridge__operation_fault; a name that its block has gets _2, _3, … behind
 *  it. @return its index */
int ridge__builder_op(ridge__builder *b, const ridge_operation *op);

/** Whether the last block has an operation of this name. */
bool ridge__builder_has_op(const ridge__builder *b, const char *name);

/** An operation with nothing set but what says "none". */
ridge_operation ridge__operation_new(ridge_opcode code, const char *name);

/** Why an operation is malformed, or NULL: counts of inputs and outputs, and dims that
 *  do not fit (operation_check.c). Tensor indices must be valid. */
const char *ridge__operation_fault(const ridge_program *program,
                                   const ridge_operation *op);

const char *ridge__part_text(ridge_part part);

/** Tokens that a query meets on average, as the shapes say (count.c). */
double ridge__attention_context(const ridge_program *program, const ridge_operation *op,
                                const ridge_attention_shape *shape);

#endif
