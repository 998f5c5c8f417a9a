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

/* The reduce-scatter, over an axis first of all, that alone reads a tensor; -1: none.
 */
static int scatter_of(const ridge_program *program, int tensor, int dim, int axis)
{
    int found = -1;
    for (int i = 0; i < program->n_ops; i++) {
        const ridge_operation *op = &program->ops[i];
        for (int k = 0; k < op->n_inputs; k++) {
            if (op->inputs[k] != tensor)
                continue;
            if (found >= 0 || op->code != RIDGE_OPCODE_COLLECTIVE ||
                op->collective != RIDGE_STEP_REDUCE_SCATTER || op->n_axes < 1 ||
                op->axes[0] != axis || op->dim_to != dim)
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

/* Where the keys and values of an attention are gathered. */
typedef struct gathers {
    int k, v; /* operations */
    int dim, axis;
} gathers;

static bool find_gathers(const ridge_program *program, const ridge_operation *op,
                         int dim, gathers *out)
{
    const int k = gather_of(program, op->inputs[1], dim);
    const int v = gather_of(program, op->inputs[2], dim);
    if (k < 0 || v < 0 || (op->extras & ~(unsigned)RIDGE_ATTENTION_SINKS) != 0 ||
        readers(program, op->inputs[1]) != 1 || readers(program, op->inputs[2]) != 1 ||
        program->ops[k].axes[0] != program->ops[v].axes[0])
        return false;
    *out = (gathers){k, v, dim, program->ops[k].axes[0]};
    return true;
}

static bool is_of_keys(const ridge_partition *p, const ridge_operation *op, int output)
{
    const int of = p->program->tensors[op->outputs[output]].gradient_of;
    return of == p->copy_of[op->inputs[1]] || of == p->copy_of[op->inputs[2]];
}

/* Whether the gradients of keys and values are scattered as the ring leaves them. */
static bool can_turn(const ridge_partition *p, const ridge_operation *op,
                     const gathers *g)
{
    for (int i = 0; op->is_backward && i < op->n_outputs; i++) {
        if (is_of_keys(p, op, i) &&
            scatter_of(p->program, op->outputs[i], g->dim, g->axis) < 0)
            return false;
    }
    return true;
}

static void turn_inputs(ridge_program *program, ridge_operation *op, const gathers *g)
{
    op->inputs[1] = program->ops[g->k].inputs[0];
    op->inputs[2] = program->ops[g->v].inputs[0];
    leave_out(program, g->k);
    leave_out(program, g->v);
}

/* A scatter over more axes goes on from what the ring leaves: cut over its axis. */
static void shorten(const ridge_program *program, ridge_sharding *shardings,
                    ridge_operation *scatter, const gathers *g)
{
    const int tensor = scatter->inputs[0];
    const int at = ridge__tensor_position(&program->tensors[tensor], g->dim);
    shardings[tensor].partial &= ~(1U << g->axis);
    shardings[tensor].dims[at] = (ridge_dim_axes){1, {g->axis}};
    scatter->n_axes--;
    for (int i = 0; i < scatter->n_axes; i++)
        scatter->axes[i] = scatter->axes[i + 1];
}

static void turn_outputs(const ridge_partition *p, ridge_program *program,
                         ridge_sharding *shardings, ridge_operation *op,
                         const gathers *g)
{
    for (int i = 0; i < op->n_outputs; i++) {
        const int scatter = is_of_keys(p, op, i)
                                ? scatter_of(program, op->outputs[i], g->dim, g->axis)
                                : -1;
        if (scatter < 0)
            continue;
        if (program->ops[scatter].n_axes > 1) {
            shorten(program, shardings, &program->ops[scatter], g);
            continue;
        }
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
    const size_t n_tensors = (size_t)partition->program->n_tensors;
    ridge_operation *ops = ridge_new(ridge_ctx_arena(cx), ridge_operation, n + 1);
    ridge_sharding *shardings =
        ridge_new(ridge_ctx_arena(cx), ridge_sharding, n_tensors + 1);
    if (!p || !program || !ops || !shardings)
        return ridge_fail_nomem(cx);
    *p = *partition;
    *program = *partition->program;
    memcpy(ops, program->ops, n * sizeof *ops);
    memcpy(shardings, p->shardings, n_tensors * sizeof *shardings);
    program->ops = ops;
    p->program = program;
    p->shardings = shardings;
    for (int i = 0; i < program->n_ops; i++) {
        ridge_attention_shape s;
        if (ops[i].code != RIDGE_OPCODE_ATTENTION ||
            !ridge_attention_shape_of(program, &ops[i], &s))
            continue;
        gathers g;
        if (!find_gathers(program, &ops[i], s.s, &g) || !can_turn(p, &ops[i], &g))
            continue;
        if (ops[i].is_backward)
            turn_outputs(p, program, shardings, &ops[i], &g);
        turn_inputs(program, &ops[i], &g);
    }
    *out = p;
    return RIDGE_OK;
}
