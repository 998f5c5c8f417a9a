/*
 * Partitioned programs made by hand, in a few lines of text: tensors as
 * "h[B@dp,T,D@tp]{x}", operations as "h,wq->q". A mistake in the text fails the test.
 */
#ifndef RIDGE_TEST_PROGRAM_BUILD_H
#define RIDGE_TEST_PROGRAM_BUILD_H

#include "ridge/cost_program.h"

enum { BUILD_MOST = 128 };

/** A partition under way; the ctx outlives it. */
typedef struct program_build {
    ridge_ctx *cx;
    ridge_program program;
    ridge_partition partition; /* what is built so far */
    ridge_program_dim dims[BUILD_MOST];
    ridge_tensor tensors[BUILD_MOST];
    ridge_operation ops[BUILD_MOST];
    ridge_block blocks[BUILD_MOST];
    ridge_sharding shardings[BUILD_MOST];
} program_build;

/** @param mesh  "dp=2,tp=4". @param dims  "B=4,T=128,D=1024" */
void build_open(program_build *b, ridge_ctx *cx, const char *mesh, const char *dims);

/** Tensors of a role in bf16, separated by spaces. */
void build_tensors(program_build *b, ridge_role role, const char *text);

/** What is added from now on belongs to this block.
 * @param carry  "x->x2", or NULL */
void build_block(program_build *b, const char *name, int64_t repeat, const char *carry);

/** @param text  "name: a,b->c". @return the operation, for further fields */
ridge_operation *build_op(program_build *b, ridge_opcode code, const char *text);
ridge_operation *build_elementwise(program_build *b, ridge_function function,
                                   const char *text);
/** @param axes  "dp,tp", outermost first */
ridge_operation *build_exchange(program_build *b, ridge_collective kind,
                                const char *text, const char *axes);

/** Index of an operation by name. */
int build_find(const program_build *b, const char *op);

#endif
