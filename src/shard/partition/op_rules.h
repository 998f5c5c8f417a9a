/*
 * What each operation does to its dims: the loops ("indices") over which it runs, which
 * index stands at each position of each operand, and what cutting one leads to. The
 * whole of propagation is written on these; no opcode is named elsewhere.
 */
#ifndef RIDGE_SHARD_OP_RULES_H
#define RIDGE_SHARD_OP_RULES_H

#include "ridge/program.h"

enum {
    RIDGE__OPERAND_MAX = RIDGE_OP_INPUT_MAX + RIDGE_OP_OUTPUT_MAX,
    RIDGE__INDEX_MAX = RIDGE__OPERAND_MAX * RIDGE_TENSOR_DIM_MAX
};

/** What may be done with an index. */
typedef enum ridge__index_kind {
    RIDGE__INDEX_FREE,    /* any cut is local; an output without it is a partial sum */
    RIDGE__INDEX_WHOLE,   /* must not be cut */
    RIDGE__INDEX_SOFTMAX, /* a cut costs two all-reduces of the output */
    RIDGE__INDEX_GROUP,   /* KV heads: cut as the query heads are, while groups fit */
    RIDGE__INDEX_TOKEN,   /* free, and the rows of experts are cut along */
    RIDGE__INDEX_ROWS /* rows of experts: cut as the tokens are from which they come */
} ridge__index_kind;

typedef struct ridge__op_rule {
    int n_index, n_inputs, n_outputs;
    int dim[RIDGE__INDEX_MAX]; /* program dim of an index */
    unsigned char kind[RIDGE__INDEX_MAX];
    bool is_key[RIDGE__INDEX_MAX];  /* the keys' side of a dim that queries have too */
    int tensor[RIDGE__OPERAND_MAX]; /* inputs, then outputs */
    int rank[RIDGE__OPERAND_MAX];
    unsigned char at[RIDGE__OPERAND_MAX][RIDGE_TENSOR_DIM_MAX]; /* index */
    int heads; /* index that a GROUP follows; -1 */
    int group; /* -1 */
    int rows;  /* -1 */
    /* Inputs, as bits, in which the operation is linear and cheap: partial sums may
     * pass through one of them, or (is_joint) through all of them at once. */
    unsigned carries;
    bool is_joint;
    bool has_sums; /* it adds up over ranks by itself: no output is a partial sum */
} ridge__op_rule;

/** Fill in the rule of an operation. Cannot fail: what does not fit its opcode is
 * whole. */
void ridge__op_rule_make(const ridge_program *program, const ridge_operation *op,
                         ridge__op_rule *out);

/** The index of a program dim on the side of queries; -1: none. */
int ridge__op_rule_find(const ridge__op_rule *rule, int dim);

#endif
