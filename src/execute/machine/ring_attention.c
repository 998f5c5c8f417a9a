/*
 * Context parallelism around a ring: the gathers of keys and values before attention,
 * and the scatters of their gradients behind it, are left out; attention then sees
 * entries that are cut, and passes them around.
 */
#include "ring_attention.h"

#include "instruction.h"
#include "tensor_part.h"

#include <string.h>

/* The all-gather over one axis that makes a tensor; -1: another operation. */
static int gather_of(const ridge_program *program, int tensor, int dim)
{
    const int maker = ridge__tensor_maker(program, tensor);
    const ridge_operation *op = maker >= 0 ? &program->ops[maker] : NULL;
    const bool is_gather = op && op->code == RIDGE_OPCODE_COLLECTIVE &&
                           op->collective == RIDGE_STEP_ALL_GATHER && op->n_axes == 1 &&
                           op->dim_from == dim;
    return is_gather ? maker : -1;
}

/* The reduce-scatter that alone reads a tensor; -1: there is none. */
static int scatter_of(const ridge_program *program, int tensor, int dim)
{
    int found = -1;
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        for (int k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != tensor)
                continue;
            if (found >= 0 || op->code != RIDGE_OPCODE_COLLECTIVE ||
                op->collective != RIDGE_STEP_REDUCE_SCATTER || op->n_axes != 1 ||
                op->dim_to != dim)
                return -1;
            found = i;
        }
    }
    return found;
}

/* How many operations read a tensor. */
static int readers(const ridge_program *program, int tensor)
{
    int n = 0;
    for (int i = 0; i < program->n_ops; i++) {
        for (int k = 0; k < program->ops[i].n_inputs; k++)
            n += program->ops[i].inputs[k] == tensor;
    }
    return n;
}

/* A collective that is left out becomes a copy of nothing: no operands. */
static void leave_out(ridge_program *program, int op)
{
    program->ops[op].n_inputs = 0;
    program->ops[op].n_outputs = 0;
}

static bool turn_inputs(ridge_program *program, ridge_operation *op, int dim)
{
    const int k = gather_of(program, op->inputs[1], dim);
    const int v = gather_of(program, op->inputs[2], dim);
    if (k < 0 || v < 0 || op->extras != 0 || readers(program, op->inputs[1]) != 1 ||
        readers(program, op->inputs[2]) != 1)
        return false;
    op->inputs[1] = program->ops[k].inputs[0];
    op->inputs[2] = program->ops[v].inputs[0];
    leave_out(program, k);
    leave_out(program, v);
    return true;
}

static void turn_outputs(ridge_program *program, ridge_operation *op, int dim)
{
    for (int i = 0; i < op->n_outputs; i++) {
        const int scatter = scatter_of(program, op->outputs[i], dim);
        if (scatter < 0)
            continue;
        op->outputs[i] = program->ops[scatter].outputs[0];
        leave_out(program, scatter);
    }
}

ridge_status ridge__ring_attention(ridge_ctx *cx, const ridge_partition *partition,
                                   const ridge_partition **out)
{
    ridge_partition *p = ridge_new(ridge_ctx_arena(cx), ridge_partition, 1);
    ridge_program *program = ridge_new(ridge_ctx_arena(cx), ridge_program, 1);
    const size_t n = (size_t)partition->program->n_ops;
    ridge_operation *ops = ridge_new(ridge_ctx_arena(cx), ridge_operation, n + 1);
    if (!p || !program || !ops)
        return ridge_fail_nomem(cx);
    *p = *partition;
    *program = *partition->program;
    memcpy(ops, program->ops, n * sizeof *ops);
    program->ops = ops;
    p->program = program;
    for (int i = 0; i < program->n_ops; i++) {
        ridge_attention_shape s;
        if (ops[i].code != RIDGE_OPCODE_ATTENTION ||
            !ridge_attention_shape_of(program, &ops[i], &s))
            continue;
        const int dim = s.s;
        if (turn_inputs(program, &ops[i], dim) && ops[i].is_backward)
            turn_outputs(program, &ops[i], dim);
    }
    *out = p;
    return RIDGE_OK;
}
