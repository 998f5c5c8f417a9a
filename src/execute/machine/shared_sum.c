/*
 * Sums of gradients made in place: of a table's two shares, one of them from a look-up,
 * and of products of one block, each of which adds to what those before it made.
 */
#include "shared_sum.h"

#include "instruction.h"
#include "tensor_part.h"

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

/* ---- products --------------------------------------------------------------------
 */

/* The first operation that makes a share that nobody else reads; -1: not all of its
 * makers are plain products of a block. */
static int product_maker(const ridge_program *program, int block, int tensor)
{
    int first = -1;
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        if (op->n_outputs < 1 || op->outputs[0] != tensor)
            continue;
        if (op->code != RIDGE_OPCODE_EINSUM || op->n_inputs != 2 || op->n_axes > 0 ||
            ridge__op_block_of(program, i) != block)
            return -1;
        first = first < 0 ? i : first;
    }
    const bool is_wanted = first >= 0 && !program->ops[first].is_added &&
                           readers(program, tensor) == 1 &&
                           !ridge__tensor_is_rows(program, tensor);
    return is_wanted ? first : -1;
}

static bool is_cut_alike(const ridge_partition *partition, int a, int b)
{
    const ridge_tensor *s = &partition->program->tensors[a];
    const ridge_tensor *t = &partition->program->tensors[b];
    return s->n_dims == t->n_dims && s->dtype == t->dtype &&
           memcmp(s->dims, t->dims, (size_t)s->n_dims * sizeof *s->dims) == 0 &&
           ridge_sharding_equal(&partition->shardings[a], &partition->shardings[b]);
}

static void write_instead(ridge_program *program, int tensor, int to)
{
    for (int i = 0; i < program->n_ops; i++) {
        if (program->ops[i].n_outputs > 0 && program->ops[i].outputs[0] == tensor)
            program->ops[i].outputs[0] = to;
    }
}

/* sum = first + second, both of them products, or sums of such. */
static void join_products(const ridge_partition *partition, ridge_program *program,
                          int index)
{
    ridge_operation *sum = &program->ops[index];
    if (sum->n_inputs != 2 || sum->inputs[0] == sum->inputs[1])
        return;
    const int a = sum->inputs[0], b = sum->inputs[1], to = sum->outputs[0];
    const int block = ridge__op_block_of(program, index);
    const int i = product_maker(program, block, a),
              k = product_maker(program, block, b);
    if (i < 0 || k < 0 || !is_cut_alike(partition, a, to) ||
        !is_cut_alike(partition, b, to))
        return;
    program->ops[i > k ? i : k].is_added = true;
    write_instead(program, a, to);
    write_instead(program, b, to);
    sum->n_inputs = sum->n_outputs = 0;
}

static bool is_sum(const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_ELEMENTWISE && op->function == RIDGE_FUNCTION_ADD &&
           op->is_backward && op->n_inputs == 2 && !op->is_added;
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
        if (is_sum(&ops[i]))
            join(program, &ops[i]);
        if (is_sum(&ops[i]))
            join_products(p, program, i);
    }
    *out = p;
    return RIDGE_OK;
}
