/*
 * Which operations run in chunks beside their collectives. A product behind a gather
 * over p chips can begin with the first of p chunks, and a reduce-scatter behind a
 * product with the first chunk of its result, so that all but one chunk can hide
 * (wang2023). Around a ring, attention begins with the keys and values that a chip
 * holds itself (liu2023-ring).
 */
#include "operation_time.h"
#include "timeline_tasks.h"

static const ridge_operation *op_at(const ridge__task_source *x, int op)
{
    return &x->partition->program->ops[op];
}

static bool is_exchange(const ridge__task_source *x, int op)
{
    return x->times[op].is_collective;
}

static bool reads(const ridge_operation *o, const ridge_operation *from)
{
    for (int i = 0; i < o->n_inputs; i++) {
        for (int k = 0; k < from->n_outputs; k++) {
            if (o->inputs[i] == from->outputs[k])
                return true;
        }
    }
    return false;
}

static bool is_cut(const ridge__task_source *x, int op)
{
    return x->chunks[op].head > 0 || x->chunks[op].tail > 0;
}

static bool is_collective(const ridge__task_source *x, int op, ridge_collective kind)
{
    const ridge_operation *o = op_at(x, op);
    return o->code == RIDGE_OPCODE_COLLECTIVE && o->collective == (int)kind &&
           x->times[op].network != 0;
}

static double chunk_share(const ridge__task_source *x, int op)
{
    const ridge__pricing pricing = {x->partition, x->laid, RIDGE_DTYPE_BF16, x->index,
                                    NULL};
    return 1.0 / (double)ridge__exchange_group(&pricing, op).ranks;
}

static bool is_gather(const ridge__task_source *x, int op)
{
    return is_collective(x, op, RIDGE_COLLECTIVE_ALL_GATHER) && !x->is_prefetch[op];
}

static bool is_scatter(const ridge__task_source *x, int op)
{
    return (is_collective(x, op, RIDGE_COLLECTIVE_REDUCE_SCATTER) ||
            is_collective(x, op, RIDGE_COLLECTIVE_ALL_REDUCE)) &&
           !x->is_trailing[op];
}

/* The products right behind a gather that read what it brings. */
static void plan_gather(const ridge__task_source *x, int gather, int end)
{
    const ridge_operation *g = op_at(x, gather);
    const double share = chunk_share(x, gather);
    int first = -1;
    int last = -1;
    for (int i = gather + 1; i < end; i++) {
        if (is_exchange(x, i))
            continue;
        if (op_at(x, i)->code != RIDGE_OPCODE_EINSUM || is_cut(x, i) ||
            !reads(op_at(x, i), g))
            break;
        first = first < 0 ? i : first;
        last = i;
        x->chunks[i].tail = share;
        x->chunks[i].gather = gather;
    }
    if (first < 0)
        return;
    x->chunks[gather].first = share;
    for (int i = first; i <= last; i++) {
        x->chunks[i].run_first = first;
        x->chunks[i].run_end = last;
    }
}

static bool is_sum(const ridge_operation *o)
{
    return o->code == RIDGE_OPCODE_ELEMENTWISE && o->function == RIDGE_FUNCTION_ADD;
}

/* Whether an operation feeds a sum of the run behind it. */
static bool feeds_run(const ridge__task_source *x, int op, int first, int last)
{
    for (int i = first; i <= last; i++) {
        if (!is_exchange(x, i) && is_sum(op_at(x, i)) &&
            reads(op_at(x, i), op_at(x, op)))
            return true;
    }
    return false;
}

/* The product right before a scatter whose result it takes, or products and the sums of
 * their results. */
static void plan_scatter(const ridge__task_source *x, int scatter, int begin)
{
    const ridge_operation *s = op_at(x, scatter);
    int first = -1;
    int last = -1;
    for (int i = scatter - 1; i >= begin; i--) {
        if (is_exchange(x, i))
            continue;
        const ridge_operation *o = op_at(x, i);
        const bool can_run = o->code == RIDGE_OPCODE_EINSUM || is_sum(o);
        const bool feeds = last < 0 ? reads(s, o) : feeds_run(x, i, first, last);
        if (!can_run || !feeds || is_cut(x, i))
            break;
        last = last < 0 ? i : last;
        first = i;
    }
    if (last < 0 || op_at(x, first)->code != RIDGE_OPCODE_EINSUM)
        return;
    const double share = chunk_share(x, scatter);
    x->chunks[scatter].last = share;
    for (int i = first; i <= last; i++) {
        if (is_exchange(x, i))
            continue;
        x->chunks[i].head = share;
        x->chunks[i].run_first = first;
        x->chunks[i].run_end = last;
    }
}

/* An attention among the gathers of its inputs and the scatters of its results. */
static void plan_ring(const ridge__task_source *x, int op, int begin, int end)
{
    ridge__chunks *c = &x->chunks[op];
    for (int i = begin; i < op; i++) {
        if (is_exchange(x, i) && is_gather(x, i) && reads(op_at(x, op), op_at(x, i)))
            c->tail = chunk_share(x, i);
    }
    for (int i = op + 1; i < end; i++) {
        if (!is_exchange(x, i) || !is_scatter(x, i) ||
            !reads(op_at(x, i), op_at(x, op)))
            continue;
        c->head = chunk_share(x, i);
        x->chunks[i].last = c->head;
    }
    c->run_first = c->run_end = op;
}

void ridge__chunks_plan(const ridge__task_source *x, int block)
{
    const ridge_block *b = &x->partition->program->blocks[block];
    const int begin = b->first_op;
    const int end = begin + b->n_ops;
    for (int i = begin; i < end; i++)
        x->chunks[i].gather = -1;
    for (int i = begin; i < end; i++) {
        if (x->overlap->has_ring_attention &&
            op_at(x, i)->code == RIDGE_OPCODE_ATTENTION)
            plan_ring(x, i, begin, end);
    }
    if (!x->overlap->has_collective_matmul)
        return;
    for (int i = begin; i < end; i++) {
        if (is_gather(x, i))
            plan_gather(x, i, end);
        if (is_scatter(x, i) && x->chunks[i].last <= 0)
            plan_scatter(x, i, begin);
    }
}
