/* Which operations' results a remat policy keeps for the backward pass. */
#include "ridge/program_remat.h"

static bool is_product(const ridge_operation *op)
{
    /* rows of experts too: the order in which they were dealt goes with them */
    return op->code == RIDGE_OPCODE_EINSUM || op->code == RIDGE_OPCODE_COLLECTIVE ||
           op->code == RIDGE_OPCODE_DISPATCH;
}

static bool is_feed_forward(const ridge_operation *op)
{
    return op->part == RIDGE_PART_MLP || op->part == RIDGE_PART_ROUTER ||
           op->part == RIDGE_PART_EXPERTS || op->code == RIDGE_OPCODE_ROUTE ||
           op->code == RIDGE_OPCODE_DISPATCH || op->code == RIDGE_OPCODE_COMBINE;
}

bool ridge_operation_is_kept(const ridge_operation *op, ridge_remat remat)
{
    switch (remat) {
    case RIDGE_REMAT_NONE:
    case RIDGE_REMAT_SELECTIVE: /* scores are never kept: attention has no T x T array
                                 */
        return true;
    case RIDGE_REMAT_MATMULS:
        return is_product(op);
    case RIDGE_REMAT_ELEMENTWISE:
        return is_product(op) || op->code == RIDGE_OPCODE_ATTENTION ||
               op->code == RIDGE_OPCODE_SCAN;
    case RIDGE_REMAT_FFN:
        return op->code != RIDGE_OPCODE_NORM && !is_feed_forward(op);
    case RIDGE_REMAT_FULL:
        break;
    }
    return false;
}

static int maker_within(const ridge_program *p, const ridge_block *b, int tensor)
{
    for (int i = b->first_op; i < b->first_op + b->n_ops; i++) {
        for (int o = 0; o < p->ops[i].n_outputs; o++) {
            if (p->ops[i].outputs[o] == tensor)
                return i;
        }
    }
    return -1;
}

/* A policy, or named operations. */
typedef struct keeping {
    ridge_remat remat;
    ridge_remat_ops named; /* 0: the policy */
} keeping;

static bool is_kept(const ridge_program *p, int op, const keeping *how)
{
    return how->named != 0 ? (ridge_operation_remat_op(p, op) & how->named) == 0
                           : ridge_operation_is_kept(&p->ops[op], how->remat);
}

static void want(const ridge_program *p, const ridge_block *forward, const keeping *how,
                 const ridge_operation *op, bool *is_again)
{
    for (int i = 0; i < op->n_inputs; i++) {
        const int maker = maker_within(p, forward, op->inputs[i]);
        if (maker >= 0 && op->inputs[i] != forward->carry_out &&
            !is_kept(p, maker, how))
            is_again[maker] = true;
    }
}

static void mark(const ridge_program *p, int backward, const keeping *how,
                 bool *is_again)
{
    const ridge_block *back = &p->blocks[backward];
    if (back->forward_of < 0 || p->blocks[back->forward_of].layer < 0)
        return;
    const ridge_block *forward = &p->blocks[back->forward_of];
    for (int i = back->first_op; i < back->first_op + back->n_ops; i++)
        want(p, forward, how, &p->ops[i], is_again);
    for (int i = forward->first_op + forward->n_ops - 1; i >= forward->first_op; i--) {
        if (is_again[i])
            want(p, forward, how, &p->ops[i], is_again);
    }
}

void ridge_program_mark_again(const ridge_program *p, int backward, ridge_remat remat,
                              bool *is_again)
{
    mark(p, backward, &(keeping){.remat = remat}, is_again);
}

void ridge_program_mark_named(const ridge_program *p, int backward, ridge_remat_ops ops,
                              bool *is_again)
{
    mark(p, backward, &(keeping){.named = ops}, is_again);
}
