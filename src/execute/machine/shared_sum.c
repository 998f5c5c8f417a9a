/* A sum of two shares of a table's gradient, one of them from a look-up: made in place.
 */
#include "shared_sum.h"

#include "instruction.h"

#include <string.h>

static int readers(const ridge_program *program, int tensor)
{
    int n = 0;
    for (int i = 0; i < program->n_ops; i++) {
        for (int k = 0; k < program->ops[i].n_inputs; k++)
            n += program->ops[i].inputs[k] == tensor;
    }
    return n;
}

/* The maker of a share that nobody else reads, in a block that runs once; -1: another.
 */
static int share_maker(const ridge_program *program, int tensor)
{
    const int maker = ridge__tensor_maker(program, tensor);
    if (maker < 0 || readers(program, tensor) != 1)
        return -1;
    return program->blocks[ridge__op_block_of(program, maker)].repeat == 1 ? maker : -1;
}

static bool is_look_up(const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_GATHER && op->is_backward;
}

/* sum = first + second, where second's maker is a look-up and first's runs before it.
 */
static void join(ridge_program *program, ridge_operation *sum)
{
    const int a = share_maker(program, sum->inputs[0]);
    const int b = share_maker(program, sum->inputs[1]);
    if (a < 0 || b < 0)
        return;
    const int product = is_look_up(&program->ops[b]) ? a : b;
    const int look_up = product == a ? b : a;
    const ridge_operation *p = &program->ops[product];
    const bool is_wanted = is_look_up(&program->ops[look_up]) && product < look_up &&
                           p->code == RIDGE_OPCODE_EINSUM && p->n_outputs == 1;
    if (!is_wanted)
        return;
    program->ops[product].outputs[0] = sum->outputs[0];
    program->ops[look_up].outputs[0] = sum->outputs[0];
    program->ops[look_up].is_added = true;
    sum->n_inputs = sum->n_outputs = 0;
}

ridge_status ridge__shared_sum(ridge_ctx *cx, const ridge_partition *partition,
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
        if (ops[i].code == RIDGE_OPCODE_ELEMENTWISE &&
            ops[i].function == RIDGE_FUNCTION_ADD && ops[i].is_backward &&
            ops[i].n_inputs == 2)
            join(program, &ops[i]);
    }
    *out = p;
    return RIDGE_OK;
}
