/*
 * Which einsums take over the collective beside them: the program is rewritten, how it
 * is carried out is in ring_product.c.
 */
#include "ring_product.h"

#include "instruction.h"
#include "tensor_part.h"

#include <string.h>

typedef struct rewriting {
    const ridge_partition *partition;
    ridge_program *program;
} rewriting;

/* A collective that an einsum could take over. */
typedef struct candidate {
    int op;    /* -1: none */
    int input; /* of the einsum, that it gathers; -1: it is behind the product */
    double moved;
} candidate;

static int sole_reader(const ridge_program *program, int tensor)
{
    int found = -1;
    for (int i = 0; i < program->n_ops; i++) {
        for (int k = 0; k < program->ops[i].n_inputs; k++) {
            if (program->ops[i].inputs[k] != tensor)
                continue;
            if (found >= 0)
                return -1;
            found = i;
        }
    }
    return found;
}

static bool same_block(const ridge_program *program, int a, int b)
{
    return ridge__op_block_of(program, a) == ridge__op_block_of(program, b);
}

static int64_t ranks_of(const rewriting *w, const ridge_operation *op)
{
    int64_t n = 1;
    for (int i = 0; i < op->n_axes; i++)
        n *= w->partition->mesh.axes[op->axes[i]].size;
    return n;
}

/* Chunks of several axes have to be equal, or they nest. */
static bool cuts_evenly(const rewriting *w, const ridge_operation *op, int whole,
                        int part, int dim)
{
    const int at = ridge__tensor_position(&w->program->tensors[whole], dim);
    if (op->n_axes == 1)
        return true;
    return ridge_partition_local_dim(w->partition, whole, at) ==
           ridge_partition_local_dim(w->partition, part, at) * ranks_of(w, op);
}

static bool is_replicated(const rewriting *w, const ridge_operation *op, int tensor)
{
    const unsigned used = ridge_sharding_axes(&w->partition->shardings[tensor]);
    for (int i = 0; i < op->n_axes; i++) {
        if (!(used >> op->axes[i] & 1u))
            return true;
    }
    return false;
}

static candidate gather_of(const rewriting *w, int index, int input)
{
    const ridge_program *program = w->program;
    const ridge_operation *einsum = &program->ops[index];
    const int whole = einsum->inputs[input];
    const int maker = ridge__tensor_maker(program, whole);
    const ridge_operation *op = maker >= 0 ? &program->ops[maker] : NULL;
    const candidate none = {.op = -1};
    if (!op || op->code != RIDGE_OPCODE_COLLECTIVE ||
        op->collective != RIDGE_STEP_ALL_GATHER || !same_block(program, maker, index) ||
        sole_reader(program, whole) != index)
        return none;
    const ridge_tensor *out = &program->tensors[einsum->outputs[0]];
    const bool is_summed = ridge__tensor_position(out, op->dim_from) < 0;
    if (!cuts_evenly(w, op, whole, op->inputs[0], op->dim_from) ||
        (is_summed && is_replicated(w, op, einsum->outputs[0])))
        return none;
    return (candidate){.op = maker,
                       .input = input,
                       .moved = ridge_partition_local_elements(w->partition, whole)};
}

static candidate sum_of(const rewriting *w, int index)
{
    const ridge_program *program = w->program;
    const int whole = program->ops[index].outputs[0];
    const int reader = sole_reader(program, whole);
    const ridge_operation *op = reader >= 0 ? &program->ops[reader] : NULL;
    const candidate none = {.op = -1};
    if (!op || op->code != RIDGE_OPCODE_COLLECTIVE ||
        !same_block(program, reader, index))
        return none;
    const double size = ridge_partition_local_elements(w->partition, whole);
    if (op->collective == RIDGE_STEP_ALL_REDUCE)
        return (candidate){.op = reader, .input = -1, .moved = 2.0 * size};
    if (op->collective != RIDGE_STEP_REDUCE_SCATTER ||
        !cuts_evenly(w, op, whole, op->outputs[0], op->dim_to))
        return none;
    return (candidate){.op = reader, .input = -1, .moved = size};
}

static void keep_larger(candidate *best, candidate other)
{
    if (other.op >= 0 && (best->op < 0 || other.moved > best->moved))
        *best = other;
}

static void take_over(ridge_program *program, ridge_operation *einsum,
                      const candidate *c)
{
    ridge_operation *op = &program->ops[c->op];
    einsum->collective = op->collective;
    einsum->n_axes = op->n_axes;
    memcpy(einsum->axes, op->axes, sizeof op->axes);
    einsum->dim_from = op->dim_from;
    einsum->dim_to = op->dim_to;
    if (c->input >= 0) {
        einsum->inputs[c->input] = op->inputs[0];
    } else {
        einsum->outputs[0] = op->outputs[0];
        einsum->is_added = einsum->is_added || op->is_added;
    }
    op->n_inputs = 0;
    op->n_outputs = 0;
}

static bool is_plain_product(const ridge_program *program, const ridge_operation *op)
{
    return op->code == RIDGE_OPCODE_EINSUM && op->n_inputs == 2 && !op->is_added &&
           !ridge__tensor_is_rows(program, op->inputs[0]) &&
           !ridge__tensor_is_rows(program, op->inputs[1]) &&
           !ridge__tensor_is_rows(program, op->outputs[0]);
}

static ridge_status copy_partition(ridge_ctx *cx, const ridge_partition *from,
                                   ridge_partition **out, ridge_program **program)
{
    ridge_partition *p = ridge_new(ridge_ctx_arena(cx), ridge_partition, 1);
    ridge_program *q = ridge_new(ridge_ctx_arena(cx), ridge_program, 1);
    const size_t n = (size_t)from->program->n_ops;
    ridge_operation *ops = ridge_new(ridge_ctx_arena(cx), ridge_operation, n + 1);
    if (!p || !q || !ops)
        return ridge_fail_nomem(cx);
    *p = *from;
    *q = *from->program;
    memcpy(ops, q->ops, n * sizeof *ops);
    q->ops = ops;
    p->program = q;
    *out = p;
    *program = q;
    return RIDGE_OK;
}

ridge_status ridge__ring_products(ridge_ctx *cx, const ridge_partition *partition,
                                  const ridge_partition **out)
{
    ridge_partition *p = NULL;
    rewriting w = {.program = NULL};
    RIDGE_TRY(copy_partition(cx, partition, &p, &w.program));
    w.partition = p;
    for (int i = 0; i < w.program->n_ops; i++) {
        ridge_operation *op = &w.program->ops[i];
        if (!is_plain_product(w.program, op))
            continue;
        candidate best = sum_of(&w, i);
        keep_larger(&best, gather_of(&w, i, 0));
        keep_larger(&best, gather_of(&w, i, 1));
        if (best.op >= 0)
            take_over(w.program, op, &best);
    }
    *out = p;
    return RIDGE_OK;
}
