/* Where in a program a tensor comes from: its block, its operation, its dispatch; and
 * in which repetition, as the notes on ridge_block say. */
#include "tensor_part.h"
#include "unroll_work.h"

int ridge__op_block_of(const ridge_program *program, int op)
{
    for (int b = 0; b < program->n_blocks; b++) {
        const ridge_block *block = &program->blocks[b];
        if (op >= block->first_op && op < block->first_op + block->n_ops)
            return b;
    }
    return -1;
}

int ridge__tensor_maker(const ridge_program *program, int tensor)
{
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        for (int o = 0; o < op->n_outputs; o++) {
            if (op->outputs[o] == tensor)
                return i;
        }
    }
    return -1;
}

/* The forward block that a block goes along with: itself, if none. */
static int model_block(const ridge_program *program, int block)
{
    const int of = program->blocks[block].forward_of;
    return of >= 0 ? of : block;
}

int ridge__tensor_dispatch(const ridge_program *program, int tensor)
{
    const ridge_tensor *t = &program->tensors[tensor];
    if (!ridge__tensor_is_rows(program, tensor))
        return -1;
    const ridge_block *block = &program->blocks[model_block(program, t->block)];
    for (int i = block->first_op; i < block->first_op + block->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        if (op->code == RIDGE_OPCODE_DISPATCH && !op->is_backward &&
            program->tensors[op->outputs[0]].dims[1] == t->dims[1])
            return i;
    }
    return -1;
}

int64_t ridge__tensor_repeats(const ridge_program *program, int tensor)
{
    return program->blocks[program->tensors[tensor].block].repeat;
}

static int64_t along(const ridge_program *program, int block, int64_t repetition,
                     int of)
{
    const ridge_block *now = &program->blocks[block];
    const ridge_block *there = &program->blocks[of];
    const int model = model_block(program, block);
    if (of == block)
        return repetition;
    if (of != model && there->forward_of != model)
        return there->repeat - 1;
    const int64_t r = now->is_backward && now->forward_of >= 0
                          ? now->repeat - 1 - repetition
                          : repetition;
    return there->is_backward && of != model ? there->repeat - 1 - r : r;
}

int ridge__value_of(const ridge__unrolled *u, int block, int64_t repetition, int tensor)
{
    const ridge_program *program = u->partition->program;
    const ridge_block *now = &program->blocks[block];
    const int model = now->forward_of;
    if (tensor == now->carry_in && repetition > 0)
        return u->first_value[now->carry_out] + (int)repetition - 1;
    if (model >= 0 && tensor == program->blocks[model].carry_in) {
        const int64_t r = along(program, block, repetition, model);
        if (r > 0)
            return u->first_value[program->blocks[model].carry_out] + (int)r - 1;
    }
    const int there = program->tensors[tensor].block;
    return u->first_value[tensor] + (int)along(program, block, repetition, there);
}

int ridge__side_value_of(const ridge__unrolled *u, int block, int64_t repetition,
                         int side)
{
    const ridge_program *program = u->partition->program;
    const int of = ridge__op_block_of(program, side);
    return u->first_value[program->n_tensors + side] +
           (int)along(program, block, repetition, of);
}
