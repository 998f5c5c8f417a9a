#include "named_remat.h"

typedef struct rung {
    ridge_remat_ops ops;
    double freed_bytes, again_s; /* over all layers */
} rung;

typedef struct ladder {
    const train_case *tc;
    const named_graph *graphs; /* [n_kinds] */
    ridge_remat_ops all;
    ridge_remat_ops makers[RIDGE_REMAT_OP_COUNT]; /* of what an operation reads */
} ladder;

static rung measure(const ladder *l, ridge_remat_ops ops)
{
    rung r = {.ops = ops};
    for (int k = 0; k < l->tc->n_kinds; k++) {
        const named_time t = named_graph_time(&l->graphs[k], ops);
        const double layers = (double)l->tc->kinds[k].count;
        r.freed_bytes += layers * t.freed_bytes;
        r.again_s += layers * t.again_s;
    }
    return r;
}

static void add_makers(ladder *l, ridge_remat_ops name, ridge_remat_ops makers)
{
    for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
        if (name >> i & 1u)
            l->makers[i] |= makers;
    }
}

/* @return false: memory ran out */
static bool find_makers(ladder *l, ridge_arena *arena, const ridge_program *p)
{
    ridge_remat_ops *maker =
        ridge_arena_new(arena, (size_t)p->n_tensors + 1, sizeof *maker);
    if (maker == NULL)
        return false;
    for (int i = 0; i < p->n_ops; i++) {
        const ridge_operation *op = &p->ops[i];
        const ridge_remat_ops name = ridge_operation_remat_op(p, i);
        for (int k = 0; name != 0 && k < op->n_inputs; k++)
            add_makers(l, name, maker[op->inputs[k]]);
        for (int k = 0; k < op->n_outputs; k++)
            maker[op->outputs[k]] |= name;
    }
    return true;
}

static bool is_better(const rung *from, const rung *a, const rung *best)
{
    const double freed = a->freed_bytes - from->freed_bytes;
    const double added_s = a->again_s - from->again_s;
    if (freed <= 1e-9 * (1 + from->freed_bytes) || added_s < 0)
        return false;
    if (best->ops == 0)
        return true;
    const double other = best->freed_bytes - from->freed_bytes;
    const double other_s = best->again_s - from->again_s;
    return freed * other_s > other * added_s;
}

static rung next_rung(const ladder *l, const rung *at)
{
    rung best = {0};
    for (int i = 0; i < RIDGE_REMAT_OP_COUNT; i++) {
        const ridge_remat_ops one = (ridge_remat_ops)1 << i;
        if ((l->all & one) == 0 || (at->ops & one) != 0)
            continue;
        const ridge_remat_ops tried[] = {at->ops | one, at->ops | one | l->makers[i]};
        for (int k = 0; k < (tried[1] == tried[0] ? 1 : 2); k++) {
            const rung r = measure(l, tried[k]);
            if (is_better(at, &r, &best))
                best = r;
        }
    }
    return best;
}

bool named_remat_ladder(ridge_arena *arena, const train_case *tc,
                        const ridge_program *program, const named_graph *graphs,
                        ridge_remat_ops *out, int *n)
{
    ladder l = {.tc = tc, .graphs = graphs, .all = ridge_program_remat_ops(program)};
    rung at = {0};
    *n = 0;
    if (!find_makers(&l, arena, program))
        return false;
    while (*n < NAMED_MOST) {
        at = next_rung(&l, &at);
        if (at.ops == 0)
            break;
        out[(*n)++] = at.ops;
    }
    return true;
}

static double block_flops(const ridge_program *p, const ridge_block *block,
                          const bool *again)
{
    double flops = 0;
    for (int i = block->first_op; i < block->first_op + block->n_ops; i++) {
        if (again[i])
            flops += (double)block->repeat *
                     ridge_operation_count(p, &p->ops[i]).matmul_flops;
    }
    return flops;
}

double named_remat_flops(ridge_arena *scratch, const ridge_program *p,
                         ridge_remat_ops ops)
{
    const ridge_mark mark = ridge_arena_mark(scratch);
    bool *again = ridge_new(scratch, bool, (size_t)p->n_ops);
    double flops = 0;
    for (int b = 0; again != NULL && b < p->n_blocks; b++) {
        const ridge_block *block = &p->blocks[b];
        if (!block->is_backward || block->forward_of < 0)
            continue;
        ridge_program_mark_named(p, b, ops, again);
        flops += block_flops(p, &p->blocks[block->forward_of], again);
    }
    ridge_arena_rewind(scratch, mark);
    return flops;
}
