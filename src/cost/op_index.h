/* Who makes and who reads each tensor of a program: for walks over all operations. */
#ifndef RIDGE_COST_OP_INDEX_H
#define RIDGE_COST_OP_INDEX_H

#include "ridge/program.h"

/** Plain data in a scratch arena. */
typedef struct ridge__op_index {
    const int *first_use;   /* [n_tensors + 1] into uses */
    const int *uses;        /* operations that read, in program order for each tensor */
    const int *first_write; /* [n_tensors + 1] into writes */
    const int *writes;      /* operations that write, likewise */
    const int *block;       /* [n_ops] */
} ridge__op_index;

/** @owner scratch of cx. @errors E_NOMEM */
RIDGE_NODISCARD ridge_status ridge__op_index_make(ridge_ctx *cx,
                                                  const ridge_program *program,
                                                  ridge__op_index *out);

/** The last operation before @p op that writes a tensor; -1: none. */
int ridge__op_writer(const ridge__op_index *index, int tensor, int op);

/** Block of an operation; -1: in none. */
int ridge__op_block(const ridge_program *program, int op);

#endif
