/* Makers and readers of tensors, in two passes over the operations. */
#include "op_index.h"

int ridge__op_block(const ridge_program *program, int op)
{
    for (int i = 0; i < program->n_blocks; i++) {
        const ridge_block *b = &program->blocks[i];
        if (op >= b->first_op && op < b->first_op + b->n_ops)
            return i;
    }
    return -1;
}

static void fill_blocks(const ridge_program *program, int *block)
{
    for (int i = 0; i < program->n_ops; i++)
        block[i] = -1;
    for (int b = 0; b < program->n_blocks; b++) {
        for (int i = 0; i < program->blocks[b].n_ops; i++)
            block[program->blocks[b].first_op + i] = b;
    }
}

/* A list of operations for each tensor. */
typedef struct op_lists {
    int *first, *ops, *next;
} op_lists;

static bool lists_new(ridge_arena *arena, const ridge_program *program, bool is_output,
                      op_lists *out)
{
    const size_t n = (size_t)program->n_tensors + 1;
    size_t all = 1;
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *o = &program->ops[i];
        all += (size_t)(is_output ? o->n_outputs : o->n_inputs);
    }
    out->first = ridge_new(arena, int, n);
    out->next = ridge_new(arena, int, n);
    out->ops = ridge_new(arena, int, all);
    return out->first != NULL && out->next != NULL && out->ops != NULL;
}

static const int *operands(const ridge_operation *o, bool is_output, int *n)
{
    *n = is_output ? o->n_outputs : o->n_inputs;
    return is_output ? o->outputs : o->inputs;
}

/* first[t + 1] counts the operations of t, and then ends behind them. */
static void lists_fill(const ridge_program *program, bool is_output, op_lists *lists)
{
    int n = 0;
    for (int i = 0; i < program->n_ops; i++) {
        const int *tensors = operands(&program->ops[i], is_output, &n);
        for (int k = 0; k < n; k++)
            lists->first[tensors[k] + 1]++;
    }
    for (int t = 0; t < program->n_tensors; t++) {
        lists->first[t + 1] += lists->first[t];
        lists->next[t] = lists->first[t];
    }
    for (int i = 0; i < program->n_ops; i++) {
        const int *tensors = operands(&program->ops[i], is_output, &n);
        for (int k = 0; k < n; k++)
            lists->ops[lists->next[tensors[k]]++] = i;
    }
}

int ridge__op_writer(const ridge__op_index *index, int tensor, int op)
{
    int writer = -1;
    for (int i = index->first_write[tensor]; i < index->first_write[tensor + 1]; i++) {
        if (index->writes[i] >= op)
            break;
        writer = index->writes[i];
    }
    return writer;
}

ridge_status ridge__op_index_make(ridge_ctx *cx, const ridge_program *program,
                                  ridge__op_index *out)
{
    ridge_arena *arena = ridge_ctx_scratch(cx);
    int *block = ridge_new(arena, int, (size_t)program->n_ops + 1);
    op_lists uses, writes;
    if (block == NULL || !lists_new(arena, program, false, &uses) ||
        !lists_new(arena, program, true, &writes))
        return ridge_fail_nomem(cx);
    fill_blocks(program, block);
    lists_fill(program, false, &uses);
    lists_fill(program, true, &writes);
    *out = (ridge__op_index){uses.first, uses.ops, writes.first, writes.ops, block};
    return RIDGE_OK;
}
